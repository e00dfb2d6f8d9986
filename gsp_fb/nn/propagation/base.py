"""What a layer asks of a propagation: a low channel; everything else has a default."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any, Protocol, cast, runtime_checkable

from torch import Tensor, nn

from ...errors import ParameterError

__all__ = ["Batch", "Identity", "Propagation", "check_propagation", "high", "identity", "is_linear", "low_and_high"]


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


class Identity(nn.Module):
    """No propagation at all: low keeps ``h``, high is zero. A network of it is a multilayer perceptron."""

    def low(self, h: Tensor) -> Tensor:
        """Return ``h``."""
        return h


def check_propagation(propagation: Any) -> Propagation:
    """Return ``propagation`` if it has a callable ``low``."""
    if callable(getattr(propagation, "low", None)):
        return cast(Propagation, propagation)
    raise ParameterError(f"a propagation needs a method low(h); {type(propagation).__name__} has none")


def is_linear(propagation: Propagation) -> bool:
    """Return whether the propagation is known to be a fixed linear map: it can add its channels in one product."""
    return hasattr(propagation, "synthesize")


def high(propagation: Propagation, h: Tensor) -> Tensor:
    """Return the high channel: the propagation's own, or ``h - low(h)``."""
    own = getattr(propagation, "high", None)
    result: Tensor = own(h) if own is not None else h - propagation.low(h)
    return result


def identity(propagation: Propagation, h: Tensor) -> Tensor:
    """Return the identity channel: the propagation's own, or ``h``."""
    own = getattr(propagation, "identity", None)
    result: Tensor = own(h) if own is not None else h
    return result


def low_and_high(propagation: Propagation, h_low: Tensor, h_high: Tensor) -> tuple[Tensor, Tensor]:
    """Return ``low(h_low)`` and ``high(h_high)``, jointly where the propagation knows how."""
    joint = getattr(propagation, "both", None)
    if joint is not None:
        low, rest = joint(h_low, h_high)
        return low, rest
    return propagation.low(h_low), high(propagation, h_high)


@dataclass(frozen=True, eq=False)
class Batch:
    """One training step: on which nodes, with which propagation, and how the loss of each target counts."""

    targets: Tensor
    nodes: Tensor | None = None
    propagation: Propagation | None = None
    weights: Tensor | None = None

    def like(self, parameter: Tensor) -> Batch:
        """Return the batch on the device and in the precision of ``parameter``."""
        place: dict[str, Any] = {"device": parameter.device, "dtype": parameter.dtype}
        moved = self.propagation.to(**place) if isinstance(self.propagation, nn.Module) else self.propagation
        nodes = None if self.nodes is None else self.nodes.to(parameter.device)
        weights = None if self.weights is None else self.weights.to(**place)
        targets = self.targets.to(parameter.device)
        return replace(self, targets=targets, nodes=nodes, propagation=moved, weights=weights)
