"""The products of many splits that train as one batch: a sparse matrix and a stack of dense ones, copy by copy.

torch has no such products. A block-diagonal matrix, or one operation after the other on the whole stack, does the same
from memory instead of the cache.
"""

from __future__ import annotations

import contextlib
import os
from collections.abc import Callable, Iterable, Iterator
from contextvars import ContextVar
from dataclasses import dataclass
from itertools import pairwise
from typing import Any

import torch
from torch import Tensor
from torch.autograd.function import once_differentiable

from .._extras import has
from .._kernels.engine import ENGINE
from .._kernels.threads import each_block
from .sparse import CsrArrays, SparseMatrix, unsigned

__all__ = ["Stack", "is_stackable", "recycle_gradients", "shared_copies", "stacked_product", "stacked_synthesis"]


# Multiplications from which threads share the copies: some milliseconds of work. Loops of one millisecond were slower
# with a second thread than without, also where it waited for them instead of being started.
SHARED_FROM = 2**26


@dataclass(frozen=True, eq=False)
class Stack:
    """Sparse matrices of one pattern, ``values`` (nnz,) for all copies or (copies, nnz), and their transposes.

    Entry p of a matrix is ``values[order[p]]``, or ``values[p]`` without an order: dropout draws the values anew in
    every epoch, and they need not be sorted for the transposes.
    """

    structure: tuple[Tensor, Tensor]
    order: Tensor | None
    t_structure: tuple[Tensor, Tensor]
    t_order: Tensor | None
    values: Tensor
    shape: tuple[int, int]

    @property
    def transposed(self) -> Stack:
        """The stack of the transposes."""
        return Stack(self.t_structure, self.t_order, self.structure, self.order, self.values, self.shape[::-1])


def is_stackable(dense: Tensor) -> bool:
    """Return whether the compiled product takes ``dense``: on the CPU, in single or double precision, numba there."""
    kinds = (torch.float32, torch.float64)
    return dense.device.type == "cpu" and dense.dtype in kinds and os.environ.get(ENGINE) != "scipy" and has("numba")


# Set while splits train together: how many threads share the copies.
_threads: ContextVar[int] = ContextVar("threads", default=0)
# Set with it: tensors that nobody reads any more, by shape and type.
_spare: ContextVar[dict[Any, list[Tensor]] | None] = ContextVar("spare", default=None)


@contextlib.contextmanager
def shared_copies() -> Iterator[None]:
    """Let threads share the copies of a stack, and torch itself compute on one.

    torch's threads go on spinning for a while after each of its operations, on the cores that ours want.
    """
    threads = torch.get_num_threads()
    tokens = _threads.set(threads), _spare.set({})
    torch.set_num_threads(1)
    try:
        yield
    finally:
        torch.set_num_threads(threads)
        _threads.reset(tokens[0])
        _spare.reset(tokens[1])


def recycle_gradients(parameters: Iterable[Tensor]) -> None:
    """Set the gradients to None, and let the next ones of :func:`stacked_product` be written where they were.

    Memory fresh from the system costs more than to fill it with a product.
    """
    spare = _spare.get()
    if spare is not None:
        spare.clear()
    for parameter in parameters:
        grad, parameter.grad = parameter.grad, None
        if spare is not None and grad is not None:
            spare.setdefault((grad.shape, grad.dtype), []).append(grad)


def _unset(*shape: int, dtype: torch.dtype) -> Tensor:
    """Return a tensor of any content, a recycled one if there is one; nobody else has it."""
    held = (_spare.get() or {}).get((torch.Size(shape), dtype))
    return held.pop() if held else torch.empty(shape, dtype=dtype)


class _StackedProduct(torch.autograd.Function):
    @staticmethod
    def forward(ctx: Any, dense: Tensor, stack: Stack) -> Tensor:
        ctx.stack = stack
        return _product(stack, dense)

    @staticmethod
    def backward(ctx: Any, *grads: Tensor) -> tuple[Tensor, None]:
        stack: Stack = ctx.stack
        return stacked_product(grads[0], stack.transposed), None


def stacked_product(dense: Tensor, stack: Stack) -> Tensor:
    """Return ``stack[k] @ dense[k]`` for every copy k, with gradients to ``dense``."""
    product: Tensor = _StackedProduct.apply(dense, stack)  # type: ignore[no-untyped-call]  # torch leaves apply untyped
    return product


def _product(stack: Stack, dense: Tensor) -> Tensor:
    from ._stacked_loop import product

    copies, _, width = dense.shape
    out = _unset(copies, stack.shape[0], width, dtype=dense.dtype)
    indptr, indices = (unsigned(part) for part in stack.structure)
    order = None if stack.order is None else unsigned(stack.order)
    values = stack.values.detach().reshape(-1, indices.size).numpy()
    given, result = dense.detach().contiguous().numpy(), out.numpy()
    _each_copy(product, copies, indices.size * width, indptr, indices, order, values, given, result)
    return out


def _each_copy(loop: Callable[..., None], copies: int, work: int, *arrays: Any) -> None:
    """Run ``loop`` over ranges of the copies, in threads if the multiplications ``work`` of a copy are worth it.

    One thread computes all of a copy, so their number changes nothing.
    """
    threads = min(_threads.get() or torch.get_num_threads(), copies) if copies * work >= SHARED_FROM else 1
    cuts = [copies * k // threads for k in range(threads + 1)]
    each_block(lambda first, last: loop(first, last, *arrays), list(pairwise(cuts)), threads)


class _StackedSynthesis(torch.autograd.Function):
    @staticmethod
    def forward(ctx: Any, z: Tensor, a_low: Tensor, a_high: Tensor, pair: tuple[SparseMatrix, float]) -> Tensor:
        from ._stacked_loop import synthesis

        copies, n, width = z.shape
        z, a_low, a_high = (part.contiguous() for part in (z, a_low, a_high))
        ctx.save_for_backward(z, a_low, a_high)
        ctx.pair = matrix, share = pair
        out = torch.empty(copies, n, width // 2, dtype=z.dtype)
        arrays = _synthesis_arrays(matrix.arrays[0], z, a_low, a_high, share)
        _each_copy(synthesis, copies, z[0].numel(), *arrays, out.numpy())
        return out

    @staticmethod
    @once_differentiable
    def backward(ctx: Any, *grads: Tensor) -> tuple[Tensor | None, ...]:
        from ._stacked_loop import synthesis_gradient

        z, a_low, a_high = ctx.saved_tensors
        of_z, of_alphas = torch.empty_like(z), torch.empty(len(z), 2, dtype=z.dtype)
        matrix, share = ctx.pair
        arrays = _synthesis_arrays(matrix.arrays[1], z, a_low, a_high, share)
        given = grads[0].contiguous()
        results = [part.numpy() for part in (given, of_z, of_alphas)]
        _each_copy(synthesis_gradient, len(z), z[0].numel(), *arrays, *results)
        of_low, of_high = (part.reshape(a_low.shape) for part in of_alphas.unbind(1))
        return of_z, of_low, of_high, None


def _synthesis_arrays(matrix: CsrArrays, z: Tensor, a_low: Tensor, a_high: Tensor, share: float) -> list[Any]:
    z, a_low, a_high = (part.detach() for part in (z, a_low, a_high))
    weights = [part.ravel().numpy() for part in (a_low, a_high)]
    return [*matrix, z.numpy(), *weights, z.numpy().dtype.type(share)]


def stacked_synthesis(z: Tensor, a_low: Tensor, a_high: Tensor, matrix: SparseMatrix, share: float) -> Tensor:
    """Return ``share * low + high + P (low - high)`` of every copy, with gradients to ``z`` and the two weights.

    ``low`` and ``high`` are the halves of the columns of ``z`` (copies, n, 2 f), rectified and times ``a_low`` and
    ``a_high`` (one number a copy).
    """
    a_low, a_high = (a.to(z.dtype).expand(len(z), 1, 1) for a in (a_low, a_high))
    mixed: Tensor = _StackedSynthesis.apply(z, a_low, a_high, (matrix, share))  # type: ignore[no-untyped-call]  # as above
    return mixed
