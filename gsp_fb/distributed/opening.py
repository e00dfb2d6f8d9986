"""A graph distributed over the ranks of an MPI job: every rank reads its rows of a folder."""

from __future__ import annotations

import os
from collections.abc import Callable, Sequence
from hashlib import sha256
from typing import Any

import numpy as np

from .._arguments import host_array
from ..errors import FormatError, SignalError
from ..graph import Graph
from ..outofcore.folder import Files, open_files, read_node_table
from ..storage import StoredArray
from ..storage.npy import open_array
from ._mpi import collective_errors, garbage_cleanup, world
from .adjacency import check_index_type, distributed_adjacency
from .layout import Layout, balanced_cuts, check_cuts
from .storage import MpiStorage, check_rows

__all__ = ["distributed_graph", "local_rows", "on_root"]

# Entries of a window, and windows of an array, by which graphs of several ranks are compared.
SAMPLE, N_SAMPLES = 1024, 16


def distributed_graph(path: str | os.PathLike[str], *, comm: Any = None, cuts: Sequence[int] | None = None) -> Graph:
    """Return the graph in a folder, every rank holding its rows; see :func:`gsp_fb.open_graph`. Collective."""
    comm = world() if comm is None else comm
    garbage_cleanup(comm)
    with collective_errors(comm):
        if os.path.isfile(path):
            raise FormatError(
                f"{os.fspath(path)} is no folder, which MPI ranks read; `gsp-fb convert` makes one (.npyd)"
            )
        files = open_files(path)
    _refuse_different(comm, files)
    with collective_errors(comm):
        n_nodes = files.facts.n_nodes
        shares = balanced_cuts(files, comm.size) if cuts is None else check_cuts(cuts, n_nodes, comm.size)
    layout = Layout(comm, comm.rank, tuple(comm.bcast(shares)))
    with collective_errors(comm):
        pointers = files.row_pointers(layout.first, layout.last)
        indices, weights = files.entries(int(pointers[0]), int(pointers[-1]))
        check_index_type(layout, len(indices))
    matrix = distributed_adjacency(layout, pointers, indices, weights)
    storage = MpiStorage(files, layout, pointers, matrix)
    return Graph(storage, read_node_table(path, files.facts.n_nodes))


def _refuse_different(comm: Any, files: Files) -> None:
    """Raise FormatError on every rank if they opened different graphs. Collective."""
    seen = comm.allgather((_sample(files), files.name))
    other = next((rank for rank, (sample, _) in enumerate(seen) if sample != seen[0][0]), None)
    if other is not None:
        raise FormatError(
            f"the ranks of a job open one graph: rank 0 has {seen[0][1]} and rank {other} has {seen[other][1]}, "
            "which is another one"
        )


def _sample(files: Files) -> str:
    """Return a hash of the facts and of entries all over the arrays; the whole of them is for one rank too much."""
    digest = sha256(repr((files.facts, files.is_weighted)).encode())
    for array in filter(None, (files.indptr, files.indices, files.weights)):
        for start in np.linspace(0, max(array.shape[0] - SAMPLE, 0), N_SAMPLES).astype(int).tolist():
            digest.update(np.ascontiguousarray(array.rows(start, min(start + SAMPLE, array.shape[0]))).data)
    return digest.hexdigest()


def local_rows(graph: Graph, x: Any) -> Any:
    """Return this rank's rows of an array that all ranks can see. Collective.

    Parameters
    ----------
    graph : Graph
    x : array_like, or path of a ``.npy`` file, first axis n_nodes
        Of a file each rank reads its own part only.

    Returns
    -------
    array, first axis ``len(graph.local_rows)``

    Raises
    ------
    SignalError
        There are not as many rows as the graph has nodes.

    See Also
    --------
    gsp_fb.Graph.local : The same for an array that is known to have all rows.

    Examples
    --------
    In one process, which has all rows:

    >>> local_rows(Graph.from_edges([(0, 1), (1, 2)]), [5.0, 6.0, 7.0])
    array([5., 6., 7.])
    """
    with graph.storage.agree():
        whole: Any = open_array(x)
        stored = isinstance(whole, StoredArray)
        whole = whole if stored else host_array(whole, SignalError, "signal")
        check_rows(whole.shape, graph.n_nodes)
        first, last = graph.local_rows.start, graph.local_rows.stop
        return np.array(whole.rows(first, last)) if stored else whole[first:last]


def on_root(graph: Graph, action: Callable[[], Any]) -> None:
    """Call ``action`` on the first rank alone; if it fails, all ranks raise its error. Collective.

    Parameters
    ----------
    graph : Graph
        In any storage; outside of MPI the process itself is the first rank.
    action : callable
        Called without arguments; it must not communicate with other ranks.

    See Also
    --------
    local_rows : The rows of an array that belong to a rank.

    Examples
    --------
    >>> on_root(Graph.from_edges([(0, 1)]), lambda: print("once"))
    once
    """
    with graph.storage.agree():
        if not isinstance(graph.storage, MpiStorage) or graph.storage.layout.comm.rank == 0:
            action()
