"""How many threads the engine uses, and how they share the rows of a graph.

Threads are started for one call and end with it: nothing outlives the call, so a fork, a thread of the caller's
own or the end of the interpreter finds no pool in an odd state.
"""

from __future__ import annotations

import os
from collections import deque
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from functools import cache
from itertools import pairwise
from typing import Any

import numpy as np

from .._arguments import check_count
from .._extras import has, require
from ..backend import IntArray

__all__ = ["THREADS", "THREADS_FROM", "each_block", "n_threads", "row_blocks", "set_threads"]

# The environment holds the setting, so that processes started later inherit it.
THREADS = "GSP_FB_THREADS"
# Enough blocks to even out rows of unequal cost between threads.
MOST_BLOCKS = 64
# Multiplications from which a second thread pays for being started.
THREADS_FROM = 4_000_000
# Multiplications of a block; calling a compiled loop costs as much as some thousand.
BLOCK_WORK = 100_000


def set_threads(n: int | None) -> None:
    """Set how many threads one product, bank or energy may use; None returns to the default.

    The default is the environment variable ``GSP_FB_THREADS``; without it, the CPUs this process may run on,
    or fewer where ``threadpoolctl`` (the ``fast`` extra) finds BLAS or OpenMP limited to fewer. Results do not
    depend on the setting, to the last bit.

    Parameters
    ----------
    n : int >= 1 or None
        Applies to the whole process and to processes it starts from now on.

    Examples
    --------
    >>> set_threads(1)
    >>> set_threads(None)
    """
    if n is None:
        os.environ.pop(THREADS, None)
    else:
        os.environ[THREADS] = str(check_count(n, "number of threads"))


def n_threads() -> int:
    """Return the number of threads the next call may use."""
    given = os.environ.get(THREADS)
    if given is not None:
        return check_count(int(given) if given.isdecimal() else given, THREADS)
    return min([_n_cpus(), *(library.num_threads or 1 for library in _libraries())])


def _n_cpus() -> int:
    # Only Linux tells the CPUs of this process apart from those of the machine.
    affinity = getattr(os, "sched_getaffinity", None)
    return len(affinity(0)) if affinity else os.cpu_count() or 1


@cache
def _libraries() -> tuple[Any, ...]:
    """Return threadpoolctl's handles of the BLAS and OpenMP libraries; reading one is cheap, finding them is not."""
    if not has("threadpoolctl"):
        return ()
    return tuple(require("threadpoolctl", "following thread limits").ThreadpoolController().lib_controllers)


def row_blocks(indptr: IntArray, work: int, *, most: int = MOST_BLOCKS) -> list[tuple[int, int]]:
    """Return consecutive row ranges with about as many entries each.

    How many there are follows from the multiplications to do, never from the threads: sums over blocks are then the
    same whoever computes them.

    Examples
    --------
    >>> row_blocks(np.array([0, 6, 7, 8, 9]), 2 * BLOCK_WORK)
    [(0, 1), (1, 4)]
    """
    n_rows = len(indptr) - 1
    n_blocks = max(1, min(work // BLOCK_WORK, most, MOST_BLOCKS))
    # Targets of the same integer type: searchsorted would convert the whole array for any other.
    targets = np.linspace(0, indptr[-1], n_blocks + 1)[1:-1].astype(indptr.dtype)
    cuts = np.searchsorted(indptr, targets)
    ends = np.unique(np.concatenate([[0], cuts, [n_rows]])).tolist()
    return list(pairwise(ends))


def each_block(work: Callable[..., None], blocks: list[Any], threads: int) -> None:
    """Call ``work(*block)`` once for each block, in the caller's thread and ``threads - 1`` others."""
    left = deque(blocks)
    helpers = min(threads, len(blocks)) - 1
    if helpers < 1:
        return _drain(work, left)
    with ThreadPoolExecutor(helpers) as pool:
        shares = [pool.submit(_drain, work, left) for _ in range(helpers)]
        _drain(work, left)
        for share in shares:
            share.result()
    return None


def _drain(work: Callable[..., None], left: deque[Any]) -> None:
    while True:
        try:
            block = left.popleft()
        except IndexError:
            return
        work(*block)
