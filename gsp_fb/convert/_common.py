"""Shared parts of the converters: node names, attributes, and the check that a direction is not dropped silently."""

from __future__ import annotations

from collections.abc import Hashable, Iterable, Mapping, Sequence
from dataclasses import replace
from numbers import Integral
from typing import Any

from .._arguments import check_choice
from .._attributes import is_number
from .._build import SYMMETRIZE
from ..errors import GraphError
from ..graph import Graph
from ..nodes import NodeTable, node_table

__all__ = ["cells_by_name", "check_direction", "graph_of_edges", "names_of", "node_cells", "numeric_names", "table_of"]

Cells = Mapping[Any, Mapping[int, Any]]


def check_direction(is_directed: bool, directed: bool, symmetrize: str | None) -> None:
    """Raise GraphError for a directed graph without a direction option, or for contradicting options."""
    if symmetrize is not None:
        check_choice(symmetrize, SYMMETRIZE, "symmetrize")
    if directed and symmetrize is not None:
        raise GraphError(f"directed=True and symmetrize={symmetrize!r} contradict each other; give one")
    if is_directed and not directed and symmetrize is None:
        raise GraphError("the graph is directed; give symmetrize='max' (or 'mean', 'sum') or directed=True")


def graph_of_edges(pairs: Any, weights: Any, is_directed: bool, directed: bool, rules: dict[str, Any]) -> Graph:
    """Return the graph of listed edges, of which parallel ones are summed; an undirected edge is an arc each way."""
    n_nodes = rules["nodes"].n_nodes
    if is_directed:
        return Graph.from_edges(pairs, weights, n_nodes, duplicates="sum", directed=directed, **rules)
    graph = Graph.from_edges(pairs, weights, n_nodes, duplicates="sum", **rules | {"symmetrize": None})
    if not directed:
        return graph
    return Graph.from_adjacency(graph.adjacency, directed=True, signed=graph.is_signed, nodes=graph.nodes)


def cells_by_name(items: Iterable[Mapping[Any, Any]]) -> dict[Any, dict[int, Any]]:
    """Return the attributes of nodes or edges by name, each with the values by position."""
    cells: dict[Any, dict[int, Any]] = {}
    for position, attributes in enumerate(items):
        for name, value in attributes.items():
            cells.setdefault(name, {})[position] = value
    return cells


def numeric_names(cells: Cells) -> list[Any]:
    """Return the attributes of which every value is a number."""
    return [name for name, given in cells.items() if all(map(is_number, given.values()))]


def table_of(names: Sequence[Any], cells: Cells) -> NodeTable:
    """Return the node table of names and attributes; names 0..n-1 in order are numbers.

    An attribute that a node lacks is nan in a column of numbers and None in any other.
    """
    missing = dict.fromkeys(cells) | dict.fromkeys(numeric_names(cells), float("nan"))
    columns = {str(name): [given.get(i, missing[name]) for i in range(len(names))] for name, given in cells.items()}
    numbered = all(type(name) is not bool and isinstance(name, Integral) and name == i for i, name in enumerate(names))
    return replace(node_table(columns, len(names)), names=None if numbered else tuple(names))


def node_cells(graph: Graph) -> dict[str, list[Any]]:
    """Return the columns of a node table, and coordinates as ``pos``, as plain values for other libraries."""
    columns = {name: column.tolist() for name, column in graph.nodes.columns.items()}
    places = {} if graph.coordinates is None else {"pos": [tuple(at) for at in graph.coordinates.tolist()]}
    return columns | places


def names_of(graph: Graph) -> Sequence[Hashable]:
    """Return the labels, or the node numbers where the graph has none."""
    return range(graph.n_nodes) if graph.labels is None else graph.labels
