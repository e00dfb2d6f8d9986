r"""Critical sampling of the two channels: one number per node, low on a chosen set and high on the rest.

For the lazy pair :math:`(I \pm P)/2`, :math:`P = D^{-1}A`, the kept values are :math:`\tfrac{1}{2}(I + JP)x` with
:math:`J = \pm 1` on the diagonal. :math:`JPx = -x` means :math:`Px = -Jx`, so :math:`P` keeps the norm of x (weighted
by degrees), which only eigenvectors of eigenvalue 1 and -1 allow: on each component the constant, and on a bipartite
one the constant of alternating sign. The first needs J = -1 all over the component, the second J = 1. Hence x can be
restored **if and only if every component has a low node and every bipartite component has a high node too**. On a
bipartite graph cut along its two sides, :math:`JP` is skew-symmetric (weighted by degrees) and the condition number is
at most :math:`\sqrt2`.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt
from scipy.sparse import csgraph

from .._arguments import check_choice
from .._lanczos import gauss_rule, lanczos
from ..backend import (
    FloatArray,
    IntArray,
    Signal,
    add_diagonal,
    asarray_like,
    cast,
    device_of,
    factor,
    freeze,
    group_sum,
    is_complex,
    namespace,
    product,
    scaled_csr,
    transposed,
)
from ..errors import ParameterError
from ..graph import Graph
from ..operators import Operator
from ..solvers.factor import factorization_cost
from ..variants import VARIANTS
from ._arguments import check_mask

__all__ = ["Sampling", "bipartite_components", "check_sampled", "max_cut", "sampling"]

BoolArray = npt.NDArray[np.bool_]
MOST_PASSES = 200
# right side, and 'N' or 'T' for the transpose -> solution.
Solve = Callable[..., Any]
CONDITION_STEPS = 40
# Beyond this condition number fewer than three digits of the signal would come back.
MOST_CONDITION = 1e13


@dataclass(frozen=True, eq=False, repr=False)
class Sampling:
    """Which nodes keep their low value, and the factors that restore a signal from what was kept.

    Parameters
    ----------
    low : Operator
        The low channel.
    keep : bool array, shape (n_nodes,)
        True where the low value is kept.
    matrix : sparse array
        Rows of ``low`` where ``keep``, rows of ``I - low`` elsewhere.
    condition : float
        Condition number of ``matrix`` in the 2-norm, the factor by which relative errors may grow; estimated from
        below by Lanczos, to a few per cent (exact up to 40 nodes).
    factors : callable
        Solves a linear system with ``matrix``.

    See Also
    --------
    TwoChannelBank.sampling : The method that returns it.
    TwoChannelBank.analyze_sampled : One coefficient a node: critical sampling.

    Examples
    --------
    >>> from gsp_fb import FilterBank, datasets
    >>> FilterBank.two_channel(datasets.ring(6), "lazy_rw").sampling("max_cut")
    Sampling(low at 3 of 6 nodes, condition=1.26)
    """

    low: Operator
    keep: BoolArray
    matrix: Any
    condition: float
    factors: Solve

    def solve(self, c: Signal) -> Signal:
        """Return the signal whose kept values are ``c``.

        Examples
        --------
        >>> from gsp_fb import FilterBank, datasets
        >>> bank = FilterBank.two_channel(datasets.path(3), "lazy_rw")
        >>> kept = bank.sampling([True, False, True])
        >>> kept.solve(bank.analyze_sampled([1.0, 5.0, 3.0], kept)).round(6)
        array([1., 5., 3.])
        """
        xp = namespace(c)
        parts = [xp.real(c), xp.imag(c)] if is_complex(c) else [c]
        solved = [self.factors(cast(part, xp.float64)) for part in parts]
        return cast(solved[0] + 1j * solved[1] if len(parts) == 2 else solved[0], c.dtype)

    def __repr__(self) -> str:
        n_low, n_nodes = int(namespace(self.keep).count_nonzero(self.keep)), self.keep.shape[0]
        return f"Sampling(low at {n_low} of {n_nodes} nodes, condition={self.condition:.3g})"


def sampling(low: Operator, keep: Any = "max_cut", *, expensive: bool = False) -> Sampling:
    """Return the critically sampled form of ``low`` and ``I - low``; see :meth:`TwoChannelBank.sampling`."""
    low.graph.check_unsigned("critical sampling")
    mask = _mask(low, keep)
    if VARIANTS[low.family].loops == "degree" and low.gamma == 1.0 and not low.graph.directed:
        _check_components(low, mask)
    # Factors that may take minutes are refused before they are begun.
    pattern = low.graph.to("cpu").adjacency
    cost = factorization_cost(pattern + pattern.T if low.graph.directed else pattern)
    if not (cost.is_cheap or expensive):
        raise ParameterError(f"the factors may have {cost}; give expensive=True to pay for them, or a sparser graph")
    ones = namespace(low.diag).ones_like(low.diag)
    sign = namespace(low.diag).where(mask, ones, -ones)
    matrix = add_diagonal(scaled_csr(low.to_sparse(), sign, ones), (ones - sign) / 2)
    try:
        solve, pivots = factor(matrix)
    except RuntimeError as singular:
        raise ParameterError(f"no signal can be restored from this choice of nodes: {singular}") from None
    condition = _condition(matrix, solve, pivots)
    if not condition < MOST_CONDITION:
        raise ParameterError(f"this choice of nodes has condition number {condition:.2g}; the signal would be lost")
    return Sampling(low, freeze(mask), matrix, condition, solve)


def _mask(low: Operator, keep: Any) -> Any:
    if isinstance(keep, str):
        check_choice(keep, ("max_cut",), "keep")
        # Cuts are searched on the host, as components are.
        return asarray_like(max_cut(low.graph.to("cpu")), low.diag) & ~_lost(low)
    mask = check_mask(keep, low.graph.n_nodes, ParameterError, "keep")
    return asarray_like(np.array(mask), low.diag) if device_of(mask) == "cpu" else mask


def _lost(low: Operator) -> Any:
    """Return the isolated nodes that the low channel gives zero: only their high value can be kept."""
    return (low.graph.degrees == 0) & (low.diag == 0.0)


def _check_components(low: Operator, mask: BoolArray) -> None:
    """Refuse a set that the theorem above calls singular, naming a node of the component."""
    graph, xp = low.graph, namespace(mask)
    labels = graph.component_labels
    has_low, has_high, lost = (
        group_sum(labels, cast(nodes, xp.float64), graph.n_components) > 0 for nodes in (mask, ~mask, _lost(low))
    )
    bipartite = asarray_like(bipartite_components(graph.to("cpu")), mask)
    for bad, kind in (
        (~has_low & ~lost, "no node that keeps its low value"),
        (~has_high & (lost | bipartite), "no node that keeps its high value"),
    ):
        if bool(xp.any(bad)):
            node = int(xp.nonzero(bad[labels])[0][0])
            raise ParameterError(f"the component of node {node} has {kind}, so its signal cannot be restored; add one")


def _condition(matrix: Any, solve: Solve, pivots: Any) -> float:
    """Return the ratio of the extreme singular values, each squared being an eigenvalue that Lanczos finds."""
    n_nodes = matrix.shape[0]
    if n_nodes == 0:
        return 1.0
    xp = namespace(pivots)
    sizes = xp.abs(pivots)
    if float(xp.min(sizes)) * MOST_CONDITION < float(xp.max(sizes)):
        # Solving with such factors overflows before it shows anything more.
        return math.inf
    start = asarray_like(np.random.default_rng(0).standard_normal(n_nodes), pivots)
    other = transposed(matrix)
    squares = (lambda v: product(other, product(matrix, v)), lambda v: solve(solve(v, "T")))
    greatest = [float(gauss_rule(lanczos(square, start, CONDITION_STEPS))[0][-1]) for square in squares]
    return math.sqrt(greatest[0] * greatest[1])


def check_sampled(sampling: Sampling, low: Operator) -> Sampling:
    """Return ``sampling`` if it was made by the bank with this ``low`` operator."""
    if not isinstance(sampling, Sampling) or sampling.low is not low:
        raise ParameterError(f"{sampling!r} is not a sampling of this bank; make one with bank.sampling()")
    return sampling


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
    """
    if graph.n_nodes == 0:
        return np.zeros(0, dtype=bool)
    A = graph.adjacency.tocoo()
    # No cut can hold a loop.
    row, col, weight = (part[A.row != A.col] for part in (A.row, A.col, A.data))
    side = np.where(_parity(graph), 1.0, -1.0)
    for _ in range(MOST_PASSES):
        gain = group_sum(row, weight * side[row] * side[col], graph.n_nodes)
        moving = _local_peaks(gain, row, col)
        if not moving.any():
            break
        side[moving] *= -1
    # Components without a node on the side swap theirs.
    members = np.bincount(graph.component_labels, weights=side > 0, minlength=graph.n_components)
    return np.asarray((side > 0) ^ (members == 0)[graph.component_labels])


def _local_peaks(gain: FloatArray, row: IntArray, col: IntArray) -> BoolArray:
    """Return the nodes with a gain above rounding that no neighbour exceeds, ties going to the first node."""
    rank = np.empty(len(gain), dtype=np.int64)
    rank[np.lexsort((-np.arange(len(gain)), gain))] = np.arange(len(gain))
    best = np.full(len(gain), -1)
    np.maximum.at(best, row, rank[col])
    return np.asarray((gain > 1e-12 * np.abs(gain).max(initial=0.0)) & (rank > best))
