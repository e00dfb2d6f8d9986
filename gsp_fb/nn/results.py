"""What a training reached, as data."""

from __future__ import annotations

import math
from dataclasses import asdict, dataclass, field
from typing import Any

__all__ = ["TrainResult", "finite"]


@dataclass(frozen=True)
class TrainResult:
    """Result of a training run; ``scores`` and ``losses`` are those of the epoch that validation chose.

    Parameters
    ----------
    best_epoch, epochs : int
        The chosen epoch, and how many were run; epochs count from 1.
    scores, losses : dict
        By part: ``train``, ``val``, ``test``; nan for an empty part.
    s_value : float
        Smoothness of the chosen output on the graph.
    alphas : list
        Mixing weights of the chosen state, one row a layer.
    seconds : float
        Wall time of training, earlier sessions of a resumed run included; of a batch, the run's equal share.
    memory : float
        Peak memory in MB: of the process, or on a GPU of torch's allocations.
    shares : list
        Mean shares of the channels in the chosen state, one row a layer; empty for one channel.
    history : list of dict
        One row an evaluated epoch, as in ``metrics.csv``.

    See Also
    --------
    train, train_splits : The functions that return it.
    read_metrics : The history of a stored run.

    Examples
    --------
    >>> from gsp_fb.datasets import contextual_sbm
    >>> from gsp_fb.nn import TrainConfig, build, train
    >>> data = contextual_sbm(30, rng=0)
    >>> result = train(build("fb-gcn", data), data, data.splits[0], TrainConfig(epochs=3))
    >>> result.epochs, sorted(result.scores), len(result.alphas), len(result.history)
    (3, ['test', 'train', 'val'], 2, 3)
    """

    best_epoch: int
    epochs: int
    scores: dict[str, float]
    losses: dict[str, float]
    s_value: float
    alphas: list[list[float]]
    seconds: float
    memory: float
    shares: list[list[float]] = field(default_factory=list)
    history: list[dict[str, Any]] = field(repr=False, default_factory=list)

    def as_dict(self) -> dict[str, Any]:
        """Return the result as JSON holds it, without the history."""
        facts = {name: value for name, value in asdict(self).items() if name != "history"}
        for name in ("scores", "losses"):
            facts[name] = {part: finite(value) for part, value in facts[name].items()}
        return {**facts, "s_value": finite(self.s_value)}


def finite(value: float) -> float | None:
    """Return the number, or None where JSON has no way to write it."""
    return value if math.isfinite(value) else None
