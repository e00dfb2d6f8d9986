"""The table of jobs: what we do, what a peer does for the same result, and the bar."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import cache, partial
from typing import Any

import networkx as nx
import numpy as np
import pygsp
from numpy.polynomial.chebyshev import chebval
from pygsp.filters.approximations import compute_cheby_coeff
from scipy import sparse
from sknetwork.linalg import Laplacian

import gsp_fb as gf
from gsp_fb._kernels.tiles import LAST_LEVEL, last_level_bytes
from gsp_fb.filters import FilterBank
from gsp_fb.reorder import reordered

from .graphs import community, grid, nearest_points, shuffled

N_NODES, NNZ, SIDE = 100_000, 2_000_000, 316
COLUMNS, WIDE, WORDS, FILTERS, ORDER = 16, 64, 10_000, 6, 30
# Ten times as many nodes: 16 columns are then 128 MB, more than most caches.
LARGE = 10
# A grid whose signal is twice what the last-level cache holds: an order helps where memory has to be read.
LARGE_SIDE = max(1000, int(round((2 * last_level_bytes(LAST_LEVEL) / (8 * COLUMNS)) ** 0.5, -2)))
# Points of which a signal is 384 MB, with about as many neighbours as those of a mesh or a cloud of points.
POINTS, NEAREST = 3_000_000, 12
INDEX = 4


def _as_is(result: Any) -> Any:
    return result


@dataclass(frozen=True)
class Case:
    """One job made ready: two calls with equal results, and the bytes ours must at least gather and stream.

    ``back`` puts our result in the peer's order before the two are compared, out of the measured time.
    """

    ours: Callable[[], Any]
    peer: Callable[[], Any]
    gathered: float = 0.0
    streamed: float = 0.0
    back: Callable[[Any], Any] = _as_is


@dataclass(frozen=True)
class Job:
    """A row of the table; ``bar`` and ``goal`` are ratios peer / ours, ``tolerance`` how far results may differ."""

    title: str
    against: str
    make: Callable[[], Case]
    bar: float = 1.0
    goal: float | None = None
    tolerance: float = 1e-10


@cache
def adjacency(kind: str) -> sparse.csr_array:
    kinds = {
        "community": lambda: community(N_NODES, NNZ),
        "large community": lambda: community(LARGE * N_NODES, LARGE * NNZ),
        "grid": lambda: grid(SIDE),
        "shuffled grid": lambda: shuffled(grid(LARGE_SIDE)),
        "points": lambda: nearest_points(POINTS, NEAREST),
    }
    return kinds[kind]()


@cache
def laplacian(kind: str) -> gf.Operator:
    return gf.operator(gf.Graph.from_adjacency(adjacency(kind)), "sym", channel="high")


@cache
def pygsp_bank() -> Any:
    graph = pygsp.graphs.Graph(adjacency("community"), lap_type="normalized")
    graph.estimate_lmax(method="bounds")  # 2, as ours
    return pygsp.filters.MexicanHat(graph, Nf=FILTERS)


def signal(n_nodes: int, columns: int, dtype: Any = np.float64) -> Any:
    return np.random.default_rng(1).standard_normal((n_nodes, columns)).astype(dtype)


def _coefficients(bank: Any) -> Any:
    """Return PyGSP's coefficients in numpy's convention, which does not halve the first."""
    return np.asarray(compute_cheby_coeff(bank, m=ORDER)) * np.where(np.arange(ORDER + 1) == 0, 0.5, 1.0)


def _bank_bytes(nnz: int, n_nodes: int, item: int) -> dict[str, float]:
    """Return the least a bank moves: a row for each entry and degree, two vectors a degree, the outputs once."""
    row = COLUMNS * item
    return {
        "gathered": ORDER * nnz * row,
        "streamed": ORDER * (nnz * INDEX + 2 * n_nodes * row) + FILTERS * n_nodes * row,
    }


def polynomials() -> list[Callable[[Any], Any]]:
    """Return PyGSP's six approximations as kernels, so that both sides apply the same polynomials."""
    return [partial(_series, coefficients=row) for row in _coefficients(pygsp_bank())]


def _series(frequencies: Any, coefficients: Any) -> Any:
    return chebval(frequencies - 1.0, coefficients)


def _analysis(op: gf.Operator, x: Any) -> Callable[[], Any]:
    bank = FilterBank(op, polynomials(), method="chebyshev", order=ORDER)
    return lambda: bank.analyze(x)


def filterbank(dtype: Any) -> Case:
    op, bank, x = laplacian("community"), pygsp_bank(), signal(N_NODES, COLUMNS)
    ours = _analysis(op, x.astype(dtype))
    bound = _bank_bytes(len(op.graph.indices), N_NODES, np.dtype(dtype).itemsize)
    return Case(ours, lambda: bank.filter(x, method="chebyshev", order=ORDER), **bound)


def filterbank_in_community_order() -> Case:
    op, x = laplacian("community"), signal(N_NODES, COLUMNS)
    new = reordered(op.graph, "community")
    bank = FilterBank(gf.operator(new.graph, "sym", channel="high"), polynomials(), method="chebyshev", order=ORDER)
    bound = _bank_bytes(len(op.graph.indices), N_NODES, 8)
    return Case(lambda: new.restore(bank.analyze(new.permute(x))), _analysis(op, x), streamed=sum(bound.values()))


def plain_bank(L: Any, x: Any, coefficients: Any, interval: tuple[float, float]) -> Any:
    """Return what a user of plain scipy writes."""
    middle, half = sum(interval) / 2, (interval[1] - interval[0]) / 2
    M = sparse.csr_array((L - middle * sparse.eye_array(L.shape[0])) / half)
    before, now = x, M @ x
    out = before[..., None] * coefficients[:, 0] + now[..., None] * coefficients[:, 1]
    for k in range(2, coefficients.shape[1]):
        before, now = now, 2 * (M @ now) - before
        out += now[..., None] * coefficients[:, k]
    return out


def filterbank_on_grid() -> Case:
    op, x = laplacian("grid"), signal(SIDE * SIDE, COLUMNS)
    L, coefficients = op.to_scipy(), _coefficients(pygsp_bank())
    bound = _bank_bytes(0, SIDE * SIDE, 8)  # neighbours are in the cache: nothing is gathered from memory
    return Case(_analysis(op, x), lambda: plain_bank(L, x, coefficients, (0.0, 2.0)), **bound)


def energy() -> Case:
    op, graph, x = laplacian("community"), pygsp_bank().G, signal(N_NODES, WIDE)
    nnz = len(op.graph.indices)
    return Case(
        lambda: gf.dirichlet_energy(op, x, per_column=True),
        lambda: np.diag(graph.dirichlet_energy(x)),
        gathered=nnz / 2 * WIDE * 8,
        streamed=nnz * INDEX + x.nbytes,
    )


def s_value() -> Case:
    op, graph, x = laplacian("community"), pygsp_bank().G, signal(N_NODES, WIDE)
    nnz = len(op.graph.indices)
    return Case(
        lambda: gf.s_value(op, x),
        lambda: np.trace(graph.dirichlet_energy(x)) / np.sum(x * x),
        gathered=nnz / 2 * WIDE * 8,
        streamed=nnz * INDEX + 2 * x.nbytes,
    )


def s_value_of_sparse() -> Case:
    op, L = laplacian("community"), laplacian("community").to_scipy()
    x = sparse.random_array((N_NODES, WORDS), density=1e-3, rng=np.random.default_rng(2), format="csr")
    nnz = len(op.graph.indices)
    entries = nnz / 2 * x.nnz / N_NODES
    return Case(
        lambda: gf.s_value(op, x),
        lambda: x.multiply(L @ x).sum() / x.multiply(x).sum(),
        gathered=entries * (INDEX + 8),
        streamed=nnz * INDEX,
    )


def product() -> Case:
    op, x = laplacian("community"), signal(N_NODES, COLUMNS)
    peer = Laplacian(sparse.csr_matrix(adjacency("community")), normalized_laplacian=True)
    nnz = len(op.graph.indices)
    return Case(lambda: op @ x, lambda: peer.dot(x), gathered=nnz * COLUMNS * 8, streamed=nnz * INDEX + 2 * x.nbytes)


def product_scipy() -> Case:
    L = laplacian("community").to_scipy()
    x, ours = signal(N_NODES, COLUMNS), product()
    return Case(ours.ours, lambda: L @ x, ours.gathered, ours.streamed)


def product_and_back(kind: str) -> Case:
    """Return a single product of a signal in the user's order, its result in that order too: the way there counts."""
    op = laplacian(kind)
    x, new = signal(op.graph.n_nodes, COLUMNS), reordered(op.graph, "community")
    ordered = gf.operator(new.graph, "sym", channel="high")
    streamed = 6 * x.nbytes + len(op.graph.indices) * INDEX
    return Case(lambda: new.restore(ordered @ new.permute(x)), lambda: op @ x, streamed=streamed)


def product_in_order(kind: str, how: str) -> Case:
    """Return the product of a signal that stays in the new order, as those of a solver or a bank do."""
    op = laplacian(kind)
    x, new = signal(op.graph.n_nodes, COLUMNS), reordered(op.graph, how)
    ordered, y = gf.operator(new.graph, "sym", channel="high"), new.permute(x)
    streamed = 2 * x.nbytes + len(op.graph.indices) * INDEX
    return Case(lambda: ordered @ y, lambda: op @ x, streamed=streamed, back=new.restore)


def variant() -> Case:
    op, A = laplacian("community"), adjacency("community")
    degrees = A.sum(axis=1)

    def rebuilt() -> Any:
        inverse = sparse.diags_array(1.0 / np.sqrt(degrees + 1.0))
        return (inverse @ (A + sparse.eye_array(N_NODES)) @ inverse).diagonal()

    return Case(lambda: gf.operator(op.graph, "renorm_sym").diagonal, rebuilt, streamed=6 * 8 * N_NODES)


def networkx_laplacian() -> Case:
    A = community(N_NODES // 10, NNZ // 10)
    theirs = nx.from_scipy_sparse_array(A)
    return Case(
        lambda: gf.operator(gf.Graph.from_adjacency(A), "sym", channel="high").to_scipy(),
        lambda: nx.normalized_laplacian_matrix(theirs),
    )


JOBS = (
    Job("filterbank, float64", "PyGSP filter()", lambda: filterbank(np.float64), bar=3.0, goal=6.0),
    Job("filterbank, float32", "PyGSP filter()", lambda: filterbank(np.float32), bar=4.5, goal=10.0, tolerance=1e-5),
    Job("filterbank, float64, community order", "ours, shuffled", filterbank_in_community_order),
    Job(f"filterbank on a {SIDE}x{SIDE} grid", "plain scipy loop", filterbank_on_grid, bar=3.0),
    Job(f"Dirichlet energy, {WIDE} columns", "PyGSP dirichlet_energy", energy, bar=2.0),
    Job(f"S-value, {WIDE} columns", "PyGSP dirichlet_energy", s_value, bar=2.0),
    Job(f"S-value of sparse X, F = {WORDS}", "SpGEMM", s_value_of_sparse),
    Job("switching the operator variant", "scipy rebuild", variant),
    Job(f"product, {COLUMNS} columns", "plain scipy", product_scipy),
    Job(f"product, {COLUMNS} columns", "scikit-network Laplacian", product),
    Job("product, community order, there and back", "ours, shuffled", lambda: product_and_back("community")),
    Job(
        f"product, community order, there and back, n = {LARGE * N_NODES}",
        "ours, shuffled",
        lambda: product_and_back("large community"),
    ),
    Job("product, community order", "ours, shuffled", lambda: product_in_order("community", "community")),
    Job(
        f"product, community order, n = {LARGE * N_NODES}",
        "ours, shuffled",
        lambda: product_in_order("large community", "community"),
        bar=2.0,
    ),
    Job(
        f"product, rcm order, {LARGE_SIDE}x{LARGE_SIDE} grid",
        "ours, shuffled",
        lambda: product_in_order("shuffled grid", "rcm"),
        bar=2.0,
    ),
    Job(
        f"product, rcm order, {NEAREST} nearest of {POINTS} points",
        "ours, shuffled",
        lambda: product_in_order("points", "rcm"),
        bar=3.0,
    ),
    Job("normalised Laplacian, n = 10 000", "networkx", networkx_laplacian),
)
