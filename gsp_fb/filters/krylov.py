"""Filtering without a fixed polynomial: Lanczos from one signal, conjugate gradients for rational kernels."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
from scipy.linalg import eigh_tridiagonal

from .._lanczos import lanczos
from ..backend import FloatArray
from ..errors import ConvergenceError, ParameterError
from ..operators import Operator
from .expansion import Interval
from .kernels import Kernel

__all__ = ["conjugate_gradients", "lanczos_bank", "least_denominator", "rational_bank"]

Product = Callable[[Any], Any]


def lanczos_bank(core: Operator, z: Any, kernels: tuple[Kernel, ...], steps: int) -> Any:
    r"""Return :math:`\|z\| V g_m(T) e_1` for each kernel and column of ``z``, shape (n, f, n_filters).

    ``V`` spans the Krylov space of the column; if it closes early the result is exact with fewer products.
    """
    columns = [_lanczos_column(core, z[:, j], kernels, steps) for j in range(z.shape[1])]
    return np.stack(columns, axis=1) if columns else np.zeros((*z.shape, len(kernels)), dtype=z.dtype)


def _lanczos_column(core: Operator, z: Any, kernels: tuple[Kernel, ...], steps: int) -> Any:
    if not z.any():
        return np.zeros((len(z), len(kernels)), dtype=z.dtype)
    space = lanczos(core.apply, z, steps, size=max(abs(end) for end in core.bounds))
    nodes, vectors = eigh_tridiagonal(space.diagonal, space.off_diagonal)
    inside = np.clip(nodes, *core.bounds)
    weights = np.stack([vectors @ (kernel(inside) * vectors[0]) for kernel in kernels], axis=1)
    return (space.norm * (space.basis.T @ weights)).astype(z.dtype)  # type: ignore[union-attr]  # kept by default


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
    return np.stack(parts, axis=-1)


def _rational(core: Operator, z: Any, kernel: Kernel, tolerance: float, max_steps: int) -> Any:
    least, _ = least_denominator(kernel, core.bounds)
    numerator, denominator = kernel.rational  # type: ignore[misc]  # least_denominator refused the others
    sign = np.sign(np.polynomial.polynomial.polyval(core.bounds[0], denominator))
    right = _polynomial(core, sign * np.asarray(numerator), z)
    # |error| <= |residual| / min q, so this residual keeps the promised error.
    target = tolerance * least * np.linalg.norm(z, axis=0)
    return conjugate_gradients(lambda v: _polynomial(core, sign * np.asarray(denominator), v), right, target, max_steps)


def _polynomial(core: Operator, coefficients: FloatArray, z: Any) -> Any:
    """Return the polynomial of ``core`` with ascending coefficients, applied to ``z``, by Horner's rule."""
    *rest, y = (c * z for c in coefficients.astype(z.real.dtype))
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
    y, residual = np.zeros_like(right), right.copy()
    direction, square = residual.copy(), _squares(residual)
    for _ in range(max_steps):
        if np.all(np.sqrt(square) <= target):
            return y
        image = product(direction)
        curvature = np.sum(direction.conj() * image, axis=0).real
        step = np.divide(square, curvature, out=np.zeros_like(square), where=curvature > 0)
        y += step * direction
        residual -= step * image
        before, square = square, _squares(residual)
        direction = residual + np.divide(square, before, out=np.zeros_like(square), where=before > 0) * direction
    worst = float(np.max(np.sqrt(square)))
    raise ConvergenceError(f"conjugate gradients left a residual of {worst:.3g} after {max_steps} steps; raise tol=")


def _squares(block: Any) -> Any:
    return np.sum((block.conj() * block).real, axis=0)
