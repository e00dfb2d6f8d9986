"""Laws that hold on every storage of a graph: what is computed there is what is computed in memory.

A test module imports them beside a fixture ``stored``, which takes a graph in memory to the storage under test. They
run in memory, on disk under a small memory limit, and, without Hypothesis, in the Python of an MPI job on its ranks.
"""

import itertools

import numpy as np
import pytest
from scipy import sparse

import gsp_fb as gf
from gsp_fb.errors import GraphError, ParameterError, SignalError
from gsp_fb.filters import heat, mexican_hat
from gsp_fb.variants import CHANNELS, VARIANTS

EPS = float(np.finfo(float).eps)
GAMMAS = (0.3, 20.0)
KERNELS = [heat(2.0), *mexican_hat(3)]
HOMOPHILY = ("node_homophily", "edge_homophily", "class_homophily", "adjusted_homophily", "label_informativeness")


def make_random(n_nodes, n_edges, seed, *, directed=False, weighted=True, connected=False, signed=False):
    rng = np.random.default_rng(seed)
    edges = rng.integers(0, n_nodes, (n_edges, 2))
    if connected:
        edges[: n_nodes - 1] = np.stack([np.arange(n_nodes - 1), np.arange(1, n_nodes)], axis=1)
    weights = 10.0 ** rng.uniform(-3, 3, n_edges) if weighted else None
    if signed:
        weights = rng.choice([-1.0, 1.0], n_edges) * (1.0 if weights is None else weights)
    return gf.Graph.from_edges(edges, weights, n_nodes, directed=directed, duplicates="first", signed=signed)


# Each reaches something: one node, none connected, isolated nodes, loops, two components, bipartite, weights over six
# orders of magnitude, arcs, a hub, negative and complex weights.
GRAPHS = {
    "one node": lambda: gf.Graph.from_edges(np.empty((0, 2), dtype=int), n_nodes=1),
    "no edges": lambda: gf.Graph.from_edges(np.empty((0, 2), dtype=int), n_nodes=5),
    "one edge": lambda: gf.Graph.from_edges([(0, 1)]),
    "loops and isolated nodes": lambda: gf.Graph.from_edges([(1, 1), (1, 2), (4, 4), (2, 6)], n_nodes=9),
    "two rings": lambda: gf.Graph.from_edges(
        [(i, (i + 2) % 14) for i in range(14)], weights=0.5 + np.arange(14), duplicates="first"
    ),
    "star": lambda: gf.datasets.star(20),
    "grid": lambda: gf.datasets.grid(9, 7),
    "random weights": lambda: make_random(40, 120, 1),
    "arcs": lambda: make_random(30, 90, 2, directed=True),
    "signed": lambda: make_random(35, 100, 3, signed=True),
    "magnetic": lambda: make_random(30, 90, 4, directed=True).magnetic(0.2),
}


@pytest.fixture(params=GRAPHS, scope="session")
def graph(request):
    return GRAPHS[request.param]()


@pytest.fixture(params=[name for name in GRAPHS if name != "arcs"], scope="session")
def undirected(request):
    return GRAPHS[request.param]()


def gammas(family):
    return GAMMAS if VARIANTS[family].has_gamma else (None,)


def operators(there, graph, *, channels=CHANNELS, isolated=("self", "zero")):
    """Every operator on the storage beside the one in memory."""
    for family, channel, policy in itertools.product(VARIANTS, channels, isolated):
        for gamma in gammas(family):
            yield tuple(gf.operator(one, family, channel, gamma, policy) for one in (there, graph))


def whole(there, rows):
    return there.storage.gather(np.asarray(rows))


def signal(graph, *shape, kind=np.float64):
    rng = np.random.default_rng(graph.n_nodes)
    x = rng.standard_normal((graph.n_nodes, *shape))
    return (x + 1j * rng.standard_normal(x.shape) if np.issubdtype(kind, np.complexfloating) else x).astype(kind)


def size(op):
    return 1.0 + float(abs(op.to_scipy()).sum(axis=1).max()) if op.graph.n_nodes else 1.0


def assert_near(actual, expected, scale):
    np.testing.assert_allclose(actual, expected, rtol=0, atol=float(scale))


def test_facts(stored, graph):
    there = stored(graph)
    facts = ("n_nodes", "n_entries", "n_edges", "n_loops", "n_isolated", "n_components", "longest_row")
    for fact in (*facts, "directed", "is_weighted", "is_signed", "is_complex", "sha256", "device"):
        assert getattr(there, fact) == getattr(graph, fact), fact
    assert_near(whole(there, there.degrees), graph.degrees, 64 * EPS * graph.degrees.max())
    np.testing.assert_array_equal(whole(there, there.loop_weights), graph.loop_weights)
    np.testing.assert_array_equal(whole(there, there.component_labels), graph.component_labels)
    assert there.load().sha256 == graph.sha256
    assert f"n_nodes={graph.n_nodes}, n_edges={graph.n_edges}" in repr(there)


def test_products_of_every_operator(stored, graph):
    x, there = signal(graph, 3), stored(graph)
    for op, here in operators(there, graph):
        assert_near(whole(there, op @ there.local(x)), here @ x, 64 * EPS * size(here) * abs(x).max())


@pytest.mark.parametrize("kind", [np.float32, np.float64, np.complex64, np.complex128, np.int64])
@pytest.mark.parametrize("shape", [(), (1,), (2,)])
def test_products_of_every_kind_of_signal(stored, graph, kind, shape):
    x, there = signal(graph, *shape, kind=kind), stored(graph)
    op, here = next(operators(there, graph, channels=("high",)))
    actual = whole(there, op @ there.local(x))
    assert actual.dtype == (here @ x).dtype
    accuracy = 64 * float(np.finfo(actual.dtype).eps)
    assert_near(actual, here @ x, accuracy * size(here) * (1 + abs(x).max()))


def test_bounds_of_every_operator(stored, undirected):
    for op, here in operators(stored(undirected), undirected):
        assert_near(op.bounds, here.bounds, 64 * EPS * size(here))


def test_energies_of_every_family(stored, graph):
    x, there = signal(graph, 3), stored(graph)
    own = there.local(x)
    for op, here in operators(there, graph, channels=("high",)):
        scale = 64 * EPS * graph.n_nodes * size(here) * np.sum(x**2) * float(np.max(here.scale, initial=1.0)) ** 2
        for per_column, inner in itertools.product((False, True), (None, "plain")):
            options = {"per_column": per_column, "inner": inner}
            for measure in (gf.dirichlet_energy, gf.nonsmooth_energy, gf.s_value):
                assert_near(measure(op, own, **options), measure(here, x, **options), scale)
            assert_near(gf.signal_energy(own, op, **options), gf.signal_energy(x, here, **options), scale)


def test_energies_of_sparse_signals(stored, graph):
    x, there = signal(graph, 4), stored(graph)
    x = sparse.csr_array(np.where(x > 0, x, 0.0))
    op, here = (gf.operator(one, "sym", "high") for one in (there, graph))
    assert_near(
        gf.dirichlet_energy(op, there.local(x)), gf.dirichlet_energy(here, x), 64 * EPS * graph.n_nodes * size(here)
    )


def test_products_and_banks_of_sparse_signals(stored, undirected):
    x, there = signal(undirected, 4), stored(undirected)
    x = sparse.csr_array(np.where(x > 0, x, 0.0))
    op, here = (gf.operator(one, "sym", "high") for one in (there, undirected))
    product = op @ there.local(x)
    dense = product.toarray() if sparse.issparse(product) else product
    assert_near(whole(there, dense), here @ x.toarray(), 64 * EPS * size(here) * (1 + abs(x).max()))
    for method in ("auto", "chebyshev"):
        bank, expected = (gf.FilterBank(one, KERNELS, method=method) for one in (op, here))
        found = whole(there, bank.analyze(there.local(x)))
        assert_near(found, expected.analyze(x.toarray()), 1e4 * EPS * (1 + abs(x).max()))


@pytest.mark.parametrize("factor", [1e-200, 1e200, 1e-300])
@pytest.mark.parametrize("per_column", [False, True])
def test_s_does_not_see_the_unit_of_the_signal(stored, factor, per_column):
    graph = make_random(40, 120, 1)
    there, x = stored(graph), signal(graph, 5)
    for family in VARIANTS:
        op = gf.operator(there, family, "high")
        expected = gf.s_value(gf.operator(graph, family, "high"), x, per_column=per_column)
        actual = gf.s_value(op, there.local(factor * x), per_column=per_column)
        np.testing.assert_allclose(actual, expected, rtol=1e-9)


@pytest.mark.parametrize("per_column", [False, True])
@pytest.mark.parametrize("kind", ["dense", "sparse", "complex", "sparse complex"])
def test_expectations_under_random_permutation(stored, graph, per_column, kind):
    x, there = signal(graph, 5), stored(graph)
    x = np.where((x > 0) | (np.arange(len(x)) == 0)[:, None], x, 0.0)
    dense = x + 1j * x[:, ::-1] if "complex" in kind else x
    x = sparse.csr_array(dense) if "sparse" in kind else dense
    for op, here in operators(there, graph, channels=("high",)):
        if np.iscomplexobj(graph.adjacency.data):
            with pytest.raises(GraphError, match="real weights"):
                gf.expected_s_value(op, there.local(x), per_column=per_column)
            continue
        want = gf.expected_s_value(here, dense, per_column=per_column)
        found = gf.expected_s_value(op, there.local(x), per_column=per_column)
        np.testing.assert_allclose(found, want, rtol=1e-9, atol=1e-12 * size(here))


def test_s_is_the_mean_of_the_profile_within_the_bounds(stored, undirected):
    x, there = signal(undirected), stored(undirected)
    for op, here in operators(there, undirected, channels=("high",), isolated=("self",)):
        s = gf.s_value(op, there.local(x))
        slack = 64 * EPS * undirected.n_nodes * size(here)
        assert op.bounds[0] - slack <= s <= op.bounds[1] + slack
        moments = gf.energy_profile(op, there.local(x)).moments
        assert_near(s, moments[1] / moments[0], slack)


def test_homophily(stored, graph):
    there, y = stored(graph), np.arange(graph.n_nodes) * 7 % 4 - 1
    for name in HOMOPHILY:
        measure = getattr(gf, name)
        np.testing.assert_allclose(measure(there, there.local(y)), measure(graph, y), rtol=1e-12, atol=1e-12)


def test_chebyshev_banks_of_every_family(stored, undirected):
    x, there = signal(undirected, 2), stored(undirected)
    for op, here in operators(there, undirected, channels=("high",), isolated=("self",)):
        bank, expected = (gf.FilterBank(one, KERNELS, method="chebyshev") for one in (op, here))
        scale = 1e4 * EPS * abs(x).max() * float(here.scale.max() / here.scale.min())
        assert_near(whole(there, bank.analyze(there.local(x))), expected.analyze(x), scale)
        plan, serial = bank.plan(there.local(x)), expected.plan(x)
        assert (plan.method, plan.order) == (serial.method, serial.order)
        assert plan.error_bound == pytest.approx(serial.error_bound, rel=1e-6)


def test_a_bank_chooses_as_in_memory(stored, undirected):
    x, there = signal(undirected), stored(undirected)
    op, here = (gf.operator(one, "sym", "high") for one in (there, undirected))
    bank, expected = gf.FilterBank(op, KERNELS), gf.FilterBank(here, KERNELS)
    assert bank.plan(there.local(x)).method == expected.plan(x).method
    assert_near(whole(there, bank.analyze(there.local(x))), expected.analyze(x), 1e4 * EPS)


@pytest.mark.parametrize("n_nodes", [30, 700])
def test_profiles(stored, n_nodes):
    graph = make_random(n_nodes, 4 * n_nodes, 5, weighted=False)
    x, there = signal(graph, 2), stored(graph)
    for family in ("comb", "renorm_rw"):
        op, here = (gf.operator(one, family, "high") for one in (there, graph))
        actual = gf.energy_profile(op, there.local(x), matvecs=60)
        expected = gf.energy_profile(here, x, matvecs=60)
        assert actual.matvecs == expected.matvecs
        for name in ("edges", "energy", "lower", "upper", "moments"):
            values = getattr(expected, name)
            # Lanczos's rules move with the last digits of the products; what they bound does not.
            assert_near(getattr(actual, name), values, 1e-6 * abs(values).max())
        assert actual.total == pytest.approx(expected.total, rel=1e-13)


@pytest.mark.parametrize("n_nodes", [30, 700])
def test_densities_and_the_largest_eigenvalue(stored, n_nodes):
    graph = make_random(n_nodes, 4 * n_nodes, 5, weighted=False)
    op, here = (gf.operator(one, "sym", "high") for one in (stored(graph), graph))
    assert gf.lambda_max(op) == pytest.approx(gf.lambda_max(here), rel=1e-9)
    actual, expected = (gf.spectral_density(one, n_vectors=3, matvecs=30, rng=0) for one in (op, here))
    assert_near(actual.fraction, expected.fraction, 1e-6)


def test_small_graphs_are_decomposed_whole(stored, undirected):
    x, there = signal(undirected, 2), stored(undirected)
    for op, here in operators(there, undirected, isolated=("self",)):
        found, expected = gf.spectrum(op), gf.spectrum(here)
        assert found.method == "dense"
        assert_near(found.frequencies, expected.frequencies, 64 * EPS * undirected.n_nodes * size(here))
        spread = float(here.scale.max() / here.scale.min())
        assert_near(whole(there, found.igft(found.gft(there.local(x)))), x, 1e4 * EPS * spread * abs(x).max())


def test_eigengaps_of_every_family(stored, undirected):
    there = stored(undirected)
    if undirected.n_nodes < 2:
        with pytest.raises(ParameterError, match="at least 2 nodes"):
            gf.eigengap(gf.operator(there, "sym"))
        return
    for op, here in operators(there, undirected, isolated=("self",)):
        actual, expected = gf.eigengap(op), gf.eigengap(here)
        assert actual.ratio == pytest.approx(expected.ratio, abs=1e-10)
        assert actual.method == expected.method


def test_refusals(stored):
    graph = gf.datasets.grid(9, 7)
    there, x = stored(graph), signal(graph)
    op = gf.operator(there, "sym", "high")
    x[-1] = np.nan
    with pytest.raises(SignalError, match="must be finite"):
        gf.s_value(op, there.local(x))
    with pytest.raises(SignalError, match="zero everywhere"):
        gf.s_value(op, np.zeros(len(there.local_rows)))
    with pytest.raises(ParameterError, match="high channel"):
        gf.s_value(gf.operator(there, "sym"), np.ones(len(there.local_rows)))
    lonely = stored(gf.Graph.from_edges([(0, 1)], n_nodes=4))
    with pytest.raises(GraphError, match="node 2 is isolated"):
        gf.operator(lonely, "sym", isolated="error")
    assert gf.operator(lonely, "renorm_sym", isolated="error").isolated == "error"
    arcs = gf.operator(stored(make_random(30, 90, 2, directed=True)), "sym", "high")
    with pytest.raises(GraphError, match="directed"):
        gf.spectrum(arcs, 3)


def test_what_needs_all_edges_works_in_memory_and_names_the_remedy_elsewhere(stored):
    graph = gf.datasets.grid(9, 7)
    there = stored(graph)
    op = gf.operator(there, "sym", "high")
    needs = (
        lambda: there.adjacency,
        there.edges,
        lambda: (there.indptr, there.indices, there.weights, there.rows),
        lambda: there.reordered("rcm"),
        op.to_scipy,
    )
    for need in needs:
        if there.storage.kind == "memory":
            need()
            continue
        with pytest.raises(GraphError, match=r"\.load\(\)"):
            need()
    assert there.load().adjacency.shape == (63, 63)
