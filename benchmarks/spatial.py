"""Geary's C of genes on a graph of cells: seconds, memory and agreement with scanpy where that is installed.

``python -m benchmarks.spatial`` compares; ``python -m benchmarks.spatial --cells 1000000`` measures the
peak of one size alone.
"""

from __future__ import annotations

import argparse
import time
from collections.abc import Callable
from typing import Any

import numpy as np
from scipy import sparse

import gsp_fb as gf
from gsp_fb._extras import require

from .measure import peak_megabytes, status_megabytes

RUNS, ONE_OF, NEIGHBOURS = 5, 10, 6

HEAD = """\
| values | gearys_c s | spatially_variable s | scanpy s | ratios | difference |
|---|---|---|---|---|---|"""


def cells_and_genes(n_cells: int, n_genes: int, dtype: Any = np.float64) -> tuple[gf.Graph, Any]:
    """Return a graph of nearest neighbours in the plane and expressions of one gene of each ten in each cell."""
    rng = np.random.default_rng(0)
    graph = gf.Graph.from_points(rng.random((n_cells, 2)), k=NEIGHBOURS, weight="binary")
    stored = n_genes // ONE_OF
    columns = rng.integers(0, ONE_OF, (n_cells, stored), dtype=np.int32)
    columns += ONE_OF * np.arange(stored, dtype=np.int32)
    rows = np.arange(0, columns.size + 1, stored, dtype=np.int32)
    values = rng.random(columns.size, dtype=dtype)
    return graph, sparse.csr_array((values, columns.ravel(), rows), shape=(n_cells, n_genes))


def fastest(job: Callable[[], Any], runs: int = RUNS) -> tuple[float, Any]:
    """Return the processor time of the fastest run after one that compiles, and the result."""
    found, seconds = job(), []
    for _ in range(runs):
        begin = time.process_time()
        job()
        seconds.append(time.process_time() - begin)
    return min(seconds), found


def compare(n_cells: int, n_genes: int) -> list[str]:
    """Return the rows of a table: ours, scanpy's, their ratio and the largest difference."""
    gearys_c = require("scanpy.metrics", "the comparison").gearys_c
    graph, genes = cells_and_genes(n_cells, n_genes)
    rows = [HEAD]
    for name, x in (("sparse", genes), ("dense", genes.toarray())):
        statistic, found = fastest(lambda x=x: gf.gearys_c(graph, x))
        tests, _ = fastest(lambda x=x: gf.spatially_variable(graph, x))
        # One signal a row there, and integer types that its compiled loops accept.
        weights, signals = sparse.csr_matrix(graph.adjacency), x.T.copy() if name == "dense" else sparse.csr_matrix(x.T)
        peer, wanted = fastest(lambda g=weights, v=signals: gearys_c(g, v), 3)
        difference = np.abs(found - wanted).max()
        times = f"{statistic:.3f} | {tests:.3f} | {peer:.2f} | {peer / statistic:.0f}x, {peer / tests:.0f}x"
        rows.append(f"| {name} | {times} | {difference:.0e} |")
    return rows


def peak(n_cells: int, n_genes: int) -> str:
    """Return seconds, the memory of the data with single-precision values, and the peak of the process."""
    graph, genes = cells_and_genes(n_cells, n_genes, np.float32)
    begin = time.process_time()
    added, _ = peak_megabytes(lambda: gf.spatially_variable(graph, genes))
    seconds, data = time.process_time() - begin, (genes.data.nbytes + genes.indices.nbytes) / 2**20
    top = status_megabytes("VmHWM")
    return f"{n_cells} x {n_genes}: {seconds:.1f} s, genes {data:.0f} MB, added {added:.0f} MB, peak {top:.0f} MB"


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--cells", type=int)
    parser.add_argument("--genes", type=int, default=2_000)
    options = parser.parse_args()
    print(peak(options.cells, options.genes) if options.cells else "\n".join(compare(20_000, 2_000)))
