"""Geom-GCN's divisions: relations of nodes in the graph and in a latent space as one block matrix."""

from __future__ import annotations

from typing import Any

import numpy as np
from scipy import sparse

from ..backend import IntArray
from ..errors import GraphError, ParameterError

__all__ = ["N_DIVISIONS", "check_relations", "relation_matrix"]

N_SPACES, N_RELATIONS = 2, 4
# One division for each space and direction, and one for the node itself.
N_DIVISIONS = N_SPACES * N_RELATIONS + 1


def check_relations(given: Any) -> tuple[IntArray, IntArray, IntArray]:
    """Return ``pairs`` (2, m), ``space`` (0 graph, 1 latent) and ``relation`` 0..3 of an object that has them."""
    pairs, space, relation = (np.asarray(getattr(given, name)) for name in ("pairs", "space", "relation"))
    if pairs.ndim != 2 or pairs.shape[0] != 2 or not space.shape == relation.shape == pairs.shape[1:]:
        raise ParameterError(f"relations need pairs (2, m); got {pairs.shape}, {space.shape}, {relation.shape}")
    if pairs.size and (space.max() >= N_SPACES or relation.max() >= N_RELATIONS):
        raise ParameterError(f"space must be < {N_SPACES} and relation < {N_RELATIONS}")
    return pairs.astype(np.int64), space.astype(np.int64), relation.astype(np.int64)


def relation_matrix(relations: Any, n_nodes: int) -> sparse.csr_array:
    """Return the block matrix of all divisions on rows ``node * N_DIVISIONS + division``.

    Within division d: ``D^-1/2 A_d D^-1/2``, where D counts a node's neighbours over all divisions, itself included.
    """
    pairs, space, relation = check_relations(relations)
    outside = pairs[(pairs < 0) | (pairs >= n_nodes)]
    if outside.size:
        raise GraphError(f"relations name node {int(outside[0])} but the graph has {n_nodes} nodes")
    loops = np.arange(n_nodes)
    target, source = np.concatenate([pairs, np.stack([loops, loops])], axis=1)
    division = np.concatenate([space * N_RELATIONS + relation, np.full(n_nodes, N_DIVISIONS - 1)])
    scale = 1.0 / np.sqrt(np.bincount(target, minlength=n_nodes))
    place = (target * N_DIVISIONS + division, source * N_DIVISIONS + division)
    size = n_nodes * N_DIVISIONS
    return sparse.coo_array((scale[target] * scale[source], place), shape=(size, size)).tocsr()
