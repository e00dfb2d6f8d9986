"""Neighbour sums over batched graphs (GIN), and the sampler that redraws GraphSAGE's neighbours every epoch."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass

import torch
from torch import Tensor

from ..._arguments import check_count
from ...graph import Graph
from .base import Batch
from .operators import Complement, sampled_mean

__all__ = ["NeighbourSampler", "NeighbourSum"]


@dataclass(frozen=True, eq=False)
class NeighbourSum:
    """low = ``(1 + eps) h + A h``, high = ``(1 + gamma) h - A h``: GIN's sum and the matching difference."""

    matrix: Callable[[Tensor], Tensor]
    eps: float | Tensor = 0.0
    gamma: float | Tensor = 0.0

    def low(self, h: Tensor) -> Tensor:
        """Return ``(1 + eps) h + A h``."""
        return (1.0 + self.eps) * h + self.matrix(h)

    def high(self, h: Tensor) -> Tensor:
        """Return ``(1 + gamma) h - A h``."""
        return (1.0 + self.gamma) * h - self.matrix(h)

    def both(self, h_low: Tensor, h_high: Tensor) -> tuple[Tensor, Tensor]:
        """Return both channels; of one and the same ``h`` they share the product."""
        sums = self.matrix(h_low)
        other = sums if h_low is h_high else self.matrix(h_high)
        return (1.0 + self.eps) * h_low + sums, (1.0 + self.gamma) * h_high - other


@dataclass(frozen=True, eq=False)
class NeighbourSampler:
    """One step an epoch over the whole graph, with at most ``fanout`` freshly drawn neighbours a node."""

    graph: Graph
    fanout: int
    generator: torch.Generator
    pair: type[Complement] = Complement

    def __post_init__(self) -> None:
        check_count(self.fanout, "fanout")

    def batches(self, train: Tensor) -> Iterator[Batch]:
        """Yield the epoch's one step."""
        yield Batch(train, propagation=self.pair(sampled_mean(self.graph, self.fanout, self.generator)))
