"""Graphs whose edges stay where they are: on disk, or distributed over the ranks of an MPI job."""

from __future__ import annotations

import os
from collections.abc import Sequence
from typing import Any

from .errors import ParameterError
from .graph import Graph
from .outofcore.edge_file import disk_graph
from .storage import DEFAULT_LIMIT, Progress

__all__ = ["n_ranks", "open_graph", "rank"]

# What launchers pass to each process: its number, and how many there are.
LAUNCHERS = (
    ("OMPI_COMM_WORLD_RANK", "OMPI_COMM_WORLD_SIZE"),  # Open MPI
    ("PMI_RANK", "PMI_SIZE"),  # MPICH, Intel MPI, srun --mpi=pmi2
    ("PMIX_RANK", "SLURM_STEP_NUM_TASKS"),  # srun --mpi=pmix
)


def _place() -> tuple[int, int]:
    """Return the number of this process and how many there are; 0 and 1 without a launcher."""
    for number, size in LAUNCHERS:
        if number in os.environ and size in os.environ:
            return int(os.environ[number]), int(os.environ[size])
    return 0, 1


def rank() -> int:
    """Return the number of this process among those that a launcher started."""
    return _place()[0]


def n_ranks() -> int:
    """Return how many processes a launcher started; 1 without one."""
    return _place()[1]


def open_graph(
    path: str | os.PathLike[str],
    memory: int | str | None = None,
    comm: Any = None,
    *,
    directed: bool | None = None,
    cuts: Sequence[int] | None = None,
    progress: Progress | None = None,
) -> Graph:
    """Return the graph in a folder or a file of edges; the edges stay on disk, or are distributed over MPI ranks.

    Functions of gsp_fb take the result like a graph in memory. Those that need all edges at once raise GraphError;
    :meth:`Graph.load` brings them into memory.

    Parameters
    ----------
    path : path_like
        A folder that ``gsp-fb convert``, :func:`gsp_fb.outofcore.build_folder` or
        :func:`gsp_fb.outofcore.write_folder` made. On disk also a list of edges (``.parquet``, ``.csv``, pairs in
        ``.npy``) in order, each edge once with its smaller end first, as :func:`gsp_fb.write_graph` writes it; a
        folder is read faster.
    memory : int or str, optional
        Bytes, or text such as ``'4GB'``; 2 GB by default. What the vectors over the nodes, one block of edges and one
        block of signal columns may take together, beside the interpreter itself. At least some 12 numbers a node are
        needed. Ranks hold their edges in memory, without a limit.
    comm : mpi4py communicator, optional
        Distribute the rows over its ranks; by default over all processes if a launcher (``mpirun``) started several.
        Every rank opens the graph, and arrays over nodes are its local rows, ``graph.local_rows``.
    directed : bool, optional
        Whether a list of edges that does not state it is one of arcs.
    cuts : sequence of int, optional
        Rank ``r`` holds the rows ``cuts[r] <= i < cuts[r + 1]``; by default shares of equal cost. Number the nodes so
        that neighbours are near each other (:meth:`Graph.reordered`) and little is sent.
    progress : callable, optional
        ``progress(items, title, total=n)`` returns the items of a pass over the disk and shows how far it is; for
        example ``lambda items, title, total: tqdm(items, desc=title, total=total)``.

    Returns
    -------
    Graph

    Raises
    ------
    FormatError
        The folder is not what its ``graph.json`` states, or the edges are not in order.
    GraphError
        A rank's share is too large for the integers that PETSc was built with.
    ParameterError
        An option belongs to the other storage.
    OSError
        It is missing or not readable.

    See Also
    --------
    read_graph : Read a graph file into memory.

    Examples
    --------
    >>> import tempfile
    >>> from gsp_fb import Graph, operator
    >>> from gsp_fb.outofcore import write_folder
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     write_folder(Graph.from_edges([(0, 1), (1, 2)]), f"{folder}/path.npyd")
    ...     graph = open_graph(f"{folder}/path.npyd", memory="1MB")
    ...     operator(graph, "rw") @ [1.0, 5.0, 3.0]
    array([5., 2., 5.])
    """
    if comm is None and n_ranks() == 1:
        if cuts is not None:
            raise ParameterError(f"cuts={cuts!r} are for MPI ranks; give comm=, or start the program with mpirun")
        return disk_graph(path, DEFAULT_LIMIT if memory is None else memory, directed=directed, progress=progress)
    if memory is not None or directed is not None or progress is not None:
        raise ParameterError(
            "memory, directed and progress are for graphs on disk; MPI ranks hold their edges in memory"
        )
    from .distributed.opening import distributed_graph  # PETSc starts MPI, which only a job of several processes wants

    return distributed_graph(path, comm=comm, cuts=cuts)
