"""The graph: nodes and weighted edges, wherever the edges are stored; everything else is a function of it."""

from __future__ import annotations

from collections.abc import Hashable, Iterator
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import Any

import numpy as np
from scipy import sparse

from ._arguments import Checked, check_choice, check_count, check_host, check_labels, check_number
from ._build import (
    LOOP_RULES,
    canonical,
    drop_loops,
    edges_to_csr,
    index_arrays,
    magnetic_adjacency,
    symmetric,
    total_degrees,
)
from ._document import facts_html
from ._points import check_points, edge_weights, neighbour_pairs
from .backend import TABLE, FloatArray, IntArray, Signal, device_of, namespace, to_host
from .errors import GraphError
from .nodes import NodeTable, check_coordinates, is_default_index, is_frame, node_table, with_table
from .reorder import Reordered, reordered
from .storage import PRODUCT_COPIES, MemoryStorage, Storage

__all__ = ["Graph"]

# Where edges are, by the kind of storage, and how they come into memory.
PLACES = {"memory": "memory", "disk": "disk", "mpi": "MPI ranks"}
REMEDY = "call .load() on the graph"
NO_NODES = NodeTable(0)


@dataclass(frozen=True, eq=False, repr=False)
class Graph:
    """Nodes 0..n-1 and weighted edges in a storage: memory, disk or MPI ranks.

    Build one with :meth:`from_edges` or :meth:`from_adjacency`, or open one with :func:`gsp_fb.open_graph`; the
    constructor trusts its arguments. Operators, spectra, banks and energies work on every storage; what needs all edges
    in memory refuses, and :meth:`load` brings them there. :meth:`to` moves a graph in memory to a GPU, where everything
    made from it then stays.

    Parameters
    ----------
    storage : Storage
        Where the edges are; ``gsp_fb.storage.MemoryStorage`` holds CSR arrays.
    nodes : NodeTable
        Names, coordinates and columns of values of the nodes; empty by default.

    See Also
    --------
    read_graph : Read a graph file into memory.
    open_graph : Open a graph whose edges stay on disk or on MPI ranks.
    operator : The channels of an operator family on a graph.

    Examples
    --------
    >>> g = Graph.from_edges([(0, 1), (1, 2)])
    >>> g
    Graph(n_nodes=3, n_edges=2, undirected, unweighted)
    >>> g.degrees
    array([1., 2., 1.])
    """

    storage: Storage
    nodes: NodeTable = field(default=NO_NODES)

    def __post_init__(self) -> None:
        if self.nodes is NO_NODES:
            object.__setattr__(self, "nodes", NodeTable(self.storage.n_nodes))

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
        signed: bool = False,
        nodes: Any = None,
    ) -> Graph:
        """Return the graph of a list of node pairs, on the device that they are on.

        Parameters
        ----------
        edges : array_like of int, shape (n_edges, 2)
        weights : array_like, optional
            One finite weight per edge, >= 0 unless ``signed``; 1 by default.
        n_nodes : int, optional
            By default the largest id plus one.
        directed : bool
            Keep arcs as they are listed.
        symmetrize : {'max', 'mean', 'sum'}, optional
            Read the pairs as arcs, then combine ``(i, j)`` and ``(j, i)`` into one undirected edge.
            Without it the pairs are unordered and each edge is listed once. ``max`` is the weight of larger magnitude.
        duplicates : {'error', 'first', 'sum'}
            What a pair that is listed again means.
        loops : {'keep', 'drop'}
            A kept self-loop counts once in its node's degree.
        signed : bool
            Allow negative weights. Degrees are then sums of absolute values, ``d_i = sum_j |A_ij|``.
        nodes : NodeTable, DataFrame, mapping of columns or sequence of names, optional
            What is known of the nodes, in node order; see :meth:`with_nodes`.

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
        A = edges_to_csr(pairs, weights, n_nodes, mirror=mirror, duplicates=duplicates, signed=signed)
        as_is = directed or mirror
        graph = cls._from_canonical(A, as_is=as_is, directed=directed, symmetrize=symmetrize, loops=loops, nodes=nodes)
        return graph.to(home)

    @classmethod
    def from_adjacency(
        cls,
        A: Any,
        *,
        directed: bool = False,
        symmetrize: str | None = None,
        loops: str = "keep",
        signed: bool = False,
        nodes: Any = None,
    ) -> Graph:
        """Return the graph of a square matrix: dense, or any scipy or cupyx sparse array or matrix.

        Repeated entries of a sparse matrix are summed, stored zeros are no edges, and the caller's matrix is
        left as it is. A difference between ``A[i, j]`` and ``A[j, i]`` within rounding is averaged away. A matrix
        on a GPU is checked and put in order on the host, once; the graph is on the GPU again. ``signed=True`` allows
        negative entries, and complex ones of a Hermitian matrix.

        Examples
        --------
        >>> Graph.from_adjacency([[0, 2], [2, 0]]).degrees
        array([2., 2.])
        """
        matrix = canonical(_on_host(A), signed=signed)
        graph = cls._from_canonical(
            matrix, as_is=directed, directed=directed, symmetrize=symmetrize, loops=loops, nodes=nodes
        )
        return graph.to(device_of(A))

    @classmethod
    def from_points(
        cls,
        points: Any,
        k: int | None = None,
        radius: float | None = None,
        *,
        weight: str = "gaussian",
        bandwidth: float | None = None,
        mutual: bool = False,
        metric: str = "euclidean",
    ) -> Graph:
        r"""Return the graph of neighbouring points: the k nearest of each, or all within a radius.

        From 100 000 points in more than 15 dimensions on, pynndescent finds approximate neighbours if it is installed.

        Parameters
        ----------
        points : array_like or DataFrame, shape (n_nodes, dimensions)
            The index of a DataFrame names the nodes.
        k, radius : int and float
            Exactly one of them. With ``k`` two points are joined if one is among the k nearest of the other.
        weight : {'gaussian', 'binary', 'distance'}
            Weight of an edge of length d: :math:`e^{-d^2 / (2 \sigma^2)}`, 1, or d.
        bandwidth : float, optional
            The :math:`\sigma` of Gaussian weights. By default the mean length of the edges, so that the weights do not
            depend on the unit of length.
        mutual : bool
            With ``k``, join two points only if each is among the k nearest of the other.
        metric : str
            Any metric of ``sklearn.neighbors.NearestNeighbors``.

        Returns
        -------
        Graph
            With the points as coordinates where they have two or three dimensions.

        Raises
        ------
        ParameterError
            Not exactly one of k and radius is given, or an option does not apply.
        GraphError
            Points are not finite, or coincide where their distance is the weight.
        ImportError
            scikit-learn is not installed, and the search needs it: radius neighbours, or another metric.

        Examples
        --------
        >>> Graph.from_points([(0.0, 0.0), (1.0, 0.0), (0.0, 2.0)], k=1, weight="distance").degrees
        array([3., 1., 2.])
        """
        names = None if not is_frame(points) or is_default_index(points.index) else list(points.index)
        rows = check_points(points)
        pairs, distance = neighbour_pairs(rows, k, radius, mutual=mutual, metric=metric)
        graph = cls.from_edges(pairs, edge_weights(distance, weight, bandwidth), len(rows), nodes=names)
        return graph.with_coordinates(rows) if rows.shape[1] in (2, 3) else graph

    @classmethod
    def _from_canonical(
        cls, A: Any, *, as_is: bool, directed: bool, symmetrize: str | None = None, loops: str = "keep", nodes: Any
    ) -> Graph:
        if directed and A.dtype.kind == "c":
            raise GraphError("a complex adjacency is that of an undirected graph; leave out directed=True")
        if directed and symmetrize is not None:
            raise GraphError(f"directed=True and symmetrize={symmetrize!r} contradict each other; give one")
        if check_choice(loops, LOOP_RULES, "loops") == "drop":
            A = drop_loops(A)
        if not as_is:
            A = symmetric(A, symmetrize)
        weights = None if np.all(A.data == 1.0) else A.data
        graph = cls(MemoryStorage(*index_arrays(A), weights, directed), node_table(nodes, A.shape[0]))
        total_degrees(graph.degrees)
        return graph

    @property
    def labels(self) -> tuple[Hashable, ...] | None:
        """The names of the nodes, ``nodes.names``."""
        return self.nodes.names

    @property
    def coordinates(self) -> FloatArray | None:
        """Positions of the nodes, ``nodes.coordinates``: shape (n_nodes, 2) or (n_nodes, 3), or None."""
        return self.nodes.coordinates

    def with_nodes(self, table: Any, on: str | None = None) -> Graph:
        """Return the graph with more columns in its node table, aligned with the nodes by name.

        Parameters
        ----------
        table : DataFrame, Arrow table, mapping of columns, NodeTable or sequence of names
            Rows are matched with the names of the nodes, or with their numbers where they have none. A sequence, and a
            mapping without ``on``, are in node order. Coordinates come from ``coordinates`` or ``pos``, or from numeric
            columns ``x, y`` (``z``), ``lon, lat`` or ``longitude, latitude``.
        on : str, optional
            The column of ``table`` that holds the names; by default the index of a DataFrame.

        Returns
        -------
        Graph

        Raises
        ------
        GraphError
            Names are missing, unknown or repeated.

        Examples
        --------
        >>> g = Graph.from_edges([(0, 1)], nodes=("Oslo", "Rome"))
        >>> g.with_nodes({"city": ["Rome", "Oslo"], "km": [3, 4]}, on="city").nodes["km"]
        array([4, 3])
        """
        return replace(self, nodes=with_table(self.nodes, table, on))

    def with_coordinates(self, coordinates: Any) -> Graph:
        """Return the graph with positions of its nodes, shape (n_nodes, 2) or (n_nodes, 3).

        Examples
        --------
        >>> Graph.from_edges([(0, 1)]).with_coordinates([(0, 0), (3, 4)]).coordinates
        array([[0., 0.],
               [3., 4.]])
        """
        return replace(self, nodes=replace(self.nodes, coordinates=check_coordinates(coordinates, self.n_nodes)))

    def subgraph(self, nodes: Any) -> Graph:
        """Return the induced subgraph of some nodes, in their order, with their rows of the node table.

        Parameters
        ----------
        nodes : array_like of int or bool, or sequence of names
            Node numbers, a mask over all nodes, or names where they are not numbers.

        Returns
        -------
        Graph

        Raises
        ------
        GraphError
            A node is unknown or listed twice.

        Examples
        --------
        >>> path = Graph.from_edges([(0, 1), (1, 2)], nodes=("a", "b", "c"))
        >>> path.subgraph(["c", "b"]).nodes.names
        ('c', 'b')
        """
        keep = self._node_numbers(nodes)
        return self._derived(self.adjacency[keep][:, keep], self.directed, self.nodes.take(to_host(keep)))

    def _derived(self, A: Any, directed: bool, nodes: NodeTable) -> Graph:
        """Return the graph of a matrix that is known to be valid, on the device of this one."""
        matrix = canonical(_on_host(A), signed=True)
        return Graph._from_canonical(matrix, as_is=True, directed=directed, nodes=nodes).to(self.device)

    def magnetic(self, q: float = 0.25) -> Graph:
        r"""Return the graph of the Hermitian adjacency of a directed graph.

        Entry ``(i, j)`` is :math:`\tfrac{1}{2}(A_{ij} + A_{ji})\, e^{2\pi i q (B_{ij} - B_{ji})}` with ``B`` the 0/1
        pattern of ``A``: the magnitude is that of the symmetrised graph, the phase has the direction. Degrees are sums
        of absolute values, so all families of operators, transforms, banks and energies apply; signals are complex.

        Parameters
        ----------
        q : float
            Turns per arc. 0 gives the symmetrised graph, ``1/2`` a signed one (both have real weights); at ``1/4`` an
            arc and its reverse are opposite imaginary numbers.

        Returns
        -------
        Graph
            Undirected, with the node table of this graph.

        Raises
        ------
        GraphError
            The edges are not in memory, or the weights are complex already.

        See Also
        --------
        from_edges : ``signed=True`` keeps negative weights.
        operator : The families of operators on the result.

        References
        ----------
        .. [1] M. Fanuel, C. M. Alaiz, A. Fernandez and J. A. K. Suykens, "Magnetic eigenmaps for the visualization of
           directed networks", Appl. Comput. Harmon. Anal. 44, 2018.
        .. [2] X. Zhang, Y. He, N. Brugnone, M. Perlmutter and M. Hirn, "MagNet: a neural network for directed graphs",
           NeurIPS 2021.

        Examples
        --------
        >>> ring = Graph.from_edges([(0, 1), (1, 2), (2, 0)], directed=True)
        >>> ring.magnetic(0.25).adjacency.toarray()[0]
        array([0.+0.j , 0.+0.5j, 0.-0.5j])
        >>> ring.magnetic(0.0).degrees
        array([1., 1., 1.])
        """
        if self.in_memory().is_complex:
            raise GraphError("the weights are complex: this graph has a Hermitian adjacency already")
        turns = check_number(q, "q")
        return self._derived(magnetic_adjacency(_on_host(self.adjacency), turns), False, self.nodes)

    def _node_numbers(self, nodes: Any) -> IntArray:
        at = np.asarray(nodes)
        if at.dtype.kind == "b" and at.shape == (self.n_nodes,):
            return np.flatnonzero(at)
        numbers = at.astype(np.int64) if at.dtype.kind in "iu" else self.nodes.find(list(nodes))
        bad = numbers[(numbers < 0) | (numbers >= self.n_nodes)]
        if numbers.ndim != 1 or bad.size:
            raise GraphError(f"node {int(bad[0]) if bad.size else nodes} is not in 0..{self.n_nodes - 1}")
        if len(np.unique(numbers)) != len(numbers):
            raise GraphError("a node is listed twice; list each node of a subgraph once")
        return numbers

    def largest_component(self) -> Graph:
        """Return the induced subgraph of the largest (weakly) connected component.

        Of several, the one that holds the smallest node number.

        Examples
        --------
        >>> Graph.from_edges([(0, 1), (2, 3), (3, 4)]).largest_component().n_nodes
        3
        """
        self.in_memory()
        labels = to_host(self.component_labels)
        return self.subgraph(labels == np.argmax(np.bincount(labels))) if self.n_nodes else self

    def in_memory(self) -> MemoryStorage:
        """Return the CSR arrays, for functions that read single edges.

        Raises
        ------
        GraphError
            The edges are on disk or on MPI ranks.

        Examples
        --------
        >>> Graph.from_edges([(0, 1)]).in_memory().indices.tolist()
        [1, 0]
        """
        if not isinstance(self.storage, MemoryStorage):
            raise GraphError(f"this needs all edges in memory, and they are on {PLACES[self.storage.kind]}: {REMEDY}")
        return self.storage

    def in_one_process(self) -> None:
        """Raise GraphError if the rows are distributed over MPI ranks, for functions that need the rows of all nodes.

        Examples
        --------
        >>> Graph.from_edges([(0, 1)]).in_one_process()
        """
        if self.storage.kind == "mpi":
            raise GraphError(f"this needs the rows of all nodes, and they are distributed over MPI ranks: {REMEDY}")

    def load(self) -> Graph:
        """Return the graph with all of its edges in the memory of this process; itself if they are there.

        Examples
        --------
        >>> Graph.from_edges([(0, 1)]).load()
        Graph(n_nodes=2, n_edges=1, undirected, unweighted)
        """
        return self if self.storage.kind == "memory" else replace(self, storage=self.storage.load())

    @property
    def directed(self) -> bool:
        """Whether entry (i, j) is an arc from i to j that need not have a reverse."""
        return self.storage.directed

    @property
    def indptr(self) -> IntArray:
        """CSR row pointers; in memory only."""
        return self.in_memory().indptr

    @property
    def indices(self) -> IntArray:
        """CSR column indices: row ``i`` holds the neighbours of node ``i``, sorted; in memory only."""
        return self.in_memory().indices

    @property
    def weights(self) -> FloatArray | None:
        """One weight per stored entry; None where every weight is 1; in memory only."""
        return self.in_memory().weights

    @property
    def device(self) -> str:
        """Where the arrays live: ``'cpu'`` or ``'cuda'``."""
        return self.storage.device

    @property
    def local_rows(self) -> range:
        """The nodes whose rows this process holds: all of them, except on MPI ranks."""
        return self.storage.local_rows

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
        return replace(self, storage=self.in_memory().to(device))

    @property
    def n_nodes(self) -> int:
        """Number of nodes."""
        return self.storage.n_nodes

    @property
    def n_entries(self) -> int:
        """Number of stored entries: two for an undirected edge, one for a loop or an arc."""
        return self.storage.n_entries

    @property
    def n_edges(self) -> int:
        """Number of edges; an undirected edge and a self-loop count once each."""
        return self.n_entries if self.directed else (self.n_entries + self.n_loops) // 2

    @property
    def n_loops(self) -> int:
        """Number of nodes with a self-loop."""
        return self.storage.n_loops

    @property
    def is_weighted(self) -> bool:
        """Whether any weight differs from 1."""
        return self.storage.is_weighted

    @property
    def is_signed(self) -> bool:
        """Whether some weight is negative or complex."""
        return self.storage.is_signed

    @property
    def is_complex(self) -> bool:
        """Whether the weights are complex, as those of :meth:`magnetic`; signals on the graph then are, too."""
        return self.storage.is_complex

    def check_unsigned(self, what: str, *, remedy: str = "give abs(graph.adjacency) to from_adjacency") -> None:
        """Raise GraphError if a weight is negative or complex, for functions whose theory has weights >= 0.

        Examples
        --------
        >>> Graph.from_edges([(0, 1)]).check_unsigned("an effective resistance")
        """
        self.check_real(what, remedy=remedy)
        if self.is_signed:
            raise GraphError(f"{what} needs weights >= 0 and this graph has negative ones; {remedy}")

    def check_real(self, what: str, *, remedy: str = "give abs(graph.adjacency) to from_adjacency") -> None:
        """Raise GraphError if the weights are complex, for functions whose theory has real ones.

        Examples
        --------
        >>> Graph.from_edges([(0, 1)], [-1.0], signed=True).check_real("a networkx graph")
        """
        if self.is_complex:
            raise GraphError(f"{what} needs real weights and this graph has complex ones; {remedy}")

    @property
    def longest_row(self) -> int:
        """The greatest number of stored entries in a row."""
        return self.storage.longest_row

    @property
    def adjacency(self) -> sparse.csr_array:
        """The adjacency as a read-only CSR array, scipy's or the device's; entry (i, j) is the weight of the edge."""
        return self.in_memory().adjacency

    @property
    def degrees(self) -> FloatArray:
        """Degrees ``d_i = sum_j |A_ij|`` (out-degrees if directed) of the local nodes; a self-loop counts once."""
        return self.storage.degrees

    @property
    def loop_weights(self) -> FloatArray:
        """The diagonal of the adjacency, of the local nodes."""
        return self.storage.loop_weights

    @property
    def rows(self) -> IntArray:
        """The row of every stored entry, beside ``indices``; made anew at each call."""
        return self.in_memory().rows

    def edges(self) -> tuple[IntArray, IntArray, FloatArray | None]:
        """Return sources, targets and weights (None where all are 1), each edge once.

        Examples
        --------
        >>> source, target, weights = Graph.from_edges([(2, 0), (1, 2)]).edges()
        >>> source.tolist(), target.tolist()
        ([0, 1], [2, 2])
        """
        arrays = self.in_memory()
        rows = arrays.rows
        once = slice(None) if self.directed else rows <= arrays.indices
        return rows[once], arrays.indices[once], None if arrays.weights is None else arrays.weights[once]

    def reordered(self, how: str = "community") -> Reordered:
        """Return the graph with neighbours numbered close to each other, so that matvecs read memory in order.

        Parameters
        ----------
        how : {'community', 'rcm'}
            ``community``, by label propagation, numbers groups one after the other: for social, citation and web
            graphs. ``rcm``, reverse Cuthill-McKee, makes the band of the matrix narrow: for grids, meshes, roads and
            other graphs without long edges. On a graph with neither, no order helps.

        Examples
        --------
        >>> Graph.from_edges([(0, 2), (1, 3)]).reordered("community").order
        array([0, 2, 1, 3])
        """
        self.in_memory()
        check_host(self.device, "nodes are renumbered")
        return reordered(self, how)

    @property
    def component_labels(self) -> IntArray:
        """The number of each local node's (weakly) connected component, in the order of their first nodes."""
        return self.storage.component_labels

    @property
    def n_components(self) -> int:
        """Number of (weakly) connected components; an isolated node is one."""
        labels = self.component_labels
        last = int(namespace(labels).max(labels)) if labels.shape[0] else -1
        return int(self.storage.reduce(last, "max")) + 1

    @property
    def n_isolated(self) -> int:
        """Number of nodes of degree zero."""
        local = int(namespace(self.degrees).count_nonzero(self.degrees == 0))
        return int(self.storage.reduce(local, "sum"))

    @cached_property
    def transposed(self) -> Graph:
        """The graph with every arc reversed; conjugate where weights are complex, else an undirected graph's own."""
        own = not (self.directed or self.is_complex)
        return self if own else replace(self, storage=self.in_memory().transposed())

    @property
    def sha256(self) -> str:
        """A fingerprint of structure and weights, the same on every machine and storage."""
        return self.storage.sha256

    def check_signal(self, x: Any) -> Signal:
        """Return a signal of this graph as finite floating numbers, one row for each local node.

        On MPI ranks all of them raise what one of them refuses.

        Examples
        --------
        >>> Graph.from_edges([(0, 1)]).check_signal([1, 2])
        array([1., 2.])
        """
        blocks = [signal.values for _, signal in self.signals(x, copies=1)]
        return blocks[0] if len(blocks) == 1 else namespace(*blocks).concat(blocks, axis=1)

    def signals(self, x: Any, *, copies: int = PRODUCT_COPIES, reserved: int = 0) -> Iterator[tuple[int, Checked]]:
        """Yield a signal in checked blocks of columns, each with its first column; a pandas index aligns it by name.

        Examples
        --------
        >>> [(start, block.values) for start, block in Graph.from_edges([(0, 1)]).signals([1, 2])]
        [(0, array([1., 2.]))]
        """
        aligned = self.nodes.align(x, self.local_rows) if is_frame(x) else x
        return self.storage.signals(aligned, copies=copies, reserved=reserved)

    def check_labels(self, y: Any) -> IntArray:
        """Return class labels of the local nodes as integers; a negative label means unlabelled.

        Examples
        --------
        >>> Graph.from_edges([(0, 1)]).check_labels([1.0, -1.0])
        array([ 1, -1])
        """
        with self.storage.agree():
            labels = check_labels(self.nodes.align(y, self.local_rows), len(self.local_rows))
        return labels

    def local(self, x: Any) -> Any:
        """Return the local rows of an array over all nodes: all of it, except on MPI ranks.

        Examples
        --------
        >>> Graph.from_edges([(0, 1)]).local([5.0, 6.0])
        [5.0, 6.0]
        """
        rows = self.local_rows
        return x if len(rows) == self.n_nodes else x[rows.start : rows.stop]

    def plot(self, x: Any = None, *, ax: Any = None, **options: Any) -> Any:
        """Draw the graph, with a signal at its nodes if one is given.

        Parameters
        ----------
        x : array_like, shape (n_nodes,), or name of a numeric column of the node table, optional
            A real signal.
        ax : matplotlib Axes, optional
        **options
            Those of :func:`gsp_fb.plot.graph`, or of :func:`gsp_fb.plot.signal` with ``x``.

        Returns
        -------
        matplotlib Axes

        See Also
        --------
        gsp_fb.plot.graph : The drawing without a signal.
        gsp_fb.plot.signal : The drawing with one.

        Examples
        --------
        >>> Graph.from_edges([(0, 1), (1, 2)]).plot().name
        'rectilinear'
        """
        from . import plot

        if x is None:
            return plot.graph(self, ax=ax, **options)
        return plot.signal(self, self.nodes[x] if isinstance(x, str) else x, ax=ax, **options)

    def __len__(self) -> int:
        return self.n_nodes

    def __bool__(self) -> bool:
        return True

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, Graph):
            return NotImplemented
        if self is other:
            return True
        facts = [(graph.n_nodes, graph.n_entries, graph.directed, graph.labels) for graph in (self, other)]
        return facts[0] == facts[1] and self.sha256 == other.sha256

    def __hash__(self) -> int:
        return hash((self.n_nodes, self.n_entries, self.directed))

    def __repr__(self) -> str:
        facts = [
            f"n_nodes={self.n_nodes}",
            f"n_edges={self.n_edges}",
            "directed" if self.directed else "undirected",
            "weighted" if self.is_weighted else "unweighted",
        ]
        facts += ["complex" if self.is_complex else "signed"] * self.is_signed
        facts += [f"n_loops={self.n_loops}"] * bool(self.n_loops)
        if self.storage.kind != "memory":
            # Counting isolated nodes would read the files, or wait for other ranks.
            return f"Graph({', '.join(facts)}, on {PLACES[self.storage.kind]})"
        facts += [f"n_isolated={self.n_isolated}"] * bool(self.n_isolated)
        return f"Graph({', '.join(facts)})"

    def _repr_html_(self) -> str:
        facts = {
            "nodes": self.n_nodes,
            "arcs" if self.directed else "edges": self.n_edges,
            "weighted": self.is_weighted,
            "signs": ("complex" if self.is_complex else "signed") if self.is_signed else None,
            "self-loops": self.n_loops or None,
            "isolated nodes": self.n_isolated or None,
            "components": self.n_components,
        }
        return facts_html("Graph", facts)


def _on_host(data: Any) -> Any:
    """Return what a graph is made of as the host can read it; lists, frames and tensors as they are."""
    return data if device_of(data) == "cpu" else to_host(data)
