"""GWNN: filtering in a basis of heat wavelets, ``psi_s diag(g) psi_-s``, sparse after a threshold."""

from __future__ import annotations

from typing import Any

import numpy as np
import torch
from scipy import sparse
from torch import Tensor, nn

from ..._validate import check_positive
from ...filters import FilterBank, heat
from ...graph import Graph
from ...operators import operator
from ..sparse import SparseMatrix

__all__ = ["Wavelet", "heat_wavelets"]

_BLOCK = 256
_TOLERANCE = 1e-10


def heat_wavelets(
    graph: Graph, scale: float = 1.0, threshold: float = 1e-4, *, family: str = "sym"
) -> tuple[sparse.csr_array, sparse.csr_array]:
    """Return ``psi_s = exp(-s L)`` and its inverse ``psi_-s = exp(s L)``, entries below ``threshold`` left out.

    The filter bank's Chebyshev engine works on the identity in blocks of columns, to 1e-10, so that no dense matrix of
    the graph's size arises.

    Parameters
    ----------
    graph : Graph
        Undirected.
    scale : float > 0
        The diffusion time s.
    threshold : float >= 0
        0 keeps every entry: then the two are each other's inverse.

    Examples
    --------
    >>> edge = Graph.from_edges([(0, 1)])
    >>> psi, inverse = heat_wavelets(edge, threshold=0.0)
    >>> bool(np.allclose((psi @ inverse).toarray(), np.eye(2)))
    True
    """
    scale = check_positive(scale, "scale")
    kernels: list[Any] = [heat(scale), lambda frequencies: np.exp(scale * frequencies)]
    bank = FilterBank(operator(graph, family, channel="high"), kernels, tol=_TOLERANCE, method="chebyshev")
    bases: tuple[list[sparse.csc_array], ...] = ([], [])
    for start in range(0, graph.n_nodes, _BLOCK):
        both = bank.analyze(np.eye(graph.n_nodes, min(_BLOCK, graph.n_nodes - start), -start))
        for position, blocks in enumerate(bases):
            blocks.append(_thresholded(both[..., position], threshold))
    forward, inverse = (sparse.csr_array(sparse.hstack(blocks)) for blocks in bases)
    return forward, inverse


def _thresholded(block: Any, threshold: float) -> sparse.csc_array:
    return sparse.csc_array(np.where(np.abs(block) < threshold, 0.0, block))


class Wavelet(nn.Module):
    """low = ``psi_s diag(g) psi_-s h`` with one learned gain per node, high = ``h - low``.

    Parameters
    ----------
    forward_basis, inverse_basis : SparseMatrix
        ``psi_s`` and ``psi_-s`` of :func:`heat_wavelets`.
    """

    def __init__(self, forward_basis: SparseMatrix, inverse_basis: SparseMatrix, generator: torch.Generator) -> None:
        super().__init__()
        self.forward_basis, self.inverse_basis = forward_basis, inverse_basis
        self.gain = nn.Parameter(0.9 + 0.2 * torch.rand(forward_basis.shape[0], 1, generator=generator))

    def low(self, h: Tensor) -> Tensor:
        """Return ``psi_s (g * (psi_-s h))``."""
        return self.forward_basis @ (self.gain * (self.inverse_basis @ h))

    def synthesize(self, h_low: Tensor, h_high: Tensor) -> Tensor:
        """Return ``low(h_low) + h_high - low(h_high)`` in one pass through the basis."""
        return h_high + self.low(h_low - h_high)
