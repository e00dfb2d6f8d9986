"""What a run takes of the machine: threads and ``torch.compile``, and its errors; needs torch."""

from __future__ import annotations

import contextlib
import warnings
from collections.abc import Iterator

import torch
from torch import nn

from ..errors import TrainingError

__all__ = ["compiled_model", "memory_reported", "threads_for"]

# Multiplications of a forward pass from which several threads pay.
THREADS_FROM = 5e7


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


def is_compilable() -> bool:
    """Return whether this torch can compile on this platform; a C++ compiler is looked for at the first epoch."""
    from torch._dynamo.eval_frame import is_dynamo_supported

    return bool(is_dynamo_supported())


@contextlib.contextmanager
def compiled_model(model: nn.Module) -> Iterator[None]:
    """Compile the forward pass of ``model`` in place; afterwards it runs as before."""
    if not is_compilable():
        raise TrainingError("torch.compile does not support this Python or platform; train with compile=False")
    with warnings.catch_warnings():
        # What torch states of its own modules and of the tensors that it traces is not for the user to act on.
        warnings.simplefilter("ignore", DeprecationWarning)
        warnings.filterwarnings("ignore", "The .grad attribute of a Tensor", UserWarning)
        from torch._dynamo.exc import TorchDynamoException

        model.compile()
        try:
            yield
        except TorchDynamoException as failed:
            reason = str(failed).strip().splitlines()[0]
            what = f"torch.compile failed ({type(failed).__name__}: {reason}); it needs a C++ compiler"
            raise TrainingError(f"{what}; install one or train with compile=False") from failed
        finally:
            model._compiled_call_impl = None
