r"""Estimates of a gain: on one data set by the correlated Bayesian t-test, on a new one by a hierarchical model.

One data set, k differences over overlapping splits with mean :math:`\bar d`, variance :math:`s^2` and test share
:math:`\rho` (test over training items): the gain is Student-t around :math:`\bar d` with k - 1 degrees of freedom and
squared scale :math:`v s^2`, :math:`v = 1/k + \rho` [1]_.

All data sets, i in family f: :math:`\bar d_i \sim N(\theta_i, v_i \sigma_i^2)`,
:math:`\theta_i \sim N(\mu + b_f, \tau^2)`, :math:`b_f \sim N(0, \omega^2)`, flat :math:`\mu`, Jeffreys priors of
:math:`\sigma_i`, half-t priors of :math:`\tau` and :math:`\omega`. All conditionals are conjugate (the half-t as a
scale mixture of inverse gammas [2]_), so that a Gibbs sampler needs no tuning. A new data set belongs to a new
family: :math:`\theta_{new} \sim N(\mu, \omega^2 + \tau^2)`.

References
----------
.. [1] A. Benavoli, G. Corani, J. Demsar, M. Zaffalon, "Time for a change: a tutorial for comparing multiple classifiers
   through Bayesian analysis", JMLR 18, 2017.
.. [2] M. P. Wand, J. T. Ormerod, S. A. Padoan, R. Fruhwirth, "Mean field variational Bayes for elaborate
   distributions", Bayesian Analysis 6(4), 2011.
"""

from __future__ import annotations

from collections.abc import Hashable, Sequence
from dataclasses import dataclass, replace

import numpy as np
from scipy import stats

from gsp_fb.backend import FloatArray
from gsp_fb.errors import ParameterError

__all__ = ["ROPE", "Estimate", "Observation", "correlated_t", "hierarchical"]

# Gains up to a point of accuracy count as equal.
ROPE = 1.0
SURE = 0.95
# Half-t priors of the deviations between data sets and families: scale in units of ``rope``, degrees of freedom. With
# the few families there are, a half-Cauchy would leave the answer to its tail.
PRIOR_SCALE, PRIOR_FREEDOM = 5.0, 4.0


@dataclass(frozen=True)
class Estimate:
    """A gain: its expected value, 95 % interval, and the probabilities that it helps, is equal, or harms."""

    effect: float
    low: float
    high: float
    helps: float
    equal: float
    harms: float

    @property
    def verdict(self) -> str:
        """What has a probability of 95 %: ``helps``, ``equal`` or ``harms``; else ``undecided``."""
        sure = {"helps": self.helps, "equal": self.equal, "harms": self.harms}
        return next((name for name, share in sure.items() if share >= SURE), "undecided")


@dataclass(frozen=True)
class Observation:
    """The differences of one data set over its splits, the share of test to training items, and its family."""

    differences: tuple[float, ...]
    test_share: float
    family: Hashable = None

    @property
    def factor(self) -> float:
        """Variance of the mean in units of the variance of a difference."""
        return 1.0 / len(self.differences) + self.test_share


def correlated_t(differences: Sequence[float], *, test_share: float, rope: float = ROPE) -> Estimate:
    """Return the posterior of the mean difference on one data set.

    Raises
    ------
    ParameterError
        Fewer than two differences.

    Examples
    --------
    >>> found = correlated_t([3.0, 4.0, 5.0, 4.0], test_share=0.4)
    >>> found.effect, round(found.low, 2), round(found.helps, 3)
    (4.0, 1.91, 0.99)
    """
    d = np.asarray(differences, dtype=np.float64)
    if d.size < 2:
        raise ParameterError(f"an estimate needs at least two differences, not {d.size}")
    # Equal differences leave no spread to estimate; the posterior is then a point.
    scale = max(float(np.sqrt((1.0 / d.size + test_share) * d.var(ddof=1))), 1e-9)
    posterior = stats.t(d.size - 1, loc=d.mean(), scale=scale)
    harms, helps = float(posterior.cdf(-rope)), float(posterior.sf(rope))
    low, high = map(float, posterior.interval(0.95))
    return Estimate(float(d.mean()), low, high, helps, 1.0 - helps - harms, harms)


def hierarchical(
    observed: Sequence[Observation], *, rope: float = ROPE, draws: int = 4_000, rng: int = 0
) -> tuple[Estimate, Estimate]:
    """Return the mean gain over data sets, and the gain on a new one.

    Parameters
    ----------
    observed : sequence of Observation
        At least two.
    rope : float > 0
        Gains up to this count as equal; the unit of the priors.
    draws : int
        Kept samples; a quarter as many are dropped before.
    rng : int

    Returns
    -------
    tuple of Estimate
        Of the mean over all data sets that might come, and of a single new data set of a new family.
    """
    if len(observed) < 2:
        raise ParameterError(f"a hierarchical estimate needs at least two data sets, not {len(observed)}")
    scaled = [replace(row, differences=tuple(d / rope for d in row.differences)) for row in observed]
    mu, new = (rope * samples for samples in _gibbs(scaled, draws, np.random.default_rng(rng)))
    return _summary(mu, rope), _summary(new, rope)


def _summary(samples: FloatArray, rope: float) -> Estimate:
    helps, harms = float(np.mean(samples > rope)), float(np.mean(samples < -rope))
    low, high = map(float, np.quantile(samples, [0.025, 0.975]))
    return Estimate(float(np.median(samples)), low, high, helps, 1.0 - helps - harms, harms)


def _gibbs(observed: Sequence[Observation], draws: int, rng: np.random.Generator) -> tuple[FloatArray, FloatArray]:
    """Return samples of the mean gain and of the gain on a new data set."""
    mean = np.array([np.mean(row.differences) for row in observed])
    spread = np.array([np.var(row.differences, ddof=1) for row in observed]) + 1e-12
    count, v = np.array([len(row.differences) for row in observed]), np.array([row.factor for row in observed])
    member = np.unique([str(row.family) for row in observed], return_inverse=True)[1]
    families = np.eye(member.max() + 1)[member]
    theta, tau2, omega2 = mean.copy(), 1.0, 1.0
    kept, burn = [], draws // 4
    for _ in range(burn + draws):
        sigma2 = _inverse_gamma(rng, count / 2, ((count - 1) * spread + (mean - theta) ** 2 / v) / 2)
        # One joint draw of mean, families and data sets: one at a time they would follow each other slowly.
        weight = 1 / (v * sigma2 + tau2)
        precision = families.T @ weight
        centre = families.T @ (weight * mean) / precision
        between = 1 / (omega2 + 1 / precision)
        mu = float(_normal(rng, between @ centre, between.sum()))
        b = _normal(rng, precision * (centre - mu), precision + 1 / omega2)
        theta = _normal(rng, mean / (v * sigma2) + (mu + b[member]) / tau2, 1 / (v * sigma2) + 1 / tau2)
        tau2 = _variance(rng, theta - mu - b[member], tau2)
        omega2 = _variance(rng, b, omega2)
        kept.append((mu, mu + np.sqrt(omega2 + tau2) * rng.standard_normal()))
    samples = np.array(kept[burn:])
    return samples[:, 0], samples[:, 1]


def _normal(rng: np.random.Generator, weighted: FloatArray, precision: FloatArray) -> FloatArray:
    return np.asarray(weighted / precision + rng.standard_normal(np.shape(precision)) / np.sqrt(precision))


def _inverse_gamma(rng: np.random.Generator, shape: FloatArray, scale: FloatArray) -> FloatArray:
    return np.asarray(scale / rng.gamma(shape))


def _variance(rng: np.random.Generator, residuals: FloatArray, before: float) -> float:
    """Return a draw of the variance of residuals under a half-t prior of its root."""
    nu = PRIOR_FREEDOM
    auxiliary = float(_inverse_gamma(rng, np.array((nu + 1) / 2), np.array(1 / PRIOR_SCALE**2 + nu / before)))
    shape, scale = (len(residuals) + nu) / 2, nu / auxiliary + float(residuals @ residuals) / 2
    return float(_inverse_gamma(rng, np.array(shape), np.array(scale)))
