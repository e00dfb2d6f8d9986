"""A filterbank's synthesis from its channels before the rectifier, in few passes over memory; needs torch."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import pairwise
from typing import Any, cast

import torch
from torch import Tensor

from .attention import is_loopable
from .threads import THREADS_FROM, each_block
from .torch_dense import empty_tensor
from .torch_matrix import SparseMatrix
from .torch_sparse import csr_product

__all__ = ["gradients_of", "rectified"]

# Entries of one copy from which the loops pay, whatever batch it is in: below, their call costs as much as they save.
LOOPED_FROM = 10_000
BLOCKS = 16


def rectified(
    z: Tensor, alphas: Tensor, bias: Tensor | None, matrix: SparseMatrix, factors: tuple[float, float]
) -> Tensor | None:
    """Return ``bias + share low + second + P (low + slope second)`` of the halves of ``z`` ([copies,] n, 2 f).

    ``factors`` are share and slope, the halves rectified and weighted. The second channel is high with a slope of -1,
    the identity with one of 0. None where the loops do not take the tensors or do not pay; the operations one by one
    then give the same.
    """
    bias = z.new_zeros(*z.shape[:-2], z.shape[-1] // 2) if bias is None else bias
    if z.shape[-2:].numel() < LOOPED_FROM or z.dtype != matrix.values.dtype or not is_loopable(alphas, bias, z):
        return None
    return cast(Tensor, _Synthesis.apply(z.contiguous(), alphas.contiguous(), bias, matrix, factors))  # type: ignore[no-untyped-call]  # torch leaves it untyped


class _Synthesis(torch.autograd.Function):
    @staticmethod
    def forward(ctx: Any, z: Tensor, alphas: Tensor, bias: Tensor, *constants: Any) -> Tensor:
        from .synthesis_loops import weighted_channels

        ctx.save_for_backward(z, alphas, bias)
        ctx.matrix, ctx.factors = matrix, factors = constants
        direct, gap = (empty_tensor((*z.shape[:-1], z.shape[-1] // 2), z) for _ in range(2))
        _each_row(weighted_channels, z, alphas, bias, *factors, direct, gap)
        return direct.add_(csr_product(gap, *matrix.arrays()[0]))

    @staticmethod
    def backward(ctx: Any, *grads: Tensor) -> tuple[Tensor | None, ...]:
        z, alphas, bias = inputs = ctx.saved_tensors
        if torch.is_grad_enabled():  # a gradient of the gradient is wanted
            wanted = [part for part in inputs if part.requires_grad]
            again = plain(z, alphas, bias, ctx.matrix, ctx.factors)
            found = iter(torch.autograd.grad(again, wanted, grads[0], create_graph=True))
            return *(next(found) if part.requires_grad else None for part in inputs), None, None
        return *gradients_of(z, alphas, ctx.matrix, ctx.factors, grads[0].contiguous()), None, None


def gradients_of(
    z: Tensor, alphas: Tensor, matrix: SparseMatrix, factors: tuple[float, ...], grad: Tensor
) -> tuple[Tensor, Tensor, Tensor]:
    """Return the gradients of ``z``, the weights and the bias for that of the result, ``grad``."""
    from .synthesis_loops import gradients

    spread = csr_product(grad, *matrix.arrays()[1])
    of_z, sums = empty_tensor(z.shape, z), z.new_zeros(_blocks_per_copy(z), alphas[..., 0].numel() * 3, grad.shape[-1])
    _each_row(gradients, z, alphas, *factors, grad, spread, of_z, sums=sums)
    # NumPy adds blocks in order; torch in one that depends on where a copy lies.
    found = sums.numpy().sum(0).reshape(*alphas.shape[:-1], 3, -1)
    return of_z, torch.from_numpy(found[..., :2, :].sum(-1)), torch.from_numpy(found[..., 2, :])


def plain(z: Tensor, alphas: Tensor, bias: Tensor, matrix: SparseMatrix, factors: tuple[float, float]) -> Tensor:
    """Do what ``rectified`` does by torch's operations."""
    share, slope = factors
    weighted = torch.relu(z) * alphas.repeat_interleave(z.shape[-1] // 2, dim=-1).unsqueeze(-2)
    low, second = weighted.chunk(2, dim=-1)
    filtered: Tensor = matrix(low + slope * second)
    return bias.unsqueeze(-2) + share * low + second + filtered


def _each_row(loop: Any, z: Tensor, alphas: Tensor, *others: Tensor | float, sums: Tensor | None = None) -> None:
    """Run a loop over ranges of the rows of all copies, in torch's number of threads where that pays."""
    rows = _rows(z)
    arrays = [rows, *(_rows(part) if isinstance(part, Tensor) else rows.dtype.type(part) for part in (alphas, *others))]
    threads = torch.get_num_threads() if z.numel() >= THREADS_FROM else 1
    each_block(
        lambda number, first, last: loop(
            first, last, z.shape[-2], *arrays, *(() if sums is None else (sums[number].numpy(),))
        ),
        _row_ranges(z, threads),
        threads,
    )


def _blocks_per_copy(z: Tensor) -> int:
    return BLOCKS if z.shape[-2:].numel() >= THREADS_FROM else 1


def _row_ranges(z: Tensor, threads: int) -> list[tuple[int, int, int]]:
    """Return the number of a block within its copy, and its rows among those of all copies.

    The blocks of a copy depend neither on the threads nor on the copies beside, and neither do its sums.
    """
    copies, n_nodes, blocks = z.shape[:-2].numel(), z.shape[-2], _blocks_per_copy(z)
    if blocks == 1:  # small copies: several to a call
        return [(0, n_nodes * first, n_nodes * last) for first, last in _parts(copies, min(copies, threads))]
    starts = range(0, copies * n_nodes, n_nodes)
    return [(k, s + first, s + last) for s in starts for k, (first, last) in enumerate(_parts(n_nodes, blocks))]


def _parts(n: int, count: int) -> Iterator[tuple[int, int]]:
    """Yield first and last of ``count`` consecutive parts of ``range(n)``, of nearly equal sizes."""
    return pairwise(n * k // count for k in range(count + 1))


def _rows(part: Tensor) -> Any:
    return part.detach().numpy().reshape(-1, part.shape[-1])
