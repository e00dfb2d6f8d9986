"""Signals over the ranks: reading the own rows, products, and files written by all ranks at once."""

from __future__ import annotations

import math
import os
from collections.abc import Callable
from contextlib import ExitStack
from dataclasses import replace
from typing import Any

import numpy as np

from .. import energy, operators
from .._arguments import check_labels, check_signal, host_array
from .._atomic import atomic_write
from ..backend import Signal, to_dense
from ..errors import GraphError, SignalError
from ..operators import Operator
from ..outofcore import StoredArray
from ..outofcore._arrays import write_header
from ..variants import VARIANTS
from ._mpi import allreduce_max, collective_errors
from .graph import DistributedGraph, distributed_graph, first_isolated

__all__ = ["check_rows", "local_rows", "multiply", "on_root", "one_hot", "operator", "row_normalized", "save"]


def local_rows(graph: DistributedGraph, x: Any) -> Any:
    """Return this rank's rows of a signal that all ranks can see. Collective.

    Parameters
    ----------
    graph : DistributedGraph
    x : array_like, or path of a ``.npy`` file, first axis n_nodes
        Of a file each rank reads its own part only.

    Raises
    ------
    SignalError
        There are not as many rows as the graph has nodes.

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
    >>> local_rows(graph, [5.0, 6.0, 7.0])
    array([5., 6., 7.])
    """
    with collective_errors(graph.comm):
        whole = StoredArray.open(x) if isinstance(x, str | os.PathLike) else host_array(x, SignalError, "signal")
        if not whole.shape or whole.shape[0] != graph.n_nodes:
            n_rows = whole.shape[0] if whole.shape else 0
            raise SignalError(f"signal has {n_rows} rows but the graph has {graph.n_nodes} nodes")
        stored = isinstance(whole, StoredArray)
        rows = np.array(whole.rows(graph.first, graph.last)) if stored else whole[graph.first : graph.last]
    return rows


def check_rows(graph: DistributedGraph, x: Any) -> Signal:
    """Return the own rows of a signal as dense floating numbers, finite on every rank. Collective."""
    with collective_errors(graph.comm):
        try:
            rows = to_dense(check_signal(x, graph.n_local))
        except SignalError as bad:
            raise SignalError(f"rank {graph.comm.rank}, counting from its first row {graph.first}: {bad}") from None
    return rows


def one_hot(graph: DistributedGraph, y: Any) -> Signal:
    """Return the own labels as columns, one for each class that any rank has. Collective; see `gsp_fb.one_hot`.

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
    >>> one_hot(graph, [1, 0, -1])
    array([[0., 1.],
           [1., 0.],
           [0., 0.]])
    """
    with collective_errors(graph.comm):
        labels = check_labels(y, graph.n_local)
    n_classes = int(allreduce_max(graph.comm, int(np.max(labels, initial=-1)))) + 1
    return to_dense(energy.one_hot(labels, n_classes or None))


def row_normalized(graph: DistributedGraph, x: Any) -> Signal:
    """Return the own rows, each divided by its sum, as `gsp_fb.row_normalized`. Collective.

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
    >>> row_normalized(graph, [[1.0, 3.0], [0.0, 0.0], [2.0, 2.0]])[0]
    array([0.25, 0.75])
    """
    return energy.row_normalized(check_rows(graph, x))


def on_root(graph: DistributedGraph, action: Callable[[], Any]) -> None:
    """Let rank 0 do something that needs no other rank; if it fails, all ranks raise its error. Collective.

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
    >>> on_root(graph, lambda: print("once"))
    once
    """
    with collective_errors(graph.comm):
        if graph.comm.rank == 0:
            action()


def operator(
    graph: DistributedGraph, family: str, channel: str = "low", gamma: float | None = None, isolated: str = "self"
) -> Operator:
    """Return one channel of one family on a distributed graph: the vectors of the own rows. Collective.

    :func:`gsp_fb.operator` itself, but that ``isolated='error'`` is raised on every rank.

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
    >>> operator(graph, "rw").left
    array([1. , 0.5, 1. ])
    """
    policy = "self" if isolated == "error" else isolated
    made = operators.operator(graph, family, channel, gamma, policy)  # type: ignore[arg-type]  # it has the nouns of one
    if isolated != "error":
        return made
    variant = VARIANTS[family]
    has_degree = variant.norm == "none" or variant.loops == "unit"
    node = None if has_degree else first_isolated(graph)
    if node is not None:
        raise GraphError(f"node {node} is isolated; give isolated='self' or 'zero', or drop the node")
    return replace(made, isolated=isolated)


def multiply(op: Operator, x: Any) -> Signal:
    """Return the own rows of ``op @ x`` from the own rows of ``x``. Collective.

    Parameters
    ----------
    op : Operator
        Of a distributed graph.
    x : array_like, shape (n_local,) or (n_local, n_signals)
        The rows of this rank; :func:`local_rows` cuts them out.

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
    >>> multiply(operator(graph, "rw"), [1.0, 5.0, 3.0])
    array([5., 2., 5.])
    """
    return op.apply(check_rows(distributed_graph(op), x))


def save(graph: DistributedGraph, rows: Any, path: str | os.PathLike[str]) -> None:
    """Write the rows of all ranks as one ``.npy`` file, each rank its own part, whole or not at all. Collective.

    The file has a temporary name until every rank has written; a job that is killed leaves what was there before.

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
    >>> save(graph, [1.0, 5.0, 3.0], f"{folder}/x.npy")
    >>> np.load(f"{folder}/x.npy")
    array([1., 5., 3.])
    """
    comm, part = graph.comm, np.ascontiguousarray(rows)
    row_bytes = part.dtype.itemsize * math.prod(part.shape[1:])
    with ExitStack() as stack:
        begun = None
        with collective_errors(comm):
            if comm.rank == 0:
                file = stack.enter_context(atomic_write(path))
                begun = file.name, write_header(file, (graph.n_nodes, *part.shape[1:]), part.dtype)
                file.truncate(begun[1] + graph.n_nodes * row_bytes)
                file.flush()
        name, offset = comm.bcast(begun)
        with collective_errors(comm), open(name, "r+b") as shared:
            shared.seek(offset + graph.first * row_bytes)
            shared.write(part.tobytes())
            shared.flush()
            os.fsync(shared.fileno())
        with collective_errors(comm):
            stack.close()
