"""The one product behind every operator: ``left * (A @ (right * x)) + diag * x``."""

from __future__ import annotations

from typing import Any, Protocol

from .backend import FloatArray, IntArray, Signal, column, diagonal_times, is_sparse, namespace, product

__all__ = ["Csr", "affine_product"]


class Csr(Protocol):
    """What a kernel needs of a graph; ``weights`` is None where all of them are 1."""

    @property
    def indptr(self) -> IntArray: ...

    @property
    def indices(self) -> IntArray: ...

    @property
    def weights(self) -> FloatArray | None: ...

    @property
    def adjacency(self) -> Any: ...


def affine_product(graph: Csr, x: Signal, left: FloatArray, right: FloatArray, diag: FloatArray) -> Signal:
    """Return ``left * (A @ (right * x)) + diag * x`` in the precision of ``x``, sparse if ``x`` is."""
    if is_sparse(x):
        lifted = product(graph.adjacency, diagonal_times(right, x))
        return (diagonal_times(left, lifted) + diagonal_times(diag, x)).tocsr().astype(x.dtype)
    y = product(graph.adjacency, column(right, x) * x)
    y = column(left, x) * y + column(diag, x) * x
    xp = namespace(x)
    return y if y.dtype == x.dtype else xp.astype(y, x.dtype)
