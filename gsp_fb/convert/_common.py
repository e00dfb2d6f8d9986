"""Shared parts of the converters: node names, and the check that a direction is not dropped silently."""

from __future__ import annotations

from collections.abc import Hashable, Sequence
from numbers import Integral
from typing import Any

from .._arguments import check_choice
from .._build import SYMMETRIZE
from ..errors import GraphError
from ..graph import Graph

__all__ = ["check_direction", "labels_of", "names_of"]


def check_direction(is_directed: bool, directed: bool, symmetrize: str | None) -> None:
    """Raise GraphError for a directed graph without a direction option, or for contradicting options."""
    if symmetrize is not None:
        check_choice(symmetrize, SYMMETRIZE, "symmetrize")
    if directed and symmetrize is not None:
        raise GraphError(f"directed=True and symmetrize={symmetrize!r} contradict each other; give one")
    if is_directed and not directed and symmetrize is None:
        raise GraphError("the graph is directed; give symmetrize='max' (or 'mean', 'sum') or directed=True")


def labels_of(names: Sequence[Hashable]) -> tuple[Hashable, ...] | None:
    """Return the names as labels, or None if they are the numbers 0..n-1 in order."""
    numbered = all(_is_integer(name) and name == i for i, name in enumerate(names))
    return None if numbered else tuple(names)


def _is_integer(name: Any) -> bool:
    return not isinstance(name, bool) and isinstance(name, Integral)


def names_of(graph: Graph) -> Sequence[Hashable]:
    """Return the labels, or the node numbers where the graph has none."""
    return range(graph.n_nodes) if graph.labels is None else graph.labels
