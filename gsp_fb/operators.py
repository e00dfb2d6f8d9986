"""Operators: every Laplacian and affinity matrix of the paper as three vectors over the graph's own CSR."""

from __future__ import annotations

import math
import os
from collections.abc import Callable
from dataclasses import dataclass, fields, replace
from functools import cached_property
from numbers import Number
from typing import Any, TypeVar

import numpy as np
from scipy import sparse

from ._arguments import check_choice, check_signal
from ._bounds import gershgorin, loop_loss, merris
from ._document import facts_html
from ._kernels import affine_product, chosen_engine
from .backend import (
    FloatArray,
    Signal,
    add_diagonal,
    as_complex,
    cast,
    freeze,
    linear_operator,
    namespace,
    scaled_csr,
    to_host,
)
from .backend.algebra import LinearMap, linear_map
from .errors import GraphError, ParameterError
from .graph import REMEDY, Graph
from .storage import SPECIAL, DiskStorage, collect_blocks
from .variants import CHANNELS, ISOLATED, LOOPS, VARIANTS, check_family, check_gamma

__all__ = ["Operator", "check_operator", "elsewhere", "operator"]

# Up to this many entries, and this many columns at once, scipy's product with a stored matrix is the fastest.
SMALL_ENTRIES, SMALL_COLUMNS = 20_000, 8

_Result = TypeVar("_Result")


@dataclass(frozen=True, eq=False, repr=False)
class Operator:
    """``x -> left * (A @ (right * x)) + diag * x``: every matrix of the paper over one shared adjacency.

    Made by :func:`operator`. Two operators of one graph share its edges, in whatever storage; only the vectors are
    their own. On MPI ranks the vectors hold the local rows.

    Parameters
    ----------
    graph : Graph
        The graph whose adjacency ``A`` is applied.
    left, right, diag : float64 arrays, one entry a node
        Row scaling, column scaling and diagonal of the formula above.
    scale : float64 array
        ``diag(scale) @ self @ diag(1 / scale)`` is symmetric, or Hermitian where weights are complex (for an undirected
        graph).
    family, channel, gamma, isolated
        The arguments of :func:`operator`; ``gamma`` is 0 where the family has none.

    See Also
    --------
    operator : The function that returns it.
    spectrum : Eigenvalues and modes of an operator.
    FilterBank : Functions of an operator, applied to signals.

    Examples
    --------
    >>> path = Graph.from_edges([(0, 1), (1, 2)])
    >>> low = operator(path, "rw")
    >>> low @ [1.0, 5.0, 3.0]
    array([5., 2., 5.])
    >>> low.complement() @ [1.0, 5.0, 3.0]
    array([-4.,  3., -2.])
    """

    graph: Graph
    left: FloatArray
    right: FloatArray
    diag: FloatArray
    scale: FloatArray
    family: str
    channel: str
    gamma: float
    isolated: str

    def __post_init__(self) -> None:
        for vector in (self.left, self.right, self.diag, self.scale):
            freeze(vector)

    @property
    def shape(self) -> tuple[int, int]:
        """``(n_nodes, n_nodes)``."""
        return (self.graph.n_nodes, self.graph.n_nodes)

    @cached_property
    def is_symmetric(self) -> bool:
        """Whether the matrix equals its transpose, or conjugate transpose for complex weights, by construction."""
        return not self.graph.directed and bool(namespace(self.scale).all(self.scale == 1.0))

    # numpy leaves ``2.0 * op`` with a scalar of its own to __rmul__.
    __array_ufunc__ = None

    def __mul__(self, factor: Any) -> Any:
        return linear_map(self) * factor if isinstance(factor, Number) else NotImplemented

    __rmul__ = __mul__

    def __truediv__(self, divisor: Any) -> Any:
        return linear_map(self) / divisor

    def __neg__(self) -> Any:
        return -linear_map(self)

    def __add__(self, other: Any) -> Any:
        return linear_map(self) + other

    def __sub__(self, other: Any) -> Any:
        return linear_map(self) - other

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, Operator):
            return NotImplemented
        if self is other:
            return True
        names = ("family", "channel", "gamma", "isolated", "left", "right", "diag")
        pairs = ((to_host(getattr(self, name)), to_host(getattr(other, name))) for name in names)
        return all(np.array_equal(a, b) for a, b in pairs) and self.graph == other.graph

    def __hash__(self) -> int:
        return hash((self.graph, self.family, self.channel, self.gamma))

    def toarray(self) -> FloatArray:
        """Return the matrix as a dense array.

        Examples
        --------
        >>> operator(Graph.from_edges([(0, 1)]), "sym", channel="high").toarray()
        array([[ 1., -1.],
               [-1.,  1.]])
        """
        dense: FloatArray = self.to_sparse().toarray()
        return dense

    def __matmul__(self, x: Any) -> Any:
        storage = self.graph.storage
        if type(x) is np.ndarray and storage.kind == "memory":
            return self.apply(check_signal(x, storage.n_nodes))
        if isinstance(x, Operator | LinearMap):
            return linear_map(self) @ x
        return self.multiply(x)

    def multiply(self, x: Any, *, out: str | os.PathLike[str] | None = None) -> Signal:
        """Return ``op @ x`` for a signal of any width, also from and to files.

        On disk the columns are cut into blocks that fit the memory limit of the graph; on MPI ranks ``x`` and the
        result hold the local rows.

        Parameters
        ----------
        x : array_like, sparse, StoredArray or path of a ``.npy`` file, shape (n_nodes,) or (n_nodes, n_signals)
            A file holds the rows of all nodes.
        out : path_like, optional
            A ``.npy`` file to write instead of returning an array.

        Returns
        -------
        array, or StoredArray if ``out`` is given

        Raises
        ------
        SignalError
            ``x`` has the wrong length or is not finite.
        ParameterError
            Not even one column, or not the result, fits the memory limit.

        Examples
        --------
        >>> operator(Graph.from_edges([(0, 1), (1, 2)]), "rw").multiply([1.0, 5.0, 3.0])
        array([5., 2., 5.])
        """
        return collect_blocks(self.graph, x, lambda signal: self.apply(signal.values), out=out)

    @cached_property
    def _small(self) -> Any:
        """``diag(left) A diag(right)`` of a small graph: scipy's product with it is over before a kernel is chosen."""
        graph = self.graph
        if graph.storage.kind != "memory" or graph.n_entries > SMALL_ENTRIES or graph.device != "cpu":
            return None
        return None if chosen_engine() == "numba" else scaled_csr(graph.adjacency, self.left, self.right)

    def apply(self, x: Signal) -> Signal:
        """Return the product with a signal that was already checked; ``op @ x`` checks it first.

        Examples
        --------
        >>> import numpy as np
        >>> edge = operator(Graph.from_edges([(0, 1)]), "rw")
        >>> edge.apply(np.array([1.0, 3.0]))
        array([3., 1.])
        """
        matrix, x = self._small, as_complex(x) if self.graph.storage.is_complex else x
        if matrix is None or type(x) is not np.ndarray or (x.ndim == 2 and x.shape[1] > SMALL_COLUMNS):
            return affine_product(self.graph, x, self.left, self.right, self.diag)
        y = matrix @ x
        y += self.diag * x if x.ndim == 1 else self.diag[:, None] * x
        return y if y.dtype == x.dtype else y.astype(x.dtype)

    def in_memory(self) -> Operator:
        """Return the operator on the whole graph in the memory of this process; itself if it is there.

        Raises
        ------
        GraphError
            The graph is on disk, and loading it would exceed the memory limit it was opened with.

        Examples
        --------
        >>> edge = operator(Graph.from_edges([(0, 1)]), "rw")
        >>> edge.in_memory() is edge
        True
        """
        storage = self.graph.storage
        if storage.kind == "memory":
            return self
        if isinstance(storage, DiskStorage) and not storage.fits_memory:
            raise GraphError(
                f"the edges on disk exceed memory={storage.budget.limit}: {REMEDY} if they fit, or raise it"
            )
        left, right, diag, scale = map(storage.gather, (self.left, self.right, self.diag, self.scale))
        return replace(self, graph=self.graph.load(), left=left, right=right, diag=diag, scale=scale)

    @cached_property
    def T(self) -> Operator:  # noqa: N802  # the name every array library gives the transpose
        """The transpose."""
        if self.is_symmetric and not self.graph.is_complex:
            return self
        return replace(self, graph=self.graph.transposed, left=self.right, right=self.left, scale=1.0 / self.scale)

    @property
    def H(self) -> Operator:  # noqa: N802  # the name of the array libraries
        """The conjugate transpose; the transpose where weights are real."""
        if not self.graph.is_complex:
            return self.T
        return self if self.is_symmetric else replace(self, left=self.right, right=self.left, scale=1.0 / self.scale)

    def complement(self) -> Operator:
        """Return ``I - self``: the other channel of the two-channel bank.

        Examples
        --------
        >>> low = operator(Graph.from_edges([(0, 1)]), "rw")
        >>> low.complement() @ [1.0, 3.0]
        array([-2.,  2.])
        """
        other = CHANNELS[1 - CHANNELS.index(self.channel)]
        return replace(self, left=-self.left, diag=1.0 - self.diag, channel=other)

    @cached_property
    def symmetrized(self) -> Operator:
        """The symmetric matrix ``diag(scale) @ self @ diag(1 / scale)`` that shares the spectrum."""
        if self.is_symmetric:
            return self
        ones = namespace(self.scale).ones_like(self.scale)
        return replace(self, left=self.left * self.scale, right=self.right / self.scale, scale=ones)

    @cached_property
    def diagonal(self) -> FloatArray:
        """The diagonal of the matrix, self-loops of the graph included."""
        return freeze(self.diag + self.left * self.right * self.graph.loop_weights)

    @cached_property
    def bounds(self) -> tuple[float, float]:
        """A closed interval that holds every eigenvalue, from a formula (no eigensolver).

        Normalised families: Gershgorin's discs of ``D~^-1 A~``, so ``[-1, 1]`` shrinks with the loops.
        Combinatorial: Merris's ``max_i d_i + m_i``, ``m_i`` the mean degree of the neighbours of ``i``.
        The ends are attained on K2, even rings and stars. Signed and complex weights enter by their absolute values.
        """
        if self.graph.directed:
            raise GraphError(
                "a directed graph's operator has no real spectrum to bound; give symmetrize= to the graph, or take "
                "graph.magnetic()"
            )
        if VARIANTS[self.family].norm == "none":
            # 1 - (1 - bound) would lose the digits of small weights.
            greatest = merris(self.graph)
            return (0.0, greatest) if self.channel == "high" else (1.0 - greatest, 1.0)
        low = self if self.channel == "low" else self.complement()
        # Row sums in the random-walk form: 1, or 0 where an isolated node gives zero.
        lost = (self.graph.degrees == 0) & (low.diag == 0.0)
        row_sums = 1.0 - cast(lost, namespace(low.diag).float64)
        loss = low.left * low.right * loop_loss(self.graph)
        least, greatest = gershgorin(self.graph, low.diagonal, row_sums, loss)
        return (least, greatest) if self.channel == "low" else (1.0 - greatest, 1.0 - least)

    def to_sparse(self) -> Any:
        """Return the matrix itself, newly made, as CSR on the graph's device: scipy's or cupyx's.

        Examples
        --------
        >>> operator(Graph.from_edges([(0, 1)]), "sym", channel="high").to_sparse().toarray()
        array([[ 1., -1.],
               [-1.,  1.]])
        """
        return add_diagonal(scaled_csr(self.graph.adjacency, self.left, self.right), self.diag)

    def to_scipy(self) -> sparse.csr_array:
        """Return the matrix itself, newly made, as a scipy CSR array; of a graph on a GPU see :meth:`to_sparse`.

        Examples
        --------
        >>> operator(Graph.from_edges([(0, 1)]), "lazy_rw").to_scipy().toarray()
        array([[0.5, 0.5],
               [0.5, 0.5]])
        """
        if self.graph.device != "cpu":
            raise GraphError(
                f"the graph is on {self.graph.device!r}: to_sparse() gives the matrix there, and an operator of "
                "graph.to('cpu') the one of scipy"
            )
        matrix: sparse.csr_array = self.to_sparse()
        return matrix

    def linear_operator(self) -> Any:
        """Return a matrix-free ``LinearOperator``, for the solvers of scipy (or of cupyx, on a GPU).

        Examples
        --------
        >>> system = operator(Graph.from_edges([(0, 1), (1, 2)]), "renorm_sym").linear_operator()
        >>> system.shape, system.matvec([1.0, 0.0, 0.0]).round(4)
        ((3, 3), array([0.5   , 0.4082, 0.    ]))
        """
        return linear_operator(
            as_complex(self.diag) if self.graph.is_complex else self.diag,
            self.shape,
            matvec=lambda x: self.apply(_flat(x)),
            matmat=self.apply,
            rmatvec=lambda x: self.H.apply(_flat(x)),
            rmatmat=self.H.apply,
        )

    def __reduce__(self) -> tuple[Any, ...]:
        return Operator, tuple(getattr(self, field.name) for field in fields(self))

    def __repr__(self) -> str:
        gamma = f", gamma={self.gamma:g}" if self.gamma else ""
        return f"Operator({self.family}, {self.channel}{gamma}, n_nodes={self.graph.n_nodes})"

    def _repr_html_(self) -> str:
        facts = {
            "family": f"{VARIANTS[self.family].title} ({self.family})",
            "channel": self.channel,
            "gamma": self.gamma or None,
            "isolated nodes": self.isolated,
            "graph": repr(self.graph),
        }
        return facts_html("Operator", facts)


def operator(
    graph: Graph, family: str, channel: str = "low", gamma: float | None = None, isolated: str = "self"
) -> Operator:
    """Return one channel of one family of operators on ``graph``.

    ``A~ = A + gamma diag(s)``, ``d~ = d + gamma s``; low is ``D~^-1/2 A~ D~^-1/2`` (sym) or ``D~^-1 A~`` (rw),
    high is ``I - low``. The combinatorial pair is ``L = D - A`` and ``I - L``. Degrees are sums of absolute weights,
    ``d_i = sum_j |A_ij|``, so signed and magnetic (Hermitian) graphs have the same families and bounds.

    Parameters
    ----------
    graph : Graph
        In any storage, directed or undirected, with weights of any sign; see :meth:`Graph.magnetic`.
    family : {'comb', 'sym', 'rw', 'renorm_sym', 'renorm_rw', 'lazy_sym', 'lazy_rw'}
        A row of the table of variants.
    channel : {'low', 'high'}
        Aggregation, or its complement to the identity.
    gamma : float > 0, optional
        Weight of the added loops, 1 by default; only renormalised and lazy families have one.
    isolated : {'self', 'zero', 'error'}
        A node with ``d~ = 0`` keeps its value in the low channel (``L_ii = 0``), loses it to the high one
        (``L_ii = 1``: the paper's tables and PyTorch Geometric), or is refused.

    Returns
    -------
    Operator
        Applied by ``op @ x``; the edges are shared with ``graph``.

    See Also
    --------
    Operator.complement : The other channel of an operator.
    spectrum : Eigenvalues and modes of an operator.
    gsp_fb.filters.two_channel : Both channels as a filterbank.

    References
    ----------
    .. [1] F. R. K. Chung, "Spectral Graph Theory", AMS 1997 (``comb``, ``sym``, ``rw``).
    .. [2] T. N. Kipf and M. Welling, "Semi-supervised classification with graph convolutional networks", ICLR 2017
       (``renorm_sym`` with gamma = 1).
    .. [3] S. Luan et al., "Complete the missing half: Augmenting aggregation filtering with diversification for graph
       convolutional networks", GLFrontiers 2022, Section 2.1 and Appendix E (``lazy_sym``, ``lazy_rw``).

    Examples
    --------
    >>> edge = Graph.from_edges([(0, 1)])
    >>> operator(edge, "renorm_sym").to_scipy().toarray()
    array([[0.5, 0.5],
           [0.5, 0.5]])
    """
    variant = check_family(family)
    gamma = check_gamma(family, gamma)
    check_choice(channel, CHANNELS, "channel")
    check_choice(isolated, ISOLATED, "isolated policy")
    xp = namespace(graph.degrees)
    ones = xp.ones_like(graph.degrees)
    if variant.norm == "none":
        # The high channel first: 1 - (1 - d) would lose the digits of a small degree.
        high = Operator(graph, -ones, ones, graph.degrees, ones, family, "high", gamma, isolated)
        return high if channel == "high" else high.complement()
    empty = (graph.degrees == 0) & (variant.loops != "unit")
    if isolated == "error":
        _refuse_isolated(graph, empty)
    inverse, root, share = LOOPS[variant.loops](xp.where(empty, 1.0, graph.degrees), gamma)
    keep = 1.0 if isolated == "self" else 0.0
    diag = xp.where(empty, keep, share)
    if variant.norm == "rw":
        left, right, scale = xp.where(empty, 0.0, inverse), ones, xp.where(empty, 1.0, root)
    else:
        left, scale = xp.where(empty, 0.0, 1.0 / root), ones
        right = left
    low = Operator(graph, left, right, diag, scale, family, "low", gamma, isolated)
    return low if channel == "low" else low.complement()


# How an operator is made from what is given in its place, by the first part of the module of its type.
MADE_FROM = {
    "gsp_fb": "operator(graph, 'sym', channel='high')",
    "networkx": "operator(from_networkx(G), 'sym', channel='high')",
    "igraph": "operator(from_igraph(G), 'sym', channel='high')",
}


def check_operator(op: Any) -> Operator:
    """Return ``op`` if it is an operator; otherwise raise ParameterError that shows how one is made from what it is."""
    if isinstance(op, Operator):
        return op
    made = MADE_FROM.get(type(op).__module__.partition(".")[0])
    made = made or "operator(Graph.from_adjacency(A), 'sym', channel='high')"
    raise ParameterError(f"an operator is needed, not {type(op).__name__}; give {made}")


def elsewhere(function: Callable[..., _Result], op: Operator, *args: Any, **options: Any) -> _Result:
    """Return what ``function`` gives for an operator whose graph is not in memory.

    The storage's own implementation does it if there is one, otherwise the function itself on the loaded graph.
    """
    special: Callable[..., _Result] | None = SPECIAL.get((op.graph.storage.kind, function.__name__))
    return special(op, *args, **options) if special else function(op.in_memory(), *args, **options)


def _flat(x: Any) -> Any:
    return namespace(x).reshape(x, (-1,))


def _refuse_isolated(graph: Graph, empty: Any) -> None:
    """Raise GraphError on every process if any has an isolated node."""
    found = namespace(empty).nonzero(empty)[0]
    first = graph.local_rows.start + int(found[0]) if found.shape[0] else math.inf
    node = graph.storage.reduce(float(first), "min")
    if node < math.inf:
        raise GraphError(f"node {int(node)} is isolated; give isolated='self' or 'zero', or drop the node")
