"""Preconditioned conjugate gradients for a block of right-hand sides, on any device."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from ..backend import abs_squared, conj, namespace

__all__ = ["Iterate", "conjugate_gradients"]

Product = Callable[[Any], Any]


@dataclass(frozen=True, eq=False)
class Iterate:
    """Where conjugate gradients stopped: the solution, the steps, and whether every column reached its target."""

    x: Any
    steps: int
    reached: bool


def conjugate_gradients(
    product: Product, right: Any, target: Any, max_steps: int, *, precondition: Product | None = None
) -> Iterate:
    """Return ``x`` with ``|right - product(x)| <= target`` in each column, as far as ``max_steps`` steps go.

    Parameters
    ----------
    product : callable
        Symmetric and positive (semi-)definite, on a block.
    right : array, shape (n, b)
    target : float or array, shape (b,)
        Largest norm of the (recursive) residual.
    max_steps : int
    precondition : callable, optional
        Symmetric positive definite approximation of the inverse, on a block.

    References
    ----------
    .. [1] M. R. Hestenes and E. Stiefel, J. Res. Natl. Bur. Stand. 49 (1952) 409.
    """
    xp = namespace(right)
    x, residual = xp.zeros_like(right), xp.asarray(right, copy=True)
    reduced = residual if precondition is None else precondition(residual)
    direction, slope = reduced, _forms(residual, reduced)
    for step in range(max_steps + 1):
        if bool(xp.all(xp.sqrt(xp.sum(abs_squared(residual), axis=0)) <= target)):
            return Iterate(x, step, True)
        if step == max_steps:
            break
        image = product(direction)
        length = _ratio(slope, _forms(direction, image))
        x = x + length * direction
        residual = residual - length * image
        reduced = residual if precondition is None else precondition(residual)
        before, slope = slope, _forms(residual, reduced)
        direction = reduced + _ratio(slope, before) * direction
    return Iterate(x, max_steps, False)


def _forms(x: Any, y: Any) -> Any:
    """Return the real part of ``x_c* y_c`` of each column."""
    xp = namespace(x)
    total = xp.sum(abs_squared(x) if x is y else conj(x) * y, axis=0)
    return xp.real(total) if xp.isdtype(total.dtype, "complex floating") else total


def _ratio(above: Any, below: Any) -> Any:
    """Return ``above / below``, and 0 where that is not positive: such a column has arrived."""
    xp = namespace(above)
    return xp.where(below > 0, above / xp.where(below > 0, below, 1.0), 0.0)
