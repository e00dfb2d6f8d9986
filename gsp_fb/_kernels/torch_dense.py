"""The product of many rows and a small matrix of weights by oneDNN, block by block; needs torch.

torch multiplies in single precision by MKL, which reaches half of oneDNN's rate on processors of AMD, and a quarter
where one side has a few columns.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from functools import cache
from typing import Any, cast

import numpy as np
import torch
from torch import Tensor

from .attention import is_loopable

__all__ = ["dense_product", "empty_tensor", "inner_product"]

# Rows of a block: its product stays in the cache until it is written to where it belongs.
ROWS = 4096
# Bytes from which NumPy asks the system for huge pages.
HUGE = 2**22
CACHE_LINE = 64


@cache
def _has_onednn() -> bool:
    built: bool = torch.backends.mkldnn.is_available()  # type: ignore[no-untyped-call]  # torch leaves it untyped
    return built and hasattr(torch.ops.mkldnn, "_linear_pointwise")


def empty_tensor(shape: Sequence[int], like: Tensor) -> Tensor:
    """Return an uninitialised tensor of real numbers on the CPU, in the precision of ``like``.

    NumPy takes large arrays in huge pages: first touching 50 MB in small ones costs more than computing them.
    """
    size = math.prod(shape)
    if size * like.itemsize < HUGE:
        return like.new_empty(shape)
    raw = torch.from_numpy(np.empty(size + 16, {torch.float32: np.float32, torch.float64: np.float64}[like.dtype]))
    start = -raw.data_ptr() % CACHE_LINE // like.itemsize
    return raw[start : start + size].view(*shape)


def dense_product(x: Tensor, weight: Tensor) -> Tensor:
    """Return ``x @ weight`` for ``x`` (n, f) and ``weight`` (f, h)."""
    fits = x.dtype == torch.float32 and x.ndim == weight.ndim == 2 and bool(weight.numel()) and is_loopable(weight, x)
    if not fits or not _has_onednn() or torch.is_autocast_enabled("cpu"):
        return x @ weight
    return cast(Tensor, _Product.apply(x, weight))  # type: ignore[no-untyped-call]  # torch leaves it untyped


class _Product(torch.autograd.Function):
    @staticmethod
    def forward(ctx: Any, x: Tensor, weight: Tensor) -> Tensor:
        ctx.save_for_backward(x, weight)
        if len(x) <= ROWS:
            return _onednn(x, weight.mT)
        out = empty_tensor((len(x), weight.shape[1]), x)
        for rows, into in zip(torch.split(x, ROWS), torch.split(out, ROWS), strict=True):
            into.copy_(_onednn(rows, weight.mT))
        return out

    @staticmethod
    def backward(ctx: Any, *grads: Tensor) -> tuple[Tensor | None, Tensor | None]:
        (x, weight), (of_x, of_weight) = ctx.saved_tensors, ctx.needs_input_grad
        of_rows = dense_product(grads[0], weight.mT) if of_x else None
        return of_rows, inner_product(x, grads[0]) if of_weight else None


def inner_product(x: Tensor, grad: Tensor) -> Tensor:
    """Return ``x.T @ grad``."""
    if grad.shape[1] < x.shape[1] or torch.is_grad_enabled():  # or a gradient of the gradient is wanted
        return (grad.mT @ x).mT  # this way round MKL is not slow
    pairs = zip(torch.split(x, ROWS), torch.split(grad, ROWS), strict=True)
    return cast(Tensor, sum(_onednn(rows.mT, others.mT) for rows, others in pairs))


def _onednn(x: Tensor, transposed: Tensor) -> Tensor:
    """Return ``x @ transposed.T``."""
    return cast(Tensor, torch.ops.mkldnn._linear_pointwise(x, transposed, None, "none", [], ""))
