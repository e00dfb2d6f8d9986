"""The compiled loop of :mod:`gsp_fb.nn.stacked`; importing it needs numba."""

from __future__ import annotations

from typing import Any

import numpy as np

from .._kernels.loops import compiled

__all__ = ["product"]


@compiled
def product(indptr: Any, indices: Any, values: Any, dense: Any, out: Any) -> None:
    """Set ``out`` to the product of a CSR matrix and a dense one, four entries of a row at a time.

    A single entry would load and store the whole row of ``out`` for one multiplication each. Entries that dropout set
    to zero are passed over.
    """
    longest: Any = 0
    for i in range(out.shape[0]):
        longest = max(longest, np.int64(indptr[i + 1]) - np.int64(indptr[i]))
    # One more than the longest row: an entry is written before it is known whether it counts.
    places, kept = np.empty(longest + 1, indices.dtype), np.empty(longest + 1, values.dtype)
    for i in range(out.shape[0]):
        n = 0
        for p in range(indptr[i], indptr[i + 1]):
            places[n], kept[n] = indices[p], values[p]
            n += values[p] != 0
        total = out[i]
        total[:] = 0
        p = 0
        while p + 4 <= n:
            a, b, c, d = dense[places[p]], dense[places[p + 1]], dense[places[p + 2]], dense[places[p + 3]]
            u, v, w, z = kept[p], kept[p + 1], kept[p + 2], kept[p + 3]
            for k in range(total.size):
                total[k] += u * a[k] + v * b[k] + w * c[k] + z * d[k]
            p += 4
        while p < n:
            a, u = dense[places[p]], kept[p]
            for k in range(total.size):
                total[k] += u * a[k]
            p += 1
