"""How far two routes to the same number may differ by rounding alone."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

__all__ = ["tolerance"]

# Room for the constants of a few products and one decomposition; a wrong formula is off by far more.
ROUNDINGS = 64


def tolerance(n: int, *, scale: float = 1.0, dtype: npt.DTypeLike = np.float64) -> float:
    """Return ``64 * eps * n * scale``: the rounding allowed to a law over ``n`` nodes with values of size ``scale``.

    Examples
    --------
    >>> f"{tolerance(100):.1e}"
    '1.4e-12'
    """
    return ROUNDINGS * float(np.finfo(dtype).eps) * max(n, 1) * scale
