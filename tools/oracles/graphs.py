"""Graphs with repeated eigenvalues, and the closed forms of their spectra where there are any."""

from __future__ import annotations

from collections.abc import Callable
from itertools import permutations
from typing import Any

import networkx as nx
import numpy as np

import gsp_fb as gf

__all__ = ["CLOSED_FORM", "DENSE"]


def _torus(*sides: int) -> gf.Graph:
    return gf.from_networkx(nx.grid_graph(list(sides), periodic=True))


def _torus_frequencies(*sides: int) -> Any:
    """Return the eigenvalues of D - A: sums over the axes of those of rings."""
    values = np.zeros(1)
    for side in sides:
        values = (values[:, None] + 2 - 2 * np.cos(2 * np.pi * np.arange(side) / side)).ravel()
    return np.sort(values)


def _grid_frequencies(*sides: int) -> Any:
    values = np.zeros(1)
    for side in sides:
        values = (values[:, None] + 2 - 2 * np.cos(np.pi * np.arange(side) / side)).ravel()
    return np.sort(values)


def _hypercube_frequencies(dimension: int) -> Any:
    bits = np.array([bin(i).count("1") for i in range(2**dimension)])
    return np.sort(2.0 * bits)


def _circulant_frequencies(n_nodes: int, steps: tuple[int, ...]) -> Any:
    angles = 2 * np.pi * np.arange(n_nodes) / n_nodes
    return np.sort(sum(2 - 2 * np.cos(step * angles) for step in steps))


def _multipartite_frequencies(*sizes: int) -> Any:
    """Return the eigenvalues of D - A of a complete multipartite graph: 0, n - size (size - 1 times), n."""
    n_nodes = sum(sizes)
    inner = [np.full(size - 1, n_nodes - size) for size in sizes]
    return np.sort(np.concatenate([[0.0], *inner, np.full(len(sizes) - 1, n_nodes)]))


def _star_frequencies(n_nodes: int) -> Any:
    return np.sort(np.concatenate([[0.0], np.ones(n_nodes - 2), [float(n_nodes)]]))


def _copies(graph: Any, times: int) -> gf.Graph:
    return gf.from_networkx(nx.disjoint_union_all([graph] * times))


def _weighted(graph: gf.Graph, decades: float, seed: int) -> gf.Graph:
    source, target, _ = graph.edges()
    weights = 10.0 ** np.random.default_rng(seed).uniform(-decades, decades, len(source))
    return gf.Graph.from_edges(np.stack([source, target], axis=1), weights=weights, n_nodes=graph.n_nodes)


# Graph and eigenvalues of its D - A; sizes beyond what is decomposed densely.
CLOSED_FORM: dict[str, Callable[[], tuple[gf.Graph, Any]]] = {
    "torus 60 x 60": lambda: (_torus(60, 60), _torus_frequencies(60, 60)),
    "torus 15 x 15 x 15": lambda: (_torus(15, 15, 15), _torus_frequencies(15, 15, 15)),
    "grid 50 x 80": lambda: (gf.datasets.grid(50, 80), _grid_frequencies(50, 80)),
    "hypercube 2^11": lambda: (gf.from_networkx(nx.hypercube_graph(11)), _hypercube_frequencies(11)),
    "circulant 3000 (1, 7, 30)": lambda: (
        gf.from_networkx(nx.circulant_graph(3000, [1, 7, 30])),
        _circulant_frequencies(3000, (1, 7, 30)),
    ),
    "complete multipartite 100, 200, 300": lambda: (
        gf.from_networkx(nx.complete_multipartite_graph(100, 200, 300)),
        _multipartite_frequencies(100, 200, 300),
    ),
    "star 5000": lambda: (gf.from_networkx(nx.star_graph(4999)), _star_frequencies(5000)),
    "300 rings of 12": lambda: (
        _copies(nx.cycle_graph(12), 300),
        np.sort(np.tile(_circulant_frequencies(12, (1,)), 300)),
    ),
    "edgeless 2000": lambda: (gf.Graph.from_edges([], n_nodes=2000), np.zeros(2000)),
}

# LAPACK is the oracle, for every family.
DENSE: dict[str, Callable[[], gf.Graph]] = {
    "torus 30 x 30": lambda: _torus(30, 30),
    "hypercube 2^10": lambda: gf.from_networkx(nx.hypercube_graph(10)),
    "binary tree 2^9": lambda: gf.from_networkx(nx.balanced_tree(2, 8)),
    "ternary tree": lambda: gf.from_networkx(nx.balanced_tree(3, 5)),
    "20 karate clubs": lambda: _copies(nx.karate_club_graph(), 20),
    "caveman 60 x 10": lambda: gf.from_networkx(nx.connected_caveman_graph(60, 10)),
    "loose caveman 80 x 8": lambda: gf.from_networkx(nx.caveman_graph(80, 8)),
    "complete multipartite 6 x 100": lambda: gf.from_networkx(nx.complete_multipartite_graph(*[100] * 6)),
    "Cayley graph of S6": lambda: gf.from_networkx(_transpositions(6)),
    "grid 30 x 30": lambda: gf.datasets.grid(30, 30),
    "weighted grid 25 x 25": lambda: _weighted(gf.datasets.grid(25, 25), 3.0, 0),
    "preferential attachment 900, 1": lambda: gf.from_networkx(nx.barabasi_albert_graph(900, 1, seed=0)),
    "preferential attachment 900, 4": lambda: gf.from_networkx(nx.barabasi_albert_graph(900, 4, seed=0)),
    "3-regular 900": lambda: gf.from_networkx(nx.random_regular_graph(3, 900, seed=0)),
    "wheel 700": lambda: gf.from_networkx(nx.wheel_graph(700)),
    "friendship 350": lambda: gf.from_networkx(nx.windmill_graph(350, 3)),
    "lollipop 60, 600": lambda: gf.from_networkx(nx.lollipop_graph(60, 600)),
    "karate and 700 isolated": lambda: gf.from_networkx(_with_isolated(nx.karate_club_graph(), 700)),
}


def _with_isolated(graph: Any, n_isolated: int) -> Any:
    wide = nx.convert_node_labels_to_integers(graph)
    wide.add_nodes_from(range(len(wide), len(wide) + n_isolated))
    return wide


def _transpositions(n_symbols: int) -> Any:
    """Return the Cayley graph of the symmetric group with adjacent transpositions."""
    graph = nx.Graph()
    for word in permutations(range(n_symbols)):
        for i in range(n_symbols - 1):
            graph.add_edge(word, (*word[:i], word[i + 1], word[i], *word[i + 2 :]))
    return nx.convert_node_labels_to_integers(graph)
