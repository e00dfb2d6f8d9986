"""Sums over neighbours of a block of signals or a single one: matrix-vector products, banks, quadratic forms.

``gather_line`` reads packed rows, at most one cache line each; ``gather_2d`` rows of any length where they are;
``gather_1d``, ``gather_1d_far``, ``gather_lower_1d`` and ``tiled_sums`` a single signal.
"""

# ruff: noqa: PLR0917  # numba functions take plain arrays as separate arguments, not objects that hold them

from __future__ import annotations

from typing import Any

import numpy as np

from .compiling import compiled, inlined, row_loop
from .simd import fma, load_vector, prefetch, prefetch_item, store, zeros

__all__ = [
    "CORE_BYTES",
    "gather_1d",
    "gather_1d_far",
    "gather_2d",
    "gather_line",
    "gather_lower_1d",
    "pair_factor",
    "tiled_sums",
]

# Prefetch distance in neighbours: long enough to hide the memory latency. Of single numbers fewer are in flight at
# once: their loop is short, and many of them are in the cache.
PREFETCH_DISTANCE, PREFETCH_NUMBERS = 48, 24
# Signals up to this size are in the second-level cache of the core that reads them.
CORE_BYTES = 2**20
# Unsigned counters: for signed ones numba tests every index for a negative one. It adds a plain 1 to them as a float.
ZERO, ONE, TWO = np.uintp(0), np.uintp(1), np.uintp(2)


@inlined
def _factor(right: Any, weights: Any, p: Any, j: Any) -> float:
    """Return w_p r_j; None stands for ones."""
    factor = 1.0 if right is None else right[j]
    return factor if weights is None else factor * weights[p]


@inlined
def _pair(i: Any, j: Any, left: Any, right: Any, directed: bool) -> Any:
    """Return the factor of x_i x_j in a quadratic form; (i, j) and (j, i) together if only one is visited."""
    one_way = left[i] * right[j]
    return one_way if directed or i == j else one_way + left[j] * right[i]


@inlined
def pair_factor(i: Any, j: Any, p: Any, weights: Any, left: Any, right: Any, directed: bool) -> Any:
    """Return the factor of x_i x_j in a quadratic form; with ``left=None`` that of x_j in row i of a product."""
    if left is None:
        return _factor(right, weights, p, j)
    pair = _pair(i, np.int64(j), left, right, directed)
    return pair if weights is None else pair * weights[p]


@inlined
def _prefetch_node(i: Any, j: Any, left: Any, directed: bool) -> Any:
    """Return the node to prefetch; where only pairs j <= i are visited, never a node that is not read."""
    if left is None:
        return j
    return np.int64(j) if directed else min(np.int64(j), i)


@inlined
def _distance(longest: int, stop: Any, indices: Any) -> Any:
    """Return the prefetch distance of a row: shorter at the end of the graph, so that no entry needs a bounds check."""
    distance: Any = max(0, min(longest, len(indices) - np.int64(stop)))
    return np.uintp(distance)


@inlined
def _add_line(sums: Any, p: Any, distance: Any, indices: Any, weights: Any, x: Any, right: Any, width: int) -> Any:
    """Return ``sums + w_p r_j x[j]`` and prefetch the row of a later neighbour, one cache line."""
    prefetch(x, indices[p + distance], ZERO, 1)
    factor = x.dtype.type(_factor(right, weights, p, indices[p]))
    return fma(sums, factor, load_vector(x, indices[p], ZERO, width))


@inlined
def gather_line(start: Any, stop: Any, indices: Any, weights: Any, x: Any, right: Any, width: int) -> Any:
    """Return sum_p w_p r_j x[j] over start <= p < stop as a vector, where the rows of ``x`` are ``width`` long.

    ``width`` is a constant. An aligned row of at most 64 bytes is one cache line, the least that a neighbour can cost.
    """
    # Two accumulators: each addition depends on the previous one, and two chains hide its latency.
    even, odd = zeros(x, width), zeros(x, width)
    p, end = np.uintp(start), np.uintp(stop)
    distance = _distance(PREFETCH_DISTANCE, stop, indices)
    while p + TWO <= end:
        even = _add_line(even, p, distance, indices, weights, x, right, width)
        odd = _add_line(odd, p + ONE, distance, indices, weights, x, right, width)
        p += TWO
    if p < end:
        even = _add_line(even, p, distance, indices, weights, x, right, width)
    return fma(even, x.dtype.type(1), odd)


@inlined
def _gather_part(
    total: Any,
    i: Any,
    start: Any,
    stop: Any,
    indices: Any,
    weights: Any,
    x: Any,
    left: Any,
    right: Any,
    directed: bool,
    column: Any,
    width: int,
) -> None:
    """Set ``width`` columns (a constant) of ``total`` from ``column`` on; register blocking: sums stay in registers."""
    sums = zeros(total, width)
    # Shorter at the end of the graph; one distance per row avoids a bounds check per entry.
    distance: Any = max(0, min(PREFETCH_DISTANCE, len(indices) - np.int64(stop)))
    for p in range(start, stop):
        ahead = _prefetch_node(i, indices[p + distance], left, directed)
        prefetch(x, ahead, column, width)
        if right is not None:
            prefetch_item(right, ahead)
        factor = total.dtype.type(pair_factor(i, indices[p], p, weights, left, right, directed))
        sums = fma(sums, factor, load_vector(x, indices[p], column, width))
    store(sums, total, 0, column)


@inlined
def gather_2d(
    total: Any,
    i: Any,
    start: Any,
    stop: Any,
    indices: Any,
    weights: Any,
    x: Any,
    left: Any,
    right: Any,
    directed: bool,
) -> None:
    """Set ``total``, a single row, to sum_p f_ij x[j] over start <= p < stop, j = indices[p], f_ij of ``pair_factor``.

    The columns are summed in parts of constant width, the largest that fits. The last part starts early enough to be
    complete, and sums some columns again.
    """
    n_columns = x.shape[1]
    c = 0
    while c < n_columns:
        if n_columns >= 32:
            _gather_part(total, i, start, stop, indices, weights, x, left, right, directed, min(c, n_columns - 32), 32)
            c += 32
        elif n_columns >= 16:
            _gather_part(total, i, start, stop, indices, weights, x, left, right, directed, min(c, n_columns - 16), 16)
            c += 16
        elif n_columns >= 4:
            _gather_part(total, i, start, stop, indices, weights, x, left, right, directed, min(c, n_columns - 4), 4)
            c += 4
        else:
            _gather_part(total, i, start, stop, indices, weights, x, left, right, directed, c, 1)
            c += 1


@inlined
def _term(indices: Any, weights: Any, x: Any, right: Any, p: Any) -> Any:
    """Return w_p r_j x[j]; a factor 1 is not multiplied, which would lengthen the chain of dependent instructions."""
    j = indices[p]
    if weights is None and right is None:
        return x[j]
    return x.dtype.type(_factor(right, weights, p, j)) * x[j]


@inlined
def gather_1d(indices: Any, weights: Any, x: Any, right: Any, start: int, stop: int) -> Any:
    """Return sum_p w_p r_j x[j] over start <= p < stop, without prefetch: for a signal in the cache of its core."""
    even, odd = x.dtype.type(0), x.dtype.type(0)  # two chains, as in gather_line
    p, end = np.uintp(start), np.uintp(stop)
    while p + TWO <= end:
        even += _term(indices, weights, x, right, p)
        odd += _term(indices, weights, x, right, p + ONE)
        p += TWO
    while p < end:
        even += _term(indices, weights, x, right, p)
        p += ONE
    return even + odd


@inlined
def gather_1d_far(indices: Any, weights: Any, x: Any, right: Any, start: int, stop: int) -> Any:
    """Return ``gather_1d`` with prefetch, for a larger signal."""
    even, odd = x.dtype.type(0), x.dtype.type(0)
    p, end = np.uintp(start), np.uintp(stop)
    distance = _distance(PREFETCH_NUMBERS, stop, indices)
    while p + TWO <= end:
        prefetch_item(x, indices[p + distance])
        prefetch_item(x, indices[p + distance + ONE])
        even += _term(indices, weights, x, right, p)
        odd += _term(indices, weights, x, right, p + ONE)
        p += TWO
    if p < end:
        prefetch_item(x, indices[p + distance])
        even += _term(indices, weights, x, right, p)
    return even + odd


@inlined
def gather_lower_1d(i: Any, indices: Any, weights: Any, x: Any, start: int, stop: int) -> Any:
    """Return sum_p w_p x[j] over j <= i, entries j < i counted twice: row i of a symmetric form, both directions."""
    below, own, row = x.dtype.type(0), x.dtype.type(0), np.uintp(i)
    p, end = np.uintp(start), np.uintp(stop)
    while p < end:
        if indices[p] >= row:
            if indices[p] == row:
                own = _term(indices, weights, x, None, p)
            break
        below += _term(indices, weights, x, None, p)
        p += ONE
    return below + below + own


@compiled
def tiled_sums(first: int, last: int, indptr: Any, indices: Any, weights: Any, x: Any, right: Any, width: int) -> Any:
    """Return ``gather_1d`` of each row, reading ``width`` nodes of ``x`` at a time.

    Neighbours are sorted, so those in the next tile begin at the cursor of the row. Empty if one tile holds all.
    """
    n_rows = last - first if width < len(x) else 0
    sums, cursors = np.zeros(n_rows, x.dtype), indptr[first : first + n_rows].copy()
    for end in range(width, len(x) + width, width):
        _add_tile(end, indptr[first:], indices, weights, x, right, sums, cursors)
    return sums


@row_loop
def _add_tile(end: int, indptr: Any, indices: Any, weights: Any, x: Any, right: Any, sums: Any, cursors: Any) -> None:
    """Add the entries j < ``end`` from the cursors on, and move the cursors behind them."""
    for r in range(len(sums)):
        p, stop, total = np.uintp(cursors[r]), np.uintp(indptr[r + 1]), sums[r]
        while p < stop:
            j = indices[p]
            if j >= end:
                break
            total += x.dtype.type(_factor(right, weights, p, j)) * x[j]
            p += ONE
        cursors[r], sums[r] = p, total
