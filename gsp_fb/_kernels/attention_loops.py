"""The compiled loops of :mod:`.attention`; importing them needs numba.

Each works on the rows ``first <= i < last`` of a CSR structure, or of its transpose, so that threads can share them.
Features have shape (n, channels * heads * size), the columns of a head filled up with zeros to whole parts of LANES.
A part of a row's result then stays in registers while all its neighbours are added.
"""

# ruff: noqa: PLR0917  # compiled code takes plain arrays, one argument each; objects that hold them it does not know

from __future__ import annotations

from typing import Any

import numpy as np

from .compiling import compiled, inlined
from .simd import fma, load_vector, reduce_add, store, zeros

__all__ = ["LANES", "aggregate", "gradient_by_column", "gradient_by_row"]

LANES = 8


@inlined
def _set_row(
    out: Any, i: int, indices: Any, places: Any, weights: Any, size: int, x: Any, start: int, stop: int
) -> None:
    """Set a row to the weighted sum of its neighbours, head by head; weight p stands at ``places[p]``."""
    for column in range(0, x.shape[1], LANES):
        k = column // size % weights.shape[1]
        part = zeros(x, LANES)
        for p in range(start, stop):
            weight = weights[p if places is None else places[p], k]
            part = fma(part, weight, load_vector(x, indices[p], column, LANES))
        store(part, out, i, column)


@inlined
def _set_scores(first: int, last: int, scored: Any, weights: Any) -> None:
    """Set ``weights`` to the scores less the greatest of the row, which cancels in the softmax."""
    indptr, indices, receiving, sending, slopes = scored
    n_heads = receiving.shape[1]
    top = np.empty(n_heads, weights.dtype)
    for i in range(first, last):
        top[:] = -np.inf
        for p in range(indptr[i], indptr[i + 1]):
            j = indices[p]
            for k in range(n_heads):
                score = receiving[i, k] + sending[j, k]
                score *= slopes[np.uint8(score > 0)]
                weights[p, k] = score
                top[k] = max(top[k], score)
        for p in range(indptr[i], indptr[i + 1]):
            for k in range(n_heads):
                weights[p, k] -= top[k]


@inlined
def _exponential(x: Any) -> Any:
    """Return e^x for x <= 0 in single precision, to its last bit but one: Cephes' method, in steps that make vectors.

    The library's function is called for one number at a time. What is not a number stays so.
    """
    f = np.float32
    x = f(-87) if x < f(-87) else x  # next to 1, which is in every row, nothing is left of it
    power = np.floor(x * f(1.44269504) + f(0.5))
    x = x - power * f(0.693359375) - power * f(-2.12194440e-4)
    y = f(1.9875691500e-4)
    y = y * x + f(1.3981999507e-3)
    y = y * x + f(8.3334519073e-3)
    y = y * x + f(4.1665795894e-2)
    y = y * x + f(1.6666665459e-1)
    y = y * x + f(5.0000001201e-1)
    y = y * x * x + x + f(1)
    exponent = np.int32(np.int32(power) + np.int32(127))
    return y * np.int32(exponent << np.int32(23)).view(np.float32)


@inlined
def _exponentiate(numbers: Any) -> None:
    if numbers.itemsize == 4:
        for t in range(numbers.size):
            numbers[t] = _exponential(np.float32(numbers[t]))
    else:
        for t in range(numbers.size):
            numbers[t] = np.exp(numbers[t])


@inlined
def _normalize(start: int, stop: int, mask: Any, weights: Any, dropped: Any, share: Any) -> None:
    """Divide the weights of a row by their sum, and set ``dropped`` to them times ``mask``, if there is one."""
    share[:] = 0
    for p in range(start, stop):
        for k in range(share.size):
            share[k] += weights[p, k]
    for k in range(share.size):
        share[k] = 1 / share[k]
    for p in range(start, stop):
        for k in range(share.size):
            weights[p, k] *= share[k]
            if mask is not None:
                dropped[p, k] = weights[p, k] * mask[p, k]


@compiled
def aggregate(
    first: int, last: int, scored: Any, size: int, mask: Any, x: Any, weights: Any, dropped: Any, out: Any
) -> None:
    """Set the softmax ``weights`` of the entries, ``dropped`` to them times ``mask`` (if there is one), and ``out``."""
    indptr, indices, receiving, _, _ = scored
    share = np.empty(receiving.shape[1], weights.dtype)
    _set_scores(first, last, scored, weights)
    _exponentiate(weights[indptr[first] : indptr[last]].reshape(-1))
    for i in range(first, last):
        start, stop = indptr[i], indptr[i + 1]
        _normalize(start, stop, mask, weights, dropped, share)
        _set_row(out, i, indices, None, dropped, size, x, start, stop)


@inlined
def _set_slopes(
    i: int, start: int, stop: int, indices: Any, size: int, grad: Any, x: Any, dropped: Any, of_scores: Any, inner: Any
) -> None:
    """Set ``of_scores`` to the weights times their gradients, and ``inner`` to the sums over the row."""
    inner[:] = 0
    of_scores[start:stop] = 0
    for column in range(0, x.shape[1], LANES):
        k = column // size % inner.size
        own = load_vector(grad, i, column, LANES)
        for p in range(start, stop):
            products = fma(zeros(x, LANES), own, load_vector(x, indices[p], column, LANES))
            of_scores[p, k] += reduce_add(products)
    for p in range(start, stop):
        for k in range(inner.size):
            of_scores[p, k] *= dropped[p, k]
            inner[k] += of_scores[p, k]


@compiled
def gradient_by_row(
    first: int, last: int, scored: Any, size: int, grad: Any, x: Any, weights: Any, dropped: Any, of: Any
) -> None:
    """Set the gradients of the scores, before the leaky ReLU, and of their receiving shares."""
    indptr, indices, receiving, sending, slopes = scored
    of_scores, of_receiving = of
    n_heads = receiving.shape[1]
    inner = np.empty(n_heads, weights.dtype)
    for i in range(first, last):
        start, stop = indptr[i], indptr[i + 1]
        _set_slopes(i, start, stop, indices, size, grad, x, dropped, of_scores, inner)
        of_receiving[i] = 0
        for p in range(start, stop):
            j = indices[p]
            for k in range(n_heads):
                value = of_scores[p, k] - weights[p, k] * inner[k]
                value *= slopes[np.uint8(receiving[i, k] + sending[j, k] > 0)]
                of_scores[p, k] = value
                of_receiving[i, k] += value


@compiled
def gradient_by_column(
    first: int, last: int, transposed: Any, size: int, grad: Any, dropped: Any, of_scores: Any, of: Any
) -> None:
    """Set the gradients of the sending shares and of the features; ``order`` is where the transpose's entries are."""
    t_indptr, t_indices, order = transposed
    of_sending, of_x = of
    n_heads = of_scores.shape[1]
    for j in range(first, last):
        start, stop = t_indptr[j], t_indptr[j + 1]
        of_sending[j] = 0
        for t in range(start, stop):
            for k in range(n_heads):
                of_sending[j, k] += of_scores[order[t], k]
        _set_row(of_x, j, t_indices, order, dropped, size, grad, start, stop)
