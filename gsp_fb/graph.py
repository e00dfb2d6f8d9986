"""The graph: one frozen CSR adjacency with its degrees; everything else is a function of it."""

from __future__ import annotations

import hashlib
from collections.abc import Hashable
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
from scipy import sparse

from ._arguments import check_choice, check_count, check_host
from ._build import LOOP_RULES, canonical, drop_loops, edges_to_csr, index_arrays, symmetric, total_degrees
from ._document import facts_html
from .backend import (
    TABLE,
    FloatArray,
    IntArray,
    components,
    csr,
    device_of,
    entry_rows,
    freeze,
    group_sum,
    move,
    namespace,
    row_degrees,
    to_host,
    transposed,
)
from .errors import GraphError
from .reorder import Reordered, reordered

__all__ = ["Graph"]


@dataclass(frozen=True, eq=False, repr=False)
class Graph:
    """Nodes 0..n-1 and weighted edges, as read-only CSR arrays that belong to the graph alone.

    Build one with :meth:`from_edges` or :meth:`from_adjacency`; the constructor trusts its arguments. :meth:`to` moves
    it to a GPU, where everything made from it then stays.

    Attributes
    ----------
    indptr, indices : int arrays
        CSR structure: row ``i`` holds the neighbours of node ``i``, sorted.
    weights : float64 array or None
        One per stored entry; None where every weight is 1, so that an unweighted graph stores no floats.
    directed : bool
        Entry (i, j) is an arc from i to j and need not have a reverse.
    labels : tuple or None
        The caller's node names, in node order.

    Examples
    --------
    >>> g = Graph.from_edges([(0, 1), (1, 2)])
    >>> g
    Graph(n_nodes=3, n_edges=2, undirected, unweighted)
    >>> g.degrees
    array([1., 2., 1.])
    """

    indptr: IntArray
    indices: IntArray
    weights: FloatArray | None
    directed: bool = False
    labels: tuple[Hashable, ...] | None = None

    def __post_init__(self) -> None:
        for array in (self.indptr, self.indices, self.weights):
            freeze(array)

    @classmethod
    def from_edges(
        cls,
        edges: Any,
        weights: Any = None,
        n_nodes: int | None = None,
        *,
        directed: bool = False,
        symmetrize: str | None = None,
        duplicates: str = "error",
        loops: str = "keep",
        labels: tuple[Hashable, ...] | None = None,
    ) -> Graph:
        """Return the graph of a list of node pairs, on the device that they are on.

        Parameters
        ----------
        edges : array_like of int, shape (n_edges, 2)
        weights : array_like, optional
            One finite weight >= 0 per edge; 1 by default.
        n_nodes : int, optional
            By default the largest id plus one.
        directed : bool
            Keep arcs as they are listed.
        symmetrize : {'max', 'mean', 'sum'}, optional
            Read the pairs as arcs, then combine ``(i, j)`` and ``(j, i)`` into one undirected edge.
            Without it the pairs are unordered and each edge is listed once.
        duplicates : {'error', 'first', 'sum'}
            What a pair that is listed again means.
        loops : {'keep', 'drop'}
            A kept self-loop counts once in its node's degree.

        Examples
        --------
        >>> Graph.from_edges([(0, 1), (1, 0), (1, 2)], symmetrize="max").n_edges
        2
        """
        if n_nodes is not None:
            n_nodes = check_count(n_nodes, "n_nodes", minimum=0)
        mirror = not directed and symmetrize is None
        home = device_of(edges)
        pairs, weights = (_on_host(array) for array in (edges, weights))
        A = edges_to_csr(pairs, weights, n_nodes, mirror=mirror, duplicates=duplicates)
        as_is = directed or mirror
        graph = cls._from_canonical(
            A, as_is=as_is, directed=directed, symmetrize=symmetrize, loops=loops, labels=labels
        )
        return graph.to(home)

    @classmethod
    def from_adjacency(
        cls,
        A: Any,
        *,
        directed: bool = False,
        symmetrize: str | None = None,
        loops: str = "keep",
        labels: tuple[Hashable, ...] | None = None,
    ) -> Graph:
        """Return the graph of a square matrix: dense, or any scipy or cupyx sparse array or matrix.

        Repeated entries of a sparse matrix are summed, stored zeros are no edges, and the caller's matrix is
        left as it is. A difference between ``A[i, j]`` and ``A[j, i]`` within rounding is averaged away. A matrix
        on a GPU is checked and put in order on the host, once; the graph is on the GPU again.

        Examples
        --------
        >>> Graph.from_adjacency([[0, 2], [2, 0]]).degrees
        array([2., 2.])
        """
        graph = cls._from_canonical(
            canonical(_on_host(A)),
            as_is=directed,
            directed=directed,
            symmetrize=symmetrize,
            loops=loops,
            labels=labels,
        )
        return graph.to(device_of(A))

    @classmethod
    def _from_canonical(
        cls,
        A: sparse.csr_array,
        *,
        as_is: bool,
        directed: bool,
        symmetrize: str | None,
        loops: str,
        labels: tuple[Hashable, ...] | None,
    ) -> Graph:
        if directed and symmetrize is not None:
            raise GraphError(f"directed=True and symmetrize={symmetrize!r} contradict each other; give one")
        if check_choice(loops, LOOP_RULES, "loops") == "drop":
            A = drop_loops(A)
        if not as_is:
            A = symmetric(A, symmetrize)
        if labels is not None and len(labels) != A.shape[0]:
            raise GraphError(f"{len(labels)} labels for {A.shape[0]} nodes")
        weights = None if np.all(A.data == 1.0) else A.data
        graph = cls(*index_arrays(A), weights, directed, labels)
        total_degrees(graph.degrees)
        return graph

    @property
    def device(self) -> str:
        """Where the arrays live: ``'cpu'`` or ``'cuda'``."""
        return device_of(self.indptr)

    def to(self, device: str) -> Graph:
        """Return the graph with its arrays on ``device``; itself if they are there already.

        Operators, spectra, banks and energies made from it then live there too, and take signals that do. Nothing goes
        back to the host unasked, but for the search of connected components and for single numbers.

        Parameters
        ----------
        device : {'cpu', 'cuda'}
            A GPU needs the ``gpu`` extra.

        Examples
        --------
        >>> Graph.from_edges([(0, 1)]).to("cpu").device
        'cpu'
        """
        if check_choice(device, TABLE, "device") == self.device:
            return self
        indptr, indices, weights = (move(array, device) for array in (self.indptr, self.indices, self.weights))
        return Graph(indptr, indices, weights, self.directed, self.labels)

    @property
    def n_nodes(self) -> int:
        """Number of nodes."""
        return int(self.indptr.shape[0]) - 1

    @property
    def n_edges(self) -> int:
        """Number of edges; an undirected edge and a self-loop count once each."""
        nnz = int(self.indices.shape[0])
        return nnz if self.directed else (nnz + self.n_loops) // 2

    @property
    def n_loops(self) -> int:
        """Number of nodes with a self-loop."""
        return int(namespace(self.loop_weights).count_nonzero(self.loop_weights))

    @property
    def is_weighted(self) -> bool:
        """Whether any weight differs from 1."""
        return self.weights is not None

    @cached_property
    def adjacency(self) -> sparse.csr_array:
        """The adjacency as a read-only CSR array, scipy's or the device's; entry (i, j) is the weight of the edge."""
        data = _ones(self.indices) if self.weights is None else self.weights
        matrix: sparse.csr_array = csr(freeze(data), self.indices, self.indptr, (self.n_nodes, self.n_nodes))
        return matrix

    @cached_property
    def degrees(self) -> FloatArray:
        """Weighted degrees d = A 1 (out-degrees if directed); a self-loop counts once."""
        with np.errstate(over="ignore"):
            return freeze(row_degrees(self.indptr, self.weights, None if self.weights is None else self.adjacency))

    @cached_property
    def loop_weights(self) -> FloatArray:
        """The diagonal of the adjacency."""
        loops = self.rows == self.indices
        at = self.indices[loops]
        weights = _ones(at) if self.weights is None else self.weights[loops]
        return freeze(group_sum(at, weights, self.n_nodes))

    @property
    def rows(self) -> IntArray:
        """The row of every stored entry, beside ``indices``; made anew at each call."""
        rows: IntArray = entry_rows(self.indptr)
        return rows

    def edges(self) -> tuple[IntArray, IntArray, FloatArray | None]:
        """Return sources, targets and weights (None where all are 1), each edge once.

        Examples
        --------
        >>> source, target, weights = Graph.from_edges([(2, 0), (1, 2)]).edges()
        >>> source.tolist(), target.tolist()
        ([0, 1], [2, 2])
        """
        rows = self.rows
        once = slice(None) if self.directed else rows <= self.indices
        return rows[once], self.indices[once], None if self.weights is None else self.weights[once]

    def reordered(self, how: str = "community") -> Reordered:
        """Return the graph with neighbours numbered close to each other, so that products read memory in order.

        Parameters
        ----------
        how : {'community', 'rcm'}
            ``community``, by label propagation, numbers groups one after the other: for social, citation and web
            graphs. ``rcm``, reverse Cuthill-McKee, makes the band of the matrix narrow: for grids, meshes and roads.

        Examples
        --------
        >>> Graph.from_edges([(0, 2), (1, 3)]).reordered("community").order
        array([0, 2, 1, 3])
        """
        check_host(self.device, "nodes are renumbered")
        return reordered(self, how)

    @cached_property
    def component_labels(self) -> IntArray:
        """The number of each node's (weakly) connected component; searched on the host once, wherever the graph is."""
        return freeze(components(self.adjacency, directed=self.directed))

    @property
    def n_components(self) -> int:
        """Number of (weakly) connected components; an isolated node is one."""
        labels = self.component_labels
        return int(namespace(labels).max(labels)) + 1 if self.n_nodes else 0

    @property
    def n_isolated(self) -> int:
        """Number of nodes of degree zero."""
        return int(namespace(self.degrees).count_nonzero(self.degrees == 0))

    @cached_property
    def transposed(self) -> Graph:
        """The graph with every arc reversed; an undirected graph is its own."""
        if not self.directed:
            return self
        A = transposed(self.adjacency)
        return Graph(A.indptr, A.indices, None if self.weights is None else A.data, True, self.labels)

    @cached_property
    def sha256(self) -> str:
        """A fingerprint of structure and weights, the same on every machine."""
        digest = hashlib.sha256(f"{self.n_nodes} {self.directed}".encode())
        for array, kind in ((self.indptr, "<i8"), (self.indices, "<i8"), (self.weights, "<f8")):
            if array is not None:
                digest.update(np.ascontiguousarray(to_host(array), dtype=kind).tobytes())
        return digest.hexdigest()

    def __reduce__(self) -> tuple[Any, ...]:
        # Rebuilding through the constructor keeps the arrays read-only in the other process.
        return Graph, (self.indptr, self.indices, self.weights, self.directed, self.labels)

    def __repr__(self) -> str:
        facts = [
            f"n_nodes={self.n_nodes}",
            f"n_edges={self.n_edges}",
            "directed" if self.directed else "undirected",
            "weighted" if self.is_weighted else "unweighted",
        ]
        facts += [f"n_loops={self.n_loops}"] * bool(self.n_loops)
        facts += [f"n_isolated={self.n_isolated}"] * bool(self.n_isolated)
        return f"Graph({', '.join(facts)})"

    def _repr_html_(self) -> str:
        facts = {
            "nodes": self.n_nodes,
            "arcs" if self.directed else "edges": self.n_edges,
            "weighted": self.is_weighted,
            "self-loops": self.n_loops or None,
            "isolated nodes": self.n_isolated or None,
            "components": self.n_components,
        }
        return facts_html("Graph", facts)


def _on_host(data: Any) -> Any:
    """Return what a graph is made of as the host can read it; lists, frames and tensors as they are."""
    return data if device_of(data) == "cpu" else to_host(data)


def _ones(like: Any) -> Any:
    xp = namespace(like)
    return xp.ones_like(like, dtype=xp.float64)
