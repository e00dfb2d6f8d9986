"""Undoing a bank that is not tight, with matrix-vector products alone."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

from ..backend import Signal, cast, namespace, norm
from ..errors import ParameterError
from ..solvers import System, solve

if TYPE_CHECKING:
    from .bank import FilterBank

__all__ = ["check_invertible", "solve_frame"]


def check_invertible(least: float, greatest: float, tol: float) -> float:
    """Return the ratio of the frame bounds, unless it leaves nothing of ``tol``."""
    if least <= tol * greatest:
        raise ParameterError(
            f"the frame bounds are {least:.3g} and {greatest:.3g}: some frequency hardly passes the bank, and what "
            "lies there cannot be restored; add bank.complement() to it"
        )
    return greatest / least


def solve_frame(frame: FilterBank, right: Signal, condition: float) -> Signal:
    r"""Return the solution of :math:`\sum_m g_m(op)^2\,x =` ``right`` by conjugate gradients.

    ``frame`` is a bank of one filter, the sum of squares of the kernels of another. The error is at most
    ``condition * frame.tol`` relative to the signal, as the residual is divided by the lower frame bound while
    ``right`` is at most the upper one times the signal.
    """
    scale = frame.op.scale[:, None]
    target = frame.tol * norm(scale * right, axis=0)
    steps = int(20 * math.sqrt(condition)) + 100
    ones = namespace(frame.op.diag).ones_like(frame.op.diag)
    system = System(lambda z: scale * frame.analyze(z / scale)[..., 0], ones)
    z = solve(system, scale * right, target, max_steps=steps).x
    return cast(z / scale, right.dtype)
