"""Kernels as Chebyshev series, with a bound on what each truncation leaves out."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

import numpy as np

from ..backend import FloatArray
from .kernels import Kernel

__all__ = ["Expansion", "Interval", "chebyshev_points", "expand"]

Interval = tuple[float, float]
EPS = float(np.finfo(np.float64).eps)
FEWEST_POINTS, MOST_POINTS = 64, 2**15
# Coefficients below this share of the greatest value are rounding of the samples, not the kernel.
NOISE = 8 * EPS
# Slowest and fastest power of k at which coefficients are taken to fall beyond the last one.
DECAY = (1.05, 4.0)
# Sampling this much finer than the degree misses half a per cent of a polynomial's peaks (Ehlich and Zeller); the
# margin is twenty times that, for the kernel's own bends.
FINER, MARGIN = 16, 1.1


@dataclass(frozen=True, eq=False)
class Expansion:
    r"""Chebyshev coefficients of several kernels on one interval.

    Attributes
    ----------
    kernels : tuple of Kernel
    interval : (float, float)
    coefficients : float64 array, shape (n_kernels, n_points)
        As in ``numpy.polynomial.chebyshev``: the first one is not halved.
    tails : float64 array, shape (n_kernels, n_points)
        ``tails[m, N]`` bounds :math:`\sup |g_m - p_N| \le \sum_{k > N} |c_{mk}|`, ``N`` the degree.
    greatest : float
        Largest absolute value of any kernel among the samples.
    is_resolved : bool
        All coefficients that matter are here. Otherwise the tails carry an estimate of the rest.
    """

    kernels: tuple[Kernel, ...]
    interval: Interval
    coefficients: FloatArray
    tails: FloatArray
    greatest: float
    is_resolved: bool

    def order(self, tolerance: float) -> int | None:
        """Return the smallest degree whose tail is within ``tolerance``, or None if there is none."""
        enough = np.flatnonzero((self.tails <= tolerance).all(axis=0))
        return max(1, int(enough[0])) if enough.size else None

    def error(self, order: int) -> float:
        """Return a bound on the largest error of the truncations at degree ``order``."""
        tail = float(self.tails[:, min(order, self.tails.shape[1] - 1)].max())
        return tail if self.is_resolved else min(tail, self._sampled_error(order))

    def truncated(self, order: int) -> FloatArray:
        """Return the coefficients up to degree ``order``, shape (n_kernels, order + 1)."""
        part = self.coefficients[:, : order + 1]
        return np.pad(part, ((0, 0), (0, order + 1 - part.shape[1])))

    def _sampled_error(self, order: int) -> float:
        """Return the largest error on a grid much finer than the polynomial, on both sides of each break."""
        count = FINER * max(order, FEWEST_POINTS)
        part = self.truncated(order)
        edges = _edges(self.kernels, self.interval)
        at = np.concatenate([chebyshev_points(self.interval, count), edges])
        values = np.concatenate([_at_points(part, count), _series(part, self.interval, edges)], axis=1)
        return float(MARGIN * max(np.abs(k(at) - v).max() for k, v in zip(self.kernels, values, strict=True)))

    @property
    def roughest(self) -> Kernel:
        """The kernel that polynomials follow least."""
        return self.kernels[int(self.tails[:, self.tails.shape[1] // 2].argmax())]


def chebyshev_points(interval: Interval, count: int) -> FloatArray:
    """Return the ``count`` zeros of the Chebyshev polynomial of that degree, mapped to ``interval``, descending."""
    low, high = interval
    return np.asarray((high + low) / 2 + (high - low) / 2 * np.cos(np.pi * (np.arange(count) + 0.5) / count))


def _series(coefficients: FloatArray, interval: Interval, at: FloatArray) -> FloatArray:
    low, high = interval
    return np.asarray(np.polynomial.chebyshev.chebval((2 * at - low - high) / (high - low), coefficients.T))


def _at_points(coefficients: FloatArray, count: int) -> FloatArray:
    """Return the series at ``count`` Chebyshev points: the inverse of the transform that made it."""
    padded = np.pad(coefficients / 2, ((0, 0), (0, count - coefficients.shape[1])))
    padded[:, 0] *= 2
    return _cosine_transform(padded, 3)


def _cosine_transform(rows: FloatArray, kind: Literal[2, 3]) -> FloatArray:
    from scipy.fft import dct  # costs a sixth of a second that only a bank's series needs

    return np.asarray(dct(rows, type=kind, axis=1))


def _edges(kernels: tuple[Kernel, ...], interval: Interval) -> FloatArray:
    """Return the ends of the interval and the nearest numbers on both sides of each break of a kernel."""
    breakpoints = np.array([at for kernel in kernels for at in kernel.breakpoints])
    sides = np.concatenate([np.nextafter(breakpoints, -np.inf), breakpoints, np.nextafter(breakpoints, np.inf)])
    return np.asarray(np.clip(np.concatenate([sides, interval]), *interval))


def expand(kernels: tuple[Kernel, ...], interval: Interval) -> Expansion:
    """Return the Chebyshev series of ``kernels`` on ``interval``, from as many samples as they need.

    The number of samples doubles until the second half of the coefficients is rounding and the series reproduces the
    kernels between the samples, or until there are 32768. Where coefficients still matter then, those beyond are
    taken to fall on as the last two octaves did, ``c_k ~ k^-p`` (a kink has p = 2), and their sum is doubled.

    Examples
    --------
    >>> from gsp_fb.filters.kernels import heat
    >>> series = expand((heat(1.0),), (0.0, 2.0))
    >>> series.order(1e-8), series.error(8) < 1e-8
    (8, True)
    """
    count = FEWEST_POINTS
    while True:
        samples = np.stack([kernel(chebyshev_points(interval, count)) for kernel in kernels])
        coefficients = _cosine_transform(samples, 2) / count
        coefficients[:, 0] /= 2
        greatest = float(np.abs(samples).max())
        resolved = _is_resolved(kernels, interval, coefficients, greatest)
        if resolved or count >= MOST_POINTS:
            return Expansion(
                kernels, interval, coefficients, _tails(coefficients, greatest, resolved), greatest, resolved
            )
        count *= 2


def _is_resolved(kernels: tuple[Kernel, ...], interval: Interval, coefficients: FloatArray, greatest: float) -> bool:
    count = coefficients.shape[1]
    if np.abs(coefficients[:, count // 2 :]).max() > NOISE * greatest:
        return False
    # An odd number of equal steps falls between the samples, where a narrow feature would hide.
    at = np.concatenate([np.linspace(*interval, 1021), _edges(kernels, interval)])
    values = _series(coefficients, interval, at)
    return all(np.abs(k(at) - v).max() <= count * NOISE * greatest for k, v in zip(kernels, values, strict=True))


def _tails(coefficients: FloatArray, greatest: float, resolved: bool) -> FloatArray:
    sizes = np.abs(coefficients)
    if resolved:
        sizes = np.where(sizes > NOISE * greatest, sizes, 0.0)
    rest = np.zeros(len(sizes)) if resolved else _beyond(sizes)
    beyond = np.cumsum(sizes[:, ::-1], axis=1)[:, ::-1] - sizes
    return np.asarray(beyond + rest[:, None])


def _beyond(sizes: FloatArray) -> FloatArray:
    """Return twice the sum of the coefficients after the last, if they fall on as the last two octaves did."""
    count = sizes.shape[1]
    older, newer = sizes[:, count // 4 : count // 2].max(axis=1), sizes[:, count // 2 :].max(axis=1)
    power = np.clip(np.log2(np.maximum(older, EPS) / np.maximum(newer, EPS)), *DECAY)
    return np.asarray(2 * count * newer * 0.5**power / (power - 1))
