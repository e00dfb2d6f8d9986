"""Attention as a propagation: GAT's coefficients are the matrix P, so ``h - P h`` is its high channel."""

from __future__ import annotations

from typing import Any

import numpy as np
import torch
from scipy import sparse
from torch import Tensor, nn

from ..._arguments import check_count, check_host
from ...errors import ParameterError
from ...graph import Graph
from ..compiling import uncompiled
from ..parts import Dropout, glorot
from ..sparse import torch_csr
from .fused_attention import Scoring, attend, coefficients

__all__ = ["Attention", "EdgeList"]


class EdgeList:
    """The entries of a graph's adjacency with one self-loop a node, in CSR order, and those of its transpose."""

    def __init__(self, graph: Graph, device: torch.device | str = "cpu") -> None:
        check_host(graph.device, "lists of edges for attention are made")
        with_loops = sparse.csr_array(graph.adjacency + sparse.eye_array(graph.n_nodes))
        structure = (with_loops.indices, with_loops.indptr)
        A = sparse.csr_array((np.arange(with_loops.nnz), *structure), shape=with_loops.shape)
        flipped = A.T.tocsr()
        place = torch.device(device)
        self.n_nodes = graph.n_nodes
        self.indptr, self.indices = (torch.from_numpy(a.astype(np.int32)).to(place) for a in (A.indptr, A.indices))
        self.rows = torch.from_numpy(np.repeat(np.arange(graph.n_nodes), np.diff(A.indptr))).to(place)
        self.columns = self.indices.long()
        self.order = torch.from_numpy(flipped.data).to(place)
        self.t_indptr, self.t_indices = (
            torch.from_numpy(a.astype(np.int32)).to(place) for a in (flipped.indptr, flipped.indices)
        )

    def row_sum(self, values: Tensor) -> Tensor:
        """Return the sum of (n_entries, k) values over the entries of each row."""
        return torch.zeros(self.n_nodes, values.shape[1], dtype=values.dtype, device=values.device).index_add(
            0, self.rows, values
        )

    def row_softmax(self, scores: Tensor) -> Tensor:
        """Return ``exp(score) / sum over the row``, shifted by the row's maximum, which cancels."""
        with torch.no_grad():
            index = self.rows[:, None].expand_as(scores)
            top = torch.full((self.n_nodes, scores.shape[1]), -torch.inf, dtype=scores.dtype, device=scores.device)
            top.scatter_reduce_(0, index, scores, "amax")
        weights = torch.exp(scores - top[self.rows])
        return weights / self.row_sum(weights)[self.rows]

    @uncompiled  # as for the product with a constant matrix
    def product(self, values: Tensor, h: Tensor) -> Tensor:
        """Return ``P h`` with ``values`` as the entries of ``P``; gradients flow to both."""
        result: Tensor = _EdgeProduct.apply(values, h, self)  # type: ignore[no-untyped-call]  # torch leaves it untyped
        return result


class _EdgeProduct(torch.autograd.Function):
    @staticmethod
    def forward(ctx: Any, values: Tensor, h: Tensor, edges: EdgeList) -> Tensor:
        ctx.save_for_backward(values, h)
        ctx.edges = edges
        return torch_csr(edges.indptr, edges.indices, values, (edges.n_nodes, edges.n_nodes)) @ h

    @staticmethod
    def backward(ctx: Any, *grads: Tensor) -> tuple[Tensor, Tensor, None]:
        values, h = ctx.saved_tensors
        edges: EdgeList = ctx.edges
        grad = grads[0].contiguous()
        shape = (edges.n_nodes, edges.n_nodes)
        to_h = torch_csr(edges.t_indptr, edges.t_indices, values[edges.order], shape) @ grad
        to_values = torch.einsum("ef,ef->e", grad[edges.rows], h[edges.columns])
        return to_values, to_h, None


class Attention(nn.Module):
    """``P_ij = softmax_j leaky_relu(a_to . h_i + a_from . h_j)`` over neighbours and the node itself, per head.

    In the filterbank the coefficients come from the low channel's features and filter both channels.

    Parameters
    ----------
    edges : EdgeList
    width : int
        Width of ``h``, a multiple of ``heads``: the heads lie side by side.
    heads : int
    dropout : Dropout, optional
        Applied to the coefficients in training.
    merge : {'cat', 'mean'} as a bool ``average``
        With ``average`` the layer lifts to ``heads`` blocks and the result is their mean (GAT's last layer).
    """

    def __init__(
        self,
        edges: EdgeList,
        width: int,
        generator: torch.Generator,
        *,
        heads: int = 1,
        average: bool = False,
        dropout: Dropout | None = None,
        slope: float = 0.2,
    ) -> None:
        super().__init__()
        self.heads = check_count(heads, "heads")
        self.expansion = heads if average else 1
        if (width * self.expansion) % heads:
            raise ParameterError(f"width {width} is not a multiple of the {heads} heads")
        self.edges, self.average, self.dropout, self.slope = edges, average, dropout, slope
        size = width * self.expansion // heads
        self.to_node = nn.Parameter(glorot((heads, size), generator))
        self.from_node = nn.Parameter(glorot((heads, size), generator))

    def _shares(self, h: Tensor) -> tuple[Tensor, Tensor]:
        """Return what a node adds to the scores of the edges that end and that begin in it, (n_nodes, heads) each."""
        parts = self._heads(h)
        return (parts * self.to_node).sum(-1), (parts * self.from_node).sum(-1)

    def _heads(self, h: Tensor) -> Tensor:
        return h.reshape(h.shape[0], self.heads, -1)

    def _scoring(self, dtype: torch.dtype) -> Scoring:
        shape = (self.edges.indices.numel(), self.heads)
        mask = None if self.dropout is None else self.dropout.mask(shape, dtype)
        return Scoring(self.edges, self.slope, mask)

    def coefficients(self, h: Tensor) -> Tensor:
        """Return the entries of ``P`` for every head, shape (n_entries, heads)."""
        return coefficients(*self._shares(h), self._scoring(h.dtype))

    def _filtered(self, *blocks: Tensor) -> list[Tensor]:
        """Return ``P(h) h`` and ``P(h) g`` for every further block g."""
        h = torch.cat(blocks, dim=1).reshape(len(blocks[0]), len(blocks), self.heads, -1)
        result = attend(*self._shares(blocks[0]), h, self._scoring(h.dtype))
        return [part.flatten(1) for part in result.unbind(1)]

    def _merge(self, h: Tensor) -> Tensor:
        return self._heads(h).mean(1) if self.average else h

    def low(self, h: Tensor) -> Tensor:
        """Return ``P(h) h``."""
        return self._merge(*self._filtered(h))

    def high(self, h: Tensor) -> Tensor:
        """Return ``h - P(h) h``."""
        return self._merge(h - self._filtered(h)[0])

    def both(self, h_low: Tensor, h_high: Tensor) -> tuple[Tensor, Tensor]:
        """Return ``P h_low`` and ``h_high - P h_high`` with the one ``P = P(h_low)``."""
        low, smooth = self._filtered(h_low, h_high)
        return self._merge(low), self._merge(h_high - smooth)
