"""Sums over neighbours, parts of the loops of products and banks.

``gather_line`` reads packed rows, at most one cache line each; ``gather_part`` some columns of rows of any length where
they are; ``gather_1d`` and ``tiled_sums`` a single signal.
"""

# ruff: noqa: PLR0917  # numba functions take plain arrays as separate arguments, not objects that hold them

from __future__ import annotations

from typing import Any

import numpy as np

from .compiling import compiled, inlined, row_loop
from .simd import fma, load_vector, prefetch, prefetch_item, zeros

__all__ = ["gather_1d", "gather_line", "gather_part", "tiled_sums"]

# Prefetch distance in neighbours, long enough to hide the memory latency. A single signal is read without: prefetching
# every number took as long or longer, and one larger than the cache is read in tiles.
PREFETCH_DISTANCE = 48
# Unsigned counters: for signed ones numba tests every index for a negative one. It adds a plain 1 to them as a float.
ZERO, ONE, TWO = np.uintp(0), np.uintp(1), np.uintp(2)


@inlined
def _factor(right: Any, weights: Any, p: Any, j: Any) -> float:
    """Return w_p r_j; None stands for ones."""
    factor = 1.0 if right is None else right[j]
    return factor if weights is None else factor * weights[p]


@inlined
def _distance(stop: Any, indices: Any) -> Any:
    """Return the prefetch distance of a row: shorter at the end of the graph, so that no entry needs a bounds check."""
    distance: Any = max(0, min(PREFETCH_DISTANCE, len(indices) - np.int64(stop)))
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
    distance = _distance(stop, indices)
    while p + TWO <= end:
        even = _add_line(even, p, distance, indices, weights, x, right, width)
        odd = _add_line(odd, p + ONE, distance, indices, weights, x, right, width)
        p += TWO
    if p < end:
        even = _add_line(even, p, distance, indices, weights, x, right, width)
    return fma(even, x.dtype.type(1), odd)


@inlined
def gather_part(
    start: Any, stop: Any, indices: Any, weights: Any, x: Any, right: Any, like: Any, column: Any, width: int
) -> Any:
    """Return sum_p w_p r_j x[j] over start <= p < stop for ``width`` columns from ``column`` on; dtype as ``like``."""
    sums = zeros(like, width)
    p, end = np.uintp(start), np.uintp(stop)
    distance = _distance(stop, indices)
    while p < end:
        ahead = indices[p + distance]
        prefetch(x, ahead, column, width)
        if right is not None:
            prefetch_item(right, ahead)
        factor = like.dtype.type(_factor(right, weights, p, indices[p]))
        sums = fma(sums, factor, load_vector(x, indices[p], column, width))
        p += ONE
    return sums


@inlined
def _term(indices: Any, weights: Any, x: Any, right: Any, p: Any) -> Any:
    """Return w_p r_j x[j]; a factor 1 is not multiplied, which would lengthen the chain of dependent instructions."""
    j = indices[p]
    if weights is None and right is None:
        return x[j]
    return x.dtype.type(_factor(right, weights, p, j)) * x[j]


@inlined
def gather_1d(start: Any, stop: Any, indices: Any, weights: Any, x: Any, right: Any) -> Any:
    """Return sum_p w_p r_j x[j] over start <= p < stop."""
    even, odd = x.dtype.type(0), x.dtype.type(0)  # two chains, as in gather_line
    p, end = np.uintp(start), np.uintp(stop)
    while p + TWO <= end:
        even += _term(indices, weights, x, right, p)
        odd += _term(indices, weights, x, right, p + ONE)
        p += TWO
    if p < end:
        even += _term(indices, weights, x, right, p)
    return even + odd


@compiled
def tiled_sums(first: int, last: int, csr: Any, weights: Any, x: Any, right: Any, width: int) -> Any:
    """Return ``gather_1d`` of each row, reading ``width`` nodes of ``x`` at a time.

    Neighbours are sorted, so those in the next tile begin at the cursor of the row. Empty if one tile holds all.
    """
    indptr, indices = csr
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
