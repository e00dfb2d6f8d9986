"""Shared parts of the converters: node names, and the check that a direction is not dropped silently."""

from __future__ import annotations

from collections.abc import Hashable, Sequence

from .._arguments import check_choice
from .._build import SYMMETRIZE
from ..errors import GraphError
from ..graph import Graph

__all__ = ["check_direction", "names_of"]


def check_direction(is_directed: bool, directed: bool, symmetrize: str | None) -> None:
    """Raise GraphError for a directed graph without a direction option, or for contradicting options."""
    if symmetrize is not None:
        check_choice(symmetrize, SYMMETRIZE, "symmetrize")
    if directed and symmetrize is not None:
        raise GraphError(f"directed=True and symmetrize={symmetrize!r} contradict each other; give one")
    if is_directed and not directed and symmetrize is None:
        raise GraphError("the graph is directed; give symmetrize='max' (or 'mean', 'sum') or directed=True")


def names_of(graph: Graph) -> Sequence[Hashable]:
    """Return the labels, or the node numbers where the graph has none."""
    return range(graph.n_nodes) if graph.labels is None else graph.labels
