"""Searches for the eigenpairs at one end of a symmetric operator, by block Lanczos on its inverse or on polynomials."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import cached_property, partial
from typing import Any

import numpy as np

from ._kernels import chebyshev_bank
from .backend import FloatArray, abs_squared, as_complex, asarray_like, conj, namespace, to_host
from .errors import ConvergenceError, ParameterError
from .graph import Graph
from .operators import Operator
from .solvers import Factorization, Ritz, Space, ritz_cycles

__all__ = ["BLOCK", "SINGLE_BLOCK", "Found", "Problem", "inverse_search", "polynomial_search"]

Map = Callable[[Any], Any]

# Columns of a block: matvecs and orthogonalisation of four columns cost about as much as of two. One eigenvalue alone
# needs no copies.
BLOCK, SINGLE_BLOCK = 4, 1
# Dimension of the Krylov space for several pairs and for one; and of that of the inverse, which separates far better.
POLYNOMIAL_SPACE, SINGLE_SPACE = 96, 40
INVERSE_SPACE = 32
# Degree of the first polynomial and of the last; it doubles from phase to phase while the pairs do not converge.
FIRST_DEGREE, LAST_DEGREE = 16, 6144
# Where a filter cuts: so far into the Ritz values that are not wanted, those of plain Lanczos and those of a filter.
FIRST_CUT, NEXT_CUT = 0.05, 2 / 3
PHASES = 14
# A cycle that leaves more than this of the residual asks for a sharper polynomial.
SLOW = 0.05
# And one of plain Lanczos, whose matrix-vector products cost more than its restarts, if it leaves more than this.
STEADY = 0.7
CYCLES_OF_INVERSE = 60
# A polynomial that amplifies more would leave nothing but the first vector in float64.
AMPLIFICATION = 1e6
# Logarithm of the amplification of known vectors from which they are projected out in every step.
SWAMPED = 20.0
# Residuals below this, relative to the norm, are rounding.
FLOOR = 4e-14
EPS = float(np.finfo(np.float64).eps)
# Up to this size all pairs by LAPACK take seconds: what is left if a search does not converge.
DENSE_FALLBACK = 6_000
# Entries that products read while LAPACK decomposes n nodes, over the cube of n; a search may take twice as long.
DENSE_ENTRIES, PATIENCE = 2.0, 2.0
# Vectors beyond the wanted ones of which a second search is kept free.
GUARDS = 32
# Probability with which a search may overlook an eigenvalue.
OVERLOOKED = 1e-10
# Of the smooth end, whose null vectors are projected out; and of the rough one, or where null vectors are not known.
SHIFT, OUTSIDE = 1e-13, 1e-8


def dense_products(graph: Graph) -> float:
    """Return how many matrix-vector products take as long as all pairs of a graph by LAPACK."""
    return DENSE_ENTRIES * graph.n_nodes**3 / max(graph.n_entries, graph.n_nodes)


def mode_bytes(graph: Graph) -> int:
    """Return the bytes of one entry of a mode."""
    return 16 if graph.is_complex else 8


def too_large(modes: str, need: float, max_bytes: int, remedy: str = "ask for fewer modes") -> ParameterError:
    """Return the error of modes that need more memory than allowed."""
    sizes = f"need about {need / 1e9:.1f} GB (max_bytes={max_bytes / 1e9:.1f} GB)"
    return ParameterError(f"{modes} {sizes}; {remedy}, or raise max_bytes")


@dataclass(frozen=True, eq=False)
class Found:
    """Eigenpairs of a problem."""

    values: FloatArray  # in its units, ascending
    rows: Any  # vectors as orthonormal rows
    residuals: FloatArray  # norms
    method: str
    filter: Filter | None = None  # the polynomial that separated them, with which a further search begins
    guards: Any = None  # vectors beyond the last pair that are nearly eigenvectors, as rows

    def merged(self, other: Found, k: int) -> Found:
        """Return the ``k`` smallest of both."""
        both = self.joined(other)
        order = np.argsort(both.values, kind="stable")[:k]
        rows = namespace(both.rows).take(both.rows, asarray_like(order, both.rows), axis=0)
        return Found(both.values[order], rows, both.residuals[order], self.method, self.filter)

    def joined(self, other: Found) -> Found:
        """Return all pairs of both, to stay orthogonal to."""
        rows = namespace(self.rows).concat((self.rows, other.rows), axis=0)
        size = np.concatenate([self.residuals, other.residuals])
        return Found(np.concatenate([self.values, other.values]), rows, size, self.method)

    def first(self, k: int) -> Found:
        """Return the ``k`` smallest pairs."""
        return Found(self.values[:k], self.rows[:k, :], self.residuals[:k], self.method)


@dataclass(frozen=True, eq=False)
class Problem:
    """The end of a high channel as the *lower* end of an operator with eigenvalues in [0, 1]."""

    operator: Operator  # ``(H - low) / size`` for the smooth end, ``(high - H) / size`` for the rough one
    smooth: bool
    # Frequencies are ``origin + size * value`` (smooth) or ``origin - size * value``.
    origin: float
    size: float
    n_null: int  # eigenvalues that are known without a search
    project_null: Map | None  # projects them out
    max_bytes: int  # memory for the vectors of a search

    @staticmethod
    def of(high: Operator, *, smooth: bool, **facts: Any) -> Problem:
        """Return the problem of one end of a symmetric high channel."""
        low, top = high.bounds
        size, origin, sign = top - low, low if smooth else top, 1.0 if smooth else -1.0
        scaled = replace(high, left=sign * high.left / (size or 1.0), diag=sign * (high.diag - origin) / (size or 1.0))
        return Problem(scaled, smooth, origin, size, **facts)

    @property
    def max_products(self) -> float:
        """Matrix-vector products after which a dense decomposition is cheaper; inf where there is none."""
        graph = self.operator.graph
        dense = graph.storage.kind == "memory" and graph.device == "cpu" and self.n_nodes <= DENSE_FALLBACK
        if not dense or 24 * self.n_nodes**2 > self.max_bytes:
            return math.inf
        return PATIENCE * dense_products(graph)

    def frequencies(self, values: FloatArray) -> FloatArray:
        """Return eigenvalues of the high channel for values of the problem."""
        return self.origin + (1.0 if self.smooth else -1.0) * self.size * values

    @cached_property
    def matrix(self) -> Any:
        """The operator as a scipy CSR array."""
        return self.operator.to_scipy()

    @property
    def n_nodes(self) -> int:
        """Rows of the operator."""
        return self.operator.graph.n_nodes

    def _project(self, known: Found | None, block: Any) -> Any:
        """Return a block without its part in the null space and the known pairs."""
        if self.project_null is not None:
            block = self.project_null(block)
        if known is not None:
            part = self.total(to_host(conj(known.rows) @ block))
            block = block - known.rows.T @ asarray_like(part, block)
        return block

    def total(self, values: FloatArray) -> Any:
        """Return the sum over all processes of a host array."""
        return self.operator.graph.storage.reduce(values, "sum")

    def vectors(self, known: Found | None) -> Space:
        """Return the space of a search outside of the known pairs, with random vectors of its own.

        A Krylov space holds one copy of a repeated eigenvalue for each vector of its start. After these are deflated,
        the same start holds no further copy: the generator is fixed, and another one for each number of known pairs.
        """
        rng = np.random.default_rng([1, 0 if known is None else len(known.values)])
        return Space(self.n_nodes, partial(self._project, known), partial(self._draw, rng), self.total)

    def _draw(self, rng: np.random.Generator, width: int) -> Any:
        graph = self.operator.graph
        if graph.storage.kind == "mpi":
            # The entries of a rank are those of its rows in one stream, however the rows are distributed.
            stream = np.random.PCG64(int(rng.integers(2**62)))
            stream.advance(graph.local_rows.start * width)
            start = np.random.Generator(stream).random((len(graph.local_rows), width)) - 0.5
        else:
            start = asarray_like(rng.standard_normal((self.n_nodes, width)), self.operator.diag)
        return as_complex(start) if graph.is_complex else start

    def space(self, k: int, smallest: int, block: int) -> tuple[int, int]:
        """Return the dimension of the Krylov space and how many vectors a restart keeps, where memory allows them."""
        dimension = max(smallest, 2 * k + 4 * block)
        number = mode_bytes(self.operator.graph)
        affordable = self.max_bytes // (number * max(len(self.operator.graph.local_rows), 1)) - 4 * block
        if affordable < k + 3 * block:
            need = number * self.n_nodes * (k + 7 * block)
            raise too_large(f"{k} modes of {self.n_nodes} nodes", need, self.max_bytes)
        dimension = min(dimension, affordable, max(self.n_nodes, 2 * block))
        return dimension, min(max(k + block, dimension // 2), dimension - block)

    def refined(self, ritz: Ritz, k: int, method: str) -> Found:
        """Return Ritz pairs of the operator itself in the span of the first vectors of another map's."""
        return self._rayleigh(ritz.vectors[: min(k + min(k, BLOCK), ritz.vectors.shape[0]), :], method).first(k)

    def _rayleigh(self, rows: Any, method: str) -> Found:
        xp = namespace(rows)
        image = self.operator.apply(xp.asarray(xp.permute_dims(rows, (1, 0)), copy=True))
        small = self.total(to_host(conj(rows) @ image))
        values, vectors = np.linalg.eigh((small + small.conj().T) / 2)
        turn = asarray_like(vectors, rows)
        rows, image = turn.T @ rows, image @ turn
        defect = image - xp.permute_dims(rows, (1, 0)) * asarray_like(values, rows)
        size = np.sqrt(self.total(to_host(xp.sum(abs_squared(defect), axis=0))))
        return Found(values, rows, size, method)

    def guards(self, ritz: Ritz, k: int) -> Any:
        """Return Ritz vectors beyond the ``k``-th that hold next to nothing of an eigenvector at or below it, or None.

        Of an eigenvector with a value below ``last`` a Ritz vector holds at most its residual over the distance.
        """
        pairs = self._rayleigh(ritz.vectors[: min(k + max(k, GUARDS), ritz.vectors.shape[0]), :], "lanczos")
        distance = np.maximum(pairs.values[k:] - pairs.values[k - 1], EPS)
        n_guards = int(np.sum(np.cumsum((pairs.residuals[k:] / distance) ** 2) < 1e-2))
        return pairs.rows[k : k + n_guards, :] if n_guards else None


def inverse_search(
    problem: Problem, k: int, tol: float, known: Found | None, block: int, *, factorize: Map | None = None
) -> Found:
    """Return the ``k`` smallest pairs by the inverse of the shifted operator, by default from a sparse factorisation.

    The smooth end is shifted by rounding alone; the rough one to just outside of the largest eigenvalue, which a few
    matrix-vector products estimate. ``factorize`` maps a shift to an object with ``solve``. ConvergenceError if the
    factorisation breaks down, or the pairs do not converge.
    """
    space = problem.vectors(known)
    shift = _outside(problem, space)
    factors = Factorization(problem.matrix, shift) if factorize is None else factorize(shift)

    def inverse(x: Any) -> Any:
        return space.project(factors.solve(space.project(x)))

    dimension, keep = problem.space(k, INVERSE_SPACE, block)
    cycles = ritz_cycles(inverse, space.draw(block), space, dimension=dimension, keep=keep)
    worst = math.inf
    for _, ritz in zip(range(CYCLES_OF_INVERSE), cycles, strict=False):
        found = problem.refined(ritz, k, "shift-invert")
        before, worst = worst, float(found.residuals.max(initial=0.0))
        # Tiny eigenvalues (long paths) are resolved in relation to themselves, as far as rounding allows.
        goal = min(tol, 1e-4 * float(found.values[-1])) if len(found.values) else tol
        arrived = worst <= goal or (worst <= max(tol, FLOOR) and worst > 0.5 * before)
        if ritz.exhausted or (len(found.values) == k and arrived):
            return found
    raise ConvergenceError(_unresolved(found, k, tol, "shift-invert"), problem.frequencies(found.values))


def _outside(problem: Problem, space: Space) -> float:
    """Return a shift below the smallest eigenvalue of the problem, and close to it."""
    if problem.smooth and problem.project_null is not None:
        return -SHIFT
    whole = replace(space, project=lambda block: block)
    cycles = ritz_cycles(lambda x: x - problem.operator.apply(x), space.draw(1), whole, dimension=60, keep=8)
    smallest = problem.refined(next(cycles), 1, "lanczos")
    # An eigenvalue lies within the residual; a lower one may exist, and the bound of 0 holds for all. An eigenvalue
    # at the bound itself (bipartite graphs) must not swamp the others.
    return max(float(smallest.values[0]) - 2.0 * float(smallest.residuals[0]), 0.0) - OUTSIDE


def polynomial_search(
    problem: Problem,
    k: int,
    tol: float,
    known: Found | None = None,
    block: int = BLOCK,
    *,
    beyond: float | None = None,
    last_degree: int = LAST_DEGREE,
    spent: int = 0,
) -> Found:
    """Return the ``k`` smallest pairs by matvecs alone: block Lanczos on Chebyshev polynomials of growing degree.

    They are orthogonal to the ``known`` ones. The search stops as soon as the first value is clearly above ``beyond``:
    nothing is missing below it. ``spent`` are the products of a search that this one goes on with. ConvergenceError if
    the highest degree did not separate the pairs, or a dense decomposition would have by now.
    """
    space, goal, degree = problem.vectors(known), max(tol, FLOOR), 0
    dimension, keep = problem.space(k, POLYNOMIAL_SPACE if k > 1 else SINGLE_SPACE, block)
    start = space.draw(block)
    filter_ = Filter(0.0, 0.0, 1) if known is None or known.filter is None else known.filter
    for phase in range(PHASES):
        map_ = _projected(problem, filter_, space.project, known)
        cycles = ritz_cycles(map_, start, space, dimension=dimension, keep=keep)
        worst = math.inf
        for ritz in cycles:
            found = problem.refined(ritz, k, "lanczos")
            before, worst = worst, float(found.residuals.max(initial=0.0))
            degree += filter_.degree * ritz.n_products
            clear = beyond is not None and _is_clear(found, beyond, degree, space)
            if clear or ritz.exhausted or (len(found.values) == k and worst <= goal):
                return replace(found, filter=filter_, guards=None if beyond is not None else problem.guards(ritz, k))
            # Plain Lanczos is for one pair; of several it estimates where they are. The others go on while they
            # converge fast.
            if (phase == 0 and k > 1) or worst > (STEADY if phase == 0 else SLOW) * before:
                break
            if spent + block * degree > problem.max_products:
                break
        filter_ = filter_.sharpened(filter_.preimage(ritz.values), k)
        # What has converged without a gap, but for the last.
        n_locked = min(int(np.cumprod(found.residuals <= goal).sum()), k - 1)
        if filter_.is_limited and n_locked:
            # Far outliers (hubs) would swamp a sharper filter: what has converged is locked, the rest found without it.
            locked = found.first(n_locked)
            known = locked if known is None else known.joined(locked)
            spent += block * degree
            rest = polynomial_search(
                problem, k - n_locked, tol, known, block, beyond=beyond, last_degree=last_degree, spent=spent
            )
            return replace(locked.merged(rest, k), filter=rest.filter, guards=rest.guards)
        if filter_.degree > last_degree or spent + block * degree > problem.max_products:
            break
        start = _combined(ritz, k + block, block, space)
    raise ConvergenceError(_unresolved(found, k, goal, "Lanczos"), problem.frequencies(found.values))


def _is_clear(found: Found, beyond: float, degree: int, space: Space) -> bool:
    """Return whether the first value is beyond another one, and an eigenvalue below that would have shown by now.

    By the residual, or by the estimate of Kuczynski and Wozniakowski (1992) for Krylov spaces of random vectors.
    """
    gap = float(found.values[0]) - beyond
    if gap <= 0.0:
        return False
    failure = 1.648 * math.sqrt(space.n_rows) * math.exp(-math.sqrt(gap) * (2 * degree - 1))
    return min(failure, 1.0) ** BLOCK <= OVERLOOKED or found.residuals[0] < gap


@dataclass(frozen=True)
class Filter:
    """The polynomial ``T_d`` with [cut, 1] mapped to [-1, 1].

    It grows like ``cosh`` below ``cut`` and is scaled to 1 at ``smallest``. Degree 1 is the plain operator, reversed.
    """

    cut: float
    smallest: float
    degree: int
    is_limited: bool = False

    @property
    def size(self) -> float:
        """Its value at ``smallest`` before scaling."""
        return math.cosh(self.degree * _growth(self.cut, self.smallest))

    def preimage(self, values: FloatArray) -> FloatArray:
        """Return eigenvalues of the operator for those of the filter, ``cut`` for those that it damps."""
        if self.degree == 1:
            return 1.0 - values
        growth = np.arccosh(np.maximum(values * self.size, 1.0)) / self.degree
        below: FloatArray = (1.0 + self.cut) / 2 - (1.0 - self.cut) / 2 * np.cosh(growth)
        return below

    def sharpened(self, values: FloatArray, k: int) -> Filter:
        """Return the next filter, from the Ritz values that the last one left.

        It damps from two thirds into the values that are not wanted. One cycle then brings the ``k``-th value down to
        rounding, if the degree is about ``1 / acosh`` of its place; a degree that was not enough is doubled.
        """
        part = FIRST_CUT if self.degree == 1 else NEXT_CUT
        cut = float(min(values[k + int(part * (len(values) - k - 1))], 1.0 - 1e-3 * (1.0 - values[0])))
        enough = math.ceil(1.5 / _growth(cut, float(values[k - 1])))
        most = math.ceil(math.acosh(AMPLIFICATION) / _growth(cut, float(values[0])))
        again = 2 * self.degree if self.degree > FIRST_DEGREE else FIRST_DEGREE
        degree = min(FIRST_DEGREE if self.degree == 1 else max(again, enough), LAST_DEGREE)
        return Filter(cut, float(values[0]), max(2, min(degree, most)), most < degree)


def _growth(cut: float, value: float) -> float:
    """Return the rate at which Chebyshev polynomials on [cut, 1] grow at ``value``, below ``cut``."""
    return math.acosh(max((1.0 + cut - 2.0 * value) / (1.0 - cut), 1.0 + 1e-14))


def _projected(problem: Problem, filter_: Filter, project: Map, known: Found | None) -> Map:
    op = problem.operator
    if filter_.degree == 1:
        return lambda x: project(x - op.apply(x))
    if known is not None and filter_.degree * _growth(filter_.cut, float(known.values.min())) > SWAMPED:
        return _projected_steps(problem, filter_, project)
    coefficients = np.zeros((1, filter_.degree + 1))
    coefficients[0, -1] = (-1.0) ** filter_.degree / filter_.size

    def apply(x: Any) -> Any:
        interval = (filter_.cut, 1.0)
        bank = chebyshev_bank(op.graph, x, op.left, op.right, op.diag, coefficients=coefficients, interval=interval)
        return project(bank[..., 0])

    return apply


def _projected_steps(problem: Problem, filter_: Filter, project: Map) -> Map:
    """Return the filter with a projection after each step: rounding brings outliers back, and it enlarges them."""
    middle, half = (1.0 + filter_.cut) / 2, (1.0 - filter_.cut) / 2

    def step(x: Any) -> Any:
        return project((middle * x - problem.operator.apply(x)) / half)

    def apply(x: Any) -> Any:
        before, now = x / filter_.size, step(x) / filter_.size
        for _ in range(filter_.degree - 1):
            before, now = now, 2.0 * step(now) - before
        return now

    return apply


def _combined(ritz: Ritz, n_rows: int, width: int, space: Space) -> Any:
    """Return ``width`` columns that hold all wanted Ritz vectors, and a little of everything else."""
    rows = ritz.vectors[: min(n_rows, ritz.vectors.shape[0]), :]
    mix = np.random.default_rng(rows.shape[0]).standard_normal((width, rows.shape[0]))
    return (asarray_like(mix, rows) @ rows).T + (1e-2 / math.sqrt(space.n_rows)) * space.draw(width)


def _unresolved(found: Found, k: int, goal: float, method: str) -> str:
    done = int(np.sum(found.residuals <= goal))
    return (
        f"{method} resolved {done} of {k} eigenpairs to {goal:.1e} of the norm (residual {found.residuals.max():.1e}): "
        "raise tol=, ask for fewer modes, or use polynomial filters, which need no eigenvectors"
    )
