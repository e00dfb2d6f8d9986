r"""Energies that follow a changing graph and signal: an update costs the degree of the nodes it touches.

In every family the Dirichlet energy is :math:`\sum_i d_i |u_i|^2 - \sum_{ij} u_i A_{ij} u_j` with ``u = x`` (comb,
random walks) or ``u_i = x_i / sqrt(d~_i)`` (symmetric families), as added self-loops cancel. A change at a node touches
the terms of its edges alone.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, field

import numpy as np

from ._arguments import check_count, check_host, check_number
from .backend import FloatArray
from .errors import GraphError, ParameterError, SignalError
from .graph import Graph
from .operators import Operator, check_operator, operator
from .variants import VARIANTS

__all__ = ["StreamingEnergy"]

# Largest magnitudes, so that weight * value^2 does not overflow, and an energy from which rounding is relative.
VALUE, WEIGHT, NORMAL = 1e75, 1e150, 1e-280


@dataclass
class _Sum:
    """A running sum with Neumaier's compensation: long sequences of updates do not drift."""

    value: float = 0.0
    lost: float = 0.0

    def add(self, term: float) -> None:
        total = self.value + term
        large, small = (self.value, term) if abs(self.value) >= abs(term) else (term, self.value)
        self.lost += (large - total) + small
        self.value = total

    @property
    def total(self) -> float:
        return float(self.value + self.lost)


@dataclass(eq=False)
class StreamingEnergy:
    """Dirichlet energy, energy and S-value of a signal while edges and values change.

    An update costs the degrees of the nodes it touches. Sums are compensated; their error is rounding of the largest
    energy since the start, so begin anew after values that were larger by many orders of magnitude.

    Parameters
    ----------
    op : Operator
        High channel of an undirected graph with real weights in memory; any family, ``isolated='self'``.
    x : array_like, shape (n_nodes,)
        Real signal, later the current one. Values up to 1e75 and weights up to 1e150 in magnitude: products of larger
        ones overflow.
    signed : bool
        Allow edges of negative weight; a graph that has some allows them anyway.

    Raises
    ------
    GraphError
        The graph is directed, complex, or not in memory.
    ParameterError
        ``op`` is no operator, a low channel, or has another policy for isolated nodes.
    SignalError
        ``x`` is not real, or out of range.

    See Also
    --------
    dirichlet_energy, signal_energy, s_value : The same of a fixed graph and signal.

    Examples
    --------
    >>> from gsp_fb import operator
    >>> path = operator(Graph.from_edges([(0, 1), (1, 2)]), "comb", channel="high")
    >>> stream = StreamingEnergy(path, [1.0, 2.0, 4.0])
    >>> stream.dirichlet_energy
    5.0
    >>> stream.set_value(2, 2.0)
    >>> stream.set_edge(0, 2, 3.0)
    >>> stream.dirichlet_energy, stream.graph.n_edges
    (4.0, 3)
    """

    op: Operator
    x: FloatArray
    signed: bool = False
    _edges: list[dict[int, float]] = field(init=False, repr=False)
    _degrees: FloatArray = field(init=False, repr=False)
    _smooth: _Sum = field(init=False, repr=False, default_factory=_Sum)
    _squares: _Sum = field(init=False, repr=False, default_factory=_Sum)

    def __post_init__(self) -> None:
        graph = _checked(self.op)
        given = graph.check_signal(self.x)
        if given.ndim != 1 or given.dtype.kind == "c":
            raise SignalError(f"a stream has one real signal, shape (n_nodes,), not {given.shape} of {given.dtype}")
        self.x = np.array(given, dtype=np.float64)
        self.signed = self.signed or graph.is_signed
        _check_size(np.abs(self.x).max(initial=0.0), VALUE, "a value", SignalError)
        _check_size(graph.degrees.max(initial=0.0), WEIGHT, "a degree", GraphError)
        A, self._degrees = graph.adjacency, np.array(graph.degrees)
        spans = zip(A.indptr[:-1].tolist(), A.indptr[1:].tolist(), strict=True)
        self._edges = [dict(zip(A.indices[s:e].tolist(), A.data[s:e].tolist(), strict=True)) for s, e in spans]
        for node in range(graph.n_nodes):
            self._count(node, 1.0)
        # Each pair was counted at both of its ends.
        for i, edges in enumerate(self._edges):
            for j, w in edges.items():
                if i < j:
                    self._smooth.add(2.0 * w * self._u(i) * self._u(j))

    def set_value(self, node: int, value: float) -> None:
        """Change the value at a node.

        Examples
        --------
        >>> from gsp_fb import operator
        >>> stream = StreamingEnergy(operator(Graph.from_edges([(0, 1)]), "sym", channel="high"), [1.0, 1.0])
        >>> stream.set_value(0, 3.0)
        >>> stream.dirichlet_energy
        4.0
        """
        node, number = self._node(node), check_number(value, "value")
        _check_size(abs(number), VALUE, "value", ParameterError)
        self._count(node, -1.0)
        self.x[node] = number
        self._count(node, 1.0)

    def set_edge(self, source: int, target: int, weight: float) -> None:
        """Change the weight of an edge, add one, or remove it by weight 0; negative only if signed.

        Examples
        --------
        >>> from gsp_fb import operator
        >>> stream = StreamingEnergy(operator(Graph.from_edges([(0, 1)]), "comb", channel="high"), [1.0, 3.0])
        >>> stream.set_edge(0, 1, 0.5)
        >>> stream.dirichlet_energy
        2.0
        """
        i, j, w = self._node(source), self._node(target), check_number(weight, "weight")
        if w < 0 and not self.signed:
            raise GraphError(f"edge ({i}, {j}) has weight {w}; give signed=True to the stream for negative weights")
        _check_size(abs(w), WEIGHT, "weight", ParameterError)
        self._count_pair(i, j, -1.0)
        for here, there in {(i, j), (j, i)}:
            self._edges[here].pop(there, None)
            if w:
                self._edges[here][there] = w
            # Summed anew: differences would leave rounding where a node becomes isolated.
            self._degrees[here] = math.fsum(map(abs, self._edges[here].values()))
        self._count_pair(i, j, 1.0)

    @property
    def dirichlet_energy(self) -> float:
        """<x, L x> in the inner product of the operator."""
        return self._smooth.total

    @property
    def signal_energy(self) -> float:
        """<x, x> in the inner product of the operator."""
        return self._squares.total

    @property
    def s_value(self) -> float:
        """Mean graph frequency; nan for a signal that is zero everywhere."""
        if self.signal_energy > NORMAL:
            return self.dirichlet_energy / self.signal_energy
        if not np.any(self.x):
            return math.nan
        # Squares vanish: computed anew, in a unit in which they do not.
        again = operator(self.graph, self.op.family, "high", self.op.gamma or None)
        unit = int(np.frexp(np.abs(self.x).max())[1])
        return StreamingEnergy(again, np.ldexp(self.x, -unit)).s_value

    @property
    def graph(self) -> Graph:
        """The current graph, made anew, with the node table of the first."""
        listed = [(i, j, w) for i, edges in enumerate(self._edges) for j, w in edges.items() if i <= j]
        pairs = np.array([entry[:2] for entry in listed], dtype=np.int64).reshape(-1, 2)
        nodes = self.op.graph.nodes
        return Graph.from_edges(pairs, [entry[2] for entry in listed], len(self._edges), signed=True, nodes=nodes)

    def _node(self, node: int) -> int:
        number = check_count(node, "node", minimum=0)
        if number >= len(self._edges):
            raise ParameterError(f"node {number} is not in the graph; nodes are 0..{len(self._edges) - 1}")
        return number

    def _looped(self, node: int) -> float:
        loops = {"none": 0.0, "unit": self.op.gamma, "degree": self.op.gamma * self._degrees[node]}
        return float(self._degrees[node] + loops[VARIANTS[self.op.family].loops])

    def _u(self, node: int) -> float:
        if VARIANTS[self.op.family].norm != "sym":
            return float(self.x[node])
        looped = self._looped(node)
        return float(self.x[node]) / math.sqrt(looped) if looped > 0 else 0.0

    def _count(self, node: int, sign: float) -> None:
        """Add or take away the terms of a node: its own, and those with its neighbours."""
        u, edges = self._u(node), self._edges[node]
        reached = math.fsum(w * self._u(j) for j, w in edges.items() if j != node)
        own = self._degrees[node] - edges.get(node, 0.0)
        self._smooth.add(sign * (own * u * u - 2.0 * u * reached))
        weight = self._looped(node) if VARIANTS[self.op.family].norm == "rw" else 1.0
        self._squares.add(sign * (weight or 1.0) * float(self.x[node]) ** 2)

    def _count_pair(self, i: int, j: int, sign: float) -> None:
        for node in {i, j}:
            self._count(node, sign)
        if i != j:
            self._smooth.add(sign * 2.0 * self._edges[i].get(j, 0.0) * self._u(i) * self._u(j))


def _check_size(size: float, limit: float, what: str, error: type[Exception]) -> None:
    """Raise where products would overflow, before anything is changed."""
    if size > limit:
        raise error(f"{what} is {size:g} in magnitude, more than {limit:g}, and energies would overflow; rescale")


def _checked(op: Operator) -> Graph:
    graph = check_operator(op).graph
    graph.in_memory()
    check_host(graph.device, "streams are updated")
    graph.check_real("a stream of energies")
    if graph.directed:
        raise GraphError("a stream needs an undirected graph; give symmetrize= to the graph")
    if op.channel != "high":
        raise ParameterError(f"energies are those of a high channel, not of {op!r}; give op.complement()")
    if op.isolated != "self":
        raise ParameterError(f"a stream keeps isolated nodes, and {op!r} has isolated={op.isolated!r}; give 'self'")
    return graph
