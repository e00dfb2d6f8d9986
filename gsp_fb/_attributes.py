"""Attributes of edges in tables and graphs of other libraries: which one is the weight."""

from __future__ import annotations

from collections.abc import Iterable
from numbers import Real
from typing import Any

from .errors import GraphError

__all__ = ["WEIGHT", "is_number", "listed", "weight_attribute"]

# The attribute that is the weight by itself, in any case of letters.
WEIGHT = "weight"
# Numbers under these names identify an edge; they are no candidates for its weight.
IDENTIFIERS = ("id", "key", "label", "edge_id", "edgeid", "index")
# Names listed in a message.
LISTED = 5


def listed(names: Any) -> str:
    """Return the first names for a message."""
    shown = [repr(name) for name in list(names)[:LISTED]]
    return ", ".join(shown + ["..."] * (len(names) > LISTED))


def is_number(value: object) -> bool:
    """Return whether an attribute's value is a real number; booleans are none."""
    return isinstance(value, Real) and not isinstance(value, bool)


def weight_attribute(names: Iterable[Any], numeric: Iterable[Any], weight: Any) -> Any | None:
    """Return the attribute that holds the weights, of all ``names`` and the ``numeric`` ones; None where each is 1.

    ``weight`` is the caller's choice; ``"weight"``, the default of readers and converters, may be absent.

    Examples
    --------
    >>> weight_attribute(["Weight", "km"], ["km"], "weight"), weight_attribute(["colour"], [], "weight")
    ('Weight', None)
    """
    known = list(names)
    if weight is None or weight in known:
        return weight
    if weight != WEIGHT:
        raise GraphError(f"no edge has the attribute {weight!r}; there are {listed(known) or 'none'}")
    same = [name for name in known if str(name).lower() == WEIGHT]
    if same:
        return same[0]
    others = [name for name in numeric if str(name).lower() not in IDENTIFIERS]
    if others:
        raise GraphError(
            f"no edge attribute is called 'weight', and {listed(others)} hold{'s' * (len(others) == 1)} numbers; "
            f"give weight={others[0]!r}, or weight=None for an unweighted graph"
        )
    return None
