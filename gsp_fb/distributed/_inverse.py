"""The inverse of a shifted operator over the ranks: conjugate gradients with PETSc's algebraic multigrid (GAMG)."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from .._search import Problem
from ..backend import FloatArray
from ..errors import ConvergenceError, GraphError
from ..operators import Operator
from ..storage import MpiStorage
from ._mpi import petsc

__all__ = ["MultigridInverse", "ranks_of"]

# The solves are to be closer than what they are for.
CG_RTOL, CG_STEPS = 1e-12, 1000
# Of the norm. Keeps the matrix definite; the null vectors are projected out before and after a solve.
SHIFT = 1e-8


def ranks_of(op: Operator) -> MpiStorage:
    """Return the storage of an operator's graph, which is on MPI ranks."""
    storage = op.graph.storage
    if not isinstance(storage, MpiStorage):
        raise GraphError(f"{op!r} is not on MPI ranks; open its graph with gsp_fb.open_graph under mpirun")
    return storage


@dataclass(frozen=True, eq=False)
class MultigridInverse:
    """Solves with ``operator + SHIFT`` for blocks of local rows."""

    solver: Any
    vectors: tuple[Any, Any]

    @classmethod
    def of(cls, problem: Problem, shift: float) -> MultigridInverse:
        """Return the inverse of a problem at its smooth end. Collective."""
        if not problem.smooth:
            raise ConvergenceError("high frequencies were not resolved by matrix-vector products over MPI ranks")
        matrix = _assembled(problem.operator, SHIFT - shift)
        solver = petsc().KSP().create(comm=matrix.getComm())
        solver.setOperators(matrix)
        solver.setType(petsc().KSP.Type.CG)
        solver.getPC().setType(petsc().PC.Type.GAMG)
        solver.setTolerances(rtol=CG_RTOL, max_it=CG_STEPS)
        return cls(solver, matrix.createVecs())

    def solve(self, block: FloatArray) -> FloatArray:
        """Return the solution for each column; the search checks the residuals of what it finds. Collective."""
        right, left = self.vectors
        image = np.empty_like(block)
        for column in range(block.shape[1]):
            right.setArray(np.ascontiguousarray(block[:, column]))
            self.solver.solve(right, left)
            image[:, column] = left.getArray(readonly=True)
        return image


def _assembled(op: Operator, shift: float) -> Any:
    """Return ``op + shift I`` as a matrix of its own, which multigrid needs."""
    storage = ranks_of(op)
    size = ((len(storage.local_rows), storage.n_nodes),) * 2
    matrix = storage.adjacency.matrix.duplicate(copy=True)
    scales = matrix.createVecs()
    for vector, factors in zip(scales, (op.left, op.right), strict=True):
        vector.setArray(factors)
    matrix.diagonalScale(*scales)
    index, rows = petsc().IntType, storage.local_rows
    own = np.arange(len(rows) + 1, dtype=index), np.arange(rows.start, rows.stop, dtype=index)
    diagonal = petsc().Mat().createAIJ(size, csr=(*own, op.diag + shift), comm=storage.layout.comm)
    matrix.axpy(1.0, diagonal, structure=petsc().Mat.Structure.DIFFERENT_NONZERO_PATTERN)
    matrix.setOption(petsc().Mat.Option.SPD, True)
    return matrix
