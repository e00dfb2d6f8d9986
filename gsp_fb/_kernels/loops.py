"""The compiled loops of products, quadratic forms, single-signal Chebyshev steps and label propagation.

Each loop processes the rows ``first <= i < last`` of ``csr``, the two index arrays, so that threads work on disjoint
rows. ``weights`` is None for an unweighted graph: numba compiles that case separately, and no weight is read. A single
signal that is read in tiles comes with the ``sums`` of its rows, see ``tiled_sums``.
"""

# ruff: noqa: PLR0917  # numba functions take plain arrays as separate arguments, not objects that hold them

from __future__ import annotations

from typing import Any

import numpy as np

from .compiling import compiled, in_parts, inlined, row_loop
from .gather import gather_1d, gather_part
from .simd import fma, load_vector, store, zeros

__all__ = ["bank_step_1d", "label_propagation_rows", "product_1d", "product_2d", "quadratic", "sparse_quadratic"]


@row_loop
def product_1d(
    first: int, last: int, csr: Any, weights: Any, x: Any, scaled: Any, left: Any, diag: Any, out: Any, sums: Any
) -> None:
    """Set rows of ``out`` to ``left * (A @ scaled) + diag * x`` for a single signal."""
    indptr, indices = csr
    kind = x.dtype.type
    # Two loops: a choice inside the loop would cost a quarter of it.
    if len(sums):
        for i in range(first, last):
            out[i] = kind(left[i]) * sums[i - first] + kind(diag[i]) * x[i]
    else:
        for i in range(first, last):
            total = gather_1d(indptr[i], indptr[i + 1], indices, weights, scaled, None)
            out[i] = kind(left[i]) * total + kind(diag[i]) * x[i]


@inlined
def _set_part(i: Any, c: Any, width: int, weights: Any, right: Any, arguments: Any) -> None:
    (indptr, indices), x, left, diag, out = arguments
    sums = gather_part(indptr[i], indptr[i + 1], indices, weights, x, right, out, c, width)
    result = fma(zeros(x, width), x.dtype.type(left[i]), sums)
    store(fma(result, x.dtype.type(diag[i]), load_vector(x, i, c, width)), out, i, c)


_set_row = in_parts(_set_part)


@row_loop
def product_2d(
    first: int, last: int, csr: Any, weights: Any, x: Any, left: Any, right: Any, diag: Any, out: Any
) -> None:
    """Set rows of ``out`` to ``left * (A @ (right * x)) + diag * x`` for a block of signals."""
    for i in range(first, last):
        _set_row(i, x.shape[1], weights, right, (csr, x, left, diag, out))


@inlined
def _add_part(i: Any, c: Any, width: int, weights: Any, right: Any, arguments: Any) -> None:
    (indptr, indices), x, left, diag, out, block = arguments
    sums = gather_part(indptr[i], indptr[i + 1], indices, weights, x, right, out, c, width)
    own = fma(zeros(out, width), 1.0, load_vector(x, i, c, width))
    product = fma(fma(zeros(out, width), left[i], sums), diag[i], own)
    store(fma(load_vector(out, block, c, width), own, product), out, block, c)


_add_row = in_parts(_add_part)


@row_loop
def quadratic(
    block: int, rows: Any, csr: Any, weights: Any, x: Any, left: Any, right: Any, diag: Any, out: Any
) -> None:
    """Add the contribution of the rows to ``x_c' (diag(left) A diag(right) + diag(diag)) x_c`` to ``out[block, c]``.

    The product is not stored. Each block of rows has its own row of ``out``, in double precision, so that the sums do
    not depend on the assignment of blocks to threads.
    """
    for i in range(rows[0], rows[1]):
        _add_row(i, x.shape[1], weights, right, (csr, x, left, diag, out, block))


@compiled
def sparse_quadratic(
    block: int, rows: Any, csr: Any, weights: Any, directed: bool, signal: Any, operator: Any, out: Any
) -> None:
    """Do what ``quadratic`` does for a CSR signal: row i is made dense and multiplied with its neighbours.

    In an undirected graph only the entries j <= i are read: the pair (i, j) counts for both directions.
    """
    (indptr, indices), (left, right, diag) = csr, operator
    x_indptr, x_indices, x_data = signal
    own, sums = np.zeros(out.shape[1]), out[block]
    for i in range(rows[0], rows[1]):
        if x_indptr[i] == x_indptr[i + 1]:
            continue
        for q in range(x_indptr[i], x_indptr[i + 1]):
            own[x_indices[q]] += x_data[q]
        for q in range(x_indptr[i], x_indptr[i + 1]):
            sums[x_indices[q]] += diag[i] * x_data[q] * own[x_indices[q]]
        for p in range(indptr[i], indptr[i + 1]):
            j = np.int64(indices[p])
            if j > i and not directed:
                break  # counted in row j
            factor = left[i] * right[j]
            if j < i and not directed:
                factor += left[j] * right[i]
            if weights is not None:
                factor *= weights[p]
            for q in range(x_indptr[j], x_indptr[j + 1]):
                sums[x_indices[q]] += factor * x_data[q] * own[x_indices[q]]
        for q in range(x_indptr[i], x_indptr[i + 1]):
            own[x_indices[q]] = 0


@row_loop
def bank_step_1d(
    first: int, last: int, csr: Any, weights: Any, x: Any, right: Any, sums: Any, vectors: Any, step: Any, out: Any
) -> None:
    """Compute ``packed.bank_step`` for a single signal."""
    (indptr, indices), (scale, terms) = csr, step
    left, diag, previous, share = vectors
    kind = x.dtype.type
    twice, once = kind(scale), kind(scale - 1)
    for i in range(first, last):
        total = sums[i - first] if len(sums) else gather_1d(indptr[i], indptr[i + 1], indices, weights, x, right)
        new = twice * (kind(left[i]) * total + kind(diag[i]) * x[i]) - once * previous[i]
        for f in range(terms.shape[1]):
            sum_of_three = terms[0, f] * previous[i] + terms[1, f] * x[i] + terms[2, f] * new
            out[i, f] += kind(share[i]) * sum_of_three
        previous[i] = new


@compiled
def label_propagation_rows(first: int, last: int, csr: Any, weights: Any, labels: Any, out: Any) -> None:
    """Set ``out[i]`` to the label of largest weight among the neighbours of i; ties: own label, then the smallest."""
    indptr, indices = csr
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
