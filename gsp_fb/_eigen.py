"""Eigenpairs of a symmetric operator: all of them by LAPACK, or a few at one end by the cheapest solver that converges.

The smooth end is found in two steps. The null vectors of a Laplacian are known exactly, one per connected
component, so they are deflated, not computed. What remains goes up a ladder: Lanczos with a cap on the
products; then, for the graphs with tiny gaps, a sparse factorisation of a small one, LOBPCG preconditioned by algebraic
multigrid (the ``fast`` extra) of a large one, or without that a factorisation where fill stays low (grids, meshes).
A graph on a GPU has the first rung only, as the libraries there have no more; the error then says so.
"""

from __future__ import annotations

import warnings
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
from scipy import sparse
from scipy.sparse.linalg import LinearOperator, lobpcg, splu

from ._extras import has, require
from .backend import (
    FloatArray,
    abs_squared,
    asarray_like,
    cast,
    column,
    eigh,
    eigsh,
    group_sum,
    linear_operator,
    namespace,
    to_dense,
)
from .errors import ConvergenceError
from .operators import Operator

__all__ = ["Pairs", "dense_pairs", "null_space", "partial_pairs"]

LANCZOS_VECTORS = 40
MAX_PRODUCTS = 800
# Below this size a factorisation is cheap whatever its fill; above it, as a last resort, for nearly planar graphs.
FACTOR_NODES = 20_000
FACTOR_MEAN_DEGREE = 8


@dataclass(frozen=True)
class Pairs:
    """Eigenvalues, ascending, orthonormal eigenvectors as columns, and the solver that found them."""

    values: FloatArray
    vectors: FloatArray
    method: str


@dataclass(frozen=True)
class NullSpace:
    """The exact null vectors of a symmetric Laplacian: sqrt(d~) on one connected component each."""

    root: FloatArray
    groups: Any
    n_groups: int
    member: Any

    def project_out(self, x: FloatArray) -> FloatArray:
        """Return ``x`` minus its component in the null space."""
        return x - self.part(x)

    def part(self, x: FloatArray) -> FloatArray:
        """Return the orthogonal projection of ``x`` (1-D or a block) onto the null space."""
        root = column(self.root, x)
        share = group_sum(self.groups, root * x, self.n_groups)
        projection: FloatArray = root * namespace(share).take(share, self.groups, axis=0)
        return projection

    def basis(self, k: int) -> FloatArray:
        """Return the first ``k`` null vectors as columns."""
        xp = namespace(self.root)
        columns = xp.nonzero(self._occupied)[0][:k]
        vectors: FloatArray = xp.where(self.groups[:, None] == columns[None, :], self.root[:, None], 0.0)
        return vectors

    @property
    def dimension(self) -> int:
        """Number of null vectors."""
        return int(namespace(self.root).count_nonzero(self._occupied))

    @property
    def _occupied(self) -> Any:
        """Which components have a null vector: those with a member."""
        return group_sum(self.groups, cast(self.member, namespace(self.root).float64), self.n_groups) > 0


def null_space(symmetrized: Operator) -> NullSpace:
    """Return the null space of the high channel of a symmetric operator, from its components alone."""
    high = symmetrized if symmetrized.channel == "high" else symmetrized.complement()
    member = ~((symmetrized.graph.degrees == 0) & (high.diag == 1.0) & (high.right == 0.0))
    xp = namespace(high.right)
    inverse = 1.0 / xp.where(high.right > 0, high.right, 1.0)
    root = xp.where(member, inverse, 0.0)
    groups, n_groups = symmetrized.graph.component_labels, symmetrized.graph.n_components
    norms = xp.sqrt(group_sum(groups, root * root, n_groups))
    return NullSpace(root / xp.take(xp.where(norms > 0, norms, 1.0), groups, axis=0), groups, n_groups, member)


def dense_pairs(symmetrized: Operator) -> Pairs:
    """Return all eigenpairs of a symmetric operator by LAPACK, or its like on a GPU."""
    if symmetrized.graph.n_nodes == 0:
        return Pairs(
            asarray_like(np.empty(0), symmetrized.diag), asarray_like(np.empty((0, 0)), symmetrized.diag), "dense"
        )
    return Pairs(*eigh(to_dense(symmetrized.to_sparse())), "dense")


def partial_pairs(symmetrized: Operator, k: int, *, smooth: bool, tol: float, max_matvecs: int) -> Pairs:
    """Return ``k`` eigenpairs of a symmetric high channel: the smallest if ``smooth``, else the largest."""
    if not smooth:
        return Pairs(*_eigsh(symmetrized.linear_operator(), k, tol, max_matvecs, like=symmetrized.diag), "lanczos")
    null = null_space(symmetrized)
    n_null = min(k, null.dimension)
    known = Pairs(asarray_like(np.zeros(n_null), symmetrized.diag), null.basis(n_null), "components")
    if n_null == k:
        return known
    rest = _climb(symmetrized, null, k - n_null, tol, max_matvecs)
    xp = namespace(symmetrized.diag)
    values, vectors = (known.values, rest.values), (known.vectors, rest.vectors)
    return Pairs(xp.concat(values), xp.concat(vectors, axis=1), rest.method)


def _climb(symmetrized: Operator, null: NullSpace, k: int, tol: float, max_matvecs: int) -> Pairs:
    """Return the ``k`` smallest non-null pairs by the first solver of the ladder that converges."""
    try:
        return _deflated_lanczos(symmetrized, null, k, tol, max_matvecs)
    except ConvergenceError as stuck:
        if symmetrized.graph.device != "cpu":
            remedy = "shift-invert and multigrid run on the CPU only: ask an operator of graph.to('cpu')"
            raise ConvergenceError(f"{stuck}; {remedy}", stuck.eigenvalues, stuck.eigenvectors) from None
        if symmetrized.graph.n_nodes <= FACTOR_NODES:
            return _shift_invert(symmetrized, null, k, tol)
        if has("pyamg"):
            return _multigrid(symmetrized, null, k, tol)
        if symmetrized.graph.indices.shape[0] <= FACTOR_MEAN_DEGREE * symmetrized.graph.n_nodes:
            return _shift_invert(symmetrized, null, k, tol)
        raise ConvergenceError(
            f"{stuck}; this graph has tiny gaps and no cheap factorisation: pip install 'gsp-fb[fast]' adds a "
            "multigrid solver, or use polynomial filters, which need no eigenvectors",
            stuck.eigenvalues,
            stuck.eigenvectors,
        ) from None


def _eigsh(operator: Any, k: int, tol: float, max_matvecs: int, *, like: Any = None) -> tuple[FloatArray, FloatArray]:
    """Return the ``k`` largest eigenvalues, ascending, and their vectors, beside ``like`` (by default on the host)."""
    n_nodes = operator.shape[0]
    # A fixed start makes two calls agree to the last bit.
    start = asarray_like(np.random.default_rng(0).standard_normal(n_nodes), like)
    n_vectors = min(n_nodes, max(LANCZOS_VECTORS, 2 * k + 1))
    return eigsh(operator, start, k, n_vectors=n_vectors, max_matvecs=max_matvecs, tol=tol)


def _deflated_lanczos(symmetrized: Operator, null: NullSpace, k: int, tol: float, max_matvecs: int) -> Pairs:
    """Lanczos for the largest of ``I - core`` with the null space moved to the other end of the spectrum."""
    low = symmetrized.complement()
    shift = 1.0 - low.bounds[0]

    def deflated(x: FloatArray) -> FloatArray:
        image: FloatArray = low.apply(x) - shift * null.part(x)
        return image

    operator = linear_operator(symmetrized.diag, symmetrized.shape, matvec=deflated)
    values, vectors = _eigsh(operator, k, tol, max_matvecs, like=symmetrized.diag)
    return Pairs(1.0 - values[::-1], vectors[:, ::-1], "lanczos")


def _shift_invert(symmetrized: Operator, null: NullSpace, k: int, tol: float) -> Pairs:
    """Lanczos on ``(core + shift)^-1``, the null space projected out before and after each solve."""
    shift = 1e-8 * symmetrized.bounds[1]
    matrix = symmetrized.to_scipy() + shift * sparse.eye_array(symmetrized.graph.n_nodes)
    factor = splu(matrix.tocsc(), permc_spec="MMD_AT_PLUS_A", diag_pivot_thresh=0.0, options={"SymmetricMode": True})

    def solve(x: FloatArray) -> FloatArray:
        return null.project_out(factor.solve(null.project_out(x.ravel())))

    values, vectors = _eigsh(LinearOperator(symmetrized.shape, matvec=solve, dtype=np.float64), k, tol, MAX_PRODUCTS)
    return Pairs(1.0 / values[::-1] - shift, vectors[:, ::-1], "shift-invert")


def _multigrid(symmetrized: Operator, null: NullSpace, k: int, tol: float) -> Pairs:
    """LOBPCG preconditioned by smoothed aggregation, the null space moved to the top of the spectrum."""
    pyamg = require("pyamg", "an eigenproblem with a tiny gap")
    top = symmetrized.bounds[1]
    shifted = symmetrized.to_scipy() + 1e-10 * top * sparse.eye_array(symmetrized.graph.n_nodes)
    # pyamg has no sparse arrays yet; the matrix class holds the same three vectors.
    cycle = pyamg.smoothed_aggregation_solver(sparse.csr_matrix(shifted)).aspreconditioner()

    def lifted(x: FloatArray) -> FloatArray:
        return np.asarray(symmetrized.apply(x) + top * null.part(x))

    def precondition(x: FloatArray) -> FloatArray:
        # The cycle inverts a nearly singular matrix: without the projections the null space would swamp the rest.
        return null.project_out(cycle.matvec(null.project_out(x.ravel())))

    operator = LinearOperator(symmetrized.shape, matvec=lifted, matmat=lifted, dtype=np.float64)
    preconditioner = LinearOperator(symmetrized.shape, matvec=precondition, dtype=np.float64)
    start = np.random.default_rng(0).standard_normal((symmetrized.graph.n_nodes, k + 2))
    goal = max(tol, 1e-12) * top
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # its warnings repeat what the residual check below decides
        values, vectors = lobpcg(
            operator, null.project_out(start), M=preconditioner, largest=False, tol=goal, maxiter=200
        )
    order = np.argsort(values)[:k]
    pairs = Pairs(values[order], np.real(vectors[:, order]), "multigrid")
    worst = residuals(symmetrized.apply, pairs).max()
    if worst > 1e-6 * top:
        raise ConvergenceError(f"multigrid LOBPCG stopped at a residual of {worst:.1e}", pairs.values, pairs.vectors)
    return pairs


def residuals(apply: Callable[[Any], Any], pairs: Pairs) -> FloatArray:
    """Return ``|H u - lambda u|`` for each pair: some eigenvalue lies that close to each value."""
    xp = namespace(pairs.vectors)
    defect = apply(pairs.vectors) - pairs.vectors * pairs.values
    norms: FloatArray = xp.sqrt(xp.sum(abs_squared(defect), axis=0))
    return norms
