"""Layout by communities: forces on the graph with one more node for each community, joined to its members."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
from scipy import sparse

from ..backend import FloatArray, IntArray
from ..graph import Graph
from ..reorder import community_labels
from ._forces import force_directed

__all__ = ["by_communities"]

# Communities of communities are formed while there are more than this.
FEW = 16
# The hubs pull nodes to their places early, so fewer steps do than without them.
STEPS = 80


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
    return force_directed(joined, rng, steps=STEPS)[: graph.n_nodes]


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
