"""Eigenpairs at one end of a symmetric operator by SLEPc's Krylov-Schur method, matrix-free or with shift-invert."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np

from .._eigen import Pairs
from ..backend import FloatArray
from ..errors import ConvergenceError, GraphError
from ..operators import Operator
from ..storage import MpiStorage
from ._mpi import petsc, slepc

__all__ = ["ranks_of", "rough_pairs", "smooth_pairs"]

KRYLOV_VECTORS = 40
INVERT_VECTORS = 12
# Of the operator's norm. Keeps the matrix to be solved with positive definite, and its null vectors from swamping the
# rest: these are left out of the search, but rounding brings them back and the inverse enlarges them.
SHIFT = 1e-8
# The solves are to be closer than what they are for.
CG_RTOL = 1e-12
CG_STEPS = 1000


@dataclass(frozen=True, eq=False)
class _Shell:
    """What PETSc asks of a matrix that is only known by its matrix-vector products."""

    product: Callable[[FloatArray], FloatArray]

    def mult(self, _: Any, source: Any, target: Any) -> None:
        target.setArray(self.product(source.getArray(readonly=True)))


def ranks_of(op: Operator) -> MpiStorage:
    """Return the storage of an operator's graph, which is on MPI ranks."""
    storage = op.graph.storage
    if not isinstance(storage, MpiStorage):
        raise GraphError(f"{op!r} is not on MPI ranks; open its graph with gsp_fb.open_graph under mpirun")
    return storage


def _sizes(storage: MpiStorage) -> tuple[tuple[int, int], tuple[int, int]]:
    size = (len(storage.local_rows), storage.n_nodes)
    return size, size


def _shell(op: Operator) -> Any:
    storage = ranks_of(op)
    matrix = petsc().Mat().createPython(_sizes(storage), _Shell(op.apply), comm=storage.layout.comm)
    matrix.setUp()
    return matrix


def _vector(storage: MpiStorage, rows: FloatArray) -> Any:
    vector = petsc().Vec().createMPI(_sizes(storage)[0], comm=storage.layout.comm)
    vector.setArray(rows)
    return vector


def _start(storage: MpiStorage) -> Any:
    """Return a random vector that does not depend on how the rows are distributed over ranks."""
    stream = np.random.PCG64(0)
    stream.advance(storage.local_rows.start)
    return _vector(storage, np.random.Generator(stream).random(len(storage.local_rows)) - 0.5)


def _solver(storage: MpiStorage, matrix: Any, k: int, n_vectors: int, null: FloatArray) -> Any:
    eps = slepc().EPS().create(comm=storage.layout.comm)
    eps.setOperators(matrix)
    eps.setProblemType(slepc().EPS.ProblemType.HEP)
    eps.setType(slepc().EPS.Type.KRYLOVSCHUR)
    eps.setDimensions(k, max(n_vectors, 2 * k + 1))
    eps.setInitialSpace([_start(storage)])
    if null.shape[1]:
        eps.setDeflationSpace([_vector(storage, column) for column in null.T])
    return eps


def _pairs(symmetrized: Operator, eps: Any, k: int, method: str) -> Pairs:
    """Return what was found as orthonormal vectors with their Rayleigh quotients, ascending, or say that it is less."""
    storage = ranks_of(symmetrized)
    eps.solve()
    found = min(k, eps.getConverged())
    n_local = len(storage.local_rows)
    vectors = np.empty((n_local, found))
    target = _vector(storage, np.zeros(n_local))
    for column in range(found):
        eps.getEigenpair(column, target)
        vectors[:, column] = target.getArray(readonly=True)
    values = storage.reduce(np.sum(vectors * symmetrized.apply(vectors), axis=0), "sum")
    order = np.argsort(values)
    if found < k:
        raise ConvergenceError(
            f"SLEPc resolved {found} of {k} eigenpairs in {eps.getIterationNumber()} restarts ({method})",
            values[order],
            vectors[:, order],
        )
    return Pairs(values[order], vectors[:, order], method)


def _krylov_schur(symmetrized: Operator, k: int, null: FloatArray, tol: float, max_matvecs: int, *, top: bool) -> Pairs:
    """Return the greatest (``top``) or least eigenpairs by matrix-vector products alone."""
    storage = ranks_of(symmetrized)
    eps = _solver(storage, _shell(symmetrized), k, KRYLOV_VECTORS, null)
    which = slepc().EPS.Which
    eps.setWhichEigenpairs(which.LARGEST_REAL if top else which.SMALLEST_REAL)
    eps.setConvergenceTest(slepc().EPS.Conv.ABS)
    n_vectors = eps.getDimensions()[1]
    # A restart keeps about half of the vectors.
    restarts = max(1, 2 * (max_matvecs - n_vectors) // n_vectors)
    eps.setTolerances(tol * max(1.0, *map(abs, symmetrized.bounds)), restarts)
    return _pairs(symmetrized, eps, k, "krylov-schur")


def _assembled(symmetrized: Operator, shift: float) -> Any:
    """Return ``core + shift I`` as a matrix of its own, which multigrid needs."""
    storage = ranks_of(symmetrized)
    matrix = storage.adjacency.matrix.duplicate(copy=True)
    matrix.diagonalScale(_vector(storage, symmetrized.left), _vector(storage, symmetrized.right))
    index = petsc().IntType
    rows = storage.local_rows
    own = np.arange(len(rows) + 1, dtype=index), np.arange(rows.start, rows.stop, dtype=index)
    diagonal = petsc().Mat().createAIJ(_sizes(storage), csr=(*own, symmetrized.diag + shift), comm=storage.layout.comm)
    matrix.axpy(1.0, diagonal, structure=petsc().Mat.Structure.DIFFERENT_NONZERO_PATTERN)
    matrix.setOption(petsc().Mat.Option.SPD, True)
    return matrix


def _shift_invert(symmetrized: Operator, k: int, null: FloatArray, tol: float, max_restarts: int = 100) -> Pairs:
    """Return the least eigenpairs by the inverse: conjugate gradients with algebraic multigrid (GAMG)."""
    storage = ranks_of(symmetrized)
    shift = SHIFT * symmetrized.bounds[1]
    matrix = _assembled(symmetrized, shift)
    if null.shape[1]:
        vectors = [_vector(storage, column) for column in null.T]
        matrix.setNearNullSpace(petsc().NullSpace().create(vectors=vectors, comm=storage.layout.comm))
    eps = _solver(storage, matrix, k, INVERT_VECTORS, null)
    eps.setTarget(0.0)
    eps.setWhichEigenpairs(slepc().EPS.Which.TARGET_MAGNITUDE)
    eps.setTolerances(tol, max_restarts)
    transform = eps.getST()
    transform.setType(slepc().ST.Type.SINVERT)
    solver = transform.getKSP()
    solver.setType(petsc().KSP.Type.CG)
    solver.getPC().setType(petsc().PC.Type.GAMG)
    solver.setTolerances(rtol=CG_RTOL, max_it=CG_STEPS)
    return _pairs(symmetrized, eps, k, "shift-invert")


def rough_pairs(high: Operator, k: int, tol: float, max_matvecs: int) -> Pairs:
    """Return the ``k`` greatest eigenpairs of a symmetric high channel. Collective."""
    nothing = np.empty((len(high.graph.local_rows), 0))
    return _krylov_schur(high, k, nothing, tol, max_matvecs, top=True)


def smooth_pairs(high: Operator, k: int, null: FloatArray, tol: float, max_matvecs: int) -> Pairs:
    """Return the ``k`` least eigenpairs of a symmetric high channel beside its null vectors. Collective.

    Products alone are tried first; where the gaps are too small for them, the inverse finds the rest.
    """
    try:
        return _krylov_schur(high, k, null, tol, max_matvecs, top=False)
    except ConvergenceError:
        return _shift_invert(high, k, null, tol)
