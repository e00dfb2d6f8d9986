"""Energies and S-values of signals over the ranks: local sums of squares and forms, added up."""

from __future__ import annotations

import math
import warnings
from typing import Any

import numpy as np

from .._kernels import quadratic_form
from ..backend import FloatArray, Signal, abs_squared
from ..energy.dirichlet import safe_factor
from ..errors import GspWarning, ParameterError, SignalError
from ..operators import Operator
from ._mpi import allreduce_max, allreduce_sum
from .graph import DistributedGraph, distributed_graph
from .signals import check_rows

__all__ = ["dirichlet_energy", "nonsmooth_energy", "s_value", "signal_energy"]


def _scaled(graph: DistributedGraph, x: Any) -> tuple[Signal, FloatArray]:
    """Return the own rows as float64 columns without danger of overflow, and the factor taken from each column."""
    rows = check_rows(graph, x)
    columns = rows.reshape(graph.n_local, math.prod(rows.shape[1:]))
    wide = columns.astype(np.result_type(columns.dtype, np.float64))
    peaks = [np.max(np.abs(part), axis=0, initial=0.0) for part in (wide.real, wide.imag)]
    factors = np.array([safe_factor(float(peak)) for peak in allreduce_max(graph.comm, np.maximum(*peaks))])
    return wide / factors, factors


def _squares(graph: DistributedGraph, columns: Signal) -> FloatArray:
    sums: FloatArray = allreduce_sum(graph.comm, abs_squared(columns).sum(axis=0))
    return sums


def _forms(laplacian: Operator, columns: Signal) -> FloatArray:
    with np.errstate(over="ignore", invalid="ignore"):  # an overflow is reported by value, not by a warning
        parts = quadratic_form(laplacian.graph, columns, laplacian.left, laplacian.right, laplacian.diag)
    sums: FloatArray = allreduce_sum(distributed_graph(laplacian).comm, parts)
    return sums


def _energy(columns: FloatArray, factors: FloatArray, per_column: bool) -> float | FloatArray:
    with np.errstate(over="ignore", invalid="ignore"):
        unscaled = columns * factors * factors
        energy = unscaled if per_column else float(unscaled.sum())
    if not np.all(np.isfinite(energy)):
        raise SignalError("the energy of this signal overflows float64; rescale it")
    return energy


def _high(laplacian: Operator) -> DistributedGraph:
    if laplacian.channel != "high":
        raise ParameterError(
            f"energies are those of a high channel, not of {laplacian!r}; use operator(..., channel='high')"
        )
    return distributed_graph(laplacian)


def signal_energy(graph: DistributedGraph, x: Any, *, per_column: bool = False) -> float | FloatArray:
    """Return E(x) = tr(x* x) over all ranks; see :func:`s_value` for the parameters. Collective.

    Examples
    --------
    On one rank, which has all rows:

    >>> from gsp_fb.distributed import open_graph
    >>> import tempfile
    >>> from gsp_fb import Graph
    >>> from gsp_fb.outofcore import write_folder
    >>> folder = tempfile.mkdtemp()
    >>> write_folder(Graph.from_edges([(0, 1), (1, 2)]), f"{folder}/path.npyd")
    >>> graph = open_graph(f"{folder}/path.npyd")
    >>> signal_energy(graph, [0.0, 1.0, 3.0])
    10.0
    """
    columns, factors = _scaled(graph, x)
    return _energy(_squares(graph, columns), factors, per_column)


def dirichlet_energy(laplacian: Operator, x: Any, *, per_column: bool = False) -> float | FloatArray:
    """Return E_S(x) = tr(x* L x), as :func:`gsp_fb.dirichlet_energy`; see :func:`s_value`. Collective.

    Examples
    --------
    On one rank, which has all rows:

    >>> from gsp_fb.distributed import open_graph, operator
    >>> import tempfile
    >>> from gsp_fb import Graph
    >>> from gsp_fb.outofcore import write_folder
    >>> folder = tempfile.mkdtemp()
    >>> write_folder(Graph.from_edges([(0, 1), (1, 2)]), f"{folder}/path.npyd")
    >>> graph = open_graph(f"{folder}/path.npyd")
    >>> dirichlet_energy(operator(graph, "comb", "high"), [0.0, 1.0, 3.0])
    5.0
    """
    columns, factors = _scaled(_high(laplacian), x)
    return _energy(_forms(laplacian, columns), factors, per_column)


def nonsmooth_energy(laplacian: Operator, x: Any, *, per_column: bool = False) -> float | FloatArray:
    """Return E_NS(x) = tr(x* (I - L) x), as :func:`gsp_fb.nonsmooth_energy`; see :func:`s_value`. Collective.

    Examples
    --------
    On one rank, which has all rows:

    >>> from gsp_fb.distributed import open_graph, operator
    >>> import tempfile
    >>> from gsp_fb import Graph
    >>> from gsp_fb.outofcore import write_folder
    >>> folder = tempfile.mkdtemp()
    >>> write_folder(Graph.from_edges([(0, 1), (1, 2)]), f"{folder}/path.npyd")
    >>> graph = open_graph(f"{folder}/path.npyd")
    >>> nonsmooth_energy(operator(graph, "comb", "high"), [0.0, 1.0, 3.0])
    5.0
    """
    graph = _high(laplacian)
    columns, factors = _scaled(graph, x)
    return _energy(_squares(graph, columns) - _forms(laplacian, columns), factors, per_column)


def s_value(laplacian: Operator, x: Any, *, per_column: bool = False) -> float | FloatArray:
    """Return S(x) = tr(x* L x) / tr(x* x) over all ranks. Collective; every rank gets the result.

    Parameters
    ----------
    laplacian : Operator
        A high channel of a distributed graph.
    x : array_like, shape (n_local,) or (n_local, n_signals)
        The rows of this rank.
    per_column : bool
        One value per signal instead of the ratio of traces; a zero column gives nan and a warning.

    Raises
    ------
    SignalError
        ``x`` has the wrong length, is not finite, or is zero everywhere; on every rank.

    Examples
    --------
    On one rank, which has all rows:

    >>> from gsp_fb.distributed import open_graph, operator
    >>> import tempfile
    >>> from gsp_fb import Graph
    >>> from gsp_fb.outofcore import write_folder
    >>> folder = tempfile.mkdtemp()
    >>> write_folder(Graph.from_edges([(0, 1), (1, 2)]), f"{folder}/path.npyd")
    >>> graph = open_graph(f"{folder}/path.npyd")
    >>> round(s_value(operator(graph, "sym", "high"), [1.0, 1.0, 1.0]), 4)
    0.0572
    """
    graph = _high(laplacian)
    columns, factors = _scaled(graph, x)
    smooth, squares = _forms(laplacian, columns), _squares(graph, columns)
    if not np.all(np.isfinite(smooth)):
        raise SignalError("the quadratic form overflows float64: the degrees are too large; rescale the weights")
    empty = squares == 0
    if empty.all() and not per_column:
        raise SignalError("signal is zero everywhere; S = E_S / E is undefined")
    if not per_column:
        shares = (factors / factors.max()) ** 2
        return float((smooth * shares).sum() / (squares * shares).sum())
    if empty.any():
        first = int(np.flatnonzero(empty)[0])
        warnings.warn(f"signal column {first} is zero everywhere; its S-value is nan", GspWarning, stacklevel=2)
    ratio: FloatArray = np.where(empty, np.nan, smooth / np.where(empty, 1.0, squares))
    return ratio
