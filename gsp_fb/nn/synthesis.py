"""A filterbank's synthesis as one operation: both channels rectified, weighted, filtered and added, with its gradient.

The compiled form keeps what a row needs in registers; the plain one is made of torch's operations, for every device,
and is differentiable twice.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import torch
from torch import Tensor

from .._kernels.engine import COMPILED_FROM
from .compiling import uncompiled
from .looping import each_rows, is_loopable
from .sparse import Product, SparseMatrix

__all__ = ["plain_synthesis", "rectified_synthesis"]


class _Synthesis(torch.autograd.Function):
    @staticmethod
    def forward(ctx: Any, z: Tensor, a_low: Tensor, a_high: Tensor, pair: tuple[SparseMatrix, float]) -> Tensor:
        given = [part.contiguous() for part in (z, a_low, a_high)]
        ctx.save_for_backward(*given)
        ctx.pair = pair
        return _forward(given, *pair)

    @staticmethod
    def backward(ctx: Any, *grads: Tensor) -> tuple[Tensor | None, ...]:
        if not torch.is_grad_enabled():
            return *_gradients(ctx, grads[0]), None
        # A gradient of the gradient is wanted.
        given = ctx.saved_tensors
        again = plain_synthesis(*given, *ctx.pair)
        return *torch.autograd.grad(again, given, grads[0], create_graph=True, allow_unused=True), None


def _forward(given: Sequence[Tensor], matrix: SparseMatrix, share: float) -> Tensor:
    from ._synthesis_loop import differences, synthesis

    z, csr = given[0], matrix.arrays[0]
    out, gap = (torch.empty(*z.shape[:2], z.shape[2] // 2, dtype=z.dtype) for _ in range(2))
    first_pass, second_pass = _arrays(given, gap), [*csr, *_arrays(given, share, gap, out)]
    each_rows(lambda first, last: differences(first, last, *first_pass), csr[0], _work(gap, matrix))
    each_rows(lambda first, last: synthesis(first, last, *second_pass), csr[0], _work(gap, matrix))
    return out


def _gradients(ctx: Any, grad: Tensor) -> tuple[Tensor, ...]:
    from ._synthesis_loop import synthesis_gradient

    given, (matrix, share) = ctx.saved_tensors, ctx.pair
    of_z, of_weights = torch.empty_like(given[0]), {}
    arrays = [*matrix.arrays[1], *_arrays(given, share, grad.contiguous(), of_z)]

    def loop(first: int, last: int) -> None:
        sums = of_weights[first] = torch.empty(len(of_z), 2, dtype=of_z.dtype)
        synthesis_gradient(*(first, last, *arrays, sums.numpy()))

    each_rows(loop, arrays[0], _work(grad, matrix))
    # In the order of the rows, whichever thread was first.
    sums = torch.stack([of_weights[first] for first in sorted(of_weights)]).sum(0)
    return of_z, *(part.reshape(given[1].shape) for part in sums.unbind(1))


def _arrays(given: Sequence[Tensor], *others: Tensor | float) -> list[Any]:
    """Return what the loops take: a stack, the two weights of each copy, then tensors and numbers as they come."""
    z, *weights = (part.detach().numpy() for part in given)
    rest = [part.numpy() if isinstance(part, Tensor) else z.dtype.type(part) for part in others]
    return [z, *(weight.ravel() for weight in weights), *rest]


def _work(h: Tensor, matrix: SparseMatrix) -> int:
    """Return the multiplications of a product of the matrix and ``h``, or every copy of it."""
    return int(matrix.csr.values().numel() * h.numel() // max(h.shape[-2], 1))


def _pays(z: Tensor, matrix: SparseMatrix) -> bool:
    """Return whether the loops are faster than torch, which is at small things, but has to rearrange a stack."""
    return z.ndim == 3 or _work(z, matrix) >= 2 * COMPILED_FROM


@uncompiled  # as for the product with a constant matrix
def rectified_synthesis(z: Tensor, a_low: Tensor, a_high: Tensor, matrix: Product, share: float) -> Tensor:
    """Return ``share * low + high + P (low - high)`` of every copy, with gradients to ``z`` and the two weights.

    ``low`` and ``high`` are the halves of the columns of ``z`` ([copies,] n, 2 f), rectified and times ``a_low`` and
    ``a_high`` (one number a copy). Any ``matrix`` with a product will do; the loops know sparse ones alone.
    """
    if not (isinstance(matrix, SparseMatrix) and is_loopable(z) and _pays(z, matrix)):
        return plain_synthesis(z, a_low, a_high, matrix, share)
    stack = z if z.ndim == 3 else z.unsqueeze(0)
    a_low, a_high = (a.to(z.dtype).expand(len(stack), 1, 1) for a in (a_low, a_high))
    mixed: Tensor = _Synthesis.apply(stack, a_low, a_high, (matrix, share))  # type: ignore[no-untyped-call]  # torch leaves it untyped
    return mixed if z.ndim == 3 else mixed.squeeze(0)


def plain_synthesis(z: Tensor, a_low: Tensor, a_high: Tensor, matrix: Product, share: float) -> Tensor:
    """Do what ``rectified_synthesis`` does with torch's own operations."""
    z_low, z_high = torch.relu(z).chunk(2, dim=-1)
    low, high = a_low * z_low, a_high * z_high
    own = torch.add(high, low, alpha=share) if share else high
    return own + matrix @ (low - high)
