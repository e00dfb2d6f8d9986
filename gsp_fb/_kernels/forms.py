"""The compiled loops of quadratic forms: they do not store the product, and accumulate in double precision.

Each block of rows adds to its own row of ``out``, or each row sets its own number: the sums do not depend on the
assignment of blocks to threads.
"""

# ruff: noqa: PLR0917  # numba functions take plain arrays as separate arguments, not objects that hold them

from __future__ import annotations

from typing import Any

import numpy as np

from .compiling import compiled, inlined, row_loop
from .gather import gather_2d, gather_lower_1d, pair_factor

__all__ = ["quadratic", "quadratic_1d", "sparse_quadratic"]


@inlined
def _lower_stop(i: Any, start: Any, stop: Any, indices: Any, directed: bool) -> Any:
    """Return the end of the entries of row i to read: in an undirected graph those with j > i are counted in row j."""
    while not directed and stop > start and np.int64(indices[stop - 1]) > i:
        stop -= 1
    return stop


@row_loop
def _add_forms(
    rows: tuple[int, int],
    indptr: Any,
    indices: Any,
    weights: Any,
    directed: bool,
    x: Any,
    left: Any,
    right: Any,
    diag: Any,
    total: Any,
    out: Any,
    block: int,
) -> None:
    for i in range(rows[0], rows[1]):
        stop = _lower_stop(i, indptr[i], indptr[i + 1], indices, directed)
        gather_2d(total, i, indptr[i], stop, indices, weights, x, left, right, directed)
        for c in range(x.shape[1]):
            own = np.float64(x[i, c])
            out[block, c] += own * (total[0, c] + diag[i] * own)


@compiled
def quadratic(
    block: int,
    rows: tuple[int, int],
    indptr: Any,
    indices: Any,
    weights: Any,
    directed: bool,
    x: Any,
    left: Any,
    right: Any,
    diag: Any,
    out: Any,
) -> None:
    """Add the contribution of the rows to ``x_c' (diag(left) A diag(right) + diag(diag)) x_c`` in ``out[block, c]``.

    In an undirected graph only the entries j <= i are read: the pair (i, j) counts for both directions.
    """
    total = np.empty((1, x.shape[1]), np.float64)
    _add_forms(rows, indptr, indices, weights, directed, x, left, right, diag, total, out, block)


@row_loop
def quadratic_1d(
    first: int, last: int, indptr: Any, indices: Any, weights: Any, x: Any, scaled: Any, left: Any, diag: Any, out: Any
) -> None:
    """Set ``out[i]`` to the contribution of row i to ``x' (diag(left) A diag(right) + diag(diag)) x`` for one signal.

    ``scaled`` is ``right * x``. A is symmetric and ``left`` a multiple of ``right``, so that (i, j) and (j, i)
    contribute the same, and half of the entries are read.
    """
    for i in range(first, last):
        total = gather_lower_1d(i, indices, weights, scaled, indptr[i], indptr[i + 1])
        out[i] = x[i] * (left[i] * total + diag[i] * x[i])


@row_loop
def _add_sparse_forms(
    rows: tuple[int, int],
    indptr: Any,
    indices: Any,
    weights: Any,
    directed: bool,
    x_indptr: Any,
    x_indices: Any,
    x_data: Any,
    left: Any,
    right: Any,
    diag: Any,
    own: Any,
    out: Any,
    block: int,
) -> None:
    for i in range(rows[0], rows[1]):
        if x_indptr[i] == x_indptr[i + 1]:
            continue
        for q in range(x_indptr[i], x_indptr[i + 1]):
            own[x_indices[q]] += x_data[q]
        for q in range(x_indptr[i], x_indptr[i + 1]):
            out[block, x_indices[q]] += diag[i] * x_data[q] * own[x_indices[q]]
        for p in range(indptr[i], _lower_stop(i, indptr[i], indptr[i + 1], indices, directed)):
            j = indices[p]
            factor = pair_factor(i, j, p, weights, left, right, directed)
            for q in range(x_indptr[j], x_indptr[j + 1]):
                out[block, x_indices[q]] += factor * x_data[q] * own[x_indices[q]]
        for q in range(x_indptr[i], x_indptr[i + 1]):
            own[x_indices[q]] = 0


@compiled
def sparse_quadratic(
    block: int,
    rows: tuple[int, int],
    indptr: Any,
    indices: Any,
    weights: Any,
    directed: bool,
    x_indptr: Any,
    x_indices: Any,
    x_data: Any,
    left: Any,
    right: Any,
    diag: Any,
    out: Any,
) -> None:
    """Compute ``quadratic`` for a CSR signal: row i is scattered to a dense row and multiplied with its neighbours."""
    own = np.zeros(out.shape[1])
    signal = x_indptr, x_indices, x_data
    _add_sparse_forms(rows, indptr, indices, weights, directed, *signal, left, right, diag, own, out, block)
