"""The rounding tolerance of laws and claims."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

__all__ = ["tolerance"]

# Covers the constants of a few matrix products and one decomposition; a wrong formula differs by far more.
ROUNDINGS = 64


def tolerance(n: int, *, scale: float = 1.0, dtype: npt.DTypeLike = np.float64) -> float:
    """Return the rounding error allowed in a law: ``64 * eps * n * scale``.

    Parameters
    ----------
    n : int
        Number of summed terms, usually the number of nodes.
    scale : float
        Size of the summed values.
    dtype : dtype
        Precision of the computation.

    Returns
    -------
    float
        Absolute tolerance.

    See Also
    --------
    paper_matrix : A dense oracle to compare with under this tolerance.

    References
    ----------
    .. [1] N. J. Higham, "Accuracy and stability of numerical algorithms", SIAM 2002, Section 3.1 (the factor n eps).

    Examples
    --------
    >>> f"{tolerance(100):.1e}"
    '1.4e-12'
    """
    return ROUNDINGS * float(np.finfo(dtype).eps) * max(n, 1) * scale
