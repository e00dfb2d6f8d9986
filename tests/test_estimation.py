"""Estimates of gains: against closed forms, a library where it is installed, and simulated truth."""

import numpy as np
import pytest
from scipy import integrate, stats

from gsp_fb.errors import ParameterError
from paper.estimation import PRIOR_FREEDOM, PRIOR_SCALE, Observation, correlated_t, hierarchical
from paper.significance import corrected_t_test


@pytest.mark.parametrize("seed", range(5))
def test_the_posterior_is_the_correlated_t_distribution(seed):
    rng = np.random.default_rng(seed)
    d, share = rng.normal(1.0, 2.0, 10), 0.4
    found = correlated_t(d, test_share=share)
    scale = np.sqrt((1 / 10 + share) * d.var(ddof=1))
    density = stats.t(9, d.mean(), scale).pdf
    assert found.helps == pytest.approx(integrate.quad(density, 1.0, np.inf)[0], abs=1e-7)
    assert found.harms == pytest.approx(integrate.quad(density, -np.inf, -1.0)[0], abs=1e-7)
    assert found.helps + found.equal + found.harms == pytest.approx(1.0)
    assert integrate.quad(density, found.low, found.high)[0] == pytest.approx(0.95, abs=1e-6)
    # Its tail beyond zero is half the two-sided p-value of the corrected test.
    none = correlated_t(d, test_share=share, rope=0.0)
    assert 2 * min(none.helps, none.harms) == pytest.approx(corrected_t_test(d, test_share=share))


def test_the_posterior_agrees_with_baycomp():
    baycomp = pytest.importorskip("baycomp")
    rng = np.random.default_rng(0)
    x, y = rng.normal(80, 2, 10), rng.normal(79, 2, 10)
    # With one run of ten folds its correlation is 1/10: a test share of 1/9.
    left, rope, right = baycomp.CorrelatedTTest.probs(x, y, rope=1.0, runs=1)
    found = correlated_t(x - y, test_share=1 / 9)
    assert sorted((found.harms, found.helps)) == pytest.approx(sorted((left, right)), abs=1e-9)
    assert found.equal == pytest.approx(rope, abs=1e-9)


def test_equal_differences_are_a_point():
    found = correlated_t([2.0, 2.0, 2.0], test_share=0.3)
    assert (found.effect, found.helps, found.harms) == pytest.approx((2.0, 1.0, 0.0))
    assert found.high - found.low < 1e-6
    with pytest.raises(ParameterError, match="at least two differences, not 1"):
        correlated_t([1.0], test_share=0.3)
    with pytest.raises(ParameterError, match="at least two data sets, not 0"):
        hierarchical([])


def exact_cdf(mean, scale):
    """Distribution function of mu by quadrature over both deviations, every set alone in its family, errors known."""
    a = PRIOR_SCALE * stats.t(PRIOR_FREEDOM).ppf(0.5 + (np.arange(400) + 0.5) / 800)
    total = (a[:, None] ** 2 + a[None, :] ** 2).reshape(-1, 1) + np.full(len(mean), scale**2)
    precision = (1 / total).sum(1)
    centre = (mean / total).sum(1) / precision
    log = -0.5 * np.log(total).sum(1) - 0.5 * np.log(precision) - 0.5 * ((mean - centre[:, None]) ** 2 / total).sum(1)
    weight = np.exp(log - log.max())
    return lambda z: weight @ stats.norm.cdf((z - centre) * np.sqrt(precision)) / weight.sum()


def test_the_sampler_agrees_with_quadrature():
    # Many splits, so that the error of a set is as good as known.
    rng = np.random.default_rng(1)
    mean, n, share = np.array([4.0, -1.0, 2.0, 9.0, 0.5]), 2000, 0.5
    noise = rng.standard_normal((5, n))
    noise = (noise - noise.mean(1, keepdims=True)) / noise.std(1, ddof=1, keepdims=True)
    observed = [Observation(tuple(m + 2.0 * row), share, k) for k, (m, row) in enumerate(zip(mean, noise, strict=True))]
    cdf = exact_cdf(mean, 2.0 * np.sqrt(1 / n + share))
    found, new = hierarchical(observed, draws=20_000)
    assert [cdf(z) for z in (found.low, found.effect, found.high)] == pytest.approx([0.025, 0.5, 0.975], abs=0.015)
    assert new.high - new.low > found.high - found.low


def simulated(rng, mu, omega, tau, *, n=10, share=0.4):
    """Fifteen data sets in eight families whose splits share items, so that their differences correlate."""
    family = [0, 0, 0, 0, 1, 1, 1, 2, 2, 3, 3, 4, 5, 6, 7]
    shift = rng.normal(0, omega, 8)
    common = np.sqrt(share / (1 + share))
    observed = []
    for f in family:
        theta = rng.normal(mu + shift[f], tau)
        d = theta + 1.5 * (common * rng.standard_normal() + np.sqrt(1 - common**2) * rng.standard_normal(n))
        observed.append(Observation(tuple(d), share, f))
    return observed, rng.normal(mu, np.hypot(omega, tau))


def test_intervals_cover_the_truth_on_simulated_data():
    rng, covered, covered_new, n = np.random.default_rng(0), 0, 0, 60
    for k in range(n):
        observed, theta = simulated(rng, 2.0, 2.0, 1.0)
        found, new = hierarchical(observed, draws=800, rng=k)
        covered += found.low <= 2.0 <= found.high
        covered_new += new.low <= theta <= new.high
    # Binomial, 60 draws of 0.95: 52 or fewer happen once in a hundred.
    assert covered >= 52
    assert covered_new >= 52


def test_families_count_less_than_as_many_independent_sets():
    rng = np.random.default_rng(2)
    d = [tuple(rng.normal(gain, 0.5, 10)) for gain in (8.0, 8.2, 7.8, 8.1, 0.0, 0.1)]
    alone, _ = hierarchical([Observation(row, 0.4, k) for k, row in enumerate(d)])
    grouped, _ = hierarchical([Observation(row, 0.4, k if k > 3 else "one") for k, row in enumerate(d)])
    assert grouped.effect < alone.effect
