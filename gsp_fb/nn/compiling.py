"""``torch.compile`` for the length of one training, its failures as errors with a remedy."""

from __future__ import annotations

import contextlib
import warnings
from collections.abc import Iterator

from torch import nn

from ..errors import TrainingError

__all__ = ["compiled_model", "is_compilable"]


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
            raise TrainingError(
                f"torch.compile failed ({type(failed).__name__}: {reason}); it needs a C++ compiler; "
                "install one or train with compile=False"
            ) from failed
        finally:
            model._compiled_call_impl = None
