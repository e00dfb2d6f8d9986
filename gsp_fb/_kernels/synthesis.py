"""A filterbank's synthesis from its channels before the rectifier, in few passes over memory; needs torch."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import pairwise
from typing import Any, cast

import torch
from torch import Tensor

from .attention import is_loopable
from .threads import THREADS_FROM, each_block
from .torch_matrix import SparseMatrix
from .torch_sparse import sparse_product

__all__ = ["rectified"]

# Entries of one copy from which the loops pay, whatever batch it is in: below, their call costs as much as they save.
LOOPED_FROM = 10_000
BLOCKS = 16


def rectified(z: Tensor, alphas: Tensor, matrix: SparseMatrix, share: float, slope: float) -> Tensor | None:
    """Return ``share low + second + P (low + slope second)`` of the halves of ``z`` ([copies,] n, 2 f).

    The halves are rectified and weighted. The second channel is high with a slope of -1, the identity with one of 0.
    None where the loops do not take the tensors or do not pay; the operations one by one then give the same.
    """
    if z.shape[-2:].numel() < LOOPED_FROM or z.dtype != matrix.values.dtype or not is_loopable(z, alphas):
        return None
    return cast(Tensor, _Synthesis.apply(z.contiguous(), alphas.contiguous(), matrix, share, slope))  # type: ignore[no-untyped-call]  # torch leaves it untyped


class _Synthesis(torch.autograd.Function):
    @staticmethod
    def forward(ctx: Any, z: Tensor, alphas: Tensor, matrix: SparseMatrix, *factors: float) -> Tensor:
        from .synthesis_loops import weighted_channels

        ctx.save_for_backward(z, alphas)
        ctx.matrix, ctx.factors = matrix, factors
        direct, gap = (z.new_empty(*z.shape[:-1], z.shape[-1] // 2) for _ in range(2))
        _each_row(weighted_channels, z, alphas, *factors, direct, gap)
        return direct.add_(sparse_product(gap, *matrix.arrays()))

    @staticmethod
    def backward(ctx: Any, *grads: Tensor) -> tuple[Tensor | None, ...]:
        z, alphas = ctx.saved_tensors
        if torch.is_grad_enabled():  # a gradient of the gradient is wanted
            again = plain(z, alphas, ctx.matrix, *ctx.factors)
            return *torch.autograd.grad(again, (z, alphas), grads[0], create_graph=True), None, None, None
        return *_gradients(z, alphas, ctx.matrix, ctx.factors, grads[0].contiguous()), None, None, None


def _gradients(
    z: Tensor, alphas: Tensor, matrix: SparseMatrix, factors: tuple[float, ...], grad: Tensor
) -> tuple[Tensor, Tensor]:
    from .synthesis_loops import gradients

    spread = sparse_product(grad, *reversed(matrix.arrays()))
    of_z, sums = torch.empty_like(z), z.new_zeros(_blocks_per_copy(z), alphas.numel(), grad.shape[-1])
    _each_row(gradients, z, alphas, *factors, grad, spread, of_z, sums=sums)
    return of_z, sums.sum((0, -1)).reshape(alphas.shape)


def plain(z: Tensor, alphas: Tensor, matrix: SparseMatrix, share: float, slope: float) -> Tensor:
    """Do what ``rectified`` does by torch's operations."""
    weighted = torch.relu(z) * alphas.repeat_interleave(z.shape[-1] // 2, dim=-1).unsqueeze(-2)
    low, second = weighted.chunk(2, dim=-1)
    filtered: Tensor = matrix(low + slope * second)
    return share * low + second + filtered


def _each_row(loop: Any, z: Tensor, alphas: Tensor, *others: Tensor | float, sums: Tensor | None = None) -> None:
    """Run a loop over ranges of the rows of all copies, in torch's number of threads where that pays."""
    parts = (z, alphas.reshape(-1, 2), *others)
    arrays = [_rows(part) if isinstance(part, Tensor) else _rows(z).dtype.type(part) for part in parts]
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
    return part.detach().flatten(0, -2).numpy()
