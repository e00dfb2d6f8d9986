"""Eigenvalues and factorisations, by the library of the arrays they are asked of."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from .table import library

__all__ = ["eigh", "eigsh", "factor", "linear_operator"]


def eigh(matrix: Any) -> tuple[Any, Any]:
    """Return all eigenvalues, ascending, and eigenvectors of a symmetric array, which may be overwritten."""
    values, vectors = library(matrix).eigh(matrix)
    return values, vectors


def eigsh(operator: Any, start: Any, k: int, *, n_vectors: int, max_matvecs: int, tol: float) -> tuple[Any, Any]:
    """Return the ``k`` largest eigenvalues of a symmetric operator, ascending, with their vectors, by Lanczos.

    Parameters
    ----------
    operator : LinearOperator
        One of :func:`linear_operator`, on the device of ``start``.
    start : array, shape (n,)
    k : int
    n_vectors : int
        Vectors kept between restarts.
    max_matvecs : int
        About so many matrix-vector products are spent before it gives up.
    tol : float
        Relative to the greatest eigenvalue.

    Raises
    ------
    ConvergenceError
        Not all pairs were resolved.
    """
    values, vectors = library(start).eigsh(operator, start, k, n_vectors=n_vectors, max_matvecs=max_matvecs, tol=tol)
    return values, vectors


def factor(matrix: Any) -> tuple[Callable[..., Any], Any]:
    """Return ``solve(right, 'N' or 'T')`` of a square sparse matrix, and the pivots of its factors.

    Raises
    ------
    RuntimeError
        The matrix is singular.
    """
    solve, pivots = library(matrix).factor(matrix)
    return solve, pivots


def linear_operator(like: Any, shape: tuple[int, int], **products: Callable[[Any], Any]) -> Any:
    """Return a matrix-free operator for the solvers of the library of ``like``."""
    return library(like).linear_operator(shape, like.dtype, **products)
