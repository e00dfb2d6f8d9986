"""Moran's I, Geary's C and the effective rank, against their formulas written out."""

import tracemalloc

import numpy as np
import pytest
from numpy.testing import assert_allclose
from scipy import sparse

import gsp_fb as gf
from gsp_fb.errors import GraphError, GspWarning, SignalError

RNG = np.random.default_rng(0)
N = 60
A = np.triu(RNG.random((N, N)) * (RNG.random((N, N)) < 0.2))
X = RNG.random((N, 150)) * (RNG.random((N, 150)) < 0.3)


def moran(W, x):
    z = x - x.mean()
    return len(x) / W.sum() * (W * np.outer(z, z)).sum() / (z**2).sum()


def geary(W, x):
    differences = (W * (x[:, None] - x[None, :]) ** 2).sum()
    return (len(x) - 1) / (2 * W.sum()) * differences / ((x - x.mean()) ** 2).sum()


GRAPHS = {
    "undirected": (gf.Graph.from_adjacency(A + A.T), A + A.T),
    "directed": (gf.Graph.from_adjacency(A, directed=True), A),
    "light": (gf.Graph.from_adjacency(1e-90 * (A + A.T)), A + A.T),
    "star": (gf.datasets.star(N), np.array(gf.datasets.star(N).adjacency.toarray())),
}


@pytest.mark.parametrize("name", GRAPHS)
@pytest.mark.parametrize("make", [np.asarray, sparse.csr_array, sparse.coo_array], ids=["dense", "csr", "coo"])
def test_statistics_are_their_formulas_without_loops(name, make):
    graph, weights = GRAPHS[name]
    W = weights - np.diag(np.diag(weights))
    assert_allclose(gf.morans_i(graph, make(X)), [moran(W, x) for x in X.T], atol=1e-12)
    assert_allclose(gf.gearys_c(graph, make(X)), [geary(W, x) for x in X.T], rtol=1e-11)
    assert isinstance(gf.morans_i(graph, X[:, 0]), float)
    assert gf.gearys_c(graph, X[:, 0]) == pytest.approx(geary(W, X[:, 0]), rel=1e-12)
    assert gf.gearys_c(graph, X[:, :0]).shape == (0,)


def test_an_offset_and_a_scale_change_nothing():
    graph, _ = GRAPHS["undirected"]
    for statistic in (gf.morans_i, gf.gearys_c):
        assert_allclose(statistic(graph, 1e6 + X), statistic(graph, X), rtol=1e-8, atol=1e-8)
        assert_allclose(statistic(graph, 1e-60 * X), statistic(graph, X), rtol=1e-10, atol=1e-12)
        assert_allclose(statistic(graph, X.astype(np.float32)), statistic(graph, X), rtol=1e-5, atol=1e-5)


def test_expectations_under_permutation():
    """E[I] = -1/(n - 1) and E[C] = 1 over all placements."""
    graph, x = gf.Graph.from_adjacency((A + A.T)[:8, :8] + np.eye(8, k=1) + np.eye(8, k=-1)), X[:8, :3] + np.eye(8, 3)
    drawn = [(gf.morans_i(graph, y), gf.gearys_c(graph, y)) for y in (x[RNG.permutation(8)] for _ in range(3000))]
    assert_allclose(np.mean(drawn, axis=0), [[-1 / 7] * 3, [1.0] * 3], atol=0.03)


def test_values_are_those_of_scanpy():
    metrics = pytest.importorskip("scanpy.metrics", reason="scanpy is not a dependency of the tests")
    graph, weights = GRAPHS["star"]
    W, signals = sparse.csr_matrix(weights.astype(float)), sparse.csr_matrix(X.T)
    assert_allclose(gf.gearys_c(graph, sparse.csr_array(X)), metrics.gearys_c(W, signals), rtol=1e-10)
    assert_allclose(gf.morans_i(graph, sparse.csr_array(X)), metrics.morans_i(W, signals), rtol=1e-10)


@pytest.mark.parametrize("method", ["geary", "moran", "s"])
def test_tests_of_sparse_signals_never_densify_them(method):
    graph = gf.datasets.ring(20_000)
    x = sparse.random_array((20_000, 200), density=1e-3, format="csr", rng=np.random.default_rng(0))
    gf.spatially_variable(graph, x[:, :2], method=method)
    tracemalloc.start()
    try:
        gf.spatially_variable(graph, x, method=method)
        peak = tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()
    assert peak < 8 * x.shape[0] * x.shape[1] / 2


@pytest.mark.parametrize("make", [np.asarray, sparse.csr_array], ids=["dense", "sparse"])
def test_constants_have_no_value(make):
    graph, _ = GRAPHS["undirected"]
    block = np.stack([X[:, 0], np.full(N, 0.1)], axis=1)
    for statistic in (gf.morans_i, gf.gearys_c):
        with pytest.warns(GspWarning, match="column 1 is constant"):
            found = statistic(graph, make(block))
        assert np.isfinite(found[0])
        assert np.isnan(found[1])


def test_refusals():
    for statistic in (gf.morans_i, gf.gearys_c):
        with pytest.raises(GraphError, match="no edges but loops"):
            statistic(gf.Graph.from_edges([(0, 0)], n_nodes=3), np.arange(3.0))
        with pytest.raises(SignalError, match="complex"):
            statistic(gf.datasets.ring(4), 1j * np.arange(4.0))
        with pytest.raises(SignalError, match="4 nodes"):
            statistic(gf.datasets.ring(4), np.arange(5.0))


def entropy_rank(x):
    sigma = np.linalg.svd(x, compute_uv=False)
    p = sigma[sigma > 0] / sigma.sum()
    return np.exp(-(p * np.log(p)).sum())


@pytest.mark.parametrize("shape", [(60, 1), (60, 5), (60, 59), (20, 60)])
def test_effective_rank_is_the_exponential_of_the_entropy(shape):
    x = RNG.standard_normal(shape) * (RNG.random(shape) < 0.4) + np.eye(*shape)
    assert gf.effective_rank(x) == pytest.approx(entropy_rank(x), rel=1e-10)
    assert gf.effective_rank(sparse.csr_array(x)) == pytest.approx(entropy_rank(x), rel=1e-6)
    assert gf.effective_rank(1e-200 * x) == pytest.approx(entropy_rank(x), rel=1e-10)
    assert gf.effective_rank((1 + 2j) * x) == pytest.approx(entropy_rank(x), rel=1e-10)


def test_effective_rank_of_equal_directions_and_of_one():
    assert gf.effective_rank(np.eye(7)) == pytest.approx(7)
    assert gf.effective_rank(sparse.eye_array(7)) == pytest.approx(7)
    assert gf.effective_rank(np.arange(1.0, 5.0)) == pytest.approx(1)
    assert gf.effective_rank(np.outer(np.arange(30.0), np.arange(4.0))) == pytest.approx(1)
    for nothing in (np.zeros((3, 2)), sparse.csr_array((3, 2)), np.zeros((0, 2))):
        with pytest.raises(SignalError, match="zero everywhere or empty"):
            gf.effective_rank(nothing)
    with pytest.raises(SignalError, match="must be finite"):
        gf.effective_rank([1.0, np.nan])
    with pytest.raises(SignalError, match="shape"):
        gf.effective_rank(np.ones((2, 2, 2)))


def test_a_table_of_spatial_tests_knows_its_shape_and_shows_itself():
    path = gf.datasets.path(12)
    table = gf.spatially_variable(path, np.stack([np.arange(12.0), np.tile([0.0, 1.0], 6)], axis=1))
    assert (len(table), table.shape, tuple(table)) == (4, (2, 4), table.columns)
    assert repr(table).startswith("SpatialTests(geary, 2 signals)\n")
    assert "<table" in table._repr_html_()


def test_spatial_tests_refuse_no_signal_and_three_axes():
    path = gf.datasets.path(3)
    with pytest.raises(gf.errors.ParameterError, match="no signal to test; give x"):
        gf.spatially_variable(path)
    with pytest.raises(gf.errors.SignalError, match=r"signal has shape \(3, 1, 1\)"):
        gf.spatially_variable(path, np.ones((3, 1, 1)))
