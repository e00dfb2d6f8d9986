"""Attention as a propagation: GAT's coefficients are the matrix P, so ``h - P h`` is its high channel."""

from __future__ import annotations

from typing import Any, cast

import torch
from torch import Tensor, nn

from ..._arguments import check_count
from ..._kernels.attention import EdgeList, Scoring, attend
from ...errors import ParameterError
from ..parts import Dropout, glorot
from .base import with_parts

__all__ = ["Attention"]

SLOPE = 0.2  # of the leaky ReLU, as published


class Attention(nn.Module):
    """``P_ij = softmax_j leaky_relu(a_to . h_i + a_from . h_j)`` over neighbours and the node itself, per head.

    In the filterbank the coefficients come from the low channel's features and filter both channels.
    """

    def __init__(
        self,
        edges: EdgeList,
        width: int,
        generator: torch.Generator | None = None,
        *,
        heads: int = 1,
        average: bool = False,
        dropout: Dropout | None = None,
    ) -> None:
        super().__init__()
        self.heads = check_count(heads, "heads")
        self.expansion = heads if average else 1
        if (width * self.expansion) % heads:
            raise ParameterError(f"width {width} is not a multiple of the {heads} heads")
        self.edges, self.average, self.dropout = edges, average, dropout
        size = width * self.expansion // heads
        self.to_node = nn.Parameter(glorot((heads, size), generator))
        self.from_node = nn.Parameter(glorot((heads, size), generator))

    def _heads(self, h: Tensor) -> Tensor:
        return h.reshape(h.shape[0], self.heads, -1)

    def _filtered(self, *blocks: Tensor) -> list[Tensor]:
        """Return ``P(h) h`` and ``P(h) g`` for every further block g."""
        # Compiled loops read as many rows as the graph has nodes, whether they are there or not.
        wanted, given = (self.edges.n_nodes, self.to_node.numel()), tuple(blocks[0].shape)
        if given != wanted:
            raise ParameterError(f"attention over {wanted[0]} nodes takes features of shape {wanted}, not {given}")
        h = torch.cat(blocks, dim=1).reshape(len(blocks[0]), len(blocks), self.heads, -1)
        parts = self._heads(blocks[0])
        # What a node adds to the scores of the edges that end and that begin in it, (n_nodes, heads) each.
        ending, starting = (parts * self.to_node).sum(-1), (parts * self.from_node).sum(-1)
        shape = (self.edges.indices.numel(), self.heads)
        mask = None if self.dropout is None else self.dropout.mask(shape, h)
        result = attend(ending, starting, h, Scoring(self.edges, SLOPE, mask))
        return [part.flatten(1) for part in result.unbind(1)]

    def restrict(self, nodes: Any) -> Attention:
        """Return the attention among some nodes: each softmax is over the neighbours that are there."""
        return cast(Attention, with_parts(self, edges=self.edges.restrict(nodes)))

    def identity(self, h: Tensor) -> Tensor:
        """Return the heads as they are, or their mean."""
        return self._heads(h).mean(1) if self.average else h

    def low(self, h: Tensor) -> Tensor:
        """Return ``P(h) h``."""
        return self.identity(*self._filtered(h))

    def high(self, h: Tensor) -> Tensor:
        """Return ``h - P(h) h``."""
        return self.identity(h - self._filtered(h)[0])

    def both(self, h_low: Tensor, h_high: Tensor) -> tuple[Tensor, Tensor]:
        """Return ``P h_low`` and ``h_high - P h_high`` with the one ``P = P(h_low)``."""
        low, smooth = self._filtered(h_low, h_high)
        return self.identity(low), self.identity(h_high - smooth)
