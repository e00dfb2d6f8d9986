"""What a graph teaches the advisor: which channels its trained arms show to help."""

from __future__ import annotations

import statistics
from collections.abc import Mapping
from typing import Any

from gsp_fb.advice import ANSWERS

from .control import Arm
from .estimation import ROPE
from .protocols import settings
from .selection import scores_of_settings

__all__ = ["ARMS", "answer", "scores"]

ARMS = ("low", "identity", "low+high", "low+identity")
SPACE = {"lr": (0.01, 0.05), "weight_decay": (5e-5, 5e-4, 5e-3), "dropout": (0.2, 0.5, 0.8)}
SETTINGS = 4


def answer(test: Mapping[str, float]) -> str:
    """Return what the mean test scores of the arms show, with gains up to a point as equal.

    Examples
    --------
    >>> answer({"low": 0.7, "identity": 0.6, "low+high": 0.8, "low+identity": 0.795})
    'identity path suffices'
    """
    least = ROPE / 100
    plain = max(test["low"], test["low+identity"])
    if max(plain, test["low+high"]) - test["identity"] <= least:
        return ANSWERS[2]
    return ANSWERS[0] if test["low+high"] - plain > least else ANSWERS[1]


def scores(data: Any) -> dict[str, float]:
    """Return the mean test score of every arm, its setting chosen on validation with one budget for all."""
    return {name: _score(data, Arm(name, inner="linear" if "+" not in name else "relu").options) for name in ARMS}


def _score(data: Any, options: Mapping[str, Any]) -> float:
    """Return the mean test score of the setting with the best mean validation score."""
    training = {"epochs": 300, "patience": 30, "normalize": False}
    drawn = [
        ({**options, "dropout": values.pop("dropout")}, {**training, **values}) for values in settings(SPACE, SETTINGS)
    ]
    scored = scores_of_settings("gcn", data, drawn, data.splits, range(len(data.splits)))
    best = max(filter(None, scored), key=lambda found: statistics.fmean(found["validation"]))
    return statistics.fmean(best["test"])
