"""One planner for every symmetric positive (semi-)definite solve: a ladder of methods, each answer checked."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from functools import cached_property, partial
from typing import Any

import numpy as np

from .._extras import has
from ..backend import FloatArray, device_of, namespace, norm
from ..errors import ConvergenceError
from .factor import Factorization, FactorizationCost, factorization_cost
from .system import System, approximate_cholesky, conjugate_gradients, multigrid

__all__ = ["METHODS", "Solution", "Solver", "solve"]

# Enough for healthy systems (community, preferential attachment); a system that needs more has a better method.
JACOBI_STEPS = 100
PRECONDITIONED_STEPS = 300
# In exact arithmetic one step a row would do.
STEPS_PER_ROW = 10
# A factorisation that costs fewer multiplications than this is faster than any iteration.
DIRECT_FLOPS = 3e9
# Corrections by the residual: the second recovers what the first lost to rounding.
REFINEMENTS = 3


@dataclass(frozen=True, eq=False)
class Solution:
    """Answer to a linear system, with what is known about its error."""

    x: Any  # shape (n, b)
    method: str  # the row of METHODS that reached the target
    iterations: int  # steps of conjugate gradients over all methods; a factorisation has none
    residual: Any  # ``|right - M x|`` of each column, recomputed from the answer
    error_bound: Any  # ``residual / floor``, the system's bound on the least eigenvalue; infinite where that is unknown


@dataclass(eq=False)
class Solver:
    """A system with the preconditioners and factors made for it so far, for several right-hand sides in turn."""

    system: System
    _made: dict[str, Any] = field(default_factory=dict, repr=False)

    def part(self, name: str, make: Callable[[], Any]) -> Any:
        """Return a preconditioner or factorisation, made at first use."""
        if name not in self._made:
            self._made[name] = make()
        return self._made[name]

    @cached_property
    def cost(self) -> FactorizationCost:
        """Estimated cost of a factorisation."""
        return factorization_cost(self.system.matrix)

    def solve(self, right: Any, target: Any, *, acceptable: Any = None, max_steps: int | None = None) -> Solution:
        """Return ``x`` with ``|right - M x| <= target`` in each column, by the first method that reaches it, or raise.

        A block of shape (n, b) is solved for in float64, whatever its precision; of a singular system the part in the
        range is taken. ``acceptable`` is the residual that is taken where ``target`` is below what rounding allows.
        ``max_steps`` of conjugate gradients altogether; by default those of the last resort are ten per row.
        """
        xp = namespace(right)
        wide = xp.complex128 if xp.isdtype(right.dtype, "complex floating") else xp.float64
        right = self.system.project(xp.astype(right, wide, copy=False))
        x, residual, iterations = xp.zeros_like(right), right, 0
        for name, method in METHODS.items():
            if not method.applies(self):
                continue
            # Weights beyond 1e154 overflow when they are squared: such a correction is no improvement.
            with np.errstate(over="ignore", invalid="ignore"):
                left = None if max_steps is None else max_steps - iterations
                x, residual, spent = self._improved(method, x, residual, right, target=target, most=left)
            iterations += spent
            goal = target if name == "jacobi-cg" or acceptable is None else acceptable
            size = norm(residual, axis=0)
            if bool(xp.all(size <= goal)):
                bound = size / self.system.floor if self.system.floor > 0 else size + np.inf
                return Solution(self.system.project(x), name, iterations, size, bound)
            if max_steps is not None and iterations >= max_steps:
                break
        raise ConvergenceError(
            f"the linear solve left a residual of {float(xp.max(size)):.3g} after {iterations} steps; raise "
            "tol=, or pip install 'gsp-fb[fast]' for approximate Cholesky and multigrid"
        )

    def solve_to(self, right: Any, tol: float) -> FloatArray:
        """Return ``x`` to a relative residual, a hundred times as much where rounding allows no better; on the host."""
        goal = tol * np.linalg.norm(right, axis=0)
        return np.asarray(self.solve(right, goal, acceptable=100 * goal).x)

    def _improved(self, method: Method, x: Any, residual: Any, right: Any, *, target: Any, most: int | None) -> Any:
        """Return answer and residual after corrections that help towards the target, and the steps they took."""
        xp, spent = namespace(right), 0
        for _ in range(REFINEMENTS):
            left = None if most is None else most - spent
            try:
                correction, steps = method.correct(self, residual, target, left)
            except (ConvergenceError, ValueError, RuntimeError, MemoryError):
                break  # the library refused the matrix: the next method is tried
            spent += steps
            better = x + correction
            remaining = right - self.system.product(better)
            improved = norm(remaining, axis=0) < norm(residual, axis=0)
            x, residual = xp.where(improved, better, x), xp.where(improved, remaining, residual)
            done = bool(xp.all(norm(residual, axis=0) <= target)) or not bool(xp.any(improved))
            if done or steps == left or not method.refines:
                break
        return x, residual, spent


def solve(system: System, right: Any, target: Any, *, acceptable: Any = None, max_steps: int | None = None) -> Solution:
    """Return the checked answer to one system; see :meth:`Solver.solve`."""
    return Solver(system).solve(right, target, acceptable=acceptable, max_steps=max_steps)


@dataclass(frozen=True)
class Method:
    """A rung of the ladder."""

    applies: Callable[[Solver], bool]  # whether the system has what the method needs
    # Solver, residual, target and most steps to a correction and the steps it took.
    correct: Callable[[Solver, Any, Any, int | None], tuple[Any, int]]
    refines: bool = True  # whether a second correction recovers what the first lost to rounding


def _jacobi(solver: Solver, right: Any, target: Any, max_steps: int | None, cap: int | None = None) -> tuple[Any, int]:
    system, diagonal = solver.system, solver.system.diagonal[:, None]
    most = STEPS_PER_ROW * max(int(diagonal.shape[0]), 10) if max_steps is None else max_steps
    most = most if cap is None else min(most, cap)
    return conjugate_gradients(system.product, right, target, most, precondition=lambda r: system.project(r / diagonal))


def _preconditioned(name: str, make: Callable[[System], Callable[[Any], Any]]) -> Callable[..., tuple[Any, int]]:
    def correct(solver: Solver, right: Any, target: Any, _: int | None) -> tuple[Any, int]:
        inverse = _on_real(solver.part(name, lambda: make(solver.system)))
        return conjugate_gradients(solver.system.product, right, target, PRECONDITIONED_STEPS, precondition=inverse)

    return correct


def _on_real(inverse: Callable[[Any], Any]) -> Callable[[Any], Any]:
    """Return the function for complex blocks too, whose real and imaginary parts are separate columns."""

    def apply(block: Any) -> Any:
        if not np.iscomplexobj(block):
            return inverse(block)
        return inverse(block.real) + 1j * inverse(block.imag)

    return apply


def _direct(solver: Solver, right: Any, _: Any, __: int | None) -> tuple[Any, int]:
    system = solver.system

    def make() -> Factorization:
        # A singular matrix becomes definite by a shift that the projector and the refinement undo.
        shift = 1e-13 * float(np.max(system.diagonal)) if system.is_singular else 0.0
        return Factorization(system.matrix, -shift)

    factors = solver.part("direct", make)
    return system.project(_on_real(factors.solve)(right)), 0


def _has_entries(solver: Solver) -> bool:
    return solver.system.make_matrix is not None and device_of(solver.system.diagonal) == "cpu"


def _is_balanced(solver: Solver) -> bool:
    return _has_entries(solver) and solver.system.balance is not None


# In the order in which they are tried.
METHODS: dict[str, Method] = {
    # Stopped by its cap, it is not begun again.
    "jacobi-cg": Method(lambda solver: True, partial(_jacobi, cap=JACOBI_STEPS), refines=False),
    "approximate-cholesky": Method(
        lambda solver: _is_balanced(solver) and has("approx_chol") and solver.cost.flops > DIRECT_FLOPS,
        _preconditioned("approximate-cholesky", approximate_cholesky),
    ),
    "direct": Method(lambda solver: _has_entries(solver) and solver.cost.is_cheap, _direct),
    "multigrid": Method(lambda solver: _has_entries(solver) and has("pyamg"), _preconditioned("multigrid", multigrid)),
    "cg": Method(lambda solver: True, _jacobi),
}
