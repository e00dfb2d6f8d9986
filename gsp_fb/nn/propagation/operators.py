"""Propagation by a fixed matrix: an operator of the core, or the neighbour mean of the spatial methods."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
import torch
from scipy import sparse
from torch import Tensor

from ..._arguments import check_host
from ...graph import Graph
from ...operators import operator
from ..sparse import Product, SparseMatrix
from ..synthesis import rectified_synthesis

__all__ = ["Complement", "Spatial", "mean_matrix", "operator_propagation", "sampled_mean"]


@dataclass(frozen=True, eq=False)
class Complement:
    """low = ``P h`` and high = ``h - P h``: the pair that adds up to the identity.

    Examples
    --------
    >>> pair = operator_propagation(Graph.from_edges([(0, 1)]), "renorm_sym")
    >>> h = torch.tensor([[1.0], [3.0]])
    >>> pair.low(h).ravel().tolist(), pair.high(h).ravel().tolist()
    ([2.0, 2.0], [-1.0, 1.0])
    """

    matrix: Product

    def low(self, h: Tensor) -> Tensor:
        """Return ``P h``."""
        return self.matrix @ h

    def high(self, h: Tensor) -> Tensor:
        """Return ``(I - P) h``."""
        return h - self.matrix @ h

    def both(self, h_low: Tensor, h_high: Tensor) -> tuple[Tensor, Tensor]:
        """Return ``P h_low`` and ``(I - P) h_high`` from one product."""
        low, rest = (self.matrix @ torch.cat([h_low, h_high], dim=-1)).chunk(2, dim=-1)
        return low, h_high - rest

    def synthesize(self, h_low: Tensor, h_high: Tensor) -> Tensor:
        """Return ``P h_low + (I - P) h_high = h_high + P (h_low - h_high)``: no wider than one channel."""
        return h_high + self.matrix @ (h_low - h_high)

    def rectified(self, z: Tensor, a_low: Tensor, a_high: Tensor) -> Tensor:
        """Return ``synthesize`` of the halves of ``z``, rectified and weighted."""
        return rectified_synthesis(z, a_low, a_high, self.matrix, share=0.0)


@dataclass(frozen=True, eq=False)
class Spatial:
    """The paper's spatial pair with weights w: low ``sum_j w_ij (h_i + h_j)``, high ``sum_j w_ij (h_i - h_j)``.

    The rows of ``matrix`` must sum to 1 or to 0 (a node without neighbours keeps ``h_i`` in both channels). The two
    add up to ``2 h_i``, not to the identity.
    """

    matrix: Product

    def low(self, h: Tensor) -> Tensor:
        """Return ``h + M h``."""
        return h + self.matrix @ h

    def high(self, h: Tensor) -> Tensor:
        """Return ``h - M h``."""
        return h - self.matrix @ h

    def both(self, h_low: Tensor, h_high: Tensor) -> tuple[Tensor, Tensor]:
        """Return the sum of one half and the difference of the other from one product."""
        low, rest = (self.matrix @ torch.cat([h_low, h_high], dim=-1)).chunk(2, dim=-1)
        return h_low + low, h_high - rest

    def synthesize(self, h_low: Tensor, h_high: Tensor) -> Tensor:
        """Return ``h_low + h_high + M (h_low - h_high)``."""
        return h_low + h_high + self.matrix @ (h_low - h_high)

    def rectified(self, z: Tensor, a_low: Tensor, a_high: Tensor) -> Tensor:
        """Return ``synthesize`` of the halves of ``z``, rectified and weighted."""
        return rectified_synthesis(z, a_low, a_high, self.matrix, share=1.0)


def operator_propagation(
    graph: Graph,
    family: str = "renorm_sym",
    *,
    gamma: float | None = None,
    isolated: str = "self",
    dtype: torch.dtype = torch.float32,
    device: torch.device | str | None = None,
) -> Complement:
    """Return the two-channel pair of any operator family (see :func:`gsp_fb.operator`), by default where the graph is.

    Examples
    --------
    >>> pair = operator_propagation(Graph.from_edges([(0, 1), (1, 2)]), "lazy_rw")
    >>> pair.low(torch.tensor([[1.0], [0.0], [0.0]])).ravel().tolist()
    [0.5, 0.25, 0.0]
    """
    op = operator(graph, family, gamma=gamma, isolated=isolated)
    return Complement(SparseMatrix.from_operator(op, dtype=dtype, device=device))


def mean_matrix(graph: Graph, kept: Any = None) -> sparse.csr_array:
    """Return ``D^-1 A`` over the entries of the adjacency that ``kept`` marks (all by default)."""
    check_host(graph.device, "means over neighbours are made")
    A = graph.adjacency
    chosen = A if kept is None else _entries(A, kept)
    sums = chosen.sum(axis=1)
    return sparse.csr_array(sparse.diags_array(1.0 / np.where(sums == 0, 1.0, sums)) @ chosen)


def _entries(A: sparse.csr_array, kept: Any) -> sparse.csr_array:
    """Return the matrix of the marked entries of ``A``."""
    indptr = np.concatenate([[0], np.cumsum(kept)])[A.indptr]
    return sparse.csr_array((A.data[kept], A.indices[kept], indptr), shape=A.shape)


def sampled_mean(
    graph: Graph,
    fanout: int,
    generator: torch.Generator,
    *,
    dtype: torch.dtype = torch.float32,
    device: torch.device | str = "cpu",
) -> Spatial:
    """Return the spatial pair over at most ``fanout`` random neighbours of every node, drawn without replacement."""
    rows = np.repeat(np.arange(graph.n_nodes), np.diff(graph.indptr))
    keys = torch.rand(rows.size, generator=generator, device=generator.device).cpu().numpy()
    # Sorted by row, then by key, entry k of a row is its k-th draw.
    order = np.lexsort((keys, rows))
    kept = np.empty(rows.size, dtype=bool)
    kept[order] = np.arange(rows.size) - np.repeat(graph.indptr[:-1], np.diff(graph.indptr)) < fanout
    return Spatial(SparseMatrix.from_scipy(mean_matrix(graph, kept), dtype=dtype, device=device))
