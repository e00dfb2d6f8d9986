"""The compiled loops over packed rows: products and Chebyshev steps that read one cache line per neighbour.

A block of columns is packed before it is read at random: scaled, aligned, and filled up with zeros to a width of 2, 4,
8 or 16 numbers, at most 64 bytes. Each width is a compile-time constant, so that the sums of a row stay in registers.
"""

# ruff: noqa: PLR0917  # numba functions take plain arrays as separate arguments, not objects that hold them

from __future__ import annotations

from typing import Any

import numpy as np

from .compiling import by_width, compiled, inlined, row_loop
from .gather import gather_line
from .simd import fma, load_vector, prefetch, store, zeros

__all__ = ["bank_step", "pack_rows", "packed_product"]

# Prefetch distance of the rows that are read and written in order, in rows: a block of columns is a strided access, of
# which the hardware prefetches little. Prefetching past the end is harmless.
PREFETCH_ROWS = 8


@inlined
def _pack(first: int, last: int, x: Any, scale: Any, start: int, packed: Any, width: int) -> None:
    for i in range(first, last):
        prefetch(x, i + 2 * PREFETCH_ROWS, start, width)
        own = x.dtype.type(scale[i])
        store(fma(zeros(x, width), own, load_vector(x, i, start, width)), packed, i, 0)


@row_loop
def pack_rows(first: int, last: int, x: Any, scale: Any, start: int, n_columns: int, packed: Any) -> None:
    """Set rows of ``packed`` to ``n_columns`` columns of ``scale * x`` from ``start`` on; other columns stay zero."""
    if n_columns == 16:
        _pack(first, last, x, scale, start, packed, 16)
    elif n_columns == 8:
        _pack(first, last, x, scale, start, packed, 8)
    else:
        for i in range(first, last):
            for c in range(n_columns):
                packed[i, c] = x.dtype.type(scale[i]) * x[i, start + c]


@by_width
@inlined
def _product_rows(width: int, weights: Any, right: Any, arguments: Any) -> None:
    first, last, indptr, indices, packed, x, left, diag, out, start, n_columns, row = arguments
    for i in range(first, last):
        prefetch(x, i + PREFETCH_ROWS, start, width)
        prefetch(out, i + PREFETCH_ROWS, start, width)
        sums = gather_line(indptr[i], indptr[i + 1], indices, weights, packed, right, width)
        sums = fma(zeros(x, width), x.dtype.type(left[i]), sums)
        own = x.dtype.type(diag[i])
        if n_columns == width:
            store(fma(sums, own, load_vector(x, i, start, width)), out, i, start)
        else:
            store(sums, row, 0, 0)
            for c in range(n_columns):
                out[i, start + c] = row[0, c] + own * x[i, start + c]


@compiled
def packed_product(
    first: int,
    last: int,
    indptr: Any,
    indices: Any,
    weights: Any,
    packed: Any,
    x: Any,
    left: Any,
    diag: Any,
    out: Any,
    start: int,
    n_columns: int,
) -> None:
    """Set ``n_columns`` columns of ``out`` from ``start`` on to ``left * (A @ packed) + diag * x``."""
    row = np.empty((1, packed.shape[1]), x.dtype)
    arguments = first, last, indptr, indices, packed, x, left, diag, out, start, n_columns, row
    _product(packed.shape[1], weights, arguments)


@row_loop
def _product(width: int, weights: Any, arguments: Any) -> None:
    _product_rows(width, weights, None, arguments)


@inlined
def _add_terms(
    i: Any, before: Any, now: Any, new: Any, share: Any, terms: Any, out: Any, columns: Any, row: Any, width: int
) -> None:
    """Add the terms of three vectors, scaled by the row's share, to every filter of row i."""
    start, stride, n_columns = columns
    before, now = fma(zeros(out, width), share, before), fma(zeros(out, width), share, now)
    new = fma(zeros(out, width), share, new)
    place = start
    for f in range(terms.shape[1]):
        prefetch(out, i + PREFETCH_ROWS, place, width)
        if n_columns == width:
            sums = fma(load_vector(out, i, place, width), terms[0, f], before)
            store(fma(fma(sums, terms[1, f], now), terms[2, f], new), out, i, place)
        else:
            sums = fma(zeros(out, width), terms[0, f], before)
            store(fma(fma(sums, terms[1, f], now), terms[2, f], new), row, 0, 0)
            for c in range(n_columns):
                out[i, place + c] += row[0, c]
        place += stride


@by_width
@inlined
def _step_rows(width: int, weights: Any, right: Any, arguments: Any) -> None:
    rows, csr, vectors, scale, terms, out, columns, row = arguments
    indptr, indices = csr
    current, left, diag, previous, share = vectors
    kind = current.dtype.type
    for i in range(rows[0], rows[1]):
        sums = gather_line(indptr[i], indptr[i + 1], indices, weights, current, right, width)
        before, now = load_vector(previous, i, 0, width), load_vector(current, i, 0, width)
        new = fma(zeros(current, width), kind(scale * left[i]), sums)
        new = fma(fma(new, kind(scale * diag[i]), now), -kind(scale - 1), before)
        if terms.shape[1] > 0:
            _add_terms(i, before, now, new, kind(share[i]), terms, out, columns, row, width)
        store(new, previous, i, 0)


@compiled
def bank_step(
    first: int,
    last: int,
    indptr: Any,
    indices: Any,
    weights: Any,
    current: Any,
    left: Any,
    right: Any,
    diag: Any,
    previous: Any,
    scale: float,
    terms: Any,
    share: Any,
    out: Any,
    start: int,
    stride: int,
    n_columns: int,
) -> None:
    """Compute one step of the Chebyshev recurrence in place of ``previous``, and add three terms to every filter.

    ``previous <- scale * (left * (A @ (right * current)) + diag * current) - (scale - 1) * previous``. The outputs are
    updated only at every third step, from the three vectors in memory, which saves two thirds of their traffic:
    ``terms`` holds the coefficients of the previous, current and new vector for each filter, or of no filter. Row i is
    added with the factor ``share[i]``. Filter f adds its
    ``n_columns`` signals from column ``start + f * stride`` of ``out`` on.
    """
    vectors = current, left, diag, previous, share
    row = np.empty((1, current.shape[1]), current.dtype)
    arguments = (first, last), (indptr, indices), vectors, scale, terms, out, (start, stride, n_columns), row
    _step(current.shape[1], weights, right, arguments)


@row_loop
def _step(width: int, weights: Any, right: Any, arguments: Any) -> None:
    _step_rows(width, weights, right, arguments)
