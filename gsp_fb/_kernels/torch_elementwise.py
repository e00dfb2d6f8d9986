"""Masks of dropout and functions of every entry, copy by copy of a batch; needs torch."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from typing import TypeAlias

import torch
from torch import Tensor, nn

__all__ = ["Streams", "kept", "whole_vectors"]

Streams: TypeAlias = torch.Generator | Sequence[torch.Generator]


def whole_vectors(function: Callable[[Tensor], Tensor], x: Tensor, ndim: int = 2) -> Tensor:
    """Return a function of every entry of ``x``, the last ``ndim`` axes in whole SIMD vectors.

    torch computes the rest of an array by other code, whose last digit may differ: what a copy of a batch gets would
    depend on the copies beside it.
    """
    if x.ndim == ndim:
        return function(x)
    flat = x.flatten(-ndim)
    found = function(nn.functional.pad(flat, (0, -flat.shape[-1] % 32)))
    return found[..., : flat.shape[-1]].reshape(x.shape)


def kept(shape: tuple[int, ...], share: float | Tensor, generator: Streams, dtype: torch.dtype) -> Tensor:
    """Return a mask of zeros and of ``1 / share``, the latter at that share of places; its mean is 1.

    A share is drawn to 16 bits, four of them from one draw of 64: torch's own ``bernoulli_`` makes a draw for each
    entry and was a fifth of an epoch. With one generator a copy (leading dimension), a copy's mask is the one that its
    generator gives alone, and ``share`` may hold one value a copy.
    """
    sources = [generator] if isinstance(generator, torch.Generator) else list(generator)
    size = math.prod(shape) // len(sources)
    draws = torch.empty(len(sources), -(-size // 4), dtype=torch.int64, device=sources[0].device)
    for row, source in zip(draws, sources, strict=True):
        row.random_(-(2**63), None, generator=source)
    shares = torch.as_tensor(share, dtype=torch.float64, device=draws.device).reshape(-1, 1)
    steps = (shares * 2**16).round().clamp(min=1)
    # In place, as integers: torch compares into booleans, and converts those, one at a time.
    mask = draws.view(torch.int16)[:, :size].le_((steps - 1 - 2**15).to(torch.int16))
    return mask.to(dtype).mul_((2**16 / steps).to(dtype)).reshape(shape)
