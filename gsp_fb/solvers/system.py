"""A symmetric positive (semi-)definite system: its matrix-vector products, and what is known about its matrix."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property
from typing import Any

from ..backend import FloatArray

__all__ = ["System"]


def _whole(x: Any) -> Any:
    return x


@dataclass(frozen=True, eq=False)
class System:
    """A symmetric positive (semi-)definite matrix ``M``, as matrix-vector products and, where it can be had, as CSR.

    Attributes
    ----------
    product : callable
        ``X -> M X`` for a block, shape (n, b), on any device.
    diagonal : array, shape (n,)
        Of ``M``, positive; the Jacobi preconditioner.
    make_matrix : callable or None
        Returns ``M`` as a float64 CSR array of scipy; called once, by the first method that needs entries. None on a
        GPU or where ``M`` is known by matrix-vector products alone.
    balance : array, shape (n,), or None
        Positive ``u`` with ``M u >= 0`` entry by entry. ``diag(u) M diag(u)`` is then diagonally dominant, which
        approximate Cholesky needs. None where no such vector is known.
    project : callable
        Orthogonal projector onto the range of a singular ``M``; the identity for a definite one.
    floor : float
        Lower bound of the least eigenvalue (on the range); 0 if none is known. The error of an answer is at most
        ``residual / floor``.
    """

    product: Callable[[Any], Any]
    diagonal: Any
    make_matrix: Callable[[], Any] | None = None
    balance: FloatArray | None = None
    project: Callable[[Any], Any] = _whole
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
