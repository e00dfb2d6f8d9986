"""GCNII and GCNII*: deep stacks held together by an initial residual and an identity map, with any channels."""

from __future__ import annotations

import math
from typing import Any

import torch
from torch import Tensor, nn

from .channels import ChannelLayer, Channels
from .inputs import Features
from .network import GraphNetwork, Record
from .parts import Copies, Dropout, Linear
from .propagation.base import Propagation, check_propagation

__all__ = ["DeepNetwork", "ResidualBlock"]


class NearIdentity(Linear):
    """``x ((1 - theta) I + theta W)``; the identity is added to the small matrix, not to what it maps."""

    def __init__(
        self, width: int, generator: torch.Generator | None = None, *, theta: float, copies: Copies = ()
    ) -> None:
        super().__init__(width, width, generator, copies=copies)
        self.theta_l = theta

    def forward(self, x: Features) -> Tensor:
        """Return the mapped ``x``."""
        identity = torch.eye(self.weight.shape[-1], dtype=self.weight.dtype, device=self.weight.device)
        return x @ torch.lerp(identity, self.weight, self.theta_l)


class ResidualBlock(ChannelLayer):
    """``s ((1 - t) I + t W)`` with ``s = (1 - alpha) filter(h) + alpha h_0``, per channel, then mixed.

    M. Chen et al., "Simple and Deep Graph Convolutional Networks", ICML 2020.
    """

    def __init__(
        self,
        width: int,
        propagation: Any,
        generator: torch.Generator | None = None,
        *,
        alpha: float,
        theta: float,
        star: bool = False,
        channels: Any = "low",
        mixing: Any = "scalar",
        copies: Copies = (),
    ) -> None:
        super().__init__()
        self.propagation, self.alpha = check_propagation(propagation), alpha
        self.bank = Channels(channels, mixing, width, generator, copies=copies)
        self.bank.check(propagation)

        def maps() -> nn.ModuleList:
            return nn.ModuleList(NearIdentity(width, generator, theta=theta, copies=copies) for _ in self.bank.names)

        self.filtered = maps()
        self.initial = maps() if star else None

    def parts(self, h: Tensor, h_0: Tensor, propagation: Propagation | None = None) -> list[Tensor]:
        """Return the mapped channels."""
        filtered = self.bank.filter(self.propagation if propagation is None else propagation, [h] * len(self.filtered))
        kept = 1.0 - self.alpha
        if self.initial is None:
            return [map_(kept * part + self.alpha * h_0) for map_, part in zip(self.filtered, filtered, strict=True)]
        maps = zip(self.filtered, self.initial, filtered, strict=True)
        return [first(kept * part) + second(self.alpha * h_0) for first, second, part in maps]


class DeepNetwork(GraphNetwork):
    """A lift to ``width``, ``depth`` residual blocks, a map to the classes; dropout before each."""

    def __init__(
        self,
        n_in: int,
        n_out: int,
        propagation: Any,
        dropout: Dropout,
        generator: torch.Generator | None = None,
        *,
        hidden: int = 64,
        depth: int = 8,
        alpha: float = 0.5,
        lambda_: float = 1.5,
        copies: Copies = (),
        **block: Any,
    ) -> None:
        super().__init__()
        self.lift = Linear(n_in, hidden, generator, bias=True, copies=copies)
        thetas = [math.log(lambda_ / position + 1.0) for position in range(1, depth + 1)]
        self.layers = nn.ModuleList(
            ResidualBlock(hidden, propagation, generator, alpha=alpha, theta=theta, copies=copies, **block)
            for theta in thetas
        )
        self.head = Linear(hidden, n_out, generator, bias=True, copies=copies)
        self.dropout = dropout

    def run(self, x: Any, propagation: Propagation | None, record: Record = None) -> Tensor:
        """Return the logits."""
        h = h_0 = torch.relu(self.lift(self.dropout(x)))
        for layer in self.layers:
            h = layer.run(record, self.dropout(h), h_0, propagation)
        logits: Tensor = self.head(self.dropout(h))
        return logits
