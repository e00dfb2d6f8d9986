"""Spatial autocorrelation of signals: Moran's I and Geary's C, with the edges of a graph as spatial weights."""

from __future__ import annotations

import warnings
from typing import Any

import numpy as np

from .._kernels import quadratic_form
from ..backend import FloatArray, abs_squared, cast, csr, is_sparse, namespace, product
from ..errors import GraphError, GspWarning, SignalError
from ..graph import Graph

__all__ = ["gearys_c", "morans_i"]

# Columns of a dense block that are centred at a time, so that no copy of all signals is made.
BLOCK_COLUMNS = 64


# The vectors of a form ``diag(left) A + diag(diagonal)``, and its row sums; None if a constant has the form zero.
Form = tuple[FloatArray, FloatArray, FloatArray | None]


def morans_i(graph: Graph, x: Any) -> float | FloatArray:
    r"""Return Moran's I: the correlation of a signal with its neighbours' values.

    .. math:: I = \frac{n}{W} \frac{\sum_{ij} w_{ij} z_i z_j}{\sum_i z_i^2}, \quad z = x - \bar x,\ W = \sum_{ij} w_{ij}

    Parameters
    ----------
    graph : Graph
        Weights :math:`w_{ij}`; self-loops do not count. Of a directed graph every arc counts once.
    x : array_like or sparse, shape (n_nodes,) or (n_nodes, n_signals)
        Real.

    Returns
    -------
    float, or float64 array of shape (n_signals,) for a block
        :math:`-1/(n - 1)` is expected of unrelated values, more means similar neighbours. A constant
        signal gives nan and a warning.

    Raises
    ------
    GraphError
        The graph has no edges but loops.
    SignalError
        ``x`` has the wrong length, is not finite, or is complex.

    See Also
    --------
    gearys_c : Squared differences instead of products.
    s_value_significance : A test of the same question for any Laplacian.

    References
    ----------
    .. [1] P. A. P. Moran, "Notes on continuous stochastic phenomena", Biometrika 37, 1950.

    Examples
    --------
    >>> round(morans_i(Graph.from_edges([(0, 1), (1, 2), (2, 3)]), [1.0, 2.0, 3.0, 4.0]), 6)
    0.333333
    """
    return _statistic(graph, x, laplacian=False)


def gearys_c(graph: Graph, x: Any) -> float | FloatArray:
    r"""Return Geary's C: squared differences between neighbours relative to those between any two nodes.

    .. math:: C = \frac{n - 1}{2W} \frac{\sum_{ij} w_{ij} (x_i - x_j)^2}{\sum_i (x_i - \bar x)^2},
       \quad W = \sum_{ij} w_{ij}

    Parameters
    ----------
    graph, x
        As in :func:`morans_i`.

    Returns
    -------
    float, or float64 array of shape (n_signals,) for a block
        1 is expected of unrelated values, less means similar neighbours. A constant signal has nan, and a warning.

    Raises
    ------
    GraphError, SignalError
        As in :func:`morans_i`.

    See Also
    --------
    morans_i : Products instead of squared differences.
    s_value : The same ratio for any Laplacian, without subtracting the mean.

    References
    ----------
    .. [1] R. C. Geary, "The contiguity ratio and statistical mapping", The Incorporated Statistician 5, 1954.

    Examples
    --------
    >>> round(gearys_c(Graph.from_edges([(0, 1), (1, 2), (2, 3)]), [1.0, 2.0, 3.0, 4.0]), 6)
    0.3
    """
    return _statistic(graph, x, laplacian=True)


def _statistic(graph: Graph, x: Any, *, laplacian: bool) -> float | FloatArray:
    graph.check_unsigned("a spatial autocorrelation")
    signal = graph.check_signal(x)
    xp = namespace(signal.data if is_sparse(signal) else signal)
    if xp.isdtype(signal.dtype, "complex floating"):
        raise SignalError("the signal is complex; Moran's I and Geary's C are those of real values")
    columns = signal[:, None] if signal.ndim == 1 else signal
    ones = xp.ones_like(graph.degrees)
    around = product(graph.adjacency, ones) - graph.loop_weights
    weight = float(xp.sum(around))
    if weight == 0:
        raise GraphError("the graph has no edges but loops, so nothing states which nodes are neighbours; add edges")
    reached = product(graph.transposed.adjacency, ones) - graph.loop_weights if graph.directed else around
    ends = (around + reached) / 2
    # Without loops, A has the row sums ``ends`` on average over both directions; D - A has none.
    form = (-ones, ends + graph.loop_weights, None) if laplacian else (ones, -graph.loop_weights, ends)
    variance, forms = (_sparse_sums if is_sparse(columns) else _dense_sums)(graph, columns, form)
    with np.errstate(invalid="ignore", divide="ignore"):
        found = xp.where(variance > 0, (graph.n_nodes - laplacian) / weight * forms / variance, xp.nan)
    constant = xp.nonzero(variance == 0)[0]
    if constant.shape[0]:
        warnings.warn(f"signal column {int(constant[0])} is constant; its value is nan", GspWarning, stacklevel=3)
    return float(found[0]) if signal.ndim == 1 else found


def _dense_sums(graph: Graph, columns: Any, form: Form) -> tuple[FloatArray, FloatArray]:
    xp, (left, diagonal, _), variances, forms = namespace(columns), form, [], []
    for start in range(0, max(columns.shape[1], 1), BLOCK_COLUMNS):
        z = cast(columns[:, start : start + BLOCK_COLUMNS], xp.float64)
        peak = xp.max(xp.abs(z), axis=0)
        z = z - xp.mean(z, axis=0)
        # What rounding leaves of a constant is no variation.
        z = xp.where(xp.max(xp.abs(z), axis=0) > 64 * np.finfo(np.float64).eps * peak, z, 0.0)
        variances.append(xp.sum(abs_squared(z), axis=0))
        forms.append(quadratic_form(graph, z, left, xp.ones_like(left), diagonal))
    return xp.concat(variances), xp.concat(forms)


def _sparse_sums(graph: Graph, columns: Any, form: Form) -> tuple[FloatArray, FloatArray]:
    """Return the sums from those over the entries: the mean is subtracted from the sums, not from the signal."""
    xp, n_nodes, (left, diagonal, row_sums) = namespace(columns.data), columns.shape[0], form
    values, ones = cast(columns.data, xp.float64), xp.ones_like(left)
    mean = column_sums(columns, values, ones) / n_nodes
    second = column_sums(columns, values * values, ones)
    variance = second - n_nodes * mean**2
    variance = xp.where(variance > 1e-14 * n_nodes * second, variance, 0.0)
    forms = quadratic_form(graph, columns, left, ones, diagonal)
    if row_sums is not None:
        forms = forms - 2 * mean * column_sums(columns, values, row_sums) + mean**2 * float(xp.sum(row_sums))
    return variance, forms


def column_sums(columns: Any, values: FloatArray, weights: FloatArray) -> Any:
    """Return the weighted sum of ``values`` in each column of a CSR pattern."""
    return product(csr(values, columns.indices, columns.indptr, columns.shape).T, weights)
