"""What the residuals of claims are made of."""

from __future__ import annotations

from typing import Any

import numpy as np

from ..backend import FloatArray

__all__ = ["as_column", "largest", "violation"]


def largest(difference: Any) -> float:
    """Return the largest absolute entry, 0 if there is none."""
    return float(np.max(np.abs(difference), initial=0.0))


def violation(values: FloatArray, low: float, high: float) -> float:
    """Return how far ``values`` reach outside [low, high]; 0 if they do not."""
    return float(max(np.max(values - high, initial=0.0), np.max(low - values, initial=0.0)))


def as_column(vector: FloatArray) -> FloatArray:
    """Return ``vector`` shaped so that it scales rows."""
    return np.asarray(vector[:, None])
