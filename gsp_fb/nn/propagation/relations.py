"""Geom-GCN: neighbours in the graph and in a latent space, divided by the direction in which they lie."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
import torch
from scipy import sparse
from torch import Tensor, nn

from ...backend import IntArray
from ...errors import GraphError, ParameterError
from ..sparse import SparseMatrix

__all__ = ["N_DIVISIONS", "LatentRelations", "RelationPropagation", "relation_matrix", "relation_propagation"]

N_SPACES, N_RELATIONS = 2, 4
# One division for each space and direction, and one for the node itself.
N_DIVISIONS = N_SPACES * N_RELATIONS + 1


@dataclass(frozen=True, eq=False)
class LatentRelations:
    """Pairs of related nodes: ``pairs`` (2, m), ``space`` (0 graph, 1 latent) and ``relation`` 0..3 of each."""

    pairs: IntArray
    space: IntArray
    relation: IntArray

    @classmethod
    def of(cls, given: Any) -> LatentRelations:
        """Return checked relations from any object with the three arrays."""
        pairs, space, relation = (np.asarray(getattr(given, name)) for name in ("pairs", "space", "relation"))
        if pairs.ndim != 2 or pairs.shape[0] != 2 or not space.shape == relation.shape == pairs.shape[1:]:
            raise ParameterError(f"relations need pairs (2, m); got {pairs.shape}, {space.shape}, {relation.shape}")
        if pairs.size and (space.max() >= N_SPACES or relation.max() >= N_RELATIONS):
            raise ParameterError(f"space must be < {N_SPACES} and relation < {N_RELATIONS}")
        return cls(pairs.astype(np.int64), space.astype(np.int64), relation.astype(np.int64))


def relation_matrix(relations: LatentRelations, n_nodes: int) -> sparse.csr_array:
    """Return the block matrix of all divisions on rows ``node * N_DIVISIONS + division``.

    Within division d: ``D^-1/2 A_d D^-1/2``, where D counts a node's neighbours over all divisions, itself included.
    """
    outside = relations.pairs[(relations.pairs < 0) | (relations.pairs >= n_nodes)]
    if outside.size:
        raise GraphError(f"relations name node {int(outside[0])} but the graph has {n_nodes} nodes")
    loops = np.arange(n_nodes)
    target, source = np.concatenate([relations.pairs, np.stack([loops, loops])], axis=1)
    division = np.concatenate([relations.space * N_RELATIONS + relations.relation, np.full(n_nodes, N_DIVISIONS - 1)])
    scale = 1.0 / np.sqrt(np.bincount(target, minlength=n_nodes))
    place = (target * N_DIVISIONS + division, source * N_DIVISIONS + division)
    size = n_nodes * N_DIVISIONS
    return sparse.coo_array((scale[target] * scale[source], place), shape=(size, size)).tocsr()


class RelationPropagation(nn.Module):
    """low of division d is ``P_d h_d``, high ``h_d - P_d h_d``; the divisions are joined or averaged."""

    def __init__(self, matrix: SparseMatrix, average: bool = False) -> None:
        super().__init__()
        self.matrix, self.average = matrix, average
        # How many blocks the layer lifts to for one block of output.
        self.expansion = N_DIVISIONS if average else 1

    def _filtered(self, h: Tensor) -> Tensor:
        divisions = h.reshape(*h.shape[:-2], self.matrix.shape[0], -1)
        filtered: Tensor = self.matrix(divisions)
        return filtered.reshape(h.shape)

    def _merge(self, h: Tensor) -> Tensor:
        return h.reshape(*h.shape[:-1], N_DIVISIONS, -1).mean(-2) if self.average else h

    def identity(self, h: Tensor) -> Tensor:
        """Return the divisions as they are, averaged where the others are."""
        return self._merge(h)

    def low(self, h: Tensor) -> Tensor:
        """Return the filtered divisions."""
        return self._merge(self._filtered(h))

    def high(self, h: Tensor) -> Tensor:
        """Return what the filter takes away, division by division."""
        return self._merge(h - self._filtered(h))

    def synthesize(self, h_low: Tensor, h_high: Tensor) -> Tensor:
        """Return ``low(h_low) + high(h_high)`` in one product."""
        return self._merge(h_high + self._filtered(h_low - h_high))


def relation_propagation(
    relations: Any, n_nodes: int, *, average: bool = False, dtype: torch.dtype = torch.float32, device: Any = "cpu"
) -> RelationPropagation:
    """Return the propagation of a set of relations on ``n_nodes`` nodes."""
    matrix = relation_matrix(LatentRelations.of(relations), n_nodes)
    return RelationPropagation(SparseMatrix.from_scipy(matrix, dtype=dtype, device=device), average)
