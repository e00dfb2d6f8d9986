"""Public numbers against dense formulas written out here, on degenerate, hub-heavy and badly scaled graphs."""

from __future__ import annotations

import math
import time
import warnings
from collections import Counter
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import partial
from typing import Any

import networkx as nx
import numpy as np

import gsp_fb as gf
from gsp_fb import filters
from gsp_fb.variants import VARIANTS

__all__ = ["GLOBAL", "GRAPHS", "PER_FAMILY", "comparisons", "sweep"]

# Relative to the size of the number.
WRONG = 1e-8


def _weighted(graph: Any, decades: float) -> gf.Graph:
    edges = np.array(list(nx.convert_node_labels_to_integers(graph).edges()))
    weights = 10.0 ** np.random.default_rng(0).uniform(-decades, decades, len(edges))
    return gf.Graph.from_edges(edges, weights, n_nodes=len(graph))


GRAPHS: dict[str, Callable[[], gf.Graph]] = {
    "one node": lambda: gf.Graph.from_edges([], n_nodes=1),
    "edgeless": lambda: gf.Graph.from_edges([], n_nodes=6),
    "one edge": lambda: gf.Graph.from_edges([(0, 1)]),
    "loops and isolated nodes": lambda: gf.Graph.from_edges([(1, 1), (1, 2), (4, 4), (2, 6)], n_nodes=9),
    "two components": lambda: gf.from_networkx(nx.disjoint_union(nx.path_graph(5), nx.complete_graph(4))),
    "torus 5 x 5": lambda: gf.from_networkx(nx.grid_graph([5, 5], periodic=True)),
    "complete multipartite": lambda: gf.from_networkx(nx.complete_multipartite_graph(3, 4, 5)),
    "star": lambda: gf.datasets.star(40),
    "wheel": lambda: gf.from_networkx(nx.wheel_graph(30)),
    "preferential attachment": lambda: gf.from_networkx(nx.barabasi_albert_graph(60, 2, seed=0)),
    "grid, weights 1e-3..1e3": lambda: _weighted(nx.grid_2d_graph(6, 7), 3.0),
    "wheel, weights 1e-6..1e6": lambda: _weighted(nx.wheel_graph(30), 6.0),
    "path, weights 1e-100..1e100": lambda: _weighted(nx.path_graph(30), 100.0),
}


@dataclass(frozen=True)
class Truth:
    """A graph with a signal and labels, and what dense matrices give of it."""

    graph: gf.Graph
    x: Any
    y: Any

    @property
    def adjacency(self) -> Any:
        return self.graph.adjacency.toarray()

    @property
    def pairs(self) -> list[tuple[int, int, float]]:
        """Every ordered pair of different neighbours, with its weight."""
        a = self.adjacency
        return [(int(i), int(j), float(a[i, j])) for i, j in np.argwhere(a) if i != j]

    def laplacian(self, family: str) -> tuple[Any, Any]:
        """Return the high channel and the weights of its inner product, entry by entry from the paper's definition."""
        a, degrees = self.adjacency, self.adjacency.sum(axis=1)
        if family == "comb":
            return np.diag(degrees) - a, np.ones(len(a))
        loops = {"renorm": np.ones(len(a)), "lazy": degrees}.get(family.split("_", maxsplit=1)[0], np.zeros(len(a)))
        a, degrees = a + np.diag(loops), degrees + loops
        alone = degrees == 0
        a, degrees = a + np.diag(alone.astype(float)), degrees + alone
        if family.endswith("rw"):
            return np.eye(len(a)) - a / degrees[:, None], degrees
        return np.eye(len(a)) - a / np.sqrt(degrees)[:, None] / np.sqrt(degrees)[None, :], np.ones(len(a))


def _spectrum(truth: Truth, family: str) -> Any:
    high, weights = truth.laplacian(family)
    root = np.sqrt(weights)
    return np.linalg.eigvalsh(root[:, None] * high / root[None, :])


def _form(truth: Truth, family: str) -> tuple[float, float]:
    """Return the Dirichlet energy and the energy of the signal, in the operator's inner product."""
    high, weights = truth.laplacian(family)
    return float(truth.x @ (weights * (high @ truth.x))), float(truth.x @ (weights * truth.x))


def _expected_s(truth: Truth, family: str) -> float:
    high, _ = truth.laplacian(family)
    x, n = truth.x, len(truth.x)
    square, cross = float(x @ x) / n, float(x.sum() ** 2 - x @ x) / max(n * (n - 1), 1)
    trace = float(np.trace(high))
    return (trace * square + (float(high.sum()) - trace) * cross) / float(x @ x)


def _tikhonov(truth: Truth, family: str) -> Any:
    high, _ = truth.laplacian(family)
    return np.linalg.solve(np.eye(len(high)) + 3.0 * high, truth.x)


def _heat(truth: Truth, family: str) -> Any:
    high, weights = truth.laplacian(family)
    root = np.sqrt(weights)
    values, basis = np.linalg.eigh(root[:, None] * high / root[None, :])
    return basis @ (np.exp(-0.7 * values) * (basis.T @ (root * truth.x))) / root


def _op(truth: Truth, family: str) -> gf.Operator:
    return gf.operator(truth.graph, family, channel="high")


def _moment(op: gf.Operator, x: Any) -> float:
    moments = gf.energy_profile(op, x).moments
    return float(moments[1] / moments[0])


# Name to ours and the oracle's, of a truth and a family.
PER_FAMILY: dict[str, tuple[Callable[..., Any], Callable[..., Any]]] = {
    "operator @ x": (lambda t, f: _op(t, f) @ t.x, lambda t, f: t.laplacian(f)[0] @ t.x),
    "dirichlet_energy": (lambda t, f: gf.dirichlet_energy(_op(t, f), t.x), lambda t, f: _form(t, f)[0]),
    "signal_energy": (lambda t, f: gf.signal_energy(t.x, _op(t, f)), lambda t, f: _form(t, f)[1]),
    "nonsmooth_energy": (
        lambda t, f: gf.nonsmooth_energy(_op(t, f), t.x),
        lambda t, f: _form(t, f)[1] - _form(t, f)[0],
    ),
    "s_value": (lambda t, f: gf.s_value(_op(t, f), t.x), lambda t, f: _form(t, f)[0] / _form(t, f)[1]),
    "mean of energy_profile": (lambda t, f: _moment(_op(t, f), t.x), lambda t, f: _form(t, f)[0] / _form(t, f)[1]),
    "spectrum": (lambda t, f: gf.spectrum(_op(t, f)).frequencies, _spectrum),
    "lambda_max": (lambda t, f: gf.lambda_max(_op(t, f)), lambda t, f: float(_spectrum(t, f)[-1])),
    "tikhonov": (lambda t, f: filters.tikhonov(_op(t, f), t.x, 3.0, tol=1e-12), _tikhonov),
    "FilterBank(heat)": (
        lambda t, f: filters.FilterBank(_op(t, f), filters.heat(0.7), 1e-10).analyze(t.x)[:, 0],
        _heat,
    ),
    "eigengap": (lambda t, f: gf.eigengap(_op(t, f)).ratio, lambda t, f: 1.0 - float(_spectrum(t, f)[1])),
    "expected_s_value": (lambda t, f: gf.expected_s_value(_op(t, f), t.x), _expected_s),
    "total_variation(p=2)": (lambda t, f: gf.total_variation(_op(t, f), t.x, p=2), lambda t, f: _form(t, f)[0]),
    "divergence of gradient": (
        lambda t, f: gf.divergence(_op(t, f), gf.gradient(_op(t, f), t.x)),
        lambda t, f: t.laplacian(f)[0] @ t.x,
    ),
}


def _resistances(truth: Truth) -> Any:
    inverse = np.linalg.pinv(truth.laplacian("comb")[0], hermitian=True)
    return np.array([inverse[i, i] + inverse[j, j] - 2 * inverse[i, j] for i, j, _ in truth.pairs])


def _centred(truth: Truth) -> tuple[Any, float]:
    z = truth.x - truth.x.mean()
    return z, float(z @ z)


def _morans_i(truth: Truth) -> float:
    z, size = _centred(truth)
    total = sum(w for _, _, w in truth.pairs)
    return len(z) * sum(w * z[i] * z[j] for i, j, w in truth.pairs) / (total * size)


def _gearys_c(truth: Truth) -> float:
    z, size = _centred(truth)
    total = sum(w for _, _, w in truth.pairs)
    return (len(z) - 1) * sum(w * (z[i] - z[j]) ** 2 for i, j, w in truth.pairs) / (2 * total * size)


def _effective_rank(truth: Truth) -> float:
    values = np.linalg.svd(np.stack([truth.x, truth.x**2, np.ones_like(truth.x)], axis=1), compute_uv=False)
    share = values[values > 0] / values.sum()
    return math.exp(-float(np.sum(share * np.log(share))))


def _edge_homophily(truth: Truth) -> float:
    same = [truth.y[i] == truth.y[j] for i, j, _ in truth.pairs]
    return float(np.mean(same)) if same else math.nan


def _node_homophily(truth: Truth) -> float:
    shares = []
    for node in range(len(truth.y)):
        labels = [truth.y[j] for i, j, _ in truth.pairs if i == node]
        if labels:
            shares.append(np.mean([label == truth.y[node] for label in labels]))
    return float(np.mean(shares)) if shares else math.nan


def _edge_table(truth: Truth) -> Any:
    """Return the joint distribution of the labels at the two ends of a random edge."""
    table = np.zeros((3, 3)) if truth.pairs else np.full((3, 3), math.nan)
    for i, j, _ in truth.pairs:
        table[truth.y[i], truth.y[j]] += 1.0 / len(truth.pairs)
    return table


def _adjusted_homophily(truth: Truth) -> float:
    table = _edge_table(truth)
    chance = float(np.sum(table.sum(axis=1) ** 2))
    return (float(np.trace(table)) - chance) / (1.0 - chance)


def _label_informativeness(truth: Truth) -> float:
    table = _edge_table(truth)
    ends = table.sum(axis=1)
    joint = sum(p * math.log(p) for p in table.ravel() if p > 0)
    single = sum(p * math.log(p) for p in ends if p > 0)
    return 2.0 - joint / single


# Numbers of a graph alone.
GLOBAL: dict[str, tuple[Callable[[Truth], Any], Callable[[Truth], Any]]] = {
    "resistance": (lambda t: gf.resistance(t.graph, [(i, j) for i, j, _ in t.pairs]), _resistances),
    "morans_i": (lambda t: gf.morans_i(t.graph, t.x), _morans_i),
    "gearys_c": (lambda t: gf.gearys_c(t.graph, t.x), _gearys_c),
    "effective_rank": (
        lambda t: gf.effective_rank(np.stack([t.x, t.x**2, np.ones_like(t.x)], axis=1)),
        _effective_rank,
    ),
    "edge_homophily": (lambda t: gf.edge_homophily(t.graph, t.y), _edge_homophily),
    "node_homophily": (lambda t: gf.node_homophily(t.graph, t.y), _node_homophily),
    "adjusted_homophily": (lambda t: gf.adjusted_homophily(t.graph, t.y), _adjusted_homophily),
    "label_informativeness": (lambda t: gf.label_informativeness(t.graph, t.y), _label_informativeness),
}


@dataclass(frozen=True)
class Comparison:
    """A number of ours and the oracle's, the weights of the norm they are compared in, and their least size."""

    name: str
    graph: str
    ours: Callable[[], Any]
    oracle: Callable[[], Any]
    weights: Any = 1.0
    size: float = 0.0

    def error(self) -> float | None:
        """Return the relative error, None where the library refuses the input, or warns that it cannot be accurate."""
        with warnings.catch_warnings(), np.errstate(all="ignore"):
            warnings.simplefilter("ignore")
            warnings.simplefilter("error", gf.errors.GspWarning)
            try:
                found = np.asarray(self.ours(), dtype=np.float64)
            except (gf.errors.GspError, gf.errors.GspWarning):
                return None
            try:
                want = np.asarray(self.oracle(), dtype=np.float64)
            except ZeroDivisionError:
                return None
            if want.size == 0 or not np.all(np.isfinite(want)):
                return None
            root = np.sqrt(self.weights / np.max(self.weights))
            size = max(float(np.abs(root * want).max()), self.size, float(np.finfo(float).tiny))
            return float(np.abs(root * (found - want)).max()) / size


# Compared in the inner product of the operator, in which their tolerance is stated.
WEIGHTED = {"tikhonov", "FilterBank(heat)"}


def comparisons() -> Iterator[Comparison]:
    """Yield every number on every graph."""
    for title, make in GRAPHS.items():
        graph = make()
        rng = np.random.default_rng(graph.n_nodes)
        truth = Truth(graph, 1.0 + rng.standard_normal(graph.n_nodes), rng.integers(0, 3, graph.n_nodes))
        for name, (ours, oracle) in GLOBAL.items():
            yield Comparison(name, title, partial(ours, truth), partial(oracle, truth))
        for family in VARIANTS:
            energy, norm = _form(truth, family)
            # A difference is known to the size of what is subtracted.
            sizes = {"nonsmooth_energy": max(energy, norm), "dirichlet_energy": norm if family != "comb" else 0.0}
            sizes["eigengap"] = 1.0
            for name, (ours, oracle) in PER_FAMILY.items():
                if name == "expected_s_value" and family.endswith("rw"):
                    continue  # of second order there, not exact
                weights = truth.laplacian(family)[1] if name in WEIGHTED else 1.0
                runs = partial(ours, truth, family), partial(oracle, truth, family)
                yield Comparison(name, f"{title}, {family}", *runs, weights, sizes.get(name, 0.0))


def sweep() -> tuple[str, int]:
    """Return the section of the page and the number of wrong numbers."""
    calls, refused, wrong, begin = Counter[str](), Counter[str](), Counter[str](), time.process_time()
    worst: dict[str, float] = {}
    for one in comparisons():
        error = one.error()
        calls[one.name] += 1
        refused[one.name] += error is None
        wrong[one.name] += error is not None and not error <= WRONG
        worst[one.name] = max(worst.get(one.name, 0.0), error or 0.0)
        if error is not None and not error <= WRONG:
            print(f"WRONG {one.name} of {one.graph}: {error:.1e}", flush=True)
    rows = [
        f"| {name} | {calls[name] - refused[name]} | {refused[name]} | {wrong[name]} | {worst[name]:.1e} |"
        for name in calls
    ]
    section = [
        "## Public numbers",
        "",
        f"`python -m tools.oracles numbers`: {calls.total()} numbers on {len(GRAPHS)} degenerate, hub-heavy and badly "
        f"scaled graphs against dense formulas; {wrong.total()} wrong (off by more than {WRONG:g}). Refused: the "
        "library raises an error or warns that rounding allows no such accuracy, or the number is not defined there. "
        f"{time.process_time() - begin:.0f} s of processor time.",
        "",
        "| number | compared | refused | wrong | largest error |",
        "|---|---|---|---|---|",
        *rows,
        "",
    ]
    return "\n".join(section), wrong.total()
