"""The test of S against random placement: by definition, by enumeration, and uniform under the null."""

import itertools

import numpy as np
import pytest
from numpy.testing import assert_allclose
from scipy import sparse, stats

import gsp_fb as gf
from gsp_fb.energy._sums import gram, weights_of
from gsp_fb.energy.permutation import permutation_moments
from gsp_fb.errors import GspWarning, ParameterError, SignalError
from gsp_fb.variants import VARIANTS

ODD = gf.Graph.from_edges([(0, 1), (1, 2), (2, 0), (2, 3), (3, 3)], weights=[1.0, 0.5, 2.0, 1.5, 0.7], n_nodes=5)
ARCS = gf.Graph.from_edges([(0, 1), (1, 2), (3, 1)], n_nodes=5, directed=True)
X = np.array([[1.0, 0.0], [0.5, 2.0], [-1.0, 1.0], [0.0, 3.0], [2.0, 0.25]])
GRID = gf.datasets.grid(12, 12)


def high(graph, family="sym"):
    return gf.operator(graph, family, "high")


def own_forms(op, x):
    """Numerator and denominator of S of each column in the operator's inner product, from dense matrices."""
    weights = np.ones(len(x)) if op.graph.directed else op.scale**2
    above = np.einsum("ic,i,ij,jc->c", x.conj(), weights, op.to_scipy().toarray(), x).real
    return above, np.einsum("i,ic->c", weights, np.abs(x) ** 2)


def own_s(op, x):
    above, below = own_forms(op, x)
    return above.sum() / below.sum()


def placements(x):
    return (x[list(order)] for order in itertools.permutations(range(len(x))))


@pytest.mark.parametrize("family", VARIANTS)
@pytest.mark.parametrize("graph", [ODD, ARCS], ids=["undirected", "directed"])
def test_the_expectation_is_the_mean_over_all_placements(graph, family):
    op = high(graph, family)
    mean = np.mean([own_s(op, placed) for placed in placements(X)])
    # Where the norm changes with the placement the expectation is taken to second order, which five nodes show.
    varies = VARIANTS[family].norm == "rw" and not graph.directed
    assert gf.expected_s_value(op, X) == pytest.approx(mean, rel=0.05 if varies else 1e-12)
    assert_allclose(
        gf.expected_s_value(op, sparse.csr_array(X), per_column=True), gf.expected_s_value(op, X, per_column=True)
    )


@pytest.mark.parametrize("family", ["comb", "sym", "rw", "lazy_rw"])
@pytest.mark.parametrize("n", [1, 2, 3, 4, 6])
@pytest.mark.parametrize("per_column", [False, True])
@pytest.mark.parametrize("unit", [1.0, 1j + 0.5], ids=["real", "complex"])
def test_moments_are_those_of_all_placements(family, n, per_column, unit):
    rng = np.random.default_rng(n)
    A = np.triu(rng.random((n, n)) * (rng.random((n, n)) < 0.7))
    op, x = high(gf.Graph.from_adjacency(A + A.T), family), rng.standard_normal((n, 2)) + unit * rng.random((n, 2))
    x = x / np.abs(x).max(axis=0)
    level = np.array([0.3, 0.7]) if per_column else np.array([0.4])
    forms = []
    for placed in placements(x):
        above, below = own_forms(op, placed)
        forms.append(above - level * below if per_column else [above.sum() - level[0] * below.sum()])
    weights = weights_of(op)
    mean, variance = permutation_moments(weights, gram(op.graph, x, per_column), level)
    assert_allclose(mean * weights.unit, np.mean(forms, axis=0), atol=1e-12)
    assert_allclose(variance * weights.unit**2, np.var(forms, axis=0), atol=1e-11)


def test_labels_drawn_at_random_are_not_expected_near_one():
    """S is 1 for signals of zero mean only: two classes of one half each have 1/2, the classes' share of the mean."""
    labels = gf.one_hot(np.random.default_rng(0).integers(0, 2, 1000))
    ring = high(gf.datasets.ring(1000))
    assert gf.expected_s_value(ring, labels) == pytest.approx(0.5, abs=0.01)
    assert gf.s_value(ring, labels) == pytest.approx(0.5, abs=0.05)
    zero_mean = np.random.default_rng(1).standard_normal(1000)
    assert gf.expected_s_value(ring, zero_mean - zero_mean.mean()) == pytest.approx(1.0, abs=2e-3)


def test_smooth_and_rough_signals_are_found():
    op = high(gf.datasets.grid(8, 8))
    row, col = np.divmod(np.arange(64), 8)
    smooth = gf.s_value_significance(op, row.astype(float) - 3.5, n_surrogates=199, rng=1)
    rough = gf.s_value_significance(op, (-1.0) ** (row + col), n_surrogates=199, rng=1)
    assert (smooth.p_smooth, rough.p_rough) == (1 / 200, 1 / 200)
    assert smooth.z_score < -3 < 3 < rough.z_score


@pytest.mark.parametrize("family", ["sym", "comb", "rw"])
@pytest.mark.parametrize("method", ["permutation", "analytic"])
@pytest.mark.parametrize("kind", ["values", "labels"])
def test_p_values_are_uniform_under_the_null(family, method, kind):
    op, p_smooth, p_rough = high(GRID, family), [], []
    for seed in range(250):
        rng = np.random.default_rng(seed)
        x = rng.exponential(size=144) if kind == "values" else np.eye(3)[rng.integers(0, 3, 144)]
        found = gf.s_value_significance(op, x, n_surrogates=99, method=method, rng=rng)
        p_smooth.append(found.p_smooth)
        p_rough.append(found.p_rough)
    for values in (p_smooth, p_rough):
        assert stats.kstest(values, "uniform").pvalue > 1e-3


def test_significance_by_its_definition():
    op, x = high(gf.datasets.ring(12)), np.random.default_rng(3).standard_normal(12)
    found = gf.s_value_significance(op, x, n_surrogates=50, rng=4)
    rng = np.random.default_rng(4)
    drawn = np.array([gf.s_value(op, x[rng.permutation(12)]) for _ in range(50)])
    assert_allclose(found.surrogates, drawn, rtol=1e-12)
    assert found.s_value == pytest.approx(gf.s_value(op, x), rel=1e-14)
    assert found.p_smooth == (1 + np.count_nonzero(drawn <= found.s_value)) / 51
    assert found.p_rough == (1 + np.count_nonzero(drawn >= found.s_value)) / 51
    assert found.z_score == pytest.approx((found.s_value - found.expected) / found.std)
    assert found.expected == gf.expected_s_value(op, x)
    assert not found.surrogates.flags.writeable
    assert gf.s_value_significance(op, x, rng=4).surrogates.shape == (999,)


@pytest.mark.parametrize("family", ["sym", "rw"])
@pytest.mark.parametrize("make", [np.asarray, sparse.csr_array], ids=["dense", "sparse"])
def test_columns_are_tested_one_by_one(family, make):
    op, x = high(GRID, family), np.random.default_rng(0).exponential(size=(144, 5))
    for method in ("permutation", "analytic"):
        pooled = gf.s_value_significance(op, make(x), per_column=True, n_surrogates=30, method=method, rng=2)
        assert pooled.surrogates.shape == (30 if method == "permutation" else 0, 5)
        for j in range(5):
            alone = gf.s_value_significance(op, x[:, j], n_surrogates=30, method=method, rng=2)
            for name in ("s_value", "expected", "std", "p_smooth", "p_rough", "z_score"):
                assert_allclose(getattr(pooled, name)[j], getattr(alone, name), rtol=1e-9, atol=1e-12)
    assert repr(pooled) == "Significance(5 signals, 0 surrogates)"


@pytest.mark.parametrize("family", ["sym", "comb", "renorm_rw"])
def test_labels_are_counted_as_their_one_hot_columns_are_summed(family):
    """The same permutations by counting edges and, with one entry changed by rounding, by the general way."""
    y = np.random.default_rng(1).integers(-1, 4, 144)
    op, labels = high(GRID, family), gf.one_hot(y)
    changed = labels.toarray()
    changed[np.flatnonzero(y >= 0)[0]] *= 1 + 4e-16
    counted, summed = (gf.s_value_significance(op, x, n_surrogates=40, rng=3) for x in (labels, changed))
    assert_allclose(counted.surrogates, summed.surrogates, rtol=1e-12)
    assert (counted.p_smooth, counted.p_rough) == (summed.p_smooth, summed.p_rough)


@pytest.mark.parametrize("method", ["permutation", "analytic"])
def test_the_scale_of_weights_and_signals_changes_nothing(method):
    x = np.sin(np.arange(200) / 9)
    found = []
    for weight, size in ((1.0, 1.0), (1e-13, 1.0), (1e-13, 1e-90), (1e90, 1e90)):
        path = gf.Graph.from_edges([(i, i + 1) for i in range(199)], [weight] * 199)
        found.append(gf.s_value_significance(high(path, "comb"), size * x, n_surrogates=99, method=method, rng=0))
    for one in found[1:]:
        assert_allclose(
            [one.p_smooth, one.p_rough, one.z_score], [found[0].p_smooth, found[0].p_rough, found[0].z_score]
        )


def test_moments_and_draws_agree():
    for family in ("sym", "comb", "lazy_rw"):
        found = gf.s_value_significance(high(GRID, family), np.random.default_rng(0).exponential(size=144), rng=1)
        assert found.surrogates.mean() == pytest.approx(found.expected, abs=5 * found.std / np.sqrt(999))
        assert found.surrogates.std() == pytest.approx(found.std, rel=0.1)


@pytest.mark.parametrize("method", ["permutation", "analytic"])
def test_a_constant_on_a_regular_graph_is_as_smooth_as_every_placement_of_it(method):
    found = gf.s_value_significance(high(gf.datasets.ring(30)), np.ones(30), n_surrogates=9, method=method, rng=0)
    assert (found.p_smooth, found.p_rough) == (1.0, 1.0)
    assert np.isnan(found.z_score)


def test_spectral_signs_keep_s():
    graph = gf.Graph.from_edges([(0, 1), (1, 2), (2, 3), (1, 3), (3, 4)])
    x = np.array([1.0, 2.0, -1.0, 0.5, 3.0])
    for family in ("sym", "rw"):
        control = gf.s_value_significance(high(graph, family), x, kind="spectral_sign", n_surrogates=9, rng=0)
        assert_allclose(control.surrogates, control.s_value)
        assert (control.p_smooth, control.p_rough) == (1.0, 1.0)
        assert np.isnan(control.z_score)


def test_zero_columns_low_channels_and_unknown_options():
    op = high(GRID)
    for measure in (gf.expected_s_value, gf.s_value_significance):
        with pytest.raises(SignalError, match="zero everywhere"):
            measure(op, np.zeros(144))
        with pytest.raises(ParameterError, match=r"complement|channel='high'"):
            measure(gf.operator(GRID, "sym"), np.ones(144))
    block = np.stack([np.zeros(144), np.arange(144.0)], axis=1)
    with pytest.warns(GspWarning, match="column 0 is zero"):
        assert np.isnan(gf.expected_s_value(op, block, per_column=True)[0])
    with pytest.warns(GspWarning, match="column 0 is zero"):
        found = gf.s_value_significance(op, block, per_column=True, method="analytic")
    assert np.isnan(found.p_smooth[0])
    assert found.p_smooth[1] < 1e-3
    with pytest.raises(ParameterError, match="unknown method 'exact'"):
        gf.s_value_significance(op, np.ones(144), method="exact")


def test_significance_is_reproducible_and_leaves_the_global_seed_alone():
    op = high(GRID)
    state = np.random.get_state()[1].copy()  # noqa: NPY002  # the global state is what must stay
    first, second = (gf.s_value_significance(op, np.arange(144.0), n_surrogates=20, rng=5).surrogates for _ in range(2))
    assert np.array_equal(first, second)
    assert np.array_equal(np.random.get_state()[1], state)  # noqa: NPY002


def test_no_signals_have_no_expected_values():
    op = high(gf.datasets.ring(6))
    assert gf.expected_s_value(op, np.zeros((6, 0)), per_column=True).shape == (0,)
    assert gf.expected_s_value(op, np.zeros((6, 0), dtype=complex), per_column=True).shape == (0,)
    assert len(gf.s_value_significance(op, np.zeros((6, 0), dtype=complex), per_column=True).p_smooth) == 0
