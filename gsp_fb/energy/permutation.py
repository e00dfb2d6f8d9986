r"""What a random placement of a signal's rows on the nodes would give: exact moments of quadratic forms.

With a symmetric matrix M and the rows of x placed by a random permutation :math:`\pi`, the form
:math:`T = \sum_{ij} M_{ij} \langle x_{\pi(i)}, x_{\pi(j)}\rangle` is a sum over the entries of two matrices, M and
the Gram matrix B of the rows. Its mean and variance follow from sums over one, two, three and four distinct indices
of each, as in Mantel's test [1]_; the diagonals are kept here.

.. [1] N. Mantel, "The detection of disease clustering and a generalized regression approach", Cancer Research 27, 1967.
"""

from __future__ import annotations

import math
import warnings
from typing import Any

import numpy as np

from ..backend import FloatArray, asarray_like
from ..errors import GspWarning, SignalError
from ..operators import Operator
from ._sums import Gram, Weights, gram, weights_of

__all__ = ["expected_ratio", "expected_s_value", "permutation_moments"]


def permutation_moments(weights: Weights, signal: Gram, level: FloatArray) -> tuple[FloatArray, FloatArray]:
    """Return mean and variance of ``<x, (L - level) x>`` over all placements of the rows, one entry a signal.

    ``S <= level`` for a placement is the same as this form being at most zero. In units of ``weights.unit``.
    """
    n_nodes = weights.graph.n_nodes
    one, two, three, four = (_inverse_falling(n_nodes, k) for k in (1, 2, 3, 4))
    trace, second, mixed = _diagonal_sums(weights, level)
    total, second_rows = weights.sums(weights.row_sums, weights.row_sums**2)
    shared = second_rows - weights.squares
    mean = one * trace * signal.trace + two * total * signal.total
    # Products on the diagonals, of one with the other, and off the diagonals: equal pairs, one index shared, disjoint.
    both = one * second * signal.fourth + two * (trace**2 - second) * (signal.trace**2 - signal.fourth)
    cross = two * 2 * mixed * signal.mixed + three * (trace * total - 2 * mixed) * (
        signal.trace * signal.total - 2 * signal.mixed
    )
    touching = signal.rows - signal.squares
    apart = (total**2 - 4 * shared - 2 * weights.squares) * (signal.total**2 - 4 * touching - 2 * signal.squares)
    off = two * 2 * weights.squares * signal.squares + three * 4 * shared * touching + four * apart
    return mean, np.maximum(both + 2 * cross + off - mean**2, 0.0)


def _diagonal_sums(weights: Weights, level: FloatArray) -> FloatArray:
    """Return sums over ``d = diagonal - level * norm``, of d, d^2 and d times the row sums: one vector a time."""
    levels, position = np.unique(level, return_inverse=True)
    sums = np.empty((3, len(levels)))
    for k, value in enumerate(levels):
        diagonal = weights.diagonal - weights.norm * value
        sums[:, k] = weights.sums(diagonal, diagonal**2, weights.row_sums * diagonal)
    return np.asarray(sums[:, position])


def _inverse_falling(n_nodes: int, k: int) -> float:
    """Return ``1 / (n (n - 1) ... (n - k + 1))``; 0 where fewer than k nodes leave no term to multiply."""
    product = math.prod(range(n_nodes - k + 1, n_nodes + 1))
    return 1.0 / product if product > 0 else 0.0


def expected_s_value(op: Operator, x: Any, *, per_column: bool = False) -> float | FloatArray:
    r"""Return the expectation of S under a random permutation of the rows of ``x``, the null model of no relation.

    With :math:`q = \sum |x|^2` and the column sums t, a random permutation gives a Dirichlet energy of
    :math:`q\,\mathrm{tr} L / n + (|t|^2 - q)(1^T L 1 - \mathrm{tr} L) / (n(n - 1))` in the mean. On a normalised
    Laplacian signals of zero mean have about 1, more constant ones less: two one-hot classes on a ring have 0.5.

    Parameters
    ----------
    op, x, per_column
        As in :func:`s_value`; rows of ``x`` are moved as a whole.

    Returns
    -------
    float or ndarray, shape (n_signals,)
        Exact for combinatorial and symmetric families. For random-walk families, where the norm changes with the
        placement too, the expectation of the ratio to second order.

    Raises
    ------
    ParameterError, SignalError
        As :func:`s_value`.

    See Also
    --------
    s_value : The measured value.
    s_value_significance : How often a random placement is as smooth.

    Examples
    --------
    >>> from gsp_fb import datasets, operator
    >>> round(expected_s_value(operator(datasets.path(3), "comb", channel="high"), [1.0, 0.0, 0.0]), 6)
    1.333333
    """
    weights = weights_of(op, mean_only=True)
    signal = gram(op.graph, x, per_column, mean_only=not weights.varies)
    empty = np.flatnonzero(signal.trace == 0)
    if len(empty):
        if not per_column:
            raise SignalError("signal is zero everywhere; S is undefined")
        warnings.warn(f"signal column {empty[0]} is zero everywhere; its S-value is nan", GspWarning, stacklevel=2)
    found = expected_ratio(weights, signal)
    everything: FloatArray = asarray_like(found, op.diag)
    return everything if per_column else float(found[0])


def expected_ratio(weights: Weights, signal: Gram) -> FloatArray:
    """Return the expected S, nan for a signal that is zero: exact where the norm does not depend on the placement.

    Otherwise ``E[N / D]`` is taken to second order: ``E[N] / E[D]`` less ``(cov(N, D) - E[N] / E[D] var(D)) / E[D]^2``.
    """
    zero, inverse = np.zeros_like(signal.trace), [_inverse_falling(weights.graph.n_nodes, k) for k in (1, 2)]
    trace, total, norm = weights.sums(weights.diagonal, weights.row_sums, weights.norm)
    mean = inverse[0] * trace * signal.trace + inverse[1] * total * signal.total
    below = inverse[0] * norm * signal.trace
    ratio = np.divide(mean, below, out=np.full_like(below, np.nan), where=below > 0)
    if not weights.varies:
        return np.asarray(ratio)
    # var(N - l D) is a parabola in l, which three values give.
    left, middle, right = (permutation_moments(weights, signal, zero + level)[1] for level in (-1.0, 0.0, 1.0))
    covariance, spread = (left - right) / 4, (left + right) / 2 - middle
    bias = np.divide(covariance - ratio * spread, below**2, out=np.zeros_like(below), where=below > 0)
    return np.asarray(ratio - bias)
