"""The compiled loops of :mod:`gsp_fb.nn.synthesis`, over stacks of copies; importing them needs numba.

One copy after the other, so that what a copy needs stays in the cache.
"""

# ruff: noqa: PLR0917  # compiled code takes plain arrays, one argument each; objects that hold them it does not know

from __future__ import annotations

from typing import Any

import numpy as np

from .._kernels.compiling import compiled, in_parts, inlined
from .._kernels.simd import fma, load, relu_mask, store, zeros

__all__ = ["differences", "synthesis", "synthesis_gradient"]


@inlined
def _rectified(z: Any, i: int, column: int, width: int) -> Any:
    """Return ``width`` columns without what is negative; what is not a number stays, or diverging would go unseen."""
    part = load(z, i, column, width)
    return relu_mask(part, part)


@inlined
def _times(weight: Any, lanes: Any, like: Any, width: int) -> Any:
    return fma(zeros(like, width), weight, lanes)


@inlined
def _set_difference(column: int, width: int, arguments: Any) -> None:
    """Set a part of row i to ``a_low * low - a_high * high``."""
    z, i, a_low, a_high, difference = arguments
    high = _times(-a_high, _rectified(z, i, difference.shape[1] + column, width), z, width)
    store(fma(high, a_low, _rectified(z, i, column, width)), difference, i, column)


@inlined
def _set_mixed(column: int, width: int, arguments: Any) -> None:
    """Set a part of row i to ``a_low * low + a_high * high`` and the sum over its neighbours in ``row``."""
    z, i, a_low, a_high, row, values, difference, out = arguments
    high = _times(a_high, _rectified(z, i, out.shape[1] + column, width), z, width)
    sums = fma(high, a_low, _rectified(z, i, column, width))
    for p in range(row.size):
        sums = fma(sums, values[p], load(difference, row[p], column, width))
    store(sums, out, i, column)


_set_differences, _set_row = in_parts(_set_difference), in_parts(_set_mixed)


@compiled
def differences(first: int, last: int, z: Any, a_low: Any, a_high: Any, difference: Any) -> None:
    """Set rows of ``difference[k]`` to ``low - high``, the halves of ``z[k]`` rectified and weighted."""
    for k in range(len(z)):
        own, result = z[k], difference[k]
        for i in range(first, last):
            _set_differences(difference.shape[2], (own, i, a_low[k], a_high[k], result))


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
    difference: Any,
    out: Any,
) -> None:
    """Set rows of ``out[k]`` to ``share * low + high + P difference[k]``."""
    for k in range(len(z)):
        own, gap, mixed = z[k], difference[k], out[k]
        for i in range(first, last):
            start, stop = indptr[i], indptr[i + 1]
            row, factors = indices[start:stop], values[start:stop]
            _set_row(out.shape[2], (own, i, share * a_low[k], a_high[k], row, factors, gap, mixed))


@inlined
def _set_gradients(column: int, width: int, arguments: Any) -> None:
    """Set a part of row i of the gradient to both halves of ``z``, and add to those of the weights by column."""
    z, i, a_low, a_high, share, row, values, grad, z_grad, of_alphas = arguments
    half = grad.shape[1]
    given, spread = load(grad, i, column, width), zeros(grad, width)
    for p in range(row.size):
        spread = fma(spread, values[p], load(grad, row[p], column, width))
    low, high = fma(spread, share, given), fma(given, -of_alphas.dtype.type(1), spread)
    low = relu_mask(low, load(z, i, column, width))
    high = relu_mask(high, load(z, i, half + column, width))
    store(_times(a_low, low, grad, width), z_grad, i, column)
    store(_times(a_high, high, grad, width), z_grad, i, half + column)
    of_low, of_high = load(of_alphas, 0, column, width), load(of_alphas, 1, column, width)
    store(fma(of_low, low, _rectified(z, i, column, width)), of_alphas, 0, column)
    store(fma(of_high, high, _rectified(z, i, half + column, width)), of_alphas, 1, column)


_gradients = in_parts(_set_gradients)


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
    """Set rows of the gradients to the halves, add to those to the two weights; ``t_*`` is the transpose."""
    # Sums by column first: a single sum would add one number at a time.
    of_alphas = np.empty((2, grad.shape[2]), grad.dtype)
    for k in range(len(z)):
        of_alphas[:] = 0
        own, given, result = z[k], grad[k], z_grad[k]
        for i in range(first, last):
            start, stop = t_indptr[i], t_indptr[i + 1]
            row, factors = t_indices[start:stop], t_values[start:stop]
            _gradients(grad.shape[2], (own, i, a_low[k], a_high[k], share, row, factors, given, result, of_alphas))
        alpha_grad[k, 0], alpha_grad[k, 1] = of_alphas[0].sum(), of_alphas[1].sum()
