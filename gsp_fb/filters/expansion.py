r"""Kernels as Chebyshev series, with a bound on what each truncation leaves out and what that bound rests on.

Interpolation at N Chebyshev points is off by at most :math:`2\sum_{k\ge N}|c_k|` (aliasing). The tail is bounded for an
analytic kernel by its size M in a Bernstein ellipse, :math:`|c_k| \le 2M\rho^{-k}`, and for a kernel with a derivative
of bounded variation V by :math:`\sum_{k\ge N}|c_k| \le 2V / (\pi\nu(N - 1 - \nu)^\nu)`. Of a rational kernel p/q the
residual ``p - q s`` of the interpolant s is a polynomial, and polynomials are bounded by their values on a finer grid.

.. [1] L. N. Trefethen, "Approximation Theory and Approximation Practice", SIAM 2013, Theorems 4.2, 7.2 and 8.2.
.. [2] H. Ehlich and K. Zeller, "Schwankung von Polynomen zwischen Gitterpunkten", Math. Z. 86, 1964.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass, field
from functools import cached_property
from typing import Literal

import numpy as np

from ..backend import FloatArray
from ..errors import ParameterError
from .kernels import Kernel
from .krylov import least_denominator

__all__ = ["MARGIN", "Expansion", "Interval", "both_sides", "chebyshev_points", "expand"]

Interval = tuple[float, float]
EPS, TINY = float(np.finfo(np.float64).eps), float(np.finfo(np.float64).tiny)
FEWEST_POINTS, MOST_POINTS = 64, 2**15
# Coefficients below this share of the largest value are rounding of the samples, not the kernel.
NOISE = 8 * EPS
# Slowest and fastest power of k at which coefficients of a sampled kernel are taken to fall beyond the last one.
DECAY = (1.05, 4.0)
# Points at which a kernel that declares nothing is searched for narrow features. A feature of a width of 1e-5 of the
# axis is seen, and a vectorised function takes milliseconds.
SEARCH_POINTS = 2**18
# Sampling this much finer than the degree misses half a per cent of a polynomial's peaks (Ehlich and Zeller); the
# margin is twenty times that, for the kernel's own bends.
FINER, MARGIN = 16, 1.1
# Grid for the proof of a kernel that jumps: the slope of a polynomial of degree n is at most n times its size.
JUMP_FINER = 64
# How much finer than the degree the grid is on which a polynomial is bounded.
PEAK_FINER = 4
# Ellipses that are tried: the sum of their semi-axes, as a multiple of half the interval.
RADII = 1.0 + np.geomspace(1e-9, 1e3, 193)


@dataclass(frozen=True, eq=False)
class Expansion:
    """Chebyshev coefficients of several kernels on one interval."""

    kernels: tuple[Kernel, ...]
    interval: Interval
    coefficients: FloatArray  # shape (n_kernels, n_points), as in numpy.polynomial.chebyshev: the first is not halved
    tails: FloatArray  # tails[m, N] bounds sup |g_m - p_N|, N the degree; inf for a kernel that jumps
    proven: tuple[bool, ...]  # which kernels declare what a proof needs; the bounds of the others rest on samples
    witnesses: FloatArray  # frequencies at which the spectrum is known to lie; sampled kernels are compared there too
    _errors: dict[int, float] = field(default_factory=dict)

    def order(self, tolerance: float) -> int | None:
        """Return the smallest degree whose tail is within ``tolerance``, or None if there is none."""
        enough = np.flatnonzero((self.tails <= tolerance).all(axis=0))
        return max(1, int(enough[0])) if enough.size else None

    def error(self, order: int) -> float:
        """Return a bound on the largest error of the truncations at degree ``order``; each is computed once."""
        if order not in self._errors:
            tails = self.tails[:, min(order, self.tails.shape[1] - 1)].tolist()
            rows = zip(self.kernels, self.truncated(order), tails, self.proven, strict=True)
            self._errors[order] = max(self._kernel_error(*row) for row in rows)
        return self._errors[order]

    @property
    def is_proven(self) -> bool:
        """Whether the bounds of all kernels are proven."""
        return all(self.proven)

    def _kernel_error(self, kernel: Kernel, part: FloatArray, tail: float, proven: bool) -> float:
        if not proven:  # a grid much finer than the polynomial, the edges and the witnesses
            count = max(FINER * len(part), SEARCH_POINTS)
            return MARGIN * _difference(kernel, self.interval, part, count, self.witnesses)
        if math.isinf(tail):
            return _jump_error(kernel, self.interval, part)
        # Where the tail proves nothing, the sizes of kernel and polynomial still do.
        if tail < 1 or kernel.envelope is None:
            return tail
        return min(tail, kernel.envelope(*next(_ellipses(self.interval))) + _largest_value(part))

    def truncated(self, order: int) -> FloatArray:
        """Return the coefficients up to degree ``order``, shape (n_kernels, order + 1)."""
        part = self.coefficients[:, : order + 1]
        return np.pad(part, ((0, 0), (0, order + 1 - part.shape[1])))

    @property
    def roughest(self) -> Kernel:
        """The kernel that polynomials follow least."""
        return self.kernels[int(self.tails[:, self.tails.shape[1] // 2].argmax())]

    @cached_property
    def vanishing(self) -> Kernel | None:
        """A kernel known by samples only that is zero at all of them, if there is one."""
        at = np.concatenate([chebyshev_points(self.interval, SEARCH_POINTS), self.witnesses])
        sampled = (kernel for kernel, proven in zip(self.kernels, self.proven, strict=True) if not proven)
        return next((kernel for kernel in sampled if not kernel(at).any()), None)


def _difference(kernel: Kernel, interval: Interval, part: FloatArray, count: int, more: FloatArray) -> float:
    """Return the largest distance of kernel and series, at ``count`` Chebyshev points, ends, breaks and ``more``."""
    low, high = interval
    extra = np.concatenate([np.clip([*both_sides(kernel.breakpoints).ravel(), low, high], low, high), more])
    series = np.polynomial.chebyshev.chebval((2 * extra - low - high) / (high - low), part)
    values = np.concatenate([_values_at_points(part, count), series])
    return float(np.abs(kernel(np.concatenate([chebyshev_points(interval, count), extra])) - values).max())


def _jump_error(kernel: Kernel, interval: Interval, part: FloatArray) -> float:
    """Return a proven bound for a kernel of bounded variation: the error on a grid, and what can happen in a cell.

    In a cell of the angle the polynomial moves by at most its degree times its size (Bernstein), the kernel by what is
    left of its variation when the jumps at its breakpoints, both sides of which are in the grid, are taken off.
    """
    variation, order = dict(kernel.variations)[0], len(part) - 1
    count = JUMP_FINER * max(order, FEWEST_POINTS)
    inside = tuple(at for at in kernel.breakpoints if interval[0] <= at <= interval[1])
    jumps = float(np.abs(np.diff(kernel(both_sides(inside)), axis=1)).sum())
    drift = order * _largest_value(part) * math.pi / (2 * count)
    grid = _difference(kernel, interval, part, count, np.empty(0))
    return grid + drift + max(0.0, variation - jumps)


def expand(kernels: tuple[Kernel, ...], interval: Interval, witnesses: FloatArray | None = None) -> Expansion:
    """Return the Chebyshev series of ``kernels`` on ``interval``, from as many samples as they need.

    The number of samples doubles until the interpolants are as good as exact, or until there are 32768. For kernels
    that declare what a proof needs, that is proven; for others the series must reproduce the kernel at a quarter of a
    million points and at ``witnesses``. Where coefficients of such a kernel still matter at the end, those beyond are
    taken to fall on as the last two octaves did, ``c_k ~ k^-p`` (a kink has p = 2), and their sum is doubled.
    """
    known = np.empty(0) if witnesses is None else witnesses
    count = FEWEST_POINTS
    while True:
        samples = np.stack([kernel(chebyshev_points(interval, count)) for kernel in kernels])
        coefficients = _coefficients_from(samples)
        rows = list(zip(kernels, coefficients, strict=True))
        enough = count * NOISE * float(np.abs(samples).max())
        errors = [_interpolation_error(kernel, interval, row) for kernel, row in rows]
        # The declarations of a kernel bound it by a tail, or by its variation if it jumps.
        proven = tuple(math.isfinite(e) or 0 in dict(k.variations) for k, e in zip(kernels, errors, strict=True))
        for m, (kernel, row) in enumerate(rows):
            errors[m] = errors[m] if proven[m] else _searched_error(kernel, interval, row, enough, known)
        if max(errors) <= enough or count >= MOST_POINTS:
            break
        count *= 2
    tails = np.stack([_tails(*row) for row in zip(coefficients, errors, proven, strict=True)])
    return Expansion(kernels, interval, coefficients, tails, proven, known)


def _searched_error(kernel: Kernel, interval: Interval, row: FloatArray, enough: float, witnesses: FloatArray) -> float:
    """Return the error of an interpolant on the search grid; inf at once where its coefficients still matter."""
    if np.abs(row[len(row) // 2 :]).max() > enough / len(row):
        return math.inf
    return _difference(kernel, interval, row, SEARCH_POINTS, witnesses)


def _tails(row: FloatArray, error: float, proven: bool) -> FloatArray:
    """Return the bound of each truncation: the coefficients left out, and the error of the interpolant itself."""
    sizes = np.abs(row)
    beyond = np.cumsum(sizes[::-1])[::-1] - sizes
    return np.asarray(beyond + (error if proven or math.isfinite(error) else _beyond(sizes)))


def _beyond(sizes: FloatArray) -> float:
    """Return twice the sum of the coefficients after the last, if they fall on as the last two octaves did."""
    count = len(sizes)
    older, newer = float(sizes[count // 4 : count // 2].max()), float(sizes[count // 2 :].max())
    power = float(np.clip(np.log2(max(older, EPS) / max(newer, EPS)), *DECAY))
    return float(2 * count * newer * 0.5**power / (power - 1))


def chebyshev_points(interval: Interval, count: int) -> FloatArray:
    """Return the ``count`` zeros of the Chebyshev polynomial of that degree, mapped to ``interval``, descending."""
    low, high = interval
    return np.asarray((high + low) / 2 + (high - low) / 2 * np.cos(np.pi * (np.arange(count) + 0.5) / count))


def both_sides(at: tuple[float, ...]) -> FloatArray:
    """Return the numbers just below, at and just above each of ``at``, shape (len(at), 3)."""
    points = np.array(at)
    return np.stack([np.nextafter(points, -np.inf), points, np.nextafter(points, np.inf)], axis=-1)


def _coefficients_from(samples: FloatArray) -> FloatArray:
    """Return the coefficients, as in ``numpy.polynomial.chebyshev``, of the series through values at the points."""
    coefficients = np.asarray(_cosine_transform(samples, 2) / samples.shape[1])
    coefficients[:, 0] /= 2
    return coefficients


def _values_at_points(coefficients: FloatArray, count: int) -> FloatArray:
    """Return one series at ``count`` Chebyshev points: the inverse of :func:`_coefficients_from`."""
    padded = np.pad(coefficients / 2, (0, count - len(coefficients)))
    padded[0] *= 2
    return _cosine_transform(padded, 3)


def _cosine_transform(rows: FloatArray, kind: Literal[2, 3]) -> FloatArray:
    from scipy.fft import dct  # costs a sixth of a second that only a bank's series needs

    return np.asarray(dct(rows, type=kind, axis=-1))


def _peak_factor(degree: int, count: int) -> float:
    """Return by how much a polynomial may exceed its values at ``count`` Chebyshev points (Ehlich and Zeller)."""
    return 1.0 / math.cos(math.pi * degree / (2 * count))


def _largest_value(coefficients: FloatArray) -> float:
    """Return a bound on the largest absolute value of a Chebyshev series on its interval."""
    degree = len(coefficients) - 1
    count = PEAK_FINER * max(degree, 1)
    sampled = float(np.abs(_values_at_points(coefficients, count)).max(initial=0.0))
    return sampled * _peak_factor(degree, count)


def _ellipses(interval: Interval) -> Iterator[tuple[float, float, float]]:
    """Yield the centre and the semi-axes of the ellipses, the smallest first."""
    center, half = (interval[0] + interval[1]) / 2, (interval[1] - interval[0]) / 2
    real, imaginary = half * (RADII + 1 / RADII) / 2, half * (RADII - 1 / RADII) / 2
    yield from zip([center] * len(RADII), real.tolist(), imaginary.tolist(), strict=True)


def _interpolation_error(kernel: Kernel, interval: Interval, coefficients: FloatArray) -> float:
    """Return a proven bound on the error of the interpolant with these coefficients, inf if nothing is declared."""
    if kernel.rational is not None:
        return _residual_error(kernel, interval, coefficients)
    half, count = (interval[1] - interval[0]) / 2, len(coefficients)
    return 2.0 * min(_analytic_tail(kernel, interval, count), _variation_tail(kernel, half, count))


def _analytic_tail(kernel: Kernel, interval: Interval, count: int) -> float:
    if kernel.envelope is None:
        return math.inf
    with np.errstate(over="ignore", invalid="ignore", under="ignore"):
        sizes = np.array([kernel.envelope(*ellipse) for ellipse in _ellipses(interval)])
        tails = 2 * sizes * np.exp(-count * np.log(RADII)) * RADII / (RADII - 1)
    return float(np.nanmin(tails))


def _variation_tail(kernel: Kernel, half: float, count: int) -> float:
    with np.errstate(all="ignore"):  # a power that leaves the range of float64 bounds nothing
        tails = [
            float(2 * variation * power / (math.pi * nu * float(count - 1 - nu) ** nu))
            for nu, variation in kernel.variations
            if 0 < nu < count - 1 and (power := np.float64(half) ** nu) >= TINY
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
    count = PEAK_FINER * degree + PEAK_FINER
    at = chebyshev_points(interval, count)
    evaluate = np.polynomial.polynomial.polyval
    image = _values_at_points(coefficients, count)
    top, bottom = evaluate(at, numerator), evaluate(at, denominator)
    residual = float(np.abs(top - bottom * image).max()) * _peak_factor(degree, count)
    return residual / least + 8 * EPS * float(np.abs(image).max()) * greatest / least
