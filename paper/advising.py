"""What a graph teaches the advisor: measures before training, and which channels the trained arms show to help."""

from __future__ import annotations

import statistics
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from gsp_fb.advice import gather
from gsp_fb.advice.probe import centred_gram, loo_hits
from gsp_fb.backend import IntArray
from gsp_fb.energy import adjusted_homophily, label_informativeness, one_hot

from .control import Arm
from .estimation import ROPE
from .protocols import settings
from .selection import scores_of_settings

__all__ = ["ANSWERS", "answer", "measures", "scores"]

ANSWERS = ("high-pass channel", "identity path suffices", "graph does not help")
ARMS = ("low", "identity", "low+high", "low+identity")
SPACE = {"lr": (0.01, 0.05), "weight_decay": (5e-5, 5e-4, 5e-3), "dropout": (0.2, 0.5, 0.8)}
SETTINGS = 4
# A sample of the training nodes on which the raw features are probed.
PROBED = 1_000


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


def measures(data: Any, splits: Sequence[Any]) -> dict[str, float]:
    """Return the candidates of the advisor from training information alone, as the mean over splits."""
    rows = [_measured(data, np.asarray(split.train)) for split in splits]
    return {name: statistics.fmean(row[name] for row in rows) for name in rows[0]}


def _measured(data: Any, train: IntArray) -> dict[str, float]:
    found = gather(data.graph, data.x, data.y, train)
    hidden = np.full(len(data.y), -1)
    hidden[train] = np.asarray(data.y)[train]
    probe, plain = found.readout["renorm_sym"], _plain_readout(data, train)
    return {
        "edge homophily": found.edge_homophily,
        "class homophily": found.class_homophily,
        "adjusted homophily": adjusted_homophily(data.graph, hidden),
        "label informativeness": label_informativeness(data.graph, hidden),
        "label S-value": found.s_labels["renorm_sym"],
        "feature S-value": found.s_features["renorm_sym"],
        "probe of low": probe["low"],
        "probe of both": probe["both"],
        "probe of features": plain,
        "both over low": probe["both"] - probe["low"],
        "low over features": probe["low"] - plain,
        "both over features": probe["both"] - plain,
        "log degree": float(np.log1p(data.graph.degrees.mean())),
    }


def _plain_readout(data: Any, train: IntArray) -> float:
    """Return the leave-one-out accuracy of a linear probe of the features, without the graph."""
    rows = np.sort(np.random.default_rng(0).permutation(train)[:PROBED])
    labels = one_hot(np.asarray(data.y)[rows]).toarray()
    return float(loo_hits([centred_gram(data.graph.check_signal(data.x)[rows])], labels).mean())
