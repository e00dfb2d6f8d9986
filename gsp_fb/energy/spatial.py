"""Spatial autocorrelation of signals: Moran's I and Geary's C, with the edges of a graph as spatial weights."""

from __future__ import annotations

import warnings
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np

from .._kernels import quadratic_form
from ..backend import FloatArray, Signal, abs_squared, asarray_like, cast, group_sum, is_sparse, namespace, product
from ..errors import GraphError, GspWarning, SignalError
from ..graph import Graph

__all__ = ["gearys_c", "morans_i"]

# Columns of a dense block that are centred at a time, so that no copy of all signals is made.
BLOCK_COLUMNS = 64


@dataclass(frozen=True, eq=False)
class _Sums:
    """Per column of a signal, ``z`` being the deviations from its mean: sums over the nodes and over the edges."""

    variance: FloatArray
    products: FloatArray
    differences: FloatArray


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
        :math:`-1/(n - 1)` is expected of values without a relation to the graph, more means similar neighbours. A
        constant signal gives nan and a warning.

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
    >>> path = Graph.from_edges([(0, 1), (1, 2), (2, 3)])
    >>> round(morans_i(path, [1.0, 2.0, 3.0, 4.0]), 6)
    0.333333
    """
    return _statistic(graph, x, lambda sums, n_nodes, weight: n_nodes / weight * sums.products / sums.variance)


def gearys_c(graph: Graph, x: Any) -> float | FloatArray:
    r"""Return Geary's C: squared differences between neighbours relative to those between any two nodes.

    .. math:: C = \frac{n - 1}{2W} \frac{\sum_{ij} w_{ij} (x_i - x_j)^2}{\sum_i (x_i - \bar x)^2},
       \quad W = \sum_{ij} w_{ij}

    Parameters
    ----------
    graph : Graph
        Weights :math:`w_{ij}`; self-loops do not count. Of a directed graph every arc counts once.
    x : array_like or sparse, shape (n_nodes,) or (n_nodes, n_signals)
        Real.

    Returns
    -------
    float, or float64 array of shape (n_signals,) for a block
        1 is expected of values without a relation to the graph, less means similar neighbours. A constant signal gives
        nan and a warning.

    Raises
    ------
    GraphError
        The graph has no edges but loops.
    SignalError
        ``x`` has the wrong length, is not finite, or is complex.

    See Also
    --------
    morans_i : Products instead of squared differences.
    s_value : The same ratio for any Laplacian, without subtracting the mean.

    References
    ----------
    .. [1] R. C. Geary, "The contiguity ratio and statistical mapping", The Incorporated Statistician 5, 1954.

    Examples
    --------
    >>> path = Graph.from_edges([(0, 1), (1, 2), (2, 3)])
    >>> round(gearys_c(path, [1.0, 2.0, 3.0, 4.0]), 6)
    0.3
    """
    return _statistic(
        graph, x, lambda sums, n_nodes, weight: (n_nodes - 1) / (2 * weight) * sums.differences / sums.variance
    )


def _statistic(graph: Graph, x: Any, formula: Callable[[_Sums, int, float], FloatArray]) -> float | FloatArray:
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
    sums = (_sparse_sums if is_sparse(columns) else _dense_sums)(graph, columns, around + reached)
    with np.errstate(invalid="ignore", divide="ignore"):
        found = xp.where(sums.variance > 0, formula(sums, graph.n_nodes, weight), xp.nan)
    constant = xp.nonzero(sums.variance == 0)[0]
    if constant.shape[0]:
        warnings.warn(f"signal column {int(constant[0])} is constant; its value is nan", GspWarning, stacklevel=3)
    return float(found[0]) if signal.ndim == 1 else found


def _forms(graph: Graph, columns: Signal) -> FloatArray:
    """Return ``x' A x`` of each column."""
    ones = namespace(graph.degrees).ones_like(graph.degrees)
    return quadratic_form(graph, columns, ones, ones, 0.0 * ones)


def _dense_sums(graph: Graph, columns: Any, weights: FloatArray) -> _Sums:
    xp = namespace(columns)
    starts = range(0, max(columns.shape[1], 1), BLOCK_COLUMNS)
    blocks = [_centred_sums(graph, columns[:, start : start + BLOCK_COLUMNS], weights) for start in starts]
    return _Sums(*(xp.concat([getattr(block, name) for block in blocks]) for name in _Sums.__annotations__))


def _centred_sums(graph: Graph, block: Any, weights: FloatArray) -> _Sums:
    xp = namespace(block)
    z = cast(block, xp.float64)
    peak = xp.max(xp.abs(z), axis=0)
    z = z - xp.mean(z, axis=0)
    # What rounding leaves of a constant is no variation.
    z = xp.where(xp.max(xp.abs(z), axis=0) > 64 * np.finfo(np.float64).eps * peak, z, 0.0)
    squares = abs_squared(z)
    products = _forms(graph, z) - xp.sum(graph.loop_weights[:, None] * squares, axis=0)
    differences = xp.sum(weights[:, None] * squares, axis=0) - 2 * products
    return _Sums(xp.sum(squares, axis=0), products, differences)


def _sparse_sums(graph: Graph, columns: Any, weights: FloatArray) -> _Sums:
    """Return the sums from those over the entries: the mean is subtracted from the sums, not from the signal."""
    xp, n_nodes, n_columns = namespace(columns.data), columns.shape[0], columns.shape[1]
    rows = xp.repeat(xp.arange(n_nodes), columns.indptr[1:] - columns.indptr[:-1])
    values = cast(columns.data, xp.float64)

    def summed(node_weights: FloatArray, power: int) -> FloatArray:
        sums: FloatArray = group_sum(columns.indices, node_weights[rows] * values**power, n_columns)
        return sums

    ones = asarray_like(np.ones(n_nodes), values)
    first, second = summed(ones, 1), summed(ones, 2)
    mean = first / n_nodes
    variance = second - n_nodes * mean**2
    variance = xp.where(variance > 1e-14 * n_nodes * second, variance, 0.0)
    between = _forms(graph, columns) - summed(graph.loop_weights, 2)
    total = float(xp.sum(weights))
    products = between - mean * summed(weights, 1) + mean**2 * total / 2
    return _Sums(variance, products, summed(weights, 2) - 2 * between)
