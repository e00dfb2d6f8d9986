"""Filter banks by every method, solvers, two channels and critical sampling on the device."""

import numpy as np
import pytest
from scipy import sparse

import gsp_fb as gf
from gsp_fb.filters import FilterBank, classify, heat, interpolate, mexican_hat, meyer, ppr, tikhonov, wiener
from gsp_fb.variants import VARIANTS

METHODS = {
    "exact": [heat(1.0), heat(5.0)],
    "chebyshev": [heat(1.0), heat(5.0)],
    "lanczos": [heat(1.0), heat(5.0)],
    "cg": [ppr(0.2), ppr(0.5)],
}


def banks(pair, family, kernels, **options):
    return (FilterBank(gf.operator(g, family, "high"), kernels, **options) for g in (pair.here, pair.there))


@pytest.mark.parametrize("family", VARIANTS)
@pytest.mark.parametrize("method", METHODS)
@pytest.mark.filterwarnings("ignore:.*has an error bound")
def test_analysis_and_synthesis(small, same, family, method):
    ours, theirs = banks(small, family, METHODS[method], tol=1e-10, method=method)
    assert (theirs.plan().method, theirs.plan().order) == (ours.plan().method, ours.plan().order)
    for x in (small.x, small.x[:, 0], small.x + 1j, 0 * small.x):
        c = theirs.analyze(small.up(x))
        same(c, ours.analyze(x), atol=1e-8)
        same(theirs.synthesize(c), ours.synthesize(ours.analyze(x)), atol=1e-8)


@pytest.mark.parametrize("method", METHODS)
def test_large_graphs_in_both_precisions(large, same, method):
    ours, theirs = banks(large, "renorm_rw", METHODS[method], tol=1e-6, method=method)
    for x in (large.x[:, :1], large.x.astype(np.float32)):
        c = theirs.analyze(large.up(x))
        assert c.dtype == large.up(x).dtype
        same(c, ours.analyze(x), atol=1e-5)


def test_sparse_signals_are_filtered(small, same):
    ours, theirs = banks(small, "sym", [heat(1.0)])
    x = sparse.csr_array(np.where(small.x > 0, small.x, 0.0))
    same(theirs.analyze(small.up(x)), ours.analyze(x))


@pytest.mark.parametrize("kernels", [meyer(3), mexican_hat(4)], ids=["tight", "frame"])
@pytest.mark.parametrize("method", ["exact", "chebyshev"])
@pytest.mark.filterwarnings("ignore:.*has an error bound")
def test_reconstruction(small, same, kernels, method):
    _, theirs = banks(small, "rw", kernels, tol=1e-6, method=method)
    same(theirs.reconstruct(theirs.analyze(small.up(small.x))), small.x, atol=1e-3)
    assert theirs.frame_bounds(theirs.response.spectrum.frequencies)[0] > 0


def test_localized_kernels(small, same):
    ours, theirs = banks(small, "sym", [heat(2.0)])
    same(theirs.localize(2), ours.localize(2))


@pytest.mark.parametrize("family", ["comb", "sym", "rw"])
def test_denoising(small, same, family):
    ours, theirs = (gf.operator(graph, family, "high") for graph in (small.here, small.there))
    same(tikhonov(theirs, small.up(small.x), 2.0), tikhonov(ours, small.x, 2.0))
    same(wiener(theirs, small.up(small.x), 1.0, 0.5), wiener(ours, small.x, 1.0, 0.5))


@pytest.mark.parametrize("tau", [0.0, 0.5])
@pytest.mark.parametrize("family", ["comb", "rw"])
def test_interpolation_and_classification(large, same, tau, family):
    ours, theirs = (gf.operator(graph, family, "high") for graph in (large.here, large.there))
    known = np.arange(large.here.n_nodes) % 3 == 0
    wanted = interpolate(ours, large.x, known, tau=tau)
    same(interpolate(theirs, large.up(large.x), large.up(known), tau=tau), wanted, atol=1e-6)
    same(interpolate(theirs, large.up(large.x), known, tau=tau), wanted, atol=1e-6)
    classes, scores = classify(theirs, large.up(large.y), tau=tau)
    same(scores, classify(ours, large.y, tau=tau)[1], atol=1e-6)
    same(classes, classify(ours, large.y, tau=tau)[0])


@pytest.mark.parametrize("family", VARIANTS)
def test_two_channels(small, same, family):
    ours, theirs = (FilterBank.two_channel(graph, family, levels=2) for graph in (small.here, small.there))
    bands = theirs.analyze(small.up(small.x))
    for band, wanted in zip(bands, ours.analyze(small.x), strict=True):
        same(band, wanted)
    same(theirs.synthesize(*bands), small.x)
    same(theirs.aggregate(small.up(small.x)), ours.aggregate(small.x))
    same(theirs.diversify(small.up(small.x)), ours.diversify(small.x))
    x = sparse.csr_array(np.where(small.x > 0, small.x, 0.0))
    for band, wanted in zip(theirs.analyze(small.up(x)), ours.analyze(x), strict=True):
        same(band, wanted)


@pytest.mark.parametrize("keep", ["max_cut", [True, False, True, False, True, True]])
def test_critical_sampling(small, same, keep):
    ours, theirs = (FilterBank.two_channel(graph, "lazy_rw") for graph in (small.here, small.there))
    mine, other = ours.sampling(keep), theirs.sampling(keep)
    same(other.keep, mine.keep)
    assert other.condition == pytest.approx(mine.condition)
    assert repr(other) == repr(mine)
    for x in (small.x, small.x + 1j):
        c = theirs.analyze_sampled(small.up(x), other)
        same(c, ours.analyze_sampled(x, mine))
        same(theirs.synthesize_sampled(c, other), x)


def test_sampling_that_loses_a_component_is_refused(small):
    with pytest.raises(gf.errors.ParameterError, match="no node that keeps its low value"):
        FilterBank.two_channel(small.there, "lazy_rw").sampling([False] * 6)
