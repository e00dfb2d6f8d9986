"""The small parts of every network: seeded streams, linear maps, dropout, normalisation and activations.

A module with ``copies=(s,)`` holds ``s`` independent parameter sets and maps (s, n, f) to (s, n, h): ten splits of a
small graph are then one batch. ``copies=()`` is the ordinary module.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from functools import partial
from itertools import count
from typing import Any, cast
from weakref import WeakValueDictionary

import numpy as np
import torch
from torch import Tensor, nn

from .._arguments import check_choice
from .._kernels.torch_dense import dense_product
from .._kernels.torch_elementwise import Streams, kept, whole_vectors
from .._kernels.torch_features import SparseFeatures
from ..errors import ParameterError
from .inputs import Features

__all__ = ["ACTIVATIONS", "NORMS", "Copies", "Dropout", "Linear", "Norm", "glorot", "stream"]

Copies = tuple[int, ...]

ACTIVATIONS: dict[str, Callable[[Tensor], Tensor]] = {
    "relu": torch.relu,
    "elu": partial(whole_vectors, nn.functional.elu),
    "tanh": partial(whole_vectors, torch.tanh),
    "identity": torch.positive,
}


def stream(seed: int, name: str, device: torch.device | str = "cpu") -> torch.Generator:
    """Return the generator of one named stream of a seed; the streams of a seed are independent."""
    key = int.from_bytes(name.encode(), "little")
    state = np.random.SeedSequence([seed, key]).generate_state(1, np.uint64)[0]
    return torch.Generator(device=device).manual_seed(int(state >> np.uint64(1)))


def glorot(shape: tuple[int, ...], generator: torch.Generator | None = None, *, blocks: int = 1) -> Tensor:
    """Return uniform weights within Glorot's ``sqrt(6 / (fan_in + fan_out))``; ``blocks`` maps share the columns."""
    bound = math.sqrt(6.0 / (shape[-2] + shape[-1] / blocks))
    return (2.0 * torch.rand(shape, generator=generator) - 1.0) * bound


class Linear(nn.Module):
    """``x W``, with ``W`` of shape (in, blocks * out): several maps of one input in one product."""

    def __init__(
        self,
        n_in: int,
        n_out: int,
        generator: torch.Generator | None = None,
        *,
        blocks: int = 1,
        bias: bool = False,
        copies: Copies = (),
    ) -> None:
        super().__init__()
        self.weight = nn.Parameter(glorot((*copies, n_in, blocks * n_out), generator, blocks=blocks))
        self.bias = nn.Parameter(torch.zeros(*copies, blocks * n_out)) if bias else None

    def forward(self, x: Features) -> Tensor:
        """Return ``x W`` or ``x W + b``."""
        if isinstance(x, SparseFeatures):
            mapped = x.matmul(self.weight)
        else:
            mapped = dense_product(x, self.weight) if self.weight.ndim == 2 else self._copies(x)
        return mapped if self.bias is None else mapped + self.bias.unsqueeze(-2)

    def _copies(self, x: Tensor) -> Tensor:
        """Return the products of all copies, in whole vectors: else rounding depends on where a copy lies in memory."""
        width = self.weight.shape[-1]
        return (x @ nn.functional.pad(self.weight, (0, -width % 16)))[..., :width]


# Dropouts by number: a compiled program holds numbers, never a generator.
_DROPOUTS: WeakValueDictionary[int, Dropout] = WeakValueDictionary()
_numbers = count()


@torch.library.custom_op("gsp_fb::dropout_mask", mutates_args=(), tags=(torch.Tag.nondeterministic_seeded,))
def _drawn(like: Tensor, shape: list[int], number: int) -> Tensor:
    module = _DROPOUTS.get(number)
    if module is None:
        raise ParameterError("this program draws dropout from a model that is gone; export the model in eval mode")
    return module.draw(tuple(shape), like)


@_drawn.register_fake
def _(like: Tensor, shape: list[int], number: int) -> Tensor:
    return like.new_empty(shape)


class Dropout(nn.Module):
    """Zero entries at ``rate`` and scale the rest by ``1 / (1 - rate)``, drawing from a generator of its own.

    Of sparse features only the stored entries are drawn: the zeros would stay zero. A deep copy has a generator of its
    own, in the same state.
    """

    def __init__(self, rate: float, generator: torch.Generator, *, copies: Copies = ()) -> None:
        super().__init__()
        self.rate: float | Tensor = rate
        self.generator: Streams = generator
        self.copies = copies
        self._register()

    def set_copies(self, rates: Sequence[float], generators: Sequence[torch.Generator]) -> None:
        """Give every copy a rate and a generator of its own."""
        self.copies = (len(rates),)
        self.rate = rates[0] if len(set(rates)) == 1 else torch.tensor(rates, dtype=torch.float64)
        self.generator = tuple(generators)

    def __setstate__(self, state: dict[str, Any]) -> None:
        super().__setstate__(state)  # type: ignore[no-untyped-call]  # torch leaves it untyped
        self._register()

    def _register(self) -> None:
        self.number = next(_numbers)
        _DROPOUTS[self.number] = self

    def forward(self, x: Features) -> Features:
        """Return ``x`` with entries dropped in training, as it is otherwise."""
        values, ndim = (x.values, 1) if isinstance(x, SparseFeatures) else (x, 2)
        # An input shared by all copies meets a mask for each of them.
        shape = (*self.copies, *values.shape) if values.ndim == ndim else tuple(values.shape)
        mask = self.mask(shape, values)
        if mask is None:
            return x
        return x.with_values(values * mask) if isinstance(x, SparseFeatures) else values * mask

    def mask(self, shape: tuple[int, ...], like: Tensor) -> Tensor | None:
        """Return what would multiply a tensor of this shape in training; None where nothing would be dropped."""
        if not self.training or (not isinstance(self.rate, Tensor) and self.rate == 0.0):
            return None
        if torch.compiler.is_compiling():
            return cast(Tensor, _drawn(like.detach(), list(shape), self.number))
        return self.draw(shape, like)

    def draw(self, shape: tuple[int, ...], like: Tensor) -> Tensor:
        """Return a mask in the precision and on the device of ``like``."""
        return kept(shape, 1.0 - self.rate, self.generator, like.dtype).to(like.device)


# The axis over which mean and variance are taken.
NORMS = {"none": None, "layer": -1, "batch": -2}


class Norm(nn.Module):
    """``(h - mean) / sqrt(var + 1e-5) * weight + bias``, over the features (``layer``) or the nodes (``batch``).

    ``batch`` takes the statistics of the nodes of the call, in evaluation too: an epoch on a whole graph sees the
    whole population, and there is nothing for running averages to estimate.
    """

    def __init__(self, kind: str, width: int, *, copies: Copies = ()) -> None:
        super().__init__()
        self.axis = NORMS[check_choice(kind, NORMS, "norm")]
        if self.axis is not None:
            self.weight = nn.Parameter(torch.ones(*copies, width))
            self.bias = nn.Parameter(torch.zeros(*copies, width))

    def forward(self, h: Tensor) -> Tensor:
        """Return the normalised ``h``."""
        if self.axis is None:
            return h
        variance, mean = torch.var_mean(h, dim=self.axis, correction=0, keepdim=True)
        return (h - mean) * torch.rsqrt(variance + 1e-5) * self.weight.unsqueeze(-2) + self.bias.unsqueeze(-2)
