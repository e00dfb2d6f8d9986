"""A filterbank's synthesis as one operation: both channels rectified, weighted, filtered and added, with its gradient.

The compiled form keeps what a row needs in registers; the plain one is made of torch's operations, for every device,
and is differentiable twice.
"""

from __future__ import annotations

from typing import Any

import torch
from torch import Tensor

from .._kernels.engine import COMPILED_FROM
from .compiling import uncompiled
from .sparse import SparseMatrix, is_loopable

__all__ = ["plain_synthesis", "rectified_synthesis"]

# Multiplications up to which one thread of ours is sooner done than all of torch's.
ALONE_TO = 2**26


def _pays(z: Tensor, matrix: SparseMatrix) -> bool:
    """Return whether the loops are faster than torch, which has to rearrange a stack for its product, but no matrix."""
    work = matrix.csr.values().numel() * z.numel() // (2 * z.shape[-2])
    return (z.ndim == 3 or work >= COMPILED_FROM) and (work < ALONE_TO or torch.get_num_threads() == 1)


class _Synthesis(torch.autograd.Function):
    @staticmethod
    def forward(ctx: Any, z: Tensor, a_low: Tensor, a_high: Tensor, pair: tuple[SparseMatrix, float]) -> Tensor:
        from ._synthesis_loop import synthesis

        given = [part.contiguous() for part in (z, a_low, a_high)]
        ctx.save_for_backward(*given)
        ctx.pair = matrix, share = pair
        out = torch.empty(len(z), z.shape[1], z.shape[2] // 2, dtype=z.dtype)
        synthesis(*matrix.arrays[0], *_arrays(given, share, out))
        return out

    @staticmethod
    def backward(ctx: Any, *grads: Tensor) -> tuple[Tensor | None, ...]:
        if not torch.is_grad_enabled():
            return *_gradients(ctx, grads[0]), None
        # A gradient of the gradient is wanted.
        given = ctx.saved_tensors
        again = plain_synthesis(*given, *ctx.pair)
        return *torch.autograd.grad(again, given, grads[0], create_graph=True, allow_unused=True), None


def _gradients(ctx: Any, grad: Tensor) -> tuple[Tensor, Tensor, Tensor]:
    from ._synthesis_loop import synthesis_gradient

    (z, a_low, a_high), (matrix, share) = ctx.saved_tensors, ctx.pair
    of_z, of_alphas = torch.empty_like(z), torch.empty(len(z), 2, dtype=z.dtype)
    synthesis_gradient(*matrix.arrays[1], *_arrays([z, a_low, a_high], share, grad.contiguous(), of_z, of_alphas))
    of_low, of_high = (part.reshape(a_low.shape) for part in of_alphas.unbind(1))
    return of_z, of_low, of_high


def _arrays(given: list[Tensor], share: float, *others: Tensor) -> list[Any]:
    z, *weights = (part.detach().numpy() for part in given)
    return [z, *(weight.ravel() for weight in weights), z.dtype.type(share), *(part.numpy() for part in others)]


@uncompiled  # as for the product with a constant matrix
def rectified_synthesis(z: Tensor, a_low: Tensor, a_high: Tensor, matrix: SparseMatrix, share: float) -> Tensor:
    """Return ``share * low + high + P (low - high)`` of every copy, with gradients to ``z`` and the two weights.

    ``low`` and ``high`` are the halves of the columns of ``z`` ([copies,] n, 2 f), rectified and times ``a_low`` and
    ``a_high`` (one number a copy).
    """
    if not (is_loopable(z) and _pays(z, matrix)):
        return plain_synthesis(z, a_low, a_high, matrix, share)
    stack = z if z.ndim == 3 else z.unsqueeze(0)
    a_low, a_high = (a.to(z.dtype).expand(len(stack), 1, 1) for a in (a_low, a_high))
    mixed: Tensor = _Synthesis.apply(stack, a_low, a_high, (matrix, share))  # type: ignore[no-untyped-call]  # torch leaves it untyped
    return mixed if z.ndim == 3 else mixed.squeeze(0)


def plain_synthesis(z: Tensor, a_low: Tensor, a_high: Tensor, matrix: SparseMatrix, share: float) -> Tensor:
    """Do what ``rectified_synthesis`` does with torch's own operations."""
    z_low, z_high = torch.relu(z).chunk(2, dim=-1)
    low, high = a_low * z_low, a_high * z_high
    own = torch.add(high, low, alpha=share) if share else high
    return own + matrix @ (low - high)
