r"""The channels of a layer and the weights that mix them: :math:`\sum_c a_c\,\mathrm{channel}_c(z_c)`.

Every layer of the package filters its channels and mixes them here, whatever it maps before or after the filter.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from typing import Any

import torch
from torch import Tensor, nn

from .._arguments import check_choice
from ..errors import ParameterError
from ..filters.polynomials import BASES
from .parts import Copies, glorot
from .propagation.base import Propagation, high, identity, is_linear, low_and_high
from .propagation.polynomial import PolynomialFilter, check_polynomial

__all__ = ["CHANNELS", "MIXINGS", "Channels", "Mixing", "channel_names"]

SHORTHANDS = {"both": ("low", "high")}
FIXED = {"low": lambda propagation, h: propagation.low(h), "high": high, "identity": identity}
CHANNELS = (*FIXED, *BASES)
MIXINGS = ("scalar", "node", "tied")


def channel_names(channels: Any) -> tuple[str, ...]:
    """Return the names of the channels that an option stands for."""
    single = isinstance(channels, str | PolynomialFilter) or not isinstance(channels, Iterable)
    listed = (channels,) if single else tuple(channels)
    names: list[str] = []
    for item in listed:
        name = item.basis if isinstance(item, PolynomialFilter) else item
        names += SHORTHANDS.get(check_choice(name, (*CHANNELS, *SHORTHANDS), "channel"), (name,))
    if not names or len(set(names)) < len(names):
        raise ParameterError(f"channels must be one or more different names of {', '.join(CHANNELS)}, not {channels!r}")
    return tuple(names)


def _constants(mixing: Any, n_channels: int) -> list[float]:
    try:
        weights = [float(value) for value in mixing]
    except (TypeError, ValueError):
        weights = []
    if len(weights) != n_channels or not all(map(math.isfinite, weights)):
        known = ", ".join(MIXINGS)
        raise ParameterError(f"mixing must be one of {known} or {n_channels} finite numbers, not {mixing!r}")
    return weights


class Mixing(nn.Module):
    r"""The weights :math:`a_c` of the channels; learned ones start at 1, so that nothing shrinks with depth.

    ===========  ==========================================================================================
    ``scalar``   :math:`a_c = 2\,\sigma(l_c) \in (0, 2)`: the paper's :math:`\sigma(l_c)`, with the factor moved out
                 of the weight matrices. Starting at 1/2 instead quarters the signal of a two-layer network.
    ``tied``     :math:`a = k\,\mathrm{softmax}(l)`, so that the k weights add up to k
    ``node``     :math:`a_i = k\,\mathrm{softmax}(\sigma([h_{c,i} \cdot v_c]_c)\,W / k)` at every node i (ACM-GCN)
    numbers      constants
    ===========  ==========================================================================================
    """

    def __init__(
        self,
        mixing: Any = "scalar",
        names: Sequence[str] = ("low", "high"),
        width: int = 1,
        generator: torch.Generator | None = None,
        *,
        copies: Copies = (),
    ) -> None:
        super().__init__()
        self.names, k = tuple(names), len(names)
        self.kind = check_choice(mixing, MIXINGS, "mixing") if isinstance(mixing, str) else "constant"
        if self.kind == "constant":
            self.register_buffer("constants", torch.tensor(_constants(mixing, k)), persistent=False)
        elif self.kind == "node":
            self.scores = nn.Parameter(glorot((*copies, k, width), generator))
            self.joint = nn.Parameter(glorot((*copies, k, k), generator))
        else:
            self.logits = nn.Parameter(torch.zeros(*copies, k))

    def alphas(self) -> Tensor | None:
        """Return the weights, shape (*copies, k); None where every node has its own."""
        if self.kind == "node":
            return None
        if self.kind == "constant":
            constants: Any = self.constants
            return constants if isinstance(constants, Tensor) else None
        return 2.0 * torch.sigmoid(self.logits) if self.kind == "scalar" else self._softmax(self.logits)

    def _softmax(self, logits: Tensor) -> Tensor:
        return len(self.names) * torch.softmax(logits, dim=-1)

    def forward(self, parts: Sequence[Tensor]) -> tuple[Tensor, ...]:
        """Return a weight for each of the filtered channels, shaped to scale it."""
        alphas = self.alphas()
        if alphas is not None:
            return alphas[..., None, None].unbind(-3)
        scored = torch.stack([part @ v.unsqueeze(-1) for part, v in zip(parts, self._scores(), strict=True)], dim=-1)
        logits = torch.sigmoid(scored.squeeze(-2)) @ self.joint / len(self.names)
        return self._softmax(logits).unsqueeze(-2).unbind(-1)

    def _scores(self) -> tuple[Tensor, ...]:
        return self.scores.unbind(-2)


class Channels(nn.Module):
    """The channels of one layer: how each is filtered, and how they are mixed."""

    def __init__(
        self,
        channels: Any,
        mixing: Any,
        width: int,
        generator: torch.Generator | None = None,
        *,
        copies: Copies = (),
    ) -> None:
        super().__init__()
        self.names = channel_names(channels)
        given = [] if isinstance(channels, str) else [c for c in channels if isinstance(c, PolynomialFilter)]
        own = {item.basis: item for item in given}
        self.filters = nn.ModuleDict(
            {n: own.get(n) or PolynomialFilter(n, width=width, copies=copies) for n in self.names if n in BASES}
        )
        single = len(self.names) == 1
        self.mixing = None if single else Mixing(mixing, self.names, width, generator, copies=copies)

    def check(self, propagation: Propagation) -> None:
        """Refuse a propagation that the learnable filters cannot use."""
        if len(self.filters):
            check_polynomial(propagation)

    def filter(self, propagation: Propagation, blocks: Sequence[Tensor]) -> list[Tensor]:
        """Return the filtered channels of one block each."""
        given = dict(zip(self.names, blocks, strict=True))
        joint: dict[str, Tensor] = {}
        if "low" in given and "high" in given:
            joint["low"], joint["high"] = low_and_high(propagation, given["low"], given["high"])
        return [joint[name] if name in joint else self._one(propagation, name, h) for name, h in given.items()]

    def _one(self, propagation: Propagation, name: str, h: Tensor) -> Tensor:
        filtered: Tensor = FIXED[name](propagation, h) if name in FIXED else self.filters[name](h, propagation.low)
        return filtered

    def weights(self, parts: Sequence[Tensor]) -> tuple[Tensor, ...]:
        """Return the weight of every filtered channel."""
        return (parts[0].new_ones(1, 1),) if self.mixing is None else self.mixing(parts)

    def mix(self, parts: Sequence[Tensor]) -> Tensor:
        """Return the weighted sum of filtered channels."""
        if self.mixing is None:
            return parts[0]
        return _sum([a * part for a, part in zip(self.mixing(parts), parts, strict=True)])

    def synthesize(self, propagation: Propagation, blocks: Sequence[Tensor]) -> Tensor:
        """Return ``mix(filter(blocks))``; where low and high can share a product, they do."""
        shared = {"low", "high"} <= set(self.names) and is_linear(propagation)
        if self.mixing is None or self.mixing.kind == "node" or not shared:
            return self.mix(self.filter(propagation, blocks))
        # Weighted before the filter: a linear map commutes with a number.
        weighted = [a * block for a, block in zip(self.mixing(blocks), blocks, strict=True)]
        given = dict(zip(self.names, weighted, strict=True))
        adder: Any = propagation
        both = adder.synthesize(given.pop("low"), given.pop("high"))
        return _sum([both, *(self._one(propagation, name, h) for name, h in given.items())])

    def split(self, parts: Sequence[Tensor], combined: Tensor) -> dict[str, Tensor]:
        """Return the filtered channels, the layer's output and the shares, by name."""
        return {**dict(zip(self.names, parts, strict=True)), "combined": combined, "shares": self.shares(parts)}

    def shares(self, parts: Sequence[Tensor]) -> Tensor:
        """Return the shares ``|a_c h_c| / sum_d |a_d h_d|`` of the channels, a row a node where mixing is per node."""
        pairs = zip(self.weights(parts), parts, strict=True)
        # Contiguous: the rounding of a norm depends on the strides, and those on the copies beside.
        sizes = torch.stack([a.abs().squeeze(-1) * p.contiguous().norm(dim=-1) for a, p in pairs], dim=-1)
        total = sizes.sum(-1, keepdim=True)
        # A node where every channel is zero has none that contributes more.
        shares = torch.where(total > 0, sizes / torch.where(total > 0, total, 1.0), 1.0 / len(self.names))
        per_node = self.mixing is not None and self.mixing.kind == "node"
        return shares if per_node else node_mean(shares)


def node_mean(shares: Tensor) -> Tensor:
    """Return the mean over the nodes, (..., n, k) to (..., k); rounding does not depend on the copies beside."""
    return shares.mT.contiguous().mean(-1)


def _sum(parts: Sequence[Tensor]) -> Tensor:
    total = parts[0]
    for part in parts[1:]:
        total = total + part
    return total
