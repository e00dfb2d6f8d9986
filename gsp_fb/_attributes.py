"""Attributes of edges in tables and graphs of other libraries: which one is the weight."""

from __future__ import annotations

from collections.abc import Iterable
from numbers import Real
from typing import Any

from ._extras import require
from .errors import GraphError, ParameterError

__all__ = ["WEIGHT", "full_column", "is_number", "is_number_type", "listed", "weight_attribute"]

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


def is_number_type(kind: Any) -> bool:
    """Return whether an Arrow type is one of integers or floating numbers."""
    types = require("pyarrow.types", "reading an Arrow table")
    return bool(types.is_integer(kind) or types.is_floating(kind))


def full_column(table: Any, name: str, *, numeric: bool = False) -> Any:
    """Return a column of an Arrow table that has no empty cell, and holds numbers if ``numeric``."""
    if name not in table.column_names:
        raise ParameterError(f"no column {name!r}; the table has {listed(table.column_names)}")
    column = table.column(name)
    if column.null_count:
        raise GraphError(f"column {name!r} has {column.null_count} empty cells")
    if numeric and not is_number_type(column.type):
        raise GraphError(f"column {name!r} is of type {column.type}; weights must be numbers")
    return column


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
