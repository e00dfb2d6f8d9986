"""Where to draw the nodes: a force layout that needs no graph library and gives the same picture every time."""

from __future__ import annotations

import numpy as np

from ..backend import FloatArray, IntArray
from ..graph import Graph

__all__ = ["neighbourhood", "node_positions"]

STEPS = 150
# Nodes that each node is pushed away from in one step; the sample changes from step to step.
PARTNERS = 100


def node_positions(graph: Graph, rng: np.random.Generator) -> FloatArray:
    """Return a place in the unit square for every node: edges pull, all nodes push, the centre holds.

    Fruchterman and Reingold's forces, with the push taken from a random sample of nodes and scaled up, so that a step
    costs O(edges + nodes) and thousands of nodes take seconds.

    Examples
    --------
    >>> node_positions(Graph.from_edges([(0, 1), (1, 2)]), np.random.default_rng(0)).shape
    (3, 2)
    """
    n_nodes = graph.n_nodes
    at = rng.uniform(-1.0, 1.0, (n_nodes, 2))
    spacing = 2.0 / np.sqrt(max(n_nodes, 1))
    rows, columns = graph.rows, graph.indices
    for step in range(STEPS):
        pull = _pull(at, rows, columns, spacing)
        push = _push(at, rng, spacing)
        force = push - pull - 0.6 * at * np.linalg.norm(at, axis=1, keepdims=True)
        length = np.linalg.norm(force, axis=1, keepdims=True)
        heat = 0.25 * (1.0 - step / STEPS) ** 1.5
        at = at + force / np.maximum(length, 1e-12) * np.minimum(length, heat)
    return _framed(at)


def _pull(at: FloatArray, rows: IntArray, columns: IntArray, spacing: float) -> FloatArray:
    gap = at[rows] - at[columns]
    strong = gap * np.linalg.norm(gap, axis=1, keepdims=True) / spacing
    axes = [np.bincount(rows, weights=strong[:, axis], minlength=len(at)) for axis in (0, 1)]
    return np.stack(axes, axis=1)


def _push(at: FloatArray, rng: np.random.Generator, spacing: float) -> FloatArray:
    n_nodes = len(at)
    few = np.arange(n_nodes) if n_nodes <= PARTNERS else rng.choice(n_nodes, PARTNERS, replace=False)
    apart = [np.subtract.outer(at[:, axis], at[few, axis]) for axis in (0, 1)]
    strength = 1.0 / np.maximum(apart[0] ** 2 + apart[1] ** 2, 1e-4 * spacing**2)
    force = np.stack([(gap * strength).sum(axis=1) for gap in apart], axis=1)
    return np.asarray(force * spacing**2 * (n_nodes / max(len(few), 1)))


def _framed(at: FloatArray) -> FloatArray:
    """Return the positions in the unit square, each axis filled; a far-off percent is held at the border."""
    low, high = np.quantile(at, [0.005, 0.995], axis=0)
    span = np.where(high > low, high - low, 1.0)
    centred = np.where(high > low, (at - low) / span, 0.5)
    framed: FloatArray = np.clip(0.02 + 0.96 * centred, 0.0, 1.0)
    return framed


def neighbourhood(graph: Graph, size: int) -> IntArray:
    """Return up to ``size`` nodes around the node of greatest degree, ring by ring, in ascending order.

    Examples
    --------
    >>> neighbourhood(Graph.from_edges([(0, 1), (1, 2), (2, 3), (1, 4)]), 4)
    array([0, 1, 2, 4])
    """
    found = np.array([int(np.argmax(graph.degrees))])
    seen = np.zeros(graph.n_nodes, dtype=bool)
    ring = found
    while ring.size and found.size < size:
        seen[ring] = True
        spans = [graph.indices[graph.indptr[node] : graph.indptr[node + 1]] for node in ring]
        ring = np.unique(np.concatenate(spans))
        ring = ring[~seen[ring]][: size - found.size]
        found = np.concatenate([found, ring])
    return np.sort(found)
