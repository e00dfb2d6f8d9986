"""Filtering without a fixed polynomial: Lanczos from one signal, conjugate gradients for rational kernels."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import numpy as np
from scipy.linalg import eigh_tridiagonal

from .._lanczos import lanczos
from ..backend import FloatArray, abs_squared, asarray_like, cast, conj, namespace, norm
from ..errors import ConvergenceError, ParameterError
from ..operators import Operator
from ._points import Interval
from .kernels import Kernel

__all__ = ["conjugate_gradients", "lanczos_bank", "least_denominator", "rational_bank"]

Product = Callable[[Any], Any]


def lanczos_bank(core: Operator, z: Any, kernels: tuple[Kernel, ...], steps: int) -> Any:
    r"""Return :math:`\|z\| V g_m(T) e_1` for each kernel and column of ``z``, shape (n, f, n_filters).

    ``V`` spans the Krylov space of the column; if it closes early the result is exact with fewer products.
    """
    columns = [_lanczos_column(core, z[:, j], kernels, steps) for j in range(z.shape[1])]
    return namespace(z).stack(columns, axis=1) if columns else asarray_like(np.zeros((*z.shape, len(kernels))), z)


def _lanczos_column(core: Operator, z: Any, kernels: tuple[Kernel, ...], steps: int) -> Any:
    if norm(z) == 0:
        return asarray_like(np.zeros((z.shape[0], len(kernels))), z, z.dtype)
    space = lanczos(core.apply, z, steps, size=max(abs(end) for end in core.bounds))
    nodes, vectors = eigh_tridiagonal(space.diagonal, space.off_diagonal)
    inside = np.clip(nodes, *core.bounds)
    weights = np.stack([vectors @ (kernel(inside) * vectors[0]) for kernel in kernels], axis=1)
    basis: Any = space.basis
    return cast(space.norm * (basis.T @ asarray_like(weights, basis)), z.dtype)


def least_denominator(kernel: Kernel, interval: Interval) -> tuple[float, float]:
    """Return the least and greatest absolute value of the denominator on ``interval``.

    Raises
    ------
    ParameterError
        The kernel is not rational, or its denominator vanishes there.
    """
    if kernel.rational is None:
        raise ParameterError(f"kernel {kernel.name!r} is not rational; method 'cg' needs filters.rational or ppr")
    q = np.polynomial.Polynomial(kernel.rational[1])
    turns = np.concatenate([q.deriv().roots().real, interval])
    values = q(np.clip(turns, *interval))
    if values.min() <= 0 <= values.max():
        raise ParameterError(
            f"the denominator of kernel {kernel.name!r} vanishes between {interval[0]} and {interval[1]}"
        )
    return float(np.abs(values).min()), float(np.abs(values).max())


def rational_bank(core: Operator, z: Any, kernels: tuple[Kernel, ...], *, tolerance: float, max_steps: int) -> Any:
    """Return the solution of ``q(core) y = p(core) z`` for each rational kernel, shape (n, f, n_filters)."""
    parts = [_rational(core, z, kernel, tolerance, max_steps) for kernel in kernels]
    return namespace(z).stack(parts, axis=-1)


def _rational(core: Operator, z: Any, kernel: Kernel, tolerance: float, max_steps: int) -> Any:
    least, _ = least_denominator(kernel, core.bounds)
    numerator, denominator = kernel.rational  # type: ignore[misc]  # least_denominator refused the others
    sign = np.sign(np.polynomial.polynomial.polyval(core.bounds[0], denominator))
    right = _polynomial(core, sign * np.asarray(numerator), z)
    # |error| <= |residual| / min q, so this residual keeps the promised error.
    target = tolerance * least * norm(z, axis=0)
    return conjugate_gradients(lambda v: _polynomial(core, sign * np.asarray(denominator), v), right, target, max_steps)


def _polynomial(core: Operator, coefficients: FloatArray, z: Any) -> Any:
    """Return the polynomial of ``core`` with ascending coefficients, applied to ``z``, by Horner's rule."""
    *rest, y = (c * z for c in coefficients.tolist())
    for term in reversed(rest):
        y = core.apply(y) + term
    return y


def conjugate_gradients(product: Product, right: Any, target: Any, max_steps: int) -> Any:
    """Return ``y`` with ``|right - product(y)| <= target`` in each column, for a positive definite ``product``.

    Raises
    ------
    ConvergenceError
        Not reached in ``max_steps`` steps.
    """
    xp = namespace(right)
    y, residual, direction = xp.zeros_like(right), xp.asarray(right, copy=True), right
    square = _forms(residual, residual)
    for _ in range(max_steps):
        if bool(xp.all(xp.sqrt(square) <= target)):
            return y
        image = product(direction)
        step = _ratio(square, _forms(direction, image))
        y += step * direction
        residual -= step * image
        before, square = square, _forms(residual, residual)
        direction = residual + _ratio(square, before) * direction
    worst = math.sqrt(float(xp.max(square)))
    raise ConvergenceError(f"conjugate gradients left a residual of {worst:.3g} after {max_steps} steps; raise tol=")


def _forms(x: Any, y: Any) -> Any:
    """Return the real part of ``x_c* y_c`` of each column."""
    xp = namespace(x)
    if x is y:
        return xp.sum(abs_squared(x), axis=0)
    total = xp.sum(conj(x) * y, axis=0)
    return xp.real(total) if xp.isdtype(total.dtype, "complex floating") else total


def _ratio(above: Any, below: Any) -> Any:
    """Return ``above / below``, and 0 where that is not positive: such a column has arrived."""
    xp = namespace(above)
    return xp.where(below > 0, above / xp.where(below > 0, below, 1.0), 0.0)
