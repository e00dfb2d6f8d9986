"""Solver bars against scipy, pyamg and approx-chol alone: ``python -m benchmarks.solvers`` writes ``SOLVERS.md``.

Figures are processor and wall seconds of one call on one thread, the system's assembly included, and the relative
residual. The compiled engine is loaded before the first call (about a second, once a process). Processor seconds do not
count the waiting on a busy machine, though shared caches slow it down.
"""

from __future__ import annotations

import time
import warnings
from collections.abc import Callable
from pathlib import Path
from typing import Any

import approx_chol
import networkx as nx
import numpy as np
import pyamg
from scipy import sparse
from scipy.sparse.linalg import LinearOperator, cg, spsolve

import gsp_fb as gf
from gsp_fb.filters import interpolate, tikhonov

from .graphs import community, grid, nearest_points

RESULTS = Path(__file__).with_name("SOLVERS.md")
TOL, MAX_STEPS = 1e-8, 2000
LINE = "| {} | {} | {:.2f} | {:.2f} | {} | {} |\n"
NONE = "-"


def weighted_grid(side: int = 316, decades: float = 3.0) -> gf.Graph:
    """Return the grid with weights 10^U(-decades, decades)."""
    source, target, _ = gf.Graph.from_adjacency(grid(side)).edges()
    weights = 10.0 ** np.random.default_rng(3).uniform(-decades, decades, len(source))
    return gf.Graph.from_edges(np.stack([source, target], axis=1), weights=weights)


def path(n_nodes: int) -> gf.Graph:
    """Return a path."""
    return gf.Graph.from_edges(np.stack([np.arange(n_nodes - 1), np.arange(1, n_nodes)], axis=1))


def _cg(matrix: Any, right: Any, precondition: Callable[[Any], Any]) -> Any:
    inverse = LinearOperator(matrix.shape, matvec=precondition, dtype=np.float64)
    return cg(matrix, right, rtol=TOL, maxiter=MAX_STEPS, M=inverse)[0]


def _approx_chol(matrix: Any, right: Any) -> Any:
    csr = sparse.csr_array(matrix)
    index = csr.indptr.astype(np.uint32), csr.indices.astype(np.uint32)
    factor = approx_chol.factorize_raw(*index, csr.data, csr.shape[0])
    return _cg(matrix, right, lambda r: factor.solve(np.ascontiguousarray(r)))


def _pyamg(matrix: Any, right: Any) -> Any:
    cycle = pyamg.smoothed_aggregation_solver(sparse.csr_matrix(matrix)).aspreconditioner()
    return _cg(matrix, right, cycle.matvec)


# Peers of a linear solve: matrix and right-hand side to solution.
PEERS: dict[str, Callable[[Any, Any], Any]] = {
    "scipy spsolve": lambda matrix, right: spsolve(sparse.csc_matrix(matrix), right),
    "scipy CG, Jacobi": lambda matrix, right: _cg(matrix, right, lambda r: r / matrix.diagonal()),
    "approx-chol + scipy CG": _approx_chol,
    "pyamg + scipy CG": _pyamg,
}


def _timed(job: Callable[[], Any]) -> tuple[tuple[float, float], Any]:
    """Return processor and wall seconds, and the result."""
    begin, wall = time.process_time(), time.perf_counter()
    result = job()
    return (time.process_time() - begin, time.perf_counter() - wall), result


def tikhonov_rows(title: str, graph: gf.Graph, tau: float, peers: tuple[str, ...], bar: str) -> str:
    """Return lines for ``(I + tau (D - A)) f = x``."""
    op = gf.operator(graph, "comb", channel="high")
    x = np.random.default_rng(0).standard_normal(graph.n_nodes)
    matrix = sparse.csr_array(sparse.eye_array(graph.n_nodes) + tau * op.to_scipy())
    jobs = {"gsp_fb": lambda: tikhonov(op, x, tau, tol=TOL)}
    jobs |= {name: (lambda solve=PEERS[name]: solve(matrix, x)) for name in peers}
    text = ""
    for name, job in jobs.items():
        seconds, f = _timed(job)
        residual = np.linalg.norm(matrix @ f - x) / np.linalg.norm(x)
        text += LINE.format(title, name, *seconds, bar if name == "gsp_fb" else NONE, f"residual {residual:.1e}")
    return text


def interpolation_row(n_nodes: int) -> str:
    """Return the line of a path whose ends are known."""
    op = gf.operator(path(n_nodes), "comb", channel="high")
    known = np.isin(np.arange(n_nodes), [0, n_nodes - 1])
    seconds, f = _timed(lambda: interpolate(op, known.cumsum() - 1.0, known))
    error = np.abs(f - np.linspace(0, 1, n_nodes)).max()
    return LINE.format(f"interpolate, path of {n_nodes}", "gsp_fb", *seconds, "0.3", f"error {error:.1e}")


def eigengap_row(title: str, graph: gf.Graph, bar: str = NONE) -> str:
    """Return the line of an eigengap of L_sym."""
    seconds, gap = _timed(lambda: gf.eigengap(gf.operator(graph, "sym")))
    return LINE.format(f"eigengap, {title}", "gsp_fb", *seconds, bar, f"proof {gap.proof}, error {gap.error:.0e}")


def spectrum_rows(title: str, graph: gf.Graph) -> str:
    """Return lines of ten modes at either end of L_sym."""
    text = ""
    for which in ("low", "high"):
        op = gf.operator(graph, "sym", channel="high")
        seconds, modes = _timed(lambda op=op, which=which: gf.spectrum(op, 10, which))
        text += LINE.format(f"spectrum(k=10, {which!r}), {title}", "gsp_fb", *seconds, "15", f"proof {modes.proof}")
    return text


def main() -> None:
    """Measure every line and write the page."""
    heavy, social = weighted_grid(), gf.Graph.from_adjacency(community(100_000, 2_000_000))
    page = f"# Solvers\n\n{__doc__}\n| job | solver | CPU s | wall s | bar | result |\n|---|---|---|---|---|---|\n"
    gf.operator(social, "sym") @ np.ones((social.n_nodes, 2))  # loads the engine
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # of peers that do not converge; the residual shows it
        page += tikhonov_rows("Tikhonov tau=1e3, grid 316, weights 10^U(-3,3)", heavy, 1e3, tuple(PEERS), "1")
        page += tikhonov_rows("Tikhonov tau=10, community 1e5 / 2e6", social, 10.0, ("scipy CG, Jacobi",), NONE)
    page += interpolation_row(20_000)
    page += eigengap_row("grid 316, weights 10^U(-3,3)", heavy, "3")
    page += eigengap_row("path of 1e6", path(1_000_000), "15")
    page += eigengap_row("community 1e5 / 2e6", social)
    page += spectrum_rows("community 1e5 / 2e6", social) + spectrum_rows("grid 316", gf.Graph.from_adjacency(grid(316)))
    page += spectrum_rows("8 nearest of 1e5", gf.Graph.from_adjacency(nearest_points(100_000, 8)))
    page += spectrum_rows("preferential attachment 1e5, 5", preferential_attachment())
    RESULTS.write_text(page, encoding="utf-8")


def preferential_attachment() -> gf.Graph:
    """Return a graph of 1e5 nodes grown by five edges each."""
    return gf.from_networkx(nx.barabasi_albert_graph(100_000, 5, seed=0))


if __name__ == "__main__":
    main()
