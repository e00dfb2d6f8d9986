"""Lanczos's process on a symmetric operator, and the quadrature rules that its tridiagonal matrix holds.

The start vector's *spectral measure* puts the weight ``|u_i' v|^2`` on each eigenvalue. After ``k`` matvecs the
tridiagonal matrix gives Gauss's rule for it (exact for polynomials up to degree ``2k - 1``) and, with one end changed,
the rule with a node wherever it is wanted, from which its cumulative distribution is bounded on both sides.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from scipy.linalg import eigh_tridiagonal

from .backend import FloatArray, abs_squared, asarray_like, conj, empty_like, namespace, norm, to_host, vdot

__all__ = ["Krylov", "Total", "alone", "cumulative_bounds", "gauss_rule", "lanczos", "lanczos_columns"]

Product = Callable[[Any], Any]
# Turns a number or an array that was summed over the own part of vectors into that of the whole vectors.
Total = Callable[[Any], Any]
EPS = float(np.finfo(np.float64).eps)


@dataclass(frozen=True, eq=False)
class Krylov:
    """What ``k`` steps found: ``S V = V T + residual * v e_k'`` with orthonormal columns ``V``."""

    diagonal: FloatArray  # of the tridiagonal matrix T
    off_diagonal: FloatArray  # of T, one entry less
    residual: float  # norm of what the next vector would be; 0 if the space is invariant and the rules are exact
    norm: float  # of the start vector
    basis: Any | None  # the vectors as rows, where they were kept

    @property
    def n_steps(self) -> int:
        """Number of products spent."""
        return int(self.diagonal.shape[0])

    @property
    def is_exact(self) -> bool:
        """Whether the space is invariant, so that nothing is left out."""
        return self.residual == 0.0


def alone(part: Any) -> Any:
    """Return ``part`` itself: this process has the whole vectors."""
    return part


def lanczos(
    product: Product, start: Any, steps: int, *, size: float = 0.0, orthogonalize: bool = True, total: Total = alone
) -> Krylov:
    """Return the Krylov space of ``start`` after at most ``steps`` matrix-vector products, fewer if it closes before.

    ``product`` applies a symmetric matrix; a remainder within rounding of its norm ``size``, if that is known, closes
    the space. ``orthogonalize`` keeps the vectors and takes each new one orthogonal to all of them, twice. Without it
    memory is that of three vectors; extreme eigenvalues stay right while inner ones may be found more than once.
    """
    size_of_start, n_rows = _length(start, total), int(total(start.shape[0]))
    current, previous = start / size_of_start, namespace(start).zeros_like(start)
    kept = empty_like((steps, start.shape[0]), current) if orthogonalize else None
    diagonal: list[float] = []
    off_diagonal: list[float] = []
    for k in range(steps):
        following = product(current) - (off_diagonal[-1] if off_diagonal else 0.0) * previous
        diagonal.append(total(vdot(current, following)))
        following = following - diagonal[-1] * current
        if kept is not None:
            kept[k, :] = current
            following = _orthogonal(following, kept[: k + 1, :], total)
        off_diagonal.append(_length(following, total))
        size = max(size, abs(diagonal[-1]) + off_diagonal[-1])
        if off_diagonal[-1] <= 8 * EPS * math.sqrt(n_rows) * size or k + 1 == n_rows:
            off_diagonal[-1] = 0.0
            break
        previous, current = current, following / off_diagonal[-1]
    basis = None if kept is None else kept[: len(diagonal), :]
    return Krylov(np.array(diagonal), np.array(off_diagonal[:-1]), off_diagonal[-1], size_of_start, basis)


def _length(vector: Any, total: Total) -> float:
    size = norm(vector)
    return size if total is alone else math.sqrt(total(size * size))


def _orthogonal(vector: Any, rows: Any, total: Total) -> Any:
    """Return ``vector`` without its part in the span of orthonormal ``rows``; taking it out once leaves rounding."""
    for _ in range(2):
        vector = vector - total(conj(rows) @ vector) @ rows
    return vector


def lanczos_columns(
    product: Product, start: Any, steps: int, *, size: float = 0.0, total: Total = alone
) -> tuple[Krylov, ...]:
    """Return the tridiagonal matrices of each column of ``start``, none of them zero, from joint products.

    Only three blocks of vectors are in memory. Without orthogonalisation a rule may hold a node more than once; the
    copies share its weight, and quadrature is as accurate (Greenbaum 1989).
    """
    xp, n_rows = namespace(start), int(total(float(start.shape[0])))
    sizes = _column_norms(start, total)
    current, previous = start / sizes, xp.zeros_like(start)
    diagonal, off_diagonal = np.zeros((steps, start.shape[1])), np.zeros((steps, start.shape[1]))
    lengths = np.full(start.shape[1], min(steps, n_rows))
    before = xp.zeros_like(sizes)
    for k in range(min(steps, n_rows)):
        following = product(current)
        following -= before * previous
        middle = total(xp.real(xp.sum(conj(current) * following, axis=0)))
        following -= middle * current
        before = _column_norms(following, total)
        diagonal[k], off_diagonal[k] = to_host(middle), to_host(before)
        closed = off_diagonal[k] <= 8 * EPS * math.sqrt(n_rows) * np.maximum(size, np.abs(diagonal[k]))
        lengths = np.where(closed & (lengths > k + 1), k + 1, lengths)
        # A column whose space has closed goes on as zeros.
        shares = asarray_like(np.where(closed, 0.0, 1.0 / np.where(closed, 1.0, off_diagonal[k])), before)
        following *= shares
        previous, current = current, following
    residuals = np.where(lengths < min(steps, n_rows + 1), 0.0, off_diagonal[-1])
    return tuple(
        Krylov(diagonal[:n, j], off_diagonal[: n - 1, j], float(residuals[j]), float(sizes[j]), None)
        for j, n in enumerate(lengths.tolist())
    )


def _column_norms(block: Any, total: Total) -> Any:
    xp = namespace(block)
    return xp.sqrt(total(xp.sum(abs_squared(block), axis=0)))


def gauss_rule(space: Krylov) -> tuple[FloatArray, FloatArray]:
    """Return Gauss's nodes, ascending, and weights of the measure of the normalised start vector; they sum to 1."""
    if space.n_steps == 1:
        return space.diagonal, np.ones(1)
    nodes, vectors = eigh_tridiagonal(space.diagonal, space.off_diagonal)
    return nodes, vectors[0] ** 2


def cumulative_bounds(space: Krylov, at: float) -> tuple[float, float]:
    """Return bounds on the normalised measure below ``at``: of ``(-inf, at)`` from below, ``(-inf, at]`` from above.

    Chebyshev, Markov and Stieltjes: in a rule with a node at ``at``, the weights left of it are at most the measure
    left of it, and with its own weight they are at least that. No measure with the same moments allows a closer bound.
    """
    if space.is_exact:
        nodes, weights = gauss_rule(space)
        return float(weights[nodes < at].sum()), float(weights[nodes <= at].sum())
    pivots = _pivots(space, at)
    diagonal = np.append(space.diagonal, at + space.residual**2 / pivots[-1])
    off_diagonal = np.append(space.off_diagonal, space.residual)
    _, weights = gauss_rule(replace(space, diagonal=diagonal, off_diagonal=off_diagonal))
    # Sylvester: as many eigenvalues lie below `at` as pivots are negative.
    below = int(np.count_nonzero(pivots < 0))
    return float(weights[:below].sum()), float(weights[: below + 1].sum())


def _pivots(space: Krylov, at: float) -> FloatArray:
    """Return the pivots of ``T - at I``, a zero one replaced by the smallest number that leaves T as it is."""
    shifted = space.diagonal - at
    least = EPS * max(float(np.abs(shifted).max()), space.residual, float(np.max(space.off_diagonal, initial=0.0)))
    pivots = np.empty_like(shifted)
    for k, entry in enumerate(shifted):
        pivot = entry - (space.off_diagonal[k - 1] ** 2 / pivots[k - 1] if k else 0.0)
        pivots[k] = pivot if abs(pivot) > least else -least
    return pivots
