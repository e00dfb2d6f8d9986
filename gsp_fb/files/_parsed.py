"""Parsed content of a file, and its conversion to a graph under the caller's options."""

from __future__ import annotations

from collections.abc import Hashable
from dataclasses import dataclass, field
from typing import Any, Protocol

import numpy as np

from .._arguments import check_choice, check_count
from .._build import DUPLICATES, LOOP_RULES, SYMMETRIZE
from ..backend import FloatArray, IntArray
from ..errors import FormatError, GraphError, ParameterError
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

    def __post_init__(self) -> None:
        check_count(self.limits.max_nodes, "max_nodes", minimum=0)
        check_count(self.limits.max_bytes, "max_bytes")
        check_choice(self.duplicates, DUPLICATES, "duplicates")
        check_choice(self.loops, LOOP_RULES, "loops")
        if self.symmetrize is None:
            return
        check_choice(self.symmetrize, SYMMETRIZE, "symmetrize")
        if self.directed:
            raise GraphError(f"directed=True and symmetrize={self.symmetrize!r} contradict each other; give one")

    def direction(self, stated: bool | None) -> dict[str, Any]:
        """Return the ``directed`` and ``symmetrize`` to build with, given the direction ``stated`` in the file."""
        if stated and self.directed is False and self.symmetrize is None:
            raise FormatError("the graph is directed; give symmetrize='max' (or 'mean', 'sum') or directed=True")
        if stated is False:
            return {"directed": bool(self.directed), "symmetrize": None}
        arcs = bool(stated) if self.directed is None else self.directed
        return {"directed": arcs and self.symmetrize is None, "symmetrize": self.symmetrize}


class Parsed(Protocol):
    """Content of a file, valid as far as the format itself can be checked."""

    def graph(self, options: Options) -> Graph:
        """Return the graph of the content under ``options``."""


@dataclass(frozen=True)
class Edges:
    """A list of edges, each once; ``directed`` and ``n_nodes`` are None where the file does not state them."""

    pairs: IntArray
    weights: FloatArray | None = None
    n_nodes: int | None = None
    directed: bool | None = None
    labels: Labels = None

    def graph(self, options: Options) -> Graph:
        """Return the graph of the list."""
        direction = options.direction(self.directed)
        if self.directed is False and direction["directed"]:
            undirected = self._build(options, directed=False, symmetrize=None)
            return Graph.from_adjacency(undirected.adjacency, directed=True, nodes=self.labels)
        return self._build(options, **direction)

    def _build(self, options: Options, **direction: Any) -> Graph:
        n_nodes = self._count_nodes()
        options.limits.check_nodes(n_nodes)
        rules: dict[str, Any] = {"duplicates": options.duplicates, "loops": options.loops, "nodes": self.labels}
        return Graph.from_edges(self.pairs, self.weights, n_nodes, **direction, **rules)

    def _count_nodes(self) -> int:
        if self.n_nodes is not None:
            return self.n_nodes
        if not len(self.pairs):
            raise FormatError("no edges, and the number of nodes is not stated")
        return max(int(self.pairs.max()) + 1, 0)


@dataclass(frozen=True)
class Matrix:
    """An adjacency matrix with entries as stored; repeated entries are summed."""

    adjacency: Any
    directed: bool | None = None
    labels: Labels = None
    signed: bool = False

    def graph(self, options: Options) -> Graph:
        """Return the graph of the matrix."""
        if options.duplicates != "sum":
            raise ParameterError(
                f"duplicates={options.duplicates!r} applies to edge lists; repeated entries of a matrix are summed"
            )
        options.limits.check_nodes(max(self.adjacency.shape))
        direction = options.direction(self.directed)
        rules: dict[str, Any] = {"loops": options.loops, "signed": self.signed, "nodes": self.labels}
        return Graph.from_adjacency(self.adjacency, **rules, **direction)


@dataclass
class NamedEdges:
    """Edges between named nodes, collected during parsing; a missing weight is 1."""

    nodes: dict[Hashable, int] = field(default_factory=dict)
    ends: list[tuple[Hashable, Hashable]] = field(default_factory=list)
    weights: list[float | None] = field(default_factory=list)

    def add_node(self, name: Hashable) -> bool:
        """Add a node and return whether its name is new."""
        is_new = name not in self.nodes
        self.nodes.setdefault(name, len(self.nodes))
        return is_new

    def add_edge(self, source: Hashable, target: Hashable, weight: float | None) -> None:
        """Add an edge; its nodes may be added later."""
        self.ends.append((source, target))
        self.weights.append(weight)

    def edges(self, directed: bool, labels: Labels) -> Edges:
        """Return the edges by node number."""
        try:
            pairs = [(self.nodes[source], self.nodes[target]) for source, target in self.ends]
        except KeyError as unknown:
            raise FormatError(f"an edge refers to node {unknown}, which is not in the file") from None
        weights = [1.0 if weight is None else weight for weight in self.weights]
        return Edges(
            np.array(pairs, dtype=np.int64).reshape(-1, 2),
            np.array(weights, dtype=np.float64),
            len(self.nodes),
            directed,
            labels,
        )
