"""Kernels and banks against PyGSP 0.6.1, the same axis given to both; where it differs, how."""

import mpmath
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


def fallen(low):
    return mpmath.sqrt(1 - low**2)


def held_low(x, a):
    y = x / 8 / a
    return mpmath.sin(2 * mpmath.pi * (-1 + 24 * y - 144 * y**2 + 256 * y**3))


def regular_low(x, degree):
    y = mpmath.sin(mpmath.pi * (x - 1) / 2)
    for _ in range(2, degree):
        y = mpmath.sin(mpmath.pi * y / 2)
    return mpmath.sin(mpmath.pi / 4 * (1 + y))


def between(edge, start, end):
    return lambda x: mpmath.mpf(1) if x < start else edge(x) if x < end else mpmath.mpf(0)


# PyGSP's formulas on its axis from 0 to 2: the first filter; the second is sqrt(1 - first^2).
TWO_THIRDS = mpmath.mpf(2 / 3)
FIRST = {
    "held": between(lambda x: held_low(x, TWO_THIRDS), TWO_THIRDS, 2 * TWO_THIRDS),
    "simoncelli": between(
        lambda x: mpmath.cos(mpmath.pi / 2 * mpmath.log(x / TWO_THIRDS, 2)), TWO_THIRDS, 2 * TWO_THIRDS
    ),
    "papadakis": between(
        lambda x: mpmath.sqrt((1 - mpmath.sin(2 * mpmath.pi * x)) / 2), mpmath.mpf("0.75"), mpmath.mpf("1.25")
    ),
    "regular": lambda x: regular_low(x, 3),
}


@pytest.mark.parametrize("name", FIRST)
def test_where_their_root_loses_digits_fifty_digits_side_with_us(name, G):
    """To 1e-12 on the whole axis, ends included, of PyGSP's formula without its rounding."""
    ends = np.concatenate([np.linspace(0, G.lmax, 301), G.lmax * (1 - np.logspace(-12, -5, 30))])
    with mpmath.workdps(50):
        first = [FIRST[name](mpmath.mpf(x) * 2 / mpmath.mpf(G.lmax)) for x in ends]
        want = np.array([[float(value) for value in first], [float(fallen(value)) for value in first]])
    kernels = filters.KERNELS[name](lmax=G.lmax)
    got = np.stack([kernel(ends) for kernel in kernels])
    assert_allclose(got[::-1] if name == "regular" else got, want, atol=1e-12)


def test_simple_tight_bands_are_those_of_fifty_digits_to_the_end(G):
    ends = np.concatenate([np.linspace(0, G.lmax, 301), G.lmax * (1 - np.logspace(-12, -5, 30))])

    def rise(t):
        return mpmath.sin(mpmath.pi * t / 2) ** 2

    def band(x):
        return mpmath.mpf(0) if x < 0.25 else rise(4 * x - 1) if x < 0.5 else fallen(rise(2 * x - 1)) if x < 1 else 0

    with mpmath.workdps(50):
        scales = [mpmath.mpf(2) ** (3 - i) / mpmath.mpf(G.lmax) for i in range(5)]
        want = [[float(band(scale * mpmath.mpf(x))) for x in ends] for scale in scales]
    got = [kernel(ends) for kernel in filters.simple_tight(lmax=G.lmax)[1:]]
    assert_allclose(np.stack(got), np.array(want), atol=1e-12)


def test_the_height_of_the_spline_is_that_of_fifty_digits(G):
    """The cubic is -5 + 11x - 6x^2 + x^3, highest at 2 - 1/sqrt(3); PyGSP's search comes near."""
    with mpmath.workdps(50):
        height = float(mpmath.polyval([1, -6, 11, -5], 2 - 1 / mpmath.sqrt(3)))
    ours, theirs = filters.abspline(lmax=G.lmax)[0]([0.0])[0], pygsp_filters.Abspline(G).evaluate(np.zeros(1))[0, 0]
    assert ours == pytest.approx(height, abs=1e-14)
    assert 1e-14 < abs(theirs - height) < 1e-9


GRAPHS = {
    "Sensor": (200,),
    "Ring": (64,),
    "Path": (50,),
    "Grid2d": (8, 9),
    "Torus": (8, 9),
    "Comet": (40, 12),
    "Logo": (),
    "Bunny": (),
}
DEFAULTS = {
    "heat": (lambda G: pygsp_filters.Heat(G, 7.0), lambda: filters.heat(7.0, normalize="lmax")),
    "mexican_hat": (pygsp_filters.MexicanHat, filters.mexican_hat),
    "abspline": (pygsp_filters.Abspline, filters.abspline),
    "meyer": (pygsp_filters.Meyer, filters.meyer),
    "itersine": (pygsp_filters.Itersine, filters.itersine),
}


@pytest.mark.parametrize(
    "name", [*GRAPHS][:-2] + [pytest.param(large, marks=pytest.mark.slow) for large in ("Logo", "Bunny")]
)
@pytest.mark.filterwarnings("ignore::FutureWarning")
def test_banks_agree_without_being_told_lmax(name):
    """Relative kernels are scaled to the largest eigenvalue, as PyGSP's are after ``compute_fourier_basis``."""
    G = getattr(pygsp.graphs, name)(*GRAPHS[name])
    G.compute_fourier_basis()
    op = operator(Graph.from_adjacency(G.W.astype(float)), "comb", channel="high")
    x = np.random.default_rng(0).standard_normal(G.N)
    for theirs, ours in DEFAULTS.values():
        bank = FilterBank(op, ours(), method="exact")
        assert bank.lmax == pytest.approx(G.lmax, rel=1e-6)
        values = np.stack([kernel(G.e) for kernel in bank.kernels])
        assert_allclose(values, np.atleast_2d(theirs(G).evaluate(G.e)), atol=2e-6)
        want = theirs(G).filter(x, method="exact").reshape(G.N, -1)
        assert np.linalg.norm(bank.analyze(x) - want) <= 2e-6 * np.linalg.norm(x)
