"""Geom-GCN: neighbours in the graph and in a latent space, divided by the direction in which they lie."""

from __future__ import annotations

from torch import Tensor, nn

from ...datasets.divisions import N_DIVISIONS
from ...errors import ParameterError
from ..sparse import SparseMatrix

__all__ = ["RelationPropagation"]


class RelationPropagation(nn.Module):
    """low of division d is ``P_d h_d``, high ``h_d - P_d h_d``; the divisions are joined or averaged."""

    def __init__(self, matrix: SparseMatrix, average: bool = False) -> None:
        super().__init__()
        self.matrix, self.average = matrix, average
        # How many blocks the layer lifts to for one block of output.
        self.expansion = N_DIVISIONS if average else 1

    def _filtered(self, h: Tensor) -> Tensor:
        if h.shape[-2] * N_DIVISIONS != self.matrix.shape[0]:
            raise ParameterError(f"features have {h.shape[-2]} rows for {self.matrix.shape[0] // N_DIVISIONS} nodes")
        divisions = h.reshape(*h.shape[:-2], self.matrix.shape[0], -1)
        filtered: Tensor = self.matrix(divisions)
        return filtered.reshape(h.shape)

    def identity(self, h: Tensor) -> Tensor:
        """Return the divisions as they are, averaged where the others are."""
        return h.reshape(*h.shape[:-1], N_DIVISIONS, -1).mean(-2) if self.average else h

    def low(self, h: Tensor) -> Tensor:
        """Return the filtered divisions."""
        return self.identity(self._filtered(h))

    def high(self, h: Tensor) -> Tensor:
        """Return what the filter takes away, division by division."""
        return self.identity(h - self._filtered(h))

    def synthesize(self, h_low: Tensor, h_high: Tensor) -> Tensor:
        """Return ``low(h_low) + high(h_high)`` in one product."""
        return self.identity(h_high + self._filtered(h_low - h_high))
