"""Degenerate, hub-heavy and badly scaled graphs, each with a signal, labels and its dense matrices."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import networkx as nx
import numpy as np

import gsp_fb as gf

from .matrices import laplacian

__all__ = ["GRAPHS", "Truth"]


def _weighted(graph: Any, decades: float) -> gf.Graph:
    edges = np.array(list(nx.convert_node_labels_to_integers(graph).edges()))
    weights = 10.0 ** np.random.default_rng(0).uniform(-decades, decades, len(edges))
    return gf.Graph.from_edges(edges, weights, n_nodes=len(graph))


GRAPHS: dict[str, Callable[[], gf.Graph]] = {
    "one node": lambda: gf.Graph.from_edges([], n_nodes=1),
    "edgeless": lambda: gf.Graph.from_edges([], n_nodes=6),
    "one edge": lambda: gf.Graph.from_edges([(0, 1)]),
    "loops and isolated nodes": lambda: gf.Graph.from_edges([(1, 1), (1, 2), (4, 4), (2, 6)], n_nodes=9),
    "two components": lambda: gf.from_networkx(nx.disjoint_union(nx.path_graph(5), nx.complete_graph(4))),
    "torus 5 x 5": lambda: gf.from_networkx(nx.grid_graph([5, 5], periodic=True)),
    "complete multipartite": lambda: gf.from_networkx(nx.complete_multipartite_graph(3, 4, 5)),
    "star": lambda: gf.datasets.star(40),
    "wheel": lambda: gf.from_networkx(nx.wheel_graph(30)),
    "preferential attachment": lambda: gf.from_networkx(nx.barabasi_albert_graph(60, 2, seed=0)),
    "grid, weights 1e-3..1e3": lambda: _weighted(nx.grid_2d_graph(6, 7), 3.0),
    "wheel, weights 1e-6..1e6": lambda: _weighted(nx.wheel_graph(30), 6.0),
    "path, weights 1e-100..1e100": lambda: _weighted(nx.path_graph(30), 100.0),
}


@dataclass(frozen=True, eq=False)
class Truth:
    """A graph with a signal and labels, and what dense matrices give of it."""

    graph: gf.Graph
    x: Any
    y: Any

    @property
    def table(self) -> Any:
        """Three signals as columns."""
        return np.stack([self.x, self.x**2, np.ones_like(self.x)], axis=1)

    @cached_property
    def adjacency(self) -> Any:
        """The dense adjacency."""
        return self.graph.adjacency.toarray()

    @cached_property
    def pairs(self) -> list[tuple[int, int, float]]:
        """Every ordered pair of different neighbours, with its weight."""
        a = self.adjacency
        return [(int(i), int(j), float(a[i, j])) for i, j in np.argwhere(a) if i != j]

    @property
    def edges(self) -> list[tuple[int, int, float]]:
        """Every edge once, loops among them."""
        a = np.triu(self.adjacency)
        return [(int(i), int(j), float(a[i, j])) for i, j in np.argwhere(a)]

    @property
    def known(self) -> Any:
        """Every other node, and the first of each component."""
        mask = np.arange(len(self.x)) % 2 == 0
        parts = nx.connected_components(nx.from_numpy_array(self.adjacency))
        mask[[min(part) for part in parts]] = True
        return mask

    def laplacian(self, family: str) -> tuple[Any, Any]:
        """Return the dense high channel and the weights of its inner product, from the paper's definition."""
        high, weights = laplacian(self.adjacency, family)
        return high.toarray(), weights

    def symmetric(self, family: str) -> tuple[Any, Any]:
        """Return the symmetric matrix that is similar to the high channel, and the root of its weights."""
        high, weights = self.laplacian(family)
        root = np.sqrt(weights)
        return root[:, None] * high / root[None, :], root

    def applied(self, family: str, gain: Callable[[Any], Any], x: Any = None) -> Any:
        """Return the signal filtered by a gain at each frequency."""
        matrix, root = self.symmetric(family)
        values, basis = np.linalg.eigh(matrix)
        x = self.x if x is None else x
        filtered = (basis * gain(values)) @ (basis.T @ (root * x.T).T)
        return (filtered.T / root).T
