"""One sparse pattern times a stack of dense matrices: the first layer of many splits that train as one batch.

torch has no such product; a block-diagonal matrix does the same from memory instead of the cache.
"""

from __future__ import annotations

import os
from dataclasses import dataclass
from typing import Any

import numpy as np
import torch
from torch import Tensor

from .._extras import has
from .._kernels.engine import ENGINE
from .._kernels.threads import each_block

__all__ = ["Stack", "is_stackable", "stacked_product"]


@dataclass(frozen=True, eq=False)
class Stack:
    """Sparse matrices of one pattern, ``values`` (nnz,) for all copies or (copies, nnz), and their transposes."""

    structure: tuple[Tensor, Tensor]
    values: Tensor
    t_structure: tuple[Tensor, Tensor]
    t_values: Tensor
    shape: tuple[int, int]

    @property
    def transposed(self) -> Stack:
        """The stack of the transposes."""
        return Stack(self.t_structure, self.t_values, self.structure, self.values, self.shape[::-1])


def is_stackable(dense: Tensor) -> bool:
    """Return whether the compiled product takes ``dense``: on the CPU, in single or double precision, numba there."""
    kinds = (torch.float32, torch.float64)
    return dense.device.type == "cpu" and dense.dtype in kinds and os.environ.get(ENGINE) != "scipy" and has("numba")


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
    out = torch.empty(copies, stack.shape[0], width, dtype=dense.dtype)
    # Unsigned indices need no test for counting from the end.
    indptr, indices = (part.numpy().view(f"u{part.element_size()}") for part in stack.structure)
    values = np.broadcast_to(stack.values.detach().numpy(), (copies, indices.size))
    parts, results = dense.detach().contiguous().numpy(), out.numpy()
    # Every copy is computed by one thread, so the result does not depend on their number.
    each_block(
        lambda k: product(indptr, indices, values[k].view(), parts[k], results[k]),
        [(k,) for k in range(copies)],
        torch.get_num_threads(),
    )
    return out
