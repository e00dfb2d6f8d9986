"""Decision rules and their record: gains of the high channel on data sets, and leave-one-out accuracy of each rule.

A new rule is a new row of the table. The measurements are data (``data/advice.json``, written by ``python -m paper
--advice`` from stored results); thresholds and records are computed from them here.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from importlib.resources import files
from types import MappingProxyType

import numpy as np

from ..backend import FloatArray
from .evidence import CANDIDATES, Evidence

__all__ = ["HELPS", "RULES", "Measured", "Rule", "Verdict", "measured", "threshold", "verdicts"]

BASE = CANDIDATES[0]


@dataclass(frozen=True)
class Rule:
    """A score of the evidence that is large where the high channel should help.

    Parameters
    ----------
    name : str
        Key of the rule.
    condition : str
        Completes "the high channel helps where ...".
    score : callable
        Maps an ``Evidence`` to a float.
    needs_features : bool
        Whether the score needs features.

    See Also
    --------
    verdicts : The record of every rule.
    gsp_fb.advise : Applies the best rule.

    Examples
    --------
    >>> RULES["heterophily"].condition, RULES["heterophily"].needs_features
    ('neighbours have different classes', False)
    """

    name: str
    condition: str
    score: Callable[[Evidence], float]
    needs_features: bool = False


_TABLE = (
    Rule(
        "paper",
        "training labels have a higher mean frequency than features: S(y) - S(x) is large",
        lambda e: e.s_labels[BASE] - e.s_features[BASE],
        True,
    ),
    Rule("label roughness", "training labels have a high mean frequency: S(y) is large", lambda e: e.s_labels[BASE]),
    Rule("heterophily", "neighbours have different classes", lambda e: 1 - e.edge_homophily),
    Rule(
        "class heterophily",
        "neighbours have different classes, corrected for class sizes",
        lambda e: 0.0 - e.class_homophily,
    ),
    Rule(
        "read-out",
        "a linear probe of both channels is more accurate than one of the low channel",
        lambda e: e.readout[BASE]["both"] - e.readout[BASE]["low"],
        True,
    ),
)
RULES: Mapping[str, Rule] = MappingProxyType({rule.name: rule for rule in _TABLE})


# Gains of accuracy up to this do not justify the cost of a second channel.
HELPS = 0.01


@dataclass(frozen=True)
class Measured:
    """Measurements on one data set: the gain of two channels over one, and the score of each rule.

    Parameters
    ----------
    dataset : str
        Name in the registry.
    gain, gain_std : float
        Mean and standard deviation over splits of the accuracy of FB-GCN minus that of GCN, both with the renormalised
        filter.
    lazy_gain : float or None
        Accuracy of FB-GCN with the lazy filter minus that with the renormalised one; None if it was not measured.
    scores : mapping of str to float
        Score of each rule on the training information.
    lazy_readout : float
        Probe accuracy on both lazy channels minus that on both renormalised ones.

    See Also
    --------
    measured : All rows.
    Verdict : The record that follows from them.

    Examples
    --------
    >>> row = Measured("mine", gain=0.03, gain_std=0.01, lazy_gain=0.0, scores={"heterophily": 0.8}, lazy_readout=0.0)
    >>> row.gain > HELPS
    True
    """

    dataset: str
    gain: float
    gain_std: float
    lazy_gain: float | None
    scores: Mapping[str, float]
    lazy_readout: float


@dataclass(frozen=True)
class Verdict:
    """Record of one rule over the measured data sets.

    Parameters
    ----------
    rule : str
        Name of the rule.
    right, of : int
        Number of data sets on which the rule is correct with a threshold fitted to all others, and of data sets.
    rank_correlation : float
        Spearman correlation of the score with the measured gain.
    p_value : float
        P-value of zero correlation.

    See Also
    --------
    verdicts : The record of every rule.

    Examples
    --------
    >>> found = Verdict("heterophily", right=14, of=20, rank_correlation=0.6, p_value=0.005)
    >>> found.right / found.of
    0.7
    """

    rule: str
    right: int
    of: int
    rank_correlation: float
    p_value: float


@cache
def measured() -> tuple[Measured, ...]:
    """Return the measurements that the records are computed from.

    Returns
    -------
    tuple of Measured
        One row per data set.

    See Also
    --------
    verdicts : The record of every rule.

    Examples
    --------
    >>> from gsp_fb.datasets import names
    >>> {row.dataset for row in measured()} <= set(names("node"))
    True
    """
    text = files("gsp_fb").joinpath("data", "advice.json").read_text(encoding="utf-8")
    return tuple(Measured(**row) for row in json.loads(text)["rows"])


def threshold(scores: Sequence[float], helps: Sequence[bool]) -> float:
    """Return the threshold with the fewest errors of ``score > threshold`` as a prediction; the midpoint of its gap.

    >>> threshold([0.1, 0.2, 0.6, 0.8], [False, False, True, True])
    0.4
    """
    at: FloatArray = np.unique(np.asarray(scores, dtype=np.float64))
    cuts = np.concatenate([[at[0] - 1.0], (at[1:] + at[:-1]) / 2, [at[-1] + 1.0]])
    errors = [sum((score > cut) != truth for score, truth in zip(scores, helps, strict=True)) for cut in cuts]
    return float(cuts[int(np.argmin(errors))])


def verdicts(rows: Sequence[Measured] | None = None) -> tuple[Verdict, ...]:
    """Return the record of every rule by leave-one-out cross-validation over data sets, best first.

    Parameters
    ----------
    rows : sequence of Measured, optional
        :func:`measured` by default.

    Returns
    -------
    tuple of Verdict
        Sorted by the number of correct predictions, then by rank correlation.

    See Also
    --------
    measured : The measurements.
    gsp_fb.advise : Uses the best rule.

    Examples
    --------
    >>> rows = [Measured(str(k), k / 10, 0.0, 0.0, {rule: float(k) for rule in RULES}, 0.0) for k in range(6)]
    >>> verdicts(rows)[0].right, verdicts(rows)[0].rank_correlation
    (5, 1.0)
    """
    rows = measured() if rows is None else rows
    found = [_verdict(rule, rows) for rule in RULES]
    return tuple(sorted(found, key=lambda row: (-row.right, -row.rank_correlation)))


def _verdict(rule: str, rows: Sequence[Measured]) -> Verdict:
    # scipy.stats takes a third of a second to import, so it is imported here.
    from scipy.stats import spearmanr

    scores, helps = [row.scores[rule] for row in rows], [row.gain > HELPS for row in rows]
    right = 0
    for k in range(len(rows)):
        rest = [i for i in range(len(rows)) if i != k]
        cut = threshold([scores[i] for i in rest], [helps[i] for i in rest])
        right += (scores[k] > cut) == helps[k]
    found = spearmanr(scores, [row.gain for row in rows])
    return Verdict(rule, int(right), len(rows), float(found.statistic), float(found.pvalue))
