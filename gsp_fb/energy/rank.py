"""How many directions the columns of a signal really fill."""

from __future__ import annotations

from typing import Any

import numpy as np

from .._arguments import host_array
from ..backend import FloatArray, is_sparse, to_host
from ..errors import SignalError

__all__ = ["effective_rank"]


def effective_rank(x: Any) -> float:
    r"""Return the exponential of the entropy of the singular values: :math:`\exp(-\sum_i p_i\ln p_i)`.

    :math:`p_i = \sigma_i / \sum_j \sigma_j`. It lies between 1 and the rank, and is k for k equal singular values.
    Where a network smooths features over the nodes until their columns agree, it falls towards 1.

    Parameters
    ----------
    x : array_like or sparse, shape (n_nodes,) or (n_nodes, n_signals)
        A sparse array is not made dense: its singular values come from the smaller Gram matrix, which resolves those
        above 1e-8 of the largest.

    Returns
    -------
    float

    Raises
    ------
    SignalError
        ``x`` is zero everywhere, empty, not finite, or has more than two dimensions.

    See Also
    --------
    s_value : Smoothness of the same columns on a graph.

    References
    ----------
    .. [1] O. Roy and M. Vetterli, "The effective rank: a measure of effective dimensionality", EUSIPCO 2007.

    Examples
    --------
    >>> round(effective_rank(np.eye(3)), 12)
    3.0
    >>> round(effective_rank([[1.0, 2.0], [2.0, 4.0]]), 12)
    1.0
    """
    matrix = x if is_sparse(x) else host_array(x, SignalError, "signal")
    if matrix.ndim not in (1, 2):
        raise SignalError(f"signal has shape {tuple(matrix.shape)}; it must be (n_nodes,) or (n_nodes, n_signals)")
    host = to_host(matrix) if matrix.ndim == 2 else to_host(matrix)[:, None]
    values = host.data if is_sparse(host) else host
    if not np.isfinite(values).all():
        raise SignalError("signal has entries that are not finite; the effective rank is that of finite values")
    peak = float(np.abs(values).max(initial=0.0))
    if peak == 0.0:
        raise SignalError("signal is zero everywhere or empty; its effective rank is undefined")
    singular = _singular_values(host / peak)
    shares = singular[singular > 0] / singular.sum()
    return float(np.exp(-(shares * np.log(shares)).sum()))


def _singular_values(matrix: Any) -> FloatArray:
    if not is_sparse(matrix):
        # The triangular factor has the same singular values; a tall block need not be decomposed whole.
        factor = np.linalg.qr(matrix, mode="r") if matrix.shape[0] > 2 * matrix.shape[1] else matrix
        return np.asarray(np.linalg.svd(factor, compute_uv=False))
    small = matrix.T.conj() @ matrix if matrix.shape[1] <= matrix.shape[0] else matrix @ matrix.T.conj()
    squares = np.linalg.eigvalsh(small.toarray())
    return np.sqrt(np.where(squares > len(squares) * np.finfo(np.float64).eps * squares[-1], squares, 0.0))
