"""The compiled loop of :mod:`gsp_fb.nn.stacked`; importing it needs numba."""

from __future__ import annotations

from typing import Any

from .._kernels.loops import compiled

__all__ = ["product"]


@compiled
def product(indptr: Any, indices: Any, values: Any, dense: Any, out: Any) -> None:
    """Set ``out`` to the product of a CSR matrix and a dense one, four entries of a row at a time.

    A single entry would load and store the whole row of ``out`` for one multiplication each.
    """
    for i in range(out.shape[0]):
        total = out[i]
        total[:] = 0
        p, stop = indptr[i], indptr[i + 1]
        while p + 4 <= stop:
            a, b, c, d = dense[indices[p]], dense[indices[p + 1]], dense[indices[p + 2]], dense[indices[p + 3]]
            u, v, w, z = values[p], values[p + 1], values[p + 2], values[p + 3]
            for k in range(total.size):
                total[k] += u * a[k] + v * b[k] + w * c[k] + z * d[k]
            p += 4
        while p < stop:
            a, u = dense[indices[p]], values[p]
            for k in range(total.size):
                total[k] += u * a[k]
            p += 1
