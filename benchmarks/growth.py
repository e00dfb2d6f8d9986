"""How time and memory grow with the graph.

``python -m benchmarks.growth`` measures every public function and command (:mod:`benchmarks.functions`);
``python -m benchmarks --large`` build, S-value and one bank, from nnz = 1e4 to 1e8. Both are parts of GROWTH.md.
"""

from __future__ import annotations

import os
import subprocess
import sys
import time
from collections.abc import Callable
from functools import partial
from typing import Any

import numpy as np

import gsp_fb as gf
from gsp_fb._kernels import chebyshev_bank

from .graphs import community_edges, nearby_edges
from .measure import read_seconds, status_megabytes

SIZES = (10_000, 100_000, 1_000_000, 10_000_000)
LARGE = (100_000_000,)
DEGREE, FILTERS, ORDER = 20, 2, 10
RUNS = 3
NUMBERINGS = {"nearby": nearby_edges, "shuffled": community_edges}

HEAD = f"""\
# Growth

Written by `python -m benchmarks --large`.
Mean degree {DEGREE}, one column, {FILTERS} filters of order {ORDER}; each size in its own process.
S-value and bank are the fastest of {RUNS} runs after one that compiles, the build is timed once. GB is the peak of the
process, edges included. CPU counts the seconds of all threads, which other programs disturb less than wall time.
"nearby" is a graph whose neighbours are numbered close to each other, as meshes and road maps are; "shuffled" is a
community graph with random numbers, the worst case. Its column outgrows a core's own cache at nnz = 1e7 (4 MB) and a
share of the one all cores have at 1e8 (40 MB; read in tiles if that is more than a quarter of it). "reads" is what the
machine takes, with as many threads, to read the column at the neighbours of all nodes, in their order, and to do
nothing else; "over reads" are the S-value and one product of the bank in multiples of it. Where reading costs more an
entry, so does what is built on it.
Load of the machine at the start (1 min): {{load:.1f}} on {{cpus}} CPUs, and the last-level cache is shared with it.

| numbering | nnz | build s | S-value s | bank s | ns an entry: build / S / bank | CPU ns | reads ns | over reads | GB |
|---|---|---|---|---|---|---|---|---|---|
"""


def measure(numbering: str, nnz: int) -> str:
    """Return the row of one size, measured in this process."""
    n_nodes = nnz // DEGREE
    pairs = NUMBERINGS[numbering](n_nodes, nnz // 2)
    graph, *build = _timed(partial(gf.Graph.from_edges, pairs, n_nodes=n_nodes, duplicates="first"))
    del pairs
    op = gf.operator(graph, "sym", channel="high")
    x = np.random.default_rng(3).standard_normal((n_nodes, 1))
    coefficients = np.ones((FILTERS, ORDER + 1))
    jobs = (
        lambda: gf.s_value(op, x),
        lambda: chebyshev_bank(graph, x, op.left, op.right, op.diag, coefficients=coefficients, interval=(0.0, 2.0)),
    )
    wall, cpu = zip(build, *(_fastest(job) for job in jobs), strict=True)
    nnz = len(graph.indices)
    each, each_cpu = (" / ".join(f"{seconds / nnz * 1e9:.3g}" for seconds in row) for row in (wall, cpu))
    peak = status_megabytes("VmHWM") / 1024  # ru_maxrss would begin with the peak of the parent
    seconds = " | ".join(f"{of_one:.3g}" for of_one in wall)
    reads = read_seconds(graph.indices, x[:, 0])
    over = f"{reads / nnz * 1e9:.3g} | {wall[1] / reads:.2g} / {wall[2] / ORDER / reads:.2g}"
    return f"| {numbering} | {nnz:.2g} | {seconds} | {each} | {each_cpu} | {over} | {peak:.2f} |\n"


def _fastest(job: Callable[[], object]) -> list[float]:
    """Return the least wall time and the least processor time of some runs, after one that compiles."""
    job()
    return [min(column) for column in zip(*(_timed(job)[1:] for _ in range(RUNS)), strict=True)]


def _timed(job: Callable[[], Any]) -> tuple[Any, float, float]:
    """Return what a job returns, its wall time and the processor time of all its threads."""
    begin, cpu = time.perf_counter(), time.process_time()
    result = job()
    return result, time.perf_counter() - begin, time.process_time() - cpu


def table(*, large: bool) -> str:
    """Return the table, each size measured in a new process."""
    sizes = SIZES + (LARGE if large else ())
    command = [sys.executable, "-m", "benchmarks.growth"]
    head = HEAD.format(load=os.getloadavg()[0], cpus=os.cpu_count())
    return head + "".join(
        subprocess.run([*command, numbering, str(n)], check=True, capture_output=True, text=True).stdout
        for numbering in NUMBERINGS
        for n in sizes
    )


if __name__ == "__main__":
    if sys.argv[1:2] and sys.argv[1] in NUMBERINGS:
        sys.stdout.write(measure(sys.argv[1], int(sys.argv[2])))
    else:
        from .functions import main

        main()
