"""Propagation by a fixed matrix: an operator of the core, or the neighbour mean of the spatial methods."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import torch
from torch import Tensor, nn

from ..._kernels.synthesis import rectified
from ...errors import ParameterError
from ...graph import Graph
from ...operators import operator
from ..sparse import SparseMatrix

__all__ = ["Complement", "Spatial", "operator_propagation"]


class Complement(nn.Module):
    """low = ``P h`` and high = ``h - P h``: the pair that adds up to the identity."""

    own = 0.0  # the share of h itself in the low channel

    def __init__(self, matrix: Callable[[Tensor], Tensor]) -> None:
        super().__init__()
        self.matrix = matrix

    def low(self, h: Tensor) -> Tensor:
        """Return ``P h``."""
        return torch.add(self.matrix(h), h, alpha=self.own) if self.own else self.matrix(h)

    def high(self, h: Tensor) -> Tensor:
        """Return ``(I - P) h``."""
        return h - self.matrix(h)

    def both(self, h_low: Tensor, h_high: Tensor) -> tuple[Tensor, Tensor]:
        """Return ``P h_low`` and ``(I - P) h_high``; of one and the same ``h`` they share the product."""
        if h_low is not h_high:
            return self.low(h_low), self.high(h_high)
        smooth = self.matrix(h_low)
        return (torch.add(smooth, h_low, alpha=self.own) if self.own else smooth), h_high - smooth

    def synthesize(self, h_low: Tensor, h_high: Tensor) -> Tensor:
        """Return ``P h_low + (I - P) h_high = h_high + P (h_low - h_high)``: no wider than one channel."""
        own = torch.add(h_high, h_low, alpha=self.own) if self.own else h_high
        return own + self.matrix(h_low - h_high)

    def rectified(self, z: Tensor, alphas: Tensor) -> Tensor | None:
        """Return ``synthesize`` of the halves of ``z``, rectified and weighted; None where one pass does not pay."""
        return rectified(z, alphas, self.matrix, self.own) if isinstance(self.matrix, SparseMatrix) else None

    def restrict(self, nodes: Any) -> Complement:
        """Return the pair on some nodes: their rows and columns, weights as on the whole graph."""
        if not isinstance(self.matrix, SparseMatrix):
            raise ParameterError(f"only a sparse matrix can be cut to some nodes, not {type(self.matrix).__name__}")
        return type(self)(self.matrix.restrict(nodes))


class Spatial(Complement):
    """The paper's spatial pair with weights w: low ``sum_j w_ij (h_i + h_j)``, high ``sum_j w_ij (h_i - h_j)``.

    The rows of ``matrix`` must sum to 1 or to 0 (a node without neighbours keeps ``h_i`` in both channels). The two
    add up to ``2 h_i``, not to the identity.
    """

    own = 1.0


class ComplexPairs(nn.Module):
    """A complex matrix on real features: columns ``2k`` and ``2k + 1`` are real and imaginary part of one channel.

    A last column without a partner has no imaginary part, and keeps the real part of the product.

    Examples
    --------
    >>> arc = Graph.from_edges([(0, 1)], directed=True).magnetic(0.25)
    >>> operator_propagation(arc, "sym").low(torch.tensor([[1.0, 0.0], [0.0, 0.0]])).tolist()
    [[0.0, 0.0], [0.0, -1.0]]
    """

    def __init__(self, real: SparseMatrix, imag: SparseMatrix) -> None:
        super().__init__()
        self.real, self.imag = real, imag

    def forward(self, h: Tensor) -> Tensor:
        """Return the product for ``h`` of shape (n, f) or (copies, n, f)."""
        even = h.shape[-1] // 2 * 2
        re, im = h[..., 0:even:2].contiguous(), h[..., 1:even:2].contiguous()
        parts = self.real(re) - self.imag(im), self.real(im) + self.imag(re)
        single = h[..., even:]
        both = torch.stack(parts, dim=-1).flatten(-2)
        return torch.cat([both, self.real(single)], dim=-1) if single.shape[-1] else both


class ComplexComplement(Complement):
    """The pair of a complex matrix; its two channels are propagated apart, so that no pair of columns is split."""

    def both(self, h_low: Tensor, h_high: Tensor) -> tuple[Tensor, Tensor]:
        """Return ``P h_low`` and ``(I - P) h_high``."""
        return self.low(h_low), self.high(h_high)


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

    Parameters
    ----------
    graph : Graph
        Of a complex one (:meth:`gsp_fb.Graph.magnetic`) columns ``2k`` and ``2k + 1`` of the features are the real and
        the imaginary part of one channel.
    family, gamma, isolated
        As for :func:`gsp_fb.operator`.
    dtype, device
        Precision and place of the matrix.

    Returns
    -------
    Complement
        A module with ``low(h)`` and ``high(h)``.

    See Also
    --------
    FilterBankLayer : The layer around it.

    Examples
    --------
    >>> pair = operator_propagation(Graph.from_edges([(0, 1), (1, 2)]), "lazy_rw")
    >>> pair.low(torch.tensor([[1.0], [0.0], [0.0]])).ravel().tolist()
    [0.5, 0.25, 0.0]
    """
    op = operator(graph, family, gamma=gamma, isolated=isolated)
    if not graph.is_complex:
        return Complement(SparseMatrix.from_operator(op, dtype=dtype, device=device))
    matrix = op.to_scipy()
    real, imag = (SparseMatrix.from_scipy(part, dtype=dtype, device=device) for part in (matrix.real, matrix.imag))
    return ComplexComplement(ComplexPairs(real, imag))
