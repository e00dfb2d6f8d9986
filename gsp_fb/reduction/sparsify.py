r"""Spectral sparsification by effective resistances, with the error of the Laplacian measured on the result."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from scipy import linalg, sparse
from scipy.linalg import eigh_tridiagonal

from .._arguments import check_positive, check_rng
from .._cost import state_cost
from .._lambda_max import EXACT_NODES, random_start_error
from .._lanczos import lanczos
from ..backend import FloatArray
from ..calculus import divergence, gradient, incidence
from ..errors import ParameterError
from ..graph import Graph
from ..operators import Operator, operator
from ..resistance import laplacian_solver
from ..solvers import Solver
from .kron import check_reducible

__all__ = ["Sparsified", "sparsify"]

# Columns of the random projection: resistances to about 20 %, enough for probabilities.
PROJECTIONS = 64
# Edges kept per node at the first attempt, times epsilon^2, and the factor between attempts.
FIRST, FACTOR = 1.0, 1.5
LANCZOS_STEPS, FAILURE = 48, 1e-6
# Relative residuals of the solves: probabilities need two digits, the measured error more.
ROUGH, FINE = 1e-3, 1e-8
# What both kinds of solves read of the graph, as measured on community graphs: its entries so many times.
READS_OF_AN_ENTRY = 6000.0


@dataclass(frozen=True, eq=False, repr=False)
class Sparsified:
    r"""A sparse graph and how far its Laplacian is from the given one.

    Parameters
    ----------
    graph : Graph
        The same nodes, a subset of the edges with larger weights.
    error : float
        :math:`\epsilon` in :math:`(1-\epsilon) L \preceq L' \preceq (1+\epsilon) L`, measured.
    proof : {'dense', 'lanczos', 'identical'}
        ``dense``: all eigenvalues of the pencil (L', L). ``lanczos``: an upper bound from a random start, which fails
        with probability 1e-6. ``identical``: every edge is kept.

    See Also
    --------
    sparsify : Makes it.

    Examples
    --------
    >>> from gsp_fb import datasets
    >>> sparsify(datasets.complete(60), 0.5).error <= 0.5
    True
    """

    graph: Graph
    error: float
    proof: str

    def __repr__(self) -> str:
        return f"Sparsified(n_edges={self.graph.n_edges}, error={self.error:.3g}, proof={self.proof!r})"


def sparsify(graph: Graph, epsilon: float, *, rng: Any = 0) -> Sparsified:
    r"""Return a graph with fewer edges whose quadratic form is within a factor of 1 +- epsilon.

    Each edge is kept with probability :math:`\min(1, c\,w_e r_e)`, :math:`r_e` its effective resistance, and its weight
    is divided by that probability. ``c`` grows until the measured error is at most ``epsilon``; at worst every edge is
    kept. All connected components stay connected. A warning states first how long it takes, if more than five seconds.

    Up to 512 nodes resistances and error are exact. Beyond, resistances come from 64 random projections, and the error
    from 48 steps of Lanczos's process; memory is proportional to the number of edges.

    Parameters
    ----------
    graph : Graph
        Undirected, in memory. Self-loops cancel in L and are kept.
    epsilon : float
        Largest error, between 0 and 1.
    rng : None, int or numpy Generator
        Source of randomness.

    Returns
    -------
    Sparsified

    Raises
    ------
    GraphError
        The graph is directed or has negative weights.
    ParameterError
        ``epsilon`` is not between 0 and 1.

    See Also
    --------
    gsp_fb.resistance : Effective resistances.
    kron : Fewer nodes instead of fewer edges.

    References
    ----------
    .. [1] D. A. Spielman and N. Srivastava, "Graph sparsification by effective resistances", SIAM J. Comput. 40(6),
       2011.

    Examples
    --------
    >>> from gsp_fb import datasets
    >>> found = sparsify(datasets.complete(200), 0.7)
    >>> found.graph.n_edges < 0.5 * 19900, found.error <= 0.7
    (True, True)
    """
    check_reducible(graph, "sparsification by effective resistances")
    if check_positive(epsilon, "epsilon") >= 1:
        raise ParameterError(f"epsilon must lie between 0 and 1, not {epsilon!r}")
    generator = check_rng(rng)
    if graph.n_edges == graph.n_loops:
        return Sparsified(graph, 0.0, "identical")
    if graph.n_nodes > EXACT_NODES:
        reads = READS_OF_AN_ENTRY * graph.n_entries
        state_cost(reads, f"sparsifying {graph.n_edges} edges", "give a part of the graph")
    pencil = _Pencil(operator(graph, "comb", channel="high"), *laplacian_solver(graph))
    leverage = pencil.leverage(generator)
    share = FIRST * np.log(max(graph.n_nodes, 3)) / 4 / epsilon**2
    while True:
        chances = np.minimum(1.0, share * leverage)
        if float(chances.min(initial=1.0)) == 1.0:
            return Sparsified(graph, 0.0, "identical")
        kept = generator.random(len(chances)) < chances
        error, proof = pencil.error(np.where(kept, 1.0 / chances, 0.0), generator)
        if error <= epsilon:
            weights = graph.edges()[2]
            raised = (1.0 if weights is None else weights) / chances
            return Sparsified(_part(graph, kept, raised[kept]), error, proof)
        share *= FACTOR


@dataclass(frozen=True, eq=False)
class _Pencil:
    """The Laplacian with a solver; edges in the order of ``graph.edges()``, loops with factor 1."""

    op: Operator
    solver: Solver
    size: float

    def potentials(self, flow: Any, tol: float) -> FloatArray:
        """Return L^+ times the divergence of each column of edge values."""
        right = self.solver.system.project(np.asarray(divergence(self.op, flow))) / self.size
        return self.solver.solve_to(right, tol)

    def leverage(self, rng: np.random.Generator) -> FloatArray:
        """Return w r of every edge: exact on small graphs, by random projection on large ones; 1 for a loop."""
        graph = self.op.graph
        source, target, weights = graph.edges()
        if graph.n_nodes <= EXACT_NODES:
            inverse = linalg.pinvh(self.op.to_scipy().toarray())
            across = np.diag(inverse)[source] + np.diag(inverse)[target] - 2 * inverse[source, target]
            found = across * (1.0 if weights is None else weights)
        else:
            found = np.zeros(len(source))
            for _ in range(0, PROJECTIONS, 8):
                signs = rng.choice([-1.0, 1.0], (len(source), 8))
                found += np.sum(np.asarray(gradient(self.op, self.potentials(signs, ROUGH))) ** 2, axis=1)
            found /= PROJECTIONS
        return np.where(source == target, np.inf, np.maximum(found, np.finfo(float).tiny))

    def error(self, factors: FloatArray, rng: np.random.Generator) -> tuple[float, str]:
        """Return the spectral error of the graph whose edge weights are multiplied by ``factors``."""
        n = self.op.graph.n_nodes
        if n <= EXACT_NODES:
            low, high = self._dense_extremes(factors)
            return max(1.0 - low, high - 1.0, 0.0), "dense"
        # The error is 1 at once where the kept edges do not join what all edges join.
        if _part(self.op.graph, factors > 0).n_components != self.op.graph.n_components:
            return 1.0, "lanczos"

        # In the space of edges the pencil is P diag(factors) P with the projector P = B L^+ B' onto gradients. Less the
        # identity, its extremes lie on both sides of 0, the eigenvalue that rounding outside of the gradients adds.
        def project(flow: Any) -> Any:
            return np.asarray(gradient(self.op, self.potentials(flow[:, None], FINE)))[:, 0]

        start = project(rng.standard_normal(len(factors)))
        space = lanczos(lambda flow: project((factors - 1.0) * flow), start, LANCZOS_STEPS, orthogonalize=False)
        ritz = eigh_tridiagonal(space.diagonal, space.off_diagonal, eigvals_only=True)
        slack = 0.0 if space.is_exact else random_start_error(n, space.n_steps, FAILURE)
        high = (1.0 + float(ritz[-1])) / (1.0 - slack)
        low = high - (high - 1.0 - float(ritz[0])) / (1.0 - slack)
        return max(1.0 - low, high - 1.0, 0.0), "lanczos"

    def _dense_extremes(self, factors: FloatArray) -> tuple[float, float]:
        edges = incidence(self.op)
        values, modes = linalg.eigh((edges.T @ edges).toarray())
        real = values > len(values) * np.finfo(float).eps * max(float(values[-1]), np.finfo(float).tiny)
        whitener = modes[:, real] / np.sqrt(values[real])
        found = linalg.eigvalsh(whitener.T @ (edges.T @ (sparse.diags_array(factors) @ edges)) @ whitener)
        return (float(found[0]), float(found[-1])) if len(found) else (1.0, 1.0)


def _part(graph: Graph, kept: Any, weights: FloatArray | None = None) -> Graph:
    """Return the graph of some edges with new weights."""
    edges = np.stack(graph.edges()[:2], axis=1)[kept]
    return Graph.from_edges(edges, weights, graph.n_nodes, nodes=graph.nodes)
