"""Filtering without a fixed polynomial: Lanczos from one signal, linear solves for rational kernels."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
from scipy import sparse
from scipy.linalg import eigh_tridiagonal

from .._lanczos import lanczos
from ..backend import FloatArray, asarray_like, cast, namespace, norm
from ..errors import ParameterError
from ..operators import Operator
from ..solvers import System, solve
from .kernels import Kernel

__all__ = ["affine_system", "lanczos_bank", "least_denominator", "rational_filter"]


def lanczos_bank(core: Operator, z: Any, kernels: Sequence[Callable[..., FloatArray]], steps: int) -> Any:
    r"""Return :math:`\|z\| V g_m(T) e_1` for each kernel and column of ``z``, shape (n, f, n_filters).

    ``V`` spans the Krylov space of the column; if it closes early the result is exact with fewer matvecs.
    """
    columns = [_lanczos_column(core, z[:, j], kernels, steps) for j in range(z.shape[1])]
    return namespace(z).stack(columns, axis=1) if columns else asarray_like(np.zeros((*z.shape, len(kernels))), z)


def _lanczos_column(core: Operator, z: Any, kernels: Sequence[Callable[..., FloatArray]], steps: int) -> Any:
    if norm(z) == 0:
        return asarray_like(np.zeros((z.shape[0], len(kernels))), z, z.dtype)
    space = lanczos(core.apply, z, steps, size=max(abs(end) for end in core.bounds))
    nodes, vectors = eigh_tridiagonal(space.diagonal, space.off_diagonal)
    inside = np.clip(nodes, *core.bounds)
    weights = np.stack([vectors @ (kernel(inside) * vectors[0]) for kernel in kernels], axis=1)
    basis: Any = space.basis
    return cast(space.norm * (basis.T @ asarray_like(weights, basis)), z.dtype)


def least_denominator(kernel: Kernel, interval: tuple[float, float]) -> tuple[float, float]:
    """Return the least and greatest absolute value of the denominator on ``interval``."""
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


def rational_filter(core: Operator, z: Any, kernel: Kernel, *, tolerance: float, max_steps: int) -> Any:
    """Return the solution of ``q(core) y = p(core) z`` for a rational kernel."""
    least, _ = least_denominator(kernel, core.bounds)
    numerator, denominator = kernel.rational  # type: ignore[misc]  # least_denominator refused the others
    sign = np.sign(np.polynomial.polynomial.polyval(core.bounds[0], denominator))
    right = _polynomial(core, sign * np.asarray(numerator), z)
    coefficients = sign * np.asarray(denominator)
    # |error| <= |residual| / min q, so this residual keeps the promised error.
    target = tolerance * least * norm(z, axis=0)
    if len(coefficients) == 2:
        system = affine_system(core, *coefficients.tolist(), floor=least)
        return cast(solve(system, right, target).x, z.dtype)
    ones = namespace(core.diag).ones_like(core.diag)
    system = System(lambda v: _polynomial(core, coefficients, v), ones, floor=least)
    return cast(solve(system, right, target, max_steps=max_steps).x, z.dtype)


def affine_system(core: Operator, constant: Any, slope: float, *, floor: float = 0.0) -> System:
    """Return the system ``diag(constant) + slope * core`` of a symmetrized high channel.

    ``constant`` is a number, or one a node; ``floor`` a lower bound of the least eigenvalue, if one is known.
    """
    xp = namespace(core.diag)
    start = constant * xp.ones_like(core.diag)
    diagonal = start + slope * core.diagonal

    def matrix() -> Any:
        return sparse.csr_array(slope * core.to_scipy() + sparse.diags_array(start))

    # core @ root = 0 and no off-diagonal entry is positive: then diag(root) M diag(root) is diagonally dominant.
    # With negative or complex weights neither holds.
    unsigned = core.channel == "high" and not core.graph.is_signed
    balanced = unsigned and slope > 0 and bool(xp.all(start >= 0))
    root = 1.0 / xp.where(core.right > 0, core.right, 1.0) if balanced else None
    return System(
        lambda v: start[:, None] * v + slope * core.apply(v),
        xp.where(diagonal > 0, diagonal, 1.0),
        matrix if core.graph.device == "cpu" else None,
        root,
        floor=floor,
    )


def _polynomial(core: Operator, coefficients: FloatArray, z: Any) -> Any:
    """Return the polynomial of ``core`` with ascending coefficients, applied to ``z``, by Horner's rule."""
    *rest, y = (c * z for c in coefficients.tolist())
    for term in reversed(rest):
        y = core.apply(y) + term
    return y
