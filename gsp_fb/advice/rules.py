"""Rules that say from the evidence whether the high channel helps; which to believe is a matter of their record."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from types import MappingProxyType

from .evidence import CANDIDATES, Evidence

__all__ = ["RULES", "Rule"]

BASE = CANDIDATES[0]


@dataclass(frozen=True)
class Rule:
    """A score that is large where the high channel should help.

    Attributes
    ----------
    name, says : str
        ``says`` completes "the high channel helps where ...".
    score : callable
    needs_features : bool

    Examples
    --------
    >>> RULES["heterophily"].says, RULES["heterophily"].needs_features
    ('neighbours are of other classes', False)
    """

    name: str
    says: str
    score: Callable[[Evidence], float]
    needs_features: bool = False


_TABLE = (
    Rule(
        "paper",
        "training labels are rougher than features: S(y) - S(x) is large",
        lambda e: e.s_labels[BASE] - e.s_features[BASE],
        True,
    ),
    Rule("label roughness", "training labels are rough: S(y) is large", lambda e: e.s_labels[BASE]),
    Rule("heterophily", "neighbours are of other classes", lambda e: 1 - e.edge_homophily),
    Rule("class heterophily", "neighbours are of other classes more than by chance", lambda e: 0.0 - e.class_homophily),
    Rule(
        "read-out",
        "a linear probe reads more out of both channels than out of the low one",
        lambda e: e.readout[BASE]["both"] - e.readout[BASE]["low"],
        True,
    ),
)
RULES: Mapping[str, Rule] = MappingProxyType({rule.name: rule for rule in _TABLE})
