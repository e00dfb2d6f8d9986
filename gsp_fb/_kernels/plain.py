"""The engine without numba: dense and sparse products in the array namespace of the signal."""

from __future__ import annotations

from typing import Any

import numpy as np

from .._arguments import check_device
from ..backend import (
    FloatArray,
    IntArray,
    Signal,
    asarray_like,
    cast,
    column,
    column_products,
    conj,
    csr,
    diagonal_times,
    is_sparse,
    namespace,
    product,
    real_dtype,
)
from .engine import Csr

__all__ = ["affine_product", "chebyshev_bank", "label_propagation_step", "quadratic_form"]


def affine_product(graph: Csr, x: Signal, left: FloatArray, right: FloatArray, diag: FloatArray) -> Signal:
    """Return ``left * (A @ (right * x)) + diag * x`` in the precision of ``x``; sparse if ``x`` is sparse."""
    check_device(x, left)
    if is_sparse(x):
        sums = product(graph.adjacency, diagonal_times(right, x))
        return _cast_csr(diagonal_times(left, sums) + diagonal_times(diag, x), x.dtype)
    y = product(graph.adjacency, column(right, x) * x)
    return cast(column(left, x) * y + column(diag, x) * x, x.dtype)


def _cast_csr(x: Signal, dtype: Any) -> Signal:
    return x if x.dtype == dtype else csr(cast(x.data, dtype), x.indices, x.indptr, x.shape)


def chebyshev_bank(
    graph: Csr, x: Signal, left: FloatArray, right: FloatArray, diag: FloatArray, *, coefficients: FloatArray
) -> Signal:
    """Return sum_k c[f, k] T_k(M) x for each filter f on a new last axis, where M is the affine operator."""
    xp = namespace(x)
    terms = asarray_like(coefficients, x, real_dtype(x.dtype, xp))
    before, now = x, affine_product(graph, x, left, right, diag)
    out = x[..., None] * terms[:, 0]
    for order in range(1, terms.shape[1]):
        out += now[..., None] * terms[:, order]
        if order + 1 < terms.shape[1]:
            before, now = now, 2.0 * affine_product(graph, now, left, right, diag) - before
    return out


def quadratic_form(graph: Csr, x: Signal, left: FloatArray, right: FloatArray, diag: FloatArray) -> FloatArray:
    """Return Re(x* M x) of each column in double precision, where M is the affine operator."""
    xp = namespace(x.data if is_sparse(x) else x)
    wide = xp.complex128 if x.dtype in (xp.complex64, xp.complex128) else xp.float64
    x = _cast_csr(x, wide) if is_sparse(x) else cast(x, wide)
    y = affine_product(graph, x, left, right, diag)
    total = column_products(x, y) if is_sparse(x) else xp.sum(conj(x) * y, axis=0)
    real: FloatArray = xp.reshape(xp.real(total) if wide == xp.complex128 else total, (-1,))
    return real


def label_propagation_step(graph: Csr, labels: IntArray) -> IntArray:
    """Return for each node the label with the largest total weight among its neighbours; ties as in ``_kernels``."""
    n_nodes = len(labels)
    data = np.ones(len(graph.indices)) if graph.weights is None else graph.weights.copy()
    around = csr(data, labels[graph.indices], graph.indptr.copy(), (n_nodes, n_nodes))
    around.sum_duplicates()
    rows = np.repeat(np.arange(n_nodes), np.diff(around.indptr))
    maximum: Any = np.zeros(n_nodes)
    np.maximum.at(maximum, rows, around.data)
    top = around.data == maximum[rows]
    # Assigned from last to first, so that the smallest label remains; the current label then overwrites it.
    best = labels.copy()
    best[rows[top][::-1]] = around.indices[top][::-1]
    own = top & (around.indices == labels[rows])
    best[rows[own]] = labels[rows[own]]
    return best
