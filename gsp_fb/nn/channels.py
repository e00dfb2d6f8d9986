r"""The channels of a layer and the weights that mix them: :math:`\sum_c a_c\,\mathrm{channel}_c(z_c)`.

Every layer of the package filters its channels and mixes them here, whatever it maps before or after the filter.
"""

from __future__ import annotations

import math
from abc import abstractmethod
from collections.abc import Callable, Iterable, Sequence
from typing import Any

import torch
from torch import Tensor, nn

from .._arguments import check_choice
from .._kernels.torch_elementwise import whole_vectors
from ..errors import ParameterError
from ..filters.polynomials import BASES
from .parts import Copies, glorot
from .propagation.base import Propagation
from .propagation.polynomial import PolynomialFilter, check_polynomial

__all__ = ["CHANNELS", "MIXINGS", "ChannelLayer", "Channels", "Mixing", "channel_names"]

SHORTHANDS = {"both": ("low", "high")}
CHANNELS = ("low", "high", "identity", *BASES)
MIXINGS = ("scalar", "node", "tied")


def _listed(channels: Any) -> tuple[Any, ...]:
    single = isinstance(channels, str | PolynomialFilter) or not isinstance(channels, Iterable)
    return (channels,) if single else tuple(channels)


def channel_names(channels: Any) -> tuple[str, ...]:
    """Return the names of the channels that an option stands for."""
    names: list[str] = []
    for item in _listed(channels):
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
    r"""The weights :math:`a_c` of the channels; learned ones start at ``scale``, so that nothing shrinks with depth.

    ``scale`` is 1 for channels that add up to the identity, as in this table, and 1/2 for the spatial pair, which adds
    up to twice the identity: a filterbank begins at the scale of its baseline.

    ===========  ==========================================================================================
    ``scalar``   :math:`a_c = 2\,\sigma(l_c) \in (0, 2)`: the paper's :math:`\sigma(l_c)`, with the factor moved out
                 of the weight matrices. Starting at 1/2 instead quarters the signal of a two-layer network.
    ``tied``     :math:`a = k\,\mathrm{softmax}(l)`, so that the k weights add up to k
    ``node``     :math:`a_i = k\,\mathrm{softmax}(\sigma([h_{c,i} \cdot v_c]_c)\,W / k)` at every node i (ACM-GCN)
    numbers      constants
    ===========  ==========================================================================================
    """

    constants: Tensor

    def __init__(
        self,
        mixing: Any = "scalar",
        names: Sequence[str] = ("low", "high"),
        width: int = 1,
        generator: torch.Generator | None = None,
        *,
        scale: float = 1.0,
        copies: Copies = (),
    ) -> None:
        super().__init__()
        self.names, self.scale, k = tuple(names), scale, len(names)
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
        if self.kind in ("node", "constant"):
            return self.constants if self.kind == "constant" else None
        if self.kind == "tied":
            return self._softmax(self.logits)
        return 2.0 * self.scale * whole_vectors(torch.sigmoid, self.logits, 1)

    def _softmax(self, logits: Tensor) -> Tensor:
        return len(self.names) * self.scale * torch.softmax(logits, dim=-1)

    def forward(self, parts: Sequence[Tensor]) -> tuple[Tensor, ...]:
        """Return a weight for each of the filtered channels, shaped to scale it."""
        alphas = self.alphas()
        if alphas is not None:
            return alphas[..., None, None].unbind(-3)
        pairs = zip(parts, self.scores.unbind(-2), strict=True)
        scored = torch.stack([part @ v.unsqueeze(-1) for part, v in pairs], dim=-1)
        logits = whole_vectors(torch.sigmoid, scored.squeeze(-2)) @ self.joint / len(self.names)
        return self._softmax(logits).unsqueeze(-2).unbind(-1)


class Channels(nn.Module):
    """The channels of one layer: how each is filtered, and how they are mixed."""

    def __init__(
        self,
        channels: Any,
        mixing: Any,
        width: int,
        generator: torch.Generator | None = None,
        *,
        scale: float = 1.0,
        copies: Copies = (),
    ) -> None:
        super().__init__()
        self.names = channel_names(channels)
        own = {item.basis: item for item in _listed(channels) if isinstance(item, PolynomialFilter)}
        bases = [name for name in self.names if name in BASES]
        self.filters = nn.ModuleDict({n: own.get(n) or PolynomialFilter(n, width=width, copies=copies) for n in bases})
        several = len(self.names) > 1
        self.mixing = Mixing(mixing, self.names, width, generator, scale=scale, copies=copies) if several else None

    def check(self, propagation: Propagation) -> None:
        """Refuse a propagation that the learnable filters cannot use."""
        if len(self.filters):
            check_polynomial(propagation)

    def filter(self, propagation: Propagation, blocks: Sequence[Tensor]) -> list[Tensor]:
        """Return the filtered channels of one block each."""
        given = dict(zip(self.names, blocks, strict=True))
        joint: dict[str, Tensor] = {}
        both = getattr(propagation, "both", None)
        if both is not None and {"low", "high"} <= given.keys():
            joint["low"], joint["high"] = both(given["low"], given["high"])
        return [joint[name] if name in joint else self._one(propagation, name, h) for name, h in given.items()]

    def _one(self, propagation: Propagation, name: str, h: Tensor) -> Tensor:
        """Return one channel of ``h``: a learnable filter, the propagation's own, or the default."""
        own: Callable[[Tensor], Tensor] | None = getattr(propagation, name, None)
        if name in self.filters:
            filtered: Tensor = self.filters[name](h, propagation.low)
            return filtered
        if own is None:
            return h - propagation.low(h) if name == "high" else h
        return own(h)

    def mix(self, parts: Sequence[Tensor]) -> Tensor:
        """Return the weighted sum of filtered channels."""
        if self.mixing is None:
            return parts[0]
        weighted = (a * part for a, part in zip(self.mixing(parts), parts, strict=True))
        # One at a time: on a large graph each takes as much memory as a layer.
        mixed: Tensor = sum(weighted, start=next(weighted))
        return mixed

    def synthesize(self, propagation: Propagation, blocks: Sequence[Tensor]) -> Tensor:
        """Return ``mix(filter(blocks))``; where low and high can share a product, they do."""
        shared = {"low", "high"} <= set(self.names) and hasattr(propagation, "synthesize")
        if self.mixing is None or self.mixing.kind == "node" or not shared:
            return self.mix(self.filter(propagation, blocks))
        # Weighted before the filter: a linear map commutes with a number.
        weighted = [a * block for a, block in zip(self.mixing(blocks), blocks, strict=True)]
        given = dict(zip(self.names, weighted, strict=True))
        linear: Any = propagation
        both: Tensor = linear.synthesize(given.pop("low"), given.pop("high"))
        return sum((self._one(propagation, name, h) for name, h in given.items()), start=both)

    def shares(self, parts: Sequence[Tensor]) -> Tensor:
        """Return the shares ``|a_c h_c| / sum_d |a_d h_d|`` of the channels, a row a node where mixing is per node."""
        weights = (parts[0].new_ones(1, 1),) if self.mixing is None else self.mixing(parts)
        pairs = zip(weights, parts, strict=True)
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


class ChannelLayer(nn.Module):
    """A layer that makes channels of its inputs (``parts``), mixes them by its ``bank`` and finishes the mixture."""

    bank: Channels

    @abstractmethod
    def parts(self, *inputs: Any, **named: Any) -> list[Tensor]:
        """Return the channels before they are mixed."""

    def finish(self, mixed: Tensor, *inputs: Any, **named: Any) -> Tensor:
        """Return the layer's output for the mixed channels."""
        return torch.relu(mixed)

    def forward(self, *inputs: Any, **named: Any) -> Tensor:
        """Return the layer's output."""
        return self.finish(self.bank.mix(self.parts(*inputs, **named)), *inputs, **named)

    def split(self, *inputs: Any, **named: Any) -> dict[str, Tensor]:
        """Return the channels before mixing, the layer's output (``combined``) and the ``shares``, by name."""
        parts = self.parts(*inputs, **named)
        combined = self.finish(self.bank.mix(parts), *inputs, **named)
        found = dict(zip(self.bank.names, parts, strict=True))
        return {**found, "combined": combined, "shares": self.bank.shares(parts)}

    def run(self, record: Callable[[dict[str, Tensor]], Any] | None, *inputs: Any) -> Tensor:
        """Return the layer's output, and give its channels to ``record`` where there is one."""
        if record is None:
            out: Tensor = self(*inputs)
            return out
        record(found := self.split(*inputs))
        return found["combined"]
