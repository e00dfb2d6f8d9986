"""A graph in a folder: the nouns of :class:`gsp_fb.Graph`, with the edges on disk and read in chunks of rows."""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from functools import cached_property
from itertools import pairwise
from typing import Any

import numpy as np
from scipy import sparse
from scipy.sparse import csgraph

from .._build import total_degrees
from ..backend import FloatArray, IntArray, freeze, row_degrees
from ..errors import FormatError, GraphError
from ..graph import Graph
from ._arrays import StoredArray
from ._budget import Budget
from ._products import Chunk, StoredAdjacency
from .folder import Files

__all__ = ["Progress", "StoredGraph", "silent"]

# Items, a title and how many there are -> the same items, shown while they are consumed.
Progress = Callable[..., Iterable[Any]]


def silent(items: Iterable[Any], title: str, *, total: int | None = None) -> Iterable[Any]:
    """Return the items as they are: a ``progress`` that shows nothing."""
    return items


@dataclass(frozen=True, eq=False, repr=False)
class StoredGraph:
    """A graph whose edges stay on disk; made by :func:`gsp_fb.outofcore.open_graph`.

    :func:`gsp_fb.operator` takes it like a :class:`gsp_fb.Graph`. What the result is multiplied with must fit the
    memory; :func:`gsp_fb.outofcore.multiply` and its siblings see to that for signals of any width.

    Attributes
    ----------
    files : Files
    budget : Budget
        What the memory limit allows.
    progress : callable
        Wraps the chunks of every pass.

    Examples
    --------
    >>> import tempfile
    >>> from gsp_fb.outofcore import open_graph, write_folder
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     write_folder(Graph.from_edges([(0, 1), (1, 2)]), f"{folder}/path.npyd")
    ...     graph = open_graph(f"{folder}/path.npyd", memory_limit="1MB")
    ...     graph.n_nodes, graph.n_edges, graph.degrees
    (3, 2, array([1., 2., 1.]))
    """

    files: Files
    budget: Budget
    progress: Progress = silent

    labels = None

    @property
    def n_nodes(self) -> int:
        """Number of nodes."""
        return self.files.facts.n_nodes

    @property
    def n_entries(self) -> int:
        """Number of stored entries: two for an undirected edge, one for a loop or an arc."""
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
    def indptr(self) -> StoredArray:
        """The row pointers as they are on disk; ``numpy.asarray`` reads them."""
        return self.files.indptr

    @property
    def adjacency(self) -> StoredAdjacency:
        """The adjacency as a matrix that knows products and nothing else."""
        return StoredAdjacency(self)

    @cached_property
    def pointers(self) -> IntArray:
        """The row pointers in memory, checked."""
        pointers = np.asarray(self.files.indptr)
        if pointers[0] != 0 or pointers[-1] != self.n_entries or np.any(pointers[1:] < pointers[:-1]):
            raise FormatError(f"{self.files.indptr.path}: row pointers do not rise from 0 to {self.n_entries}")
        return freeze(pointers)

    def spans(self) -> list[tuple[int, int]]:
        """Return the row ranges of the chunks: as many rows as the budget allows, and one at least."""
        width = self.files.indices.dtype.itemsize + 8 * (self.is_weighted + 1)
        most = max(1, self.budget.chunk // width)
        cuts = [0]
        while cuts[-1] < self.n_nodes:
            reach = int(np.searchsorted(self.pointers, self.pointers[cuts[-1]] + most, side="right")) - 1
            # Row pointers and results have a share in the chunk as well.
            cuts.append(max(cuts[-1] + 1, min(reach, cuts[-1] + most, self.n_nodes)))
        return list(pairwise(cuts))

    def chunks(self, title: str = "edges") -> Iterator[Chunk]:
        """Yield the graph in chunks of rows: one pass over the files."""
        spans = self.spans()
        for first, last in self.progress(spans, title, total=len(spans)):
            yield self._chunk(first, last)

    def _chunk(self, first: int, last: int) -> Chunk:
        start, stop = int(self.pointers[first]), int(self.pointers[last])
        indices, weights = self.files.entries(start, stop)
        indptr = (self.pointers[first : last + 1] - start).astype(indices.dtype)
        return Chunk(first, last, self.n_nodes, indptr, indices, weights, self.directed)

    @cached_property
    def degrees(self) -> FloatArray:
        """Weighted degrees d = A 1 (out-degrees if directed); a self-loop counts once."""
        with np.errstate(over="ignore"):
            ones = None if not self.is_weighted else self.adjacency
            degrees = row_degrees(self.pointers, self.files.weights, ones)
        try:
            return freeze(total_degrees(degrees))
        except GraphError as bad:
            raise FormatError(f"{self.files.indptr.path.parent}: {bad}") from None

    @cached_property
    def loop_weights(self) -> FloatArray:
        """The diagonal of the adjacency."""
        diagonal = np.zeros(self.n_nodes)
        for chunk in self.chunks("loops") if self.n_loops else ():
            at = np.flatnonzero(chunk.rows == chunk.indices)
            diagonal[chunk.indices[at]] = 1.0 if chunk.weights is None else chunk.weights[at]
        return freeze(diagonal)

    @property
    def n_isolated(self) -> int:
        """Number of nodes of degree zero."""
        return int(np.count_nonzero(self.degrees == 0))

    @cached_property
    def component_labels(self) -> IntArray:
        """The number of each node's (weakly) connected component."""
        labels: IntArray = np.arange(self.n_nodes)
        for chunk in self.chunks("components"):
            ends = labels[chunk.rows], labels[chunk.indices]
            met = sparse.coo_array((np.ones(len(ends[0]), dtype=np.int8), ends), shape=(self.n_nodes, self.n_nodes))
            labels = csgraph.connected_components(met, directed=True, connection="weak")[1][labels]
        return freeze(np.unique(labels, return_inverse=True)[1])

    @property
    def n_components(self) -> int:
        """Number of (weakly) connected components; an isolated node is one."""
        return int(self.component_labels.max(initial=-1)) + 1

    @property
    def transposed(self) -> StoredGraph:
        """The graph itself, if it is undirected; reversed arcs would need another folder."""
        if self.directed:
            raise GraphError("the arcs of a stored graph cannot be reversed; convert the reversed edge list")
        return self

    @cached_property
    def sha256(self) -> str:
        """A fingerprint of structure and weights: that of the same graph in memory."""
        digest = hashlib.sha256(f"{self.n_nodes} {self.directed}".encode())
        digest.update(np.ascontiguousarray(self.pointers, dtype="<i8").data)
        for chunk in self.chunks("fingerprint"):
            digest.update(np.ascontiguousarray(chunk.indices, dtype="<i8").data)
        for chunk in self.chunks("fingerprint of weights") if self.is_weighted else ():
            digest.update(np.ascontiguousarray(chunk.weights, dtype="<f8").data)
        return digest.hexdigest()

    def load(self) -> Graph:
        """Return the whole graph in memory, every chunk of it checked."""
        for _ in self.chunks("check"):
            pass
        fits = self.n_entries <= np.iinfo(self.files.indices.dtype).max
        pointers = self.pointers.astype(self.files.indices.dtype) if fits else self.pointers.copy()
        indices = np.asarray(self.files.indices).astype(pointers.dtype, copy=False)
        weights = None if self.files.weights is None else np.asarray(self.files.weights)
        return Graph(pointers, indices, weights, self.directed)

    def __repr__(self) -> str:
        kind = "directed" if self.directed else "undirected"
        weighted = "weighted" if self.is_weighted else "unweighted"
        facts = f"n_nodes={self.n_nodes}, n_edges={self.n_edges}, {kind}, {weighted}"
        return f"StoredGraph({facts}, memory_limit={self.budget.limit})"
