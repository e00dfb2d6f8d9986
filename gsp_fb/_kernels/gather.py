"""The sums over neighbours that products, banks and energies share: of a block of signals, and of a single one."""

# ruff: noqa: PLR0917  # compiled code takes plain arrays, one argument each; objects that hold them it does not know

from __future__ import annotations

from typing import Any

import numpy as np

from .compiling import compiled, inlined
from .simd import fma, load, prefetch, prefetch_item, store, zeros

__all__ = ["gather", "gather_1d", "pair_factor", "tiled_sums"]

# Neighbours between the one that is read and the one that is asked for: long enough to hide the memory's latency.
AHEAD = 48


@inlined
def _factor(right: Any, weights: Any, p: Any, j: Any) -> float:
    """Return w_p r_j; what is None stands for ones."""
    factor = 1.0 if right is None else right[j]
    return factor if weights is None else factor * weights[p]


@inlined
def _pair(i: Any, j: Any, left: Any, right: Any, directed: bool) -> Any:
    """Return the factor of x_i x_j in a form: that of both entries, (i, j) and (j, i), if only one is visited."""
    one_way = left[i] * right[j]
    return one_way if directed or i == j else one_way + left[j] * right[i]


@inlined
def pair_factor(i: Any, j: Any, p: Any, weights: Any, left: Any, right: Any, directed: bool) -> Any:
    """Return what ``x_i x_j`` is multiplied by in a form; without a left side, ``x_j`` in row i of a product."""
    if left is None:
        return _factor(right, weights, p, j)
    pair = _pair(i, np.int64(j), left, right, directed)
    return pair if weights is None else pair * weights[p]


@inlined
def _far(i: Any, j: Any, left: Any, directed: bool) -> Any:
    """Return the node to ask for: of pairs that are visited from one side only, never one that will not be read."""
    if left is None:
        return j
    return np.int64(j) if directed else min(np.int64(j), i)


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
    """Set ``width`` columns of ``total``, a constant, from ``column`` on; their sums never leave the registers."""
    sums = zeros(total, width)
    # Where the graph ends there is less to ask for; a row has its own distance, so that no entry need look.
    ahead: Any = max(0, min(AHEAD, len(indices) - np.int64(stop)))
    for p in range(start, stop):
        far = _far(i, indices[p + ahead], left, directed)
        prefetch(x, far, column, width)
        if right is not None:
            prefetch_item(right, far)
        factor = total.dtype.type(pair_factor(i, indices[p], p, weights, left, right, directed))
        sums = fma(sums, factor, load(x, indices[p], column, width))
    store(sums, total, 0, column)


@inlined
def gather(
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

    The columns are summed in parts of a constant width, the greatest there is room for; the last part begins early
    enough to be whole and sums some columns once more.
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
def gather_1d(indices: Any, weights: Any, x: Any, right: Any, start: int, stop: int) -> Any:
    """Return sum_p w_p r_j x[j] over start <= p < stop; a single signal mostly fits the cache and is not asked for."""
    kind = x.dtype.type
    # Two sums, as an addition has to wait for the one before it.
    one, other = kind(0), kind(0)
    for p in range(start, stop - 1, 2):
        j, k = indices[p], indices[p + 1]
        one += kind(_factor(right, weights, p, j)) * x[j]
        other += kind(_factor(right, weights, p + 1, k)) * x[k]
    if (stop - start) % 2:
        j = indices[stop - 1]
        one += kind(_factor(right, weights, stop - 1, j)) * x[j]
    return one + other


@compiled
def tiled_sums(first: int, last: int, indptr: Any, indices: Any, weights: Any, x: Any, right: Any, width: int) -> Any:
    """Return what ``gather_1d`` returns for each of the rows, reading ``width`` nodes of ``x`` at a time.

    Neighbours are sorted: those of the next tile begin where a row's cursor stopped. No rows if one tile holds all.
    """
    n_rows = last - first if width < len(x) else 0
    sums, cursors = np.zeros(n_rows, x.dtype), indptr[first : first + n_rows].copy()
    for end in range(width, len(x) + width, width):
        for r in range(n_rows):
            p, stop, total = np.int64(cursors[r]), indptr[first + r + 1], sums[r]
            while p < stop:
                j = indices[p]
                if j >= end:
                    break
                total += x.dtype.type(_factor(right, weights, p, j)) * x[j]
                p += 1
            cursors[r], sums[r] = p, total
    return sums
