"""igraph graphs: vertices by number, the vertex attribute ``name``, the edge attribute ``weight``."""

from __future__ import annotations

from typing import Any

import numpy as np

from .._arguments import host_array
from .._attributes import weight_attribute
from .._extras import require
from ..errors import GraphError
from ..graph import Graph
from ._common import check_direction, graph_of_edges, node_cells, numeric_names, table_of

__all__ = ["from_igraph", "to_igraph"]


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
        Edge attribute. By default the one called weight; if there is none and others hold numbers, a choice is
        required. None: every weight is 1.
    directed, symmetrize, loops, signed
        As in :meth:`Graph.from_edges`; an undirected ``G`` needs neither of the first two.

    Returns
    -------
    Graph
        Vertex attributes are columns of its node table, ``name`` the names of the nodes.

    Raises
    ------
    GraphError
        ``G`` is directed and neither ``directed`` nor ``symmetrize`` is given, or a weight is missing, not finite, or
        negative without ``signed``.

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
    rules: dict[str, Any] = {"symmetrize": symmetrize, "loops": loops, "signed": signed, "nodes": _table(G)}
    chosen = weight_attribute(G.es.attributes(), numeric_names(_cells(G.es)), weight) if G.ecount() else None
    weights = None if chosen is None else _numbers(G.es[chosen], chosen)
    return graph_of_edges(pairs, weights, G.is_directed(), directed, rules)


def _numbers(values: list[Any], name: str) -> Any:
    # igraph stores None for an attribute that an edge lacks.
    missing = [position for position, value in enumerate(values) if value is None]
    if missing:
        raise GraphError(f"edge {missing[0]} has no {name!r} ({len(missing)} of {len(values)} edges lack it)")
    return host_array(values, GraphError, f"edge attribute {name!r}")


def _cells(sequence: Any) -> dict[str, dict[int, Any]]:
    """Return the attributes of vertices or edges, without those of which every value is None."""
    values = {name: sequence[name] for name in sequence.attributes()}
    cells = {name: {k: v for k, v in enumerate(column) if v is not None} for name, column in values.items()}
    return {name: given for name, given in cells.items() if given}


def _table(G: Any) -> Any:
    cells = _cells(G.vs)
    n_named = len(cells.pop("name", {}))
    names = G.vs["name"] if n_named and n_named == G.vcount() else range(G.vcount())
    return table_of(names, cells)


def to_igraph(graph: Graph) -> Any:
    """Convert to an ``igraph.Graph``.

    Parameters
    ----------
    graph : Graph
        Names become the vertex attribute ``name``, columns of the node table vertex attributes, coordinates ``pos``,
        and weights the edge attribute ``weight``.

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
    for column, cells in node_cells(graph).items():
        G.vs[column] = cells
    return G
