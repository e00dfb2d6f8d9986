"""The compiled loops of products, single-signal Chebyshev steps, label propagation and row copies.

Each loop processes the rows ``first <= i < last`` of a CSR structure, so that threads work on disjoint rows. It
allocates one accumulator row, or two numbers per row where it reads a signal in tiles. ``weights`` is None for an
unweighted graph: numba compiles that case separately, and no weight is read.
"""

# ruff: noqa: PLR0917  # numba functions take plain arrays as separate arguments, not objects that hold them

from __future__ import annotations

from typing import Any

import numpy as np

from .compiling import compiled, inlined, row_loop
from .gather import CORE_BYTES, gather_1d, gather_1d_far, gather_2d, tiled_sums
from .simd import fma, load_vector, prefetch, store, zeros

__all__ = ["bank_step_1d", "copy_rows", "label_propagation_rows", "product_1d", "product_2d"]

# Prefetch distance of row copies, in rows.
PREFETCH_ROWS = 8


@compiled
def product_1d(
    first: int,
    last: int,
    indptr: Any,
    indices: Any,
    weights: Any,
    x: Any,
    scaled: Any,
    left: Any,
    diag: Any,
    out: Any,
    width: int,
) -> None:
    """Set rows of ``out`` to ``left * (A @ scaled) + diag * x`` for a single signal, read in tiles of ``width``."""
    sums = tiled_sums(first, last, indptr, indices, weights, scaled, None, width)
    _product_rows_1d(first, last, indptr, indices, weights, x, scaled, left, diag, out, sums)


@row_loop
def _product_rows_1d(
    first: int,
    last: int,
    indptr: Any,
    indices: Any,
    weights: Any,
    x: Any,
    scaled: Any,
    left: Any,
    diag: Any,
    out: Any,
    sums: Any,
) -> None:
    kind = x.dtype.type
    # Three loops: a choice inside the loop would cost a quarter of it.
    if len(sums):
        for i in range(first, last):
            out[i] = kind(left[i]) * sums[i - first] + kind(diag[i]) * x[i]
    elif scaled.size * scaled.itemsize > CORE_BYTES:
        for i in range(first, last):
            total = gather_1d_far(indices, weights, scaled, None, indptr[i], indptr[i + 1])
            out[i] = kind(left[i]) * total + kind(diag[i]) * x[i]
    else:
        for i in range(first, last):
            total = gather_1d(indices, weights, scaled, None, indptr[i], indptr[i + 1])
            out[i] = kind(left[i]) * total + kind(diag[i]) * x[i]


@inlined
def _write_part(i: Any, total: Any, x: Any, left: Any, diag: Any, out: Any, c: Any, width: int) -> None:
    """Set ``width`` columns of a row of ``out`` to ``left * total + diag * x``."""
    result = fma(zeros(x, width), left, load_vector(total, 0, c, width))
    store(fma(result, diag, load_vector(x, i, c, width)), out, i, c)


@compiled
def product_2d(
    first: int, last: int, indptr: Any, indices: Any, weights: Any, x: Any, left: Any, right: Any, diag: Any, out: Any
) -> None:
    """Set rows of ``out`` to ``left * (A @ (right * x)) + diag * x`` for a block of signals."""
    total = np.empty((1, x.shape[1]), x.dtype)
    _product_rows_2d(first, last, indptr, indices, weights, x, left, right, diag, out, total)


@row_loop
def _product_rows_2d(
    first: int,
    last: int,
    indptr: Any,
    indices: Any,
    weights: Any,
    x: Any,
    left: Any,
    right: Any,
    diag: Any,
    out: Any,
    total: Any,
) -> None:
    n_columns = x.shape[1]
    for i in range(first, last):
        gather_2d(total, i, indptr[i], indptr[i + 1], indices, weights, x, None, right, True)
        own_left, own_diag = x.dtype.type(left[i]), x.dtype.type(diag[i])
        c = 0
        while c + 16 <= n_columns:
            _write_part(i, total, x, own_left, own_diag, out, c, 16)
            c += 16
        while c < n_columns:
            _write_part(i, total, x, own_left, own_diag, out, c, 1)
            c += 1


@compiled
def bank_step_1d(
    first: int,
    last: int,
    indptr: Any,
    indices: Any,
    weights: Any,
    current: Any,
    left: Any,
    right: Any,
    diag: Any,
    previous: Any,
    scale: float,
    terms: Any,
    share: Any,
    out: Any,
    start: int,
    stride: int,
    width: int,
) -> None:
    """Compute ``packed.bank_step`` for a single signal, read in tiles of ``width`` nodes."""
    sums = tiled_sums(first, last, indptr, indices, weights, current, right, width)
    csr, vectors = (indptr, indices), (current, left, diag, previous, share)
    _step_rows_1d((first, last), csr, weights, right, vectors, scale, terms, out, (start, stride), sums)


@row_loop
def _step_rows_1d(
    rows: Any,
    csr: Any,
    weights: Any,
    right: Any,
    vectors: Any,
    scale: float,
    terms: Any,
    out: Any,
    columns: Any,
    sums: Any,
) -> None:
    (first, last), (indptr, indices), (start, stride) = rows, csr, columns
    current, left, diag, previous, share = vectors
    kind = current.dtype.type
    twice, once = kind(scale), kind(scale - 1)
    for i in range(first, last):
        total = sums[i - first] if len(sums) else gather_1d(indices, weights, current, right, indptr[i], indptr[i + 1])
        new = twice * (kind(left[i]) * total + kind(diag[i]) * current[i]) - once * previous[i]
        for f in range(terms.shape[1]):
            sum_of_three = terms[0, f] * previous[i] + terms[1, f] * current[i] + terms[2, f] * new
            out[i, start + f * stride] += kind(share[i]) * sum_of_three
        previous[i] = new


@compiled
def label_propagation_rows(
    first: int, last: int, indptr: Any, indices: Any, weights: Any, labels: Any, out: Any
) -> None:
    """Set ``out[i]`` to the label of largest weight among the neighbours of i; ties: own label, then the smallest."""
    weight_of = np.zeros(len(labels))
    for i in range(first, last):
        for p in range(indptr[i], indptr[i + 1]):
            weight_of[labels[indices[p]]] += 1.0 if weights is None else weights[p]
        best = labels[i]
        for p in range(indptr[i], indptr[i + 1]):
            label = labels[indices[p]]
            gain = weight_of[label] - weight_of[best]
            if gain > 0 or (gain == 0 and label < best and best != labels[i]):
                best = label
        out[i] = best
        for p in range(indptr[i], indptr[i + 1]):
            weight_of[labels[indices[p]]] = 0


@row_loop
def copy_rows(first: int, last: int, rows: Any, order: Any, out: Any) -> None:
    """Set row i of ``out`` to row ``order[i]`` of ``rows``."""
    n_columns = rows.shape[1]
    for i in range(first, last):
        ahead = order[min(i + PREFETCH_ROWS, len(order) - 1)]
        c = 0
        while c < n_columns:
            # Prefetching past the end is harmless.
            prefetch(rows, ahead, c, 16)
            c += 16
        c = 0
        while c + 16 <= n_columns:
            store(load_vector(rows, order[i], c, 16), out, i, c)
            c += 16
        while c < n_columns:
            out[i, c] = rows[order[i], c]
            c += 1
