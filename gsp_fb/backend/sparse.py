"""Sparse matrices and sums over their structure, for arrays of any kind."""

from __future__ import annotations

from typing import Any

import numpy as np

from .dense import Signal, asarray_like, cast, column, is_complex, namespace
from .table import library

__all__ = [
    "add_diagonal",
    "as_complex",
    "as_csr",
    "column_peaks",
    "column_products",
    "components",
    "csr",
    "diagonal_times",
    "entry_rows",
    "group_sum",
    "is_sparse",
    "product",
    "repeat_rows",
    "row_degrees",
    "scaled_csr",
    "take_rows",
    "to_dense",
    "transposed",
]


def csr(data: Any, indices: Any, indptr: Any, shape: tuple[int, int]) -> Any:
    """Return a CSR array over the three given arrays, without a copy."""
    return library(data).csr(data, indices, indptr, shape)


def is_sparse(x: Any) -> bool:
    """Return whether ``x`` is a sparse array or matrix of any format."""
    found: bool = library(x).is_sparse(x)
    return found


def as_csr(x: Any) -> Any:
    """Return a sparse array of any format as CSR."""
    return library(x).as_csr(x)


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


def transposed(matrix: Any) -> Any:
    """Return the transpose of a sparse matrix as CSR with sorted indices."""
    return library(matrix).transposed(matrix)


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


def add_diagonal(matrix: Any, diagonal: Any) -> Any:
    """Return ``matrix + diag(diagonal)`` as CSR."""
    return library(matrix).add_diagonal(matrix, diagonal)


def column_peaks(x: Any) -> Any:
    """Return the largest absolute value of each column of a sparse array."""
    return library(x).column_peaks(x)


def column_products(x: Any, y: Any) -> Any:
    """Return ``x_c* y_c`` of each column of two sparse arrays."""
    return library(x).column_products(x, y)


def take_rows(x: Signal, rows: Any) -> Signal:
    """Return the given rows of a dense or CSR signal; their numbers may come from the host."""
    order = asarray_like(rows, x.data if is_sparse(x) else x)
    return library(x).take_csr(x, order) if is_sparse(x) else namespace(x).take(x, order, axis=0)


def repeat_rows(values: Any, indptr: Any) -> Any:
    """Return ``values[i]`` once for every entry of row ``i``."""
    return library(indptr).repeat_rows(values, indptr)


def entry_rows(indptr: Any) -> Any:
    """Return the row of every entry."""
    return repeat_rows(asarray_like(np.arange(indptr.shape[0] - 1), indptr, indptr.dtype), indptr)


def row_degrees(indptr: Any, weights: Any | None, matrix: Any) -> Any:
    """Return the row sums; counts, hence exact, where there are no weights."""
    xp = namespace(indptr)
    counts = cast(indptr[1:] - indptr[:-1], xp.float64)
    return counts if weights is None else product(matrix, xp.ones_like(counts))


def group_sum(groups: Any, values: Any, n_groups: int) -> Any:
    """Return the sum of ``values`` (one row a member) within each of ``n_groups`` groups."""
    return library(groups).group_sum(groups, values, n_groups)


def components(matrix: Any, *, directed: bool) -> Any:
    """Return the number of each node's (weakly) connected component; searched on the host, wherever the matrix is."""
    return library(matrix).components(matrix, directed=directed)
