"""What a layer asks of a propagation: a low channel; everything else has a default."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Protocol, cast, runtime_checkable

from torch import Tensor

from ...errors import ParameterError

__all__ = ["Batch", "Identity", "Propagation", "Rectified", "Synthesis", "analyze", "check_propagation", "high"]


@runtime_checkable
class Propagation(Protocol):
    """Any object with ``low(h)``: what one layer of a network does to its neighbourhoods.

    Four further methods are used where they exist:

    ``high(h)``
        The other channel; by default ``h - low(h)``.
    ``both(h_low, h_high)``
        Both channels at once, where one pass over the edges can serve them.
    ``synthesize(h_low, h_high)``
        ``low(h_low) + high(h_high)`` in one product. Only a linear propagation may offer it.
    ``rectified(z, a_low, a_high)``
        ``synthesize`` of the halves of ``z``, rectified and weighted, where one pass can do all of it.

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


@runtime_checkable
class Synthesis(Protocol):
    """A linear propagation that adds its channels in one product."""

    def synthesize(self, h_low: Tensor, h_high: Tensor) -> Tensor:
        """Return ``low(h_low) + high(h_high)``."""


@runtime_checkable
class Rectified(Protocol):
    """A linear propagation that rectifies, weights and adds its channels in one pass."""

    def rectified(self, z: Tensor, a_low: Tensor, a_high: Tensor) -> Tensor:
        """Return ``low(a_low * relu(z_low)) + high(a_high * relu(z_high))``, ``z`` holding both side by side."""


class Identity:
    """No propagation at all: low keeps ``h``, high is zero. A network of it is a multilayer perceptron."""

    def low(self, h: Tensor) -> Tensor:
        """Return ``h``."""
        return h


def check_propagation(propagation: Any) -> Propagation:
    """Return ``propagation`` if it has a callable ``low``."""
    if callable(getattr(propagation, "low", None)):
        return cast(Propagation, propagation)
    raise ParameterError(f"a propagation needs a method low(h); {type(propagation).__name__} has none")


def high(propagation: Propagation, h: Tensor) -> Tensor:
    """Return the high channel: the propagation's own, or ``h - low(h)``."""
    own = getattr(propagation, "high", None)
    result: Tensor = own(h) if own is not None else h - propagation.low(h)
    return result


def analyze(propagation: Propagation, h_low: Tensor, h_high: Tensor) -> tuple[Tensor, Tensor]:
    """Return ``low(h_low)`` and ``high(h_high)``, jointly where the propagation knows how."""
    joint = getattr(propagation, "both", None)
    if joint is not None:
        low, rest = joint(h_low, h_high)
        return low, rest
    return propagation.low(h_low), high(propagation, h_high)


@dataclass(frozen=True, eq=False)
class Batch:
    """One training step: on which nodes, with which propagation, and how the loss of each target counts.

    Attributes
    ----------
    targets : int64 Tensor
        Positions, within the batch, of the nodes whose loss is taken.
    nodes : int64 Tensor or None
        The batch's nodes in the graph; None means all of them.
    propagation : Propagation or None
        None means the network's own.
    weights : Tensor or None
        Weight of each target's loss; None means the plain mean.
    """

    targets: Tensor
    nodes: Tensor | None = None
    propagation: Propagation | None = None
    weights: Tensor | None = None
