"""A stack of filterbank layers: the network of every model that has nothing between its layers but dropout."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Any

import torch
from torch import Tensor, nn

from .inputs import Features
from .layer import FilterBankLayer, Mixing
from .parts import Dropout
from .propagation.base import Batch, Propagation

__all__ = ["Network", "adam", "alpha_table", "n_parameters", "parameter_groups"]


class Network(nn.Module):
    """Layers one after the other, dropout before each; ``model(x)`` returns the logits.

    Parameters
    ----------
    layers : iterable of FilterBankLayer
    dropout : Dropout
    sampler : object with ``batches(train)``, optional
        Makes the training steps of an epoch; without it an epoch is one step on the whole graph.

    Examples
    --------
    >>> from gsp_fb.datasets import contextual_sbm
    >>> from gsp_fb.nn import build
    >>> data = contextual_sbm(30, rng=0)
    >>> model = build("fb-gcn", data)
    >>> model(torch.tensor(data.x, dtype=torch.float32)).shape, model.alphas().shape
    (torch.Size([30, 2]), torch.Size([2, 2]))
    """

    def __init__(self, layers: Iterable[FilterBankLayer], dropout: Dropout, *, sampler: Any = None) -> None:
        super().__init__()
        self.layers = nn.ModuleList(layers)
        self.dropout = dropout
        self.sampler = sampler

    def forward(self, x: Features, propagation: Propagation | None = None) -> Tensor:
        """Return the logits; ``propagation`` replaces that of every layer (a sampled subgraph, say)."""
        return self._run(x, propagation)[-1]

    def _run(self, x: Features, propagation: Propagation | None) -> list[Tensor]:
        outputs: list[Tensor] = []
        for layer in self.layers:
            outputs.append(layer(self.dropout(outputs[-1] if outputs else x), propagation))
        return outputs

    def channels(self, x: Features) -> list[dict[str, Tensor]]:
        """Return, for every layer, the embeddings ``low``, ``high`` (where there are both) and ``combined``."""
        was_training = self.training
        self.eval()
        with torch.no_grad():
            inputs = [x, *self._run(x, None)[:-1]]
            splits = [layer.split(h) for layer, h in zip(self._layers(), inputs, strict=True)]
        self.train(was_training)
        return splits

    def _layers(self) -> Iterator[FilterBankLayer]:
        for layer in self.layers:
            if isinstance(layer, FilterBankLayer):
                yield layer

    def alphas(self) -> Tensor:
        """Return the mixing weights, shape ``(*copies, n_layers, 2)``; no rows where there is one channel."""
        return alpha_table(self)

    def batches(self, train: Tensor) -> Iterator[Batch]:
        """Yield the training steps of one epoch over the training nodes ``train``."""
        if self.sampler is None:
            yield Batch(train)
        else:
            yield from self.sampler.batches(train)


def alpha_table(model: nn.Module) -> Tensor:
    """Return the alphas of every mixing in ``model``, in order, shape (*copies, n_mixings, 2)."""
    pairs = [torch.cat([a.reshape(*a.shape[:-2], 1) for a in m()], -1) for m in _mixings(model) if m.logits is not None]
    return torch.stack(pairs, dim=-2).detach() if pairs else torch.empty(0, 2)


def _mixings(model: nn.Module) -> Iterator[Mixing]:
    return (module for module in model.modules() if isinstance(module, Mixing))


UNDECAYED = ("logits", "gain")


def parameter_groups(model: nn.Module, weight_decay: float) -> list[dict[str, Any]]:
    """Return the optimiser's groups: alpha logits and wavelet gains apart, without weight decay.

    Decay would pull every alpha to 1/2 and every gain to 0, whatever the data says.

    Examples
    --------
    >>> [group["weight_decay"] for group in parameter_groups(nn.Sequential(Mixing(), nn.Linear(2, 2)), 5e-4)]
    [0.0005, 0.0]
    """
    named = list(model.named_parameters())
    free = [parameter for name, parameter in named if name.rpartition(".")[2] in UNDECAYED]
    rest = [parameter for name, parameter in named if name.rpartition(".")[2] not in UNDECAYED]
    groups: list[dict[str, Any]] = [{"params": rest, "weight_decay": weight_decay}]
    return [*groups, {"params": free, "weight_decay": 0.0}] if free else groups


def adam(model: nn.Module, lr: float, weight_decay: float) -> torch.optim.Adam:
    """Return the optimiser over :func:`parameter_groups`, fused: one pass over memory instead of ten."""
    return torch.optim.Adam(parameter_groups(model, weight_decay), lr=lr, fused=True)


def n_parameters(model: nn.Module) -> int:
    """Return the number of trained numbers in ``model``.

    Examples
    --------
    >>> n_parameters(nn.Linear(3, 2))
    8
    """
    return sum(parameter.numel() for parameter in model.parameters())
