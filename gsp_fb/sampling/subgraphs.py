"""Samples of a large graph: drawn neighbours, unions of random walks, clusters of nodes."""

from __future__ import annotations

from typing import Any

import numpy as np
from scipy import sparse

from .._arguments import check_count, check_host
from ..backend import IntArray
from ..graph import Graph
from ..reorder import community_labels

__all__ = ["WalkSubgraphs", "clusters", "drawn_neighbours", "mean_matrix", "random_walks"]


def mean_matrix(graph: Graph, kept: Any = None) -> sparse.csr_array:
    """Return ``D^-1 A``, D of absolute values, over the entries of A that ``kept`` marks (all by default)."""
    check_host(graph.device, "means over neighbours are made")
    chosen = A = graph.adjacency
    if kept is not None:
        indptr = np.concatenate([[0], np.cumsum(kept)])[A.indptr]
        chosen = sparse.csr_array((A.data[kept], A.indices[kept], indptr), shape=A.shape)
    sums = abs(chosen).sum(axis=1)
    return sparse.csr_array(sparse.diags_array(1.0 / np.where(sums == 0, 1.0, sums)) @ chosen)


def drawn_neighbours(graph: Graph, fanout: int, keys: Any) -> Any:
    """Return a mark on each entry of the adjacency: at most ``fanout`` a row, those of the smallest random keys.

    Examples
    --------
    >>> drawn_neighbours(Graph.from_edges([(0, 1), (1, 2)]), 1, np.array([0.5, 0.9, 0.1, 0.5]))
    array([ True, False,  True,  True])
    """
    rows = np.repeat(np.arange(graph.n_nodes), np.diff(graph.indptr))
    # Sorted by row, then by key, entry k of a row is its k-th draw.
    order = np.lexsort((keys, rows))
    kept = np.empty(rows.size, dtype=bool)
    kept[order] = np.arange(rows.size) - np.repeat(graph.indptr[:-1], np.diff(graph.indptr)) < fanout
    return kept


def random_walks(graph: Graph, roots: Any, length: int, rng: np.random.Generator) -> Any:
    """Return the nodes of one uniform walk from each root, shape (n_roots, length + 1); a dead end stays put."""
    steps = [np.asarray(roots)]
    counts = np.diff(graph.indptr)
    for _ in range(length):
        here = steps[-1]
        choice = (rng.random(here.size) * counts[here]).astype(np.int64)
        at = np.minimum(graph.indptr[here] + choice, graph.indices.size - 1)
        steps.append(np.where(counts[here] > 0, graph.indices[at], here) if graph.indices.size else here)
    return np.stack(steps, axis=1)


class WalkSubgraphs:
    """Subgraphs of random walks with GraphSAINT's two normalisations.

    With ``C_v`` and ``C_uv`` the numbers of pre-sampled subgraphs that hold a node and an edge, a target's loss counts
    ``N / C_v`` and the entry ``(v, u)`` of the neighbour mean is multiplied by ``C_v / C_uv``: both sums are then
    unbiased estimates of those of the whole graph.

    H. Zeng et al., "GraphSAINT: Graph sampling based inductive learning method", ICLR 2020.

    Examples
    --------
    >>> ring = Graph.from_edges([(0, 1), (1, 2), (2, 3), (3, 0)])
    >>> drawn = WalkSubgraphs(ring, np.random.default_rng(0), n_roots=1, length=1, coverage=5)
    >>> int(drawn.draw(np.random.default_rng(1)).sum())
    2
    """

    def __init__(
        self, graph: Graph, rng: np.random.Generator, *, n_roots: int = 3000, length: int = 2, coverage: int = 50
    ) -> None:
        self.graph, self.mean = graph, mean_matrix(graph)
        self.n_roots = min(check_count(n_roots, "n_roots"), graph.n_nodes)
        self.length = check_count(length, "length", minimum=0)
        rows = np.repeat(np.arange(graph.n_nodes), np.diff(self.mean.indptr))
        node_counts, edge_counts = np.zeros(graph.n_nodes), np.zeros(self.mean.nnz)
        self.n_subgraphs = 0
        while node_counts.sum() < check_count(coverage, "coverage") * graph.n_nodes:
            marks = self.draw(rng)
            node_counts += marks
            edge_counts += marks[rows] & marks[self.mean.indices]
            self.n_subgraphs += 1
        # What pre-sampling never met gets the count of one visit instead of an infinite weight.
        self.node_counts, edge_counts = np.maximum(node_counts, 1.0), np.maximum(edge_counts, 1.0)
        weights = self.mean.data * self.node_counts[rows] / edge_counts
        self.matrix = sparse.csr_array((weights, self.mean.indices, self.mean.indptr), shape=self.mean.shape)

    def draw(self, rng: np.random.Generator) -> Any:
        """Return a subgraph as a mark on every node."""
        roots = rng.integers(self.graph.n_nodes, size=self.n_roots)
        marks = np.zeros(self.graph.n_nodes, dtype=bool)
        marks[random_walks(self.graph, roots, self.length, rng).ravel()] = True
        return marks


def clusters(graph: Graph, size: int) -> list[IntArray]:
    """Return the nodes in groups of about ``size``, communities kept together."""
    check_host(graph.device, "clusters are made")
    order = np.argsort(community_labels(graph), kind="stable")
    n_groups = max(1, round(graph.n_nodes / check_count(size, "size")))
    return [np.sort(group) for group in np.array_split(order, n_groups)]
