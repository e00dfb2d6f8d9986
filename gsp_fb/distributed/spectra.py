"""Partial spectra and eigengaps over the ranks, by the searches of one process on the local rows of each."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from .._search import Problem
from ..backend import FloatArray
from ..eigengap import Eigengap, eigengap, gap_by
from ..errors import ConvergenceError, GraphError
from ..operators import Operator
from ..spectrum import Spectrum, check_modes, iterative_pairs, spectrum
from ..storage import SPECIAL
from ._mpi import garbage_cleanup, petsc
from .storage import MpiStorage

__all__ = ["rank_eigengap", "rank_spectrum"]

# Graphs up to this size are loaded by every rank, which then computes what one process computes.
REPLICATED_NODES = 6_000
# The solves are to be closer than what they are for.
CG_RTOL, CG_STEPS = 1e-12, 1000
# Of the norm. Keeps the matrix definite; the null vectors are projected out before and after a solve.
SHIFT = 1e-8


def rank_spectrum(
    op: Operator,
    k: int | None = None,
    which: str = "low",
    *,
    tol: float = 1e-10,
    certify: bool | None = None,
    **options: Any,
) -> Spectrum:
    """Return ``k`` modes of an operator on MPI ranks, as :func:`gsp_fb.spectrum`. Collective.

    The frequencies are on every rank, of the modes each rank has its local rows. Graphs of at most 6000 nodes, and
    more than a third of all modes, are decomposed in the memory of every rank. Otherwise the searches are those of one
    process, on local rows; the inverse by multigrid takes over at the smooth end where polynomials of moderate degree
    do not converge. Eigenvalues are not counted over ranks: ``proof`` is ``'residual'``.
    """
    graph = op.graph
    check_modes(op, k, which)
    if k is None or graph.n_nodes <= REPLICATED_NODES or 3 * k > graph.n_nodes:
        modes = spectrum(op.in_memory(), k, which, tol=tol, certify=certify, **options)
        return replace(modes, operator=op, symmetrized_basis=op.graph.local(modes.symmetrized_basis).copy())
    if certify:
        raise ConvergenceError(
            "eigenvalues are not counted over MPI ranks; call .load() on the graph, or give certify=None"
        )
    # Multigrid is for the smooth end of M-matrices, of weights >= 0; other searches have polynomials alone.
    inverse = MultigridInverse.of if which == "low" and not graph.is_signed else None
    pairs = iterative_pairs(op, k, which, tol=tol, inverse=inverse, **options)
    garbage_cleanup(ranks_of(op).layout.comm)
    values = np.clip(pairs.values, *op.bounds)
    return Spectrum(op, values, _fix_signs(op, pairs.vectors), pairs.method, pairs.proof, pairs.error)


def _fix_signs(op: Operator, vectors: FloatArray) -> FloatArray:
    """Return the vectors with the first of their largest entries real and positive, whichever rank has it."""
    storage, local = op.graph.storage, op.graph.local_rows
    sizes = np.abs(vectors)
    large = sizes >= storage.reduce(np.max(sizes, axis=0, initial=0.0), "max") * (1 - 1e-6)
    rows = np.arange(local.start, local.stop)[:, None]
    leads = storage.reduce(np.min(np.where(large, rows, np.inf), axis=0, initial=np.inf), "min")
    lead = storage.reduce(np.sum(np.where(rows == leads, vectors, 0.0), axis=0), "sum")
    return np.asarray(vectors * (np.conj(lead) / np.abs(lead)))


def ranks_of(op: Operator) -> MpiStorage:
    """Return the storage of an operator's graph, which is on MPI ranks."""
    storage = op.graph.storage
    if not isinstance(storage, MpiStorage):
        raise GraphError(f"{op!r} is not on MPI ranks; open its graph with gsp_fb.open_graph under mpirun")
    return storage


@dataclass(frozen=True, eq=False)
class MultigridInverse:
    """Solves with ``operator + SHIFT`` for blocks of local rows: conjugate gradients, PETSc's multigrid (GAMG)."""

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


def rank_eigengap(op: Operator, *, tol: float = 1e-10, certify: bool | None = None) -> Eigengap:
    """Return the eigengap of an operator on MPI ranks, as :func:`gsp_fb.eigengap`. Collective.

    Beyond 6000 nodes eigenvalues are not counted, so that ``proof`` is ``'residual'``.
    """
    if op.graph.n_nodes <= REPLICATED_NODES:
        return eigengap(op.in_memory(), tol=tol, certify=certify)
    return gap_by(op, lambda high: rank_spectrum(high, 2, tol=tol, certify=certify))


SPECIAL["mpi", "spectrum"] = rank_spectrum
SPECIAL["mpi", "eigengap"] = rank_eigengap
