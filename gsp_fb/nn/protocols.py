"""Cross-validation of graph classifiers: by a validation part, or as GIN's paper did it, as named."""

from __future__ import annotations

import os
import statistics
from collections.abc import Sequence
from dataclasses import asdict, dataclass, field, replace
from pathlib import Path
from typing import Any

import numpy as np

from .._arguments import check_choice
from ..datasets.splits import with_validation, without_validation
from ..errors import ParameterError
from .config import TrainConfig, TrainResult
from .models import MODELS
from .splits import train_splits

__all__ = ["PROTOCOLS", "CrossValidation", "cross_validate"]

# How the reported epoch is chosen.
PROTOCOLS = {
    "validation": "in every fold, by a validation part carved out of the training graphs",
    "gin": "one epoch for all folds, by the best mean test score: the protocol of GIN's paper, which sees the test set",
}


@dataclass(frozen=True)
class CrossValidation:
    """Test scores of a model over folds, and the protocol that chose the epochs.

    Parameters
    ----------
    protocol : {'validation', 'gin'}
        See :func:`cross_validate`.
    scores : tuple of float
        Test score of every fold at its reported epoch.
    epochs : tuple of int
        The reported epoch of every fold; all equal under ``gin``.
    runs : tuple of TrainResult
        The run of every fold.

    See Also
    --------
    cross_validate : The function that returns it.
    TrainResult : The result of one fold.

    Examples
    --------
    >>> found = CrossValidation("validation", scores=(0.8, 0.9), epochs=(12, 30))
    >>> round(found.mean, 3), round(found.std, 3)
    (0.85, 0.071)
    """

    protocol: str
    scores: tuple[float, ...]
    epochs: tuple[int, ...]
    runs: tuple[TrainResult, ...] = field(repr=False, default=())

    @property
    def mean(self) -> float:
        """Mean test score over the folds."""
        return statistics.fmean(self.scores)

    @property
    def std(self) -> float:
        """Standard deviation of the test scores over the folds; 0 for a single fold."""
        return statistics.stdev(self.scores) if len(self.scores) > 1 else 0.0

    def as_dict(self) -> dict[str, Any]:
        """Return protocol, scores, epochs, mean and deviation, as JSON holds them."""
        return {**asdict(replace(self, runs=())), "mean": self.mean, "std": self.std}


def cross_validate(
    name: str,
    collection: Any,
    config: TrainConfig | None = None,
    *,
    protocol: str = "validation",
    splits: Sequence[Any] | None = None,
    share: float = 0.1,
    seed: int = 0,
    directory: str | os.PathLike[str] | None = None,
    progress: bool = False,
    **options: Any,
) -> CrossValidation:
    """Train a graph classifier on every fold of a collection and report its test scores under a named protocol.

    Parameters
    ----------
    name : str
        A row of ``MODELS``: ``gin-0``, ``fb-gin-eps``, ...
    collection : object
        With ``graph``, ``graph_indptr``, ``y`` and, unless ``splits`` are given, ``splits``: the folds.
    config : TrainConfig, optional
        By default the row's own.
    protocol : {'validation', 'gin'}
        ``validation`` sets a stratified ``share`` of each training fold aside and reports the epoch that it chooses.
        ``gin`` trains all epochs and reports the one epoch with the best mean test score, as in [1]_; the
        test sets have then chosen it, and the figure compares with published ones only.
    splits : sequence, optional
        The folds, in place of those of the collection.
    share, seed
        As for :func:`with_validation`; ``seed`` is also that of the models.
    directory : path, optional
        Keeps every fold's run under it, resumable; see :func:`gsp_fb.nn.train`.
    progress : bool
        Show a progress bar.
    **options
        Of :func:`gsp_fb.nn.build`.

    Returns
    -------
    CrossValidation
        Test score and reported epoch of every fold, their mean and standard deviation.

    Raises
    ------
    ParameterError
        Unknown model, protocol or option, or no folds.

    See Also
    --------
    with_validation : The validation part of each fold.
    train_splits : The same for node classification.

    References
    ----------
    .. [1] K. Xu, W. Hu, J. Leskovec and S. Jegelka, "How powerful are graph neural networks?", ICLR 2019.
    .. [2] F. Errica, M. Podda, D. Bacciu and A. Micheli, "A fair comparison of graph neural networks for graph
       classification", ICLR 2020 (on reporting test scores that chose the epoch).

    Examples
    --------
    >>> from types import SimpleNamespace
    >>> from gsp_fb import Graph
    >>> from gsp_fb.datasets import Split
    >>> edges = [(3 * k + i, 3 * k + (i + 1) % 3) for k in range(8) for i in range(2 + k % 2)]
    >>> folds = [Split(np.arange(4), np.arange(0), np.arange(4, 8)), Split(np.arange(4, 8), np.arange(0), np.arange(4))]
    >>> data = SimpleNamespace(
    ...     graph=Graph.from_edges(edges), graph_indptr=3 * np.arange(9), node_label=np.zeros(24), y=np.arange(8) % 2
    ... )
    >>> found = cross_validate("gin-0", data, TrainConfig(epochs=3), protocol="gin", splits=folds, hidden=4)
    >>> len(found.scores), len(set(found.epochs))
    (2, 1)
    """
    row = MODELS[check_choice(name, MODELS, "model")]
    check_choice(protocol, PROTOCOLS, "protocol")
    config = TrainConfig(**row.training) if config is None else config
    folds = tuple(collection.splits if splits is None else splits)
    if not folds:
        raise ParameterError("cross-validation needs at least one fold")
    own, y = protocol == "validation", collection.y
    folds = with_validation(folds, y, share=share, seed=seed) if own else without_validation(folds, len(y))
    places = None if directory is None else [Path(directory) / f"fold-{number}" for number in range(len(folds))]
    runs = train_splits(
        name, collection, folds, config, seeds=[seed] * len(folds), directories=places, progress=progress, **options
    )
    if own:
        scores, epochs = zip(*((run.scores["test"], run.best_epoch) for run in runs), strict=True)
        return CrossValidation(protocol, scores, epochs, tuple(runs))
    column = next(name for name in runs[0].history[0] if name.startswith("test_") and name != "test_loss")
    curves = np.array([[row[column] for row in run.history] for run in runs])
    best = int(np.argmax(curves.mean(axis=0)))
    epoch = runs[0].history[best]["epoch"]
    return CrossValidation(protocol, tuple(curves[:, best].tolist()), (epoch,) * len(runs), tuple(runs))
