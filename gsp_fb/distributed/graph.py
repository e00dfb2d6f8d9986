"""A graph spread over the ranks of an MPI job: the nouns of :class:`gsp_fb.Graph`, each rank with its own rows."""

from __future__ import annotations

import os
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property, partial
from typing import Any

import numpy as np

from .._bounds import extent
from .._build import total_degrees
from .._lambda_max import ownership
from .._lanczos import Total
from ..backend import FloatArray, IntArray, freeze
from ..errors import GraphError
from ..graph import Graph
from ..outofcore import open_graph as open_stored
from ..outofcore.folder import Files, open_files
from ._components import least_of_component
from ._mpi import allreduce_max, allreduce_min, allreduce_sum, collective_errors, garbage_cleanup, world
from .adjacency import DistributedAdjacency, check_index_type, petsc_matrix
from .layout import Layout, balanced_cuts, check_cuts, check_pointers

__all__ = ["DistributedGraph", "open_graph"]


@dataclass(frozen=True)
class OwnPointers:
    """The row pointers of the own rows. No NumPy array, so that no compiled loop takes them for the whole graph."""

    values: IntArray

    @property
    def shape(self) -> tuple[int, ...]:
        """One more than there are own rows."""
        return self.values.shape

    def __getitem__(self, key: Any) -> Any:
        return self.values[key]


@dataclass(frozen=True, eq=False, repr=False)
class DistributedGraph:
    """A graph whose rows are shared out among MPI ranks; made by :func:`open_graph`.

    Numbers (``n_nodes``, ``n_edges``, ``n_components``) are those of the whole graph. Arrays (``degrees``,
    ``loop_weights``, the vectors of an operator, signals) hold the rows ``first <= i < last`` of this rank.
    What needs the other ranks must be called on all of them: everything but the facts of the folder.

    Attributes
    ----------
    files : Files
    layout : Layout
        Which rank has which rows.
    pointers : int64 array
        Row pointers of the own rows, as in the file.
    adjacency : DistributedAdjacency

    Examples
    --------
    On one rank, which has all rows:

    >>> import tempfile
    >>> from gsp_fb.outofcore import write_folder
    >>> folder = tempfile.mkdtemp()
    >>> write_folder(Graph.from_edges([(0, 1), (1, 2)]), f"{folder}/path.npyd")
    >>> graph = open_graph(f"{folder}/path.npyd")
    >>> graph.n_nodes, graph.n_edges, graph.degrees
    (3, 2, array([1., 2., 1.]))
    """

    files: Files
    layout: Layout
    pointers: IntArray
    adjacency: DistributedAdjacency

    labels = None

    @property
    def comm(self) -> Any:
        """The communicator of the job."""
        return self.layout.comm

    @property
    def first(self) -> int:
        """The first row of this rank."""
        return self.layout.first

    @property
    def last(self) -> int:
        """The row after the last one of this rank."""
        return self.layout.last

    @property
    def n_local(self) -> int:
        """Number of rows of this rank."""
        return self.layout.n_local

    @property
    def n_nodes(self) -> int:
        """Number of nodes of the whole graph."""
        return self.files.facts.n_nodes

    @property
    def n_entries(self) -> int:
        """Number of stored entries of the whole graph."""
        return self.files.facts.n_entries

    @property
    def n_loops(self) -> int:
        """Number of nodes with a self-loop."""
        return self.files.facts.n_loops

    @property
    def n_edges(self) -> int:
        """Number of edges; an undirected edge and a self-loop count once each."""
        return self.n_entries if self.directed else (self.n_entries + self.n_loops) // 2

    @property
    def directed(self) -> bool:
        """Whether entry (i, j) is an arc that need not have a reverse."""
        return self.files.facts.directed

    @property
    def is_weighted(self) -> bool:
        """Whether any weight differs from 1."""
        return self.files.weights is not None

    @property
    def indptr(self) -> OwnPointers:
        """The row pointers of the own rows."""
        return OwnPointers(self.pointers)

    def entries(self) -> tuple[IntArray, FloatArray | None]:
        """Return neighbours and weights of the own rows, mapped from the files."""
        return self.files.entries(int(self.pointers[0]), int(self.pointers[-1]))

    @cached_property
    def degrees(self) -> FloatArray:
        """Weighted degrees of the own rows (out-degrees if directed); a self-loop counts once."""
        counts = np.diff(self.pointers)
        with collective_errors(self.comm), np.errstate(over="ignore"):
            weights = self.entries()[1]
            rows = None if weights is None else np.repeat(np.arange(self.n_local), counts)
            sums = counts if rows is None else np.bincount(rows, weights=weights, minlength=self.n_local)
            found = total_degrees(sums.astype(np.float64))
        return freeze(found)

    @cached_property
    def loop_weights(self) -> FloatArray:
        """The diagonal of the adjacency, own rows."""
        diagonal = np.zeros(self.n_local)
        if self.n_loops:
            indices, weights = self.entries()
            rows = np.repeat(np.arange(self.n_local), np.diff(self.pointers))
            at = np.flatnonzero(rows + self.first == indices)
            diagonal[rows[at]] = 1.0 if weights is None else weights[at]
        return freeze(diagonal)

    @cached_property
    def n_isolated(self) -> int:
        """Number of nodes of degree zero in the whole graph."""
        return int(allreduce_sum(self.comm, np.count_nonzero(self.degrees == 0)))

    @cached_property
    def component_labels(self) -> IntArray:
        """The least node of the (weakly) connected component of each own node."""
        return freeze(least_of_component(self.layout, self.pointers, self.entries()[0]))

    @cached_property
    def n_components(self) -> int:
        """Number of (weakly) connected components of the whole graph; an isolated node is one."""
        leaders = self.component_labels == np.arange(self.first, self.last)
        return int(allreduce_sum(self.comm, np.count_nonzero(leaders)))

    @cached_property
    def n_ghosts(self) -> int:
        """Number of other ranks' nodes whose values a product brings here: eight bytes each for every column."""
        indices = self.entries()[0]
        return len(np.unique(indices[(indices < self.first) | (indices >= self.last)]))

    def whole(self) -> Graph:
        """Return the graph in the memory of this process, for graphs that are small."""
        return open_stored(self.files.indptr.path.parent).load()

    def __repr__(self) -> str:
        kind = "directed" if self.directed else "undirected"
        weighted = "weighted" if self.is_weighted else "unweighted"
        own = f"rows {self.first}..{self.last - 1}" if self.n_local else "no rows"
        facts = f"n_nodes={self.n_nodes}, n_edges={self.n_edges}, {kind}, {weighted}"
        return f"DistributedGraph({facts}; {own} on rank {self.comm.rank} of {self.comm.size})"


@ownership.register(DistributedGraph)
def _ownership(graph: DistributedGraph) -> tuple[Total, slice]:
    return partial(allreduce_sum, graph.comm), slice(graph.first, graph.last)


@extent.register(DistributedGraph)
def _extent(graph: DistributedGraph, values: FloatArray) -> tuple[float, float]:
    return (
        allreduce_min(graph.comm, np.min(values, initial=np.inf)),
        allreduce_max(graph.comm, np.max(values, initial=-np.inf)),
    )


def open_graph(
    path: str | os.PathLike[str], *, comm: Any = None, cuts: Sequence[int] | None = None
) -> DistributedGraph:
    """Return the graph in a folder, every rank reading its own rows. Collective.

    Parameters
    ----------
    path : path_like
        A folder that ``gsp-fb convert`` made (see :func:`gsp_fb.outofcore.open_graph`), seen by all ranks.
    comm : mpi4py communicator, optional
        All processes of the job by default.
    cuts : sequence of int, optional
        Rank ``r`` gets the rows ``cuts[r] <= i < cuts[r + 1]``; by default shares of equal cost. Number the nodes so
        that neighbours are near each other (:meth:`gsp_fb.Graph.reordered`) and little is sent.

    Raises
    ------
    FormatError
        The folder is not what its ``graph.json`` says; the same error on every rank.
    GraphError
        A rank's share is too large for the integers that PETSc was built with.

    Examples
    --------
    >>> import tempfile
    >>> from gsp_fb.outofcore import write_folder
    >>> folder = tempfile.mkdtemp()
    >>> write_folder(Graph.from_edges([(0, 1), (1, 2)]), f"{folder}/path.npyd")
    >>> open_graph(f"{folder}/path.npyd")
    DistributedGraph(n_nodes=3, n_edges=2, undirected, unweighted; rows 0..2 on rank 0 of 1)
    """
    comm = world() if comm is None else comm
    garbage_cleanup(comm)
    with collective_errors(comm):
        files = open_files(path)
        n_nodes = files.facts.n_nodes
        shares = balanced_cuts(files, comm.size) if cuts is None else check_cuts(cuts, n_nodes, comm.size)
    layout = Layout(comm, comm.rank, tuple(comm.bcast(shares)))
    with collective_errors(comm):
        pointers = np.array(files.indptr.rows(layout.first, layout.last + 1))
        check_pointers(pointers, layout, files)
        indices, weights = files.entries(int(pointers[0]), int(pointers[-1]))
        check_index_type(layout, len(indices))
    matrix = petsc_matrix(layout, pointers, indices, weights)
    return DistributedGraph(files, layout, freeze(pointers), DistributedAdjacency(layout, matrix))


def first_isolated(graph: DistributedGraph) -> int | None:
    """Return the first node of degree zero in the whole graph, if there is one. Collective."""
    nodes = np.flatnonzero(graph.degrees == 0)
    first = allreduce_min(graph.comm, float(nodes[0] + graph.first) if nodes.size else np.inf)
    return int(first) if np.isfinite(first) else None


def distributed_graph(op: Any) -> DistributedGraph:
    """Return the distributed graph of an operator, or say that there is none."""
    if not isinstance(op.graph, DistributedGraph):
        raise GraphError(f"{op!r} is not on a distributed graph; open one with gsp_fb.distributed.open_graph")
    return op.graph
