"""Sparsification, pyramids and coarsening: errors against dense eigenvalues, reconstruction, PyGSP, refusals."""

import importlib

import numpy as np
import pytest
from scipy import linalg, sparse

import gsp_fb as gf
from gsp_fb import datasets
from gsp_fb.errors import GraphError, ParameterError, SignalError
from gsp_fb.reduction import Pyramid, coarsen, sparsify
from gsp_fb.reduction.kron import kron, sampled_kron

DIRECTED = gf.Graph.from_edges([(0, 1), (1, 2)], directed=True)


def laplacian(graph):
    return gf.operator(graph, "comb", "high").to_scipy().toarray()


def pencil(graph, other):
    """Extreme eigenvalues of L' x = mu L x outside of the constants, by LAPACK on a basis that leaves them out."""
    n = graph.n_nodes
    inside = linalg.null_space(np.ones((1, n)))
    values = linalg.eigh(inside.T @ laplacian(other) @ inside, inside.T @ laplacian(graph) @ inside, eigvals_only=True)
    return values[0], values[-1]


@pytest.mark.parametrize(("n", "proof"), [(150, "dense"), (700, "lanczos")])
@pytest.mark.parametrize("epsilon", [0.5, 0.9])
def test_the_error_of_a_sparsified_graph_bounds_the_pencil(n, proof, epsilon):
    graph = datasets.erdos_renyi(n, 150 / n, rng=0)
    found = sparsify(graph, epsilon)
    low, high = pencil(graph, found.graph)
    assert found.proof == proof
    assert max(1 - low, high - 1) <= found.error * (1 + 1e-9) <= epsilon * (1 + 1e-9)
    assert found.error <= max(1 - low, high - 1) * (1e-9 + (1 if proof == "dense" else 1.3))
    assert found.graph.n_edges < graph.n_edges
    assert found.graph.n_components == 1


def test_sparsifying_keeps_loops_names_bridges_and_components():
    clique = [(i, j) for i in range(60) for j in range(i)]
    edges = np.array([*clique, (0, 60), (60, 60), *((i + 61, j + 61) for i, j in clique)])
    graph = gf.Graph.from_edges(edges, nodes=[f"n{i}" for i in range(121)])
    found = sparsify(graph, 0.8, rng=3)
    assert found.graph.labels == graph.labels
    assert found.graph.adjacency[60, 60] == 1.0
    assert found.graph.adjacency[0, 60] == 1.0
    assert found.graph.n_components == graph.n_components
    assert found.graph.n_edges < graph.n_edges


def test_a_tree_is_its_own_sparsifier():
    found = sparsify(datasets.star(30), 0.1)
    assert (found.error, found.proof) == (0.0, "identical")
    assert sparsify(datasets.path(1), 0.5).error == 0.0


@pytest.mark.parametrize("epsilon", [0, 1, -1, float("nan")])
def test_epsilon_lies_between_0_and_1(epsilon):
    with pytest.raises(ParameterError, match="epsilon"):
        sparsify(datasets.ring(5), epsilon)


@pytest.mark.parametrize("call", [lambda g: sparsify(g, 0.5), lambda g: Pyramid(g, 1), lambda g: coarsen(g, 0.5, k=1)])
def test_directed_and_signed_graphs_are_refused(call):
    with pytest.raises(GraphError, match="symmetrize="):
        call(DIRECTED)
    with pytest.raises(GraphError, match=r"needs weights >= 0 and this graph has negative ones"):
        call(gf.Graph.from_edges([(0, 1), (1, 2), (2, 3), (0, 3)], [1.0, -1.0, 2.0, 1.0], signed=True))


def test_a_pyramid_passes_its_limit_on_to_the_reductions(monkeypatch):
    module = importlib.import_module("gsp_fb.reduction.pyramid")
    limits = []
    monkeypatch.setattr(module, "kron", lambda *args, **options: limits.append(options) or kron(*args, **options))
    Pyramid(datasets.grid(6), 1, max_entries=300_000_000)
    assert limits == [{"max_entries": 300_000_000}]


def test_leverage_by_random_projection_is_near_the_exact_one(monkeypatch):
    module = importlib.import_module("gsp_fb.reduction.sparsify")
    graph = datasets.sensor(300, rng=0)
    made = module._Pencil(gf.operator(graph, "comb", "high"), *module.laplacian_solver(graph))
    exact = made.leverage(np.random.default_rng(0))
    assert exact.sum() == pytest.approx(graph.n_nodes - graph.n_components)
    monkeypatch.setattr(module, "EXACT_NODES", 10)
    rough = made.leverage(np.random.default_rng(0))
    assert np.abs(rough / exact - 1).mean() < 0.2


GRAPHS = {
    "grid": lambda: datasets.grid(9, 10),
    "sensor": lambda: datasets.sensor(120, rng=0),
    "weighted": lambda: gf.Graph.from_edges([(i, i + 1) for i in range(40)], weights=10 ** np.linspace(-3, 3, 40)),
    "two parts": lambda: gf.Graph.from_edges(
        [(i, (i + 1) % 8) for i in range(8)] + [(8 + i, 8 + (i + 1) % 9) for i in range(9)], n_nodes=18
    ),
    "loops": lambda: gf.Graph.from_edges([(i, i + 1) for i in range(30)] + [(4, 4)]),
}


@pytest.mark.parametrize("max_entries", [1_000_000, 1])
@pytest.mark.parametrize("regularization", [0.0, 0.005])
@pytest.mark.parametrize("name", GRAPHS)
def test_a_pyramid_reconstructs_to_rounding(name, regularization, max_entries):
    graph, rng = GRAPHS[name](), np.random.default_rng(0)
    pyramid = Pyramid(graph, 3, regularization=regularization, max_entries=max_entries)
    for shape in ((graph.n_nodes,), (graph.n_nodes, 3)):
        x = rng.standard_normal(shape)
        parts = pyramid.analyze(x)
        assert [len(part) for part in parts] == [g.n_nodes for g in reversed(pyramid.graphs)]
        np.testing.assert_allclose(pyramid.synthesize(parts), x, atol=1e-14 * np.abs(x).max())
        other = [rng.standard_normal(part.shape) for part in parts]
        both = pyramid.synthesize([a + b for a, b in zip(parts, other, strict=True)])
        np.testing.assert_allclose(both, x + pyramid.synthesize(other), atol=1e-7)


def test_constant_signals_have_no_prediction_error():
    parts = Pyramid(GRAPHS["sensor"](), 3).analyze(np.full(120, 2.5))
    assert all(np.abs(part).max() < 1e-8 for part in parts[1:])
    np.testing.assert_allclose(parts[0], 2.5, atol=1e-8)


def test_it_is_pygsps_pyramid():
    pygsp = pytest.importorskip("pygsp")
    graph = datasets.sensor(100, rng=1)
    x = np.random.default_rng(0).standard_normal(graph.n_nodes)
    pyramid = Pyramid(graph, 2, regularization=0.005)
    other = pygsp.graphs.Graph(graph.adjacency.toarray(), coords=np.zeros((graph.n_nodes, 2)))
    theirs = pygsp.reduction.graph_multiresolution(other, 2, sparsify=False, compute_full_eigen=True)
    for ours, level in zip(pyramid.graphs, theirs, strict=True):
        np.testing.assert_allclose(ours.adjacency.toarray(), level.W.toarray(), atol=1e-10)
    approximations, errors = pygsp.reduction.pyramid_analysis(
        theirs, x[:, None], h_filters=[lambda e: 1 / (2 * e + 1)] * 2, method="exact"
    )
    parts = pyramid.analyze(x)
    for ours, expected in zip(parts, [approximations[-1], *reversed(errors)], strict=True):
        np.testing.assert_allclose(ours, np.ravel(expected), atol=1e-7)


def test_a_sampled_reduction_is_unbiased_connected_and_no_larger():
    graph = datasets.sensor(40, rng=0)
    keep, n = np.arange(0, 40, 2), 500
    mean = sum(laplacian(sampled_kron(graph, keep, np.random.default_rng(seed))) for seed in range(n)) / n
    exact = laplacian(gf.reduction.kron(graph, keep))
    assert np.linalg.norm(mean - exact) < 0.1 * np.linalg.norm(exact)
    single = sampled_kron(graph, keep, np.random.default_rng(0))
    assert single.n_components == graph.n_components
    assert single.n_edges <= graph.n_edges


def test_a_pyramid_of_8000_nodes_stays_sparse():
    graph = datasets.sensor(8_000, rng=0)
    pyramid = Pyramid(graph, 4)
    assert not pyramid.exact[0]
    assert max(level.n_edges for level in pyramid.graphs) <= max(graph.n_edges, 500_000)
    x = np.random.default_rng(0).standard_normal(graph.n_nodes)
    np.testing.assert_allclose(pyramid.synthesize(pyramid.analyze(x)), x, atol=1e-14 * np.abs(x).max())


@pytest.mark.parametrize(
    ("call", "error", "message"),
    [
        (lambda g: Pyramid(g, 0), ParameterError, "levels"),
        (lambda g: Pyramid(g, 9), ParameterError, "fewer levels"),
        (lambda g: Pyramid(g, 1, regularization=-1.0), ParameterError, "regularization"),
        (lambda g: Pyramid(g, 1).analyze(np.ones(3)), SignalError, "x: signal has 3 rows"),
        (lambda g: Pyramid(g, 1).analyze(1j * np.ones(12)), SignalError, "real"),
        (lambda g: Pyramid(g, 1).synthesize([np.ones(12)]), SignalError, "1 arrays"),
        (lambda g: Pyramid(g, 1).synthesize([np.ones(12), np.ones(12)]), SignalError, "part 0"),
        (lambda g: Pyramid(g, 1).synthesize([np.ones(6), np.ones((12, 2))]), SignalError, "agree"),
        (lambda g: coarsen(g, 1.5), ParameterError, "ratio"),
        (lambda g: coarsen(g, 0.5, k=10), ParameterError, "k=10"),
        (lambda g: coarsen(g, 0.5, k=2, method="best"), ParameterError, "heavy_edge"),
    ],
)
def test_refusals(call, error, message):
    with pytest.raises(error, match=message):
        call(datasets.ring(12))


@pytest.mark.parametrize("method", ["variation", "heavy_edge"])
@pytest.mark.parametrize("name", GRAPHS)
def test_coarse_frequencies_are_those_of_signals_constant_over_groups(name, method):
    graph, k = GRAPHS[name](), 4
    found = coarsen(graph, 0.5, k=k, method=method)
    assert found.graph.n_nodes == round(graph.n_nodes / 2)
    assert found.graph.n_components == graph.n_components
    sizes = np.bincount(found.groups)
    S = np.eye(len(sizes))[found.groups] / np.sqrt(sizes)
    wanted = np.linalg.eigvalsh(S.T @ laplacian(graph) @ S)[:k]
    lowest = np.linalg.eigvalsh(laplacian(graph))[:k]
    top = np.abs(laplacian(graph)).max()
    np.testing.assert_allclose(found.coarse_frequencies, wanted, atol=1e-9 * top)
    assert (found.coarse_frequencies >= lowest - 1e-10 * top).all()
    real = np.arange(k) >= graph.n_components
    assert found.error == pytest.approx(max(wanted[real] / lowest[real] - 1, default=0.0), rel=1e-4)


def test_groups_are_connected_and_signals_go_both_ways():
    graph = GRAPHS["sensor"]()
    found = coarsen(graph, 0.3, k=5)
    for group in range(found.graph.n_nodes):
        assert graph.subgraph(np.flatnonzero(found.groups == group)).n_components == 1
    y = np.arange(found.graph.n_nodes, dtype=float)
    np.testing.assert_allclose(found.restrict(found.lift(y)), y)
    assert found.restrict(np.ones((120, 2))).shape == (36, 2)
    assert found.sizes.sum() == 120


def test_variation_keeps_the_low_end_better_than_random_contraction():
    graph, rng = datasets.sensor(200, rng=0), np.random.default_rng(0)
    chosen = coarsen(graph, 0.5, k=6)
    source, target, _ = graph.edges()
    free, groups = np.ones(200, dtype=bool), np.arange(200)
    for e in rng.permutation(len(source)):
        if free[source[e]] and free[target[e]]:
            groups[target[e]], free[source[e]], free[target[e]] = source[e], False, False
    groups = np.unique(groups, return_inverse=True)[1]
    S = sparse.csr_array((np.ones(200), (np.arange(200), groups))).toarray()
    S /= np.sqrt(S.sum(axis=0))
    random = np.linalg.eigvalsh(S.T @ laplacian(graph) @ S)[1:6] / chosen.frequencies[1:] - 1
    assert chosen.error < random.max()
