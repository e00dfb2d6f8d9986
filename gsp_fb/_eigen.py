"""Eigenpairs of a symmetric operator: all of them by LAPACK, or ``k`` at one end with every repeated one.

The null vectors of a Laplacian are known exactly, one per connected component, and are deflated. The rest is found by
block Lanczos on a map that brings the wanted end to the top: the inverse where a sparse factorisation is cheap, else a
Chebyshev polynomial whose degree grows until the pairs converge. Then the eigenvalues below the ``k``-th are *counted*
by a factorisation; where that is too expensive, a second search from a random start outside of what was found has to
end beyond the ``k``-th. Whatever is missing is searched for with the found pairs deflated, and counted again.
"""

from __future__ import annotations

import math
import warnings
from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import partial
from typing import Any

import numpy as np

from ._search import BLOCK, EPS, SINGLE_BLOCK, Found, Problem, inverse_search, polynomial_search
from .backend import FloatArray, asarray_like, column, conj, eigh, group_sum, namespace, to_dense, to_host
from .errors import ConvergenceError, GspWarning
from .operators import Operator
from .solvers import Factorization, FactorizationCost, factorization_cost

Inverse = Callable[[Problem, float], Any]

__all__ = ["DENSE_BYTES", "Pairs", "dense_pairs", "null_space", "partial_pairs"]

DENSE_BYTES = 8_000_000_000
# Searches for what a count shows to be missing; each doubles the block.
ROUNDS = 12
MAX_BLOCK = 64
# A count that is off by more than this share of the norm is worth nothing.
WORST_MARGIN = 1e-6
# Degree of polynomials from which an iterative inverse is cheaper.
MODERATE_DEGREE = 64
# Multiplications that certify=True is ready to spend on a factorisation.
CERTIFIED_FLOPS = 5e12
# Of a sparse factorisation on one core.
FLOPS_PER_SECOND = 1e9


@dataclass(frozen=True)
class Pairs:
    """Eigenvalues, ascending, with orthonormal eigenvectors as columns."""

    values: FloatArray
    vectors: FloatArray
    method: str  # the solver that found them
    proof: str = "residual"  # or 'dense', 'inertia'
    error: float = math.nan  # bound on the error of every value, so far as ``proof`` goes

    def end(self, k: int, smooth: bool) -> Pairs:
        """Return the first ``k`` pairs if ``smooth``, else the last."""
        part = slice(0, k) if smooth else slice(self.values.shape[0] - k, None)
        return replace(self, values=self.values[part], vectors=self.vectors[:, part])


@dataclass(frozen=True)
class NullSpace:
    """The exact null vectors of a symmetric Laplacian: sqrt(d~) on one connected component each."""

    root: FloatArray
    groups: Any
    n_groups: int
    occupied: Any  # which components have a null vector
    storage: Any

    def project_out(self, x: Any) -> Any:
        """Return ``x`` (1-D or a block) without its orthogonal projection onto the null space."""
        root = column(self.root, x)
        if self.n_groups == 1:
            return x - root * self.storage.reduce(conj(self.root) @ x, "sum")
        share = self.storage.reduce(group_sum(self.groups, root * x, self.n_groups), "sum")
        return x - root * namespace(share).take(share, self.groups, axis=0)

    def basis(self, k: int) -> Any:
        """Return the first ``k`` null vectors as columns."""
        chosen = np.flatnonzero(to_host(self.occupied))[:k]
        inside = to_host(self.groups)[:, None] == chosen
        return asarray_like(np.where(inside, to_host(self.root)[:, None], 0.0), self.root)

    @property
    def dimension(self) -> int:
        """Number of null vectors."""
        return int(namespace(self.root).count_nonzero(self.occupied))


def null_space(high: Operator) -> NullSpace:
    """Return the null space of a symmetric high channel, from its components alone."""
    graph, xp = high.graph, namespace(high.right)
    member = ~((graph.degrees == 0) & (high.diag == 1.0) & (high.right == 0.0))
    root = xp.where(member, 1.0 / xp.where(high.right > 0, high.right, 1.0), 0.0)
    groups, n_groups = graph.component_labels, graph.n_components
    norms = xp.sqrt(graph.storage.reduce(group_sum(groups, root * root, n_groups), "sum"))
    unit = root / xp.take(xp.where(norms > 0, norms, 1.0), groups, axis=0)
    return NullSpace(unit, groups, n_groups, norms > 0, graph.storage)


def dense_pairs(symmetrized: Operator) -> Pairs:
    """Return all eigenpairs of a symmetric operator by LAPACK, or its like on a GPU."""
    if symmetrized.graph.n_nodes == 0:
        like = symmetrized.diag
        return Pairs(asarray_like(np.empty(0), like), asarray_like(np.empty((0, 0)), like), "dense", "dense", 0.0)
    # LAPACK's backward error grows with n.
    rounding = max(64, symmetrized.graph.n_nodes) * EPS * max(1.0, *map(abs, symmetrized.bounds))
    return Pairs(*eigh(to_dense(symmetrized.to_sparse())), "dense", "dense", rounding)


def partial_pairs(
    symmetrized: Operator,
    k: int,
    *,
    smooth: bool,
    tol: float,
    certify: bool | None = None,
    max_bytes: int = DENSE_BYTES,
    inverse: Inverse | None = None,
) -> Pairs:
    """Return ``k`` eigenpairs of a symmetric high channel, ascending: the smallest if ``smooth``, else the largest.

    On MPI ranks the vectors are local rows, and ``inverse`` maps a problem and a shift to an object with ``solve``,
    which serves where polynomials of moderate degree do not separate the pairs. Collective there. ConvergenceError if a
    search did not converge, or ``certify`` is True and the count is too expensive or fails.
    """
    # Of signed weights a component has a null vector only if it is balanced: it is searched for.
    null = null_space(symmetrized) if smooth and not symmetrized.graph.is_signed else None
    n_null = 0 if null is None else min(k, null.dimension)
    if null is not None and n_null == k:
        values = asarray_like(np.zeros(k), symmetrized.diag)
        return Pairs(values, null.basis(k), "components", "inertia", 0.0)
    project = None if null is None else null.project_out
    problem = Problem.of(symmetrized, smooth=smooth, n_null=n_null, project_null=project, max_bytes=max_bytes)
    if problem.size == 0.0:
        return _constant(symmetrized, k)
    try:
        factorize = None if inverse is None else partial(inverse, problem)
        found, proof, error = _Ladder(problem, k - n_null, tol, certify, factorize).climb()
    except ConvergenceError as stuck:
        if symmetrized.graph.storage.kind == "mpi":
            raise
        if symmetrized.graph.device != "cpu":
            remedy = "factorisations run on the CPU only: ask an operator of graph.to('cpu')"
            raise ConvergenceError(f"{stuck}; {remedy}", stuck.eigenvalues, stuck.eigenvectors) from None
        if math.isinf(problem.max_products):
            raise
        return dense_pairs(symmetrized).end(k, smooth)
    values, vectors = _assembled(problem, null, n_null, found)
    # That of a product and a norm, which the residual does not show.
    rounding = 64 * EPS * max(1.0, *map(abs, (problem.origin, problem.size)))
    return Pairs(values, vectors, found.method, proof, error * problem.size + rounding)


def _constant(symmetrized: Operator, k: int) -> Pairs:
    """Return pairs of a multiple of the identity, the only symmetric matrix whose bounds coincide."""
    values = asarray_like(np.full(k, symmetrized.bounds[0]), symmetrized.diag)
    rows = np.asarray(symmetrized.graph.local_rows)[:, None] == np.arange(k)
    return Pairs(values, asarray_like(rows.astype(np.float64), values), "diagonal", "dense", 0.0)


def _assembled(problem: Problem, null: NullSpace | None, n_null: int, found: Found) -> tuple[FloatArray, FloatArray]:
    xp = namespace(found.rows)
    values = asarray_like(problem.frequencies(found.values), found.rows)
    vectors = xp.permute_dims(found.rows, (1, 0))
    if null is not None and n_null:
        values = xp.concat((asarray_like(np.zeros(n_null), values), values))
        vectors = xp.concat((null.basis(n_null), vectors), axis=1)
    if not problem.smooth:
        values, vectors = xp.flip(values), xp.flip(vectors, axis=1)
    return values, vectors


@dataclass(frozen=True)
class _Ladder:
    """Searches and counts for the ``k`` smallest eigenvalues of a problem."""

    problem: Problem
    k: int
    tol: float
    certify: bool | None
    factorize: Callable[[float], Any] | None  # an inverse beside that of sparse factorisations, for a shift

    def climb(self) -> tuple[Found, str, float]:
        """Return the pairs, what shows that none is missing, and a bound on the error of their values."""
        cost = self._cost()
        cheap = cost is not None and cost.is_cheap
        counting = cheap if self.certify is None else self.certify
        if counting:
            self._refuse_size(cost)
        found = self._search(self.k, None, cheap, BLOCK if self.k > 1 else SINGLE_BLOCK)
        for round_ in range(ROUNDS):
            try:
                more, error = self._count(found, cheap, round_) if counting else self._search_outside(found, round_)
            except ConvergenceError:
                if self.certify or not counting or math.isfinite(self.problem.max_products):
                    raise
                counting = False
                continue
            if more is None:
                return found, "inertia" if counting else "residual", error
            found = found.merged(more, self.k)
        raise ConvergenceError(
            f"eigenvalues below the {self.k}-th are still missing after {ROUNDS} searches: ask for fewer modes, or for "
            "all of them",
            self.problem.frequencies(found.values),
        )

    def _cost(self) -> FactorizationCost | None:
        """Return what a factorisation costs; None on a device that has none, or where none is wanted."""
        graph = self.problem.operator.graph
        if graph.device != "cpu" or graph.storage.kind == "mpi":
            return None
        return factorization_cost(graph.adjacency)

    def _refuse_size(self, cost: FactorizationCost | None) -> None:
        if cost is None:
            raise ConvergenceError("eigenvalues are counted on the CPU only: ask an operator of graph.to('cpu')")
        if cost.flops > CERTIFIED_FLOPS or cost.bytes > self.problem.max_bytes:
            raise ConvergenceError(
                f"counting the eigenvalues needs a factorisation of {cost}, at most; certify=None returns the pairs "
                f"with proof 'residual', and a larger max_bytes (now {self.problem.max_bytes / 1e9:.1f} GB) may help"
            )
        if not cost.is_cheap:
            warnings.warn(
                f"the factorisation that counts the eigenvalues ({cost}, at most) may take up to "
                f"{cost.flops / FLOPS_PER_SECOND:.0f} s and does not react to Ctrl-C; certify=None does without it",
                GspWarning,
                stacklevel=6,
            )

    def _search(self, k: int, known: Found | None, cheap: bool, block: int) -> Found:
        if cheap:
            try:
                return inverse_search(self.problem, k, self.tol, known, block)
            except ConvergenceError:
                pass  # a factorisation that breaks down: matrix-vector products alone remain
        if self.factorize is None:
            return polynomial_search(self.problem, k, self.tol, known, block)
        try:
            return polynomial_search(self.problem, k, self.tol, known, block, last_degree=MODERATE_DEGREE)
        except ConvergenceError:
            return inverse_search(self.problem, k, self.tol, known, block, factorize=self.factorize)

    def _count(self, found: Found, cheap: bool, round_: int) -> tuple[Found | None, float]:
        """Return None and an error bound if a count shows that no eigenvalue is missing, else pairs that were."""
        n_missing, error = self._n_missing(found)
        if n_missing <= 0:
            return None, error
        return self._search(min(n_missing, self.k), found, cheap, block=min(2 * BLOCK << round_, MAX_BLOCK)), error

    def _n_missing(self, found: Found) -> tuple[int, float]:
        """Return how many eigenvalues below the ``k``-th were not found, by Sylvester's law of inertia.

        The shift lies just below the cluster of the ``k``-th value, so that a cluster which ``k`` cuts needs no count:
        its members are as many orthonormal pairs, and any of them are right. The error is the distance from there.
        """
        values = np.concatenate([np.zeros(self.problem.n_null), found.values])
        margin = max(4.0 * float(found.residuals.max()), min(1e-11, 0.01 * float(values[-1])), 8 * EPS)
        while margin <= WORST_MARGIN:
            clear = np.flatnonzero(np.diff(values) > 2.0 * margin)
            inside = int(clear[-1]) + 1 if len(clear) else 0  # values below the cluster that holds the last one
            shift = float(values[inside]) - margin
            try:
                factors = Factorization(self.problem.matrix, shift)
            except ConvergenceError:
                margin *= 3.0
                continue
            missing, rounding = factors.n_negative - inside, factors.rounding
            # More than were found may be those at the shift, moved below it by rounding.
            if rounding <= (WORST_MARGIN if missing <= 0 else margin):
                return missing, float(values[-1]) - shift + rounding
            # A pivot that nearly vanishes (an eigenvalue of a part of the graph) makes the factors large: step back.
            margin = min(4.0 * rounding, max(30.0 * margin, 2e-8))
        raise ConvergenceError(
            f"no count: the factorisation near the frequency {self.problem.frequencies(found.values)[-1]:.6g} is not "
            "accurate enough; certify=False returns the pairs with proof 'residual'",
            self.problem.frequencies(found.values),
        )

    def _search_outside(self, found: Found, round_: int) -> tuple[Found | None, float]:
        """Return None if a search from a random start outside of the found pairs ends beyond them, else what it found.

        It proves nothing, but a copy that the first search missed has to hide from a second one too. The first value
        alone is right without its copies.
        """
        last, worst = float(found.values[-1]), float(found.residuals.max())
        if self.k == 1:
            return None, worst
        if found.guards is not None:
            # Outside of the guards as well the next values are farther off, and a search is over sooner.
            guarded = replace(found, rows=namespace(found.rows).concat((found.rows, found.guards), axis=0))
            if polynomial_search(self.problem, 1, self.tol, guarded, BLOCK, beyond=last).values[0] > last:
                return None, worst
        # Where one copy was missing there are more: the next search is for several.
        block = min(BLOCK << round_, MAX_BLOCK)
        n_pairs = 1 if round_ == 0 else min(block, self.k)
        if found.method == "shift-invert" and self.factorize is not None:
            more = inverse_search(self.problem, n_pairs, self.tol, found, block, factorize=self.factorize)
        else:
            more = polynomial_search(self.problem, n_pairs, self.tol, found, block, beyond=last)
        ahead = len(more.values) > 0 and more.values[0] < last - max(worst, float(more.residuals[0]), 64 * EPS)
        return (more if ahead else None), worst
