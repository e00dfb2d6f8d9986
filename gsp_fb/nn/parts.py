"""The small parts of every network: seeded streams, linear maps, dropout and activations, for one or many copies.

A module with ``copies=(s,)`` holds ``s`` independent parameter sets and maps (s, n, f) to (s, n, h): ten splits of a
small graph are then one batch. ``copies=()`` is the ordinary module.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence

import numpy as np
import torch
from torch import Tensor, nn

from .compiling import uncompiled
from .inputs import Features, SparseFeatures

__all__ = ["ACTIVATIONS", "Copies", "Dropout", "Linear", "glorot", "kept", "stream"]

Copies = tuple[int, ...]


def _identity(x: Tensor) -> Tensor:
    return x


ACTIVATIONS: dict[str, Callable[[Tensor], Tensor]] = {
    "relu": torch.relu,
    "elu": nn.functional.elu,
    "tanh": torch.tanh,
    "identity": _identity,
}


def stream(seed: int, name: str, device: torch.device | str = "cpu") -> torch.Generator:
    """Return the generator of one named stream of a seed; the streams of a seed are independent.

    Examples
    --------
    >>> first, again = (torch.rand(1, generator=stream(3, "weights")) for _ in range(2))
    >>> bool(first == again)
    True
    """
    key = int.from_bytes(name.encode(), "little")
    state = np.random.SeedSequence([seed, key]).generate_state(1, np.uint64)[0]
    return torch.Generator(device=device).manual_seed(int(state >> np.uint64(1)))


def glorot(shape: tuple[int, ...], generator: torch.Generator, *, blocks: int = 1) -> Tensor:
    """Return uniform weights within Glorot's ``sqrt(6 / (fan_in + fan_out))``; ``blocks`` maps share the columns."""
    bound = math.sqrt(6.0 / (shape[-2] + shape[-1] / blocks))
    return (2.0 * torch.rand(shape, generator=generator) - 1.0) * bound


def kept(
    shape: tuple[int, ...],
    share: float | Tensor,
    generator: torch.Generator | Sequence[torch.Generator],
    dtype: torch.dtype,
) -> Tensor:
    """Return a mask of zeros and of ``1 / share``, the latter at that share of places; its mean is 1.

    A share is drawn to 16 bits, four of them from one draw of 64: torch's own ``bernoulli_`` makes a draw for each
    entry and was a fifth of an epoch. With one generator a copy (leading dimension), a copy's mask is the one that its
    generator gives alone, and ``share`` may hold one value a copy.

    Examples
    --------
    >>> mask = kept((1000, 100), 0.25, stream(0, "dropout"), torch.float32)
    >>> mask.unique().tolist(), round(float(mask.mean()), 2)
    ([0.0, 4.0], 1.0)
    """
    sources = [generator] if isinstance(generator, torch.Generator) else list(generator)
    size = math.prod(shape) // len(sources)
    draws = torch.empty(len(sources), -(-size // 4), dtype=torch.int64, device=sources[0].device)
    for row, source in zip(draws, sources, strict=True):
        row.random_(-(2**63), None, generator=source)
    steps = (
        (torch.as_tensor(share, dtype=torch.float64, device=draws.device) * 2**16).round().clamp(min=1).reshape(-1, 1)
    )
    # In place, as integers: torch compares into booleans, and converts those, one at a time.
    mask = draws.view(torch.int16)[:, :size].le_((steps - 1 - 2**15).to(torch.int16))
    return mask.to(dtype).mul_((2**16 / steps).to(dtype)).reshape(shape)


class Linear(nn.Module):
    """``x W``, with ``W`` of shape (in, blocks * out): several maps of one input in one product."""

    def __init__(
        self, n_in: int, n_out: int, generator: torch.Generator, *, blocks: int = 1, copies: Copies = ()
    ) -> None:
        super().__init__()
        self.weight = nn.Parameter(glorot((*copies, n_in, blocks * n_out), generator, blocks=blocks))

    def forward(self, x: Features) -> Tensor:
        """Return ``x W``."""
        return x @ self.weight


class Dropout(nn.Module):
    """Zero entries at ``rate`` and scale the rest by ``1 / (1 - rate)``, drawing from a generator of its own.

    Of sparse features only the stored entries are drawn: the zeros would stay zero.
    """

    def __init__(self, rate: float, generator: torch.Generator, *, copies: Copies = ()) -> None:
        super().__init__()
        self.rate: float | Tensor = rate
        self.generator: torch.Generator | Sequence[torch.Generator] = generator
        self.copies = copies

    def set_copies(self, rates: Sequence[float], generators: Sequence[torch.Generator]) -> None:
        """Give every copy a rate and a generator of its own."""
        self.copies = (len(rates),)
        self.rate = rates[0] if len(set(rates)) == 1 else torch.tensor(rates, dtype=torch.float64)
        self.generator = tuple(generators)

    @property
    def _idle(self) -> bool:
        return not self.training or (not isinstance(self.rate, Tensor) and self.rate == 0.0)

    def forward(self, x: Features) -> Features:
        """Return ``x`` with entries dropped in training, as it is otherwise."""
        if self._idle:
            return x
        if isinstance(x, SparseFeatures):
            return x.with_values(self._drop(x.values, 1))
        return self._drop(x, 2)

    @uncompiled  # compiled code would draw from the global generator
    def _drop(self, x: Tensor, ndim: int) -> Tensor:
        # An input shared by all copies meets a mask for each of them.
        shape = (*self.copies, *x.shape) if x.ndim == ndim else x.shape
        return x * kept(shape, 1.0 - self.rate, self.generator, x.dtype)

    @uncompiled  # as above
    def mask(self, shape: tuple[int, ...], dtype: torch.dtype) -> Tensor | None:
        """Return what would multiply a tensor of this shape in training; None where nothing would be dropped."""
        if self._idle:
            return None
        return kept(shape, 1.0 - self.rate, self.generator, dtype)
