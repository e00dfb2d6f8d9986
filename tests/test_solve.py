import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal

from gsp_fb import Graph, operator
from gsp_fb.errors import GraphError, ParameterError, SignalError
from gsp_fb.filters import classify, interpolate, tikhonov, wiener
from gsp_fb.variants import VARIANTS

RNG = np.random.default_rng(2)


def random_graph(n):
    A = np.triu(RNG.random((n, n)) * (RNG.random((n, n)) < 6 / n), 1)
    A[np.arange(n - 1), np.arange(1, n)] = 1.0
    return Graph.from_adjacency(A + A.T)


GRAPHS = {"small": random_graph(30), "large": random_graph(600)}


def dense(op):
    """L and the weights of the inner product in which it is symmetric."""
    return op.to_scipy().toarray(), np.diag(op.scale**2)


@pytest.mark.parametrize("graph", GRAPHS.values(), ids=GRAPHS)
@pytest.mark.parametrize("family", VARIANTS)
def test_tikhonov_minimises_fit_plus_roughness(graph, family):
    op = operator(graph, family, channel="high")
    L, W = dense(op)
    x = RNG.standard_normal((graph.n_nodes, 2))
    want = np.linalg.solve(W + 3.0 * W @ L, W @ x)
    assert_allclose(tikhonov(op, x, 3.0, tol=1e-10), want, atol=1e-7)
    assert tikhonov(op, x[:, 0], 3.0).shape == (graph.n_nodes,)


@pytest.mark.parametrize("graph", GRAPHS.values(), ids=GRAPHS)
@pytest.mark.parametrize("family", VARIANTS)
@pytest.mark.parametrize("tau", [0.0, 0.5])
def test_interpolation_against_the_dense_minimiser(graph, family, tau):
    op = operator(graph, family, channel="high")
    L, W = dense(op)
    n = graph.n_nodes
    known = RNG.random(n) < 0.3
    known[0] = True
    x = RNG.standard_normal((n, 2))
    if tau:
        seen = np.diag(known.astype(float))
        want = np.linalg.solve(seen @ W + tau * W @ L, seen @ W @ x)
    else:
        Q = W @ L
        want = x.copy()
        want[~known] = np.linalg.solve(Q[np.ix_(~known, ~known)], -Q[np.ix_(~known, known)] @ x[known])
    got = interpolate(op, x, known, tau=tau, tol=1e-12)
    assert_allclose(got, want, atol=1e-6)
    if not tau:
        assert_allclose(got[known], x[known], rtol=1e-14)
    assert_allclose(interpolate(op, x[:, 1], known, tau=tau, tol=1e-12), got[:, 1], atol=1e-8)


def test_unknown_values_do_not_matter():
    op = operator(GRAPHS["small"], "sym", channel="high")
    known = np.arange(30) % 3 == 0
    x = RNG.standard_normal(30)
    assert_allclose(interpolate(op, x, known), interpolate(op, np.where(known, x, 99.0), known), atol=1e-12)


def test_classification_recovers_two_blocks():
    rng = np.random.default_rng(0)
    truth = np.repeat([0, 1], 40)
    p = np.where(truth[:, None] == truth[None, :], 0.3, 0.02)
    A = np.triu(rng.random((80, 80)) < p, 1).astype(float)
    op = operator(Graph.from_adjacency(A + A.T), "sym", channel="high")
    y = np.full(80, -1)
    y[[0, 1, 40, 41]] = [0, 0, 1, 1]
    for tau in (0.0, 0.1):
        classes, scores = classify(op, y, tau=tau)
        assert scores.shape == (80, 2)
        assert np.mean(classes == truth) > 0.95
        assert_array_equal(classes[[0, 1, 40, 41]], [0, 0, 1, 1])
        seen = np.diag((y >= 0).astype(float))
        if tau:
            want = np.linalg.solve(seen + tau * op.to_scipy().toarray(), seen @ np.eye(2)[np.maximum(y, 0)])
            assert_allclose(scores, want, atol=1e-6)


def test_wiener_is_the_best_linear_estimate():
    """With known spectra the dense covariance formula gives the same matrix, and noise is reduced."""
    op = operator(GRAPHS["small"], "sym", channel="high")
    values, vectors = np.linalg.eigh(op.to_scipy().toarray())
    values = np.clip(values, 0, None)
    signal = np.exp(-3 * values)
    S, N = vectors @ np.diag(signal) @ vectors.T, 0.1 * np.eye(30)
    x = RNG.standard_normal((30, 4))
    want = S @ np.linalg.solve(S + N, x)
    assert_allclose(wiener(op, x, lambda f: np.exp(-3 * f), 0.1), want, atol=1e-10)
    clean = vectors @ (np.sqrt(signal)[:, None] * RNG.standard_normal((30, 500)))
    noisy = clean + np.sqrt(0.1) * RNG.standard_normal((30, 500))
    error = np.mean((wiener(op, noisy, lambda f: np.exp(-3 * f), 0.1) - clean) ** 2)
    assert_allclose(error, np.mean(signal * 0.1 / (signal + 0.1)), rtol=0.1)


def test_bad_input_is_named():
    path = Graph.from_edges([(0, 1), (2, 3)])
    op = operator(path, "comb", channel="high")
    known = np.array([True, False, False, False])
    with pytest.raises(SignalError, match="no value is known in the component of node 2"):
        interpolate(op, np.ones(4), known)
    with pytest.raises(SignalError, match="4 booleans"):
        interpolate(op, np.ones(4), [0, 2])
    with pytest.raises(SignalError, match="no node is labelled"):
        classify(op, [-1] * 4)
    with pytest.raises(ParameterError, match=r"low channel.*op\.complement"):
        tikhonov(op.complement(), np.ones(4), 1.0)
    with pytest.raises(ParameterError, match="noise_psd must be a number >= 0"):
        wiener(op, np.ones(4), 1.0, -1.0)
    with pytest.raises(ParameterError, match="tau"):
        interpolate(op, np.ones(4), np.ones(4, dtype=bool), tau=-1.0)
    with pytest.raises(GraphError, match="symmetrize="):
        tikhonov(operator(Graph.from_edges([(0, 1)], directed=True), "rw", channel="high"), np.ones(2), 1.0)
