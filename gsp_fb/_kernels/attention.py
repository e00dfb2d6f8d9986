"""Attention as one torch operation: scores, softmax, dropout and weighted sums of all heads, with its gradient.

The compiled form visits the edges row by row and keeps nothing of an edge but its weights; the plain one is made of
torch's operations, for every device, and is differentiable twice.
"""

from __future__ import annotations

import os
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
import torch
from torch import Tensor
from torch.autograd import forward_ad
from torch.nn import functional

from .._extras import has
from .engine import ENGINE
from .threads import THREADS_FROM, each_block, n_threads, row_blocks

__all__ = ["Scoring", "attend", "coefficients", "plain_attend"]


@dataclass(eq=False)
class Scoring:
    """How scores become weights: over which edges, with which slope below zero, and what dropout keeps of them.

    Edges have the arrays of a CSR matrix and of its transpose, see :class:`.edge_list.EdgeList`.
    """

    edges: Any
    slope: float
    mask: Tensor | None = None


def _is_traced(tensor: Tensor) -> bool:
    """Return whether a tensor stands for a batch or carries a tangent; there is no public test for the former."""
    tangent = forward_ad.unpack_dual(tensor).tangent  # type: ignore[no-untyped-call]  # torch leaves it untyped
    return tangent is not None or torch._C._functorch.is_functorch_wrapped_tensor(tensor)


def is_loopable(*tensors: Tensor) -> bool:
    """Return whether the compiled loops take the tensors: plain ones on the CPU in one of two precisions, with numba.

    What ``torch.compile`` and ``torch.func`` trace is no memory to loop over.
    """
    if torch.compiler.is_compiling() or any(map(_is_traced, tensors)):
        return False
    kinds, dense = (torch.float32, torch.float64), tensors[-1]
    plain = dense.device.type == "cpu" and dense.dtype in kinds and all(t.dtype == dense.dtype for t in tensors)
    return plain and os.environ.get(ENGINE) != "scipy" and has("numba")


def attend(receiving: Tensor, sending: Tensor, h: Tensor, scoring: Scoring) -> Tensor:
    """Return ``P h`` for ``P_ij = softmax_j leaky_relu(receiving_i + sending_j) * mask_ij``, head by head."""
    if not is_loopable(receiving, sending, h):
        return plain_attend(receiving, sending, h, scoring)
    result: Tensor = _Attend.apply(receiving, sending, h, scoring)  # type: ignore[no-untyped-call]  # torch leaves it untyped
    return result


def _row_softmax(scores: Tensor, edges: Any) -> Tensor:
    """Return ``exp(score) / sum over the row``, shifted by the row's maximum, which cancels."""
    rows, n = edges.rows, edges.n_nodes
    top = scores.new_zeros(n, scores.shape[1]).scatter_reduce(
        0, rows[:, None].expand_as(scores), scores.detach(), "amax", include_self=False
    )
    weights = torch.exp(scores - top[rows])
    return weights / weights.new_zeros(n, scores.shape[1]).index_add(0, rows, weights)[rows]


def coefficients(receiving: Tensor, sending: Tensor, scoring: Scoring) -> Tensor:
    """Return the entries of ``P`` for every head, shape (n_entries, heads)."""
    edges = scoring.edges
    scores = receiving[edges.rows] + sending[edges.columns]
    weights = _row_softmax(functional.leaky_relu(scores, scoring.slope), edges)
    return weights if scoring.mask is None else weights * scoring.mask


def plain_attend(receiving: Tensor, sending: Tensor, h: Tensor, scoring: Scoring) -> Tensor:
    """Do what ``attend`` does with torch's own operations."""
    weights, edges = coefficients(receiving, sending, scoring).to(h.dtype), scoring.edges
    return torch.zeros_like(h).index_add(0, edges.rows, weights[:, None, :, None] * h[edges.columns])


class _Attend(torch.autograd.Function):
    @staticmethod
    def forward(ctx: Any, receiving: Tensor, sending: Tensor, h: Tensor, scoring: Scoring) -> Tensor:
        from .attention_loops import aggregate

        x, mask = _in_parts(h), scoring.mask
        weights = torch.empty(scoring.edges.indices.numel(), receiving.shape[1], dtype=h.dtype)
        dropped = weights if mask is None else torch.empty_like(weights)
        out = torch.empty_like(x)
        scored, size = _scored(receiving, sending, scoring), _size(x, h)
        _each_row(aggregate, scoring.edges.indptr, x, scored, size, *_arrays(mask, x, weights, dropped, out))
        ctx.save_for_backward(receiving, sending, h, weights, dropped)
        ctx.scoring = scoring
        return _whole(out, h)

    @staticmethod
    def backward(ctx: Any, *grads: Tensor) -> tuple[Tensor | None, ...]:
        if not torch.is_grad_enabled():
            return *_gradients(ctx, grads[0]), None
        # A gradient of the gradient is wanted.
        receiving, sending, h, *_ = ctx.saved_tensors
        given, again = (receiving, sending, h), plain_attend(receiving, sending, h, ctx.scoring)
        return *torch.autograd.grad(again, given, grads[0], create_graph=True, allow_unused=True), None


def _gradients(ctx: Any, grad: Tensor) -> tuple[Tensor, Tensor, Tensor]:
    from .attention_loops import gradient_by_column, gradient_by_row

    receiving, sending, h, weights, dropped = ctx.saved_tensors
    edges, x, given = ctx.scoring.edges, _in_parts(h), _in_parts(grad)
    of_scores, of_x = torch.empty_like(weights), torch.empty_like(x)
    of_receiving, of_sending = (torch.empty(part.shape, dtype=h.dtype) for part in (receiving, sending))
    scored, size = _scored(receiving, sending, ctx.scoring), _size(x, h)
    by_row = _arrays(given, x, weights, dropped)
    _each_row(gradient_by_row, edges.indptr, x, scored, size, *by_row, _arrays(of_scores, of_receiving))
    transposed = tuple(_unsigned(part) for part in (edges.t_indptr, edges.t_indices, edges.order))
    by_column = _arrays(given, dropped, of_scores)
    _each_row(gradient_by_column, edges.t_indptr, x, transposed, size, *by_column, _arrays(of_sending, of_x))
    return of_receiving, of_sending, _whole(of_x, h)


def _in_parts(h: Tensor) -> Tensor:
    """Return (n, channels, heads, size) features as the loops take them, a row a node, each head filled up to parts."""
    from .attention_loops import LANES

    filled = functional.pad(h.detach(), (0, -h.shape[3] % LANES)) if h.shape[3] % LANES else h.detach()
    return filled.flatten(1).contiguous()


def _whole(parts: Tensor, h: Tensor) -> Tensor:
    """Return what has the shape of ``_in_parts(h)`` in that of ``h``."""
    n, channels, heads, size = h.shape
    return parts.reshape(n, channels, heads, -1)[..., :size]


def _size(parts: Tensor, h: Tensor) -> int:
    """Return the columns of a head, those that fill it up included."""
    return parts.shape[1] // (h.shape[1] * h.shape[2])


def _arrays(*tensors: Tensor | None) -> tuple[Any, ...]:
    return tuple(None if tensor is None else tensor.detach().contiguous().numpy() for tensor in tensors)


def _scored(receiving: Tensor, sending: Tensor, scoring: Scoring) -> tuple[Any, ...]:
    edges, shares = scoring.edges, _arrays(receiving, sending)
    # Looked up by the sign of a score: a branch would be foreseen for every other edge.
    slopes = np.array([scoring.slope, 1.0], shares[0].dtype)
    return _unsigned(edges.indptr), _unsigned(edges.indices), *shares, slopes


def _unsigned(part: Any) -> Any:
    """Return indices as an array that compiled code need not test for counting from the end."""
    return part.numpy().view(f"u{part.element_size()}")


# Multiplications from which threads pay here: torch's own, between the passes, go on spinning on the cores.
SHARED_FROM = 4 * THREADS_FROM


def _each_row(loop: Callable[..., None], indptr: Any, x: Tensor, *arrays: Any) -> None:
    """Run ``loop(first, last, *arrays)`` over ranges of rows, in threads where that many products are worth it.

    A row is one thread's, and the ranges follow from the work, so the number of threads changes nothing.
    """
    rows = indptr.numpy()
    work = int(rows[-1]) * x.shape[1]
    if work < SHARED_FROM:
        loop(0, len(rows) - 1, *arrays)
        return
    threads = min(n_threads(), torch.get_num_threads())
    each_block(lambda first, last: loop(first, last, *arrays), row_blocks(rows, work), threads)
