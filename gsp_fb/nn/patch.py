"""A second channel for a layer that exists already: a user's own, or a torch_geometric convolution."""

from __future__ import annotations

import copy
from collections.abc import Callable
from typing import Any

import torch
from torch import Tensor, nn

from ..errors import ParameterError
from .layer import Mixing
from .parts import glorot, stream

__all__ = ["PatchedLayer", "patch"]

# Where one-channel layers keep the linear map that they apply before propagating.
TRANSFORMS = ("lin", "lin_l", "lin_src", "linear", "fc")


class PatchedLayer(nn.Module):
    """``a_low * layer(x) + a_high * (T(x) - layer'(x))`` for a one-channel layer and a copy of it with own weights.

    ``T`` is the linear map of the copy: for a layer ``P x W`` the second term is then ``(I - P) x W'``.
    """

    def __init__(
        self,
        low: nn.Module,
        high: nn.Module,
        transform: Callable[[Any], Tensor],
        *,
        alphas: str | tuple[float, float] = "learned",
    ) -> None:
        super().__init__()
        self.low, self.high, self.transform = low, high, transform
        self.mixing = Mixing(alphas)

    def forward(self, x: Any, *args: Any, **kwargs: Any) -> Tensor:
        """Return the mixture of the channels; all arguments go to the patched layer."""
        low, smooth = self.low(x, *args, **kwargs), self.high(x, *args, **kwargs)
        whole = self.transform(x)
        if whole.shape != smooth.shape:
            raise ParameterError(
                f"the layer returns {tuple(smooth.shape)} but its linear map {tuple(whole.shape)}; give transform="
            )
        a_low, a_high = self.mixing()
        mixed: Tensor = a_low * low + a_high * (whole - smooth)
        return mixed

    def alphas(self) -> tuple[Tensor, Tensor]:
        """Return the weights of the low and the high channel."""
        low, high = self.mixing()
        return low, high


def patch(
    module: nn.Module,
    *,
    transform: str | Callable[[nn.Module, Any], Tensor] | None = None,
    alphas: str | tuple[float, float] = "learned",
    seed: int = 0,
) -> PatchedLayer:
    """Return ``module`` with a high-pass channel: ``a_low * layer(x) + a_high * (T(x) - layer'(x))``.

    Parameters
    ----------
    module : Module
        A one-channel layer ``layer(x, ...)``, a convolution of torch_geometric for instance. It is used as it is,
        with its weights; the high channel gets a copy with weights of its own.
    transform : str or callable, optional
        The linear map before propagation: an attribute of the layer, or ``f(layer, x)``. By default the attribute
        that the usual layers have (``lin``, ``lin_l``, ``lin_src``, ``linear``, ``fc``).
    alphas : {'learned', 'tied'} or pair of floats
    seed : int
        Of the copy's weights.

    Raises
    ------
    ParameterError
        No linear map was found; say where it is.

    Examples
    --------
    >>> class Mean(nn.Module):
    ...     def __init__(self):
    ...         super().__init__()
    ...         self.lin = nn.Linear(3, 2, bias=False)
    ...
    ...     def forward(self, x):
    ...         return self.lin(x).mean(0, keepdim=True).expand(len(x), 2)
    >>> layer = patch(Mean(), alphas=(1.0, 1.0))
    >>> layer(torch.ones(4, 3)).shape
    torch.Size([4, 2])
    """
    twin = copy.deepcopy(module)
    _redraw(twin, stream(seed, "patch"))
    return PatchedLayer(module, twin, _transform(twin, transform), alphas=alphas)


def _transform(layer: nn.Module, given: Any) -> Callable[[Any], Tensor]:
    if callable(given):
        return lambda x: given(layer, x)
    names = TRANSFORMS if given is None else (given,)
    for name in names:
        found: Callable[[Any], Tensor] | None = getattr(layer, name, None)
        if found is not None:
            return found
    kind = type(layer).__name__
    raise ParameterError(f"{kind} has no linear map named {', '.join(names)}; give transform=f with f(layer, x)")


def _redraw(layer: nn.Module, generator: torch.Generator) -> None:
    with torch.no_grad():
        for parameter in layer.parameters():
            if parameter.ndim >= 2:
                drawn = glorot(tuple(parameter.shape), generator)
                parameter.copy_(drawn.to(parameter))
