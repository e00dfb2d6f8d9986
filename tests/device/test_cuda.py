"""A real GPU beside NumPy, for `pytest -m gpu` where CuPy finds one; elsewhere each test states why it is skipped.

Where there is one, the core's own tests are collected for it as well, as they are everywhere for the double.
"""

import numpy as np
import pytest

import gsp_fb as gf
from gsp_fb.backend import device_of, move, to_host
from gsp_fb.filters import FilterBank, heat, interpolate, ppr
from gsp_fb.variants import VARIANTS
from tests.support.device_proxy import why_not

REASON = why_not("cuda")
pytestmark = [pytest.mark.gpu, pytest.mark.skipif(REASON is not None, reason=str(REASON))]


@pytest.fixture(scope="module")
def pair():
    rng = np.random.default_rng(0)
    edges = rng.integers(0, 700, (3000, 2))
    graph = gf.Graph.from_edges(edges, n_nodes=700, symmetrize="max", duplicates="first")
    there = graph.to("cuda")
    x = rng.standard_normal((700, 3))
    return graph, there, x, move(x, "cuda"), rng.integers(-1, 4, 700)


def same(theirs, ours, **tolerances):
    assert device_of(theirs) == "cuda"
    np.testing.assert_allclose(to_host(theirs), ours, **{"rtol": 1e-8, "atol": 1e-9} | tolerances)


@pytest.mark.parametrize("family", VARIANTS)
@pytest.mark.parametrize("channel", ["low", "high"])
def test_products_and_energies(pair, family, channel):
    here, there, x, z, _ = pair
    ours, theirs = gf.operator(here, family, channel), gf.operator(there, family, channel)
    same(theirs @ z, ours @ x)
    same(theirs.T @ z, ours.T @ x)
    same(theirs @ z[:, 0], ours @ x[:, 0])
    assert theirs.bounds == pytest.approx(ours.bounds)
    np.testing.assert_allclose(to_host(theirs.to_sparse()).toarray(), ours.to_scipy().toarray(), atol=1e-12)
    if channel == "high":
        assert gf.s_value(theirs, z) == pytest.approx(gf.s_value(ours, x))
        same(gf.dirichlet_energy(theirs, z, per_column=True), gf.dirichlet_energy(ours, x, per_column=True))


@pytest.mark.parametrize("family", ["comb", "sym", "lazy_rw"])
def test_spectra(pair, family):
    here, there, x, z, _ = pair
    ours, theirs = gf.spectrum(gf.operator(here, family, "high")), gf.spectrum(gf.operator(there, family, "high"))
    same(theirs.frequencies, ours.frequencies)
    same(theirs.igft(theirs.gft(z)), x)
    for which in ("low", "high"):
        few = (gf.spectrum(gf.operator(graph, family, "high"), k=3, which=which) for graph in (here, there))
        mine, other = (modes.frequencies for modes in few)
        same(other, mine, atol=1e-7)


@pytest.mark.parametrize("method", ["exact", "chebyshev", "lanczos", "cg"])
def test_banks(pair, method):
    here, there, x, z, _ = pair
    kernels = [ppr(0.2)] if method == "cg" else [heat(1.0), heat(5.0)]
    ours, theirs = (FilterBank(gf.operator(g, "rw", "high"), kernels, method=method) for g in (here, there))
    c = theirs.analyze(z)
    same(c, ours.analyze(x), atol=1e-6)
    same(theirs.synthesize(c), ours.synthesize(ours.analyze(x)), atol=1e-6)


def test_profiles_homophily_significance_and_solvers(pair):
    here, there, x, z, y = pair
    labels = move(y, "cuda")
    ours, theirs = (gf.operator(graph, "sym", "high") for graph in (here, there))
    same(gf.energy_profile(theirs, z).energy, gf.energy_profile(ours, x).energy, atol=1e-6)
    for measure in (gf.node_homophily, gf.edge_homophily, gf.class_homophily):
        assert measure(there, labels) == pytest.approx(measure(here, y))
    mine, other = (gf.s_value_significance(op, a, n_surrogates=9, rng=0) for op, a in ((ours, x), (theirs, z)))
    same(other.surrogates, mine.surrogates)
    known = np.arange(700) % 2 == 0
    same(interpolate(theirs, z, known, tau=1.0), interpolate(ours, x, known, tau=1.0), atol=1e-6)


def test_critical_sampling(pair):
    _, there, x, z, _ = pair
    bank = FilterBank.two_channel(there, "lazy_rw")
    sampling = bank.sampling()
    same(bank.synthesize_sampled(bank.analyze_sampled(z, sampling), sampling), x, atol=1e-7)


def test_arrays_are_shared_with_torch_without_a_copy(pair):
    torch = pytest.importorskip("torch")
    _, there, *_ = pair
    matrix = gf.operator(there, "sym").to_sparse()
    shared = torch.from_dlpack(matrix.data)
    assert shared.data_ptr() == matrix.data.data.ptr
    assert shared.device.type == "cuda"
