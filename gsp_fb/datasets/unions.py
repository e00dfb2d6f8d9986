"""Many graphs as one disjoint union: its bounds checked, some of its graphs taken out, one-hot node tags."""

from __future__ import annotations

from typing import Any

import numpy as np
from scipy import sparse

from ..backend import IntArray
from ..errors import GraphError, ParameterError
from ..graph import Graph

__all__ = ["check_graph_indptr", "chosen_graphs", "node_features", "tag_features"]


def check_graph_indptr(given: Any, n_nodes: int, n_graphs: int) -> IntArray:
    """Return the bounds of the graphs of a collection, checked against its nodes and targets."""
    starts = np.asarray(given)
    if starts.ndim != 1 or starts.dtype.kind not in "iu" or len(starts) != n_graphs + 1:
        what = f"graph_indptr has shape {starts.shape} and type {starts.dtype}"
        raise ParameterError(f"{what}; {n_graphs} targets need {n_graphs + 1} integers")
    bad = np.flatnonzero(np.diff(starts.astype(np.int64)) < 1)
    if bad.size:
        raise ParameterError(f"graph {bad[0]} has no nodes: graph_indptr must increase at place {bad[0] + 1}")
    if starts[0] != 0 or starts[-1] != n_nodes:
        raise ParameterError(f"graph_indptr runs from {starts[0]} to {starts[-1]}; the nodes are 0..{n_nodes}")
    return starts.astype(np.int64)


def chosen_graphs(
    graph: Graph, graph_indptr: Any, index: Any = None
) -> tuple[IntArray, sparse.csr_array, sparse.csr_array]:
    """Return the nodes of some graphs of a disjoint union, their adjacency, and the matrix that sums nodes by graph."""
    starts = np.asarray(graph_indptr, dtype=np.int64)
    sizes = np.diff(starts)
    chosen = np.arange(sizes.size) if index is None else np.asarray(index)
    ends = np.cumsum(sizes[chosen])
    begins = ends - sizes[chosen]
    # What is added to a node's place in the batch to get its number in the union; one value a graph.
    shift = np.repeat(starts[chosen] - begins, sizes[chosen])
    nodes = np.arange(shift.size) + shift
    sums = sparse.csr_array((np.ones(nodes.size), np.arange(nodes.size), np.r_[0, ends]), (chosen.size, nodes.size))
    bounds = (np.repeat(side, sizes[chosen]) for side in (begins, ends))
    return nodes, _blocks(graph.adjacency[nodes], shift, *bounds), sums


def _blocks(rows: Any, shift: Any, begins: Any, ends: Any) -> sparse.csr_array:
    """Return the square matrix of the given rows of a disjoint union, its columns renumbered.

    An edge stays within its graph, so its column moves as far as its row did; no column is looked up.
    """
    counts = np.diff(rows.indptr)
    columns = rows.indices - np.repeat(shift, counts)
    away = np.flatnonzero((columns < np.repeat(begins, counts)) | (columns >= np.repeat(ends, counts)))
    if away.size:
        place = int(np.searchsorted(rows.indptr, away[0], "right")) - 1
        edge = f"({place + int(shift[place])}, {int(rows.indices[away[0]])})"
        raise GraphError(f"edge {edge} joins two graphs; graph_indptr must part the nodes into separate graphs")
    return sparse.csr_array((rows.data, columns, rows.indptr), shape=(shift.size, shift.size))


def node_features(dataset: Any) -> Any:
    """Return the features of the nodes; a collection of graphs without any gets :func:`tag_features`."""
    return dataset.x if hasattr(dataset, "x") else tag_features(dataset)


def tag_features(collection: Any) -> sparse.csr_array:
    """Return one-hot node tags, or one-hot degrees where all tags are equal, as GIN's experiments do.

    >>> from types import SimpleNamespace
    >>> path = Graph.from_edges([(0, 1), (1, 2)])
    >>> tag_features(SimpleNamespace(graph=path, node_label=[0, 0, 0])).toarray()
    array([[1., 0.],
           [0., 1.],
           [1., 0.]])
    """
    tags = np.asarray(collection.node_label)
    if np.all(tags == tags[:1]):
        tags = np.diff(collection.graph.indptr)
    kinds, position = np.unique(tags, return_inverse=True)
    return sparse.csr_array((np.ones(tags.size), (np.arange(tags.size), position)), shape=(tags.size, kinds.size))
