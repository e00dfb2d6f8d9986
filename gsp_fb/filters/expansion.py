"""Kernels as Chebyshev series, with a bound on what each truncation leaves out and what that bound rests on."""

from __future__ import annotations

import math
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from ..backend import FloatArray
from ._points import Interval, chebyshev_points, coefficients_from, series_at, values_at_points
from .kernels import Kernel
from .tails import interpolation_error, largest_kernel_value, largest_value

__all__ = ["MARGIN", "Expansion", "Interval", "chebyshev_points", "expand"]

EPS = float(np.finfo(np.float64).eps)
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
        ``tails[m, N]`` bounds :math:`\sup |g_m - p_N|`, ``N`` the degree; inf for a kernel that jumps.
    largest : float
        Largest absolute value of any kernel among the samples.
    proven : tuple of bool
        Which kernels declare what a proof of their bound needs; the bounds of the others rest on samples.
    witnesses : float64 array
        Frequencies at which the spectrum is known to lie; sampled kernels are compared there too.
    """

    kernels: tuple[Kernel, ...]
    interval: Interval
    coefficients: FloatArray
    tails: FloatArray
    largest: float
    proven: tuple[bool, ...]
    witnesses: FloatArray

    def order(self, tolerance: float) -> int | None:
        """Return the smallest degree whose tail is within ``tolerance``, or None if there is none."""
        enough = np.flatnonzero((self.tails <= tolerance).all(axis=0))
        return max(1, int(enough[0])) if enough.size else None

    def error(self, order: int) -> float:
        """Return a bound on the largest error of the truncations at degree ``order``; each is computed once."""
        if order not in self._errors:
            self._errors[order] = self._largest_error(order)
        return self._errors[order]

    @cached_property
    def _errors(self) -> dict[int, float]:
        return {}

    def _largest_error(self, order: int) -> float:
        tails = self.tails[:, min(order, self.tails.shape[1] - 1)].tolist()
        rows = zip(self.kernels, self.truncated(order), tails, self.proven, strict=True)
        return max(self._kernel_error(*row) for row in rows)

    @property
    def is_proven(self) -> bool:
        """Whether the bounds of all kernels are proven."""
        return all(self.proven)

    def _kernel_error(self, kernel: Kernel, part: FloatArray, tail: float, proven: bool) -> float:
        if not proven:
            return _sampled_error(kernel, self.interval, part, self.witnesses)
        if math.isinf(tail):
            return _jump_error(kernel, self.interval, part)
        # Where the tail proves nothing, the sizes of kernel and polynomial still do.
        sizes = math.inf if tail < 1 else largest_kernel_value(kernel, self.interval) + largest_value(part[None, :])
        return min(tail, sizes)

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


def _edges(kernel: Kernel, interval: Interval) -> FloatArray:
    """Return the ends of the interval and the nearest numbers on both sides of each break of a kernel."""
    breakpoints = np.array(kernel.breakpoints)
    sides = np.concatenate([np.nextafter(breakpoints, -np.inf), breakpoints, np.nextafter(breakpoints, np.inf)])
    return np.asarray(np.clip(np.concatenate([sides, interval]), *interval))


def _difference(kernel: Kernel, interval: Interval, part: FloatArray, count: int, more: FloatArray) -> FloatArray:
    """Return kernel minus series at ``count`` Chebyshev points, at the edges and at ``more`` frequencies."""
    extra = np.concatenate([_edges(kernel, interval), more])
    values = [values_at_points(part[None, :], count)[0], series_at(part[None, :], interval, extra)[0]]
    return np.asarray(kernel(np.concatenate([chebyshev_points(interval, count), extra])) - np.concatenate(values))


def _sampled_error(kernel: Kernel, interval: Interval, part: FloatArray, witnesses: FloatArray) -> float:
    """Return the largest error on a grid much finer than the polynomial, at the edges and at the witnesses."""
    count = max(FINER * len(part), SEARCH_POINTS)
    return float(MARGIN * np.abs(_difference(kernel, interval, part, count, witnesses)).max())


def _jump_error(kernel: Kernel, interval: Interval, part: FloatArray) -> float:
    """Return a proven bound for a kernel of bounded variation: the error on a grid, and what can happen in a cell.

    In a cell of the angle the polynomial moves by at most its degree times its size (Bernstein), the kernel by what is
    left of its variation when the jumps at its breakpoints, both sides of which are in the grid, are taken off.
    """
    variation, order = dict(kernel.variations)[0], len(part) - 1
    count = JUMP_FINER * max(order, FEWEST_POINTS)
    inside = [at for at in kernel.breakpoints if interval[0] <= at <= interval[1]]
    sides = np.array([[np.nextafter(at, -np.inf), at, np.nextafter(at, np.inf)] for at in inside]).reshape(-1, 3)
    jumps = float(np.abs(np.diff(kernel(sides), axis=1)).sum())
    drift = order * largest_value(part[None, :]) * math.pi / (2 * count)
    grid = float(np.abs(_difference(kernel, interval, part, count, np.empty(0))).max())
    return grid + drift + max(0.0, variation - jumps)


def expand(kernels: tuple[Kernel, ...], interval: Interval, witnesses: FloatArray | None = None) -> Expansion:
    """Return the Chebyshev series of ``kernels`` on ``interval``, from as many samples as they need.

    The number of samples doubles until the interpolants are as good as exact, or until there are 32768. For kernels
    that declare what a proof needs, that is proven; for others the series must reproduce the kernel at a quarter of a
    million points and at ``witnesses``. Where coefficients of such a kernel still matter at the end, those beyond are
    taken to fall on as the last two octaves did, ``c_k ~ k^-p`` (a kink has p = 2), and their sum is doubled.

    Examples
    --------
    >>> from gsp_fb.filters.kernels import heat
    >>> series = expand((heat(1.0),), (0.0, 2.0))
    >>> series.order(1e-8), series.error(8) < 1e-8, series.is_proven
    (8, True, True)
    """
    known = np.empty(0) if witnesses is None else witnesses
    count = FEWEST_POINTS
    while True:
        samples = np.stack([kernel(chebyshev_points(interval, count)) for kernel in kernels])
        coefficients, largest = coefficients_from(samples), float(np.abs(samples).max())
        rows = list(zip(kernels, coefficients, strict=True))
        enough = count * NOISE * largest
        proven = [interpolation_error(kernel, interval, row) for kernel, row in rows]
        errors = [
            error if _is_proven(kernel, error) else _searched_error(kernel, interval, row, enough, known)
            for (kernel, row), error in zip(rows, proven, strict=True)
        ]
        if max(errors) <= enough or count >= MOST_POINTS:
            break
        count *= 2
    flags = tuple(_is_proven(kernel, error) for kernel, error in zip(kernels, proven, strict=True))
    tails = np.stack([_tails(*row) for row in zip(coefficients, errors, flags, strict=True)])
    return Expansion(kernels, interval, coefficients, tails, largest, flags, known)


def _is_proven(kernel: Kernel, error: float) -> bool:
    """Return whether the declarations of a kernel bound it: by a tail, or by its variation if it jumps."""
    return math.isfinite(error) or 0 in dict(kernel.variations)


def _searched_error(kernel: Kernel, interval: Interval, row: FloatArray, enough: float, witnesses: FloatArray) -> float:
    """Return the error of an interpolant on the search grid; inf at once where its coefficients still matter."""
    if np.abs(row[len(row) // 2 :]).max() > enough / len(row):
        return math.inf
    return float(np.abs(_difference(kernel, interval, row, SEARCH_POINTS, witnesses)).max())


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
