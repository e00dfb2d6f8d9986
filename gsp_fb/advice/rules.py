"""Decision rules: scores of the evidence that are large where the high channel should help.

A new rule is a new row of the table; :func:`gsp_fb.advice.verdicts` ranks the rules by their record.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from types import MappingProxyType

from .evidence import CANDIDATES, Evidence

__all__ = ["RULES", "Rule"]

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
