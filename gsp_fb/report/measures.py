"""Numbers of a report only: expected values under random permutation, bipartite components, mixtures of columns."""

from __future__ import annotations

from typing import Any

import numpy as np
from scipy import sparse
from scipy.sparse import csgraph

from ..backend import Signal
from ..graph import Graph

__all__ = ["mixtures", "n_bipartite", "permutation_homophily"]


def permutation_homophily(y: Any) -> float:
    r"""Return the mean edge homophily of the labels over all placements: :math:`\sum_k n_k (n_k - 1) / (n (n - 1))`.

    Examples
    --------
    >>> round(permutation_homophily(np.array([0, 0, 1])), 6)
    0.333333
    """
    counts = np.bincount(y[y >= 0]).astype(np.float64)
    total = counts.sum()
    return float((counts * (counts - 1)).sum() / (total * (total - 1))) if total > 1 else float("nan")


def n_bipartite(graph: Graph) -> int:
    """Return the number of components with an edge whose nodes fall into two sides.

    In the double cover, where each edge joins a node to the other copy of its neighbour, such a component falls in two.

    Examples
    --------
    >>> n_bipartite(Graph.from_edges([(0, 1), (2, 3), (3, 4), (4, 2)], n_nodes=6))
    1
    """
    swap = sparse.csr_array([[0.0, 1.0], [1.0, 0.0]])
    covered = csgraph.connected_components(sparse.kron(swap, graph.adjacency, format="csr"), directed=False)[0]
    return int(covered) - graph.n_components - graph.n_isolated


def mixtures(x: Signal, count: int, rng: np.random.Generator) -> Signal:
    r"""Return ``count`` mixtures ``x R`` of the columns that keep every energy of ``x`` in the mean.

    :math:`E[R R^T] = I`: half of the mixtures lie along an orthonormal basis V of the strongest directions of ``x``,
    where the energies are exact; the others are random signs in what is left (Meyer et al. 2021, Hutch++).

    Examples
    --------
    >>> mixtures(np.ones((2, 9)), 4, np.random.default_rng(0)).shape
    (2, 4)
    """
    half = count // 2
    probes, signs = (rng.choice([-1.0, 1.0], (x.shape[1], half)) for _ in range(2))
    strongest = np.linalg.qr(x.T @ (x @ probes))[0]
    rest = (signs - strongest @ (strongest.T @ signs)) / np.sqrt(half)
    return x @ np.concatenate([strongest, rest], axis=1)
