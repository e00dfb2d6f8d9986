"""GCNII and GCNII*: deep stacks held together by an initial residual and an identity map, in one channel or two."""

from __future__ import annotations

import math
from collections.abc import Iterator
from typing import Any

import torch
from torch import Tensor, nn

from .._arguments import check_choice
from .inputs import Features
from .layer import CHANNELS, Mixing
from .network import alpha_table
from .parts import Copies, Dropout, Linear
from .propagation.base import Batch, Propagation, analyze, check_propagation, high

__all__ = ["DeepNetwork", "ResidualBlock"]


class NearIdentity(Linear):
    """``x ((1 - theta) I + theta W)``; the identity is added to the small matrix, not to what it maps."""

    def __init__(self, width: int, generator: torch.Generator, *, theta: float, copies: Copies = ()) -> None:
        super().__init__(width, width, generator, copies=copies)
        self.theta = theta

    def forward(self, x: Features) -> Tensor:
        """Return the mapped ``x``."""
        identity = torch.eye(self.weight.shape[-1], dtype=self.weight.dtype, device=self.weight.device)
        return x @ torch.lerp(identity, self.weight, self.theta)


class ResidualBlock(nn.Module):
    """``s ((1 - t) I + t W)`` with ``s = (1 - alpha) filter(h) + alpha h_0``, per channel, mixed by alphas.

    Parameters
    ----------
    width : int
    propagation : object with ``low(h)``
    alpha : float
        Weight of the initial residual ``h_0``.
    theta : float
        ``t = log(lambda / depth + 1)``: how far the map is from the identity.
    star : bool
        GCNII*: filtered and initial part have a weight of their own each.
    """

    def __init__(
        self,
        width: int,
        propagation: Any,
        generator: torch.Generator,
        *,
        alpha: float,
        theta: float,
        star: bool = False,
        channels: str = "low",
        alphas: str | tuple[float, float] = "learned",
        copies: Copies = (),
    ) -> None:
        super().__init__()
        self.propagation = check_propagation(propagation)
        self.selected = check_choice(channels, CHANNELS, "channels")
        self.alpha = alpha
        names = ("low", "high") if channels == "both" else (channels,)

        def maps() -> nn.ModuleDict:
            return nn.ModuleDict({name: NearIdentity(width, generator, theta=theta, copies=copies) for name in names})

        self.filtered = maps()
        self.initial = maps() if star else None
        self.mixing = Mixing(alphas, copies=copies) if channels == "both" else None

    def _mapped(self, name: str, filtered: Tensor, h_0: Tensor) -> Tensor:
        mapped: Tensor
        if self.initial is None:
            mapped = self.filtered[name](torch.lerp(filtered, h_0, self.alpha))
        else:
            mapped = self.filtered[name]((1.0 - self.alpha) * filtered) + self.initial[name](self.alpha * h_0)
        return mapped

    def split(self, h: Tensor, h_0: Tensor) -> dict[str, Tensor]:
        """Return the mapped channels and their mixture, by name."""
        if self.mixing is None:
            single = self.propagation.low(h) if self.selected == "low" else high(self.propagation, h)
            mapped = self._mapped(self.selected, single, h_0)
            return {self.selected: mapped, "combined": torch.relu(mapped)}
        filtered = dict(zip(("low", "high"), self._channels(h), strict=True))
        parts = {name: self._mapped(name, part, h_0) for name, part in filtered.items()}
        a_low, a_high = self.mixing()
        return {**parts, "combined": torch.relu(a_low * parts["low"] + a_high * parts["high"])}

    def _channels(self, h: Tensor) -> tuple[Tensor, Tensor]:
        # Without a high channel of its own, h - low(h) needs no second product: both channels filter the same h.
        if hasattr(self.propagation, "synthesize"):
            low = self.propagation.low(h)
            return low, h - low
        return analyze(self.propagation, h, h)

    def forward(self, h: Tensor, h_0: Tensor) -> Tensor:
        """Return the mixture of the channels."""
        return self.split(h, h_0)["combined"]


class DeepNetwork(nn.Module):
    """A lift to ``width``, ``depth`` residual blocks, a map to the classes; dropout before each.

    Parameters
    ----------
    lambda_ : float
        Block ``l`` has ``theta = log(lambda_ / l + 1)``.
    copies : tuple
        ``(s,)`` for ``s`` independent parameter sets.
    """

    def __init__(
        self,
        n_in: int,
        n_out: int,
        propagation: Any,
        dropout: Dropout,
        generator: torch.Generator,
        *,
        hidden: int = 64,
        depth: int = 8,
        alpha: float = 0.5,
        lambda_: float = 1.5,
        copies: Copies = (),
        **block: Any,
    ) -> None:
        super().__init__()
        self.lift = Linear(n_in, hidden, generator, copies=copies)
        self.lift_bias = nn.Parameter(torch.zeros(*copies, hidden))
        thetas = [math.log(lambda_ / position + 1.0) for position in range(1, depth + 1)]
        self.blocks = nn.ModuleList(
            ResidualBlock(hidden, propagation, generator, alpha=alpha, theta=theta, copies=copies, **block)
            for theta in thetas
        )
        self.head = Linear(hidden, n_out, generator, copies=copies)
        self.head_bias = nn.Parameter(torch.zeros(*copies, n_out))
        self.dropout = dropout

    def _start(self, x: Features) -> Tensor:
        lifted: Tensor = self.lift(self.dropout(x))
        return torch.relu(lifted + self.lift_bias.unsqueeze(-2))

    def forward(self, x: Features, propagation: Propagation | None = None) -> Tensor:
        """Return the logits; the propagation is always the network's own, as training uses the whole graph."""
        h = h_0 = self._start(x)
        for block in self.blocks:
            h = block(self.dropout(h), h_0)
        logits: Tensor = self.head(self.dropout(h))
        return logits + self.head_bias.unsqueeze(-2)

    def channels(self, x: Features) -> list[dict[str, Tensor]]:
        """Return, for every block, the embeddings ``low``, ``high`` (where there are both) and ``combined``."""
        was_training = self.training
        self.eval()
        splits = []
        with torch.no_grad():
            h = h_0 = self._start(x)
            for block in self.blocks:
                if isinstance(block, ResidualBlock):
                    splits.append(block.split(h, h_0))
                    h = splits[-1]["combined"]
        self.train(was_training)
        return splits

    def alphas(self) -> Tensor:
        """Return the mixing weights, shape (*copies, depth, 2); no rows where there is one channel."""
        return alpha_table(self)

    def batches(self, train: Tensor) -> Iterator[Batch]:
        """Yield the one step of an epoch: the whole graph."""
        yield Batch(train)
