"""Number of threads of the engine, and the assignment of row blocks to threads."""

from __future__ import annotations

import _thread
import os
from collections import deque
from collections.abc import Callable
from functools import cache, partial
from itertools import pairwise
from typing import Any

import numpy as np

from .._arguments import check_count
from .._extras import has, require
from ..backend import IntArray
from .workers import submit

__all__ = ["THREADS", "THREADS_FROM", "each_block", "n_threads", "row_blocks", "set_threads"]

# The setting is an environment variable, so that child processes inherit it.
THREADS = "GSP_FB_THREADS"
# Enough blocks to balance rows of unequal cost between threads.
MAX_BLOCKS = 64
# Multiplications from which a second thread saves more than its start costs.
THREADS_FROM = 1_000_000
# Multiplications per block; the call of a compiled loop costs as much as some thousand.
BLOCK_WORK = 100_000


def set_threads(n: int | None) -> None:
    """Set the number of threads of products, banks and energies.

    Results do not depend on the setting, bit by bit.

    Parameters
    ----------
    n : int >= 1 or None
        Applies to this process and to processes that it starts from now on. None restores the default: the environment
        variable ``GSP_FB_THREADS``, else the number of CPUs available to the process, or fewer if ``threadpoolctl``
        (the ``fast`` extra) reports a lower limit of BLAS or OpenMP.

    Raises
    ------
    ParameterError
        ``n`` is not an integer >= 1.

    See Also
    --------
    FilterBank : Runs in this many threads.

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
    """Return the number of threads of the next call."""
    given = os.environ.get(THREADS)
    if given is not None:
        return check_count(int(given) if given.isdecimal() else given, THREADS)
    return min([_n_cpus(), *(library.num_threads or 1 for library in _libraries())])


def _n_cpus() -> int:
    # Only Linux distinguishes the CPUs of the process from those of the machine.
    affinity = getattr(os, "sched_getaffinity", None)
    return len(affinity(0)) if affinity else os.cpu_count() or 1


@cache
def _libraries() -> tuple[Any, ...]:
    """Return threadpoolctl's handles of BLAS and OpenMP; cached, because only finding them is slow."""
    if not has("threadpoolctl"):
        return ()
    return tuple(require("threadpoolctl", "following thread limits").ThreadpoolController().lib_controllers)


def row_blocks(indptr: IntArray, work: int, *, max_blocks: int = MAX_BLOCKS) -> list[tuple[int, int]]:
    """Return consecutive row ranges with approximately equal numbers of entries.

    Their number follows from the multiplications, never from the number of threads, so that sums over blocks are
    reproducible.
    """
    n_rows = len(indptr) - 1
    n_blocks = max(1, min(work // BLOCK_WORK, max_blocks, MAX_BLOCKS))
    if n_blocks == 1:
        return [(0, n_rows)] if n_rows else []
    # Targets of the same integer dtype: for any other searchsorted converts the whole array.
    targets = (np.arange(1, n_blocks) * (int(indptr[-1]) / n_blocks)).astype(indptr.dtype)
    return list(pairwise(sorted({0, *indptr.searchsorted(targets).tolist(), n_rows})))


def each_block(work: Callable[..., None], blocks: list[Any], threads: int) -> None:
    """Call ``work(*block)`` once per block, in the calling thread and ``threads - 1`` others.

    The first error of any thread is raised once all of them have ended. A thread that the system has not run yet when
    all blocks are done is not waited for: it finds no block. Where other threads occupy the CPUs, such as those of BLAS
    or OpenMP, which wait up to 0.2 s for their next call in a busy loop, its first time slice can take longer than the
    whole product.
    """
    queue, errors, running = deque(blocks), deque[BaseException](), deque[Any]()
    for _ in range(min(threads, len(blocks)) - 1):
        submit(partial(_run_thread, work, queue, errors, running))
    try:
        _drain(work, queue)
    finally:
        queue.clear()  # after an error blocks are left
        while running:
            running.popleft().acquire()
    if errors:
        raise errors[0]


def _run_thread(
    work: Callable[..., None], queue: deque[Any], errors: deque[BaseException], running: deque[Any]
) -> None:
    """Drain the queue, with a lock in ``running`` from before the first block until after the last."""
    end = _thread.allocate_lock()
    end.acquire()
    running.append(end)
    try:
        _drain(work, queue)
    except BaseException as error:  # noqa: BLE001  # raised by the calling thread
        errors.append(error)
    finally:
        end.release()


def _drain(work: Callable[..., None], queue: deque[Any]) -> None:
    while True:
        try:
            block = queue.popleft()
        except IndexError:
            return
        work(*block)
