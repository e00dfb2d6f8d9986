"""What the compiled loops of the networks share: when they can run, on which indices, and how threads share rows."""

from __future__ import annotations

import os
from collections.abc import Callable
from typing import Any

import torch
from torch import Tensor

from .._extras import has
from .._kernels.engine import ENGINE
from .._kernels.threads import THREADS_FROM, each_block, n_threads, row_blocks

__all__ = ["each_rows", "is_loopable", "unsigned"]


def is_loopable(dense: Tensor) -> bool:
    """Return whether compiled loops take ``dense``: on the CPU, in single or double precision, numba there."""
    kinds = (torch.float32, torch.float64)
    return dense.device.type == "cpu" and dense.dtype in kinds and os.environ.get(ENGINE) != "scipy" and has("numba")


# Multiplications from which threads pay here: torch's own, between the passes, go on spinning on the cores.
SHARED_FROM = 4 * THREADS_FROM


def each_rows(loop: Callable[[int, int], None], indptr: Any, work: int) -> None:
    """Run ``loop(first, last)`` over ranges of rows, in threads where so many multiplications are worth it.

    A row is one thread's, and the ranges follow from the work, so the number of threads changes nothing.
    """
    if work < SHARED_FROM:
        loop(0, len(indptr) - 1)
    else:
        each_block(loop, row_blocks(indptr, work), min(n_threads(), torch.get_num_threads()))


def unsigned(part: Tensor) -> Any:
    """Return indices as an array that compiled code need not test for counting from the end."""
    return part.numpy().view(f"u{part.element_size()}")
