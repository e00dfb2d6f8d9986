"""What a bank checks of its arguments before it trusts them."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from .._arguments import check_count, check_signal, host_array
from ..backend import Signal, namespace, to_dense
from ..errors import ParameterError, SignalError
from ..operators import Operator
from .kernels import Kernel, as_kernel
from .response import axis_end, frequency_axis

__all__ = ["bound_kernels", "check_mask", "check_order", "coefficient_block", "default_tol", "signal_block"]

# Beyond this degree the recurrence's own rounding is larger than any tolerance.
HIGHEST_ORDER = 100_000
# Tolerance of a bank that names none, by the continuity of its roughest kernel. A kink costs an order of about 1 / tol,
# a kernel with continuous slope its root: ten digits of a Meyer frame would cost a thousand matrix-vector products.
DEFAULT_TOL = {0.0: 1e-2, 1.0: 1e-4, 2.0: 1e-4, 3.0: 1e-4}
SMOOTH_TOL = 1e-8


def signal_block(x: Signal) -> Signal:
    """Return a checked signal as a dense array of columns."""
    dense = to_dense(x)
    return dense[:, None] if dense.ndim == 1 else dense


def check_mask(mask: Any, n_nodes: int, error: type[Exception], what: str) -> Any:
    """Return ``mask`` as an array if it is one boolean a node."""
    mask = host_array(mask, error, what)
    if tuple(mask.shape) != (n_nodes,) or mask.dtype != namespace(mask).bool:
        found = f"shape {tuple(mask.shape)} and dtype {mask.dtype}"
        raise error(f"{what} has {found}; it must be {n_nodes} booleans, one per node")
    return mask


def check_order(order: object) -> int | None:
    """Return the degree that a user fixed, if any."""
    degree = None if order is None else check_count(order, "order")
    if degree is not None and degree > HIGHEST_ORDER:
        raise ParameterError(f"order={order} is beyond {HIGHEST_ORDER}; leave it out and it follows from tol=")
    return degree


def default_tol(kernels: tuple[Kernel, ...]) -> float:
    """Return the tolerance of a bank that names none: wider where a polynomial converges slowly."""
    return max((DEFAULT_TOL.get(kernel.continuity, SMOOTH_TOL) for kernel in kernels), default=SMOOTH_TOL)


def bound_kernels(kernels: Any, op: Operator, lmax: float | None) -> tuple[tuple[Kernel, ...], float | None]:
    """Return the kernels bound to the operator's axis, each tried out over it, and ``lmax`` if it was needed."""
    low, high = frequency_axis(op)
    single = isinstance(kernels, Kernel) or callable(kernels)
    made = tuple(as_kernel(kernel) for kernel in ((kernels,) if single else kernels))
    if not made:
        raise ParameterError("a bank needs at least one kernel")
    end = axis_end(op) if lmax is None and any(kernel.relative for kernel in made) else lmax
    bound = tuple(kernel if end is None else kernel.bind(end) for kernel in made)
    for kernel in bound:
        if kernel.lower_bound > low:
            raise ParameterError(
                f"kernel {kernel.name!r} begins at frequency {kernel.lower_bound:g} but {op!r} has eigenvalues down to "
                f"{low:g}"
            )
        kernel(np.linspace(low, high, 33))
    return bound, end


def coefficient_block(c: Any, n_nodes: int, n_filters: int) -> tuple[Signal, bool]:
    """Return coefficients as (n_nodes, n_signals, n_filters), and whether they came without the middle axis."""
    c = host_array(c, SignalError, "coefficients")
    if c.ndim not in (2, 3) or c.shape[0] != n_nodes or c.shape[-1] != n_filters:
        raise SignalError(
            f"coefficients have shape {tuple(c.shape)}; they must be ({n_nodes}, {n_filters}) or "
            f"({n_nodes}, n_signals, {n_filters}): nodes first, filters last"
        )
    xp = namespace(c)
    block = check_signal(xp.reshape(c, (n_nodes, math.prod(c.shape[1:]))), n_nodes)
    block = xp.reshape(block, c.shape)
    return (block[:, None, :], True) if c.ndim == 2 else (block, False)
