"""The compiled loops of energies: they store no product, and sum in double precision.

A loop adds up the rows of one block in a row of ``out`` of its own: sums do not depend on who computes which block.
"""

# ruff: noqa: PLR0917  # compiled code takes plain arrays, one argument each; objects that hold them it does not know

from __future__ import annotations

from typing import Any

import numpy as np

from .compiling import compiled, inlined
from .gather import gather, pair_factor

__all__ = ["quadratic", "sparse_quadratic"]


@inlined
def _seen(i: Any, start: Any, stop: Any, indices: Any, directed: bool) -> Any:
    """Return where the entries that row i has to read end: those of an undirected graph with j > i count elsewhere."""
    while not directed and stop > start and np.int64(indices[stop - 1]) > i:
        stop -= 1
    return stop


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
    """Add the rows' part of ``x_c' (diag(left) A diag(right) + diag(diag)) x_c`` to ``out[block, c]``.

    Of an undirected graph only the entries j <= i are read: the pair (i, j) counts for both directions.
    """
    total = np.empty((1, x.shape[1]), np.float64)
    for i in range(rows[0], rows[1]):
        stop = _seen(i, indptr[i], indptr[i + 1], indices, directed)
        gather(total, i, indptr[i], stop, indices, weights, x, left, right, directed)
        for c in range(x.shape[1]):
            own = np.float64(x[i, c])
            out[block, c] += own * (total[0, c] + diag[i] * own)


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
    """Do what ``quadratic`` does for a CSR signal: row i is spread out once, then met by each neighbour's entries."""
    own = np.zeros(out.shape[1])
    for i in range(rows[0], rows[1]):
        if x_indptr[i] == x_indptr[i + 1]:
            continue
        for q in range(x_indptr[i], x_indptr[i + 1]):
            own[x_indices[q]] += x_data[q]
        for q in range(x_indptr[i], x_indptr[i + 1]):
            out[block, x_indices[q]] += diag[i] * x_data[q] * own[x_indices[q]]
        for p in range(indptr[i], _seen(i, indptr[i], indptr[i + 1], indices, directed)):
            j = indices[p]
            factor = pair_factor(i, j, p, weights, left, right, directed)
            for q in range(x_indptr[j], x_indptr[j + 1]):
                out[block, x_indices[q]] += factor * x_data[q] * own[x_indices[q]]
        for q in range(x_indptr[i], x_indptr[i + 1]):
            own[x_indices[q]] = 0
