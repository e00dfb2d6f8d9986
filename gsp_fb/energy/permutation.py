r"""What a random placement of a signal's rows on the nodes would give: exact moments of quadratic forms.

With a symmetric matrix M and the rows of x placed by a random permutation :math:`\pi`, the form
:math:`T = \sum_{ij} M_{ij} \langle x_{\pi(i)}, x_{\pi(j)}\rangle` is a sum over the entries of two matrices, M and
the Gram matrix B of the rows. Its mean and variance follow from sums over one, two, three and four distinct indices
of each, as in Mantel's test [1]_; the diagonals are kept here.

References
----------
.. [1] N. Mantel, "The detection of disease clustering and a generalized regression approach", Cancer Research 27, 1967.
"""

from __future__ import annotations

import math
import warnings
from dataclasses import dataclass
from typing import Any

import numpy as np
from scipy import sparse

from ..backend import FloatArray, Signal, asarray_like, column_peaks, is_sparse, to_host
from ..errors import GspWarning, ParameterError, SignalError
from ..operators import Operator

__all__ = [
    "Gram",
    "Moments",
    "Weights",
    "expected_ratio",
    "expected_s_value",
    "gram",
    "inner_weights",
    "permutation_moments",
    "weights_of",
]


@dataclass(frozen=True, eq=False)
class Weights:
    """Sums over a symmetric matrix: its diagonal, row sums and squares off the diagonal, and the norm's weights."""

    diagonal: FloatArray
    row_sums: FloatArray
    squares: float
    norm: FloatArray


@dataclass(frozen=True, eq=False)
class Gram:
    """Sums over the Gram matrix B of the rows of a signal, each an array over the signals that are looked at.

    ``trace`` is the sum of its diagonal b, ``fourth`` that of b^2; off the diagonal, with row sums r, ``total`` is the
    sum of all entries, ``squares`` of their squares, ``rows`` of r^2 and ``mixed`` of b r.
    """

    trace: FloatArray
    fourth: FloatArray
    total: FloatArray
    squares: FloatArray
    rows: FloatArray
    mixed: FloatArray


@dataclass(frozen=True, eq=False)
class Moments:
    """Mean and variance of a quadratic form over all placements, one entry a signal."""

    mean: FloatArray
    variance: FloatArray


def inner_weights(op: Operator) -> FloatArray:
    """Return the weights of the inner product in which ``op`` is self-adjoint, on the host; ones if it is directed."""
    scale: FloatArray = to_host(op.scale)
    return np.ones_like(scale) if op.graph.directed else scale**2


def weights_of(op: Operator) -> Weights:
    """Return the sums over the symmetric matrix of the form ``<x, L x>``, on the host."""
    if op.channel != "high":
        raise ParameterError(f"S is that of a high channel, and {op!r} is a low one: give op.complement()")
    op.graph.check_real("a random placement of values")
    norm = inner_weights(op)
    matrix = to_host(op.to_sparse()).multiply(norm[:, None]).tocsr()
    matrix = (matrix + matrix.T) / 2 if op.graph.directed else matrix
    diagonal = matrix.diagonal()
    row_sums = np.asarray(matrix.sum(axis=1)).ravel() - diagonal
    return Weights(diagonal, row_sums, float((matrix.data**2).sum() - (diagonal**2).sum()), norm)


def gram(x: Signal, per_column: bool) -> Gram:
    """Return the sums over the Gram matrix of all columns together, or of each column alone, in units of their peak."""
    columns = _unit_peak(to_host(x) if x.ndim == 2 else to_host(x)[:, None], per_column)
    if not per_column:
        return _pooled(_real(columns))
    if np.iscomplexobj(columns):
        alone = [_pooled(_real(columns[:, [j]])) for j in range(columns.shape[1])]
        return Gram(*(np.concatenate([getattr(one, name) for one in alone]) for name in Gram.__annotations__))
    sums, second, third, fourth = (_column_sums(columns, power) for power in (1, 2, 3, 4))
    rows = sums**2 * second - 2 * sums * third + fourth
    return Gram(second, fourth, sums**2 - second, second**2 - fourth, rows, sums * third - fourth)


def _unit_peak(columns: Any, per_column: bool) -> Any:
    """Return float64 columns divided by their largest absolute values: no fourth power overflows or vanishes."""
    columns = columns.astype(np.complex128 if np.iscomplexobj(columns) else np.float64)
    if 0 in columns.shape:
        return columns
    peaks = column_peaks(columns) if is_sparse(columns) else np.abs(columns).max(axis=0)
    peaks = peaks if per_column else np.full_like(peaks, peaks.max())
    inverse = 1.0 / np.where(peaks > 0, peaks, 1.0)
    return columns @ sparse.diags_array(inverse) if is_sparse(columns) else columns * inverse


def _real(columns: Any) -> Any:
    """Return real columns with the same Gram matrix: real and imaginary parts side by side."""
    if not np.iscomplexobj(columns):
        return columns
    parts = (columns.real, columns.imag)
    return sparse.hstack(parts, format="csr") if is_sparse(columns) else np.concatenate(parts, axis=1)


def _column_sums(columns: Any, power: int) -> FloatArray:
    powers = columns.power(power) if is_sparse(columns) else columns**power
    return np.asarray(powers.sum(axis=0), dtype=np.float64).ravel()


def _pooled(columns: Any) -> Gram:
    sums, norms = np.asarray(columns.sum(axis=0)).ravel(), np.asarray((columns * columns).sum(axis=1)).ravel()
    rows = columns @ sums - norms
    inner = columns.T @ columns
    squares = float((inner.data**2).sum() if is_sparse(inner) else (inner**2).sum())
    fourth = (norms**2).sum()
    values = (norms.sum(), fourth, (sums**2).sum() - norms.sum(), squares - fourth, (rows**2).sum(), norms @ rows)
    return Gram(*(np.array([float(value)]) for value in values))


def permutation_moments(weights: Weights, signal: Gram, level: FloatArray) -> Moments:
    """Return mean and variance of ``<x, (L - level) x>`` over all placements of the rows of a signal.

    ``S <= level`` for a placement is the same as this form being at most zero.
    """
    n_nodes = len(weights.diagonal)
    one, two, three, four = (_inverse_falling(n_nodes, k) for k in (1, 2, 3, 4))
    trace, second, mixed = _diagonal_sums(weights, level)
    total = float(weights.row_sums.sum())
    shared = float((weights.row_sums**2).sum()) - weights.squares
    mean = one * trace * signal.trace + two * total * signal.total
    # Products on the diagonals, of one with the other, and off the diagonals: equal pairs, one index shared, disjoint.
    both = one * second * signal.fourth + two * (trace**2 - second) * (signal.trace**2 - signal.fourth)
    cross = two * 2 * mixed * signal.mixed + three * (trace * total - 2 * mixed) * (
        signal.trace * signal.total - 2 * signal.mixed
    )
    touching = signal.rows - signal.squares
    apart = (total**2 - 4 * shared - 2 * weights.squares) * (signal.total**2 - 4 * touching - 2 * signal.squares)
    off = two * 2 * weights.squares * signal.squares + three * 4 * shared * touching + four * apart
    return Moments(mean, np.maximum(both + 2 * cross + off - mean**2, 0.0))


def _diagonal_sums(weights: Weights, level: FloatArray) -> FloatArray:
    """Return sums over ``d = diagonal - level * norm``, of d, d^2 and d times the row sums: one vector a time."""
    levels, position = np.unique(level, return_inverse=True)
    sums = np.empty((3, len(levels)))
    for k, value in enumerate(levels):
        diagonal = weights.diagonal - weights.norm * value
        sums[:, k] = diagonal.sum(), (diagonal**2).sum(), (weights.row_sums * diagonal).sum()
    found: FloatArray = sums[:, position]
    return found


def _inverse_falling(n_nodes: int, k: int) -> float:
    """Return ``1 / (n (n - 1) ... (n - k + 1))``; 0 where fewer than k nodes leave no term to multiply."""
    product = math.prod(range(n_nodes - k + 1, n_nodes + 1))
    return 1.0 / product if product > 0 else 0.0


def expected_s_value(op: Operator, x: Any, *, per_column: bool = False) -> float | FloatArray:
    r"""Return the expectation of S under a random permutation of the rows of ``x``, the null model of no relation.

    With :math:`q = \sum |x|^2` and the column sums t, a random permutation gives a Dirichlet energy of
    :math:`q\,\mathrm{tr} L / n + (|t|^2 - q)(1^T L 1 - \mathrm{tr} L) / (n(n - 1))` in the mean. On a normalised
    Laplacian it is close to 1 for signals of zero mean, and closer to 0 the more constant a signal is: random
    one-hot labels of two classes on a ring have 0.5.

    Parameters
    ----------
    op : Operator
        A high channel.
    x : array_like or sparse, shape (n_nodes,) or (n_nodes, n_signals)
        Rows are moved as a whole.
    per_column : bool
        One value per signal; a zero column gives nan and a warning.

    Returns
    -------
    float or ndarray, shape (n_signals,)
        Exact for combinatorial and symmetric families. For random-walk families, where the norm changes with the
        placement too, the expectation of the ratio to second order.

    Raises
    ------
    ParameterError
        ``op`` is a low channel.
    SignalError
        ``x`` has the wrong length, is not finite, or is zero everywhere.

    See Also
    --------
    s_value : The measured value.
    s_value_significance : How often a random placement is as smooth.

    Examples
    --------
    >>> from gsp_fb import Graph, operator
    >>> edge = operator(Graph.from_edges([(0, 1)], n_nodes=3), "comb", channel="high")
    >>> round(expected_s_value(edge, [1.0, 0.0, 0.0]), 6)
    0.666667
    """
    x = op.graph.check_signal(x)
    weights, signal = weights_of(op), gram(x, per_column)
    _refuse_zero(signal.trace, per_column)
    found = expected_ratio(weights, signal)
    everything: FloatArray = asarray_like(found, op.diag)
    return everything if per_column else float(found[0])


def expected_ratio(weights: Weights, signal: Gram) -> FloatArray:
    """Return the expected S, nan for a signal that is zero: exact where the norm does not depend on the placement.

    Otherwise ``E[N / D]`` is taken to second order: ``E[N] / E[D]`` less ``(cov(N, D) - E[N] / E[D] var(D)) / E[D]^2``.
    """
    n_nodes, zero = len(weights.diagonal), np.zeros_like(signal.trace)
    below = _inverse_falling(n_nodes, 1) * weights.norm.sum() * signal.trace
    center = permutation_moments(weights, signal, zero)
    ratio = np.divide(center.mean, below, out=np.full_like(below, np.nan), where=below > 0)
    if np.all(weights.norm == weights.norm[:1]):
        return np.asarray(ratio)
    # var(N - l D) is a parabola in l, which three values give.
    left, right = (permutation_moments(weights, signal, zero + level).variance for level in (-1.0, 1.0))
    covariance, spread = (left - right) / 4, (left + right) / 2 - center.variance
    bias = np.divide(covariance - ratio * spread, below**2, out=np.zeros_like(below), where=below > 0)
    return np.asarray(ratio - bias)


def _refuse_zero(energy: FloatArray, per_column: bool) -> None:
    empty = np.flatnonzero(energy == 0)
    if len(empty) and not per_column:
        raise SignalError("signal is zero everywhere; S is undefined")
    if len(empty):
        warnings.warn(f"signal column {empty[0]} is zero everywhere; its S-value is nan", GspWarning, stacklevel=3)
