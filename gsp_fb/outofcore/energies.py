"""Energies and S-values of signals of any width on stored graphs: sums over blocks of columns."""

from __future__ import annotations

import warnings
from collections.abc import Callable
from functools import partial
from typing import Any

import numpy as np

from .. import energy
from ..backend import FloatArray, Signal
from ..errors import GspWarning, SignalError
from ..operators import Operator
from .graph import StoredGraph
from .signals import as_stored, column_blocks, stored_graph

__all__ = ["dirichlet_energy", "nonsmooth_energy", "s_value", "signal_energy"]

PerColumn = Callable[[Signal], Any]


def _columns(graph: StoredGraph, x: Any, *measures: PerColumn) -> list[FloatArray]:
    """Return what each of ``measures`` says of every column, all of them at one reading of the signal."""
    parts = [[measure(block) for measure in measures] for _, block in column_blocks(graph, as_stored(x))]
    return [np.concatenate(part) for part in zip(*parts, strict=True)]


def _total(columns: FloatArray, per_column: bool) -> float | FloatArray:
    return columns if per_column else float(columns.sum())


_squares = partial(energy.signal_energy, per_column=True)


def signal_energy(graph: StoredGraph, x: Any, *, per_column: bool = False) -> float | FloatArray:
    """Return E(x) = tr(x* x); the graph says how much of ``x`` may be in memory, and enters no further.

    See :func:`s_value` for the other parameters.

    Examples
    --------
    >>> import tempfile
    >>> from gsp_fb import Graph
    >>> from gsp_fb.outofcore import open_graph, write_folder
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     write_folder(Graph.from_edges([(0, 1), (1, 2)]), f"{folder}/path.npyd")
    ...     signal_energy(open_graph(f"{folder}/path.npyd", memory_limit="1MB"), [0.0, 1.0, 3.0])
    10.0
    """
    return _total(_columns(graph, x, _squares)[0], per_column)


def dirichlet_energy(laplacian: Operator, x: Any, *, per_column: bool = False) -> float | FloatArray:
    """Return E_S(x) = tr(x* L x), as :func:`gsp_fb.dirichlet_energy`; see :func:`s_value` for the parameters.

    Examples
    --------
    >>> import tempfile
    >>> from gsp_fb import Graph, operator
    >>> from gsp_fb.outofcore import open_graph, write_folder
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     write_folder(Graph.from_edges([(0, 1), (1, 2)]), f"{folder}/path.npyd")
    ...     op = operator(open_graph(f"{folder}/path.npyd", memory_limit="1MB"), "comb", channel="high")
    ...     dirichlet_energy(op, [0.0, 1.0, 3.0])
    5.0
    """
    form = partial(energy.dirichlet_energy, laplacian, per_column=True)
    return _total(_columns(stored_graph(laplacian), x, form)[0], per_column)


def nonsmooth_energy(laplacian: Operator, x: Any, *, per_column: bool = False) -> float | FloatArray:
    """Return E_NS(x) = tr(x* (I - L) x), as :func:`gsp_fb.nonsmooth_energy`; see :func:`s_value` for the parameters.

    Examples
    --------
    >>> import tempfile
    >>> from gsp_fb import Graph, operator
    >>> from gsp_fb.outofcore import open_graph, write_folder
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     write_folder(Graph.from_edges([(0, 1), (1, 2)]), f"{folder}/path.npyd")
    ...     op = operator(open_graph(f"{folder}/path.npyd", memory_limit="1MB"), "comb", channel="high")
    ...     nonsmooth_energy(op, [0.0, 1.0, 3.0])
    5.0
    """
    form = partial(energy.nonsmooth_energy, laplacian, per_column=True)
    return _total(_columns(stored_graph(laplacian), x, form)[0], per_column)


def s_value(laplacian: Operator, x: Any, *, per_column: bool = False) -> float | FloatArray:
    """Return S(x) = tr(x* L x) / tr(x* x) in one pass over the edges for each block of columns.

    Parameters
    ----------
    laplacian : Operator
        A high channel of a stored graph.
    x : array_like, sparse, StoredArray or path of a ``.npy`` file, shape (n_nodes,) or (n_nodes, n_signals)
    per_column : bool
        One value per signal instead of the ratio of traces; a zero column gives nan and a warning.

    Raises
    ------
    SignalError
        ``x`` has the wrong length, is not finite, or is zero everywhere.
    ParameterError
        Not even one column fits the memory limit.

    Examples
    --------
    >>> import tempfile
    >>> from gsp_fb import Graph, operator
    >>> from gsp_fb.outofcore import open_graph, write_folder
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     write_folder(Graph.from_edges([(0, 1), (1, 2)]), f"{folder}/path.npyd")
    ...     op = operator(open_graph(f"{folder}/path.npyd", memory_limit="1MB"), "sym", channel="high")
    ...     round(s_value(op, [1.0, 1.0, 1.0]), 4)
    0.0572
    """
    form = partial(energy.dirichlet_energy, laplacian, per_column=True)
    smooth, total = _columns(stored_graph(laplacian), x, form, _squares)
    if not per_column and not total.any():
        raise SignalError("signal is zero everywhere; S = E_S / E is undefined")
    if not per_column:
        return float(smooth.sum() / total.sum())
    empty = total == 0
    if empty.any():
        first = int(np.flatnonzero(empty)[0])
        warnings.warn(f"signal column {first} is zero everywhere; its S-value is nan", GspWarning, stacklevel=2)
    ratio: FloatArray = np.where(empty, np.nan, smooth / np.where(empty, 1.0, total))
    return ratio
