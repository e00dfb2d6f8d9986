"""Networks of channel layers: what all of them offer, and the plain stack of filterbank layers."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Callable, Iterable, Iterator, Mapping
from typing import Any, TypeAlias

import torch
from torch import Tensor, nn

from ..errors import ParameterError
from .channels import ChannelLayer, Channels, Mixing, node_mean
from .parts import Dropout
from .propagation.base import Propagation
from .propagation.polynomial import PolynomialFilter, PolynomialPropagation

__all__ = ["GraphNetwork", "Network", "n_parameters", "parameter_groups"]

Record: TypeAlias = Callable[[dict[str, Tensor]], Any] | None


class GraphNetwork(nn.Module):
    """What every network offers beside ``model(x)``: its channels, mixing weights and shares."""

    layers: Any  # of ChannelLayer

    @abstractmethod
    def forward(self, x: Any, propagation: Propagation | None = None, record: Record = None) -> Tensor:
        """Return the logits; ``propagation`` replaces the layers' own, ``record`` gets what their ``split`` returns."""

    def channels(self, x: Any, propagation: Propagation | None = None) -> list[dict[str, Tensor]]:
        """Return, for every layer, the filtered channels by name, ``combined`` and ``shares``.

        Shares are what every channel contributes to the sum and add up to 1: shape (k,), or (n_nodes, k) where mixing
        is per node.
        """
        found: list[dict[str, Tensor]] = []
        was_training = self.training
        self.eval()
        with torch.no_grad():
            self.forward(x, propagation, found.append)
        self.train(was_training)
        return found

    @property
    def channel_names(self) -> tuple[str, ...]:
        """The names of the channels of a layer; the columns of :meth:`alphas` and :meth:`shares`."""
        return next(module.names for module in self.modules() if isinstance(module, Channels))

    def shares(self, x: Any) -> Tensor:
        """Return the mean share of every channel, shape (*copies, n_layers, k); each row sums to 1."""
        return torch.stack([self.mean_shares(part) for part in self.channels(x)], dim=-2)

    def mean_shares(self, found: Mapping[str, Tensor]) -> Tensor:
        """Return the shares of a layer, their mean over the nodes where every node has its own."""
        per_node = any(mixing.kind == "node" for mixing in mixings(self))
        return node_mean(found["shares"]) if per_node else found["shares"]

    def alphas(self) -> Tensor:
        """Return the mixing weights, shape ``(*copies, n_layers, k)``.

        No rows where a layer has one channel, constants, or weights per node.
        """
        learned = (mixing for mixing in mixings(self) if mixing.kind != "constant")
        tables = [alphas for mixing in learned if (alphas := mixing.alphas()) is not None]
        return torch.stack(tables, dim=-2).detach() if tables else torch.empty(0, 2)

    def response(self, frequencies: Any) -> Any:
        """Return the response of the learnable filter at the frequencies, as an array."""
        found = [module for module in self.modules() if isinstance(module, PolynomialFilter)]
        if len(found) != 1:
            one = "model.layers[0].bank.filters[name].response(frequencies)"
            raise ParameterError(f"the network has {len(found)} learnable filters; ask one for its response: {one}")
        return found[0].response(frequencies)


class Network(GraphNetwork):
    """Layers one after the other, dropout before each; ``model(x)`` returns the logits.

    Parameters
    ----------
    layers : iterable of ChannelLayer
        From the input to the output.
    dropout : Dropout
        Applied before every layer.
    input_dropout : Dropout, optional
        That of the input; ``dropout`` by default.
    lift, head : Module, optional
        Maps from the input to the first layer's width (a ReLU follows) and from the last layer's to the classes.
    residual : bool
        Every layer adds to its input: ``h + layer(h)``.
    filtering : PolynomialPropagation, optional
        Filters the logits: a decoupled network, propagation after all maps.
    sampler : object with ``batches(train)``, optional
        Makes the training steps of an epoch; without it an epoch is one step on the whole graph.

    See Also
    --------
    build : Makes a network by the name of its model.
    FilterBankLayer : One layer.
    parameter_groups : Its parameters, with and without weight decay.

    Examples
    --------
    >>> from gsp_fb.datasets import contextual_sbm
    >>> from gsp_fb.nn import build
    >>> data = contextual_sbm(30, rng=0)
    >>> model = build("fb-gcn", data)
    >>> model(torch.tensor(data.x, dtype=torch.float32)).shape, model.alphas().shape
    (torch.Size([30, 2]), torch.Size([2, 2]))
    """

    def __init__(
        self,
        layers: Iterable[ChannelLayer],
        dropout: Dropout,
        *,
        input_dropout: Dropout | None = None,
        lift: nn.Module | None = None,
        head: nn.Module | None = None,
        residual: bool = False,
        filtering: PolynomialPropagation | None = None,
        sampler: Any = None,
    ) -> None:
        super().__init__()
        self.lift, self.layers, self.head, self.filtering = lift, nn.ModuleList(layers), head, filtering
        self.dropout, self.input_dropout = dropout, dropout if input_dropout is None else input_dropout
        self.residual, self.sampler = residual, sampler

    def forward(self, x: Any, propagation: Propagation | None = None, record: Record = None) -> Tensor:
        """Return the logits."""
        h: Tensor = self.input_dropout(x)
        if self.lift is not None:
            h = self.dropout(torch.relu(self.lift(h)))
        for position, layer in enumerate(self.layers):
            given = self.dropout(h) if position else h
            out = layer.run(record, given, propagation if self.filtering is None else None)
            h = h + out if self.residual else out
        if self.head is not None:
            h = self.head(self.dropout(h))
        own = self.filtering
        if own is not None:
            h = (own if propagation is None else PolynomialPropagation(propagation, own.learned)).low(h)
        return h


def mixings(model: nn.Module) -> Iterator[Mixing]:
    """Return the mixings of a network, in order."""
    return (module for module in model.modules() if isinstance(module, Mixing))


UNDECAYED = ("logits", "gain", "theta", "rates")


def parameter_groups(model: nn.Module | Mapping[str, nn.Parameter], weight_decay: float) -> list[dict[str, Any]]:
    """Return the optimiser's groups: mixing logits, wavelet gains and filter coefficients without weight decay.

    Decay would pull every weight of a channel to 1 and every response to 0, whatever the data.

    Parameters
    ----------
    model : Module or mapping of str to Parameter
        Any module, or its named parameters; those without decay are found by name.
    weight_decay : float
        Of all other parameters.

    Returns
    -------
    list of dict
        First argument of the optimisers in ``torch.optim``.

    See Also
    --------
    train : Uses these groups unless ``optimizer=`` is given.
    n_parameters : The number of trained values.

    Examples
    --------
    >>> [group["weight_decay"] for group in parameter_groups(nn.Sequential(Mixing(), nn.Linear(2, 2)), 5e-4)]
    [0.0005, 0.0]
    """
    named = dict(model.named_parameters()) if isinstance(model, nn.Module) else model
    groups: dict[bool, list[nn.Parameter]] = {True: [], False: []}
    for name, parameter in named.items():
        groups[name.rpartition(".")[2] not in UNDECAYED].append(parameter)
    decays = {True: weight_decay, False: 0.0}
    return [{"params": found, "weight_decay": decays[kind]} for kind, found in groups.items() if kind or found]


def n_parameters(model: nn.Module) -> int:
    """Return the number of trainable values in ``model``.

    Parameters
    ----------
    model : Module
        With initialised parameters.

    Returns
    -------
    int
        Entries of all parameters together.

    See Also
    --------
    parameter_groups : The parameters themselves, with and without weight decay.

    Examples
    --------
    >>> n_parameters(nn.Linear(3, 2))
    8
    """
    return sum(parameter.numel() for parameter in model.parameters())
