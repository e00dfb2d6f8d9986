"""Kron reduction without fill-in: nodes are eliminated one after the other, each clique replaced by a random tree."""

from __future__ import annotations

from typing import Any

import numpy as np
from scipy import sparse

from ..backend import IntArray
from ..graph import Graph
from .kron import without_loops

__all__ = ["sampled_kron"]


def sampled_kron(graph: Graph, keep: IntArray, rng: np.random.Generator) -> Graph:
    """Return a random graph on ``keep`` whose expected Laplacian is the Kron-reduced one, with no more edges.

    Eliminating a node of degree d makes a clique; its sampled tree has d - 1 edges, the right expectation, and leaves
    connected what was connected [1]_. Nodes of an independent set are eliminated together.

    References
    ----------
    .. [1] R. Kyng and S. Sachdeva, "Approximate Gaussian elimination for Laplacians", FOCS 2016.
    """
    A, left = without_loops(graph), np.ones(graph.n_nodes, dtype=bool)
    left[keep] = False
    while left.any():
        chosen = _independent(A, left, rng)
        left[chosen] = False
        A = _eliminated(A, chosen, rng)
    loops: Any = sparse.diags_array(np.asarray(graph.loop_weights[keep]))
    return Graph.from_adjacency(A[keep][:, keep] + loops, nodes=graph.nodes.take(keep))


def _independent(A: Any, left: Any, rng: np.random.Generator) -> IntArray:
    """Return nodes to eliminate, no two adjacent: those of lower degree than their neighbours that are left."""
    # Degrees plus a random fraction are distinct, so at least one node is chosen.
    rank = np.diff(A.indptr) + rng.random(len(left))
    rank[~left] = np.inf
    rows = np.repeat(np.arange(len(left)), np.diff(A.indptr))
    beaten = np.zeros(len(left), dtype=bool)
    beaten[rows[rank[A.indices] < rank[rows]]] = True
    return np.flatnonzero(left & ~beaten)


def _eliminated(A: Any, chosen: IntArray, rng: np.random.Generator) -> Any:
    """Return the adjacency without the chosen nodes: their neighbours joined by trees."""
    gone = np.zeros(A.shape[0], dtype=bool)
    gone[chosen] = True
    entries = A.tocoo()
    rest = ~(gone[entries.row] | gone[entries.col])
    first, second, weights = _trees(A[chosen], rng)
    rows = np.concatenate([entries.row[rest], first, second])
    columns = np.concatenate([entries.col[rest], second, first])
    values = np.concatenate([entries.data[rest], weights, weights])
    return sparse.csr_array((values, (rows, columns)), shape=A.shape)


def _trees(stars: Any, rng: np.random.Generator) -> tuple[Any, Any, Any]:
    """Return the edges of one tree a row: each neighbour, lightest first, draws one of the heavier by weight."""
    rows = np.repeat(np.arange(stars.shape[0]), np.diff(stars.indptr))
    order = np.lexsort((stars.data, rows))
    nodes, weights, last = stars.indices[order], stars.data[order], stars.indptr[1:][rows] - 1
    # Each row sums to 1. The heaviest entry comes last, so that the sums of heavier ones are of the row's own size.
    sums = np.cumsum(weights / np.bincount(rows, weights, stars.shape[0])[rows])
    heavier = sums[last] - sums
    drawing = np.flatnonzero(np.arange(len(nodes)) < last)
    drawn = np.searchsorted(sums, sums[drawing] + rng.random(len(drawing)) * heavier[drawing])
    partner = np.clip(drawn, drawing + 1, last[drawing])
    return nodes[drawing], nodes[partner], (weights * heavier)[drawing]
