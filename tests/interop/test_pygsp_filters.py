"""Kernels and banks against PyGSP 0.6.1, the same axis given to both; where it differs, how."""

import numpy as np
import pytest
from numpy.testing import assert_allclose

from gsp_fb import Graph, filters, operator
from gsp_fb.filters import FilterBank

pygsp = pytest.importorskip("pygsp")
pygsp_filters = pytest.importorskip("pygsp.filters")

PAIRS = {
    "heat": (lambda G: pygsp_filters.Heat(G, 7.0), lambda lmax: [filters.heat(7.0, normalize="lmax", lmax=lmax)]),
    "wave": (lambda G: pygsp_filters.Wave(G, 5.5, 1.3), lambda lmax: [filters.wave(5.5, speed=1.3, lmax=lmax)]),
    "mexican_hat": (pygsp_filters.MexicanHat, lambda lmax: filters.mexican_hat(lmax=lmax)),
    "mexican_hat_normalized": (
        lambda G: pygsp_filters.MexicanHat(G, 4, normalize=True),
        lambda lmax: filters.mexican_hat(4, normalize=True, lmax=lmax),
    ),
    "abspline": (pygsp_filters.Abspline, lambda lmax: filters.abspline(lmax=lmax)),
    "meyer": (pygsp_filters.Meyer, lambda lmax: filters.meyer(lmax=lmax)),
    "simple_tight": (pygsp_filters.SimpleTight, lambda lmax: filters.simple_tight(lmax=lmax)),
    "itersine": (pygsp_filters.Itersine, lambda lmax: filters.itersine(lmax=lmax)),
    "itersine4": (lambda G: pygsp_filters.Itersine(G, 8, 4), lambda lmax: filters.itersine(8, overlap=4, lmax=lmax)),
    "rectangular": (
        lambda G: pygsp_filters.Rectangular(G, 0.1, 0.5),
        lambda lmax: [filters.ideal(0.1, 0.5, lmax=lmax)],
    ),
    "expwin": (
        lambda G: pygsp_filters.Expwin(G, 0.1, 0.5, 2),
        lambda lmax: [filters.exponential_window(0.1, 0.5, slope=2.0, lmax=lmax)],
    ),
}


@pytest.fixture(scope="module")
def G():
    rng = np.random.default_rng(3)
    A = np.triu(rng.random((40, 40)) * (rng.random((40, 40)) < 0.2), 1)
    graph = pygsp.graphs.Graph(A + A.T)
    graph.compute_fourier_basis()
    return graph


@pytest.fixture(scope="module")
def axis(G):
    # Not the very ends, where their sqrt(1 - h^2) has no digits left.
    return np.concatenate([np.linspace(1e-9, G.lmax * (1 - 1e-5), 1234), G.e[1:-1]])


@pytest.mark.parametrize("name", PAIRS)
def test_kernels_agree(name, G, axis):
    theirs, ours = PAIRS[name]
    want = np.atleast_2d(theirs(G).evaluate(axis))
    got = np.stack([kernel(axis) for kernel in ours(G.lmax)])
    # PyGSP finds the height of the spline by a search that stops at 1e-5 in x.
    assert_allclose(got, want, atol=1e-9 if name == "abspline" else 1e-10)


@pytest.mark.parametrize("name", ["held", "simoncelli", "papadakis"])
def test_pairs_agree_but_for_the_root_of_a_difference(name, G, axis):
    """PyGSP's second filter is sqrt(1 - g^2), which keeps 8 digits where g is near 1; its square agrees."""
    want = getattr(pygsp_filters, name.capitalize())(G).evaluate(axis)
    got = np.stack([kernel(axis) for kernel in filters.KERNELS[name](lmax=G.lmax)])
    assert_allclose(got[0], want[0], atol=1e-10)
    assert_allclose(got[1] ** 2, want[1] ** 2, atol=1e-10)


@pytest.mark.parametrize("degree", [2, 3, 5])
def test_regular_is_reversed_and_counts_sines(degree, G, axis):
    want = pygsp_filters.Regular(G, degree).evaluate(axis)
    got = [kernel(axis) for kernel in filters.regular(degree - 1, lmax=G.lmax)]
    assert_allclose(got[1], want[0], atol=1e-10)
    assert_allclose(got[0] ** 2, want[1] ** 2, atol=1e-10)


def test_half_cosine_is_scaled_to_the_bound_one(G, axis):
    theirs = pygsp_filters.HalfCosine(G)
    got = np.stack([kernel(axis) for kernel in filters.half_cosine(lmax=G.lmax)])
    assert_allclose(got * np.sqrt(9 / 8), theirs.evaluate(axis), atol=1e-10)


def test_gabor_is_the_mother_at_every_eigenvalue(G, axis):
    mother = pygsp_filters.Expwin(G, None, 0.3, 1)
    want = pygsp_filters.Gabor(G, mother).evaluate(axis)
    ours = filters.gabor(filters.exponential_window(band_max=0.3, lmax=G.lmax), G.e)
    assert_allclose(np.stack([kernel(axis) for kernel in ours]), want, atol=1e-10)


@pytest.mark.parametrize("name", ["heat", "mexican_hat", "meyer", "itersine"])
def test_filtered_signals_agree(name, G):
    theirs, ours = PAIRS[name]
    op = operator(Graph.from_adjacency(G.W), "comb", channel="high")
    x = np.random.default_rng(0).standard_normal((40, 3))
    bank = FilterBank(op, ours(G.lmax))
    want = theirs(G).filter(x, method="exact").reshape(40, 3, len(bank))
    assert_allclose(bank.analyze(x), want, atol=1e-10)
    assert_allclose(bank.localize(5), theirs(G).localize(5, method="exact").reshape(40, -1) / np.sqrt(40), atol=1e-10)
