"""The result of a search, and the file that keeps it."""

from __future__ import annotations

import json
import os
from collections.abc import Sequence
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any

from ..errors import FormatError
from .race import Trial

__all__ = ["BEST_FILE", "SearchResult", "read_best"]

BEST_FILE = "best.json"


@dataclass(frozen=True)
class SearchResult:
    """The model options and training configuration that validation chose, and their mean validation score.

    Parameters
    ----------
    model : str
        A row of ``MODELS``.
    options, config : dict
        Arguments of :func:`gsp_fb.nn.build` and of :class:`gsp_fb.nn.TrainConfig`; ``gsp-fb train --from best.json``
        reads them.
    val_score : float
        Mean over the splits of the last rung.
    n_finished, n_failed : int
        Trials with a score, and those whose training diverged.
    seconds : float
        Processor time of all trials, those of other workers and earlier sessions included.
    values : dict
        The chosen point of the search space: the values of ``options`` and ``config`` that were searched.
    trials : tuple of dict
        Values and validation scores (by split, None where training diverged) of every trial.

    See Also
    --------
    gsp_fb.nn.search : The function that returns it.
    read_best : Read the result of a stored search.

    Examples
    --------
    >>> found = SearchResult("gcn", {"hidden": 64}, {"lr": 0.01}, val_score=0.8, n_finished=20, n_failed=0)
    >>> found.as_dict()["options"]
    {'hidden': 64}
    """

    model: str
    options: dict[str, Any]
    config: dict[str, Any]
    val_score: float
    n_finished: int
    n_failed: int
    seconds: float = field(default=0.0, compare=False)
    values: dict[str, Any] = field(default_factory=dict)
    trials: tuple[dict[str, Any], ...] = field(default=(), repr=False)

    def as_dict(self) -> dict[str, Any]:
        """Return the result as JSON holds it."""
        return asdict(self)

    @classmethod
    def of(
        cls, model: str, options: dict[str, Any], config: dict[str, Any], best: Trial, trials: Sequence[Trial]
    ) -> SearchResult:
        """Return the result of a race: its best trial, as options and configuration, among all of them."""
        failed, seconds = sum(trial.failed for trial in trials), sum(trial.seconds for trial in trials)
        rows = tuple({"values": t.values, "scores": list(t.scores.values())} for t in trials)
        finished = len(trials) - failed
        return cls(model, options, config, best.score, finished, failed, seconds, best.values, rows)


def read_best(path: str | os.PathLike[str]) -> SearchResult:
    """Return the result of a search from its ``best.json`` or its directory.

    Parameters
    ----------
    path : path_like

    Returns
    -------
    SearchResult

    Raises
    ------
    FormatError
        The file does not exist or holds no result of a search.

    See Also
    --------
    gsp_fb.nn.search : Run a search, which writes the file.

    Examples
    --------
    >>> import tempfile
    >>> found = SearchResult("gcn", {"hidden": 64}, {"lr": 0.01}, val_score=0.8, n_finished=20, n_failed=0)
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     _ = Path(folder, "best.json").write_text(json.dumps(found.as_dict()))
    ...     read_best(folder) == found
    True
    """
    file = Path(path) / BEST_FILE if Path(path).is_dir() else Path(path)
    try:
        facts = json.loads(file.read_text(encoding="utf-8"))
        return SearchResult(**{**facts, "trials": tuple(facts.get("trials", ()))})
    except (OSError, ValueError, TypeError, AttributeError) as wrong:
        raise FormatError(f"{file} holds no result of a search: {wrong}") from None
