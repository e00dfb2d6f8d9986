"""What a run takes of the machine: threads, memory, a progress bar, and how an interrupt ends it."""

from __future__ import annotations

import contextlib
import math
import sys
from collections.abc import Iterator
from typing import Any

import torch

from .._extras import require
from ..errors import TrainingError

__all__ = ["TrainingInterrupted", "memory_reported", "peak_memory", "progress_bar", "threads_for"]

# Multiplications of a forward pass from which several threads pay.
THREADS_FROM = 5e7


class TrainingInterrupted(KeyboardInterrupt):
    """Ctrl-C arrived; the epoch was finished and the state saved. The message is a summary for the user.

    See Also
    --------
    train : Raises it on Ctrl-C; the same call resumes the run.

    Examples
    --------
    >>> try:
    ...     raise TrainingInterrupted("stopped after epoch 12; the same call goes on from there")
    ... except KeyboardInterrupt as stop:
    ...     str(stop)
    'stopped after epoch 12; the same call goes on from there'
    """


@contextlib.contextmanager
def progress_bar(total: int, start: int = 0, *, shown: bool, unit: str = "it") -> Iterator[Any]:
    """Give a progress bar, or None where none is to be shown."""
    if not shown:
        yield None
        return
    with require("tqdm", "a progress bar").tqdm(total=total, initial=start, unit=unit) as bar:
        yield bar


@contextlib.contextmanager
def memory_reported() -> Iterator[None]:
    """Turn torch's two ways of running out of memory into the errors that Python has for it."""
    try:
        yield
    except torch.OutOfMemoryError as gpu:
        raise TrainingError(f"the GPU has no memory left: {gpu}; use device='cpu' or a smaller hidden=") from gpu
    except RuntimeError as host:
        if "can't allocate memory" not in str(host):
            raise
        raise MemoryError(str(host)) from host


def peak_memory(device: torch.device) -> float:
    """Return the peak memory in MB: of torch on a GPU, of the process elsewhere; nan where the system has no count."""
    if device.type == "cuda":
        return float(torch.cuda.max_memory_allocated(device)) / 1e6
    try:
        import resource
    except ImportError:  # Windows
        return math.nan
    unit = 1 if sys.platform == "darwin" else 1024
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * unit / 1e6


@contextlib.contextmanager
def threads_for(work: float) -> Iterator[None]:
    """Compute on one thread where a step is too small to share out; the number of threads is restored afterwards.

    Threads that wait for each other cost far more than they save on a small graph, and a hundredfold on a machine
    whose cores are busy.
    """
    before = torch.get_num_threads()
    if work < THREADS_FROM:
        torch.set_num_threads(1)
    try:
        yield
    finally:
        torch.set_num_threads(before)
