"""A second channel for layers that exist already: a user's own, or every convolution of a PyTorch Geometric model."""

from __future__ import annotations

import copy
from collections.abc import Callable
from typing import Any, TypeAlias

import torch
from torch import Tensor, nn

from ..errors import ParameterError
from .channels import Mixing
from .parts import glorot

__all__ = ["PatchedLayer", "is_message_passing", "patch"]

# Where one-channel layers keep the linear map that they apply before propagating.
TRANSFORMS = ("lin", "lin_l", "lin_src", "linear", "fc")
Transform: TypeAlias = "str | Callable[[nn.Module, Any], Tensor]"


class PatchedLayer(nn.Module):
    """``a_low * layer(x) + a_high * (T(x) - layer'(x))`` for a one-channel layer and a copy of it with own weights.

    ``T`` is the linear map of the copy: for a layer ``P x W`` the second term is then ``(I - P) x W'``.
    """

    def __init__(self, low: nn.Module, high: nn.Module, transform: Transform, *, mixing: Any = "scalar") -> None:
        super().__init__()
        self.low, self.high, self.transform = low, high, transform
        self.mixing = Mixing(mixing)
        if self.mixing.kind == "node":
            raise ParameterError("a patched layer mixes with 'scalar', 'tied' or two numbers, not with 'node'")

    def forward(self, x: Any, *args: Any, **kwargs: Any) -> Tensor:
        """Return the mixture of the channels; all arguments go to the patched layer."""
        parts = self.low(x, *args, **kwargs), self.high_channel(x, *args, **kwargs)
        a_low, a_high = self.mixing(parts)
        mixed: Tensor = a_low * parts[0] + a_high * parts[1]
        return mixed

    def high_channel(self, x: Any, *args: Any, **kwargs: Any) -> Tensor:
        """Return ``T(x) - layer'(x)``, what the copy's propagation takes away."""
        smooth: Tensor = self.high(x, *args, **kwargs)
        whole: Tensor = self._map(x[0] if isinstance(x, tuple) else x)
        if whole.shape != smooth.shape:
            shapes = f"the layer returns {tuple(smooth.shape)} but its linear map {tuple(whole.shape)}"
            raise ParameterError(f"{shapes}; give transform=")
        return whole - smooth

    def _map(self, x: Any) -> Any:
        # Looked up at every call: a deep copy must use its own map.
        own = self.transform
        return getattr(self.high, own)(x) if isinstance(own, str) else own(self.high, x)

    def alphas(self) -> Tensor | None:
        """Return the weights of the low and the high channel, shape (2,)."""
        return self.mixing.alphas()

    def reset_parameters(self) -> None:
        """Draw the weights of both channels anew, where the layer knows how."""
        for layer in (self.low, self.high):
            getattr(layer, "reset_parameters", lambda: None)()


def patch(
    module: nn.Module,
    *,
    transform: Transform | None = None,
    mixing: Any = "scalar",
    generator: torch.Generator | None = None,
) -> nn.Module:
    """Return a copy of ``module`` with a high-pass channel: ``a_low * layer(x) + a_high * (T(x) - layer'(x))``.

    A model is walked: every convolution of torch_geometric in it gets its second channel. Anything else is one layer.

    Parameters
    ----------
    module : Module
        A one-channel layer ``layer(x, ...)``, or a model of torch_geometric convolutions. It stays as it is. The
        weights are kept; the high channel gets weights of its own.
    transform : str or callable, optional
        The linear map before propagation: an attribute of the layer, or ``f(layer, x)``. By default the attribute
        that the usual layers have (``lin``, ``lin_l``, ``lin_src``, ``linear``, ``fc``).
    mixing : {'scalar', 'tied'} or pair of floats
        As for :class:`gsp_fb.nn.FilterBankLayer`.
    generator : torch.Generator, optional
        Draws the weights of the high channel; torch's own by default.

    Returns
    -------
    PatchedLayer, or a copy of the model that holds them

    Raises
    ------
    ParameterError
        No linear map was found, or the difference to it is no high-pass channel: on two nodes joined by an edge it
        does not vanish at a constant signal. A root map of its own (``SAGEConv``) is left out of the high channel.

    Examples
    --------
    >>> class Mean(nn.Module):
    ...     def __init__(self):
    ...         super().__init__()
    ...         self.lin = nn.Linear(3, 2, bias=False)
    ...
    ...     def forward(self, x):
    ...         return self.lin(x).mean(0, keepdim=True).expand(len(x), 2)
    >>> layer = patch(Mean(), mixing=(1.0, 1.0))
    >>> layer(torch.ones(4, 3)).shape
    torch.Size([4, 2])
    """
    model = copy.deepcopy(module)
    places = [name for name, part in model.named_modules() if is_message_passing(part)]
    if not places or is_message_passing(model):
        return _patched(model, transform, mixing, generator)
    for name in places:
        parent, _, attribute = name.rpartition(".")
        owner = model.get_submodule(parent)
        setattr(owner, attribute, _patched(getattr(owner, attribute), transform, mixing, generator))
    return model


def is_message_passing(module: nn.Module) -> bool:
    """Return whether a module is a message-passing layer of torch_geometric, without importing it."""
    return any(kind.__name__ == "MessagePassing" for kind in type(module).__mro__)


def _patched(layer: nn.Module, given: Any, mixing: Any, generator: torch.Generator | None) -> PatchedLayer:
    twin = copy.deepcopy(layer)
    # The low channel has bias and root map; in the difference they would be neither low nor high.
    if isinstance(getattr(twin, "bias", None), nn.Parameter):
        twin.register_parameter("bias", None)
    if getattr(twin, "root_weight", False) is True:
        twin.root_weight = False  # type: ignore[assignment]  # nn.Module types its attributes as tensors and modules
        if hasattr(twin, "lin_r"):
            del twin.lin_r
    for parameter in twin.parameters():
        if parameter.ndim >= 2:
            parameter.data.copy_(glorot(tuple(parameter.shape), generator))
    if not callable(given):
        names = TRANSFORMS if given is None else (given,)
        given = next((name for name in names if getattr(twin, name, None) is not None), None)
        if given is None:
            kind = type(layer).__name__
            raise ParameterError(
                f"{kind} has no linear map named {', '.join(names)}; give transform=f with f(layer, x)"
            )
    patched = PatchedLayer(layer, twin, given, mixing=mixing)
    if is_message_passing(layer):
        _probe(patched)
    return patched


def _probe(patched: PatchedLayer) -> None:
    """Refuse a convolution whose difference to its linear map does not vanish at a constant signal on an edge."""
    size = getattr(patched.low, "in_channels", None)
    width: Any = size[0] if isinstance(size, tuple) else size
    kind = type(patched.low).__name__
    if not isinstance(width, int) or width < 1:
        raise ParameterError(f"the width of {kind} is not known yet (in_channels={size}); call it once, then patch")
    like, was_training = next(patched.parameters()), patched.training
    ones = torch.ones(2, width, dtype=like.dtype, device=like.device)
    edge = torch.tensor([[0, 1], [1, 0]], device=like.device)
    with torch.no_grad():
        patched.eval()
        left = patched.high_channel(ones, edge).abs().max()
        whole = patched._map(ones).abs().max()
    patched.train(was_training)
    if not left <= 1e-3 * whole:
        raise ParameterError(
            f"{kind} is no linear map followed by averaging: a constant signal leaves {float(left):.3g} instead of 0 "
            "(a root term or a nonlinearity of its own), so that there is no high channel to add; use FilterBankConv"
        )
