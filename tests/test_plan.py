import numpy as np
import pytest

from gsp_fb import Graph, filters, operator
from gsp_fb.errors import GspWarning, ParameterError
from gsp_fb.filters import FilterBank, heat, ideal, meyer, ppr, simple_tight


def ring(n):
    return operator(Graph.from_edges([(i, (i + 1) % n) for i in range(n)]), "sym", channel="high")


@pytest.mark.parametrize(
    ("n", "kernels", "options", "method"),
    [
        (100, [heat(1.0)], {}, "exact"),
        (1000, [heat(1.0)], {}, "chebyshev"),
        (1000, [ideal(0.0, 0.3001)], {}, "exact"),
        (5000, meyer(3), {"tol": 1e-4}, "chebyshev"),
        (5000, [ppr(1e-6)], {"tol": 1e-6}, "cg"),
        (600, [filters.wave(1200.5)], {"tol": 1e-5}, "lanczos"),
        (1000, [heat(1.0)], {"order": 7}, "chebyshev"),
    ],
)
def test_the_method_follows_from_size_and_smoothness(n, kernels, options, method):
    op = ring(n)
    bank = FilterBank(op, kernels, **options)
    if "order" in options:
        with pytest.warns(GspWarning, match="chebyshev of order 7 has an error bound of"):
            plan = bank.plan()
    else:
        plan = bank.plan()
        assert plan.error_bound <= bank.tol
    assert plan.method == method


def test_the_order_follows_from_the_tolerance():
    orders = [FilterBank(ring(1000), heat(10.0), tol=tol).plan().order for tol in (1e-2, 1e-5, 1e-8, 1e-11)]
    assert orders == sorted(orders)
    assert len(set(orders)) == 4
    # A fixed degree is wrong both ways: a heat kernel is done at 20, a Mexican hat is off by more than 1e-4 at 30.
    assert orders[2] <= 22
    with pytest.warns(GspWarning):
        assert FilterBank(ring(1000), filters.mexican_hat(), order=30).plan().error_bound > 1e-4


def test_plans_are_for_the_signal_at_hand():
    bank = FilterBank(ring(1000), heat(5.0))
    single, double = bank.plan(np.ones(1000, dtype=np.float32)), bank.plan(np.ones(1000))
    assert single.error_bound > 1e-7
    assert double.error_bound < 1e-8
    assert bank.plan(np.ones((1000, 5))) == double
    assert double.matvecs == double.order


def test_what_cannot_be_kept_is_refused_with_the_bound_that_can():
    op = ring(5000)
    with pytest.raises(
        ParameterError, match=r"'simple_tight.*' is not smooth enough for tol=1e-08.*within 0\.00"
    ) as refusal:
        FilterBank(op, simple_tight(3), tol=1e-8).analyze(np.ones(5000))
    within = float(str(refusal.value).split("is within ")[1].split(":")[0])
    assert FilterBank(op, simple_tight(3), tol=within).plan().error_bound <= within
    with pytest.raises(ParameterError, match="'ideal' is not smooth enough"):
        FilterBank(op, [heat(1.0), ideal()]).analyze(np.ones(5000))


def test_a_named_method_is_used_with_a_warning():
    bank = FilterBank(ring(5000), ideal(), method="chebyshev")
    with pytest.warns(GspWarning, match=r"error bound of 0\.5\d? \|x\| \(proven\), more than tol=1e-08.*'ideal'"):
        c = bank.analyze(np.ones(5000))
    assert abs(c - 1).max() < 0.6


def test_a_plan_whose_error_is_rounding_says_so():
    op = operator(Graph.from_edges([(0, 0), (1, 2)], [100.0, 1e-3]), "comb", channel="high")
    bank = FilterBank(op, [filters.heat(1.0)], method="chebyshev")
    with pytest.warns(GspWarning, match=r"rounding, as numbers of 1e\+02 are subtracted on an axis of 0\.002"):
        bank.plan(np.ones(3, dtype=np.float32))


def test_an_eigenvalue_on_the_jump_is_told():
    with pytest.warns(GspWarning, match="exact of order 4 has an error bound of 1"):
        FilterBank(ring(4), ideal(0.0, 0.5)).analyze(np.ones(4))


def test_lanczos_stops_when_the_space_closes():
    n = 2000
    op = ring(n)
    bank = FilterBank(op, [ideal(0.0, 0.2)], method="lanczos", tol=1.0)
    t = 2 * np.pi * np.arange(n) / n
    low, rough = np.cos(3 * t), np.cos(900 * t)
    with pytest.warns(GspWarning):
        c = bank.analyze(low + rough)[:, 0]
    # Two modes make a space of two dimensions: the answer is exact although the kernel jumps.
    assert abs(c - low).max() < 1e-10


def wheel(n):
    rim = [(i, i % (n - 1) + 1) for i in range(1, n)]
    return operator(Graph.from_edges([(0, i) for i in range(1, n)] + rim), "comb", channel="high")


def in_band(frequencies):
    return ((frequencies > 2.5) & (frequencies < 3.5)).astype(float)


def spike_at(center, width):
    return lambda frequencies: np.exp(-(((frequencies - center) / width) ** 2))


def test_a_narrow_band_beside_a_hub_is_found():
    """966 of 6000 eigenvalues lie in a band of 1/6000 of the axis; closed form: the modes of the rim are Fourier's."""
    n = 6000
    frequencies = 3 - 2 * np.cos(2 * np.pi * np.arange(1, n - 1) / (n - 1))
    assert in_band(frequencies).sum() == 966
    bank = FilterBank(wheel(n), in_band)
    x = np.random.default_rng(0).standard_normal(n)
    with pytest.warns(GspWarning, match=r"\(sampled\), more than tol=1e-08.*give a wider tol="):
        plan = bank.plan(x)
    assert plan.bound_kind == "sampled"
    rim = np.fft.fft(x[1:])
    rim[0] = 0.0
    truth = np.concatenate([[0.0], np.fft.ifft(rim * np.append(0.0, in_band(frequencies))).real])
    with pytest.warns(GspWarning):
        error = np.linalg.norm(bank.analyze(x)[:, 0] - truth) / np.linalg.norm(x)
    assert error <= plan.error_bound
    assert 0.1 < plan.error_bound < 1


@pytest.mark.parametrize("width", [1e-5, 1e-9])
def test_a_spike_on_an_eigenvalue_never_has_a_bound_of_zero(width):
    """At a width of 1e-9 every sample is zero: then no number bounds the error."""
    op = operator(Graph.from_edges([(i, (i + 1) % 6000) for i in range(6000)]), "comb", channel="high")
    bank = FilterBank(op, spike_at(2 - 2 * np.cos(2 * np.pi * 777 / 6000), width))
    with pytest.warns(GspWarning, match=r"\(sampled\)"):
        plan = bank.plan()
    assert plan.bound_kind == "sampled"
    assert plan.error_bound > 0.5
    assert (plan.error_bound == np.inf) == (width == 1e-9)


def test_a_function_that_is_zero_at_every_sample_is_evaluated_at_every_eigenvalue_where_that_is_affordable():
    op = ring(1000)
    at = 1 - np.cos(2 * np.pi * 77 / 1000)
    plan = FilterBank(op, lambda f: (np.abs(f - at) < 1e-10).astype(float), tol=2.0).plan()
    assert (plan.method, plan.bound_kind) == ("exact", "proven")
    with pytest.warns(GspWarning, match="is zero at all sampled frequencies: give method='exact'"):
        assert FilterBank(op, spike_at(at, 1e-10), method="chebyshev").plan().error_bound == np.inf


KINDS = [
    (lambda f: np.exp(-f), "sampled"),
    (heat(1.0), "proven"),
    (ppr(0.3), "proven"),
    (filters.Kernel(np.abs, "declared", variations=((1, 2.0),)), "proven"),
    (filters.Kernel(np.cos, "declared", envelope=lambda center, real, imaginary: np.cosh(imaginary)), "proven"),
    (filters.Kernel(np.cos, "not declared", continuity=np.inf), "sampled"),
]


@pytest.mark.parametrize(("kernel", "kind"), KINDS)
@pytest.mark.parametrize("method", ["chebyshev", "lanczos"])
def test_bounds_are_proven_for_kernels_that_declare_what_a_proof_needs(kernel, kind, method):
    assert FilterBank(ring(1000), kernel, tol=1e-2, method=method).plan().bound_kind == kind
    assert FilterBank(ring(1000), kernel, tol=1e-2, method="exact").plan().bound_kind == "proven"
    assert FilterBank(ring(1000), [kernel, lambda f: 1 - f], tol=1e-2, method=method).plan().bound_kind == "sampled"


@pytest.mark.parametrize("name", filters.KERNELS)
def test_every_built_in_kernel_has_a_proven_bound(name):
    arguments = {"heat": (2.0,), "wave": (3.5,), "ppr": (0.2,), "rational": ([1.0], [1.0, 1.0])}
    arguments["gabor"] = (heat(1.0), [0.5])
    bank = FilterBank(ring(5000), filters.KERNELS[name](*arguments.get(name, ())), tol=1.0, method="chebyshev")
    assert bank.plan().bound_kind == "proven"


@pytest.mark.parametrize(
    ("kernels", "tol"),
    [(heat(1.0), 1e-8), (np.cos, 1e-8), (meyer(3), 1e-4), ([heat(1.0), *simple_tight(3)], 1e-2), (ideal(), 1e-8)],
)
def test_the_default_tolerance_follows_the_roughest_kernel(kernels, tol):
    assert FilterBank(ring(1000), kernels).tol == tol
    assert FilterBank(ring(1000), kernels, tol=1e-5).tol == 1e-5


def test_plans_show_which_kind_of_bound_they_have():
    plan = FilterBank(ring(1000), heat(1.0)).plan()
    assert "bound_kind='proven'" in repr(plan)
    assert "error bound (proven)" in plan._repr_html_()


@pytest.mark.filterwarnings("ignore:.*has an error bound:gsp_fb.errors.GspWarning")
@pytest.mark.parametrize("exponent", [-100, 150])
@pytest.mark.parametrize("name", ["meyer", "exponential_window"])
def test_kernels_of_smooth_windows_on_weights_out_of_the_ordinary(exponent, name):
    """Powers of the width of a window leave the range of float64: the bound holds and nothing overflows."""
    rng = np.random.default_rng(0)
    edges, weights = [(i, i + 1) for i in range(99)], rng.uniform(1, 2, 99)
    op = operator(Graph.from_edges(edges, 10.0**exponent * weights), "comb", "high")
    values, basis = np.linalg.eigh(operator(Graph.from_edges(edges, weights), "comb", "high").to_scipy().toarray())
    x = rng.standard_normal(100)
    for method in ("chebyshev", "lanczos"):
        bank = FilterBank(op, filters.KERNELS[name](), 1e-2, method=method)
        gains = [kernel(values.clip(min=0.0) * 10.0**exponent) for kernel in bank.kernels]
        want = np.stack([basis @ (gain * (basis.T @ x)) for gain in gains], axis=1)
        error = np.linalg.norm(bank.analyze(x) - want, axis=0).max() / np.linalg.norm(x)
        assert error <= bank.plan(x).error_bound + 1e-9


@pytest.mark.filterwarnings("ignore:.*has an error bound:gsp_fb.errors.GspWarning")
@pytest.mark.parametrize("method", ["auto", "chebyshev", "lanczos", "exact", "cg"])
@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@pytest.mark.parametrize("tau", [1.0, 1e12])
def test_every_method_has_the_error_of_this_signal(method, dtype, tau):
    """Beside a plan that bounds the worst signal: never far below the true error, whatever the method."""
    op = operator(Graph.from_edges([(i, i + 1) for i in range(299)]), "sym", channel="high")
    values, basis = np.linalg.eigh(op.to_scipy().toarray())
    values[0] = 0.0  # known exactly, and tau multiplies its rounding
    x = np.random.default_rng(0).standard_normal(300).astype(dtype)
    bank = FilterBank(op, filters.rational([1.0], [1.0, tau]), 1e-6, method=method)
    c = bank.analyze(x)
    want = basis @ (basis.T @ x.astype(np.float64) / (1.0 + tau * values))
    error = np.linalg.norm(c[:, 0] - want) / np.linalg.norm(x)
    found = bank.error(x, c)
    assert found.kind in {"proven", "estimate"}
    assert error <= (1.0 if found.kind == "proven" else 2.0) * found.error + 1e-12
    assert found.error <= max(10 * error, bank.plan(x).error_bound)
