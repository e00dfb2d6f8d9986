"""A large cut of a graph, found in a few passes over its edges."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt
from scipy.sparse import csgraph

from ..backend import FloatArray, IntArray, group_sum
from ..graph import Graph

__all__ = ["bipartite_components", "max_cut"]

BoolArray = npt.NDArray[np.bool_]
MOST_PASSES = 200


def _edges(graph: Graph) -> tuple[IntArray, IntArray, FloatArray]:
    """Return both ends and the weight of every stored edge but loops, which no cut can hold."""
    A = graph.adjacency.tocoo()
    other = A.row != A.col
    return A.row[other], A.col[other], A.data[other]


def _parity(graph: Graph) -> BoolArray:
    """Return whether each node is an even number of edges from the first node of its component."""
    roots = np.unique(graph.component_labels, return_index=True)[1]
    distance = csgraph.dijkstra(graph.adjacency, directed=False, unweighted=True, indices=roots, min_only=True)
    return np.asarray(distance % 2 == 0)


def bipartite_components(graph: Graph) -> BoolArray:
    """Return which components have edges and split in two sides with every edge between them; loops forbid it."""
    even = _parity(graph)
    A = graph.adjacency.tocoo()
    found = np.zeros(graph.n_components, dtype=bool)
    found[graph.component_labels[A.row]] = True
    found[graph.component_labels[A.row[even[A.row] == even[A.col]]]] = False
    return found


def max_cut(graph: Graph) -> BoolArray:
    """Return one side of a large cut, with a node of every component in it.

    Nodes start on the side of their distance's parity, which is the best cut of a bipartite graph. Then, pass by pass,
    nodes that would cut more on the other side move there: at once all that gain more than each of their neighbours,
    so that no two moves undo each other and every pass cuts more.

    Examples
    --------
    >>> max_cut(Graph.from_edges([(0, 1), (1, 2), (2, 3)]))
    array([ True, False,  True, False])
    """
    if graph.n_nodes == 0:
        return np.zeros(0, dtype=bool)
    row, col, weight = _edges(graph)
    side = np.where(_parity(graph), 1.0, -1.0)
    for _ in range(MOST_PASSES):
        gain = group_sum(row, weight * side[row] * side[col], graph.n_nodes)
        moving = _local_peaks(gain, row, col)
        if not moving.any():
            break
        side[moving] *= -1
    return _with_every_component(graph, side > 0)


def _local_peaks(gain: FloatArray, row: IntArray, col: IntArray) -> BoolArray:
    """Return the nodes with a gain above rounding that no neighbour exceeds, ties going to the first node."""
    rank = np.empty(len(gain), dtype=np.int64)
    rank[np.lexsort((-np.arange(len(gain)), gain))] = np.arange(len(gain))
    best = np.full(len(gain), -1)
    np.maximum.at(best, row, rank[col])
    return np.asarray((gain > 1e-12 * np.abs(gain).max(initial=0.0)) & (rank > best))


def _with_every_component(graph: Graph, side: BoolArray) -> BoolArray:
    """Return ``side`` with the components swapped that have no node in it."""
    members = np.bincount(graph.component_labels, weights=side, minlength=graph.n_components)
    return np.asarray(side ^ (members == 0)[graph.component_labels])
