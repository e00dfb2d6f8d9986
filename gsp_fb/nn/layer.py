"""One layer around any propagation: lift, filter, mix. Baseline and filterbank differ by ``channels``."""

from __future__ import annotations

from typing import Any

import torch
from torch import Tensor, nn

from .._arguments import check_choice, check_count
from ..errors import ParameterError
from .inputs import Features
from .parts import ACTIVATIONS, Copies, Linear, stream
from .propagation.base import Propagation, Rectified, Synthesis, analyze, check_propagation, high

__all__ = ["ALPHAS", "CHANNELS", "ORDERS", "TRANSFORMATIONS", "FilterBankLayer", "Mixing"]

CHANNELS = ("low", "high", "both")
TRANSFORMATIONS = ("linear", "nonlinear")
ORDERS = ("before", "after")
ALPHAS = ("learned", "tied")


class Mixing(nn.Module):
    """The weights of the two channels: ``a_low * low + a_high * high`` with alphas in [0, 1].

    Parameters
    ----------
    alphas : {'learned', 'tied'} or pair of floats
        Two logits through a sigmoid, one logit with ``a_high = 1 - a_low``, or two constants.
    """

    def __init__(self, alphas: str | tuple[float, float] = "learned", *, copies: Copies = ()) -> None:
        super().__init__()
        self.logits: nn.Parameter | None = None
        self.fixed = (1.0, 1.0)
        if isinstance(alphas, str):
            check_choice(alphas, ALPHAS, "alphas")
            self.logits = nn.Parameter(torch.zeros(*copies, 2 if alphas == "learned" else 1))
        else:
            self.fixed = _check_pair(alphas)

    def forward(self) -> tuple[Tensor, Tensor]:
        """Return the two weights, shaped to scale (..., n, f)."""
        if self.logits is None:
            low, rest = (torch.tensor(value) for value in self.fixed)
            return low, rest
        weights = torch.sigmoid(self.logits)[..., None, None].unbind(-3)
        return (weights[0], 1.0 - weights[0]) if len(weights) == 1 else (weights[0], weights[1])


def _check_pair(alphas: Any) -> tuple[float, float]:
    try:
        low, rest = (float(value) for value in alphas)
    except (TypeError, ValueError):
        raise ParameterError(f"alphas must be 'learned', 'tied' or a pair of numbers, not {alphas!r}") from None
    if not (0.0 <= low <= 1.0 and 0.0 <= rest <= 1.0):
        raise ParameterError(f"fixed alphas must lie in [0, 1], not {alphas!r}")
    return low, rest


class FilterBankLayer(nn.Module):
    r"""``out(a_low * low(act(x W_low)) + a_high * high(act(x W_high)) + b)`` with alphas in (0, 1).

    Parameters
    ----------
    n_in, n_out : int
    propagation : object with ``low(h)``
        Optionally ``high``, ``both`` and ``synthesize``; see :class:`gsp_fb.nn.Propagation`.
    channels : {'both', 'low', 'high'}
        ``low`` is the one-channel baseline; a single channel has no alpha.
    transformation : {'linear', 'nonlinear'}, optional
        Whether ``act`` acts within the channels; by default it does unless ``channels='low'``, as in the paper.
    order : {'before', 'after'}
        Whether ``act`` comes before the filter (the paper) or after it.
    alphas : {'learned', 'tied'} or pair of floats
    root : bool
        Add ``x W_root``: a node's own features past the filters (GraphSAGE, GraphSAINT).
    activation, output : {'relu', 'elu', 'tanh', 'identity'}
        ``act`` and ``out``.
    bias : bool
    generator : torch.Generator, optional
        Draws the weights; global random state is never used.
    copies : tuple
        ``(s,)`` for ``s`` independent parameter sets.

    Examples
    --------
    >>> from gsp_fb import Graph
    >>> from gsp_fb.nn import operator_propagation
    >>> ring = operator_propagation(Graph.from_edges([(0, 1), (1, 2), (2, 0)]), "lazy_rw")
    >>> layer = FilterBankLayer(4, 2, ring)
    >>> layer(torch.ones(3, 4)).shape
    torch.Size([3, 2])
    """

    def __init__(
        self,
        n_in: int,
        n_out: int,
        propagation: Any,
        *,
        channels: str = "both",
        transformation: str | None = None,
        order: str = "before",
        alphas: str | tuple[float, float] = "learned",
        root: bool = False,
        activation: str = "relu",
        output: str = "relu",
        bias: bool = True,
        generator: torch.Generator | None = None,
        copies: Copies = (),
    ) -> None:
        super().__init__()
        n_in, n_out = check_count(n_in, "n_in"), check_count(n_out, "n_out")
        self.propagation = check_propagation(propagation)
        self.selected = check_choice(channels, CHANNELS, "channels")
        self.order = check_choice(order, ORDERS, "order")
        inner = transformation if transformation is not None else TRANSFORMATIONS[channels != "low"]
        check_choice(inner, TRANSFORMATIONS, "transformation")
        self.activation = ACTIVATIONS[check_choice(activation, ACTIVATIONS, "activation")]
        self.output = ACTIVATIONS[check_choice(output, ACTIVATIONS, "output activation")]
        self.before, self.after = self._places(inner)
        generator = generator if generator is not None else stream(0, "weights")
        width = n_out * int(getattr(propagation, "expansion", 1))
        self.lift = Linear(n_in, width, generator, blocks=1 + (channels == "both"), copies=copies)
        self.root = Linear(n_in, n_out, generator, copies=copies) if root else None
        self.bias = nn.Parameter(torch.zeros(*copies, n_out)) if bias else None
        self.mixing = Mixing(alphas, copies=copies) if channels == "both" else None

    def _places(self, transformation: str) -> tuple[Any, Any]:
        identity = ACTIVATIONS["identity"]
        if transformation == "linear":
            return identity, identity
        return (self.activation, identity) if self.order == "before" else (identity, self.activation)

    def alphas(self) -> tuple[Tensor, Tensor] | None:
        """Return the weights of the low and the high channel; None where there is one channel."""
        return None if self.mixing is None else self.mixing()

    def forward(self, x: Features, propagation: Propagation | None = None) -> Tensor:
        """Return the layer's output; ``propagation`` replaces the layer's own (a sampled subgraph, say)."""
        chosen = self.propagation if propagation is None else propagation
        lifted = self.lift(x)
        if self.mixing is None:
            z = self.before(lifted)
            filtered = chosen.low(z) if self.selected == "low" else high(chosen, z)
            return self._finish(self.after(filtered), x)
        return self._finish(self._mixed(chosen, lifted, *self.mixing()), x)

    def _mixed(self, chosen: Propagation, lifted: Tensor, a_low: Tensor, a_high: Tensor) -> Tensor:
        linear = self.after is ACTIVATIONS["identity"]
        if linear and self.before is ACTIVATIONS["relu"] and isinstance(chosen, Rectified):
            return chosen.rectified(lifted, a_low, a_high)
        z_low, z_high = self.before(lifted).chunk(2, dim=-1)
        if linear and isinstance(chosen, Synthesis):
            return chosen.synthesize(a_low * z_low, a_high * z_high)
        low, rest = analyze(chosen, z_low, z_high)
        mixed: Tensor = a_low * self.after(low) + a_high * self.after(rest)
        return mixed

    def _finish(self, mixed: Tensor, x: Features) -> Tensor:
        if self.root is not None:
            mixed = mixed + self.root(x)
        if self.bias is not None:
            mixed = mixed + self.bias.unsqueeze(-2)
        return self.output(mixed)

    def split(self, x: Features, propagation: Propagation | None = None) -> dict[str, Tensor]:
        """Return the filtered channels before mixing and the layer's output, by name."""
        chosen = self.propagation if propagation is None else propagation
        z = self.before(self.lift(x))
        parts = {"combined": self(x, propagation)}
        if self.selected == "both":
            low, rest = analyze(chosen, *z.chunk(2, dim=-1))
            return {"low": self.after(low), "high": self.after(rest), **parts}
        single = chosen.low(z) if self.selected == "low" else high(chosen, z)
        return {self.selected: self.after(single), **parts}
