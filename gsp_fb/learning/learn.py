"""Learn a graph: candidate edges, the parameter that gives the wanted degree, and the weights with their gap."""

from __future__ import annotations

import warnings
from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from math import exp, inf, log
from typing import Any

import numpy as np

from .._arguments import check_choice, check_count, check_positive, check_signal, host_array
from .._points import each_once, nearest_neighbours
from ..backend import FloatArray, IntArray, is_sparse, to_dense
from ..errors import GspWarning, ParameterError, SignalError
from ..graph import Graph
from ..nodes import is_default_index, is_frame
from .models import MODELS, DegreeModel, WeightProblem, minimum

__all__ = ["LearnedGraph", "learn_graph", "learn_weights"]

# Nearest neighbours that are candidates, as a multiple of the wanted degree.
CANDIDATES = 3
# The mean number of neighbours is searched to this share of the wanted one, with so many solves of this accuracy.
DEGREE_TOLERANCE, SEARCHES, SEARCH_TOL = 0.03, 12, 1e-3


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
        Factor of the squared distances (log) or the parameter ``a`` (l2) at which a node has ``degree`` neighbours on
        average; squared distances are in units of their mean over the candidates.
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


def learn_graph(x: Any, degree: int = 10, *, model: str = "log", tol: float = 1e-4) -> Graph:
    r"""Return the graph on which signals are smooth: weights that minimise the Dirichlet energy under a degree model.

    Parameters
    ----------
    x : array_like, sparse or DataFrame, shape (n_nodes, n_signals)
        One row a node; features or signals. The index of a DataFrame names the nodes.
    degree : int
        Wanted mean number of neighbours, met within 5 % unless equal distances make the number jump. Candidate edges
        are those to the ``3 * degree`` nearest rows.
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
    (rows, names), kind = _rows(x), MODELS[check_choice(model, MODELS, "model")]
    if check_count(degree, "degree") >= len(rows):
        raise ParameterError(f"degree={degree} needs at least {degree + 1} nodes; there are {len(rows)}")
    pairs, z, distances = _candidates(rows, min(CANDIDATES * degree, len(rows) - 1))
    size = max(float(np.mean(z)), np.finfo(float).tiny)
    most = check_count(max_iterations, "max_iterations")
    problem_at = partial(kind.problem, pairs, z / size, len(rows))
    scale = _searched_scale(problem_at, kind, kind.scale(distances / size, degree), degree, most)
    problem = problem_at(scale)
    w, gap, steps = minimum(problem, kind, check_positive(tol, "tol"), most)
    error = float(np.sqrt(max(gap, 0.0) / problem.beta) / max(np.linalg.norm(w), np.finfo(float).tiny))
    if error > tol:
        warnings.warn(
            f"graph learning stopped after {steps} steps with an error bound of {error:.2g} > tol={tol:g}; raise "
            "max_iterations of gsp_fb.learning.learn_weights, or tol",
            GspWarning,
            stacklevel=2,
        )
    heavy = w > 0
    graph = Graph.from_edges(pairs[heavy], w[heavy], len(rows), nodes=names)
    return LearnedGraph(graph, max(gap, 0.0), error, steps, scale, pairs, w)


def _rows(x: Any) -> tuple[FloatArray, list[Any] | None]:
    """Return the checked rows, in a unit in which squared distances neither overflow nor vanish, and their names."""
    array = x if is_sparse(x) else host_array(x, SignalError, "signals")
    if array.ndim != 2 or array.dtype.kind == "c" or not array.shape[1]:
        kind = f"{tuple(array.shape)} of {array.dtype}"
        raise SignalError(f"graph learning needs real signals, shape (n_nodes, n_signals), not {kind}")
    rows = np.asarray(to_dense(check_signal(array, array.shape[0])), dtype=np.float64)
    names = None if not is_frame(x) or is_default_index(x.index) else list(x.index)
    # A power of two: weights depend on ratios of distances alone, which stay as they are.
    return np.ldexp(rows, -int(np.frexp(np.abs(rows).max(initial=0.0))[1])), names


def _candidates(rows: FloatArray, k: int) -> tuple[IntArray, FloatArray, FloatArray]:
    """Return the pairs of nodes of which one is among the ``k`` nearest of the other, and the squared distances."""
    near = nearest_neighbours(rows, k)
    pairs, lengths = each_once(*near)
    distances = near[2].reshape(len(rows), k) ** 2
    # The rules look one neighbour beyond the wanted degree, which in a small set may be the last.
    padded = np.concatenate([distances, distances[:, -1:]], axis=1)
    return pairs, lengths**2, padded


def _searched_scale(
    problem_at: Callable[[float], WeightProblem], kind: DegreeModel, start: float, degree: int, most: int
) -> float:
    """Return the parameter whose weights have about ``degree`` neighbours a node, beginning with the rule of the model.

    The number of neighbours rises or falls with the parameter; where equal distances make it jump over the wanted
    one, the nearest that was seen is taken.
    """
    at, below, above, best = log(start), -inf, inf, (inf, start)
    if not np.any(problem_at(1.0).z):
        return 1.0
    for _ in range(SEARCHES):
        problem = problem_at(exp(at))
        w = minimum(problem, kind, SEARCH_TOL, most)[0]
        n_ends = max(2 * int(np.count_nonzero(w)), 1)
        excess = log(n_ends / problem.n_nodes / degree)
        best = min(best, (abs(excess), exp(at)))
        if best[0] <= log(1 + DEGREE_TOLERANCE):
            break
        # `slope` is the sign with which neighbours grow with the parameter.
        if (excess > 0) == (kind.slope > 0):
            above = at
        else:
            below = at
        ahead = at - kind.slope * excess
        at = ahead if below < ahead < above else (below + above) / 2
    return best[1]
