"""Labels, homophily, significance, profiles and densities on the device."""

import numpy as np
import pytest
from scipy import sparse

import gsp_fb as gf
from gsp_fb.energy import lambda_max, one_hot, spectral_density

Y = np.array([0, 0, 1, 1, 2, -1])


@pytest.mark.parametrize("measure", [gf.node_homophily, gf.edge_homophily, gf.class_homophily])
def test_homophily(small, large, measure):
    assert measure(small.there, small.up(Y)) == pytest.approx(measure(small.here, Y))
    assert measure(large.there, large.up(large.y)) == pytest.approx(measure(large.here, large.y))
    assert np.isnan(measure(small.there, small.up(np.full(6, -1))))


def test_aggregation_similarity(small, large):
    for pair, y in ((small, Y), (large, large.y)):
        theirs = gf.aggregation_similarity(pair.there, pair.up(pair.x), pair.up(y))
        assert theirs == pytest.approx(gf.aggregation_similarity(pair.here, pair.x, y))


def test_labels_become_signals_on_the_device(small, same):
    same(one_hot(small.up(Y)), one_hot(Y))
    same(one_hot(small.up(Y), 5), one_hot(Y, 5))


@pytest.mark.parametrize("bad", [[0.5] * 6, [0, 1]])
def test_bad_labels_are_refused(small, bad):
    with pytest.raises(gf.errors.SignalError, match="labels"):
        gf.node_homophily(small.there, small.up(bad))


def test_spread_of_rows_and_columns(small, same):
    x = sparse.csr_array(np.where(small.x > 0, small.x, 0.0))
    for given in (small.x, 1j * small.x, x):
        assert gf.row_diff(small.up(given)) == pytest.approx(gf.row_diff(given))
        assert gf.col_diff(small.up(given)) == pytest.approx(gf.col_diff(given))
    same(gf.row_normalized(small.up(np.abs(small.x))), gf.row_normalized(np.abs(small.x)))
    same(gf.row_normalized(small.up(x)), gf.row_normalized(x))


@pytest.mark.parametrize("kind", ["permute", "spectral_sign"])
@pytest.mark.parametrize("family", ["sym", "rw"])
def test_significance(small, same, kind, family):
    ours, theirs = (
        gf.s_value_significance(gf.operator(graph, family, "high"), x, n_surrogates=19, kind=kind, rng=1)
        for graph, x in ((small.here, small.x), (small.there, small.up(small.x)))
    )
    assert theirs.s_value == pytest.approx(ours.s_value)
    if kind == "permute":
        same(theirs.surrogates, ours.surrogates)
        assert (theirs.p_smooth, theirs.p_rough) == (ours.p_smooth, ours.p_rough)


def test_significance_of_sparse_signals(small, same):
    ours, theirs = (
        gf.s_value_significance(gf.operator(graph, "sym", "high"), one_hot(y), n_surrogates=9, rng=1)
        for graph, y in ((small.here, Y), (small.there, small.up(Y)))
    )
    same(theirs.surrogates, ours.surrogates)


@pytest.mark.parametrize("size", ["small", "large"])
@pytest.mark.parametrize("family", ["comb", "sym", "lazy_rw"])
def test_profiles(request, same, size, family):
    pair = request.getfixturevalue(size)
    ours, theirs = (
        gf.energy_profile(gf.operator(graph, family, "high"), x, matvecs=30)
        for graph, x in ((pair.here, pair.x), (pair.there, pair.up(pair.x)))
    )
    for name in ("edges", "energy", "lower", "upper", "moments", "fraction"):
        # Without orthogonalisation the middle of the bounds follows the rounding of the products.
        same(getattr(theirs, name), getattr(ours, name), atol=1e-6 * ours.total)
    assert theirs.total == pytest.approx(ours.total)
    assert theirs.matvecs == ours.matvecs
    assert repr(theirs) == repr(ours)


@pytest.mark.parametrize("size", ["small", "large"])
def test_densities_and_largest_eigenvalues(request, same, size):
    pair = request.getfixturevalue(size)
    ours, theirs = (gf.operator(graph, "comb", "high") for graph in (pair.here, pair.there))
    mine, other = (spectral_density(op, n_vectors=3, matvecs=20, rng=0) for op in (ours, theirs))
    for name in ("edges", "fraction", "error", "density"):
        same(getattr(other, name), getattr(mine, name), atol=1e-8)
    assert lambda_max(theirs) == pytest.approx(lambda_max(ours))


def test_energies_of_nothing_stay_on_the_device(small, same):
    nothing = np.zeros((0, 2))
    same(gf.signal_energy(small.up(nothing), per_column=True), np.zeros(2))


def test_columns_of_every_size_are_scaled_on_the_device(small, same):
    sizes = np.array([1e-200, 1.0, 1e150])
    for given in (small.x * sizes, sparse.csr_array(small.x * sizes)):
        there, here = (gf.operator(graph, "comb", "high") for graph in (small.there, small.here))
        same(gf.s_value(there, small.up(given), per_column=True), gf.s_value(here, given, per_column=True))
