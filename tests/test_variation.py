"""Total variation: the dual quadratic programme by another solver, the fused signal of a path, a gap that bounds."""

import numpy as np
import pytest
from scipy.optimize import lsq_linear, minimize

import gsp_fb as gf
from gsp_fb import datasets
from gsp_fb.calculus import gradient, incidence
from gsp_fb.errors import ConvergenceError
from gsp_fb.filters.variation import minimize_variation
from gsp_fb.variants import VARIANTS


def weighted(n, seed):
    rng = np.random.default_rng(seed)
    edges = [(i, j) for i in range(n) for j in range(i) if rng.random() < 0.2]
    return gf.Graph.from_edges(edges, weights=10 ** rng.uniform(-1, 1, len(edges)), n_nodes=n + 1)


GRAPHS = {"grid": lambda: datasets.grid(5, 6), "star": lambda: datasets.star(9), "weighted": lambda: weighted(20, 0)}


def objective(op, x, y, seen, strength):
    fit = 0.5 * np.sum(np.where(seen, op.scale**2 * (x - y) ** 2, 0.0))
    return fit + strength * np.abs(gradient(op, x)).sum()


@pytest.mark.parametrize("family", VARIANTS)
@pytest.mark.parametrize("name", GRAPHS)
def test_it_solves_the_dual_quadratic_programme(name, family):
    op = gf.operator(GRAPHS[name](), family, "high")
    y = np.random.default_rng(1).standard_normal(op.graph.n_nodes)
    B, strength = incidence(op).toarray(), 0.4
    adjoint = (B / op.scale).T  # of B in the weighted inner product, times scale
    dual = lsq_linear(adjoint, op.scale * y, bounds=(-strength, strength), tol=1e-14, max_iter=2000)
    wanted = y - adjoint @ dual.x / op.scale
    found = minimize_variation(op, y[:, None], np.ones((len(y), 1), bool), strength, tol=1e-8)
    np.testing.assert_allclose(found.signal[:, 0], wanted, atol=2e-6)


@pytest.mark.parametrize("family", ["comb", "sym", "rw", "lazy_rw"])
def test_with_a_mask_nothing_nearby_is_better(family):
    op = gf.operator(datasets.grid(5, 5), family, "high")
    rng = np.random.default_rng(2)
    y, seen = rng.standard_normal(25), rng.random(25) < 0.6
    found = minimize_variation(op, y[:, None], seen[:, None], 0.3, tol=1e-7)
    reached = objective(op, found.signal[:, 0], y, seen, 0.3)
    # A smooth approximation from above and a general solver: no independent point has a lower objective.
    smooth = 1e-6

    def rounded(x):
        fit = 0.5 * np.sum(np.where(seen, op.scale**2 * (x - y) ** 2, 0.0))
        return fit + 0.3 * np.sum(np.sqrt(gradient(op, x) ** 2 + smooth**2))

    other = minimize(rounded, np.zeros(25), method="BFGS", options={"maxiter": 5000, "gtol": 1e-9})
    assert reached <= objective(op, other.x, y, seen, 0.3) + 1e-7
    assert reached >= other.fun - 0.3 * smooth * op.graph.n_edges - 1e-4


def test_the_gap_bounds_the_distance():
    op = gf.operator(datasets.sensor(60, rng=0), "comb", "high")
    y = np.random.default_rng(3).standard_normal((60, 2))
    seen = np.ones((60, 1), bool)
    sharp = minimize_variation(op, y, seen, 0.2, tol=1e-9)
    rough = minimize_variation(op, y, seen, 0.2, tol=1e-2)
    distance = np.sum((sharp.signal - rough.signal) ** 2, axis=0)
    assert np.all(distance <= 2 * rough.gap + 1e-12)
    assert np.all(rough.gap <= 0.5 * 1e-4 * np.sum(y**2, axis=0))


def test_a_large_strength_gives_the_mean_and_a_step_stays_a_step():
    op = gf.operator(datasets.path(10), "comb", "high")
    y = np.repeat([0.0, 1.0], 5)[:, None]
    seen = np.ones((10, 1), bool)
    np.testing.assert_allclose(minimize_variation(op, y, seen, 100.0, tol=1e-9).signal, 0.5, atol=1e-6)
    # The fused lasso moves the two plateaus of five nodes towards each other by strength / 5.
    wanted = np.repeat([0.1 / 5, 1 - 0.1 / 5], 5)[:, None]
    np.testing.assert_allclose(minimize_variation(op, y, seen, 0.1, tol=1e-9).signal, wanted, atol=1e-6)


def test_too_few_steps_are_reported():
    op = gf.operator(datasets.path(200), "comb", "high")
    y = np.random.default_rng(0).standard_normal((200, 1))
    with pytest.raises(ConvergenceError, match="duality gap of column 0"):
        minimize_variation(op, y, np.ones((200, 1), bool), 50.0, tol=1e-9, max_steps=20)


def test_edgeless_and_isolated_nodes_keep_their_values():
    op = gf.operator(gf.Graph.from_edges([(0, 1)], n_nodes=4), "sym", "high")
    y = np.array([[0.0], [1.0], [5.0], [-3.0]])
    found = minimize_variation(op, y, np.ones((4, 1), bool), 10.0, tol=1e-9)
    np.testing.assert_allclose(found.signal[2:], y[2:])
    np.testing.assert_allclose(found.signal[:2], 0.5, atol=1e-6)
