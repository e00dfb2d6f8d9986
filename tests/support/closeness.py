"""Equality up to rounding, with one tolerance rule."""

from __future__ import annotations

from typing import Any

import numpy as np

from gsp_fb.backend import is_sparse, real_dtype
from gsp_fb.theory import tolerance

__all__ = ["assert_close", "size_of"]


def _dense(x: Any) -> Any:
    return x.toarray() if is_sparse(x) else np.asarray(x)


def _precision(x: Any) -> Any:
    return real_dtype(x.dtype) if x.dtype.kind in "fc" else np.float64


def size_of(x: Any) -> float:
    """Return the largest absolute entry, the natural ``scale`` of a law; 0 for an empty array."""
    return float(np.max(np.abs(_dense(x)), initial=0.0))


def assert_close(actual: Any, expected: Any, *, scale: float = 1.0, n: int | None = None) -> None:
    """Raise AssertionError unless ``|actual - expected| <= 64 * eps * n * scale`` in every entry.

    ``eps`` is that of the coarser precision, ``n`` the number of summed terms (by default the longest axis), ``scale``
    the size of the summed numbers. The message has the position and the values of the largest difference.
    """
    actual, expected = _dense(actual), _dense(expected)
    if actual.shape != expected.shape:
        raise AssertionError(f"shape {actual.shape}, expected {expected.shape}")
    if not actual.size:
        return
    coarser = max(_precision(actual), _precision(expected), key=lambda dtype: np.finfo(dtype).eps)
    allowed = tolerance(n if n is not None else max(actual.shape, default=1), scale=scale, dtype=coarser)
    gap = np.abs(actual - expected)
    at = tuple(int(i) for i in np.unravel_index(np.argmax(np.where(np.isnan(gap), np.inf, gap)), gap.shape))
    if not gap[at] <= allowed:
        raise AssertionError(
            f"differs by {gap[at]:.2g} at {at}: {actual[at]}, expected {expected[at]} (tolerance {allowed:.1e})"
        )
