"""The compiled loops of :mod:`.fused_attention`; importing them needs numba.

Each works on the rows ``first <= i < last`` of a CSR structure, or of its transpose, so that threads can share them.
Features have shape (n, channels * heads, parts, LANES): the columns of a head are filled up with zeros to whole parts.
A part of a row's result then stays in registers while all its neighbours are added.
"""

# ruff: noqa: PLR0917  # compiled code takes plain arrays, one argument each; objects that hold them it does not know

from __future__ import annotations

from typing import Any

import numpy as np

from ..._kernels.loops import compiled, inlined

__all__ = ["LANES", "aggregate", "gradient_by_column", "gradient_by_row"]

LANES = 8


@inlined
def _set_part(
    out: Any, indices: Any, places: Any, weights: Any, k: int, x: Any, s: int, q: int, start: int, stop: int
) -> None:
    """Set ``out`` to the weighted sum of a row's neighbours, part q of block s; weight p stands at ``places[p]``."""
    zero = x.dtype.type(0)
    a, b, c, d, e, f, g, h = zero, zero, zero, zero, zero, zero, zero, zero
    for p in range(start, stop):
        w = weights[p if places is None else places[p], k]
        part = x[indices[p], s, q]
        a += w * part[0]
        b += w * part[1]
        c += w * part[2]
        d += w * part[3]
        e += w * part[4]
        f += w * part[5]
        g += w * part[6]
        h += w * part[7]
    out[0], out[1], out[2], out[3], out[4], out[5], out[6], out[7] = a, b, c, d, e, f, g, h


@inlined
def _set_row(
    i: int, out: Any, indices: Any, places: Any, weights: Any, n_heads: int, x: Any, start: int, stop: int
) -> None:
    for s in range(x.shape[1]):
        for q in range(x.shape[2]):
            _set_part(out[i, s, q], indices, places, weights, s % n_heads, x, s, q, start, stop)


@inlined
def _dot(one: Any, other: Any) -> Any:
    """Return the inner product of two parts, added in the order in which vectors are halved."""
    a, b, c, d = one[0] * other[0], one[1] * other[1], one[2] * other[2], one[3] * other[3]
    e, f, g, h = one[4] * other[4], one[5] * other[5], one[6] * other[6], one[7] * other[7]
    return ((a + e) + (c + g)) + ((b + f) + (d + h))


@inlined
def _leaky(score: Any, slope: Any) -> Any:
    return score if score > 0 else slope * score


@inlined
def _set_softmax(
    i: int, start: int, stop: int, indices: Any, receiving: Any, sending: Any, slope: Any, weights: Any, top: Any
) -> None:
    """Set the weights of a row for every head: ``exp(score) / sum``, shifted by the greatest score, which cancels."""
    n_heads = receiving.shape[1]
    top[:] = -np.inf
    for p in range(start, stop):
        j = indices[p]
        for k in range(n_heads):
            score = _leaky(receiving[i, k] + sending[j, k], slope)
            weights[p, k] = score
            top[k] = max(top[k], score)
    for k in range(n_heads):
        total = weights.dtype.type(0)
        for p in range(start, stop):
            weights[p, k] = np.exp(weights[p, k] - top[k])
            total += weights[p, k]
        share = 1 / total
        for p in range(start, stop):
            weights[p, k] *= share


@compiled
def aggregate(
    first: int,
    last: int,
    indptr: Any,
    indices: Any,
    receiving: Any,
    sending: Any,
    slope: Any,
    mask: Any,
    x: Any,
    weights: Any,
    dropped: Any,
    out: Any,
) -> None:
    """Set the softmax ``weights`` of the entries, ``dropped`` to them times ``mask`` (if there is one), and ``out``."""
    n_heads = receiving.shape[1]
    top = np.empty(n_heads, weights.dtype)
    for i in range(first, last):
        start, stop = indptr[i], indptr[i + 1]
        _set_softmax(i, start, stop, indices, receiving, sending, slope, weights, top)
        if mask is not None:
            for p in range(start, stop):
                for k in range(n_heads):
                    dropped[p, k] = weights[p, k] * mask[p, k]
        _set_row(i, out, indices, None, dropped, n_heads, x, start, stop)


@inlined
def _set_slopes(
    i: int, start: int, stop: int, indices: Any, grad: Any, x: Any, dropped: Any, of_scores: Any, inner: Any
) -> None:
    """Set ``of_scores`` to the weights times their gradients, and ``inner`` to the sums over the row."""
    n_heads = inner.size
    inner[:] = 0
    for p in range(start, stop):
        j = indices[p]
        for k in range(n_heads):
            of_scores[p, k] = 0
        for s in range(x.shape[1]):
            for q in range(x.shape[2]):
                of_scores[p, s % n_heads] += _dot(grad[i, s, q], x[j, s, q])
        for k in range(n_heads):
            of_scores[p, k] *= dropped[p, k]
            inner[k] += of_scores[p, k]


@compiled
def gradient_by_row(
    first: int,
    last: int,
    indptr: Any,
    indices: Any,
    receiving: Any,
    sending: Any,
    slope: Any,
    grad: Any,
    x: Any,
    weights: Any,
    dropped: Any,
    of_scores: Any,
    of_receiving: Any,
) -> None:
    """Set the gradients of the scores, before the leaky ReLU, and of their receiving shares."""
    n_heads = receiving.shape[1]
    inner = np.empty(n_heads, weights.dtype)
    for i in range(first, last):
        start, stop = indptr[i], indptr[i + 1]
        _set_slopes(i, start, stop, indices, grad, x, dropped, of_scores, inner)
        of_receiving[i] = 0
        for p in range(start, stop):
            j = indices[p]
            for k in range(n_heads):
                value = of_scores[p, k] - weights[p, k] * inner[k]
                value = value if receiving[i, k] + sending[j, k] > 0 else slope * value
                of_scores[p, k] = value
                of_receiving[i, k] += value


@compiled
def gradient_by_column(
    first: int,
    last: int,
    t_indptr: Any,
    t_indices: Any,
    order: Any,
    grad: Any,
    dropped: Any,
    of_scores: Any,
    of_sending: Any,
    of_x: Any,
) -> None:
    """Set the gradients of the sending shares and of the features; ``order`` is where the transpose's entries are."""
    n_heads = of_scores.shape[1]
    for j in range(first, last):
        start, stop = t_indptr[j], t_indptr[j + 1]
        of_sending[j] = 0
        for t in range(start, stop):
            for k in range(n_heads):
                of_sending[j, k] += of_scores[order[t], k]
        _set_row(j, of_x, t_indices, order, dropped, n_heads, grad, start, stop)
