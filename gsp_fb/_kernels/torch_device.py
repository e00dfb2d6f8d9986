"""The device that a user names; needs torch."""

from __future__ import annotations

import torch

from ..errors import ParameterError

__all__ = ["torch_device"]


def torch_device(device: torch.device | str) -> torch.device:
    """Return the device, or raise ParameterError if it is not there; nothing falls back to the CPU by itself."""
    try:
        place = torch.device(device)
    except RuntimeError as unknown:
        raise ParameterError(f"unknown device {device!r}; give 'cpu' or 'cuda'") from unknown
    if place.type == "cuda" and not torch.cuda.is_available():
        raise ParameterError(f"device {device!r} was asked for, but torch sees no CUDA device; give device='cpu'")
    return place
