"""Norms and violations from which the residuals of claims are computed."""

from __future__ import annotations

from typing import Any

import numpy as np

from ..backend import FloatArray

__all__ = ["as_column", "largest", "violation"]


def largest(difference: Any) -> float:
    """Return the largest absolute entry, 0 for an empty array."""
    return float(np.max(np.abs(difference), initial=0.0))


def violation(values: FloatArray, low: float, high: float) -> float:
    """Return the largest distance of ``values`` from [low, high]; 0 if all lie inside."""
    return float(max(np.max(values - high, initial=0.0), np.max(low - values, initial=0.0)))


def as_column(vector: FloatArray) -> FloatArray:
    """Return ``vector`` with shape (n, 1), which scales rows."""
    return np.asarray(vector[:, None])
