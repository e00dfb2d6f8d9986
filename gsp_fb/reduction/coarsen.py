r"""Coarsening by edge contraction that keeps the lowest frequencies, with the eigenvalue error measured."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from scipy import sparse

from .._arguments import check_choice, check_count
from .._build import canonical, drop_loops
from ..backend import FloatArray, IntArray
from ..errors import ParameterError
from ..graph import Graph
from ..nodes import NodeTable
from ..operators import operator
from ..spectrum import spectrum
from .kron import check_reducible

__all__ = ["Coarsened", "coarsen"]

METHODS = ("variation", "heavy_edge")


@dataclass(frozen=True, eq=False, repr=False)
class Coarsened:
    r"""A graph of groups of nodes, and how far its low frequencies are from those of the given graph.

    Parameters
    ----------
    graph : Graph
        One node a group; the weight of an edge is the sum over the edges between two groups. Coordinates are means.
    groups : int array, shape (n_nodes,)
        The group of each node of the given graph.
    frequencies, coarse_frequencies : float64 arrays, shape (k,)
        The lowest eigenvalues of :math:`L`, and of :math:`M^{-1/2} L_c M^{-1/2}` with the sizes M of the groups. By
        interlacing none of the latter is below its counterpart.
    error : float
        Largest relative difference of the two, over positive eigenvalues.

    See Also
    --------
    coarsen : Makes it.

    Examples
    --------
    >>> from gsp_fb import datasets
    >>> found = coarsen(datasets.path(8), 0.5, k=2)
    >>> found.lift(found.restrict(np.ones(8))).tolist() == [1.0] * 8
    True
    """

    graph: Graph
    groups: IntArray
    frequencies: FloatArray
    coarse_frequencies: FloatArray
    error: float

    @property
    def sizes(self) -> IntArray:
        """Number of nodes in each group."""
        return np.bincount(self.groups, minlength=self.graph.n_nodes)

    def restrict(self, x: Any) -> FloatArray:
        """Return the mean of a signal over each group, shape (n_groups,) or (n_groups, n_signals)."""
        return _means(self.groups, np.asarray(x, dtype=np.float64))

    def lift(self, x: Any) -> FloatArray:
        """Return the signal on the given graph that is constant over each group."""
        return np.asarray(x)[self.groups]

    def __repr__(self) -> str:
        return f"Coarsened(n_nodes={self.graph.n_nodes}, k={len(self.frequencies)}, error={self.error:.3g})"


def coarsen(graph: Graph, ratio: float = 0.5, *, k: int = 10, method: str = "variation") -> Coarsened:
    r"""Return a graph of groups of nodes that keeps the ``k`` lowest frequencies, with their measured error.

    Edges are contracted in rounds, each a matching of the cheapest edges. The cost of an edge (i, j) is

    - ``variation``: :math:`w_{ij}\,\|a_i - a_j\|^2 (d_i + d_j)`, :math:`a` the k lowest modes divided by the roots of
      their frequencies: how much the contraction changes signals of low frequency [1]_;
    - ``heavy_edge``: :math:`1 / w_{ij}` times the larger degree; no modes are needed to choose.

    Parameters
    ----------
    graph : Graph
        Undirected, in memory. Self-loops are dropped.
    ratio : float
        Share of the nodes that remains, between 0 and 1.
    k : int
        Number of lowest frequencies that are kept, zero included. Their modes, as of :func:`spectrum`, take the time.
    method : {'variation', 'heavy_edge'}

    Returns
    -------
    Coarsened

    Raises
    ------
    GraphError
        The graph is directed or has negative weights.
    ParameterError
        ``ratio`` leaves fewer nodes than ``k`` or than there are components.

    See Also
    --------
    kron : Keeps nodes instead of grouping them.
    sparsify : Keeps all nodes.

    References
    ----------
    .. [1] A. Loukas, "Graph reduction with spectral and cut guarantees", JMLR 20(116), 2019.

    Examples
    --------
    >>> from gsp_fb import datasets
    >>> found = coarsen(datasets.sensor(200, rng=0), 0.5, k=5)
    >>> found.graph.n_nodes, bool(found.error < 0.3)
    (100, True)
    """
    check_reducible(graph, "coarsening")
    check_choice(method, METHODS, "method")
    target = _check_target(graph, ratio, check_count(k, "k"))
    modes = spectrum(operator(graph, "comb", channel="high"), k=k)
    frequencies = np.asarray(modes.frequencies)
    # Constant modes of the components are kept by every contraction.
    real = np.arange(k) >= graph.n_components
    low: FloatArray = np.asarray(modes.basis)[:, real] / np.sqrt(frequencies[real])
    A = drop_loops(graph.adjacency)
    groups: IntArray = np.arange(graph.n_nodes)
    while A.shape[0] > target:
        joined = _contracted(A, low, target, method)
        S = _indicator(joined)
        A, low, groups = drop_loops(canonical(S.T @ A @ S)), _means(joined, low), joined[groups]
    # The groups lie at the mean of the coordinates, where the nodes have some.
    at = None if graph.coordinates is None else _means(groups, graph.coordinates)
    coarse = Graph.from_adjacency(A, symmetrize="mean", nodes=NodeTable(A.shape[0], None, at))
    found = _weighted_frequencies(coarse, groups, k)
    error = float(np.max(found[real] / frequencies[real] - 1.0, initial=0.0))
    return Coarsened(coarse, groups, frequencies, found, error)


def _check_target(graph: Graph, ratio: float, k: int) -> int:
    if not 0 < ratio < 1:
        raise ParameterError(f"ratio must lie between 0 and 1, not {ratio!r}")
    target = round(ratio * graph.n_nodes)
    if target < max(k, graph.n_components):
        raise ParameterError(
            f"ratio={ratio:g} leaves {target} of {graph.n_nodes} nodes, fewer than the k={k} frequencies or the "
            f"{graph.n_components} components; raise ratio"
        )
    return target


def _contracted(A: Any, low: FloatArray, target: int, method: str) -> IntArray:
    """Return the group of each node after one round: disjoint pairs of adjacent nodes, cheapest first."""
    upper = sparse.triu(A, 1).tocoo()
    degrees = np.asarray(A.sum(axis=1)).ravel()
    first, second = upper.row, upper.col
    if method == "variation":
        cost = upper.data * np.sum((low[first] - low[second]) ** 2, axis=1) * (degrees[first] + degrees[second])
    else:
        cost = np.maximum(degrees[first], degrees[second]) / upper.data
    partner, excess = np.arange(A.shape[0]), A.shape[0] - target
    free = [True] * A.shape[0]
    for i, j in zip(*(ends[np.argsort(cost, kind="stable")].tolist() for ends in (first, second)), strict=True):
        if free[i] and free[j]:
            partner[j], free[i], free[j] = i, False, False
            excess -= 1
            if not excess:
                break
    return np.unique(partner, return_inverse=True)[1]


def _indicator(groups: IntArray) -> Any:
    """Return the matrix S with one column a group: S x is constant over groups, S' x sums over them."""
    n = len(groups)
    return sparse.csr_array((np.ones(n), (np.arange(n), groups)))


def _means(groups: IntArray, values: FloatArray) -> FloatArray:
    """Return the mean over each group of values at the nodes."""
    return np.asarray(((_indicator(groups).T @ values).T / np.bincount(groups)).T)


def _weighted_frequencies(coarse: Graph, groups: IntArray, k: int) -> FloatArray:
    """Return the lowest eigenvalues of the coarse Laplacian with the sizes of the groups as masses."""
    op, root = operator(coarse, "comb", channel="high"), 1.0 / np.sqrt(np.bincount(groups))
    massive = replace(op, left=root * op.left, right=root * op.right, diag=root**2 * op.diag)
    return np.asarray(spectrum(massive, k=k).frequencies)
