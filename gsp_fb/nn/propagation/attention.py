"""Attention as a propagation: GAT's coefficients are the matrix P, so ``h - P h`` is its high channel."""

from __future__ import annotations

import numpy as np
import torch
from scipy import sparse
from torch import Tensor, nn

from ..._arguments import check_count, check_host
from ..._kernels.attention import Scoring, attend, coefficients
from ...errors import ParameterError
from ...graph import Graph
from ..parts import Dropout, glorot

__all__ = ["Attention", "EdgeList"]


class EdgeList(nn.Module):
    """The entries of a graph's adjacency with one self-loop a node, in CSR order, and those of its transpose.

    Buffers: ``indptr``, ``indices``, ``rows`` and ``columns`` of the entries, ``t_indptr``, ``t_indices`` of the
    transpose and ``order``, where the transpose's entries are.
    """

    indptr: Tensor
    indices: Tensor
    rows: Tensor
    columns: Tensor
    order: Tensor
    t_indptr: Tensor
    t_indices: Tensor

    def __init__(self, graph: Graph) -> None:
        super().__init__()
        check_host(graph.device, "lists of edges for attention are made")
        # The pattern alone: a negative weight of a loop would cancel the one that is added.
        pattern = sparse.csr_array((np.ones(len(graph.indices)), graph.indices, graph.indptr), (graph.n_nodes,) * 2)
        with_loops = sparse.csr_array(pattern + sparse.eye_array(graph.n_nodes))
        A = sparse.csr_array((np.arange(with_loops.nnz), with_loops.indices, with_loops.indptr), with_loops.shape)
        flipped = A.T.tocsr()
        short = {"indptr": A.indptr, "indices": A.indices, "t_indptr": flipped.indptr, "t_indices": flipped.indices}
        rows = np.repeat(np.arange(graph.n_nodes), np.diff(A.indptr))
        long = {"rows": rows, "columns": A.indices, "order": flipped.data}
        for arrays, kind in ((short, np.int32), (long, np.int64)):
            for name, array in arrays.items():
                self.register_buffer(name, torch.from_numpy(np.asarray(array, dtype=kind)), persistent=False)
        self.n_nodes = graph.n_nodes


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

    def _check(self, h: Tensor) -> None:
        # Compiled loops read as many rows as the graph has nodes, whether they are there or not.
        wanted = (self.edges.n_nodes, self.to_node.numel())
        if h.shape != wanted:
            raise ParameterError(
                f"attention over {wanted[0]} nodes takes features of shape {wanted}, not {tuple(h.shape)}"
            )

    def _heads(self, h: Tensor) -> Tensor:
        return h.reshape(h.shape[0], self.heads, -1)

    def _scoring(self, h: Tensor) -> Scoring:
        shape = (self.edges.indices.numel(), self.heads)
        mask = None if self.dropout is None else self.dropout.mask(shape, h)
        return Scoring(self.edges, self.slope, mask)

    def coefficients(self, h: Tensor) -> Tensor:
        """Return the entries of ``P`` for every head, shape (n_entries, heads)."""
        self._check(h)
        return coefficients(*self._shares(h), self._scoring(h))

    def _filtered(self, *blocks: Tensor) -> list[Tensor]:
        """Return ``P(h) h`` and ``P(h) g`` for every further block g."""
        self._check(blocks[0])
        h = torch.cat(blocks, dim=1).reshape(len(blocks[0]), len(blocks), self.heads, -1)
        result = attend(*self._shares(blocks[0]), h, self._scoring(h))
        return [part.flatten(1) for part in result.unbind(1)]

    def _merge(self, h: Tensor) -> Tensor:
        return self._heads(h).mean(1) if self.average else h

    def low(self, h: Tensor) -> Tensor:
        """Return ``P(h) h``."""
        return self._merge(*self._filtered(h))

    def high(self, h: Tensor) -> Tensor:
        """Return ``h - P(h) h``."""
        return self._merge(h - self._filtered(h)[0])

    def identity(self, h: Tensor) -> Tensor:
        """Return the heads as they are, averaged where the others are."""
        return self._merge(h)

    def both(self, h_low: Tensor, h_high: Tensor) -> tuple[Tensor, Tensor]:
        """Return ``P h_low`` and ``h_high - P h_high`` with the one ``P = P(h_low)``."""
        low, smooth = self._filtered(h_low, h_high)
        return self._merge(low), self._merge(h_high - smooth)
