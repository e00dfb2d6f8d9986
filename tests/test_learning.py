"""Graph learning: optimality against dense solves, the gap, planted graphs."""

import numpy as np
import pytest
from scipy.optimize import LinearConstraint, minimize

import gsp_fb as gf
from gsp_fb import learning
from gsp_fb.errors import GspWarning, ParameterError, SignalError

POINTS = np.random.default_rng(0).random((14, 2))


def objective(model, found, x):
    """The problem as it is printed, over the candidate edges, and its gradient."""
    pairs = found.pairs
    z = ((x[pairs[:, 0]] - x[pairs[:, 1]]) ** 2).sum(axis=1)
    z = z / z.mean() * (found.scale if model == "log" else 1.0)
    S = np.zeros((len(x), len(pairs)))
    S[pairs.T, np.arange(len(pairs))] = 1.0
    if model == "log":
        return lambda w: 2 * z @ w + w @ w - np.log(S @ w).sum(), lambda w: 2 * z + 2 * w - S.T @ (1 / (S @ w))
    L = found.scale * (2 * np.eye(len(z)) + S.T @ S)
    return lambda w: 2 * z @ w + w @ L @ w / 2, lambda w: 2 * z + L @ w


def test_log_degrees_solve_the_dense_problem():
    found = learning.learn_weights(POINTS, 5, tol=1e-8)
    value, gradient = objective("log", found, POINTS)
    bounds = [(0, None)] * len(found.weights)
    start = np.full(len(found.weights), 0.1)
    options = {"maxiter": 5000, "ftol": 1e-15, "gtol": 1e-10}
    dense = minimize(value, start, jac=gradient, bounds=bounds, method="L-BFGS-B", options=options)
    assert np.abs(dense.x - found.weights).max() <= 1e-6
    assert value(found.weights) - dense.fun <= found.gap + 1e-9


def test_l2_degrees_solve_the_dense_problem():
    found = learning.learn_weights(POINTS, 4, model="l2", tol=1e-8)
    value, gradient = objective("l2", found, POINTS)
    n_edges = len(found.weights)
    total = LinearConstraint(np.full((1, n_edges), 2.0), len(POINTS), len(POINTS))
    start = np.full(n_edges, len(POINTS) / 2 / n_edges)
    options = {"maxiter": 500, "ftol": 1e-14}
    bounds = [(0, None)] * n_edges
    dense = minimize(value, start, jac=gradient, bounds=bounds, constraints=total, method="SLSQP", options=options)
    assert np.abs(dense.x - found.weights).max() <= 1e-4
    assert np.isclose(2 * found.weights.sum(), len(POINTS))


@pytest.mark.parametrize("model", learning.MODELS)
@pytest.mark.parametrize("seed", range(5))
def test_learned_weights_satisfy_the_optimality_conditions(model, seed):
    """Karush-Kuhn-Tucker: equal slopes on edges, no smaller one off them; all slopes 0 without a constraint."""
    x = np.random.default_rng(seed).standard_normal((40, 3))
    found = learning.learn_weights(x, 6, model=model, tol=1e-9, max_iterations=50_000)
    slopes = objective(model, found, x)[1](found.weights)
    heavy = found.weights > 1e-6
    level = 0.0 if model == "log" else float(np.mean(slopes[heavy]))
    size = 1e-6 * np.abs(slopes).max()
    assert np.abs(slopes[heavy] - level).max() <= size
    assert slopes[~heavy].min(initial=level) >= level - size


@pytest.mark.parametrize("model", learning.MODELS)
def test_the_error_bound_holds(model):
    exact = learning.learn_weights(POINTS, 5, model=model, tol=1e-10, max_iterations=100_000).weights
    for tol in (1e-1, 1e-2, 1e-3):
        found = learning.learn_weights(POINTS, 5, model=model, tol=tol)
        assert np.linalg.norm(found.weights - exact) <= found.error * np.linalg.norm(found.weights) + 1e-9
        assert found.error <= tol


RNG = np.random.default_rng(1)
CLOUDS = {
    "square": RNG.random((300, 2)),
    "high-dimensional": RNG.standard_normal((200, 50)),
    "line": np.arange(60.0)[:, None],
    "clusters of three sizes": np.concatenate([s * RNG.standard_normal((80, 3)) + 10 * s for s in (1, 2, 4)]),
}


@pytest.mark.parametrize("degree", [4, 8, 16])
@pytest.mark.parametrize("model", learning.MODELS)
@pytest.mark.parametrize("cloud", CLOUDS)
def test_the_wanted_degree_is_met_within_five_percent(cloud, model, degree):
    x = CLOUDS[cloud]
    assert abs(2 * gf.learn_graph(x, degree, model=model).n_edges / len(x) - degree) <= 0.05 * degree


def test_a_degree_that_equal_distances_exclude_is_met_as_nearly_as_seen():
    """All distances between the corners of a simplex are equal: every candidate is an edge, or none."""
    found = learning.learn_weights(np.eye(12), 4)
    assert found.graph.n_edges == len(found.pairs)


def test_units_do_not_matter():
    one, other = (gf.learn_graph(scale * POINTS, 4, tol=1e-8) for scale in (1.0, 1e6))
    assert np.allclose(one.adjacency.toarray(), other.adjacency.toarray(), atol=1e-6)


def planted(seed, n_signals=400):
    """Smooth signals of a random geometric graph: x = sqrt(pinv L) noise."""
    rng = np.random.default_rng(seed)
    points = rng.random((60, 2))
    distances = np.linalg.norm(points[:, None] - points, axis=2)
    A = np.exp(-((distances / 0.2) ** 2)) * (np.argsort(np.argsort(distances, axis=1), axis=1) <= 5)
    A = np.maximum(A, A.T) * (distances > 0)
    values, vectors = np.linalg.eigh(np.diag(A.sum(axis=1)) - A)
    roots = np.where(values > 1e-9, 1 / np.sqrt(np.maximum(values, 1e-9)), 0.0)
    return A, vectors @ (roots[:, None] * rng.standard_normal((60, n_signals)))


@pytest.mark.parametrize(("model", "rate"), [("log", 0.85), ("l2", 0.85)])
def test_planted_graphs_are_recovered(model, rate):
    """F-measure of the edges, mean of five graphs with 400 smooth signals each."""
    scores = []
    for seed in range(5):
        A, x = planted(seed)
        found = gf.learn_graph(x, round(float((A > 0).sum(axis=1).mean())), model=model).adjacency.toarray() > 0
        hits = float((found & (A > 0)).sum())
        scores.append(2 * hits / (found.sum() + (A > 0).sum()))
    assert np.mean(scores) >= rate


def test_equal_rows_and_refusals():
    twice = np.repeat(POINTS, 2, axis=0)
    assert gf.learn_graph(twice, 4).n_isolated == 0
    with pytest.raises(ParameterError, match="degree=20 needs at least 21 nodes"):
        gf.learn_graph(POINTS, 20)
    with pytest.raises(SignalError, match="n_signals"):
        gf.learn_graph(POINTS[:, 0], 3)
    with pytest.raises(ParameterError, match="log, l2"):
        gf.learn_graph(POINTS, 3, model="l1")
    with pytest.warns(GspWarning, match="error bound"):
        learning.learn_weights(POINTS, 3, tol=1e-12, max_iterations=2)


@pytest.mark.parametrize("model", learning.MODELS)
@pytest.mark.parametrize("scale", [1e-200, 1e-150, 1e150, 1e200])
def test_squared_distances_neither_overflow_nor_vanish(model, scale):
    one, other = (gf.learn_graph(unit * POINTS, 4, model=model) for unit in (1.0, scale))
    assert np.allclose(one.adjacency.toarray(), other.adjacency.toarray(), atol=1e-3)


@pytest.mark.parametrize("model", learning.MODELS)
def test_rows_that_are_all_equal_are_joined_alike(model):
    found = gf.learn_graph(np.full((6, 2), 3.0), 2, model=model)
    assert found.n_edges == 15
    assert np.allclose(found.weights, found.weights[0], rtol=1e-3)


@pytest.mark.parametrize("distance", [3.0, 10.0, 30.0])
def test_a_point_far_from_all_others_is_joined_to_a_proven_error(distance):
    """Its dual variable is a hundred times the others' and more; the last took 1 573 steps by gradients alone."""
    points = np.concatenate([np.random.default_rng(0).random((200, 2)), [[distance, distance]]])
    found = learning.learn_weights(points, 6)
    assert found.error <= 1e-4
    assert found.iterations < 500
    assert found.graph.degrees[-1] > 0
    assert abs(2 * found.graph.n_edges / 201 - 6) <= 0.3


def test_sparse_rows_and_names():
    sparse = pytest.importorskip("scipy.sparse")
    pandas = pytest.importorskip("pandas")
    dense = gf.learn_graph(POINTS, 4).adjacency.toarray()
    assert np.array_equal(gf.learn_graph(sparse.csr_array(POINTS), 4).adjacency.toarray(), dense)
    names = [f"point {k}" for k in range(len(POINTS))]
    assert gf.learn_graph(pandas.DataFrame(POINTS, index=names), 4).nodes.names == tuple(names)


@pytest.mark.parametrize("x", [None, 3, 1j * POINTS, np.zeros((5, 0)), np.zeros((5, 2, 2))])
def test_what_is_no_table_of_real_rows_is_refused(x):
    with pytest.raises(SignalError, match="real signals, shape"):
        gf.learn_graph(x, 2)
