"""Effective rank: the number of directions over which a block of signals is spread."""

from __future__ import annotations

from typing import Any

import numpy as np
from scipy import linalg

from .._arguments import check_signal, host_array
from ..backend import FloatArray, is_sparse, to_dense, to_host
from ..errors import SignalError

__all__ = ["effective_rank"]

# Rows a column from which the Gram matrix is worth its loss of digits.
TALL = 16


def effective_rank(x: Any) -> float:
    r"""Return the effective rank :math:`\exp(-\sum_i p_i \log p_i)`, :math:`p_i = \sigma_i / \sum_j \sigma_j`.

    It is 1 for a rank-one block, the number of columns for orthogonal columns of equal norm, and continuous between.

    Parameters
    ----------
    x : array_like or sparse, shape (n_nodes,) or (n_nodes, n_signals)

    Returns
    -------
    float
        Between 1 and ``min(n_nodes, n_signals)``.

    Raises
    ------
    SignalError
        ``x`` is not finite, or zero everywhere.

    See Also
    --------
    s_value : Smoothness of a signal; it misses a collapse onto a few rough directions.

    References
    ----------
    .. [1] O. Roy, M. Vetterli, "The effective rank: a measure of effective dimensionality", EUSIPCO 2007.
    .. [2] K. Zhang et al., "Rethinking Oversmoothing in Graph Neural Networks: A Rank-Based Perspective",
       arXiv 2502.04591, 2025.

    Examples
    --------
    >>> round(effective_rank([[1.0, 0.0], [0.0, 1.0], [0.0, 0.0]]), 6)
    2.0
    >>> round(effective_rank([[1.0, 2.0], [2.0, 4.0]]), 6)
    1.0
    """
    x = x if is_sparse(x) else host_array(x, SignalError, "signal")
    block = to_host(to_dense(check_signal(x, int(x.shape[0]))))
    values = _singular_values(block.reshape(block.shape[0], -1).astype(np.float64, copy=False))
    if not values.size or values[0] == 0:
        raise SignalError("signal is zero everywhere; its effective rank is undefined")
    shares = values / values.sum()
    shares = shares[shares > 0]
    return float(np.exp(-np.sum(shares * np.log(shares))))


def _singular_values(block: FloatArray) -> FloatArray:
    """Return the singular values, descending; of a tall block from its Gram matrix, right to 1e-8 of the first.

    An error of that size changes the entropy by less than 1e-5.
    """
    peak = float(np.abs(block).max(initial=0.0))
    if block.shape[0] < TALL * block.shape[1] or peak == 0.0:
        return np.asarray(linalg.svdvals(block)) if block.size else np.zeros(0)
    scaled = block / peak
    squares = linalg.eigvalsh(scaled.T @ scaled)[::-1]
    return np.sqrt(np.maximum(squares, 0.0))
