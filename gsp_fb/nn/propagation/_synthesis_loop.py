"""The compiled loops of :func:`.synthesis.rectified`; importing them needs numba.

Rows are those of all copies, ``z`` (rows, 2 f) with the low channel's columns before the high one's, and ``alphas``
(copies, 2). What is not a number passes the rectifier, or a training that diverges would go unseen.
"""

# ruff: noqa: PLR0917  # compiled code takes plain arrays, one argument each; objects that hold them it does not know

from __future__ import annotations

from typing import Any

from ..._kernels.compiling import compiled, inlined

__all__ = ["gradients", "halves"]


@inlined
def _kept(value: Any, sign: Any, zero: Any) -> Any:
    """Return ``value`` where ``sign`` is positive or not a number; ``zero`` in their precision."""
    return zero if sign <= zero else value


@compiled
def halves(first: int, last: int, n_nodes: int, z: Any, alphas: Any, share: Any, own: Any, gap: Any) -> None:
    """Set ``own`` to ``share low + high`` and ``gap`` to ``low - high``, the rectified and weighted halves of ``z``."""
    half, zero = gap.shape[1], gap.dtype.type(0)
    for i in range(first, last):
        a_low, a_high, row, to, apart = alphas[i // n_nodes, 0], alphas[i // n_nodes, 1], z[i], own[i], gap[i]
        for c in range(half):
            low, high = a_low * _kept(row[c], row[c], zero), a_high * _kept(row[half + c], row[half + c], zero)
            to[c], apart[c] = share * low + high, low - high


@compiled
def gradients(
    first: int, last: int, n_nodes: int, z: Any, alphas: Any, share: Any, grad: Any, spread: Any, out: Any, sums: Any
) -> None:
    """Set ``out`` to the gradient of ``z`` and add those of the alphas to ``sums``; ``spread`` is ``P' grad``.

    Sums (copies, 2, f) are by column: a single one would add one number at a time.
    """
    half, zero = grad.shape[1], grad.dtype.type(0)
    for i in range(first, last):
        low, high, row, to = alphas[i // n_nodes, 0], alphas[i // n_nodes, 1], z[i], out[i]
        given, filtered, of_low, of_high = grad[i], spread[i], sums[i // n_nodes, 0], sums[i // n_nodes, 1]
        for c in range(half):
            by_low = filtered[c] + share * given[c]
            of_low[c] += by_low * _kept(row[c], row[c], zero)
            to[c] = _kept(low * by_low, row[c], zero)
        for c in range(half):
            by_high = given[c] - filtered[c]
            of_high[c] += by_high * _kept(row[half + c], row[half + c], zero)
            to[half + c] = _kept(high * by_high, row[half + c], zero)
