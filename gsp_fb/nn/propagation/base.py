"""What a layer asks of a propagation: a low channel; everything else has a default."""

from __future__ import annotations

from abc import abstractmethod
from copy import copy
from dataclasses import dataclass
from typing import Any, Protocol, cast, runtime_checkable

import torch
from torch import Tensor, nn

from ...errors import ParameterError

__all__ = ["Batch", "LinearPropagation", "Propagation", "check_propagation", "chosen", "with_parts"]


@runtime_checkable
class Propagation(Protocol):
    """Any object with ``low(h)``: what one layer of a network does to its neighbourhoods.

    Further methods are used where they exist:

    ``high(h)``
        The other channel; by default ``h - low(h)``.
    ``both(h_low, h_high)``
        Both channels at once, where one pass over the edges can serve them.
    ``synthesize(h_low, h_high)``
        ``low(h_low) + high(h_high)`` in one product. Only a linear propagation may offer it.
    ``identity(h)``
        The identity channel, where the channels do not have the shape of ``h`` (heads that are averaged).

    Make it a ``torch.nn.Module`` with buffers, and it moves and casts with its network.

    See Also
    --------
    operator_propagation : The propagation of any operator family.
    FilterBankLayer : A layer over a propagation.

    Examples
    --------
    >>> class MeanOfAll:
    ...     def low(self, h):
    ...         return h.mean(0, keepdim=True).expand_as(h)
    >>> isinstance(MeanOfAll(), Propagation)
    True
    """

    def low(self, h: Tensor) -> Tensor:
        """Return the low channel of ``h``."""


class LinearPropagation(nn.Module):
    """low = ``P h`` and high = ``h - P h`` of a linear map ``product``, and what follows from linearity."""

    own = 0.0  # the share of h itself in the low channel

    @abstractmethod
    def product(self, h: Tensor) -> Tensor:
        """Return ``P h``."""

    def identity(self, h: Tensor) -> Tensor:
        """Return a channel that nothing filters; what is done to it is done to all channels."""
        return h

    def low(self, h: Tensor) -> Tensor:
        """Return ``P h``."""
        return self.identity(self._with_own(self.product(h), h))

    def high(self, h: Tensor) -> Tensor:
        """Return ``(I - P) h``."""
        return self.identity(h - self.product(h))

    def both(self, h_low: Tensor, h_high: Tensor) -> tuple[Tensor, Tensor]:
        """Return ``P h_low`` and ``(I - P) h_high``; of one and the same ``h`` they share the product."""
        if h_low is not h_high:
            return self.low(h_low), self.high(h_high)
        smooth = self.product(h_low)
        return self.identity(self._with_own(smooth, h_low)), self.identity(h_high - smooth)

    def synthesize(self, h_low: Tensor, h_high: Tensor) -> Tensor:
        """Return ``P h_low + (I - P) h_high = h_high + P (h_low - h_high)``: no wider than one channel."""
        return self.identity(self._with_own(h_high, h_low) + self.product(h_low - h_high))

    def _with_own(self, part: Tensor, h: Tensor) -> Tensor:
        return torch.add(part, h, alpha=self.own) if self.own else part


def check_propagation(propagation: Any) -> Propagation:
    """Return ``propagation`` if it has a callable ``low``."""
    if callable(getattr(propagation, "low", None)):
        return cast(Propagation, propagation)
    raise ParameterError(f"a propagation needs a method low(h); {type(propagation).__name__} has none")


def chosen(own: Any, given: Any) -> Propagation:
    """Return a layer's own propagation, or what replaces it: in a batch of nodes there is one for each of a network."""
    if given is None:
        return cast(Propagation, own)
    return check_propagation(given[str(id(own))] if isinstance(given, nn.ModuleDict) else given)


def with_parts(module: Any, **parts: nn.Module) -> Any:
    """Return a module with some of its submodules replaced, which shares its parameters."""
    twin = copy(module)
    twin._modules = {**module._modules, **parts}
    return twin


@dataclass(frozen=True, eq=False)
class Batch:
    """One training step: on which nodes, with which propagation, and how the loss of each target counts."""

    targets: Tensor
    nodes: Tensor | None = None
    propagation: Propagation | None = None
    weights: Tensor | None = None

    def to(self, device: torch.device, dtype: torch.dtype) -> Batch:
        """Return the batch on a device, with propagation and weights in a precision."""
        moved = self.propagation.to(device, dtype) if isinstance(self.propagation, nn.Module) else self.propagation
        nodes = None if self.nodes is None else self.nodes.to(device)
        weights = None if self.weights is None else self.weights.to(device, dtype)
        return Batch(self.targets.to(device), nodes, moved, weights)
