"""The products of many splits that train as one batch: a sparse matrix and a stack of dense ones, copy by copy.

torch has no such product, only that of a block-diagonal matrix. With several threads that is the faster one; on a
single thread it is one that leaves out what dropout has dropped.
"""

from __future__ import annotations

import contextlib
from collections.abc import Iterable, Iterator
from contextvars import ContextVar
from dataclasses import dataclass
from typing import Any

import torch
from torch import Tensor

from .looping import unsigned

__all__ = ["Stack", "recycle_gradients", "recycling", "stacked_product"]


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


# Set while splits train together: tensors that nobody reads any more, by shape and type.
_spare: ContextVar[dict[Any, list[Tensor]] | None] = ContextVar("spare", default=None)


@contextlib.contextmanager
def recycling() -> Iterator[None]:
    """Let :func:`recycle_gradients` hand memory on."""
    token = _spare.set({})
    try:
        yield
    finally:
        _spare.reset(token)


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
    product(indptr, indices, order, values, given, result)
    return out
