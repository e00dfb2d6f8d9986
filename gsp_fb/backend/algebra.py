"""Multiples, sums and products of operators, as linear operators that take further operators."""

from __future__ import annotations

from numbers import Number
from typing import Any

import numpy as np
from scipy.sparse.linalg import LinearOperator

from .dense import FloatArray

__all__ = ["LinearMap", "linear_map"]


class LinearMap(LinearOperator):
    """A multiple, sum or product of operators: matrix-free, for the solvers of scipy.

    scipy's own classes take arrays and their own kind, so that ``2 * op @ op`` ends in an error; here every operand may
    be an operator. ``base`` is the combination as scipy holds it.

    Examples
    --------
    >>> from gsp_fb import Graph, operator
    >>> low = operator(Graph.from_edges([(0, 1), (1, 2)]), "rw")
    >>> (low @ low / 2).toarray()
    array([[0.25, 0.  , 0.25],
           [0.  , 0.5 , 0.  ],
           [0.25, 0.  , 0.25]])
    """

    def __init__(self, base: LinearOperator) -> None:
        super().__init__(base.dtype, base.shape)  # type: ignore[call-arg]  # scipy states no types
        self.base = base

    def _matvec(self, x: Any) -> Any:
        return self.base.matvec(x)

    def _matmat(self, x: Any) -> Any:
        return self.base.matmat(x)

    def _adjoint(self) -> LinearMap:
        return LinearMap(self.base.H)

    def dot(self, x: Any) -> Any:
        """Return the product with a number, an operator or an array."""
        return _wrapped(self.base.dot(_scipys(x)))

    def __matmul__(self, x: Any) -> Any:
        return NotImplemented if isinstance(x, Number) else self.dot(x)

    def __rmul__(self, factor: Any) -> Any:
        return self.dot(factor) if isinstance(factor, Number) else NotImplemented

    def __truediv__(self, divisor: Any) -> Any:
        return self.dot(1 / divisor) if isinstance(divisor, Number) else NotImplemented  # type: ignore[operator]

    def __neg__(self) -> Any:
        return self.dot(-1)

    def __add__(self, other: Any) -> Any:
        other = _scipys(other)
        return _wrapped(self.base + other) if isinstance(other, LinearOperator) else NotImplemented

    __radd__ = __add__

    def toarray(self) -> FloatArray:
        """Return the matrix as a dense array."""
        return np.asarray(self.base.matmat(np.eye(self.shape[1])))


def linear_map(op: Any) -> Any:
    """Return an operator as a linear operator that takes further operators; that of a GPU's library as it is."""
    return _wrapped(op.linear_operator())


def _scipys(x: Any) -> Any:
    if isinstance(x, LinearMap):
        return x.base
    return x.linear_operator() if hasattr(x, "linear_operator") else x


def _wrapped(found: Any) -> Any:
    return LinearMap(found) if isinstance(found, LinearOperator) else found
