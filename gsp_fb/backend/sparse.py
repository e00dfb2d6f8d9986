"""Sparse matrices and sums over their structure, for arrays of any kind."""

from __future__ import annotations

from typing import Any

from . import host
from .dense import Signal, asarray_like, cast, column, is_complex, namespace
from .table import dispatched, library

__all__ = [
    "add_diagonal",
    "as_complex",
    "as_csr",
    "column_peaks",
    "column_products",
    "components",
    "csr",
    "diagonal_times",
    "group_sum",
    "is_sparse",
    "product",
    "repeat_rows",
    "scaled_csr",
    "take_rows",
    "to_dense",
    "transposed",
]

csr = dispatched(host.csr)
is_sparse = dispatched(host.is_sparse)
as_csr = dispatched(host.as_csr)
transposed = dispatched(host.transposed)
add_diagonal = dispatched(host.add_diagonal)
column_peaks = dispatched(host.column_peaks)
column_products = dispatched(host.column_products)
repeat_rows = dispatched(host.repeat_rows)
group_sum = dispatched(host.group_sum)
components = dispatched(host.components)


def as_complex(x: Signal) -> Signal:
    """Return a dense or CSR array in complex numbers of its precision; itself if it is complex."""
    if is_sparse(x):
        data = as_complex(x.data)
        return x if data is x.data else csr(data, x.indices, x.indptr, x.shape)
    xp = namespace(x)
    return x if is_complex(x) else cast(x, xp.complex64 if x.dtype == xp.float32 else xp.complex128)


def to_dense(x: Signal) -> Any:
    """Return a signal as a dense array of its kind."""
    return library(x).dense(x) if is_sparse(x) else x


def product(matrix: Any, x: Signal) -> Signal:
    """Return ``matrix @ x``."""
    return matrix @ x


def diagonal_times(vector: Any, x: Signal) -> Signal:
    """Return ``diag(vector) @ x`` for a dense or a CSR ``x``, keeping its kind."""
    if not is_sparse(x):
        return column(vector, x) * x
    return csr(x.data * repeat_rows(vector, x.indptr), x.indices, x.indptr, x.shape)


def scaled_csr(matrix: Any, left: Any, right: Any) -> Any:
    """Return ``diag(left) @ matrix @ diag(right)`` for a CSR matrix."""
    data = repeat_rows(left, matrix.indptr) * matrix.data * namespace(right).take(right, matrix.indices, axis=0)
    return csr(data, matrix.indices, matrix.indptr, matrix.shape)


def take_rows(x: Signal, rows: Any) -> Signal:
    """Return the given rows of a dense or CSR signal; their numbers may come from the host."""
    order = asarray_like(rows, x.data if is_sparse(x) else x)
    return library(x).take_csr(x, order) if is_sparse(x) else namespace(x).take(x, order, axis=0)
