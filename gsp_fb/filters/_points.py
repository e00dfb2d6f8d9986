"""Chebyshev points on an interval, and the transforms between values there and coefficients."""

from __future__ import annotations

from typing import Literal

import numpy as np

from ..backend import FloatArray

__all__ = ["Interval", "chebyshev_points", "coefficients_from", "series_at", "values_at_points"]

Interval = tuple[float, float]


def chebyshev_points(interval: Interval, count: int) -> FloatArray:
    """Return the ``count`` zeros of the Chebyshev polynomial of that degree, mapped to ``interval``, descending."""
    low, high = interval
    return np.asarray((high + low) / 2 + (high - low) / 2 * np.cos(np.pi * (np.arange(count) + 0.5) / count))


def coefficients_from(samples: FloatArray) -> FloatArray:
    """Return the coefficients, as in ``numpy.polynomial.chebyshev``, of the series through values at the points."""
    coefficients = np.asarray(_cosine_transform(samples, 2) / samples.shape[1])
    coefficients[:, 0] /= 2
    return coefficients


def values_at_points(coefficients: FloatArray, count: int) -> FloatArray:
    """Return the series at ``count`` Chebyshev points: the inverse of :func:`coefficients_from`."""
    padded = np.pad(coefficients / 2, ((0, 0), (0, count - coefficients.shape[1])))
    padded[:, 0] *= 2
    return _cosine_transform(padded, 3)


def series_at(coefficients: FloatArray, interval: Interval, at: FloatArray) -> FloatArray:
    """Return the series at the frequencies ``at``, shape (n_series, len(at))."""
    low, high = interval
    return np.asarray(np.polynomial.chebyshev.chebval((2 * at - low - high) / (high - low), coefficients.T))


def _cosine_transform(rows: FloatArray, kind: Literal[2, 3]) -> FloatArray:
    from scipy.fft import dct  # costs a sixth of a second that only a bank's series needs

    return np.asarray(dct(rows, type=kind, axis=1))
