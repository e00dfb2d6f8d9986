"""Sparse Hermitian factorisation ``M = L D L'``: what it will cost, solves with it, and the count of eigenvalues.

A residual shows that *an* eigenvalue is near; only a count shows which one it is. By Sylvester's law ``M - s I = L D
L'`` has as many negative entries in ``D`` as ``M`` has eigenvalues below ``s``, and the rounding of the factorisation
shifts them by no more than a norm that is computed from the factors.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
from scipy import sparse
from scipy.sparse.csgraph import reverse_cuthill_mckee
from scipy.sparse.linalg import splu

from ..backend import FloatArray
from ..errors import ConvergenceError

__all__ = ["Factorization", "FactorizationCost", "factorization_cost"]

EPS = float(np.finfo(np.float64).eps)
# Multiplications in the envelope that take about as long as an iterative solver does; minimum degree needs far fewer.
CHEAP_FLOPS = 1e11
# An index and a value per entry, of two factors and their workspace.
ENTRY_BYTES = 12 * 4
# Rounds of leaf removal: trees have no fill, however wide their envelope.
PEELS = 30


@dataclass(frozen=True)
class FactorizationCost:
    """Upper estimate of a factorisation, from the envelope of the matrix in reverse Cuthill-McKee order."""

    entries: float  # of one factor
    flops: float  # multiplications

    @property
    def is_cheap(self) -> bool:
        """Whether it takes seconds at most."""
        return self.flops <= CHEAP_FLOPS

    @property
    def bytes(self) -> float:
        """Memory of the factors, at most."""
        return ENTRY_BYTES * self.entries

    def __str__(self) -> str:
        return f"about {self.entries:.1e} entries, {self.bytes / 1e9:.1f} GB, {self.flops:.1e} multiplications"


def factorization_cost(matrix: Any) -> FactorizationCost:
    """Return what a factorisation of a symmetric CSR matrix costs at most, without doing it."""
    core = _core(sparse.csr_array(matrix))
    n_rows = core.shape[0]
    if n_rows == 0:
        return FactorizationCost(float(matrix.shape[0]), float(matrix.shape[0]))
    place = np.empty(n_rows, dtype=np.int64)
    place[reverse_cuthill_mckee(core, symmetric_mode=True)] = np.arange(n_rows)
    first = np.arange(n_rows)
    np.minimum.at(first, np.repeat(place, np.diff(core.indptr)), place[core.indices])
    profile = (np.arange(n_rows) - first).astype(np.float64)
    return FactorizationCost(float(profile.sum()) + matrix.shape[0], float((profile**2).sum()) + matrix.shape[0])


def _core(matrix: sparse.csr_array) -> sparse.csr_array:
    """Return the pattern of a matrix without diagonal and leaves, which are removed some rounds deep."""
    rows = np.repeat(np.arange(matrix.shape[0]), np.diff(matrix.indptr))
    off = rows != matrix.indices
    entries = np.ones(int(off.sum()), dtype=np.int8), (rows[off], matrix.indices[off])
    matrix = sparse.csr_array(sparse.coo_array(entries, shape=matrix.shape))
    for _ in range(PEELS):
        inner = np.diff(matrix.indptr) > 1
        if inner.all():
            break
        matrix = sparse.csr_array(matrix[inner][:, inner])
    return matrix


class Factorization:
    """``L D L'`` of ``matrix - shift * I``, sparse and symmetric, without pivoting; ConvergenceError if it has none."""

    def __init__(self, matrix: Any, shift: float = 0.0) -> None:
        self._shifted = sparse.csc_array(matrix - shift * _diagonal(np.ones(matrix.shape[0])))
        try:
            self._factors = splu(
                self._shifted, permc_spec="MMD_AT_PLUS_A", diag_pivot_thresh=0.0, options={"SymmetricMode": True}
            )
        except RuntimeError as singular:
            raise ConvergenceError(f"no factorisation: {singular} at a shift of {shift:.6g}, an eigenvalue") from None
        if not np.array_equal(self._factors.perm_r, self._factors.perm_c):
            raise ConvergenceError(f"the matrix shifted by {shift:.6g} cannot be factorised without pivoting")

    def solve(self, right: FloatArray) -> FloatArray:
        """Return the solution for a vector or a block."""
        dtype = np.result_type(self._shifted.dtype, right.dtype)
        solution: FloatArray = self._factors.solve(np.ascontiguousarray(right, dtype=dtype))
        return solution

    @cached_property
    def n_negative(self) -> int:
        """Number of eigenvalues of the matrix below the shift, up to :attr:`rounding`."""
        # The pivots of a Hermitian matrix are real, up to rounding.
        return int(np.sum(self._factors.U.diagonal().real < 0))

    @cached_property
    def rounding(self) -> float:
        """Bound on ``|M - L D L'|`` for the computed factors (Higham 2002, Theorem 9.3): how far a count may shift."""
        lower, upper = self._factors.L, self._factors.U
        steps = int(np.bincount(lower.indices, minlength=1).max())
        gamma = steps * EPS / (1 - steps * EPS)
        asymmetry = upper - _diagonal(upper.diagonal()) @ lower.conj().T
        bound = gamma * _row_sum(abs(lower), abs(upper)) + _row_sum(abs(lower), abs(asymmetry))
        return bound + 4 * EPS * _row_sum(abs(self._shifted))


def _diagonal(values: FloatArray) -> Any:
    """Return a diagonal matrix; SciPy 1.10, which MPI ranks may have, has no function for sparse arrays."""
    return sparse.csr_array(sparse.diags(values))


def _row_sum(*factors: Any) -> float:
    """Return the largest row sum of a product of non-negative matrices, which is never formed."""
    x: FloatArray = np.ones(factors[-1].shape[1])
    for factor in reversed(factors):
        x = factor @ x
    return float(x.max(initial=0.0))
