"""Linear systems and eigenproblems of symmetric operators, below the graph: matrices and matvecs in, arrays out.

:func:`solve` is the one way to a symmetric positive (semi-)definite system: Jacobi-CG under a step cap, then
approximate Cholesky, a sparse factorisation or algebraic multigrid, each answer checked by its residual.
:func:`ritz_cycles` is the one Krylov method for eigenpairs, and :class:`Factorization` solves and counts eigenvalues.
"""

from .block_lanczos import Ritz, Space, ritz_cycles
from .factor import Factorization, FactorizationCost, factorization_cost
from .planner import METHODS, Solution, Solver, solve
from .system import System, conjugate_gradients

__all__ = ["METHODS", "Factorization", "FactorizationCost", "Ritz", "Solution", "Solver", "Space", "System"]
__all__ += ["conjugate_gradients", "factorization_cost", "ritz_cycles", "solve"]
