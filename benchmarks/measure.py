"""Time, memory and agreement of two ways to do one job; and what the machine's memory can do."""

from __future__ import annotations

import ctypes
import gc
import re
import time
from collections.abc import Callable
from dataclasses import dataclass
from itertools import pairwise
from pathlib import Path
from typing import Any

import numba
import numpy as np
from scipy import sparse
from threadpoolctl import threadpool_limits

from gsp_fb._kernels.threads import each_block, n_threads

ROW_BYTES = 128
STATUS = Path("/proc/self/status")


@dataclass(frozen=True)
class Measured:
    """Two ways to do one job: seconds of each repeat, megabytes at the peak, and how far the results differ."""

    ours: Any
    peer: Any
    cpu_ratio: Any
    ours_mb: float
    peer_mb: float
    difference: float

    @property
    def ratios(self) -> Any:
        return np.quantile(self.peer / self.ours, [0.25, 0.5, 0.75])


def compare(ours: Callable[[], Any], peer: Callable[[], Any], repeats: int, back: Callable[[Any], Any]) -> Measured:
    """Time both in turn, after one untimed call each that shows memory and, ours put ``back`` in order, results.

    BLAS runs in one thread: on a busy machine its threads wait for each other, and a small product of a peer that takes
    0.03 s alone was seen to take 2 s. Our own threads are set apart from it by ``set_threads``.
    """
    with threadpool_limits(1):
        ours()  # compiles
        (ours_mb, a), (peer_mb, b) = peak_megabytes(ours), peak_megabytes(peer)
        difference = relative_difference(back(a), b)
        del a, b
        wall, cpu = np.moveaxis([(_seconds(ours), _seconds(peer)) for _ in range(repeats)], -1, 0)
    return Measured(wall[:, 0], wall[:, 1], cpu[:, 1] / cpu[:, 0], ours_mb, peer_mb, difference)


def _seconds(job: Callable[[], Any]) -> tuple[float, float]:
    """Return the wall time of a call and the processor time of all its threads."""
    begin, cpu = time.perf_counter(), time.process_time()
    job()
    return time.perf_counter() - begin, time.process_time() - cpu


def peak_megabytes(job: Callable[[], Any]) -> tuple[float, Any]:
    """Return how far the resident memory rises during the call, native allocations included, and the result."""
    gc.collect()
    ctypes.CDLL(None).malloc_trim(0)  # memory kept from earlier calls would be used again and not show
    Path("/proc/self/clear_refs").write_text("5")  # sets the high-water mark back to the present level
    before = status_megabytes("VmRSS")
    result = job()
    return max(0.0, status_megabytes("VmHWM") - before), result


def status_megabytes(field: str) -> float:
    """Return one of the kernel's figures about this process: ``VmRSS`` now, ``VmHWM`` at its peak."""
    found = re.search(rf"{field}:\s+(\d+) kB", STATUS.read_text())
    return int(found.group(1)) / 1024 if found else float("nan")


def relative_difference(a: Any, b: Any) -> float:
    """Return the largest difference over the largest entry."""
    a, b = (m.toarray() if sparse.issparse(m) else np.asarray(m) for m in (a, b))
    return float(np.max(np.abs(a - b)) / np.max(np.abs(b)))


@numba.njit(nogil=True)
def triad(first: int, last: int, a: Any, b: Any, c: Any) -> None:
    for i in range(first, last):
        a[i] = b[i] + 3.0 * c[i]


@numba.njit(nogil=True)
def _gather(first: int, last: int, rows: Any, table: Any, out: Any) -> None:
    for i in range(first, last):
        row = table[rows[i]]
        for c in range(len(row)):
            out[i & 1023, c] += row[c]


@numba.njit(nogil=True)
def _read(first: int, last: int, places: Any, column: Any, out: Any) -> None:
    total = 0.0
    for p in range(first, last):
        total += column[places[p]]
    out[first % len(out)] += total


def _rate(loop: Callable[..., None], size: int, n_bytes: int, *arrays: Any) -> float:
    """Return bytes per second of the fastest of some runs over all threads."""
    cuts = np.linspace(0, size, 17).astype(int).tolist()
    blocks = list(pairwise(cuts))
    runs = [_seconds(lambda: each_block(lambda *b: loop(*b, *arrays), blocks, n_threads()))[0] for _ in range(8)]
    return n_bytes / min(runs)


def stream_rate(size: int = 10_000_000) -> float:
    """Return the rate of a[i] = b[i] + 3 c[i] over arrays far larger than the caches, in bytes per second."""
    a, b, c = np.zeros(size), np.ones(size), np.ones(size)
    return _rate(triad, size, 3 * 8 * size, a, b, c)


def gather_rate(n_nodes: int = 100_000, size: int = 2_000_000) -> float:
    """Return the rate of reading random rows of 128 bytes of a table of ``n_nodes`` rows, in bytes per second."""
    rows = np.random.default_rng(0).integers(n_nodes, size=size).astype(np.uint32)
    table = np.ones((n_nodes, ROW_BYTES // 8))
    return _rate(_gather, size, ROW_BYTES * size, rows, table, np.zeros((1024, ROW_BYTES // 8)))


def read_seconds(places: Any, column: Any) -> float:
    """Return the seconds of reading ``column`` at ``places``, in their order, and nothing else."""
    size = len(places)
    return size / _rate(_read, size, size, places.view(np.uint32), column, np.zeros(1024))
