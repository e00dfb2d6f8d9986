"""The two degree models of graph learning as rows, and the accelerated proximal gradients that solve them."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass

import numpy as np

from ..backend import FloatArray, IntArray

__all__ = ["MODELS", "DegreeModel", "WeightProblem", "minimum"]


@dataclass(frozen=True, eq=False)
class WeightProblem:
    """Candidate edges with their costs: ``z`` squared distances, ``beta`` the weight of ``|w|^2``."""

    pairs: IntArray
    z: FloatArray
    n_nodes: int
    beta: float

    def node_sums(self, w: FloatArray) -> FloatArray:
        """Return ``S w``, the sum over the edges of each node."""
        ends = (np.bincount(side, weights=w, minlength=self.n_nodes) for side in self.pairs.T)
        return np.asarray(sum(ends), dtype=np.float64)

    def node_minima(self, values: FloatArray) -> FloatArray:
        """Return the least value over the edges of each node, inf where it has none."""
        least = np.full(self.n_nodes, np.inf)
        for side in self.pairs.T:
            np.minimum.at(least, side, values)
        return least

    def edge_sums(self, nodes: FloatArray) -> FloatArray:
        """Return ``S' nodes``, the sum over both ends of each edge."""
        return np.asarray(nodes[self.pairs[:, 0]] + nodes[self.pairs[:, 1]])


@dataclass(frozen=True)
class DegreeModel:
    """A degree model: the weights for dual variables, the proximal map of the dual, its gap, and the start.

    ``raised`` is a further step where a node has no edge. ``scale`` turns a wanted degree into a first parameter; with
    it the degrees rise (``slope`` 1) or fall (-1).
    """

    weights: Callable[[WeightProblem, FloatArray], FloatArray]
    proximal: Callable[[WeightProblem, FloatArray, FloatArray], FloatArray]
    gap: Callable[[WeightProblem, FloatArray, FloatArray], float]
    start: Callable[[WeightProblem], FloatArray]
    raised: Callable[[WeightProblem, FloatArray], FloatArray]
    scale: Callable[[FloatArray, int], float]
    problem: Callable[[IntArray, FloatArray, int, float], WeightProblem]
    slope: int


def _positive(problem: WeightProblem, dual: FloatArray) -> FloatArray:
    return np.maximum(problem.edge_sums(dual) / (2 * problem.beta) - problem.z / problem.beta, 0.0)


def _on_simplex(problem: WeightProblem, dual: FloatArray) -> FloatArray:
    """Return the projection onto ``w >= 0, 2 sum(w) = n``."""
    point = problem.edge_sums(dual) / (2 * problem.beta) - problem.z / problem.beta
    falling = np.sort(point)[::-1]
    excess = (np.cumsum(falling) - problem.n_nodes / 2) / np.arange(1, len(point) + 1)
    return np.asarray(np.maximum(point - excess[np.flatnonzero(falling > excess)[-1]], 0.0))


def _log_gap(problem: WeightProblem, dual: FloatArray, degrees: FloatArray) -> float:
    product = dual * degrees
    return float(np.sum(product - 1.0 - np.log(product))) if np.all(product > 0) else np.inf


def _raised(problem: WeightProblem, dual: FloatArray) -> FloatArray:
    """Return the dual with nodes of degree 0 half way to the least value at which they have an edge.

    No minimum has such a node, and a far one would get there by steps of 1 / dual alone.
    """
    short = problem.node_minima(2 * problem.z - problem.edge_sums(dual))
    return np.asarray(dual + np.maximum(short, 0.0) / 2)


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


MODELS: dict[str, DegreeModel] = {
    "log": DegreeModel(
        weights=_positive,
        proximal=lambda problem, point, step: (point + np.sqrt(point**2 + 4 * step)) / 2,
        gap=_log_gap,
        # Every node has a positive degree, and a node far from all others is felt by none.
        start=lambda problem: 2.0 * problem.node_minima(problem.z) + 1.0,
        raised=_raised,
        scale=_log_scale,
        problem=lambda pairs, z, n_nodes, scale: WeightProblem(pairs, scale * z, n_nodes, 1.0),
        slope=-1,
    ),
    "l2": DegreeModel(
        weights=_on_simplex,
        proximal=lambda problem, point, step: point / (1 + step / problem.beta),
        gap=lambda problem, dual, degrees: float(np.sum((problem.beta * degrees + dual) ** 2) / (2 * problem.beta)),
        start=lambda problem: np.full(problem.n_nodes, -problem.beta),
        raised=lambda problem, dual: dual,
        scale=_l2_scale,
        problem=WeightProblem,
        slope=1,
    ),
}


def minimum(
    problem: WeightProblem, kind: DegreeModel, tol: float, max_iterations: int
) -> tuple[FloatArray, float, int]:
    """Return the weights, their duality gap and the number of steps, once the gap proves ``tol`` or steps run out."""
    best: tuple[FloatArray, float, int] = (np.zeros(len(problem.z)), np.inf, 0)
    for step, (w, gap) in enumerate(_iterates(problem, kind), start=1):
        best = (w, gap, step) if gap <= best[1] else (best[0], best[1], step)
        if best[1] <= problem.beta * (tol * float(np.linalg.norm(best[0]))) ** 2 or step == max_iterations:
            break
    return best


def _iterates(problem: WeightProblem, kind: DegreeModel) -> Iterator[tuple[FloatArray, float]]:
    """Yield weights and gaps of accelerated proximal gradients on the dual, restarted where momentum turns back."""
    lengths = problem.beta / np.maximum(problem.node_sums(np.ones(len(problem.z))), 1.0)
    dual = ahead = kind.start(problem)
    momentum = 1.0
    while True:
        w = kind.weights(problem, ahead)
        degrees = problem.node_sums(w)
        yield w, kind.gap(problem, ahead, degrees)
        moved = kind.proximal(problem, ahead - lengths * degrees, lengths)
        if not np.all(degrees):
            moved = kind.raised(problem, moved)
        if float(np.sum((ahead - moved) * (moved - dual) / lengths)) > 0:
            momentum = 1.0
        following = (1 + np.sqrt(1 + 4 * momentum**2)) / 2
        ahead, dual, momentum = moved + (momentum - 1) / following * (moved - dual), moved, following
