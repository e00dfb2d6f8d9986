"""Oversmoothing: how far the rows and columns of a signal lie apart, and how many directions they fill."""

from __future__ import annotations

from typing import Any

import numpy as np

from .._arguments import check_signal
from .._cost import state_cost
from ..backend import FloatArray, distances, is_sparse, namespace, to_dense, to_host
from ..errors import SignalError
from .dirichlet import n_rows

__all__ = ["col_diff", "effective_rank", "row_diff"]

BLOCK_ROWS = 512


def row_diff(x: Any) -> float:
    """Return the mean distance between the rows of ``x`` over all pairs.

    ``1/n^2 sum_ij |x_i - x_j|_2`` [1]_; the graph does not enter, so isolated nodes count like all others. Time grows
    with the square of the number of rows, memory does not: 1e5 rows of 16 columns take minutes, and a warning states
    how many before it starts. A random sample of rows gives an estimate.

    Parameters
    ----------
    x : array_like or sparse, shape (n_nodes,) or (n_nodes, n_signals)
        Features or embeddings, one row a node.

    Returns
    -------
    float
        0 where all rows are equal.

    See Also
    --------
    col_diff : The same measure over columns.
    effective_rank : Oversmoothing as a loss of rank.

    References
    ----------
    .. [1] L. Zhao and L. Akoglu, "PairNorm: Tackling oversmoothing in GNNs", ICLR 2020.

    Examples
    --------
    >>> row_diff([[0.0], [1.0]])
    0.5
    """
    return _mean_distance(_columns(x))


def col_diff(x: Any) -> float:
    """Return the mean distance between the columns of ``x``, each divided by its 1-norm.

    ``1/f^2 sum_ij | x_i / |x_i|_1 - x_j / |x_j|_1 |_2`` over columns; a zero column stays zero.

    Parameters
    ----------
    x : array_like or sparse, shape (n_nodes,) or (n_nodes, n_signals)
        Features or embeddings, one column a feature.

    Returns
    -------
    float
        0 where all normalised columns are equal.

    See Also
    --------
    row_diff : The same measure over rows, from the same paper.
    effective_rank : Oversmoothing as a loss of rank.

    Examples
    --------
    >>> col_diff([[1.0, 1.0], [1.0, 1.0]])
    0.0
    """
    columns = _columns(x)
    xp = namespace(columns)
    size = xp.sum(xp.abs(columns), axis=0)
    return _mean_distance((columns / xp.where(size > 0, size, 1.0)).T)


def _columns(x: Any) -> Any:
    block = to_dense(check_signal(x, n_rows(x)))
    return block[:, None] if block.ndim == 1 else block


def _mean_distance(rows: Any) -> float:
    """Return the mean of all n^2 distances between rows, in blocks so that no n-by-n matrix is held."""
    count = rows.shape[0]
    if count == 0:
        return 0.0
    reads = float(count) ** 2 * rows.shape[1]
    state_cost(reads, f"the distance of {count} rows, each to each,", "give a sample of them")
    blocks = (rows[start : min(start + BLOCK_ROWS, count), :] for start in range(0, count, BLOCK_ROWS))
    return sum(float(namespace(rows).sum(distances(block, rows))) for block in blocks) / float(count**2)


def effective_rank(x: Any) -> float:
    r"""Return the exponential of the entropy of the singular values: :math:`\exp(-\sum_i p_i\ln p_i)`.

    :math:`p_i = \sigma_i / \sum_j \sigma_j`. It lies between 1 and the rank, and is k for k equal singular values.
    Where a network smooths features over the nodes until their columns agree, it falls towards 1.

    Parameters
    ----------
    x : array_like or sparse, shape (n_nodes,) or (n_nodes, n_signals)
        Singular values of a sparse array come from the smaller Gram matrix, which resolves 1e-8 of the largest.

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
    >>> round(effective_rank(np.eye(3)), 12), round(effective_rank([[1.0, 2.0], [2.0, 4.0]]), 12)
    (3.0, 1.0)
    """
    matrix = to_host(check_signal(x, n_rows(x)))
    matrix = matrix if matrix.ndim == 2 else matrix[:, None]
    peak = float(np.abs(matrix.data if is_sparse(matrix) else matrix).max(initial=0.0))
    if peak == 0.0:
        raise SignalError("signal is zero everywhere or empty; its effective rank is undefined")
    singular = _singular_values(matrix / peak)
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
