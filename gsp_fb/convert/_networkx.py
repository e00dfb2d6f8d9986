"""networkx graphs: hashable node names, the edge attribute ``weight``, parallel edges summed."""

from __future__ import annotations

from collections.abc import Hashable
from numbers import Real
from typing import Any

import numpy as np

from .._attributes import weight_attribute
from .._extras import require
from ..errors import GraphError
from ..graph import Graph
from ._common import cells_by_name, check_direction, graph_of_edges, names_of, node_cells, numeric_names, table_of

__all__ = ["from_networkx", "to_networkx"]


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
        Node attributes are columns of its node table, ``pos`` its coordinates. Nodes have names unless they are called
        0..n-1 in this order.

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
    table = table_of(names, cells_by_name(attributes for _, attributes in G.nodes(data=True)))
    rules: dict[str, Any] = {"symmetrize": symmetrize, "loops": loops, "signed": signed, "nodes": table}
    weights = None if weight is None else _weights(G, weight)
    return graph_of_edges(pairs, weights, G.is_directed(), directed, rules)


def _weights(G: Any, weight: str) -> Any | None:
    cells = cells_by_name(attributes for _, _, attributes in G.edges(data=True))
    chosen = weight_attribute(cells, numeric_names(cells), weight) if cells or len(G.edges) else None
    if chosen is None:
        return None
    edges = G.edges(data=chosen, default=1.0)
    return np.array([_number(u, v, value) for u, v, value in edges], dtype=np.float64)


def _number(u: Hashable, v: Hashable, weight: object) -> float:
    if not isinstance(weight, Real):
        raise GraphError(f"edge ({u!r}, {v!r}) has weight {weight!r}; weights must be finite numbers")
    return float(weight)


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
    names = names_of(graph)
    graph.check_real("a networkx graph", remedy="keep graph.adjacency")
    source, target, weights = graph.edges()
    ends = [(names[i], names[j]) for i, j in zip(source.tolist(), target.tolist(), strict=True)]
    G = nx.DiGraph() if graph.directed else nx.Graph()
    G.add_nodes_from(names)
    for column, cells in node_cells(graph).items():
        given = {name: cell for name, cell in zip(names, cells, strict=True) if cell is not None}
        nx.set_node_attributes(G, given, column)
    if weights is not None:
        G.add_weighted_edges_from((u, v, w) for (u, v), w in zip(ends, weights.tolist(), strict=True))
    else:
        G.add_edges_from(ends)
    return G
