"""Graphs from graphs: products of two, and the line graph."""

from __future__ import annotations

from typing import Any

import numpy as np
from scipy import sparse

from ._arguments import check_host
from ._cost import state_cost
from .backend import FloatArray
from .errors import GraphError
from .graph import Graph
from .nodes import NodeTable

__all__ = ["cartesian_product", "line_graph", "strong_product", "tensor_product"]

# A pair of edges is found, sorted and stored: as much as reading so many entries.
READS_OF_A_PAIR = 80.0


def cartesian_product(first: Graph, second: Graph) -> Graph:
    r"""Return the Cartesian product: adjacency :math:`A_1 \otimes I + I \otimes A_2`.

    Node ``i * n_2 + j`` is the pair (i, j). The combinatorial frequencies are the sums of those of the factors.

    Parameters
    ----------
    first, second : Graph
        In memory, both directed or both undirected.

    Returns
    -------
    Graph
        With :math:`n_1 n_2` nodes; with coordinates if both factors lie on a line.

    Raises
    ------
    GraphError
        One graph is directed and the other is not.

    See Also
    --------
    tensor_product, strong_product : Other products.
    gsp_fb.datasets.grid : The product of two paths.

    References
    ----------
    .. [1] A. Sandryhaila and J. M. F. Moura, "Big data analysis with signal processing on graphs", IEEE SPM 31(5),
       2014.

    Examples
    --------
    >>> from gsp_fb import datasets
    >>> cartesian_product(datasets.path(3), datasets.path(4)).sha256 == datasets.grid(3, 4).sha256
    True
    """
    A, B = _adjacencies(first, second)
    eyes = sparse.eye_array(B.shape[0]), sparse.eye_array(A.shape[0])
    return _made(sparse.kron(A, eyes[0]) + sparse.kron(eyes[1], B), first, second)


def tensor_product(first: Graph, second: Graph) -> Graph:
    r"""Return the tensor (Kronecker) product: adjacency :math:`A_1 \otimes A_2`.

    Parameters
    ----------
    first, second : Graph
        In memory, both directed or both undirected.

    Returns
    -------
    Graph
        As in :func:`cartesian_product`; eigenvalues of the adjacency are products of those of the factors.

    Raises
    ------
    GraphError
        One graph is directed and the other is not.

    See Also
    --------
    cartesian_product : One coordinate changes at a time.

    Examples
    --------
    >>> from gsp_fb import datasets
    >>> tensor_product(datasets.path(2), datasets.path(2)).n_edges
    2
    """
    return _made(sparse.kron(*_adjacencies(first, second)), first, second)


def strong_product(first: Graph, second: Graph) -> Graph:
    r"""Return the strong product: the sum of the Cartesian and the tensor product.

    Parameters
    ----------
    first, second : Graph
        In memory, both directed or both undirected.

    Returns
    -------
    Graph
        As in :func:`cartesian_product`.

    Raises
    ------
    GraphError
        One graph is directed and the other is not.

    See Also
    --------
    cartesian_product, tensor_product : Its two parts.

    Examples
    --------
    >>> from gsp_fb import datasets
    >>> strong_product(datasets.path(2), datasets.path(2)).n_edges
    6
    """
    parts = cartesian_product(first, second), tensor_product(first, second)
    return _made(parts[0].adjacency + parts[1].adjacency, first, second)


def line_graph(graph: Graph) -> Graph:
    """Return the line graph: a node for each edge, adjacent where two edges share an end.

    A node of degree d becomes a clique: d (d - 1) / 2 edges. Above about 2e7 pairs of edges, some five seconds, a
    warning states how long it takes before it starts.

    Parameters
    ----------
    graph : Graph
        Undirected, in memory.

    Returns
    -------
    Graph
        Unweighted, nodes in the order of ``graph.edges()``; coordinates are the middles of the edges.

    Raises
    ------
    GraphError
        The graph is directed.

    See Also
    --------
    gsp_fb.incidence : Nodes and edges as a matrix.

    Examples
    --------
    >>> from gsp_fb import datasets
    >>> line_graph(datasets.star(5)).n_edges
    6
    """
    if graph.directed:
        raise GraphError("the line graph of a directed graph is not defined here; give symmetrize= to the graph")
    check_host(graph.device, "a line graph is made")
    source, target, _ = graph.edges()
    n, places = len(source), graph.coordinates
    at, ends = np.tile(np.arange(n), 2), np.concatenate([source, target])
    touches = sparse.csr_array((np.ones(2 * n), (at, ends)), shape=(n, graph.n_nodes))
    touches.data[:] = 1.0  # a loop has both ends at one node
    pairs = float(np.sum(np.bincount(ends, minlength=graph.n_nodes).astype(float) ** 2)) / 2
    state_cost(READS_OF_A_PAIR * 2 * pairs, f"a line graph with {pairs:.2g} pairs of edges", "give a sparser graph")
    A = sparse.coo_array(touches @ touches.T)
    once = A.row < A.col
    middles = None if places is None else (places[source] + places[target]) / 2
    edges = np.stack([A.row[once], A.col[once]], axis=1)
    return Graph.from_edges(edges, n_nodes=n, nodes=NodeTable(n, None, middles))


def _adjacencies(first: Graph, second: Graph) -> tuple[Any, Any]:
    if first.directed != second.directed:
        raise GraphError("one factor is directed and the other is not; give symmetrize= to the directed one")
    for graph in (first, second):
        check_host(graph.device, "a product of graphs is made")
    return first.adjacency, second.adjacency


def _made(A: Any, first: Graph, second: Graph) -> Graph:
    nodes = NodeTable(A.shape[0], None, _product_places(first, second))
    return Graph.from_adjacency(sparse.csr_array(A), directed=first.directed, signed=True, nodes=nodes)


def _product_places(first: Graph, second: Graph) -> FloatArray | None:
    """Return (x_j, -x_i) of the pairs if both graphs lie on a line, as rows of a grid from the top."""
    lines = [graph.coordinates for graph in (first, second)]
    if any(places is None or np.ptp(places[:, 1:]) > 0 for places in lines if places is None or len(places)):
        return None
    down, right = (np.asarray(places)[:, 0] for places in lines)
    return np.stack([np.tile(right, len(down)), np.repeat(down.max(initial=0.0) - down, len(right))], axis=1)
