"""How often each rule was right: measured gains of the second channel, and each rule tested on sets it has not seen.

The facts are data (``data/advice.json``, written by ``python -m paper --advice`` from stored results); what
follows from them is computed here, so that a new measurement changes the advice without a change of code.
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from importlib.resources import files

import numpy as np

from ..backend import FloatArray
from .rules import RULES

__all__ = ["HELPS", "Measured", "Verdict", "measured", "threshold", "verdicts"]

# A gain of accuracy below this is not worth a second channel's time.
HELPS = 0.01


@dataclass(frozen=True)
class Measured:
    """One data set: the gain of two channels over one, and what each rule scored on its training information.

    Attributes
    ----------
    dataset : str
    gain, gain_std : float
        Of FB-GCN over GCN, renormalised filter, over the same splits.
    lazy_gain : float or None
        Of FB-GCN with the lazy filter over FB-GCN with the renormalised one; None where it was not measured.
    scores : mapping of rule to float
    lazy_readout : float
        What the probe reads from both lazy channels, less what it reads from both renormalised ones.

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
    """The record of one rule.

    Attributes
    ----------
    rule : str
    right, of : int
        Data sets whose verdict was right with the threshold fitted to all others.
    rank_correlation : float
        Spearman's, of the rule's score and the measured gain.
    p_value : float
        Of no correlation.

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
    """Return the measured data sets.

    Examples
    --------
    >>> from gsp_fb.datasets import names
    >>> {row.dataset for row in measured()} <= set(names("node"))
    True
    """
    text = files("gsp_fb").joinpath("data", "advice.json").read_text(encoding="utf-8")
    return tuple(Measured(**row) for row in json.loads(text)["rows"])


def threshold(scores: Sequence[float], helps: Sequence[bool]) -> float:
    """Return the score above which saying "it helps" errs least; in the middle of the gap where that is.

    Examples
    --------
    >>> threshold([0.1, 0.2, 0.6, 0.8], [False, False, True, True])
    0.4
    """
    at: FloatArray = np.unique(np.asarray(scores, dtype=np.float64))
    cuts = np.concatenate([[at[0] - 1.0], (at[1:] + at[:-1]) / 2, [at[-1] + 1.0]])
    errors = [sum((score > cut) != truth for score, truth in zip(scores, helps, strict=True)) for cut in cuts]
    return float(cuts[int(np.argmin(errors))])


def verdicts(rows: Sequence[Measured] | None = None) -> tuple[Verdict, ...]:
    """Return the record of every rule, best first, by leaving one data set out at a time.

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
    # Costs a third of a second to import, which only a caller of this function should pay.
    from scipy.stats import spearmanr

    scores, helps = [row.scores[rule] for row in rows], [row.gain > HELPS for row in rows]
    right = 0
    for k in range(len(rows)):
        rest = [i for i in range(len(rows)) if i != k]
        cut = threshold([scores[i] for i in rest], [helps[i] for i in rest])
        right += (scores[k] > cut) == helps[k]
    found = spearmanr(scores, [row.gain for row in rows])
    return Verdict(rule, int(right), len(rows), float(found.statistic), float(found.pvalue))
