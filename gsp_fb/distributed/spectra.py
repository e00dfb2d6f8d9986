"""Partial spectra and eigengaps over the ranks: null vectors from the components, the rest by SLEPc."""

from __future__ import annotations

import math
from dataclasses import replace
from typing import Any

import numpy as np

from .._arguments import check_choice, check_count
from .._eigen import Pairs
from ..backend import FloatArray
from ..eigengap import Eigengap, eigengap
from ..errors import ConvergenceError, GraphError, ParameterError
from ..operators import Operator
from ..spectrum import DENSE_NODES, ENDS, Spectrum, spectrum
from ..storage import SPECIAL
from ._mpi import garbage_cleanup
from ._slepc import ranks_of, rough_pairs, smooth_pairs

__all__ = ["rank_eigengap", "rank_spectrum"]

EPS = float(np.finfo(np.float64).eps)
# Products of the plain Krylov method; beyond them shift-invert takes over.
MAX_MATVECS = 800


def _is_member(high: Operator) -> Any:
    """Return which own nodes belong to a null vector: all but the isolated ones whose value the low channel loses."""
    return ~((high.graph.degrees == 0) & (high.diag == 1.0) & (high.right == 0.0))


def _n_null(high: Operator) -> int:
    return high.graph.n_components - int(high.graph.storage.reduce(np.count_nonzero(~_is_member(high)), "sum"))


def _null_vectors(high: Operator, k: int) -> FloatArray:
    """Return the own rows of ``k`` null vectors of a symmetric high channel: sqrt(d~) on one component each."""
    storage, member = high.graph.storage, _is_member(high)
    labels = high.graph.component_labels
    # A component has a null vector if any of its nodes is a member; the first k of them in the order of their numbers.
    groups = np.unique(storage.gather(np.unique(labels[member])[:k]))[:k]
    root = np.where(member, 1.0 / np.where(high.right > 0, high.right, 1.0), 0.0)
    vectors = np.where(labels[:, None] == groups[None, :], root[:, None], 0.0)
    norms = np.sqrt(storage.reduce(np.sum(vectors**2, axis=0), "sum"))
    return np.asarray(vectors / norms)


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

    The frequencies are on every rank, of the modes each rank has its local rows. Graphs of at most 512 nodes, and more
    than a third of all modes, are decomposed densely on every rank. Shift-invert with multigrid takes
    over at the smooth end where Krylov-Schur does not converge. Eigenvalues are not counted over ranks: ``proof`` is
    ``'residual'``.
    """
    graph = op.graph
    if graph.directed:
        raise GraphError("a directed graph has no graph Fourier transform here; give symmetrize= to the graph")
    check_choice(which, ENDS, "which")
    if k is not None and check_count(k, "k") > graph.n_nodes:
        raise ParameterError(f"k={k} modes asked of a graph with {graph.n_nodes} nodes")
    if k is None or graph.n_nodes <= DENSE_NODES or 3 * k > graph.n_nodes:
        modes = spectrum(op.in_memory(), k, which, certify=certify, **options)
        return replace(modes, operator=op, symmetrized_basis=graph.local(modes.symmetrized_basis).copy())
    if certify:
        raise ConvergenceError(
            "eigenvalues are not counted over MPI ranks; call .load() on the graph, or give certify=None"
        )
    pairs = _partial(op, k, which, tol)
    garbage_cleanup(ranks_of(op).layout.comm)
    return Spectrum(op, np.clip(pairs.values, *op.bounds), _fix_signs(op, pairs.vectors), pairs.method)


def _partial(op: Operator, k: int, which: str, tol: float) -> Pairs:
    high = op.symmetrized if op.channel == "high" else op.symmetrized.complement()
    pairs = _smooth(high, k, tol) if which == "low" else rough_pairs(high, k, tol, MAX_MATVECS)
    if op.channel == "high":
        return pairs
    return Pairs(1.0 - pairs.values[::-1], pairs.vectors[:, ::-1], pairs.method)


def _smooth(high: Operator, k: int, tol: float) -> Pairs:
    null = _null_vectors(high, min(k, _n_null(high)))
    n_null = null.shape[1]
    known = Pairs(np.zeros(n_null), null, "components")
    if n_null == k:
        return known
    rest = smooth_pairs(high, k - n_null, null, tol, MAX_MATVECS)
    return Pairs(np.append(known.values, rest.values), np.hstack([null, rest.vectors]), rest.method)


def _fix_signs(op: Operator, vectors: FloatArray) -> FloatArray:
    """Return the vectors with the first of their largest entries positive, whichever rank has it."""
    storage, local = op.graph.storage, op.graph.local_rows
    sizes = np.abs(vectors)
    large = sizes >= storage.reduce(np.max(sizes, axis=0, initial=0.0), "max") * (1 - 1e-6)
    rows = np.arange(local.start, local.stop)[:, None]
    leads = storage.reduce(np.min(np.where(large, rows, np.inf), axis=0, initial=np.inf), "min")
    negative = storage.reduce(np.sum((rows == leads) & (vectors < 0), axis=0), "sum")
    return np.asarray(vectors * (1.0 - 2.0 * negative))


def rank_eigengap(op: Operator, *, tol: float = 1e-10, certify: bool | None = None) -> Eigengap:
    """Return the eigengap of an operator on MPI ranks, as :func:`gsp_fb.eigengap`. Collective.

    Beyond 512 nodes eigenvalues are not counted, so that ``proof`` is ``'residual'``: an eigenvalue lies within
    ``error`` of the ratio.
    """
    graph = op.graph
    if graph.n_nodes <= DENSE_NODES:
        return eigengap(op.in_memory(), tol=tol, certify=certify)
    high = op if op.channel == "high" else op.complement()
    if not graph.directed:
        n_null = _n_null(high.symmetrized)
        if n_null == 0:
            raise ParameterError("the low channel is zero: every node is isolated and isolated='zero' was chosen")
        if n_null > 1:
            return Eigengap(1.0, 1.0, 1.0, 0.0, "components", "components")
    try:
        modes = rank_spectrum(high, 2, tol=tol, certify=certify)
    except ConvergenceError as stuck:
        raise ConvergenceError(f"lambda_2 not resolved: {stuck}", stuck.eigenvalues, stuck.eigenvectors) from None
    second = modes.symmetrized_basis[:, 1]
    frequency = float(modes.frequencies[1])
    defect = high.symmetrized.apply(second) - frequency * second
    rounding = 64 * EPS * max(1.0, high.bounds[1])
    residual = math.sqrt(graph.storage.reduce(np.vdot(defect, defect), "sum")) + rounding
    return Eigengap(1.0, 1.0 - frequency, 1.0 - frequency, residual, modes.method, "residual")


SPECIAL["mpi", "spectrum"] = rank_spectrum
SPECIAL["mpi", "eigengap"] = rank_eigengap
