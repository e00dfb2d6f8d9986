"""Force-directed layouts with a sampled repulsion, in numpy alone: of a graph as it is, or by its communities."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
from scipy import sparse

from ..backend import FloatArray, IntArray
from ..graph import Graph
from ..reorder import community_labels

__all__ = ["by_communities", "force_directed"]

STEPS = 150
# Nodes that each node is repelled by in one step; the sample changes from step to step.
PARTNERS = 100
GRAVITY = 0.6
# Communities of communities are formed while there are more than this.
FEW = 16
# The hubs pull nodes to their places early, so fewer steps do than without them.
HUB_STEPS = 80


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


def by_communities(graph: Graph, rng: np.random.Generator) -> FloatArray:
    """Return force-directed coordinates in which each community of label propagation is drawn together.

    A hub for each community pulls its members to their common place, and so for communities of communities; the hubs
    are not drawn.

    References
    ----------
    .. [1] U. N. Raghavan, R. Albert, S. Kumara, "Near linear time algorithm to detect community structures in
       large-scale networks", Physical Review E 76, 2007.

    Examples
    --------
    >>> by_communities(Graph.from_edges([(0, 1), (1, 2)]), np.random.default_rng(0)).shape
    (3, 2)
    """
    levels = list(_levels(graph))
    if not levels:
        return force_directed(graph, rng)
    source, target, _ = graph.edges()
    pairs, first, last = [np.stack([source, target], axis=1)], 0, graph.n_nodes
    for members in levels:
        pairs.append(np.stack([first + np.arange(len(members)), last + members], axis=1))
        first, last = last, last + int(members.max()) + 1
    joined = Graph.from_edges(np.concatenate(pairs), n_nodes=last)
    return force_directed(joined, rng, steps=HUB_STEPS)[: graph.n_nodes]


def _levels(graph: Graph) -> Iterator[IntArray]:
    """Yield the community of each node, then that of each community, down to a few."""
    while graph.n_nodes > FEW:
        groups, members = np.unique(community_labels(graph), return_inverse=True)
        if len(groups) in (1, graph.n_nodes):
            return
        yield members
        shape = (len(members), len(groups))
        joins = sparse.csr_array((np.ones(len(members)), (np.arange(len(members)), members)), shape=shape)
        graph = Graph.from_adjacency(joins.T @ abs(graph.adjacency) @ joins, loops="drop")
