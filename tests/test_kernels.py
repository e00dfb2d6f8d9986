import pickle

import numpy as np
import pytest
from numpy.testing import assert_allclose

from gsp_fb import filters
from gsp_fb.errors import ParameterError
from gsp_fb.filters import KERNELS, TIGHT, Kernel
from gsp_fb.filters.expansion import chebyshev_points, expand

ARGUMENTS = {
    "heat": (2.0,),
    "wave": (3.5,),
    "ppr": (0.2,),
    "rational": ([1.0, 1.0], [2.0, 0.0, 1.0]),
    "gabor": (filters.heat(1.0), [0.0, 1.0]),
}
RELATIVE = [name for name in KERNELS if name not in {"heat", "ppr", "rational", "gabor"}]


def made(name, **options):
    kernels = KERNELS[name](*ARGUMENTS.get(name, ()), **options)
    return (kernels,) if isinstance(kernels, Kernel) else kernels


@pytest.mark.parametrize("name", KERNELS)
def test_every_row_makes_named_kernels_with_a_formula(name):
    for kernel in made(name):
        assert kernel.name.startswith(("heat(1)@", name))
        assert kernel.formula
        assert kernel.continuity >= -1
        assert kernel.bind(2.0)(np.linspace(0, 2, 7)).shape == (7,)


@pytest.mark.parametrize("name", RELATIVE)
@pytest.mark.parametrize("lmax", [0.3, 2.0, 1e4])
def test_lmax_only_stretches_the_axis(name, lmax):
    t = np.linspace(0, 1, 101)
    for free, fixed in zip(made(name), made(name, lmax=lmax), strict=True):
        assert free.relative
        assert not fixed.relative
        assert_allclose(fixed(lmax * t), free(t), atol=1e-11)


@pytest.mark.parametrize("name", TIGHT)
@pytest.mark.parametrize("lmax", [0.7, 2.0, 517.0])
def test_tight_families_are_tight(name, lmax):
    at = np.concatenate([np.linspace(0, lmax, 200_001), chebyshev_points((0.0, lmax), 5000)])
    total = sum(kernel(at) ** 2 for kernel in made(name, lmax=lmax))
    assert np.abs(total - 1).max() <= 1e-12


@pytest.mark.parametrize(
    ("name", "options"),
    [(n, {"n_filters": k}) for n in ("meyer", "simple_tight") for k in (2, 3, 9)]
    + [("half_cosine", {"n_filters": k}) for k in (3, 11)]
    + [("itersine", {"n_filters": 7, "overlap": o}) for o in (2, 4, 6)]
    + [(n, {"a": a}) for n in ("held", "simoncelli", "papadakis") for a in (0.2, 0.9)]
    + [("regular", {"degree": d}) for d in (0, 1, 5)],
)
def test_tight_families_are_tight_for_all_their_options(name, options):
    kernels = made(name, lmax=2.0, **options)
    assert len(kernels) == options.get("n_filters", 2)
    total = sum(kernel(np.linspace(0, 2, 50_001)) ** 2 for kernel in kernels)
    assert np.abs(total - 1).max() <= 1e-12


@pytest.mark.parametrize("name", KERNELS)
def test_declared_smoothness_is_what_differences_show(name):
    """Across a declared break the k-th one-sided differences agree for k <= continuity, and values jump for -1."""
    for kernel in made(name):
        bound, step = kernel.bind(1.0), 1e-6
        for at in (b for b in bound.breakpoints if 0 < b < 1):
            left, right = bound([at - step, at + step])
            # exponential_window rises as fast as exp(1/x) allows; everything else has slopes below 200.
            assert (abs(right - left) > 0.5) == (kernel.continuity < 0), (kernel.name, at)
            if kernel.continuity >= 1:
                slopes = bound([at, at + step]) - bound([at - step, at])
                assert abs(slopes[1] - slopes[0]) / step < 0.1


def test_heat_conventions():
    f = np.array([0.0, 0.5, 2.0])
    assert_allclose(filters.heat(3.0)(f), np.exp(-3 * f))
    assert_allclose(filters.heat(3.0, normalize="lmax", lmax=4.0)(f), np.exp(-3 * f / 4))
    with pytest.raises(ParameterError, match="normalize"):
        filters.heat(3.0, normalize="max")


def test_wave_of_whole_time_is_a_chebyshev_polynomial():
    f = np.linspace(0, 2, 9)
    want = np.polynomial.chebyshev.chebval(1 - f / 4, [0, 0, 0, 0, 1])
    assert_allclose(filters.wave(4, lmax=2.0)(f), want, atol=1e-14)
    assert expand((filters.wave(4, lmax=2.0),), (0.0, 2.0)).order(1e-12) == 4


def test_ppr_is_the_resolvent_of_the_walk():
    P = np.array([[0.0, 1.0, 0.0], [0.5, 0.0, 0.5], [0.0, 1.0, 0.0]])
    values, vectors = np.linalg.eig(np.eye(3) - P)
    got = vectors @ np.diag(filters.ppr(0.15)(values.real)) @ np.linalg.inv(vectors)
    assert_allclose(got, 0.15 * np.linalg.inv(np.eye(3) - 0.85 * P), atol=1e-12)


def test_kernels_are_pickled_and_compared_by_what_they_do():
    for kernel in (filters.heat(2.0), *filters.meyer(4, lmax=2.0), filters.rational([1.0], [1.0, 2.0])):
        copy = pickle.loads(pickle.dumps(kernel))
        assert_allclose(copy([0.1, 1.9]), kernel([0.1, 1.9]), rtol=0)


@pytest.mark.parametrize(
    ("make", "message"),
    [
        (lambda: filters.heat(-1.0), "tau must be finite and > 0, not -1"),
        (lambda: filters.wave(1, speed=2.0), "speed must be < 2"),
        (lambda: filters.ppr(1.5), "alpha is a probability"),
        (lambda: filters.rational([1.0], [0.0]), "denominator must be finite coefficients"),
        (lambda: filters.ideal(0.5, 0.2), "is empty"),
        (lambda: filters.itersine(6, overlap=3), "overlap must be even"),
        (lambda: filters.half_cosine(2), "n_filters must be an integer >= 3"),
        (lambda: filters.gabor(filters.low_pass(), [0.0]), "relative to lmax"),
        (lambda: filters.meyer(4, lmax=0.0), "lmax must be finite and > 0"),
        (lambda: filters.as_kernel(3), "must be a Kernel or a function"),
    ],
)
def test_bad_parameters_are_named(make, message):
    with pytest.raises(ParameterError, match=message):
        make()


@pytest.mark.parametrize("interval", [(0.0, 2.0), (-1.0, 3.0), (0.0, 700.0)])
def test_coefficients_are_numpys(interval):
    low, high = interval
    for kernel in (filters.heat(0.7), filters.ppr(0.5), filters.mexican_hat(3, lmax=high)[1]):
        if kernel.lower_bound > low or (low < 0 and kernel.rational):
            continue
        series = expand((kernel,), interval)
        degree = series.coefficients.shape[1] - 1
        want = np.polynomial.chebyshev.chebinterpolate(
            lambda t, k=kernel: k((low + high) / 2 + (high - low) / 2 * t), degree
        )
        largest = np.abs(kernel(chebyshev_points(interval, degree + 1))).max()
        assert_allclose(series.coefficients[0], want, atol=1e-13 * largest)


@pytest.mark.parametrize("name", KERNELS)
@pytest.mark.parametrize("order", [3, 17, 60, 400])
def test_truncation_errors_are_bounded(name, order):
    kernels = tuple(kernel.bind(2.0) for kernel in made(name))
    series = expand(kernels, (0.0, 2.0))
    breakpoints = np.array([b for kernel in kernels for b in kernel.breakpoints])
    at = np.concatenate(
        [np.linspace(0, 2, 10_007), np.nextafter(breakpoints, 3), np.nextafter(breakpoints, -1), breakpoints]
    )
    at = np.clip(at, 0, 2)
    values = np.polynomial.chebyshev.chebval(at - 1, series.truncated(order).T)
    worst = max(np.abs(k(at) - v).max() for k, v in zip(kernels, values, strict=True))
    assert worst <= series.error(order) + 1e-13
    smooth = all(kernel.continuity > 1 for kernel in kernels)
    assert series.error(order) <= (30 * worst + 1e-11 if smooth else 300 * worst)


def test_plot_draws_the_kernel():
    matplotlib = pytest.importorskip("matplotlib")
    matplotlib.use("Agg")
    import matplotlib.pyplot as plt

    for kernel, end in ((filters.heat(1.0), 2.0), (filters.low_pass(), 1.0)):
        (line,) = kernel.plot().lines
        assert line.get_xdata()[-1] == end
        assert_allclose(line.get_ydata(), kernel(line.get_xdata()))
    plt.close("all")


def test_a_feature_between_the_samples_is_found():
    def spike(f):
        return np.exp(-(((f - 1.003) / 2e-3) ** 2))

    series = expand((filters.as_kernel(spike),), (0.0, 2.0))
    assert series.order(1e-8) > 500


def derivative_variation(shape, order, interval, count=200_001):
    """Total variation of a derivative by finite differences of the values, from below."""
    at = np.linspace(*interval, count)
    step = (at[1] - at[0]) * (count // 2000)
    grid = np.arange(interval[0], interval[1], step)
    differences = np.diff(shape(grid), order) / step**order
    return np.abs(np.diff(differences)).sum()


@pytest.mark.parametrize("name", KERNELS)
@pytest.mark.parametrize("lmax", [1.0, 3.0])
def test_declared_variations_bound_those_of_differences(name, lmax):
    """Differences of order nu are means of the derivative, so their variation comes close to the declared one."""
    for kernel in made(name, **({"lmax": lmax} if name in RELATIVE else {})):
        assert kernel.is_declared
        for nu, variation in kernel.variations:
            if nu > 4:
                continue  # rounding of high differences is larger than they are
            found = derivative_variation(kernel, nu, (-0.2 * lmax if kernel.lower_bound < 0 else 0.0, 2 * lmax))
            assert found <= variation * (1 + 1e-3) + 1e-6
            if name not in {"exponential_window", "abspline"} and kernel.breakpoints[-1] <= 2 * lmax:
                assert found >= 0.4 * variation


@pytest.mark.parametrize("name", KERNELS)
def test_declared_envelopes_bound_the_kernel_in_the_ellipse(name):
    """Formulas in the complex plane, on the boundary of ellipses around the axis, where the maximum lies."""
    angle = np.exp(1j * np.linspace(0, 2 * np.pi, 400))
    for kernel in made(name, **({"lmax": 2.0} if name in RELATIVE else {})):
        if kernel.envelope is None:
            continue
        for rho in (1.01, 1.2, 2.0):
            ellipse = 1 + (rho * angle + 1 / (rho * angle)) / 2
            with np.errstate(all="ignore"):
                size = np.abs(analytic(kernel, name)(ellipse)).max()
                bound = kernel.envelope(1.0, (rho + 1 / rho) / 2, (rho - 1 / rho) / 2)
            assert np.isinf(bound) or size <= bound * (1 + 1e-9)


def analytic(kernel, name):
    """The kernel's own function without its clipping to real frequencies, where it has one."""
    if name == "wave":
        return lambda z: np.cos(3.5 * np.arccos(1.0 - z / 4.0))
    if name == "gabor":
        shift = float(kernel.name.split("@")[1])
        return lambda z: np.exp(-(z - shift))
    return kernel.function


def test_a_pole_on_the_axis_has_no_bound():
    kernel = filters.rational([1.0], [1.0, -0.9])
    assert expand((kernel,), (0.0, 2.0)).proven == (False,)


def test_proven_bounds_hold_where_samples_would_not_look():
    """A declared bump of 1e-7 of the axis lies between all samples; its bound does not."""
    width = 2e-7
    bump = Kernel(
        lambda f: np.exp(-(((f - 1.2345678) / width) ** 2)),
        "bump",
        envelope=lambda center, real, imaginary: np.exp((imaginary / width) ** 2) if imaginary < 20 * width else np.inf,
    )
    series = expand((bump,), (0.0, 2.0))
    assert series.is_proven
    assert 1.0 <= series.error(2000) <= 1.1
    assert series.order(1e-3) is None
