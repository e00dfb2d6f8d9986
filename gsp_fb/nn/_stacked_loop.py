"""The compiled loop of :mod:`gsp_fb.nn.stacked`; importing it needs numba.

One copy after the other, so that what a copy needs stays in the cache.
"""

# ruff: noqa: PLR0917  # compiled code takes plain arrays, one argument each; objects that hold them it does not know

from __future__ import annotations

from typing import Any

import numpy as np

from .._kernels.compiling import compiled, in_parts, inlined
from .._kernels.simd import fma, load, store, zeros

__all__ = ["product"]


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
def _set_part(column: int, width: int, arguments: Any) -> None:
    """Set a part of row i to ``sum_p factors[p] * dense[places[p]]`` over p < n."""
    out, i, dense, places, factors, n = arguments
    sums = zeros(out, width)
    for p in range(n):
        sums = fma(sums, factors[p], load(dense, places[p], column, width))
    store(sums, out, i, column)


_set_row = in_parts(_set_part)


@compiled
def product(indptr: Any, indices: Any, order: Any, values: Any, stack: Any, out: Any) -> None:
    """Set ``out[k]`` to the product of a CSR matrix with ``values[k]``, in that order, and ``stack[k]``."""
    # One more than the longest row: an entry is written before it is known whether it counts.
    longest = _longest(indptr) + 1
    places, kept = np.empty(longest, indices.dtype), np.empty(longest, values.dtype)
    for k in range(len(out)):
        own, dense, result = values[min(k, len(values) - 1)], stack[k], out[k]
        for i in range(out.shape[1]):
            n = _compact(indices, order, own, indptr[i], indptr[i + 1], places, kept)
            _set_row(out.shape[2], (result, i, dense, places, kept, n))
