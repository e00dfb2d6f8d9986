r"""Total-variation regularisation by a primal-dual method, stopped by a certified duality gap.

:math:`\min_x \tfrac12\|x - y\|^2_M + \lambda\sum_e|(\nabla x)_e|`, M being the observed nodes, in the inner product in
which the operator is self-adjoint. With the operator's vector ``right``, the minimiser has ``right * x`` between the
smallest and the largest observed ``right * y`` (clipping to that interval lowers both terms), so the interval is added
as a constraint: the dual function is then finite everywhere and the gap bounds the distance to the optimum.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np

from ..calculus import divergence, gradient
from ..errors import ConvergenceError
from ..operators import Operator

__all__ = ["Minimum", "minimize_variation"]

MAX_STEPS = 20_000
# Steps between two evaluations of the gap, which costs as much as a step.
CHECK_EVERY = 10
EPS = float(np.finfo(np.float64).eps)

Array = Any


@dataclass(frozen=True, eq=False)
class Minimum:
    """A signal whose objective is within ``gap`` of the minimum, one gap a column, after ``steps`` steps."""

    signal: Array
    gap: Array
    steps: int


@dataclass(frozen=True, eq=False)
class VariationProblem:
    """The objective of one block of columns: data ``y``, observed nodes, weight of the variation, inner product."""

    op: Operator
    y: Array
    seen: Array
    strength: float
    metric: Array
    low: Array
    high: Array

    def gap(self, x: Array, flow: Array) -> Array:
        """Return primal minus dual objective of each column: an upper bound on both distances to the optimum."""
        slopes, pull = gradient(self.op, x), divergence(self.op, flow)
        fit = 0.5 * np.sum(np.where(self.seen, self.metric * (x - self.y) ** 2, 0.0), axis=0)
        primal = fit + self.strength * np.sum(np.abs(slopes), axis=0)
        return primal + np.sum(self.metric * self._conjugate(-pull), axis=0)

    def _conjugate(self, z: Array) -> Array:
        """Return sup over the interval of ``z x - (x - y)^2 / 2`` (observed) or ``z x`` (not), entry by entry."""
        best = np.clip(self.y + z, self.low, self.high)
        observed = z * best - 0.5 * (best - self.y) ** 2
        return np.where(self.seen, observed, np.maximum(z * self.low, z * self.high))

    def proximal(self, x: Array, tau: float) -> Array:
        """Return the minimiser of the fit plus ``|. - x|^2 / (2 tau)`` over the interval."""
        pulled = np.where(self.seen, (x + tau * self.y) / (1.0 + tau), x)
        return np.clip(pulled, self.low, self.high)


def minimize_variation(
    op: Operator, y: Array, seen: Array, strength: float, *, tol: float, max_steps: int = MAX_STEPS
) -> Minimum:
    """Return the minimiser for float64 columns ``y``, shape (n_nodes, n_signals), to a gap of ``(tol |y|)^2 / 2``.

    Where every node is observed the objective is strongly convex, and the dual is solved by accelerated projected
    gradient steps (A. Beck and M. Teboulle, IEEE TIP 18(11), 2009) with adaptive restart (B. O'Donoghue and E. Candès,
    FoCM 15, 2015); then ``|x - x*| <= tol |y|``. Otherwise by primal-dual steps (A. Chambolle and T. Pock, JMIV 40,
    2011).
    """
    # Nodes that are not observed start at the mean of the others.
    x = np.where(seen, y, np.sum(np.where(seen, y, 0.0), axis=0) / np.maximum(np.sum(seen, axis=0), 1))
    problem = _problem(op, y, seen, strength, x)
    energy = np.sum(np.where(seen, problem.metric * y**2, 0.0), axis=0)
    # The gap is a difference of sums of this size: it cannot be resolved below their rounding.
    rounding = 64 * EPS * (energy + strength * np.sum(np.abs(gradient(op, x)), axis=0))
    wanted = np.maximum(0.5 * tol**2 * energy, rounding)
    best = Minimum(x, problem.gap(x, np.zeros_like(gradient(op, x))), 0)
    steps = _dual_steps(problem) if bool(np.all(seen)) else _primal_dual_steps(problem, x)
    for step, (x, flow) in zip(range(1, max_steps + 1), steps, strict=False):
        if step % CHECK_EVERY == 1:
            gap = problem.gap(x, flow)
            less = gap < best.gap
            best = Minimum(np.where(less, x, best.signal), np.where(less, gap, best.gap), step)
        if np.all(best.gap <= wanted):
            return best
    worst = int(np.argmax(best.gap - wanted))
    raise ConvergenceError(
        f"total variation: after {max_steps} steps the duality gap of column {worst} is {best.gap[worst]:.3g}, not "
        f"{wanted[worst]:.3g}; give a larger tol or a smaller strength"
    )


def _dual_steps(problem: VariationProblem) -> Iterator[tuple[Array, Array]]:
    """Yield signals and flows of accelerated projected gradient steps on the dual, one momentum a column."""
    op, y, strength = problem.op, problem.y, problem.strength
    length = 1.0 / max(op.bounds[1], np.finfo(float).tiny)
    flow = ahead = np.zeros_like(gradient(op, y))
    momentum = np.ones(y.shape[1])
    while True:
        moved = np.clip(ahead + length * gradient(op, y - divergence(op, ahead)), -strength, strength)
        # The momentum points uphill: start it again, the column keeps its place.
        uphill = np.sum((ahead - moved) * (moved - flow), axis=0) > 0
        following = np.where(uphill, 1.0, (1.0 + np.sqrt(1.0 + 4.0 * momentum**2)) / 2.0)
        share = np.where(uphill, 0.0, (momentum - 1.0) / following)
        ahead, flow, momentum = moved + share * (moved - flow), moved, following
        yield y - divergence(op, flow), flow


def _primal_dual_steps(problem: VariationProblem, x: Array) -> Iterator[tuple[Array, Array]]:
    """Yield signals and flows of Chambolle and Pock's algorithm with equal primal and dual steps."""
    op, strength = problem.op, problem.strength
    length = 1.0 / math.sqrt(max(op.bounds[1], np.finfo(float).tiny))
    flow, ahead = np.zeros_like(gradient(op, x)), x
    while True:
        flow = np.clip(flow + length * gradient(op, ahead), -strength, strength)
        moved = problem.proximal(x - length * divergence(op, flow), length)
        ahead, x = 2.0 * moved - x, moved
        yield x, flow


def _problem(op: Operator, y: Array, seen: Array, strength: float, start: Array) -> VariationProblem:
    right = np.asarray(op.right)[:, None]
    reached = right * y
    low = np.min(np.where(seen, reached, np.inf), axis=0, initial=np.inf)
    high = np.max(np.where(seen, reached, -np.inf), axis=0, initial=-np.inf)
    # An isolated node may have right = 0: nothing but its own value acts on it.
    free, root = right == 0, np.where(right == 0, 1.0, right)
    low, high = (np.where(free, start, end / root) for end in (low, high))
    return VariationProblem(op, np.where(seen, y, 0.0), seen, strength, np.asarray(op.scale**2)[:, None], low, high)
