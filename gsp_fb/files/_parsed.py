"""Parsed content of a file, and its conversion to a graph under the caller's options."""

from __future__ import annotations

from collections.abc import Hashable
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from .._arguments import check_choice, check_count
from .._attributes import WEIGHT, is_number, weight_attribute
from .._build import DUPLICATES, LOOP_RULES, check_direction
from ..backend import FloatArray, IntArray
from ..errors import FormatError, ParameterError
from ..graph import Graph
from ._limits import Limits

__all__ = ["Edges", "Labels", "Matrix", "NamedEdges", "Options", "Parsed"]

Labels = tuple[int, ...] | tuple[str, ...] | None


@dataclass(frozen=True)
class Options:
    """Reading options; ``directed=None`` takes the direction stated in the file, undirected if it states none."""

    directed: bool | None = None
    symmetrize: str | None = None
    duplicates: str = "error"
    loops: str = "keep"
    limits: Limits = field(default_factory=Limits)
    source: str | None = None
    target: str | None = None
    weight: str | None = WEIGHT
    header: bool | None = None
    signed: bool = False

    def __post_init__(self) -> None:
        check_count(self.limits.max_nodes, "max_nodes", minimum=0)
        check_count(self.limits.max_bytes, "max_bytes")
        check_choice(self.duplicates, DUPLICATES, "duplicates")
        check_choice(self.loops, LOOP_RULES, "loops")
        check_direction(False, bool(self.directed), self.symmetrize)

    def check_ends(self) -> None:
        """Raise ParameterError where only one of source and target is named, or a header is denied that they need."""
        if (self.source is None) != (self.target is None):
            raise ParameterError(f"source={self.source!r} and target={self.target!r}: name both columns or none")
        if self.source is not None and self.header is False:
            raise ParameterError(f"source={self.source!r} is a name in a header, and header=False denies one")

    def direction(self, stated: bool | None) -> dict[str, Any]:
        """Return the ``directed`` and ``symmetrize`` to build with, given the direction ``stated`` in the file."""
        if stated and self.directed is False and self.symmetrize is None:
            raise FormatError("the graph is directed; give symmetrize='max' (or 'mean', 'sum') or directed=True")
        if stated is False:
            return {"directed": bool(self.directed), "symmetrize": None}
        arcs = bool(stated) if self.directed is None else self.directed
        return {"directed": arcs and self.symmetrize is None, "symmetrize": self.symmetrize}


@dataclass(frozen=True)
class Edges:
    """A list of edges, each once; ``directed`` and ``n_nodes`` are None where the file does not state them."""

    pairs: IntArray
    weights: FloatArray | None = None
    n_nodes: int | None = None
    directed: bool | None = None
    nodes: Any = None

    def graph(self, options: Options) -> Graph:
        """Return the graph of the list."""
        direction = options.direction(self.directed)
        if self.directed is False and direction["directed"]:
            undirected = self._build(options, directed=False, symmetrize=None)
            return Graph.from_adjacency(undirected.adjacency, directed=True, signed=options.signed, nodes=self.nodes)
        return self._build(options, **direction)

    def _build(self, options: Options, **direction: Any) -> Graph:
        if self.n_nodes is None and not len(self.pairs):
            raise FormatError("no edges, and the number of nodes is not stated")
        n_nodes = max(int(self.pairs.max()) + 1, 0) if self.n_nodes is None else self.n_nodes
        options.limits.check_nodes(n_nodes)
        rules: dict[str, Any] = {"duplicates": options.duplicates, "loops": options.loops, "nodes": self.nodes}
        return Graph.from_edges(self.pairs, self.weights, n_nodes, signed=options.signed, **direction, **rules)


@dataclass(frozen=True)
class Matrix:
    """An adjacency matrix with entries as stored; repeated entries are summed."""

    adjacency: Any
    directed: bool | None = None
    nodes: Any = None
    signed: bool = False

    def graph(self, options: Options) -> Graph:
        """Return the graph of the matrix."""
        if options.duplicates != "sum":
            what = f"duplicates={options.duplicates!r} applies to edge lists"
            raise ParameterError(f"{what}; repeated entries of a matrix are summed")
        options.limits.check_nodes(max(self.adjacency.shape))
        direction = options.direction(self.directed)
        signed = self.signed or options.signed
        rules: dict[str, Any] = {"loops": options.loops, "signed": signed, "nodes": self.nodes}
        return Graph.from_adjacency(self.adjacency, **rules, **direction)


# Content of a file, valid as far as the format itself can be checked.
Parsed = Edges | Matrix


@dataclass
class NamedEdges:
    """Nodes and edges with their attributes, collected during parsing."""

    nodes: dict[Hashable, int] = field(default_factory=dict)
    ends: list[tuple[Hashable, Hashable]] = field(default_factory=list)
    cells: dict[str, dict[str, dict[int, Any]]] = field(default_factory=lambda: {"node": {}, "edge": {}})

    def add_node(self, name: Hashable) -> bool:
        """Add a node and return whether its name is new."""
        is_new = name not in self.nodes
        self.nodes.setdefault(name, len(self.nodes))
        return is_new

    def count(self, kind: str) -> int:
        """Return the number of nodes or of edges."""
        return len(self.nodes if kind == "node" else self.ends)

    def describe(self, kind: str, name: str, value: Any) -> None:
        """Set an attribute of the node or of the edge that was added last."""
        self.cells[kind].setdefault(name, {})[self.count(kind) - 1] = value

    def edges(self, directed: bool, nodes: Any, weight: str | None) -> Edges:
        """Return the edges by node number; an edge without a weight has weight 1."""
        try:
            pairs = [(self.nodes[source], self.nodes[target]) for source, target in self.ends]
        except KeyError as unknown:
            raise FormatError(f"an edge refers to node {unknown}, which is not in the file") from None
        ends = np.array(pairs, dtype=np.int64).reshape(-1, 2)
        return Edges(ends, self._weights(weight), len(self.nodes), directed, nodes)

    def _weights(self, weight: str | None) -> FloatArray | None:
        cells = self.cells["edge"]
        numeric = [name for name, given in cells.items() if all(map(is_number, given.values()))]
        chosen = weight_attribute(cells, numeric, weight)
        if chosen is None:
            return None
        odd = next((k for k, value in cells[chosen].items() if not is_number(value)), None)
        if odd is not None:
            raise FormatError(f"edge {self.ends[odd]} has {chosen} {cells[chosen][odd]!r}, which is not a number")
        return np.array([cells[chosen].get(k, 1.0) for k in range(len(self.ends))], dtype=np.float64)
