"""GWNN: filtering in a basis of heat wavelets, ``psi_s diag(g) psi_-s``, sparse after a threshold."""

from __future__ import annotations

import torch
from torch import Tensor, nn

from ..parts import Copies
from ..sparse import SparseMatrix

__all__ = ["Wavelet"]


class Wavelet(nn.Module):
    """low = ``psi_s diag(g) psi_-s h`` with one learned gain per node, high = ``h - low``."""

    def __init__(
        self,
        forward_basis: SparseMatrix,
        inverse_basis: SparseMatrix,
        generator: torch.Generator | None = None,
        *,
        copies: Copies = (),
    ) -> None:
        super().__init__()
        self.forward_basis, self.inverse_basis = forward_basis, inverse_basis
        self.gain = nn.Parameter(0.9 + 0.2 * torch.rand(*copies, forward_basis.shape[0], 1, generator=generator))

    def low(self, h: Tensor) -> Tensor:
        """Return ``psi_s (g * (psi_-s h))``."""
        filtered: Tensor = self.forward_basis(self.gain * self.inverse_basis(h))
        return filtered

    def synthesize(self, h_low: Tensor, h_high: Tensor) -> Tensor:
        """Return ``low(h_low) + h_high - low(h_high)`` in one pass through the basis."""
        return h_high + self.low(h_low - h_high)
