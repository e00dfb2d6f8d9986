"""Force-directed layout with a sampled repulsion, in numpy alone."""

from __future__ import annotations

import numpy as np

from ..backend import FloatArray, IntArray
from ..graph import Graph

__all__ = ["force_directed"]

STEPS = 150
# Nodes that each node is repelled by in one step; the sample changes from step to step.
PARTNERS = 100
GRAVITY = 0.6


def force_directed(graph: Graph, rng: np.random.Generator, *, steps: int = STEPS) -> FloatArray:
    """Return coordinates by the forces of Fruchterman and Reingold, shape (n_nodes, 2).

    Repulsion comes from a random sample of nodes and is scaled up, so that a step costs O(edges + nodes); a weak
    gravity keeps the sampled forces from drifting.

    References
    ----------
    .. [1] T. Fruchterman and E. Reingold, "Graph drawing by force-directed placement", Software: Practice and
       Experience 21, 1991.

    Examples
    --------
    >>> force_directed(Graph.from_edges([(0, 1), (1, 2)]), np.random.default_rng(0)).shape
    (3, 2)
    """
    at = rng.uniform(-1.0, 1.0, (graph.n_nodes, 2))
    spacing = 2.0 / np.sqrt(max(graph.n_nodes, 1))
    rows, columns = graph.rows, graph.indices
    for step in range(steps):
        attraction = _attraction(at, rows, columns, spacing)
        repulsion = _repulsion(at, rng, spacing)
        force = repulsion - attraction - GRAVITY * at * np.linalg.norm(at, axis=1, keepdims=True)
        length = np.linalg.norm(force, axis=1, keepdims=True)
        temperature = 0.25 * (1.0 - step / steps) ** 1.5
        at = at + force / np.maximum(length, 1e-12) * np.minimum(length, temperature)
    return at


def _attraction(at: FloatArray, rows: IntArray, columns: IntArray, spacing: float) -> FloatArray:
    gap = at[rows] - at[columns]
    strong = gap * np.linalg.norm(gap, axis=1, keepdims=True) / spacing
    axes = [np.bincount(rows, weights=strong[:, axis], minlength=len(at)) for axis in (0, 1)]
    return np.stack(axes, axis=1)


def _repulsion(at: FloatArray, rng: np.random.Generator, spacing: float) -> FloatArray:
    n_nodes = len(at)
    few = np.arange(n_nodes) if n_nodes <= PARTNERS else rng.choice(n_nodes, PARTNERS, replace=False)
    apart = [np.subtract.outer(at[:, axis], at[few, axis]) for axis in (0, 1)]
    strength = 1.0 / np.maximum(apart[0] ** 2 + apart[1] ** 2, 1e-4 * spacing**2)
    force = np.stack([(gap * strength).sum(axis=1) for gap in apart], axis=1)
    return np.asarray(force * spacing**2 * (n_nodes / max(len(few), 1)))
