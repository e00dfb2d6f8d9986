"""The compiled loops of :mod:`gsp_fb.nn.stacked`; importing them needs numba.

Each works on the copies ``first <= k < last`` of a stack of shape (copies, rows, columns), so that threads can share
them, one after the other, so that what a copy needs stays in the cache.
"""

# ruff: noqa: PLR0917  # compiled code takes plain arrays, one argument each; objects that hold them it does not know

from __future__ import annotations

from typing import Any

import numpy as np

from .._kernels.compiling import compiled, inlined
from .._kernels.machine import add_times, load, store

__all__ = ["product", "synthesis", "synthesis_gradient"]


@inlined
def _longest(indptr: Any) -> Any:
    longest: Any = 0
    for i in range(indptr.size - 1):
        longest = max(longest, np.int64(indptr[i + 1]) - np.int64(indptr[i]))
    return longest


@inlined
def _compact(indices: Any, order: Any, values: Any, start: int, stop: int, places: Any, kept: Any) -> int:
    """Write the entries of a row that dropout has left into ``places`` and ``kept``; return their number."""
    n = 0
    for p in range(start, stop):
        value = values[p if order is None else order[p]]
        places[n], kept[n] = indices[p], value
        n += value != 0
    return n


@inlined
def _add_part(out: Any, i: int, dense: Any, places: Any, factors: Any, n: int, column: int, width: int) -> None:
    sums = load(out, i, column, width)
    for p in range(n):
        sums = add_times(sums, factors[p], load(dense, places[p], column, width))
    store(sums, out, i, column)


@inlined
def _add_rows(out: Any, i: int, dense: Any, places: Any, factors: Any, n: int) -> None:
    """Add ``sum_p factors[p] * dense[places[p]]`` over p < n to row i, as many columns at a time as can be."""
    c = 0
    while c + 64 <= out.shape[1]:
        _add_part(out, i, dense, places, factors, n, c, 64)
        c += 64
    while c + 16 <= out.shape[1]:
        _add_part(out, i, dense, places, factors, n, c, 16)
        c += 16
    while c < out.shape[1]:
        _add_part(out, i, dense, places, factors, n, c, 1)
        c += 1


@compiled
def product(first: int, last: int, indptr: Any, indices: Any, order: Any, values: Any, stack: Any, out: Any) -> None:
    """Set ``out[k]`` to the product of a CSR matrix with ``values[k]``, in that order, and ``stack[k]``."""
    # One more than the longest row: an entry is written before it is known whether it counts.
    longest = _longest(indptr) + 1
    places, kept = np.empty(longest, indices.dtype), np.empty(longest, values.dtype)
    for k in range(first, last):
        own = values[min(k, len(values) - 1)]
        for i in range(out.shape[1]):
            n = _compact(indices, order, own, indptr[i], indptr[i + 1], places, kept)
            out[k, i] = 0
            _add_rows(out[k], i, stack[k], places, kept, n)


@inlined
def _add_product(indptr: Any, indices: Any, values: Any, dense: Any, out: Any) -> None:
    """Add the product of a CSR matrix and a dense one to ``out``."""
    for i in range(out.shape[0]):
        start, stop = indptr[i], indptr[i + 1]
        _add_rows(out, i, dense, indices[start:stop], values[start:stop], stop - start)


@inlined
def _rectified(value: Any) -> Any:
    # Not a maximum: what is not a number must stay so, or a diverging training would go on. Not a plain zero: it would
    # make all of the loop wider.
    return value - value if value < 0 else value


@compiled
def synthesis(
    first: int,
    last: int,
    indptr: Any,
    indices: Any,
    values: Any,
    z: Any,
    a_low: Any,
    a_high: Any,
    share: Any,
    out: Any,
) -> None:
    """Set ``out[k]`` to ``share * low + high + P (low - high)``, the halves of ``z[k]`` rectified and weighted."""
    width = out.shape[2]
    difference = np.empty(out.shape[1:], out.dtype)
    for k in range(first, last):
        own_low, own_high = a_low[k], a_high[k]
        for i in range(out.shape[1]):
            row, total, gap = z[k, i], out[k, i], difference[i]
            for q in range(width):
                low, high = own_low * _rectified(row[q]), own_high * _rectified(row[width + q])
                gap[q] = low - high
                total[q] = share * low + high
        _add_product(indptr, indices, values, difference, out[k])


@inlined
def _set_half(z: Any, grad: Any, weight: Any, z_grad: Any, of_weight: Any) -> None:
    """Set the gradient of ``weight * relu(z)`` to a row of ``z``, and add that to ``weight``, column by column."""
    zero = weight - weight
    for q in range(z.size):
        of_weight[q] += grad[q] * _rectified(z[q])
        z_grad[q] = weight * grad[q] if z[q] > 0 else zero


@compiled
def synthesis_gradient(
    first: int,
    last: int,
    t_indptr: Any,
    t_indices: Any,
    t_values: Any,
    z: Any,
    a_low: Any,
    a_high: Any,
    share: Any,
    grad: Any,
    z_grad: Any,
    alpha_grad: Any,
) -> None:
    """Set the gradients of ``synthesis`` to its halves and to its two weights; ``t_*`` is the transpose."""
    width = grad.shape[2]
    spread, high = np.empty(grad.shape[1:], grad.dtype), np.empty(width, grad.dtype)
    # Sums by column first: a single sum would add one number at a time.
    of_low, of_high = np.empty(width, grad.dtype), np.empty(width, grad.dtype)
    for k in range(first, last):
        spread[:], of_low[:], of_high[:] = 0, 0, 0
        _add_product(t_indptr, t_indices, t_values, grad[k], spread)
        for i in range(grad.shape[1]):
            low, given = spread[i], grad[k, i]
            for q in range(width):
                high[q] = given[q] - low[q]
                low[q] += share * given[q]
            _set_half(z[k, i, :width], low, a_low[k], z_grad[k, i, :width], of_low)
            _set_half(z[k, i, width:], high, a_high[k], z_grad[k, i, width:], of_high)
        alpha_grad[k, 0], alpha_grad[k, 1] = of_low.sum(), of_high.sum()
