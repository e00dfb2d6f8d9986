"""The Markdown page of a run."""

from __future__ import annotations

import os
import platform
from collections.abc import Iterable
from datetime import UTC, datetime
from importlib.metadata import version
from pathlib import Path

import numpy as np

from gsp_fb._kernels.threads import n_threads

from .jobs import Case, Job
from .measure import Measured

PACKAGES = ("gsp-fb", "numpy", "scipy", "numba", "pygsp", "scikit-network", "networkx")
CPUINFO = Path("/proc/cpuinfo")

HEAD = """\
# Benchmarks

Written by `python -m benchmarks` on {date}. {machine}.
Versions: {versions}.

Community graph: n = 100 000, nnz = 2 000 000, shuffled labels; 16 columns, 6 filters of order 30 unless stated.
Ours and the peer run in turn in one process; a ratio is the median of peer / ours over the repeats, with quartiles.
BLAS runs in one thread, the fastest for the peers on a busy machine. The CPU ratio counts the seconds of all
threads: what others on the machine do disturbs it less than wall time.
Load of the machine at the start (1 min): {load:.1f} on {cpus} CPUs.
Memory is the rise of the resident set at its peak, native allocations included, result included.
STREAM triad {stream:.1f} GB/s, random rows of 128 bytes {gather:.1f} GB/s, {threads} threads.
The last column is our time over the time the memory would need at those two rates for what the job must read and write;
less than 1 means that rows came from the cache.

| job | against | ours ms | peer ms | ratio | CPU ratio | bar | goal | held | MB ours / peer | difference | x memory |
|---|---|---|---|---|---|---|---|---|---|---|---|
"""


def machine() -> str:
    """Return processor, its number of threads that we may use, memory and system in a line."""
    models = [
        line.partition(":")[2].strip() for line in CPUINFO.read_text().splitlines() if line.startswith("model name")
    ]
    memory = os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES") / 2**30
    system = f"{platform.system()} {platform.machine()}, Python {platform.python_version()}"
    return f"{len(models)} x {models[0]}, {memory:.0f} GB, {system}"


def head(stream: float, gather: float) -> str:
    """Return the page's beginning with the two rates, in bytes per second."""
    return HEAD.format(
        date=datetime.now(UTC).strftime("%Y-%m-%d %H:%M UTC"),
        machine=machine(),
        versions=", ".join(f"{name} {version(name)}" for name in PACKAGES),
        load=os.getloadavg()[0],
        stream=stream / 1e9,
        gather=gather / 1e9,
        threads=n_threads(),
        cpus=os.cpu_count(),
    )


def row(job: Job, case: Case, measured: Measured, stream: float, gather: float) -> str:
    """Return a row of the table."""
    low, middle, high = measured.ratios
    held = middle >= job.bar and measured.difference <= job.tolerance
    ours, peer = np.median(measured.ours), np.median(measured.peer)
    least = case.gathered / gather + case.streamed / stream
    cells: Iterable[str] = (
        job.title,
        job.against,
        f"{ours * 1e3:.3g}",
        f"{peer * 1e3:.3g}",
        f"{middle:.2f} ({low:.2f} - {high:.2f})",
        f"{np.median(measured.cpu_ratio):.2f}",
        f"{job.bar:g}",
        f"{job.goal:g}" if job.goal else "",
        "yes" if held else "**no**",
        f"{measured.ours_mb:.0f} / {measured.peer_mb:.0f}",
        f"{measured.difference:.0e}",
        f"{ours / least:.1f}" if least else "",
    )
    return f"| {' | '.join(cells)} |\n"
