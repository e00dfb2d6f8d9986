"""A symmetric positive (semi-)definite system, conjugate gradients on any device, and preconditioners from its entries.

Each maker of an approximate inverse returns a function on a block, or raises; the planner checks every answer by its
residual, so that a poor one costs time and nothing else.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
from scipy import sparse

from .._extras import require
from ..backend import FloatArray, abs_squared, conj, namespace

__all__ = ["System", "approximate_cholesky", "conjugate_gradients", "multigrid"]

Product = Callable[[Any], Any]


def _whole(x: Any) -> Any:
    return x


@dataclass(frozen=True, eq=False)
class System:
    """A symmetric positive (semi-)definite matrix ``M``, as matrix-vector products and, where it can be had, as CSR."""

    product: Product  # ``X -> M X`` for a block, shape (n, b), on any device
    diagonal: Any  # the positive diagonal of ``M``, for Jacobi
    # Returns ``M`` as a float64 CSR array of scipy; called once, by the first method that needs entries. None on a GPU
    # or where ``M`` is known by matrix-vector products alone.
    make_matrix: Callable[[], Any] | None = None
    # Positive ``u`` with ``M u >= 0`` entry by entry, where one is known. ``diag(u) M diag(u)`` is then diagonally
    # dominant, which approximate Cholesky needs.
    balance: FloatArray | None = None
    project: Product = _whole  # orthogonal projector onto the range of ``M``; the identity for a definite one
    # Lower bound of the least eigenvalue (on the range), 0 if unknown: an answer errs by at most residual / floor.
    floor: float = 0.0

    @property
    def is_singular(self) -> bool:
        """Whether solutions are sought in the range of a singular matrix."""
        return self.project is not _whole

    @cached_property
    def matrix(self) -> Any:
        """The matrix as a CSR array of scipy."""
        if self.make_matrix is None:
            raise TypeError("the matrix is known by its matrix-vector products alone")
        return self.make_matrix()


def conjugate_gradients(
    product: Product, right: Any, target: Any, max_steps: int, *, precondition: Product | None = None
) -> tuple[Any, int]:
    """Return ``x`` with ``|right - product(x)| <= target`` in each column, as far as steps go, and their number.

    The residual is the recursive one; ``precondition`` is a symmetric positive definite approximation of the inverse.
    M. R. Hestenes and E. Stiefel, J. Res. Natl. Bur. Stand. 49 (1952) 409.
    """
    xp = namespace(right)
    x, residual = xp.zeros_like(right), xp.asarray(right, copy=True)
    reduced = residual if precondition is None else precondition(residual)
    direction, slope = reduced, _forms(residual, reduced)
    for step in range(max_steps + 1):
        if bool(xp.all(xp.sqrt(xp.sum(abs_squared(residual), axis=0)) <= target)) or step == max_steps:
            break
        image = product(direction)
        length = _ratio(slope, _forms(direction, image))
        x = x + length * direction
        residual = residual - length * image
        reduced = residual if precondition is None else precondition(residual)
        before, slope = slope, _forms(residual, reduced)
        direction = reduced + _ratio(slope, before) * direction
    return x, step


def _forms(x: Any, y: Any) -> Any:
    """Return the real part of ``x_c* y_c`` of each column."""
    xp = namespace(x)
    total = xp.sum(abs_squared(x) if x is y else conj(x) * y, axis=0)
    return xp.real(total) if xp.isdtype(total.dtype, "complex floating") else total


def _ratio(above: Any, below: Any) -> Any:
    """Return ``above / below``, and 0 where that is not positive: such a column has arrived."""
    xp = namespace(above)
    return xp.where(below > 0, above / xp.where(below > 0, below, 1.0), 0.0)


def _balanced(system: System) -> tuple[FloatArray, Any]:
    """Return the balance, by default of ones, and the matrix scaled to it."""
    balance: FloatArray = np.ones(len(system.diagonal)) if system.balance is None else system.balance
    scale = sparse.diags_array(balance)
    return balance, sparse.csr_array(scale @ system.matrix @ scale)


def approximate_cholesky(system: System) -> Product:
    """Return a randomised incomplete factorisation of the balanced matrix (Spielman and Kyng; ``approx-chol``).

    The matrix is scaled to its ``balance``, where it is symmetric and diagonally dominant, and to unit size. R. Kyng
    and S. Sachdeva, "Approximate Gaussian Elimination for Laplacians", FOCS 2016; Y. Gao, R. Kyng and D. A. Spielman,
    "Robust and Practical Solution of Laplacian Equations by Approximate Elimination", 2023.
    """
    library = require("approx_chol", "approximate Cholesky")
    balance, matrix = _balanced(system)
    matrix.sort_indices()
    matrix.data /= matrix.data.max()
    index = (matrix.indptr.astype(np.uint32), matrix.indices.astype(np.uint32))
    factor = library.factorize_raw(*index, np.ascontiguousarray(matrix.data), matrix.shape[0])

    def apply(block: FloatArray) -> FloatArray:
        image = np.empty_like(block)
        for column in range(block.shape[1]):
            image[:, column] = factor.solve(np.ascontiguousarray(balance * block[:, column]))
        image *= balance[:, None]
        return system.project(image)  # type: ignore[no-any-return]

    return apply


def multigrid(system: System) -> Product:
    """Return one cycle of smoothed aggregation on the balanced matrix (P. Vanek et al., Computing 56, 1996)."""
    pyamg = require("pyamg", "algebraic multigrid")
    balance, matrix = _balanced(system)
    # pyamg has no sparse arrays yet; the matrix class holds the same three vectors.
    cycle = pyamg.smoothed_aggregation_solver(sparse.csr_matrix(matrix)).aspreconditioner()

    def apply(block: FloatArray) -> FloatArray:
        columns = [balance * cycle.matvec(balance * column) for column in block.T]
        return system.project(np.stack(columns, axis=1))  # type: ignore[no-any-return]

    return apply
