"""Signals of any width: blocks of columns that fit the memory, from an array or a file, to an array or a file."""

from __future__ import annotations

import math
import os
from collections.abc import Callable, Iterable, Iterator
from dataclasses import replace
from itertools import chain
from typing import Any

import numpy as np

from .._arguments import host_array
from ..backend import Signal, is_sparse
from ..errors import ParameterError, SignalError
from ..filters import FilterBank
from ..operators import Operator
from ._arrays import StoredArray, new_array
from .graph import StoredGraph

__all__ = ["PRODUCT_COPIES", "analyze", "as_stored", "column_blocks", "multiply", "stored_graph"]

# Arrays as large as the block of columns that are alive at the peak of a product or a quadratic form, the block
# itself included; a bank holds as many, the two last vectors of its recurrence, and twice its outputs.
PRODUCT_COPIES = 7
BANK_COPIES, BANK_COPIES_PER_FILTER = 9, 2


def stored_graph(op: Operator) -> StoredGraph:
    """Return the stored graph of an operator, or say that there is none."""
    graph: Any = op.graph
    if not isinstance(graph, StoredGraph):
        raise ParameterError(f"{op!r} is not on a stored graph; open one with gsp_fb.outofcore.open_graph")
    return graph


def as_stored(x: Any) -> Any:
    """Return ``x`` ready to be cut into columns: a path becomes a stored array, a list an array."""
    if isinstance(x, str | os.PathLike):
        return StoredArray.open(x)
    return x if isinstance(x, StoredArray) or is_sparse(x) else host_array(x, SignalError, "signal")


def column_blocks(
    graph: StoredGraph, x: Any, *, copies: int = PRODUCT_COPIES, reserved: int = 0
) -> Iterator[tuple[int, Signal]]:
    """Yield the columns of ``x`` in blocks that fit the memory limit ``copies`` times, each with its first column.

    Parameters
    ----------
    graph : StoredGraph
    x : array, sparse or StoredArray, shape (n_nodes,) or (n_nodes, n_signals)
        A sparse signal comes in one piece.
    copies : int
        Arrays of the size of a block that the work on it needs.
    reserved : int
        Bytes that are taken already.
    """
    if is_sparse(x):
        yield 0, x
        return
    width = graph.budget.columns(copies, x.dtype.itemsize, reserved=reserved)
    # What is no signal of this graph goes on as it is, to the function that says what is wrong with it.
    if x.ndim != 2 or x.shape[0] != graph.n_nodes or x.shape[1] <= width:
        yield 0, np.asarray(x) if isinstance(x, StoredArray) else x
        return
    for start in range(0, x.shape[1], width):
        stop = min(start + width, x.shape[1])
        yield (
            start,
            x.columns(start, stop, chunk=graph.budget.chunk) if isinstance(x, StoredArray) else x[:, start:stop],
        )


def multiply(op: Operator, x: Any, *, out: str | os.PathLike[str] | None = None) -> Any:
    """Return ``op @ x`` for a signal of any width, a block of columns and a chunk of rows at a time.

    Parameters
    ----------
    op : Operator
        Of a stored graph.
    x : array_like, sparse, StoredArray or path of a ``.npy`` file, shape (n_nodes,) or (n_nodes, n_signals)
    out : path_like, optional
        A ``.npy`` file to write instead of returning an array; columns are contiguous in it (Fortran order).

    Returns
    -------
    array, or StoredArray if ``out`` is given

    Examples
    --------
    >>> import tempfile
    >>> from gsp_fb import Graph, operator
    >>> from gsp_fb.outofcore import open_graph, write_folder
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     write_folder(Graph.from_edges([(0, 1), (1, 2)]), f"{folder}/path.npyd")
    ...     op = operator(open_graph(f"{folder}/path.npyd", memory_limit="1MB"), "rw")
    ...     multiply(op, [1.0, 5.0, 3.0], out=f"{folder}/y.npy").rows(0, 3).tolist()
    [5.0, 2.0, 5.0]
    """
    return _collect(stored_graph(op), as_stored(x), lambda block: op @ block, copies=PRODUCT_COPIES, out=out)


def analyze(bank: FilterBank, x: Any, *, out: str | os.PathLike[str] | None = None) -> Any:
    r"""Return :math:`c_m = g_m(op)\,x` for every kernel of a bank on a stored graph, by Chebyshev polynomials.

    The order follows from the bank's ``tol`` as it does in memory; each of its products is one pass over the edges.

    Parameters
    ----------
    bank : FilterBank
        On an operator of a stored graph; its method is taken for ``'chebyshev'``.
    x : array_like, StoredArray or path of a ``.npy`` file, shape (n_nodes,) or (n_nodes, n_signals)
    out : path_like, optional
        A ``.npy`` file to write instead of returning an array; columns are contiguous in it (Fortran order).

    Returns
    -------
    array or StoredArray, shape (n_nodes, n_filters) or (n_nodes, n_signals, n_filters)

    Examples
    --------
    >>> import tempfile
    >>> from gsp_fb import Graph, operator
    >>> from gsp_fb.filters import heat
    >>> from gsp_fb.outofcore import open_graph, write_folder
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     write_folder(Graph.from_edges([(0, 1)]), f"{folder}/edge.npyd")
    ...     op = operator(open_graph(f"{folder}/edge.npyd", memory_limit="1MB"), "sym", channel="high")
    ...     analyze(FilterBank(op, heat(0.0001)), [1.0, 3.0]).round(3)
    array([[1.],
           [3.]])
    """
    copies = BANK_COPIES + BANK_COPIES_PER_FILTER * len(bank)
    series = replace(bank, method="chebyshev")
    return _collect(stored_graph(bank.op), as_stored(x), series.analyze, copies=copies, extra=(len(bank),), out=out)


def _collect(
    graph: StoredGraph,
    x: Any,
    work: Callable[[Signal], Signal],
    *,
    copies: int,
    extra: tuple[int, ...] = (),
    out: str | os.PathLike[str] | None,
) -> Any:
    """Return the results of ``work`` on all blocks side by side, in memory or in the file ``out``."""
    if is_sparse(x):
        return _whole(work(x), out)
    shape = (*x.shape, *extra)
    reserved = math.prod(shape) * max(x.dtype.itemsize, 8) if out is None else 0
    results = ((start, work(block)) for start, block in column_blocks(graph, x, copies=copies, reserved=reserved))
    start, first = next(results)
    if out is None:
        return first if first.shape == shape else _side_by_side(chain([(start, first)], results), shape)
    with new_array(out, shape, first.dtype) as file:
        for at, part in chain([(start, first)], results):
            file.write(at, part)
    return StoredArray.open(out)


def _whole(result: Signal, out: str | os.PathLike[str] | None) -> Signal:
    if out is not None:
        raise ParameterError(f"a sparse signal has a sparse result, which {os.fspath(out)!r} cannot hold; leave out=")
    return result


def _side_by_side(parts: Iterable[tuple[int, Any]], shape: tuple[int, ...]) -> Any:
    together = None
    for start, part in parts:
        together = np.empty(shape, dtype=part.dtype) if together is None else together
        together[:, start : start + part.shape[1]] = part
    return together
