"""The derivative of a model in a direction: forward mode, double backward, or central differences."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import TypeAlias

import torch
from torch import Tensor

from ...errors import ParameterError

__all__ = ["METHODS", "Linearization", "linearize"]

Function: TypeAlias = Callable[[Tensor], Tensor]
# What torch raises where a derivative does not exist: custom functions without jvp, in-place writes and the like.
NO_DERIVATIVE = (RuntimeError, NotImplementedError, TypeError, ValueError)
# A derivative agrees with central differences up to this share and this many times their own uncertainty.
AGREEMENT, MARGIN = 0.05, 5.0
# Two evaluations at the same input that differ by more than this share are random.
REPEATABLE = 1e-3


@dataclass(frozen=True, eq=False)
class Linearization:
    """``v -> J v`` of a function at one input, by a row of ``METHODS``; ``error`` is that of central differences."""

    jvp: Function
    method: str
    error: float = 0.0


def _forward_mode(function: Function, x: Tensor) -> Function:
    def jvp(v: Tensor) -> Tensor:
        tangent: Tensor = torch.func.jvp(function, (x,), (v,))[1]
        return tangent.detach()

    return jvp


def _double_backward(function: Function, x: Tensor) -> Function:
    """``u -> J^T u`` is linear in ``u``: its derivative towards ``v`` is ``J v``; one graph serves all directions."""
    with torch.enable_grad():
        at = x.detach().requires_grad_()
        y = function(at)
        u = torch.zeros_like(y, requires_grad=True)
        (pulled,) = torch.autograd.grad(y, at, u, create_graph=True)

    def jvp(v: Tensor) -> Tensor:
        return torch.autograd.grad(pulled, u, v, retain_graph=True)[0].detach()

    return jvp


def _differences(function: Function, x: Tensor, step: float = 1.0) -> Function:
    # The cube root of the rounding error balances it against the third derivative.
    relative = step * torch.finfo(x.dtype).eps ** (1 / 3)
    size = float(x.norm()) or float(x.numel()) ** 0.5

    def jvp(v: Tensor) -> Tensor:
        norm = float(v.norm())
        if norm == 0.0:
            return torch.zeros_like(function(x))
        h = relative * size / norm
        slope: Tensor = (function(x + h * v) - function(x - h * v)) / (2 * h)
        return slope

    return jvp


METHODS: dict[str, Callable[[Function, Tensor], Function]] = {
    "forward mode": _forward_mode,
    "double backward": _double_backward,
    "central differences": _differences,
}


def linearize(function: Function, x: Tensor, direction: Tensor) -> Linearization:
    """Return the derivative by the first method that works here and agrees with central differences."""
    # A custom function may have a backward pass that cannot be differentiated and raises nothing: one direction is held
    # against differences of function values.
    with torch.no_grad():
        check_repeatable(function, x)
        coarse, fine = (_differences(function, x, step)(direction) for step in (2.0, 1.0))
    size, doubt = float(fine.norm()), float((coarse - fine).norm())
    for name in ("forward mode", "double backward"):
        try:
            with torch.no_grad():
                jvp = METHODS[name](function, x)
                off = float((jvp(direction) - fine).norm())
        except NO_DERIVATIVE:
            continue
        if off <= AGREEMENT * size + MARGIN * doubt:
            return Linearization(jvp, name)
    return Linearization(_differences(function, x), "central differences", doubt / size if size else 0.0)


def check_repeatable(function: Function, x: Tensor) -> None:
    """Raise ParameterError where two evaluations differ: a random network has no response."""
    first, second = function(x), function(x)
    if first.shape != second.shape or float((first - second).norm()) > REPEATABLE * float(first.norm()):
        raise ParameterError(
            "the model returns different values at the same input, in evaluation mode too: it samples; "
            "give call= that fixes its seed or turns the sampling off"
        )
