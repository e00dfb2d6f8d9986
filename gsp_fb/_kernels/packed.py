"""The compiled loops over packed rows: products and Chebyshev steps that read one cache line per neighbour.

A block of columns is packed before it is read at random: scaled, aligned, and filled up with zeros to a width of 2, 4,
8 or 16 numbers, at most 64 bytes. Each width is a compile-time constant, so that the sums of a row stay in registers.
"""

# ruff: noqa: PLR0917  # numba functions take plain arrays as separate arguments, not objects that hold them

from __future__ import annotations

from typing import Any

from .compiling import by_width, in_parts, inlined, row_loop
from .gather import gather_line
from .simd import fma, item, load_vector, prefetch, store, zeros

__all__ = ["bank_step", "pack_rows", "packed_product"]

# Prefetch distance of the rows that are read and written in order, in rows: a block of columns is a strided access, of
# which the hardware prefetches little. Prefetching past the end is harmless.
PREFETCH_ROWS = 8


@inlined
def _pack_part(i: Any, c: Any, width: int, weights: None, right: None, arguments: Any) -> None:
    x, scale, start, packed = arguments
    prefetch(x, i + 2 * PREFETCH_ROWS, start + c, width)
    store(fma(zeros(x, width), x.dtype.type(scale[i]), load_vector(x, i, start + c, width)), packed, i, c)


_pack_row = in_parts(_pack_part)


@row_loop
def pack_rows(first: int, last: int, x: Any, scale: Any, start: int, n_columns: int, packed: Any) -> None:
    """Set rows of ``packed`` to ``n_columns`` columns of ``scale * x`` from ``start`` on; other columns stay zero."""
    for i in range(first, last):
        _pack_row(i, n_columns, None, None, (x, scale, start, packed))


@by_width
@inlined
def _product_rows(width: int, weights: Any, right: Any, arguments: Any) -> None:
    (first, last), (indptr, indices), packed, x, left, diag, out, (start, n_columns) = arguments
    for i in range(first, last):
        prefetch(x, i + PREFETCH_ROWS, start, width)
        prefetch(out, i + PREFETCH_ROWS, start, width)
        sums = gather_line(indptr[i], indptr[i + 1], indices, weights, packed, right, width)
        sums = fma(zeros(x, width), x.dtype.type(left[i]), sums)
        own = x.dtype.type(diag[i])
        if n_columns == width:
            store(fma(sums, own, load_vector(x, i, start, width)), out, i, start)
        else:
            for c in range(n_columns):
                out[i, start + c] = item(sums, c) + own * x[i, start + c]


@row_loop
def packed_product(
    first: int, last: int, csr: Any, weights: Any, packed: Any, x: Any, left: Any, diag: Any, out: Any, columns: Any
) -> None:
    """Set ``columns``, the first one and their number, of ``out`` to ``left * (A @ packed) + diag * x``."""
    _product_rows(packed.shape[1], weights, None, ((first, last), csr, packed, x, left, diag, out, columns))


@inlined
def _add_terms(
    i: Any, before: Any, now: Any, new: Any, share: Any, terms: Any, out: Any, columns: Any, width: int
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
            sums = fma(fma(sums, terms[1, f], now), terms[2, f], new)
            for c in range(n_columns):
                out[i, place + c] += item(sums, c)
        place += stride


@by_width
@inlined
def _step_rows(width: int, weights: Any, right: Any, arguments: Any) -> None:
    (first, last), (indptr, indices), x, (left, diag, previous, share), (scale, terms), out, columns = arguments
    kind = x.dtype.type
    for i in range(first, last):
        sums = gather_line(indptr[i], indptr[i + 1], indices, weights, x, right, width)
        before, now = load_vector(previous, i, 0, width), load_vector(x, i, 0, width)
        new = fma(zeros(x, width), kind(scale * left[i]), sums)
        new = fma(fma(new, kind(scale * diag[i]), now), -kind(scale - 1), before)
        if terms.shape[1] > 0:
            _add_terms(i, before, now, new, kind(share[i]), terms, out, columns, width)
        store(new, previous, i, 0)


@row_loop
def bank_step(
    first: int, last: int, csr: Any, weights: Any, x: Any, right: Any, vectors: Any, step: Any, out: Any, columns: Any
) -> None:
    """Compute one step of the Chebyshev recurrence in place of ``previous``, and add three terms to every filter.

    ``previous <- scale * (left * (A @ (right * x)) + diag * x) - (scale - 1) * previous``, where the vectors are
    ``left``, ``diag``, ``previous`` and ``share``, and the step is ``scale`` and ``terms``. The outputs are updated
    only at every third step, from the three vectors in memory, which saves two thirds of their traffic: ``terms`` holds
    the coefficients of the previous, current and new vector for each filter, or of no filter. Row i is added with the
    factor ``share[i]``. For the columns (start, stride, n_columns) filter f adds its ``n_columns`` signals from
    ``start + f * stride`` on.
    """
    _step_rows(x.shape[1], weights, right, ((first, last), csr, x, vectors, step, out, columns))
