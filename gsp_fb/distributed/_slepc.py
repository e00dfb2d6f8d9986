"""Eigenpairs at one end of a symmetric operator by SLEPc's Krylov-Schur method, matrix-free or with shift-invert."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np

from .._eigen import Pairs
from ..backend import FloatArray
from ..errors import ConvergenceError
from ..operators import Operator
from ._mpi import allreduce_sum, petsc, slepc
from .graph import DistributedGraph, distributed_graph

__all__ = ["rough_pairs", "smooth_pairs"]

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
    """What PETSc asks of a matrix that is only known by its products."""

    product: Callable[[FloatArray], FloatArray]

    def mult(self, _: Any, source: Any, target: Any) -> None:
        target.setArray(self.product(source.getArray(readonly=True)))


def _sizes(graph: DistributedGraph) -> tuple[tuple[int, int], tuple[int, int]]:
    size = (graph.n_local, graph.n_nodes)
    return size, size


def _shell(op: Operator) -> Any:
    graph = distributed_graph(op)
    matrix = petsc().Mat().createPython(_sizes(graph), _Shell(op.apply), comm=graph.comm)
    matrix.setUp()
    return matrix


def _vector(graph: DistributedGraph, rows: FloatArray) -> Any:
    vector = petsc().Vec().createMPI((graph.n_local, graph.n_nodes), comm=graph.comm)
    vector.setArray(rows)
    return vector


def _start(graph: DistributedGraph) -> Any:
    """Return a random vector that does not depend on how the rows are shared out."""
    stream = np.random.PCG64(0)
    stream.advance(graph.first)
    return _vector(graph, np.random.Generator(stream).random(graph.n_local) - 0.5)


def _solver(graph: DistributedGraph, matrix: Any, k: int, n_vectors: int, null: FloatArray) -> Any:
    eps = slepc().EPS().create(comm=graph.comm)
    eps.setOperators(matrix)
    eps.setProblemType(slepc().EPS.ProblemType.HEP)
    eps.setType(slepc().EPS.Type.KRYLOVSCHUR)
    eps.setDimensions(k, max(n_vectors, 2 * k + 1))
    eps.setInitialSpace([_start(graph)])
    if null.shape[1]:
        eps.setDeflationSpace([_vector(graph, column) for column in null.T])
    return eps


def _pairs(symmetrized: Operator, eps: Any, k: int, method: str) -> Pairs:
    """Return what was found as orthonormal vectors with their Rayleigh quotients, ascending, or say that it is less."""
    graph = distributed_graph(symmetrized)
    eps.solve()
    found = min(k, eps.getConverged())
    vectors = np.empty((graph.n_local, found))
    target = _vector(graph, np.zeros(graph.n_local))
    for column in range(found):
        eps.getEigenpair(column, target)
        vectors[:, column] = target.getArray(readonly=True)
    values = allreduce_sum(graph.comm, np.sum(vectors * symmetrized.apply(vectors), axis=0))
    order = np.argsort(values)
    if found < k:
        raise ConvergenceError(
            f"SLEPc resolved {found} of {k} eigenpairs in {eps.getIterationNumber()} restarts ({method})",
            values[order],
            vectors[:, order],
        )
    return Pairs(values[order], vectors[:, order], method)


def _krylov_schur(symmetrized: Operator, k: int, null: FloatArray, tol: float, max_matvecs: int, *, top: bool) -> Pairs:
    """Return the greatest (``top``) or least eigenpairs by products alone."""
    graph = distributed_graph(symmetrized)
    eps = _solver(graph, _shell(symmetrized), k, KRYLOV_VECTORS, null)
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
    graph = distributed_graph(symmetrized)
    matrix = graph.adjacency.matrix.duplicate(copy=True)
    matrix.diagonalScale(_vector(graph, symmetrized.left), _vector(graph, symmetrized.right))
    index = petsc().IntType
    own = np.arange(graph.n_local + 1, dtype=index), np.arange(graph.first, graph.last, dtype=index)
    diagonal = petsc().Mat().createAIJ(_sizes(graph), csr=(*own, symmetrized.diag + shift), comm=graph.comm)
    matrix.axpy(1.0, diagonal, structure=petsc().Mat.Structure.DIFFERENT_NONZERO_PATTERN)
    matrix.setOption(petsc().Mat.Option.SPD, True)
    return matrix


def _shift_invert(symmetrized: Operator, k: int, null: FloatArray, tol: float, max_restarts: int = 100) -> Pairs:
    """Return the least eigenpairs by the inverse: conjugate gradients with algebraic multigrid (GAMG)."""
    graph = distributed_graph(symmetrized)
    shift = SHIFT * symmetrized.bounds[1]
    matrix = _assembled(symmetrized, shift)
    if null.shape[1]:
        vectors = [_vector(graph, column) for column in null.T]
        matrix.setNearNullSpace(petsc().NullSpace().create(vectors=vectors, comm=graph.comm))
    eps = _solver(graph, matrix, k, INVERT_VECTORS, null)
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
    nothing = np.empty((distributed_graph(high).n_local, 0))
    return _krylov_schur(high, k, nothing, tol, max_matvecs, top=True)


def smooth_pairs(high: Operator, k: int, null: FloatArray, tol: float, max_matvecs: int) -> Pairs:
    """Return the ``k`` least eigenpairs of a symmetric high channel beside its null vectors. Collective.

    Products alone are tried first; where the gaps are too small for them, the inverse finds the rest.
    """
    try:
        return _krylov_schur(high, k, null, tol, max_matvecs, top=False)
    except ConvergenceError:
        return _shift_invert(high, k, null, tol)
