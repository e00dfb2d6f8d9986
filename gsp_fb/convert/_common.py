"""Shared parts of the converters: node names, and the check that a direction is not dropped silently."""

from __future__ import annotations

from collections.abc import Hashable, Iterable, Mapping, Sequence
from dataclasses import replace
from numbers import Integral
from typing import Any

from .._arguments import check_choice
from .._attributes import is_number
from .._build import SYMMETRIZE
from ..errors import GraphError, ParameterError
from ..graph import Graph
from ..nodes import NodeTable, node_table

__all__ = [
    "cells_by_name",
    "check_direction",
    "graph_of_table",
    "labels_of",
    "names_of",
    "node_cells",
    "numeric_names",
    "table_of",
    "with_arcs",
]

Names = tuple[Hashable, ...] | None


def check_direction(is_directed: bool, directed: bool, symmetrize: str | None) -> None:
    """Raise GraphError for a directed graph without a direction option, or for contradicting options."""
    if symmetrize is not None:
        check_choice(symmetrize, SYMMETRIZE, "symmetrize")
    if directed and symmetrize is not None:
        raise GraphError(f"directed=True and symmetrize={symmetrize!r} contradict each other; give one")
    if is_directed and not directed and symmetrize is None:
        raise GraphError("the graph is directed; give symmetrize='max' (or 'mean', 'sum') or directed=True")


def graph_of_table(
    pairs: Any, names: Names, weights: Any, *, n_nodes: int | None, nodes: Any, on: str | None, **rules: Any
) -> Graph:
    """Return the graph of a table of edges, whose ends are node numbers or have ``names``, with a table of nodes."""
    if names is not None and n_nodes is not None:
        raise ParameterError(f"n_nodes={n_nodes} is for numbered nodes; these {len(names)} are named")
    graph = Graph.from_edges(pairs, weights, n_nodes if names is None else len(names), nodes=names, **rules)
    return graph if nodes is None else graph.with_nodes(nodes, on)


def with_arcs(graph: Graph) -> Graph:
    """Return an undirected graph as a directed one: every edge is an arc each way."""
    return Graph.from_adjacency(graph.adjacency, directed=True, signed=graph.is_signed, nodes=graph.nodes)


def labels_of(names: Sequence[Hashable]) -> tuple[Hashable, ...] | None:
    """Return the names as labels, or None if they are the numbers 0..n-1 in order."""
    numbered = all(_is_integer(name) and name == i for i, name in enumerate(names))
    return None if numbered else tuple(names)


def _is_integer(name: Any) -> bool:
    return not isinstance(name, bool) and isinstance(name, Integral)


def cells_by_name(items: Iterable[Mapping[Any, Any]]) -> dict[Any, dict[int, Any]]:
    """Return the attributes of nodes or edges by name, each with the values by position."""
    cells: dict[Any, dict[int, Any]] = {}
    for position, attributes in enumerate(items):
        for name, value in attributes.items():
            cells.setdefault(name, {})[position] = value
    return cells


def columns_of(cells: Mapping[Any, Mapping[int, Any]], n_nodes: int) -> dict[str, list[Any]]:
    """Return attributes as columns of a node table; a number that is missing is nan, anything else None."""
    columns = {}
    for name, given in cells.items():
        missing = float("nan") if all(map(is_number, given.values())) else None
        columns[str(name)] = [given.get(i, missing) for i in range(n_nodes)]
    return columns


def numeric_names(cells: Mapping[Any, Mapping[int, Any]]) -> list[Any]:
    """Return the attributes of which every value is a number."""
    return [name for name, given in cells.items() if all(map(is_number, given.values()))]


def table_of(names: Sequence[Hashable], cells: Mapping[Any, Mapping[int, Any]]) -> NodeTable:
    """Return the node table of names and attributes; names 0..n-1 in order are numbers."""
    table = node_table(columns_of(cells, len(names)), len(names))
    return replace(table, names=labels_of(names))


def node_cells(graph: Graph) -> dict[str, list[Any]]:
    """Return the columns of a node table, and coordinates as ``pos``, as plain values for other libraries."""
    columns = {name: column.tolist() for name, column in graph.nodes.columns.items()}
    return (
        columns if graph.coordinates is None else {**columns, "pos": [tuple(at) for at in graph.coordinates.tolist()]}
    )


def names_of(graph: Graph) -> Sequence[Hashable]:
    """Return the labels, or the node numbers where the graph has none."""
    return range(graph.n_nodes) if graph.labels is None else graph.labels
