"""Multithreaded row permutation of an array: the cost of entering and leaving a reordered graph."""

from __future__ import annotations

from itertools import pairwise
from typing import Any

import numpy as np

from ..backend import IntArray, freeze
from .engine import is_chosen
from .threads import THREADS_FROM, each_block, n_threads

__all__ = ["permute_rows"]

# Cost of copying one number of a randomly accessed row, in multiplications.
WORK = 8
BLOCKS = 16
WORDS = (8, 4, 2, 1)


def permute_rows(x: Any, order: IntArray) -> Any:
    """Return ``x[order]`` of a numpy array with the memory order of ``x``; ``order`` has entries in 0..len(x)-1."""
    packed, axes = _packed(x)
    can = packed is not None and packed.size > 0
    if not is_chosen((lambda: WORK * packed.size) if can else None):
        return x[order]
    taken = np.empty((len(order), packed.shape[1]), dtype=packed.dtype)
    _copy(packed, order, taken)
    shape = [len(order), *(x.shape[axis] for axis in axes[1:])]
    return taken.view(x.dtype).reshape(shape).transpose(np.argsort(axes))


def _packed(x: Any) -> tuple[Any, Any]:
    """Return the rows as unsigned words, without a copy, and the axes in memory order; None if they are not contiguous.

    Words of four sizes represent every dtype, so the loop is compiled for few types.
    """
    axes = sorted(range(x.ndim), key=lambda axis: -x.strides[axis])
    if x.dtype.hasobject or not axes or axes[0] != 0 or not x.transpose(axes).flags.c_contiguous:
        return None, axes
    n_bytes = x.dtype.itemsize * int(np.prod(x.shape[1:]))
    word = next(size for size in WORDS if n_bytes % size == 0)
    return x.transpose(axes).reshape(-1).view(f"u{word}").reshape(len(x), n_bytes // word), axes


def _copy(rows: Any, order: IntArray, out: Any) -> None:
    from .loops import copy_rows

    cuts = np.linspace(0, len(order), BLOCKS + 1).astype(int).tolist()
    given, places = freeze(rows.view()), freeze(order.astype(np.int64, copy=False).view())
    each_block(
        lambda first, last: copy_rows(first, last, given, places.view(np.uint64), out),
        list(pairwise(cuts)),
        n_threads() if WORK * out.size >= THREADS_FROM else 1,
    )
