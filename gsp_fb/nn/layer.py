"""One layer around any propagation: lift, filter, mix. Baseline and filterbank differ by ``channels``."""

from __future__ import annotations

from typing import Any

import torch
from torch import Tensor, nn

from .._arguments import check_choice, check_count
from ..errors import ParameterError
from .channels import ChannelLayer, Channels
from .inputs import Features
from .parts import ACTIVATIONS, Copies, Linear, Norm
from .propagation.base import Propagation, check_propagation, chosen
from .propagation.operators import SLOPES

__all__ = ["ORDERS", "TRANSFORMATIONS", "FilterBankLayer"]

TRANSFORMATIONS = ("linear", "nonlinear")
ORDERS = ("before", "after")
# Channels that a propagation may add up in one pass, see ``Complement.rectified``.
PAIRS = tuple(("low", second) for second in SLOPES)


class FilterBankLayer(ChannelLayer):
    r"""One layer of k channels, :math:`H' = \mathrm{out}(\sum_c a_c\,\mathrm{channel}_c(\mathrm{act}(H W_c)) + b)`.

    ``channels="low"`` is the one-channel baseline, ``channels="both"`` the paper's layer.

    Parameters
    ----------
    n_in, n_out : int
    propagation : object with ``low(h)``
        Optionally ``high``, ``both`` and ``synthesize``; see :class:`gsp_fb.nn.Propagation`.
    channels : {'both', 'low', 'high'} or sequence
        Any of ``low``, ``high``, ``identity`` and of learnable filters: ``monomial``, ``bernstein``, ``chebyshev``,
        ``jacobi``, or a :class:`gsp_fb.nn.PolynomialFilter`.
    mixing : {'scalar', 'node', 'tied'} or sequence of floats
        One weight a channel in (0, 2) that starts at 1 (half of that for the spatial pair, which adds up to twice the
        identity), a softmax over the channels at every node, one softmax for all nodes, or constants. A single channel
        is not weighted.
    transformation : {'linear', 'nonlinear'}, optional
        Whether ``act`` acts within the channels; by default it does unless ``channels='low'``, as in the paper.
    order : {'before', 'after'}
        Whether ``act`` comes before the filter (the paper) or after it (ACM-GCN).
    root : bool
        Add ``H W_root``: a node's own features past the filters (GraphSAGE, GraphSAINT).
    norm : {'none', 'layer', 'batch'}
        Normalisation before ``out``.
    activation, output : {'relu', 'elu', 'tanh', 'identity'}
        ``act`` and ``out``.
    bias : bool
    generator : torch.Generator, optional
        Draws the weights. By default torch's own, so that ``torch.manual_seed`` decides.
    copies : tuple
        ``(s,)`` for ``s`` independent parameter sets.

    Raises
    ------
    ParameterError
        Unknown names, sizes below 1, or a propagation without ``low``.

    See Also
    --------
    operator_propagation : The propagation of any operator family.
    patch : A second channel for a layer of another library.

    References
    ----------
    .. [1] S. Luan et al., "Complete the Missing Half: Augmenting Aggregation Filtering with Diversification for Graph
       Convolutional Networks", GLFrontiers 2022.

    Examples
    --------
    >>> from gsp_fb import Graph
    >>> from gsp_fb.nn import operator_propagation
    >>> ring = operator_propagation(Graph.from_edges([(0, 1), (1, 2), (2, 0)]), "lazy_rw")
    >>> layer = FilterBankLayer(4, 2, ring, channels=("low", "high", "identity"), mixing="node")
    >>> layer(torch.ones(3, 4)).shape
    torch.Size([3, 2])
    """

    def __init__(
        self,
        n_in: int,
        n_out: int,
        propagation: Any,
        *,
        channels: Any = "both",
        mixing: Any = "scalar",
        transformation: str | None = None,
        order: str = "before",
        root: bool = False,
        norm: str = "none",
        activation: str = "relu",
        output: str = "relu",
        bias: bool = True,
        generator: torch.Generator | None = None,
        copies: Copies = (),
    ) -> None:
        super().__init__()
        n_in, n_out = check_count(n_in, "n_in"), check_count(n_out, "n_out")
        self.propagation = check_propagation(propagation)
        self.expansion = int(getattr(propagation, "expansion", 1))
        # Low and high add up to 1 + own.
        scale = 1.0 / (1.0 + getattr(propagation, "own", 0.0))
        self.bank = Channels(channels, mixing, n_out, generator, scale=scale, copies=copies)
        self.bank.check(propagation)
        default = TRANSFORMATIONS[self.bank.names != ("low",)]
        chosen = default if transformation is None else check_choice(transformation, TRANSFORMATIONS, "transformation")
        act, identity = ACTIVATIONS[check_choice(activation, ACTIVATIONS, "activation")], ACTIVATIONS["identity"]
        act = identity if chosen == "linear" else act
        acts_first = check_choice(order, ORDERS, "order") == "before"
        self.before, self.after = (act, identity) if acts_first else (identity, act)
        self.output = ACTIVATIONS[check_choice(output, ACTIVATIONS, "output activation")]
        width, blocks = n_out * self.expansion, len(self.bank.names)
        self.lift = Linear(n_in, width, generator, blocks=blocks, copies=copies)
        self.root = Linear(n_in, n_out, generator, copies=copies) if root else None
        self.bias = nn.Parameter(torch.zeros(*copies, n_out)) if bias else None
        self.norm = Norm(norm, n_out, copies=copies)

    def alphas(self) -> Tensor | None:
        """Return the weights of the channels, shape ``(*copies, k)``; None where there is one, or one set a node."""
        return None if self.bank.mixing is None else self.bank.mixing.alphas()

    def _chosen(self, propagation: Propagation | None) -> Propagation:
        if propagation is None:
            return self.propagation
        found = chosen(self.propagation, propagation)
        expansion = int(getattr(found, "expansion", 1))
        if expansion != self.expansion:
            blocks = f"this layer averages {self.expansion} blocks, the given propagation {expansion}"
            raise ParameterError(f"{blocks}; build the model for the new graph and load its state dict")
        self.bank.check(found)
        return found

    def _blocks(self, lifted: Tensor) -> tuple[Tensor, ...]:
        acted: Tensor = self.before(lifted)
        return acted.chunk(len(self.bank.names), dim=-1)

    def forward(self, x: Features, propagation: Propagation | None = None) -> Tensor:
        """Return the layer's output; ``propagation`` replaces the layer's own (for example a sampled subgraph)."""
        return self._combined(self.lift(x), x, propagation)

    def split(self, x: Features, propagation: Propagation | None = None) -> dict[str, Tensor]:
        """Return the channels before mixing, the layer's output (``combined``) and the ``shares``, by name.

        The output is that of ``forward`` to the last digit: what is recorded of a layer changes nothing behind it.
        """
        lifted = self.lift(x)
        parts = self._filtered(lifted, propagation)
        found = dict(zip(self.bank.names, parts, strict=True))
        return {**found, "combined": self._combined(lifted, x, propagation), "shares": self.bank.shares(parts)}

    def _combined(self, lifted: Tensor, x: Features, propagation: Propagation | None) -> Tensor:
        if self.after is not ACTIVATIONS["identity"]:
            return self.finish(self.bank.mix(self._filtered(lifted, propagation)), x)
        chosen = self._chosen(propagation)
        mixed = self._one_pass(lifted, chosen)
        if mixed is None:
            return self.finish(self.bank.synthesize(chosen, self._blocks(lifted)), x)
        return self._finished(mixed, x)

    def _one_pass(self, lifted: Tensor, chosen: Propagation) -> Tensor | None:
        """Return low and one more channel mixed, with the bias, where the propagation has a loop for them."""
        alphas, one_pass = self.alphas(), getattr(chosen, "rectified", None)
        if alphas is None or one_pass is None or self.before is not torch.relu or self.bank.names not in PAIRS:
            return None
        mixed: Tensor | None = one_pass(lifted, alphas, self.bank.names[1], self.bias)
        return mixed

    def parts(self, x: Features, propagation: Propagation | None = None) -> list[Tensor]:
        """Return the filtered channels before mixing."""
        return self._filtered(self.lift(x), propagation)

    def _filtered(self, lifted: Tensor, propagation: Propagation | None) -> list[Tensor]:
        return [self.after(part) for part in self.bank.filter(self._chosen(propagation), self._blocks(lifted))]

    def finish(self, mixed: Tensor, x: Features, propagation: Propagation | None = None) -> Tensor:
        """Add root map and bias to the mixed channels, normalise and activate."""
        return self._finished(mixed if self.bias is None else mixed + self.bias.unsqueeze(-2), x)

    def _finished(self, mixed: Tensor, x: Features) -> Tensor:
        if self.root is not None:
            mixed = mixed + self.root(x)
        return self.output(self.norm(mixed))
