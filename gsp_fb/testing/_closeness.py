"""Equality up to rounding, with one tolerance rule."""

from __future__ import annotations

from typing import Any

import numpy as np

from ..backend import is_sparse, real_dtype
from ..theory.tolerance import tolerance

__all__ = ["assert_close", "size_of"]


def _dense(x: Any) -> Any:
    return x.toarray() if is_sparse(x) else np.asarray(x)


def _precision(x: Any) -> Any:
    return real_dtype(x.dtype) if x.dtype.kind in "fc" else np.float64


def size_of(x: Any) -> float:
    """Return the largest absolute entry, the natural ``scale`` of a law.

    Parameters
    ----------
    x : array_like or sparse
        Any shape, also empty.

    Returns
    -------
    float
        0 for an empty array.

    See Also
    --------
    assert_close : Takes it as ``scale``.

    Examples
    --------
    >>> size_of([1.0, -3.0])
    3.0
    """
    return float(np.max(np.abs(_dense(x)), initial=0.0))


def assert_close(actual: Any, expected: Any, *, scale: float = 1.0, n: int | None = None) -> None:
    """Raise AssertionError unless ``|actual - expected| <= 64 * eps * n * scale`` in every entry.

    Parameters
    ----------
    actual, expected : array_like or sparse
        Of the same shape. ``eps`` is that of the coarser precision.
    scale : float
        Size of the summed numbers.
    n : int, optional
        Number of summed terms; by default the longest axis.

    Raises
    ------
    AssertionError
        Shapes differ, or an entry differs by more; the message has its position and values.

    See Also
    --------
    size_of : A natural scale.
    tolerance : The tolerance itself.

    Examples
    --------
    >>> assert_close([1.0, 2.0 + 1e-15], [1.0, 2.0])
    >>> assert_close(1.0, 1.1, n=10)
    Traceback (most recent call last):
    ...
    AssertionError: differs by 0.1 at (): 1.0, expected 1.1 (tolerance 1.4e-13)
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
