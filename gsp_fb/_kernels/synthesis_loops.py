"""The compiled loops of :func:`.synthesis.rectified`; importing them needs numba.

Rows are those of all copies, ``z`` (rows, 2 f) with the low channel's columns before those of the second one,
``alphas`` (copies, 2) and ``bias`` (copies, f). With a ``slope`` of -1 the second channel is high, with 0 the identity.
What is not a number passes the rectifier, or a training that diverges would go unseen. LANES columns at a time go
through vector registers: the compiler does not prove six arrays apart, and left alone takes single numbers.
"""

# ruff: noqa: PLR0917  # compiled code takes plain arrays, one argument each; objects that hold them it does not know

from __future__ import annotations

from typing import Any

from .compiling import compiled, inlined
from .simd import fma, load_vector, relu_mask, store, zeros

__all__ = ["gradients", "weighted_channels"]

LANES = 8


@inlined
def _kept(value: Any, sign: Any, zero: Any) -> Any:
    """Return ``value`` where ``sign`` is positive or not a number; ``zero`` in their precision."""
    return zero if sign <= zero else value


@compiled
def weighted_channels(
    first: int, last: int, n_nodes: int, z: Any, alphas: Any, bias: Any, share: Any, slope: Any, own: Any, filtered: Any
) -> None:
    """Set ``own`` to ``bias + share low + second`` and ``filtered`` to ``low + slope second`` of weighted halves."""
    half, zero, one = own.shape[1], own.dtype.type(0), own.dtype.type(1)
    whole = half // LANES * LANES
    for i in range(first, last):
        copy = i // n_nodes
        a_low, a_second = alphas[copy, 0], alphas[copy, 1]
        for c in range(0, whole, LANES):
            of_low, of_second = load_vector(z, i, c, LANES), load_vector(z, i, half + c, LANES)
            low = fma(zeros(z, LANES), a_low, relu_mask(of_low, of_low))
            second = fma(zeros(z, LANES), a_second, relu_mask(of_second, of_second))
            store(fma(fma(load_vector(bias, copy, c, LANES), one, second), share, low), own, i, c)
            store(fma(low, slope, second), filtered, i, c)
        for c in range(whole, half):
            low = a_low * _kept(z[i, c], z[i, c], zero)
            second = a_second * _kept(z[i, half + c], z[i, half + c], zero)
            own[i, c], filtered[i, c] = bias[copy, c] + second + share * low, low + slope * second


@compiled
def gradients(
    first: int,
    last: int,
    n_nodes: int,
    z: Any,
    alphas: Any,
    share: Any,
    slope: Any,
    grad: Any,
    spread: Any,
    out: Any,
    sums: Any,
) -> None:
    """Set ``out`` to the gradient of ``z``, add those of alphas and bias to ``sums``; ``spread`` is ``P' grad``.

    Sums (copies * 3, f) are by column: a single one would add one number at a time.
    """
    half, zero, one = grad.shape[1], grad.dtype.type(0), grad.dtype.type(1)
    whole = half // LANES * LANES
    for i in range(first, last):
        copy = i // n_nodes
        a_low, a_second = alphas[copy, 0], alphas[copy, 1]
        for c in range(0, whole, LANES):
            given, filtered = load_vector(grad, i, c, LANES), load_vector(spread, i, c, LANES)
            of_low, of_second = load_vector(z, i, c, LANES), load_vector(z, i, half + c, LANES)
            by_low, by_second = fma(filtered, share, given), fma(given, slope, filtered)
            low, second = load_vector(sums, 3 * copy, c, LANES), load_vector(sums, 3 * copy + 1, c, LANES)
            store(fma(low, by_low, relu_mask(of_low, of_low)), sums, 3 * copy, c)
            store(fma(second, by_second, relu_mask(of_second, of_second)), sums, 3 * copy + 1, c)
            store(fma(load_vector(sums, 3 * copy + 2, c, LANES), one, given), sums, 3 * copy + 2, c)
            store(relu_mask(fma(zeros(z, LANES), a_low, by_low), of_low), out, i, c)
            store(relu_mask(fma(zeros(z, LANES), a_second, by_second), of_second), out, i, half + c)
        for c in range(whole, half):
            by_low, by_second = spread[i, c] + share * grad[i, c], grad[i, c] + slope * spread[i, c]
            sums[3 * copy, c] += by_low * _kept(z[i, c], z[i, c], zero)
            sums[3 * copy + 1, c] += by_second * _kept(z[i, half + c], z[i, half + c], zero)
            sums[3 * copy + 2, c] += grad[i, c]
            out[i, c] = _kept(a_low * by_low, z[i, c], zero)
            out[i, half + c] = _kept(a_second * by_second, z[i, half + c], zero)
