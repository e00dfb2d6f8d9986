"""Proof that no eigenvalue was missed: Sylvester's law of inertia on a sparse factorisation.

A residual shows that *an* eigenvalue is near; only a count shows which one it is. ``M - s I = L D L'`` has as many
negative entries in ``D`` as ``M`` has eigenvalues below ``s``, and the rounding of the factorisation shifts them by
no more than a norm that is computed from the factors.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from scipy import sparse
from scipy.sparse.linalg import splu

from .backend import FloatArray
from .errors import ConvergenceError

__all__ = ["eigenvalue_floor", "is_cheap"]

# Any fill of a graph this small is cheap; a larger one is where its gap is tiny (hence its separators) and degrees low.
CHEAP_NODES = 5_000
CHEAP_MEAN_DEGREE = 8
EPS = float(np.finfo(np.float64).eps)


def is_cheap(n_nodes: int, n_entries: int, *, tiny_gap: bool) -> bool:
    """Return whether a factorisation costs about as much as finding the eigenvalue did."""
    return n_nodes <= CHEAP_NODES or (tiny_gap and n_entries <= CHEAP_MEAN_DEGREE * n_nodes)


def eigenvalue_floor(matrix: Any, guess: float, index: int) -> float:
    """Return a proven lower bound, at most ``guess``, of eigenvalue number ``index`` (from 0) of a symmetric matrix.

    Raises
    ------
    ConvergenceError
        More than ``index`` eigenvalues lie below ``guess``, or the matrix has no factorisation without pivoting.
    """
    shifted = sparse.csc_array(matrix - guess * sparse.eye_array(matrix.shape[0]))
    try:
        factor = splu(shifted, permc_spec="MMD_AT_PLUS_A", diag_pivot_thresh=0.0, options={"SymmetricMode": True})
    except RuntimeError as singular:
        raise ConvergenceError(f"no proof: {singular} at {guess:.6g}, which is an eigenvalue itself") from None
    if not np.array_equal(factor.perm_r, factor.perm_c):
        raise ConvergenceError(f"no proof: the matrix shifted by {guess:.6g} cannot be factorised without pivoting")
    below = int(np.sum(factor.U.diagonal() < 0))
    if below > index:
        raise ConvergenceError(f"{below} eigenvalues lie below {guess:.6g}, expected {index}: one was missed")
    return guess - _rounding(factor.L, factor.U) - 4 * EPS * _row_sum(abs(shifted))


def _rounding(lower: Any, upper: Any) -> float:
    """Return a bound on ``|M - L D L'|`` for computed factors ``M = L U`` (Higham 2002, Theorem 9.3)."""
    steps = int(np.bincount(lower.indices, minlength=1).max())
    gamma = steps * EPS / (1 - steps * EPS)
    asymmetry = upper - sparse.diags_array(upper.diagonal()) @ lower.T
    return gamma * _row_sum(abs(lower), abs(upper)) + _row_sum(abs(lower), abs(asymmetry))


def _row_sum(*factors: Any) -> float:
    """Return the largest row sum of a product of non-negative matrices, which is never formed."""
    x: FloatArray = np.ones(factors[-1].shape[1])
    for factor in reversed(factors):
        x = factor @ x
    return float(x.max())
