"""Denoising: closed forms, oracles of the chosen strength, less error than the data, refusals."""

import numpy as np
import pytest

import gsp_fb as gf
from gsp_fb import datasets
from gsp_fb.errors import GraphError, ParameterError
from gsp_fb.filters import denoise
from gsp_fb.filters.denoise import METHODS

SIDE = 14
ROWS, COLUMNS = np.divmod(np.arange(SIDE**2), SIDE)
SMOOTH = np.sin(3 * ROWS / SIDE) + np.cos(4 * COLUMNS / SIDE)
BLOCKS = (ROWS > SIDE / 2).astype(float) + (COLUMNS > SIDE / 3)


def grid(family="comb"):
    return gf.operator(datasets.grid(SIDE), family, "high")


def noisy(x, seed=0, sigma=0.3):
    return x + sigma * np.random.default_rng(seed).standard_normal(x.shape)


@pytest.mark.parametrize("family", ["comb", "sym", "rw"])
def test_tikhonov_with_a_number_is_the_linear_system(family):
    op, y = grid(family), noisy(SMOOTH)
    found = denoise(op, y, strength=2.0, tol=1e-10)
    np.testing.assert_allclose(found.signal + 2.0 * (op @ found.signal), y, atol=1e-8)
    assert (found.strength, found.method) == (2.0, "tikhonov")
    np.testing.assert_array_equal(np.asarray(found), found.signal)


@pytest.mark.parametrize("rule", ["gcv", "sure"])
def test_the_chosen_strength_scores_best_by_the_dense_formula(rule):
    op, y = grid(), noisy(SMOOTH)
    found = denoise(op, y, strength=rule)
    L, n = op.to_scipy().toarray(), len(y)

    def score(strength):
        H = np.linalg.inv(np.eye(n) + strength * L)
        residual, freedom = np.sum((y - H @ y) ** 2), np.trace(H)
        if rule == "gcv":
            return n * residual / (n - freedom) ** 2
        return residual + 2 * found.noise**2 * freedom - n * found.noise**2

    assert score(found.strength) <= 1.02 * min(score(s) for s in np.geomspace(1e-3, 1e3, 40)) + 1e-9


@pytest.mark.parametrize("rule", ["gcv", "sure"])
@pytest.mark.parametrize(
    ("method", "clean"), [("tikhonov", SMOOTH), ("tv", BLOCKS), ("wavelet", SMOOTH), ("wiener", SMOOTH)]
)
def test_the_estimate_is_nearer_to_the_truth_than_the_data(method, clean, rule):
    errors = []
    for seed in range(3):
        y = noisy(clean, seed)
        found = denoise(grid(), y, method=method, strength=rule)
        errors.append(np.linalg.norm(found.signal - clean) / np.linalg.norm(y - clean))
        assert 0.2 < found.noise < 0.45
    assert np.median(errors) < 0.75


def test_total_variation_reports_a_gap_that_bounds_its_error():
    op, y = grid(), noisy(BLOCKS)
    found = denoise(op, y, method="tv", strength=0.3)
    sharp = denoise(op, y, method="tv", strength=0.3, tol=1e-4)
    assert 0 <= found.gap <= 0.5 * (1e-4 * np.linalg.norm(y)) ** 2
    assert np.sum((found.signal - sharp.signal) ** 2) <= 4 * (found.gap + sharp.gap) + 1e-12


@pytest.mark.parametrize("method", ["tikhonov", "tv"])
def test_missing_values_are_filled_in(method):
    mask = np.random.default_rng(1).random(SIDE**2) < 0.6
    y = np.where(mask, BLOCKS, 1e6)
    found = denoise(grid(), y, method=method, strength=0.05, mask=mask)
    assert np.abs(found.signal - BLOCKS)[~mask].mean() < 0.25


@pytest.mark.parametrize("method", METHODS)
def test_columns_keep_their_shape_and_single_precision_is_accepted(method):
    y = np.stack([noisy(SMOOTH), noisy(BLOCKS)], axis=1).astype(np.float32)
    found = denoise(grid("sym"), y, method=method, strength=0.3)
    assert found.signal.shape == y.shape
    assert np.isfinite(found.signal).all()


def test_a_graph_too_large_for_a_decomposition_is_denoised():
    graph = datasets.grid(70)
    rows = np.arange(4900) // 70
    clean = np.sin(rows / 15.0)
    y = noisy(clean)
    found = denoise(gf.operator(graph, "comb", "high"), y)
    assert np.linalg.norm(found.signal - clean) < 0.4 * np.linalg.norm(y - clean)


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"method": "median"}, "tikhonov"),
        ({"strength": "best"}, "gcv"),
        ({"strength": 0.0}, "strength"),
        ({"noise": -1.0}, "noise"),
        ({"method": "wavelet", "strength": 1.0, "mask": np.ones(SIDE**2, bool)}, "methods with one: tikhonov, tv"),
        ({"mask": np.ones(SIDE**2, bool)}, "give a number"),
        ({"strength": 1.0, "mask": np.zeros(SIDE**2, bool)}, "at least one True"),
        ({"strength": 1.0, "mask": [1, 0]}, "booleans"),
    ],
)
def test_refusals(options, message):
    with pytest.raises(ParameterError, match=message):
        denoise(grid(), SMOOTH, **options)


def test_low_channels_directed_graphs_and_complex_data_are_refused():
    with pytest.raises(ParameterError, match="complement"):
        denoise(grid().complement(), SMOOTH)
    with pytest.raises(GraphError, match="symmetrize="):
        denoise(gf.operator(gf.Graph.from_edges([(0, 1)], directed=True), "rw", "high"), [1.0, 2.0])
    with pytest.raises(ParameterError, match="real"):
        denoise(grid(), SMOOTH + 1j)
