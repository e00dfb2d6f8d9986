r"""Proven bounds on what Chebyshev interpolation leaves out, from what a kernel declares of itself.

Interpolation at N Chebyshev points is off by at most :math:`2\sum_{k\ge N}|c_k|` (aliasing). The tail is bounded for an
analytic kernel by its size M in a Bernstein ellipse, :math:`|c_k| \le 2M\rho^{-k}`, and for a kernel with a derivative
of bounded variation V by :math:`\sum_{k\ge N}|c_k| \le 2V / (\pi\nu(N - 1 - \nu)^\nu)`. Of a rational kernel p/q the
residual ``p - q s`` of the interpolant s is a polynomial, and polynomials are bounded by their values on a finer grid.

References
----------
.. [1] L. N. Trefethen, "Approximation Theory and Approximation Practice", SIAM 2013, Theorems 4.2, 7.2 and 8.2.
.. [2] H. Ehlich and K. Zeller, "Schwankung von Polynomen zwischen Gitterpunkten", Math. Z. 86, 1964.
"""

from __future__ import annotations

import math

import numpy as np

from ..backend import FloatArray
from ..errors import ParameterError
from ._points import Interval, chebyshev_points, values_at_points
from .kernels import Kernel
from .krylov import least_denominator

__all__ = ["interpolation_error", "largest_kernel_value", "largest_value", "peak_factor"]

TINY = float(np.finfo(np.float64).tiny)
EPS = float(np.finfo(np.float64).eps)
# Ellipses that are tried: the sum of their semi-axes, as a multiple of half the interval.
RADII = 1.0 + np.geomspace(1e-9, 1e3, 193)
# How much finer than the degree the grid is on which a polynomial is bounded.
FINER = 4


def peak_factor(degree: int, count: int) -> float:
    """Return by how much a polynomial may exceed its values at ``count`` Chebyshev points (Ehlich and Zeller)."""
    return 1.0 / math.cos(math.pi * degree / (2 * count))


def largest_value(coefficients: FloatArray) -> float:
    """Return a bound on the largest absolute value of Chebyshev series on their interval."""
    degree = coefficients.shape[1] - 1
    count = FINER * max(degree, 1)
    sampled = float(np.abs(values_at_points(coefficients, count)).max(initial=0.0))
    return sampled * peak_factor(degree, count)


def largest_kernel_value(kernel: Kernel, interval: Interval) -> float:
    """Return a proven bound on the largest absolute value of a kernel on ``interval``, inf if it declares none."""
    if kernel.envelope is None:
        return math.inf
    center, half = (interval[0] + interval[1]) / 2, (interval[1] - interval[0]) / 2
    radius = float(RADII[0])
    return float(kernel.envelope(center, half * (radius + 1 / radius) / 2, half * (radius - 1 / radius) / 2))


def interpolation_error(kernel: Kernel, interval: Interval, coefficients: FloatArray) -> float:
    """Return a proven bound on the error of the interpolant with these coefficients, inf if nothing is declared."""
    if kernel.rational is not None:
        return _residual_error(kernel, interval, coefficients)
    half, count = (interval[1] - interval[0]) / 2, len(coefficients)
    return 2.0 * min(_analytic_tail(kernel, interval, count), _variation_tail(kernel, half, count))


def _analytic_tail(kernel: Kernel, interval: Interval, count: int) -> float:
    if kernel.envelope is None:
        return math.inf
    center, half = (interval[0] + interval[1]) / 2, (interval[1] - interval[0]) / 2
    real, imaginary = half * (RADII + 1 / RADII) / 2, half * (RADII - 1 / RADII) / 2
    with np.errstate(over="ignore", invalid="ignore", under="ignore"):
        sizes = np.array(
            [kernel.envelope(center, *axes) for axes in zip(real.tolist(), imaginary.tolist(), strict=True)]
        )
        tails = 2 * sizes * np.exp(-count * np.log(RADII)) * RADII / (RADII - 1)
    return float(np.nanmin(tails))


def _variation_tail(kernel: Kernel, half: float, count: int) -> float:
    with np.errstate(all="ignore"):  # a power that leaves the range of float64 bounds nothing
        powers = {nu: float(np.float64(half) ** nu) for nu, _ in kernel.variations}
    tails = [
        2 * variation * powers[nu] / (math.pi * nu * float(count - 1 - nu) ** nu)
        for nu, variation in kernel.variations
        if 0 < nu < count - 1 and powers[nu] >= TINY
    ]
    return min(tails, default=math.inf)


def _residual_error(kernel: Kernel, interval: Interval, coefficients: FloatArray) -> float:
    """Return ``max |p - q s| / min |q|``; the rounding of the residual is added to it."""
    numerator, denominator = (np.asarray(part) for part in kernel.rational or ((), ()))
    try:
        least, greatest = least_denominator(kernel, interval)
    except ParameterError:  # a pole on the axis: no polynomial comes near
        return math.inf
    degree = max(len(numerator) - 1, len(coefficients) + len(denominator) - 2)
    count = FINER * degree + FINER
    at = chebyshev_points(interval, count)
    evaluate = np.polynomial.polynomial.polyval
    image = values_at_points(coefficients[None, :], count)[0]
    top, bottom = evaluate(at, numerator), evaluate(at, denominator)
    residual = float(np.abs(top - bottom * image).max()) * peak_factor(degree, count)
    return residual / least + 8 * EPS * float(np.abs(image).max()) * greatest / least
