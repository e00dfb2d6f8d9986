"""How time and memory grow with the graph: build, S-value and one bank, from nnz = 1e4 to 1e8."""

from __future__ import annotations

import os
import subprocess
import sys
import time
from collections.abc import Callable

import numpy as np

import gsp_fb as gf
from gsp_fb._kernels import chebyshev_bank

from .graphs import community_edges, nearby_edges
from .measure import status_megabytes

SIZES = (10_000, 100_000, 1_000_000, 10_000_000)
LARGE = (100_000_000,)
DEGREE, FILTERS, ORDER = 20, 2, 10
NUMBERINGS = {"nearby": nearby_edges, "shuffled": community_edges}

HEAD = f"""\
# Growth

Written by `python -m benchmarks --large`.
Mean degree {DEGREE}, one column, {FILTERS} filters of order {ORDER}; each size in its own process.
S-value and bank are timed at their second run, as the first compiles. GB is the peak of the process, edges included.
"nearby" is a graph whose neighbours are numbered close to each other, as meshes and road maps are; "shuffled" is a
community graph with random numbers, the worst case. Its column (40 MB in the last row) no longer fits the cache and is
read in tiles that do; what remains above the smaller sizes is the price of visiting each row once for each tile.
Load of the machine at the start (1 min): {{load:.1f}} on {{cpus}} CPUs, and the last-level cache is shared with it.

| numbering | nnz | build s | S-value s | bank s | ns per entry: build / S / bank | GB |
|---|---|---|---|---|---|---|
"""


def measure(numbering: str, nnz: int) -> str:
    """Return the row of one size, measured in this process."""
    n_nodes = nnz // DEGREE
    pairs = NUMBERINGS[numbering](n_nodes, nnz // 2)
    begin = time.perf_counter()
    graph = gf.Graph.from_edges(pairs, n_nodes=n_nodes, duplicates="first")
    build = time.perf_counter() - begin
    del pairs
    op = gf.operator(graph, "sym", channel="high")
    x = np.random.default_rng(3).standard_normal((n_nodes, 1))
    coefficients = np.ones((FILTERS, ORDER + 1))
    jobs = (
        lambda: gf.s_value(op, x),
        lambda: chebyshev_bank(graph, x, op.left, op.right, op.diag, coefficients=coefficients, interval=(0.0, 2.0)),
    )
    s_value, bank = (_second(job) for job in jobs)
    each = " / ".join(f"{seconds / len(graph.indices) * 1e9:.0f}" for seconds in (build, s_value, bank))
    peak = status_megabytes("VmHWM") / 1024  # ru_maxrss would begin with the peak of the parent
    nnz = len(graph.indices)
    return f"| {numbering} | {nnz:.2g} | {build:.3g} | {s_value:.3g} | {bank:.3g} | {each} | {peak:.2f} |\n"


def _second(job: Callable[[], object]) -> float:
    job()
    begin = time.perf_counter()
    job()
    return time.perf_counter() - begin


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
    sys.stdout.write(measure(sys.argv[1], int(sys.argv[2])))
