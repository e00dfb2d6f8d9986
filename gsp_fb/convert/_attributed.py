"""networkx and igraph graphs: names and attributes of nodes and edges; parallel edges are summed."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from numbers import Integral, Real
from typing import Any

import numpy as np

from .._arguments import host_array
from .._attributes import is_number, weight_attribute
from .._build import check_direction
from .._extras import require
from ..errors import GraphError
from ..graph import Graph
from ..nodes import NodeTable, node_table

__all__ = ["from_igraph", "from_networkx", "to_igraph", "to_networkx"]

Cells = Mapping[Any, Mapping[int, Any]]


def from_networkx(
    G: Any,
    *,
    weight: str | None = "weight",
    directed: bool = False,
    symmetrize: str | None = None,
    loops: str = "keep",
    signed: bool = False,
) -> Graph:
    """Convert a networkx graph; nodes keep the order of ``G.nodes``.

    Parameters
    ----------
    G : networkx.Graph, DiGraph, MultiGraph or MultiDiGraph
        Parallel edges are merged into one edge with the sum of their weights, as in ``networkx.to_scipy_sparse_array``.
    weight : str or None
        Edge attribute; an edge without it has weight 1, and an edge of weight 0 is dropped. By default the one called
        weight; if no edge has it and other attributes hold numbers, a choice is required. None: every weight is 1.
    directed, symmetrize, loops, signed
        As in :meth:`Graph.from_edges`; an undirected ``G`` needs neither of the first two.

    Returns
    -------
    Graph
        Node attributes are columns of its node table, ``pos`` its coordinates. Nodes 0..n-1 in order have no names.

    Raises
    ------
    GraphError
        ``G`` is directed and neither ``directed`` nor ``symmetrize`` is given, no edge has the attribute ``weight``, or
        a weight is not a finite number, or is negative without ``signed``.

    See Also
    --------
    to_networkx : The inverse.
    from_igraph : From igraph.

    Examples
    --------
    >>> import networkx as nx
    >>> g = from_networkx(nx.Graph([("a", "b"), ("b", "c")]))
    >>> g.labels, g.n_edges
    (('a', 'b', 'c'), 2)
    """
    check_direction(G.is_directed(), directed, symmetrize)
    names = list(G.nodes)
    number = {name: i for i, name in enumerate(names)}
    pairs = np.array([(number[u], number[v]) for u, v in G.edges()], dtype=np.int64).reshape(-1, 2)
    table = _table(names, _cells(attributes for _, attributes in G.nodes(data=True)))
    weights = None if weight is None else _weights(G, weight)
    return _graph(G, pairs, weights, table, directed, symmetrize=symmetrize, loops=loops, signed=signed)


def _weights(G: Any, weight: str) -> Any | None:
    cells = _cells(attributes for _, _, attributes in G.edges(data=True))
    chosen = weight_attribute(cells, _numeric(cells), weight) if cells or len(G.edges) else None
    if chosen is None:
        return None
    edges = list(G.edges(data=chosen, default=1.0))
    odd = next((edge for edge in edges if not isinstance(edge[2], Real)), None)
    if odd is not None:
        raise GraphError("edge ({!r}, {!r}) has weight {!r}; weights must be finite numbers".format(*odd))
    return np.array([float(value) for *_, value in edges], dtype=np.float64)


def to_networkx(graph: Graph) -> Any:
    """Convert to a networkx graph.

    Parameters
    ----------
    graph : Graph
        Names become the nodes, in order, columns of the node table their attributes, and coordinates the attribute
        ``pos``. Edges have the attribute ``weight`` if the graph is weighted.

    Returns
    -------
    networkx.Graph or networkx.DiGraph
        A ``DiGraph`` if ``graph`` is directed.

    Raises
    ------
    ImportError
        networkx is not installed.

    See Also
    --------
    from_networkx : The inverse.
    to_igraph : To igraph.

    Examples
    --------
    >>> G = to_networkx(Graph.from_edges([(0, 1)], [2.5], n_nodes=3))
    >>> list(G.nodes), list(G.edges(data="weight"))
    ([0, 1, 2], [(0, 1, 2.5)])
    """
    nx = require("networkx", "conversion to networkx")
    names = range(graph.n_nodes) if graph.labels is None else graph.labels
    graph.check_real("a networkx graph", remedy="keep graph.adjacency")
    source, target, weights = graph.edges()
    ends = [(names[i], names[j]) for i, j in zip(source.tolist(), target.tolist(), strict=True)]
    G = nx.DiGraph() if graph.directed else nx.Graph()
    G.add_nodes_from(names)
    for column, cells in _node_cells(graph).items():
        given = {name: cell for name, cell in zip(names, cells, strict=True) if cell is not None}
        nx.set_node_attributes(G, given, column)
    if weights is not None:
        G.add_weighted_edges_from((u, v, w) for (u, v), w in zip(ends, weights.tolist(), strict=True))
    else:
        G.add_edges_from(ends)
    return G


def from_igraph(
    G: Any,
    *,
    weight: str | None = "weight",
    directed: bool = False,
    symmetrize: str | None = None,
    loops: str = "keep",
    signed: bool = False,
) -> Graph:
    """Convert an igraph graph; nodes keep the order of the vertices.

    Parameters
    ----------
    G : igraph.Graph
        Parallel edges are merged into one edge with the sum of their weights. A self-loop counts once in the degree
        (twice in igraph).
    weight : str or None
        Edge attribute that every edge has; the default and None are as in :func:`from_networkx`.
    directed, symmetrize, loops, signed
        As in :meth:`Graph.from_edges`; an undirected ``G`` needs neither of the first two.

    Returns
    -------
    Graph
        Vertex attributes are columns of its node table, ``name`` the names of the nodes.

    Raises
    ------
    GraphError
        As for :func:`from_networkx`, or an edge has no weight.

    See Also
    --------
    to_igraph : The inverse.
    from_networkx : From networkx.

    Examples
    --------
    >>> import igraph
    >>> g = from_igraph(igraph.Graph.TupleList([("a", "b"), ("b", "c")]))
    >>> g.labels, g.n_edges
    (('a', 'b', 'c'), 2)
    """
    check_direction(G.is_directed(), directed, symmetrize)
    pairs = np.array(G.get_edgelist(), dtype=np.int64).reshape(-1, 2)
    attributes = _given(G.vs)
    n_named = len(attributes.pop("name", {}))
    names = G.vs["name"] if n_named and n_named == G.vcount() else range(G.vcount())
    table = _table(names, attributes)
    chosen = weight_attribute(G.es.attributes(), _numeric(_given(G.es)), weight) if G.ecount() else None
    weights = None if chosen is None else _numbers(G.es[chosen], chosen)
    return _graph(G, pairs, weights, table, directed, symmetrize=symmetrize, loops=loops, signed=signed)


def _numbers(values: list[Any], name: str) -> Any:
    # igraph stores None for an attribute that an edge lacks.
    missing = [position for position, value in enumerate(values) if value is None]
    if missing:
        raise GraphError(f"edge {missing[0]} has no {name!r} ({len(missing)} of {len(values)} edges lack it)")
    return host_array(values, GraphError, f"edge attribute {name!r}")


def _given(sequence: Any) -> dict[str, dict[int, Any]]:
    """Return the attributes of vertices or edges, without those of which every value is None."""
    values = {name: sequence[name] for name in sequence.attributes()}
    cells = {name: {k: v for k, v in enumerate(column) if v is not None} for name, column in values.items()}
    return {name: given for name, given in cells.items() if given}


def to_igraph(graph: Graph) -> Any:
    """Convert to an ``igraph.Graph``.

    Parameters
    ----------
    graph : Graph
        Names become the vertex attribute ``name``, the rest is as in :func:`to_networkx`.

    Returns
    -------
    igraph.Graph
        Directed if ``graph`` is.

    Raises
    ------
    ImportError
        igraph is not installed.

    See Also
    --------
    from_igraph : The inverse.
    to_networkx : To networkx.

    Examples
    --------
    >>> G = to_igraph(Graph.from_edges([(0, 1)], [2.5], n_nodes=3))
    >>> G.vcount(), G.get_edgelist(), G.es["weight"]
    (3, [(0, 1)], [2.5])
    """
    igraph = require("igraph", "conversion to igraph")
    graph.check_real("an igraph graph", remedy="keep graph.adjacency")
    source, target, weights = graph.edges()
    G = igraph.Graph(graph.n_nodes, np.stack([source, target], axis=1).tolist(), directed=graph.directed)
    if weights is not None:
        G.es["weight"] = weights.tolist()
    if graph.labels is not None:
        G.vs["name"] = list(graph.labels)
    for column, cells in _node_cells(graph).items():
        G.vs[column] = cells
    return G


def _graph(G: Any, pairs: Any, weights: Any, table: NodeTable, directed: bool, **rules: Any) -> Graph:
    """Return the graph of listed edges, of which parallel ones are summed; an undirected edge is an arc each way."""
    rules |= {"nodes": table, "duplicates": "sum"}
    if G.is_directed():
        return Graph.from_edges(pairs, weights, table.n_nodes, directed=directed, **rules)
    graph = Graph.from_edges(pairs, weights, table.n_nodes, **rules | {"symmetrize": None})
    if not directed:
        return graph
    return Graph.from_adjacency(graph.adjacency, directed=True, signed=graph.is_signed, nodes=graph.nodes)


def _cells(items: Iterable[Mapping[Any, Any]]) -> dict[Any, dict[int, Any]]:
    """Return the attributes of nodes or edges by name, each with the values by position."""
    cells: dict[Any, dict[int, Any]] = {}
    for position, attributes in enumerate(items):
        for name, value in attributes.items():
            cells.setdefault(name, {})[position] = value
    return cells


def _numeric(cells: Cells) -> list[Any]:
    """Return the attributes of which every value is a number."""
    return [name for name, given in cells.items() if all(map(is_number, given.values()))]


def _table(names: Sequence[Any], cells: Cells) -> NodeTable:
    """Return the node table of names and attributes; names 0..n-1 in order are numbers.

    An attribute that a node lacks is nan in a column of numbers and None in any other.
    """
    missing = dict.fromkeys(cells) | dict.fromkeys(_numeric(cells), float("nan"))
    columns = {str(name): [given.get(i, missing[name]) for i in range(len(names))] for name, given in cells.items()}
    numbered = all(type(name) is not bool and isinstance(name, Integral) and name == i for i, name in enumerate(names))
    return replace(node_table(columns, len(names)), names=None if numbered else tuple(names))


def _node_cells(graph: Graph) -> dict[str, list[Any]]:
    """Return the columns of a node table, and coordinates as ``pos``, as plain values for other libraries."""
    columns = {name: column.tolist() for name, column in graph.nodes.columns.items()}
    places = {} if graph.coordinates is None else {"pos": [tuple(at) for at in graph.coordinates.tolist()]}
    return columns | places
