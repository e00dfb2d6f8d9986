"""Numbers at the edge: extreme weights, degrees and signals against fifty digits; S is right, or the error is clear."""

import importlib.util
import itertools
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import mpmath
import numpy as np
import pytest
from hypothesis import find
from hypothesis import strategies as st

from gsp_fb import Graph, operator, s_value, signal_energy
from gsp_fb.errors import GraphError, SignalError
from gsp_fb.variants import VARIANTS

LAWS = Path(__file__).parent / "laws"
EPS = np.finfo(np.float64).eps
PATH, STAR = [(0, 1), (1, 2), (2, 3)], [(0, 1), (0, 2), (0, 3), (0, 4)]
LOOPED = [(0, 0), (0, 1), (1, 1), (1, 2)]
RING = [(i, (i + 1) % 6) for i in range(6)]
SHAPES = {
    "path": PATH,
    "star": STAR,
    "ring": RING,
    "loops": [(0, 0), (0, 1), (1, 1), (1, 2)],
    "apart": [(0, 1), (2, 3)],
}
# Weights by their decimal exponents, dealt out over the edges in turn.
EXPONENTS = {"tiny": [-12], "huge": [12], "mixed": [-12, 12, 0], "falling": [12, 6, 0, -6, -12], "equal": [0]}
SIZES = [1e-200, 1e-12, 1.0, 1e12, 1e200]


def weighted(shape, exponents):
    edges = SHAPES[shape]
    weights = [float(f"{1 + k / 7:.3f}e{e}") for k, e in zip(range(len(edges)), itertools.cycle(exponents))]
    return edges, weights, 1 + max(max(edge) for edge in edges)


def matrix(edges, weights, n_nodes):
    A = mpmath.zeros(n_nodes)
    for (i, j), weight in zip(edges, weights, strict=True):
        A[i, j] = A[j, i] = mpmath.mpf(weight)
    return A, [mpmath.fsum(A[i, j] for j in range(n_nodes)) for i in range(n_nodes)]


def laplacian(A, degrees, family):
    """Return the high channel of ``family`` with gamma = 1 by the paper's dense formulas."""
    n_nodes, variant = len(degrees), VARIANTS[family]
    added = {"none": [0] * n_nodes, "unit": [1] * n_nodes, "degree": degrees}[variant.loops]
    total = [d + s for d, s in zip(degrees, added, strict=True)]
    roots = [mpmath.sqrt(d) for d in total]
    divisors = {"none": lambda i, j: 1, "sym": lambda i, j: roots[i] * roots[j], "rw": lambda i, j: total[i]}
    L = mpmath.zeros(n_nodes)
    for i, j in itertools.product(range(n_nodes), repeat=2):
        own = (total[i] if variant.norm == "none" else 1) if i == j else 0
        L[i, j] = own - (A[i, j] + (added[i] if i == j else 0)) / divisors[variant.norm](i, j)
    return L


def exact_s(weights, x, family, *, edges):
    """Return S in fifty digits, and the size of the numbers that rounding is relative to.

    Random-walk families are taken in the inner product with the degrees ``d~`` as weights, 1 at an isolated node.
    """
    with mpmath.workdps(50):
        A, degrees = matrix(edges, weights, len(x))
        column = mpmath.matrix([mpmath.mpf(float(value)) for value in x])
        scale = max(degrees) if VARIANTS[family].norm == "none" else 1
        added = {"none": [0] * len(x), "unit": [1] * len(x), "degree": degrees}[VARIANTS[family].loops]
        total = [d + s or mpmath.mpf(1) for d, s in zip(degrees, added, strict=True)]
        metric = mpmath.diag(total if VARIANTS[family].norm == "rw" else [1] * len(x))
        return (column.T * metric * laplacian(A, degrees, family) * column)[0] / (column.T * metric * column)[0], scale


def right(found, exact, scale, n_nodes):
    return abs(mpmath.mpf(found) - exact) <= 64 * EPS * n_nodes * scale


@pytest.mark.parametrize("family", VARIANTS)
@pytest.mark.parametrize("exponents", EXPONENTS)
@pytest.mark.parametrize("shape", SHAPES)
def test_s_is_right_for_weights_of_every_size(shape, exponents, family):
    edges, weights, n_nodes = weighted(shape, EXPONENTS[exponents])
    high = operator(Graph.from_edges(edges, weights), family, channel="high")
    signals = [np.ones(n_nodes), (-1.0) ** np.arange(n_nodes), np.random.default_rng(0).normal(size=n_nodes)]
    for x in signals:
        exact, scale = exact_s(weights, x, family, edges=edges)
        assert right(s_value(high, x), exact, scale, n_nodes)


@pytest.mark.parametrize("family", VARIANTS)
@pytest.mark.parametrize("size", SIZES)
def test_s_does_not_depend_on_the_size_of_the_signal(size, family):
    edges, weights, n_nodes = weighted("path", [0])
    high = operator(Graph.from_edges(edges, weights), family, channel="high")
    x = np.random.default_rng(1).normal(size=n_nodes)
    exact, scale = exact_s(weights, x, family, edges=edges)
    assert right(s_value(high, x * size), exact, scale, n_nodes)
    # Entries of very different size: the small ones are below what a double can tell from zero.
    mixed = np.array([size, *x[1:]])
    exact, scale = exact_s(weights, mixed, family, edges=edges)
    assert right(s_value(high, mixed), exact, scale, n_nodes)


@pytest.mark.parametrize("family", VARIANTS)
def test_columns_of_very_different_size_each_have_their_s(family):
    edges, weights, n_nodes = weighted("ring", [0])
    high = operator(Graph.from_edges(edges, weights), family, channel="high")
    x = np.random.default_rng(2).normal(size=n_nodes)
    found = s_value(high, x[:, None] * np.array(SIZES), per_column=True)
    exact, scale = exact_s(weights, x, family, edges=edges)
    assert all(right(value, exact, scale, n_nodes) for value in found)


def test_an_energy_beyond_float64_is_refused_and_one_below_it_vanishes():
    assert signal_energy(np.full(3, 1e-200)) == 0.0
    with pytest.raises(SignalError, match="overflows float64"):
        signal_energy(np.full(3, 1e200))


@pytest.mark.parametrize("family", VARIANTS)
def test_degrees_near_the_largest_number(family):
    for edges, weights in (([(0, 1)], [1e308]), ([(0, 1), (1, 2)], [8e307, 8e307])):
        high = operator(Graph.from_edges(edges, weights), family, channel="high")
        n_nodes = len(edges) + 1
        for x in (np.ones(n_nodes), (-1.0) ** np.arange(n_nodes)):
            exact, scale = exact_s(weights, x, family, edges=edges)
            if abs(exact) > np.finfo(np.float64).max:
                with pytest.raises(SignalError, match="overflow"):
                    s_value(high, x)
            else:
                assert right(s_value(high, x), exact, scale, n_nodes)


def test_a_degree_that_overflows_names_its_node():
    with pytest.raises(GraphError, match="degree of node 1 overflows"):
        operator(Graph.from_edges([(0, 1), (1, 2)], [1e308, 1e308]), "sym")


@pytest.mark.parametrize("family", VARIANTS)
def test_a_million_isolated_nodes(family):
    n_nodes = 10**6
    graph = Graph.from_edges([(0, 1)], n_nodes=n_nodes)
    x = np.ones(n_nodes)
    # The two nodes of the edge have weight d~ in the inner product of a random-walk family, the others 1.
    edge = {"rw": 2 * {"none": 1, "unit": 2, "degree": 2}[VARIANTS[family].loops]}.get(VARIANTS[family].norm, 2)
    lost = 0.0 if VARIANTS[family].loops == "unit" or family == "comb" else (n_nodes - 2) / (n_nodes - 2 + edge)
    expected = {"self": 0.0, "zero": lost}
    for isolated, value in expected.items():
        high = operator(graph, family, channel="high", isolated=isolated)
        assert s_value(high, x) == pytest.approx(value, abs=1e-12)
    assert graph.n_components == n_nodes - 1


@pytest.mark.parametrize("exponent", [-12, 0, 12])
def test_disconnected_and_bipartite_graphs_reach_both_ends(exponent):
    weight = 10.0**exponent
    halves = [(i, j) for i in range(3) for j in range(3, 7)]
    both = halves + [(i + 7, j + 7) for i, j in halves]
    graph = Graph.from_edges(both, np.full(len(both), weight))
    side = np.isin(np.arange(14) % 7, [0, 1, 2])
    roots = np.sqrt(graph.degrees)
    high = operator(graph, "sym", channel="high")
    assert s_value(high, np.where(side, roots, -roots)) == pytest.approx(2.0, abs=64 * EPS * 14)
    assert s_value(high, np.where(np.arange(14) < 7, roots, -5 * roots)) == pytest.approx(0.0, abs=64 * EPS * 14)
    assert graph.n_components == 2


def laws(name):
    """Return the Hypothesis tests of a file of laws that take nothing but what is drawn."""
    path = LAWS / f"{name}.py"
    spec = importlib.util.spec_from_file_location(f"{name}_in_threads", path)
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    tests = [thing for title, thing in vars(module).items() if title.startswith("test_")]
    return [test for test in tests if getattr(test, "is_hypothesis_test", False) and not hasattr(test, "pytestmark")]


@pytest.mark.slow
@pytest.mark.filterwarnings("ignore::hypothesis.errors.HypothesisWarning")
@pytest.mark.parametrize("name", sorted(path.stem for path in LAWS.glob("test_*.py")))
def test_the_laws_hold_in_four_threads(name):
    """Each thread checks all laws, each from another one on, so that different laws meet at every moment."""
    tests = laws(name)
    assert len(tests) >= 3
    # Hypothesis imports this strategy when it is first used, and Python 3.11 must not compile in threads at once.
    find(st.randoms(), lambda random: True)

    def check(first):
        for test in tests[first:] + tests[:first]:
            test()

    with ThreadPoolExecutor(4) as pool:
        list(pool.map(check, [k * len(tests) // 4 for k in range(4)]))
