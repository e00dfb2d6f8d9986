r"""Critical sampling of the two channels: one number per node, low on a chosen set and high on the rest.

For the lazy pair :math:`(I \pm P)/2`, :math:`P = D^{-1}A`, the kept values are :math:`\tfrac12(I + JP)x` with
:math:`J = \pm 1` on the diagonal. :math:`JPx = -x` means :math:`Px = -Jx`, so :math:`P` keeps the norm of x (weighted
by degrees), which only eigenvectors of eigenvalue 1 and -1 allow: on each component the constant, and on a bipartite
one the constant of alternating sign. The first needs J = -1 all over the component, the second J = 1. Hence x can be
restored **if and only if every component has a low node and every bipartite component has a high node too**. On a
bipartite graph cut along its two sides, :math:`JP` is skew-symmetric (weighted by degrees) and the condition number is
at most :math:`\sqrt2`.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt
from scipy import sparse
from scipy.sparse.linalg import SuperLU, splu

from .._lanczos import gauss_rule, lanczos
from .._validate import check_choice, host_array
from ..backend import Signal
from ..errors import ParameterError
from ..operators import Operator
from ..variants import VARIANTS
from ._cut import bipartite_components, max_cut

__all__ = ["Sampling", "check_sampled", "sampling"]

BoolArray = npt.NDArray[np.bool_]
CONDITION_STEPS = 40
# Beyond this condition number fewer than three digits of the signal would come back.
MOST_CONDITION = 1e13


@dataclass(frozen=True, eq=False, repr=False)
class Sampling:
    """Which nodes keep their low value, and the factors that restore a signal from what was kept.

    Attributes
    ----------
    low : Operator
    keep : bool array, shape (n_nodes,)
        True where the low value is kept.
    matrix : sparse array
        Rows of ``low`` where ``keep``, rows of ``I - low`` elsewhere.
    condition : float
        Condition number of ``matrix`` in the 2-norm, the factor by which relative errors may grow; estimated from
        below by Lanczos, to a few per cent (exact up to 40 nodes).
    """

    low: Operator
    keep: BoolArray
    matrix: sparse.csr_array
    condition: float
    factors: SuperLU

    def solve(self, c: Signal) -> Signal:
        """Return the signal whose kept values are ``c``."""
        parts = [c.real, c.imag] if np.iscomplexobj(c) else [c]
        solved = [self.factors.solve(np.asarray(part, dtype=np.float64)) for part in parts]
        x = solved[0] + 1j * solved[1] if len(parts) == 2 else solved[0]
        return x.astype(c.dtype, copy=False)

    def __repr__(self) -> str:
        return f"Sampling(low at {int(self.keep.sum())} of {len(self.keep)} nodes, condition={self.condition:.3g})"


def sampling(low: Operator, keep: Any = "max_cut") -> Sampling:
    """Return the critically sampled form of ``low`` and ``I - low``; see :meth:`TwoChannelBank.sampling`.

    Examples
    --------
    >>> from gsp_fb import Graph, operator
    >>> path = Graph.from_edges([(0, 1), (1, 2)])
    >>> sampling(operator(path, "lazy_rw")).keep
    array([ True, False,  True])
    """
    mask = _mask(low, keep)
    if VARIANTS[low.family].loops == "degree" and low.gamma == 1.0 and not low.graph.directed:
        _check_components(low, mask)
    rows = low.to_scipy()
    eye = sparse.eye_array(low.graph.n_nodes, format="csr")
    chosen = sparse.diags_array(np.where(mask, 1.0, -1.0)) @ rows + sparse.diags_array(np.where(mask, 0.0, 1.0)) @ eye
    return _factored(low, mask, sparse.csr_array(chosen))


def _mask(low: Operator, keep: Any) -> BoolArray:
    if isinstance(keep, str):
        check_choice(keep, ("max_cut",), "keep")
        return max_cut(low.graph) & ~_lost(low)
    mask = np.array(host_array(keep, ParameterError, "keep"))
    if mask.shape != (low.graph.n_nodes,) or mask.dtype != np.bool_:
        raise ParameterError(
            f"keep has shape {mask.shape} and dtype {mask.dtype}; it must be {low.graph.n_nodes} booleans, one per node"
        )
    return mask


def _lost(low: Operator) -> BoolArray:
    """Return the isolated nodes that the low channel gives zero: only their high value can be kept."""
    return np.asarray((low.graph.degrees == 0) & (low.diag == 0.0))


def _check_components(low: Operator, mask: BoolArray) -> None:
    """Refuse a set that the theorem above calls singular, naming a node of the component."""
    labels = low.graph.component_labels
    n_low = np.bincount(labels, weights=mask)
    n_high = np.bincount(labels, weights=~mask)
    lost = np.zeros(len(n_low), dtype=bool)
    lost[labels[_lost(low)]] = True
    for bad, kind in (
        ((n_low == 0) & ~lost, "no node that keeps its low value"),
        ((n_high == 0) & (lost | bipartite_components(low.graph)), "no node that keeps its high value"),
    ):
        if bad.any():
            node = int(np.flatnonzero(bad[labels])[0])
            raise ParameterError(f"the component of node {node} has {kind}, so its signal cannot be restored; add one")


def _factored(low: Operator, mask: BoolArray, matrix: sparse.csr_array) -> Sampling:
    columns = sparse.csc_array(matrix)
    try:
        factors = splu(columns)
    except RuntimeError as singular:
        raise ParameterError(f"no signal can be restored from this choice of nodes: {singular}") from None
    condition = _condition(matrix, factors)
    if not condition < MOST_CONDITION:
        raise ParameterError(f"this choice of nodes has condition number {condition:.2g}; the signal would be lost")
    return Sampling(low, mask, matrix, condition, factors)


def _condition(matrix: sparse.csr_array, factors: SuperLU) -> float:
    """Return the ratio of the extreme singular values, each squared being an eigenvalue that Lanczos finds."""
    n_nodes = matrix.shape[0]
    if n_nodes == 0:
        return 1.0
    pivots = np.abs(factors.U.diagonal())
    if pivots.min() * MOST_CONDITION < pivots.max():
        # Solving with such factors overflows before it tells anything more.
        return math.inf
    solve: Any = factors.solve
    start = np.random.default_rng(0).standard_normal(n_nodes)
    squares = (lambda v: matrix.T @ (matrix @ v), lambda v: solve(solve(v, "T")))
    greatest = [float(gauss_rule(lanczos(product, start, CONDITION_STEPS))[0][-1]) for product in squares]
    return math.sqrt(greatest[0] * greatest[1])


def check_sampled(sampling: Sampling, low: Operator) -> Sampling:
    """Return ``sampling`` if it was made by the bank with this ``low`` operator."""
    if not isinstance(sampling, Sampling) or sampling.low is not low:
        raise ParameterError(f"{sampling!r} is not a sampling of this bank; make one with bank.sampling()")
    return sampling
