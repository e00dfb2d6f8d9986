"""GCNII and GCNII*: deep stacks held together by an initial residual and an identity map, with any channels."""

from __future__ import annotations

from typing import Any

import torch
from torch import Tensor, nn

from .channels import ChannelLayer, Channels
from .network import Network, Record
from .parts import Copies, Linear
from .propagation.base import Propagation, check_propagation, chosen

__all__ = ["DeepNetwork", "ResidualBlock"]


class ResidualBlock(ChannelLayer):
    """``s ((1 - t) I + t W)`` with ``s = (1 - alpha) filter(h) + alpha h_0``, per channel, then mixed.

    M. Chen et al., "Simple and Deep Graph Convolutional Networks", ICML 2020.
    """

    def __init__(
        self,
        width: int,
        propagation: Any,
        *,
        alpha: float,
        theta: float,
        star: bool,
        channels: Any,
        mixing: Any,
        generator: torch.Generator | None = None,
        copies: Copies = (),
    ) -> None:
        super().__init__()
        self.propagation, self.alpha, self.theta = check_propagation(propagation), alpha, theta
        self.bank = Channels(channels, mixing, width, generator, copies=copies)
        self.bank.check(propagation)
        groups = [
            nn.ModuleList(Linear(width, width, generator, copies=copies) for _ in self.bank.names)
            for _ in range(1 + star)
        ]
        self.filtered, self.initial = groups[0], groups[1] if star else None

    def parts(self, h: Tensor, h_0: Tensor, propagation: Propagation | None = None) -> list[Tensor]:
        """Return the mapped channels."""
        filtered = self.bank.filter(chosen(self.propagation, propagation), [h] * len(self.filtered))
        kept, pairs = 1.0 - self.alpha, zip(self.filtered, filtered, strict=True)
        if self.initial is None:
            return [self._mapped(kept * part + self.alpha * h_0, own) for own, part in pairs]
        return [
            self._mapped(kept * part, own) + self._mapped(self.alpha * h_0, other)
            for (own, part), other in zip(pairs, self.initial, strict=True)
        ]

    def _mapped(self, x: Tensor, own: Any) -> Tensor:
        """Return ``x ((1 - t) I + t W)``; the identity is added to the small matrix, not to what it maps."""
        identity = torch.eye(x.shape[-1], dtype=own.weight.dtype, device=own.weight.device)
        return x @ torch.lerp(identity, own.weight, self.theta)


class DeepNetwork(Network):
    """A map of the features, residual blocks that all see its output, a map to the classes; dropout before each."""

    def forward(self, x: Any, propagation: Propagation | None = None, record: Record = None) -> Tensor:
        """Return the logits."""
        lift, head = self.lift, self.head  # type: tuple[Any, Any]
        h = h_0 = torch.relu(lift(self.dropout(x)))
        for layer in self.layers:
            h = layer.run(record, self.dropout(h), h_0, propagation)
        logits: Tensor = head(self.dropout(h))
        return logits
