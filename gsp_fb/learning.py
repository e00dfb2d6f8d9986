r"""Graphs from smooth signals: weights that make the observed signals vary little over heavy edges.

With squared distances :math:`z_{ij} = |x_i - x_j|^2` over candidate edges and the degrees :math:`d = Sw`,

.. math:: \min_{w \ge 0}\; 2 z^T w + \beta |w|^2 + \sum_i g(d_i), \qquad
          g(d) = -\log d \;(\text{log}), \quad g(d) = \tfrac{a}{2} d^2,\ 2 \cdot 1^T w = n,\ \beta = a \;(\text{l2}).

The dual has one variable a node. Accelerated proximal gradients with a step for each node (``S S' <= 2 D``) solve it;
the weights follow from the dual variables. The duality gap is a sum over nodes, and as the objective is strongly
convex, ``beta |w - w*|^2 <= gap``.
"""

from __future__ import annotations

import warnings
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np

from ._arguments import check_choice, check_count, check_positive, check_signal
from .backend import FloatArray, IntArray
from .errors import GspWarning, ParameterError, SignalError
from .graph import Graph

__all__ = ["MODELS", "LearnedGraph", "learn_graph", "learn_weights"]

# Nearest neighbours that are candidates, as a multiple of the wanted degree.
CANDIDATES = 3


@dataclass(frozen=True)
class LearnedGraph:
    """A learned graph with what is known about its weights.

    Parameters
    ----------
    graph : Graph
        Edges of positive weight.
    gap : float
        Duality gap of the solution over the candidate edges.
    error : float
        Bound on ``|w - w*| / |w|`` that follows from the gap.
    iterations : int
        Steps of the solver.
    scale : float
        Factor of the squared distances (log) or the parameter ``a`` (l2) that ``degree`` was turned into.
    pairs, weights : arrays, shape (n_candidates, 2) and (n_candidates,)
        All candidate edges, those of weight 0 included.

    See Also
    --------
    learn_weights : The function that returns it.

    Examples
    --------
    >>> learn_weights(np.arange(6.0)[:, None], degree=2).pairs.shape[1]
    2
    """

    graph: Graph
    gap: float
    error: float
    iterations: int
    scale: float
    pairs: IntArray
    weights: FloatArray


@dataclass(frozen=True, eq=False)
class Problem:
    """Candidate edges with their costs: ``z`` squared distances, ``beta`` the weight of ``|w|^2``."""

    pairs: IntArray
    z: FloatArray
    n_nodes: int
    beta: float

    def node_sums(self, w: FloatArray) -> FloatArray:
        """Return ``S w``, the sum over the edges of each node."""
        ends = (np.bincount(side, weights=w, minlength=self.n_nodes) for side in self.pairs.T)
        return np.asarray(sum(ends), dtype=np.float64)

    def edge_sums(self, nodes: FloatArray) -> FloatArray:
        """Return ``S' nodes``, the sum over both ends of each edge."""
        return np.asarray(nodes[self.pairs[:, 0]] + nodes[self.pairs[:, 1]])


@dataclass(frozen=True)
class Model:
    """A degree model: the weights for dual variables, the proximal map of the dual, its gap, and the start."""

    weights: Callable[[Problem, FloatArray], FloatArray]
    proximal: Callable[[Problem, FloatArray, FloatArray], FloatArray]
    gap: Callable[[Problem, FloatArray, FloatArray], float]
    start: Callable[[Problem], FloatArray]
    scale: Callable[[FloatArray, int], float]
    problem: Callable[[IntArray, FloatArray, int, float], Problem]


def _positive(problem: Problem, dual: FloatArray) -> FloatArray:
    return np.maximum(problem.edge_sums(dual) / (2 * problem.beta) - problem.z / problem.beta, 0.0)


def _on_simplex(problem: Problem, dual: FloatArray) -> FloatArray:
    """Return the projection onto ``w >= 0, 2 sum(w) = n``."""
    point = problem.edge_sums(dual) / (2 * problem.beta) - problem.z / problem.beta
    falling = np.sort(point)[::-1]
    excess = (np.cumsum(falling) - problem.n_nodes / 2) / np.arange(1, len(point) + 1)
    return np.asarray(np.maximum(point - excess[np.flatnonzero(falling > excess)[-1]], 0.0))


def _log_gap(problem: Problem, dual: FloatArray, degrees: FloatArray) -> float:
    product = dual * degrees
    return float(np.sum(product - 1.0 - np.log(product))) if np.all(product > 0) else np.inf


def _log_scale(distances: FloatArray, degree: int) -> float:
    """Return the factor of z that gives about ``degree`` neighbours (Kalofolias and Perraudin 2019, theorem 1)."""
    below, last, following = distances[:, :degree].sum(axis=1), distances[:, degree - 1], distances[:, degree]
    ends = degree * following**2 - below * following, degree * last**2 - below * last
    usable = np.all([end > 0 for end in ends], axis=0)
    if not np.any(usable):
        return 1.0 / max(float(np.mean(last)), np.finfo(float).tiny)
    means = [float(np.mean(1.0 / np.sqrt(end[usable]))) for end in ends]
    return float(np.sqrt(means[0] * means[1]))


def _l2_scale(distances: FloatArray, degree: int) -> float:
    """Return ``a`` for about ``degree`` neighbours at a node of degree 1: ``sum_j (z_k+1 - z_j) = a``."""
    room = degree * distances[:, degree] - distances[:, :degree].sum(axis=1)
    return max(float(np.mean(room)), 1e-12 * float(distances.max(initial=1.0)), np.finfo(float).tiny)


MODELS: dict[str, Model] = {
    "log": Model(
        weights=_positive,
        proximal=lambda problem, point, step: (point + np.sqrt(point**2 + 4 * step)) / 2,
        gap=_log_gap,
        start=lambda problem: np.full(problem.n_nodes, 2 * float(np.max(problem.z))),
        scale=_log_scale,
        problem=lambda pairs, z, n_nodes, scale: Problem(pairs, scale * z, n_nodes, 1.0),
    ),
    "l2": Model(
        weights=_on_simplex,
        proximal=lambda problem, point, step: point / (1 + step / problem.beta),
        gap=lambda problem, dual, degrees: float(np.sum((problem.beta * degrees + dual) ** 2) / (2 * problem.beta)),
        start=lambda problem: np.full(problem.n_nodes, -problem.beta),
        scale=_l2_scale,
        problem=Problem,
    ),
}


def learn_graph(x: Any, degree: int = 10, *, model: str = "log", tol: float = 1e-4) -> Graph:
    r"""Return the graph on which signals are smooth: weights that minimise the Dirichlet energy under a degree model.

    Parameters
    ----------
    x : array_like, shape (n_nodes, n_signals)
        One row a node; features or signals.
    degree : int
        Wanted number of neighbours, met approximately. Candidate edges are those to the ``3 * degree`` nearest rows.
    model : {'log', 'l2'}
        ``log``: a logarithmic barrier keeps every node connected [1]_. ``l2``: degrees are squared and sum to the
        number of nodes; nodes far from all others may end without an edge.
    tol : float
        Largest proven error of the weights, relative to their norm.

    Returns
    -------
    Graph
        Weighted, undirected.

    Raises
    ------
    SignalError
        ``x`` is not finite, or not a table of rows.
    ParameterError
        ``degree`` is not between 1 and ``n_nodes - 1``.

    Warns
    -----
    GspWarning
        The solver stopped before ``tol``.

    See Also
    --------
    gsp_fb.learning.learn_weights : The same with duality gap, error bound and candidates.

    References
    ----------
    .. [1] V. Kalofolias, "How to learn a graph from smooth signals", AISTATS 2016.
    .. [2] V. Kalofolias and N. Perraudin, "Large scale graph learning from smooth signals", ICLR 2019.
    .. [3] S. S. Saboksayr and G. Mateos, "Accelerated graph learning from smooth signals", IEEE SPL 28, 2021.

    Examples
    --------
    >>> line = np.arange(12.0)[:, None]
    >>> learned = learn_graph(line, degree=2)
    >>> learned.n_components, bool(learned.degrees.min() > 0)
    (1, True)
    """
    return learn_weights(x, degree, model=model, tol=tol).graph


def learn_weights(
    x: Any, degree: int = 10, *, model: str = "log", tol: float = 1e-4, max_iterations: int = 5000
) -> LearnedGraph:
    """Return the graph of :func:`gsp_fb.learn_graph` with its duality gap.

    Parameters
    ----------
    x, degree, model, tol
        As in :func:`gsp_fb.learn_graph`.
    max_iterations : int
        Most steps of the solver.

    Returns
    -------
    LearnedGraph

    See Also
    --------
    gsp_fb.learn_graph : The graph alone.

    Examples
    --------
    >>> found = learn_weights(np.arange(12.0)[:, None], degree=2, tol=1e-6)
    >>> found.error <= 1e-6, found.gap >= 0
    (True, True)
    """
    rows, kind = _rows(x), MODELS[check_choice(model, MODELS, "model")]
    if check_count(degree, "degree") >= len(rows):
        raise ParameterError(f"degree={degree} needs at least {degree + 1} nodes; there are {len(rows)}")
    pairs, z, distances = _candidates(rows, min(CANDIDATES * degree, len(rows) - 1))
    size = max(float(np.mean(z)), np.finfo(float).tiny)
    scale = kind.scale(distances / size, degree)
    problem = kind.problem(pairs, z / size, len(rows), scale)
    w, gap, steps = _minimum(problem, kind, check_positive(tol, "tol"), check_count(max_iterations, "max_iterations"))
    error = float(np.sqrt(max(gap, 0.0) / problem.beta) / max(np.linalg.norm(w), np.finfo(float).tiny))
    if error > tol:
        warnings.warn(
            f"graph learning stopped after {steps} steps with an error bound of {error:.2g} > tol={tol:g}; raise "
            "max_iterations of gsp_fb.learning.learn_weights, or tol",
            GspWarning,
            stacklevel=2,
        )
    heavy = w > 0
    graph = Graph.from_edges(pairs[heavy], w[heavy], len(rows))
    return LearnedGraph(graph, max(gap, 0.0), error, steps, scale, pairs, w)


def _rows(x: Any) -> FloatArray:
    rows = np.asarray(check_signal(x, len(x)))
    if rows.ndim != 2 or np.iscomplexobj(rows) or not rows.shape[1]:
        raise SignalError(f"graph learning needs real signals, shape (n_nodes, n_signals), not {np.shape(x)}")
    return rows.astype(np.float64)


def _candidates(rows: FloatArray, k: int) -> tuple[IntArray, FloatArray, FloatArray]:
    """Return the pairs of nodes of which one is among the ``k`` nearest of the other, and the squared distances."""
    # Costs a quarter of a second to import, which only this function should pay.
    from scipy.spatial import cKDTree

    found, nearest = map(np.asarray, cKDTree(rows).query(rows, k=k + 1))
    source = np.repeat(np.arange(len(rows)), k + 1)
    ends = np.sort(np.stack([source, nearest.ravel()], axis=1), axis=1)
    other = ends[:, 0] != ends[:, 1]
    codes, at = np.unique(ends[other, 0] * len(rows) + ends[other, 1], return_index=True)
    pairs = np.stack([codes // len(rows), codes % len(rows)], axis=1)
    # Column 0 is the row itself, or a copy of it at distance 0.
    distances = found[:, 1:] ** 2
    padded = np.concatenate([distances, distances[:, -1:]], axis=1)
    return pairs, found.ravel()[other][at] ** 2, padded


def _minimum(problem: Problem, kind: Model, tol: float, max_iterations: int) -> tuple[FloatArray, float, int]:
    best: tuple[FloatArray, float, int] = (np.zeros(len(problem.z)), np.inf, 0)
    for step, (w, gap) in enumerate(_iterates(problem, kind), start=1):
        best = (w, gap, step) if gap <= best[1] else (best[0], best[1], step)
        if best[1] <= problem.beta * (tol * float(np.linalg.norm(best[0]))) ** 2 or step == max_iterations:
            break
    return best


def _iterates(problem: Problem, kind: Model) -> Iterator[tuple[FloatArray, float]]:
    """Yield weights and gaps of accelerated proximal gradients on the dual, restarted where momentum turns back."""
    lengths = problem.beta / np.maximum(problem.node_sums(np.ones(len(problem.z))), 1.0)
    dual = ahead = kind.start(problem)
    momentum = 1.0
    while True:
        w = kind.weights(problem, ahead)
        degrees = problem.node_sums(w)
        yield w, kind.gap(problem, ahead, degrees)
        moved = kind.proximal(problem, ahead - lengths * degrees, lengths)
        if float(np.sum((ahead - moved) * (moved - dual) / lengths)) > 0:
            momentum = 1.0
        following = (1 + np.sqrt(1 + 4 * momentum**2)) / 2
        ahead, dual, momentum = moved + (momentum - 1) / following * (moved - dual), moved, following
