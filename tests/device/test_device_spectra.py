"""Full and partial spectra, transforms and eigengaps on the device."""

import numpy as np
import pytest

import gsp_fb as gf
from gsp_fb import _eigen, _search
from gsp_fb.errors import ConvergenceError
from gsp_fb.variants import VARIANTS
from tests.support import device


@pytest.mark.parametrize("family", VARIANTS)
@pytest.mark.parametrize("channel", ["low", "high"])
def test_full_spectra_and_transforms(small, same, family, channel):
    ours, theirs = (gf.spectrum(gf.operator(graph, family, channel)) for graph in (small.here, small.there))
    same(theirs.frequencies, ours.frequencies)
    same(theirs.igft(theirs.gft(small.up(small.x))), small.x)
    modes = theirs.basis
    same(gf.operator(small.there, family, channel) @ modes, ours.operator @ device.to_host(modes))
    same(theirs.operator @ modes, device.to_host(modes * theirs.frequencies[None, :]))


@pytest.mark.parametrize("family", ["comb", "sym", "renorm_rw"])
@pytest.mark.parametrize("which", ["low", "high"])
@pytest.mark.parametrize("channel", ["low", "high"])
def test_partial_spectra(large, same, family, which, channel):
    ours, theirs = (gf.spectrum(gf.operator(g, family, channel), k=4, which=which) for g in (large.here, large.there))
    assert (theirs.method, theirs.proof) == ("lanczos", "residual")
    same(theirs.frequencies, ours.frequencies)
    same(theirs.symmetrized_basis, ours.symmetrized_basis, atol=1e-7)
    same(theirs.gft(large.up(large.x)), ours.gft(large.x), atol=1e-6)


def test_null_vectors_are_known_on_the_device(same):
    pairs = gf.Graph.from_edges([(2 * i, 2 * i + 1) for i in range(300)])
    ours, theirs = (gf.spectrum(gf.operator(g, "sym", "high"), k=5) for g in (pairs, pairs.to(device.DEVICE)))
    assert theirs.method == "components"
    same(theirs.symmetrized_basis, ours.symmetrized_basis)


def test_sparse_signals_are_transformed(small, same):
    from gsp_fb.energy import one_hot

    ours, theirs = (gf.spectrum(gf.operator(g, "sym", "high")) for g in (small.here, small.there))
    y = np.array([0, 1, 0, 1, 1, 0])
    same(theirs.igft(theirs.gft(one_hot(small.up(y)))), ours.igft(ours.gft(one_hot(y))))


@pytest.mark.parametrize("family", ["sym", "lazy_rw"])
def test_eigengaps(large, family):
    ours, theirs = (gf.eigengap(gf.operator(graph, family), certify=False) for graph in (large.here, large.there))
    assert theirs.ratio == pytest.approx(ours.ratio, abs=1e-9)
    assert theirs.error < 1e-6


def test_tiny_gaps_are_resolved_by_polynomials_of_higher_degree(same):
    path = gf.Graph.from_edges([(i, i + 1) for i in range(599)])
    ours, theirs = (gf.spectrum(gf.operator(g, "sym", "high"), k=2) for g in (path, path.to(device.DEVICE)))
    same(theirs.frequencies, ours.frequencies)


def test_a_search_that_fails_names_the_host_where_the_stronger_solvers_are(monkeypatch):
    monkeypatch.setattr(_search, "PHASES", 1)
    path = gf.Graph.from_edges([(i, i + 1) for i in range(599)]).to(device.DEVICE)
    with pytest.raises(
        ConvergenceError, match=r"factorisations run on the CPU only: ask an operator of graph\.to\('cpu'\)"
    ):
        gf.spectrum(gf.operator(path, "sym", "high"), k=2)


def test_residuals_of_a_ladder_without_the_device_are_the_same(large):
    core = gf.operator(large.there, "sym", "high")
    pairs = _eigen.partial_pairs(core, 3, smooth=True, tol=1e-10)
    defect = core.apply(pairs.vectors) - pairs.vectors * pairs.values
    assert np.linalg.norm(device.to_host(defect), axis=0).max() < 1e-8
