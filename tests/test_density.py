"""Densities of eigenvalues and the largest one, against closed forms and numpy's eigenvalues."""

import numpy as np
import pytest
from numpy.testing import assert_allclose

from gsp_fb import Graph, lambda_max, lambda_max_bounds, operator, spectral_density
from gsp_fb._lanczos import gauss_rule, lanczos, lanczos_columns
from gsp_fb.datasets import star
from gsp_fb.energy.profile import quadrature
from gsp_fb.errors import GraphError, ParameterError


def torus(a, b):
    """Return the torus of a x b nodes, and the frequencies of its normalised Laplacian."""
    i, j = np.divmod(np.arange(a * b), b)
    right, down = i * b + (j + 1) % b, (i + 1) % a * b + j
    edges = np.concatenate([np.stack([np.arange(a * b), other], axis=1) for other in (right, down)])
    waves = [np.cos(2 * np.pi * np.arange(n) / n) for n in (a, b)]
    return Graph.from_edges(edges), 1 - (waves[0][:, None] + waves[1][None, :]).ravel() / 2


BIG, FREQUENCIES = torus(101, 103)
MANY = operator(torus(30, 31)[0], "sym", channel="high")


def test_density_against_the_closed_form():
    edges = np.linspace(0, 2, 12)
    want = np.histogram(FREQUENCIES, edges)[0] / FREQUENCIES.size
    found = spectral_density(operator(BIG, "sym", channel="high"), bins=11, n_vectors=8, matvecs=60, rng=0)
    assert found.matvecs == 480
    assert np.all(found.error > 0)
    # Four standard errors, and the resolution of a rule with 60 nodes.
    assert np.all(np.abs(found.fraction - want) <= 4 * found.error + 0.004)
    assert_allclose(found.fraction.sum(), 1, rtol=1e-12)
    assert_allclose(np.sum(found.density * np.diff(edges)), 1, rtol=1e-12)


def test_an_edge_on_many_equal_eigenvalues_is_in_doubt():
    """A star of n nodes has frequency 1 n - 2 times: with an edge there, half of them may be on either side."""
    op = operator(star(800), "sym", channel="high")
    on, off = (spectral_density(op, bins=edges, rng=0) for edges in ([0.0, 1.0, 2.0], [0.0, 0.9, 1.1, 2.0]))
    assert np.all(on.doubt > 0.4)
    assert np.all(off.doubt < 1e-6)
    assert_allclose(off.fraction, np.array([1, 798, 1]) / 800, atol=4 * off.error.max() + 1e-6)


def test_eigenvalues_of_a_small_graph_are_counted():
    graph, frequencies = torus(9, 11)
    found = spectral_density(operator(graph, "sym", channel="high"), bins=[0.0, 0.51, 1.03, 2.0])
    assert_allclose(found.fraction, np.histogram(frequencies, [0.0, 0.51, 1.03, 2.0])[0] / 99)
    assert not found.error.any()
    assert not found.doubt.any()
    assert repr(found) == "SpectralDensity(3 bands, matvecs=0)"


def test_the_standard_error_is_that_of_repetitions():
    once, again = (spectral_density(MANY, bins=5, n_vectors=4, matvecs=30, rng=7) for _ in range(2))
    assert_allclose(once.fraction, again.fraction, rtol=0)
    many = [spectral_density(MANY, bins=5, n_vectors=4, matvecs=30, rng=k) for k in range(20)]
    spread = np.std([found.fraction for found in many], axis=0, ddof=1)
    typical = np.mean([found.error for found in many], axis=0)
    assert np.all(typical < 2 * spread)
    assert np.all(typical > spread / 2)


def test_density_is_the_mean_of_its_draws_and_their_spread():
    found = spectral_density(MANY, bins=4, n_vectors=3, matvecs=12, rng=5)
    rng = np.random.default_rng(5)
    draws = []
    for _ in range(3):
        measure = quadrature(MANY, rng.choice([-1.0, 1.0], (930, 1)), 12)
        lower, upper = measure.cumulative(np.linspace(0, 2, 5), (0.0, 2.0), 930.0)
        draws.append(np.diff((lower + upper) / 2) / 930)
    assert_allclose(found.fraction, np.mean(draws, axis=0), rtol=1e-12)
    assert_allclose(found.error, np.std(draws, axis=0, ddof=1) / np.sqrt(3), rtol=1e-9)
    assert found.matvecs == 36
    assert not found.fraction.flags.writeable
    default = spectral_density(MANY, rng=5)
    assert (default.matvecs, len(default.fraction)) == (20 * 80, 10)


@pytest.mark.parametrize("dtype", [float, complex])
def test_columns_together_are_columns_one_by_one(dtype):
    rng = np.random.default_rng(0)
    start = rng.standard_normal((930, 3)).astype(dtype) * (1 if dtype is float else 1 + 2j)
    for j, space in enumerate(lanczos_columns(MANY.apply, start, 25, size=2.0)):
        alone = lanczos(MANY.apply, start[:, j], 25, size=2.0)
        assert_allclose(space.diagonal, alone.diagonal, atol=1e-12)
        assert_allclose(space.off_diagonal, alone.off_diagonal, atol=1e-12)
        assert_allclose([space.residual, space.norm], [alone.residual, alone.norm], rtol=1e-10)


def test_a_column_of_one_mode_closes_beside_others():
    mode = np.cos(2 * np.pi * 3 * np.arange(600) / 600)
    ring = operator(Graph.from_edges([(i, (i + 1) % 600) for i in range(600)]), "sym", channel="high")
    noise = np.random.default_rng(0).standard_normal(600)
    one, other = lanczos_columns(ring.apply, np.stack([mode, noise], axis=1), 12, size=2.0)
    assert (one.n_steps, one.residual, other.n_steps) == (1, 0.0, 12)
    assert_allclose(gauss_rule(one)[0], [1 - np.cos(2 * np.pi * 3 / 600)], atol=1e-12)


def cases():
    rng = np.random.default_rng(9)
    n = 600
    pairs = rng.integers(0, n, (4 * n, 2))
    hubs = np.stack([np.zeros(200, dtype=int), np.arange(1, 201)], axis=1)
    path = np.stack([np.arange(n - 1), np.arange(1, n)], axis=1)
    return {
        "random": Graph.from_edges(pairs, symmetrize="max", duplicates="first"),
        "hub": Graph.from_edges(np.concatenate([path, hubs]), symmetrize="max", duplicates="first"),
        "path": Graph.from_edges(path),
        "weighted": Graph.from_edges(path, 10.0 ** rng.uniform(-3, 3, n - 1)),
        "small": Graph.from_edges(path[:40]),
        "edgeless": Graph.from_edges([], n_nodes=600),
        "two parts": Graph.from_edges(np.concatenate([path, path[:300] + n])),
    }


@pytest.mark.parametrize("name", cases())
@pytest.mark.parametrize("family", ["comb", "sym", "renorm_rw", "lazy_rw"])
@pytest.mark.parametrize("channel", ["low", "high"])
def test_lambda_max_is_the_largest_eigenvalue_to_a_millionth(name, family, channel):
    op = operator(cases()[name], family, channel=channel)
    true = np.linalg.eigvalsh(op.symmetrized.to_scipy().toarray())[-1]
    value, (lower, upper) = lambda_max(op), lambda_max_bounds(op)
    length = true - op.bounds[0]
    rounding = 1e-11 * max(map(abs, op.bounds))
    assert abs(value - true) <= 1e-6 * length + rounding
    assert lower - rounding <= true <= upper + rounding
    assert value == lambda_max(op)


def test_lambda_max_follows_its_seed_and_refuses_nonsense():
    ends = [lambda_max(operator(cases()["random"], "sym", channel="high"), rng=seed) for seed in (None, 0, 1)]
    assert ends[0] == ends[1]
    assert_allclose(ends[2], ends[0], rtol=1e-6)
    for options in ({"rtol": 1.5}, {"failure": 2.0}):
        with pytest.raises(ParameterError, match="must be < 1"):
            lambda_max_bounds(MANY, **options)
    with pytest.raises(GraphError, match="symmetrize="):
        lambda_max(operator(Graph.from_edges([(0, 1)], directed=True), "rw", channel="high"))


def test_the_upper_bound_holds_with_the_stated_probability():
    """Few products and a failure of 0.1: in 100 seeds at most 10 bounds may be too small, and none is."""
    op = operator(cases()["path"], "comb", channel="high")
    true = 2 - 2 * np.cos(np.pi * 599 / 600)
    bounds = [lambda_max_bounds(op, rtol=0.5, failure=0.1, rng=seed) for seed in range(100)]
    assert sum(not lower <= true * (1 + 1e-12) <= upper * (1 + 1e-12) for lower, upper in bounds) <= 10
