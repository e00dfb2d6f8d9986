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
        with pytest.warns(GspWarning, match="chebyshev of order 7 promises an error of"):
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
        FilterBank(op, simple_tight(3)).analyze(np.ones(5000))
    within = float(str(refusal.value).split("is within ")[1].split(":")[0])
    assert FilterBank(op, simple_tight(3), tol=within).plan().error_bound <= within
    with pytest.raises(ParameterError, match="'ideal' is not smooth enough"):
        FilterBank(op, [heat(1.0), ideal()]).analyze(np.ones(5000))


def test_a_named_method_is_used_with_a_warning():
    bank = FilterBank(ring(5000), ideal(), method="chebyshev")
    with pytest.warns(GspWarning, match=r"promises an error of 0\.5\d? \|x\|, more than tol=1e-08.*'ideal'"):
        c = bank.analyze(np.ones(5000))
    assert abs(c - 1).max() < 0.6


def test_a_plan_whose_error_is_rounding_says_so():
    op = operator(Graph.from_edges([(0, 0), (1, 2)], [100.0, 1e-3]), "comb")
    bank = FilterBank(op, [filters.heat(1.0)], method="chebyshev")
    with pytest.warns(GspWarning, match=r"all of it is rounding, as numbers of 99 are subtracted on an axis of 0\.002"):
        bank.plan(np.ones(3, dtype=np.float32))


def test_an_eigenvalue_on_the_jump_is_told():
    with pytest.warns(GspWarning, match="exact of order 4 promises an error of 1"):
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
