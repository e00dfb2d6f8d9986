"""Neighbour graphs of points: which pairs are near, and the weights that follow from their distances."""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt

from ._arguments import check_choice, check_count, check_positive
from ._extras import require
from .errors import GraphError, ParameterError

__all__ = ["WEIGHTS", "check_points", "neighbour_edges"]

WEIGHTS = ("gaussian", "binary", "distance")
# Metrics of scipy's k-d tree, as the exponent of its norm; any other one is scikit-learn's.
TREE_METRICS = {"euclidean": 2.0, "manhattan": 1.0, "chebyshev": np.inf}
# In more dimensions a k-d tree visits most points, and scikit-learn's brute force is faster.
TREE_DIMENSIONS = 16

Floats = npt.NDArray[np.float64]
Pairs = npt.NDArray[np.int64]


def neighbour_edges(
    points: Any,
    *,
    k: int | None,
    radius: float | None,
    weight: str,
    bandwidth: float | None,
    mutual: bool,
    metric: str,
) -> tuple[Pairs, Floats | None]:
    """Return each edge (i, j), i < j, of the neighbour graph once, and its weight (None for ``binary``)."""
    points = check_points(points)
    check_choice(weight, WEIGHTS, "weight")
    if (k is None) == (radius is None):
        raise ParameterError(f"give exactly one of k and radius, not k={k!r} and radius={radius!r}")
    if bandwidth is not None and weight != "gaussian":
        raise ParameterError(f"bandwidth={bandwidth!r} belongs to weight='gaussian', not to {weight!r}")
    if k is not None:
        pairs, distances, times = _nearest(points, check_count(k, "k"), metric)
        if mutual:
            pairs, distances = pairs[times == 2], distances[times == 2]
    else:
        if mutual:
            raise ParameterError("mutual=True belongs to k=: neighbours within a radius are mutual")
        pairs, distances = _within(points, check_positive(radius, "radius"), metric)
    return pairs, _weights(distances, weight, bandwidth, pairs)


def check_points(points: Any) -> Floats:
    """Return points as a finite float64 array, shape (n_points, n_dimensions)."""
    try:
        found = np.asarray(points, dtype=np.float64)
    except (TypeError, ValueError):
        raise GraphError("points must be numbers, shape (n_points, n_dimensions)") from None
    if found.ndim != 2 or 0 in found.shape:
        raise GraphError(f"points have shape {found.shape}; they must be (n_points, n_dimensions), at least one each")
    bad = np.argwhere(~np.isfinite(found))
    if bad.size:
        raise GraphError(f"coordinate {bad[0][1]} of point {bad[0][0]} is {found[tuple(bad[0])]}; it must be finite")
    return found


def _nearest(points: Floats, k: int, metric: str) -> tuple[Pairs, Floats, npt.NDArray[np.int64]]:
    """Return pairs, distances, and how many of the two ends count the other among its k nearest."""
    n_points = len(points)
    if k >= n_points:
        raise ParameterError(f"k={k} neighbours asked of {n_points} points; give k < {n_points}")
    distances, others = _query(points, k, metric)
    own = np.repeat(np.arange(n_points), k)
    ends = np.sort(np.stack([own, others.ravel()], axis=1), axis=1)
    keys = ends[:, 0] * n_points + ends[:, 1]
    _, first, times = np.unique(keys, return_index=True, return_counts=True)
    return ends[first], distances.ravel()[first], times


def _query(points: Floats, k: int, metric: str) -> tuple[Floats, Pairs]:
    """Return distances and numbers of the k nearest other points of each point."""
    if metric in TREE_METRICS and points.shape[1] <= TREE_DIMENSIONS:
        from scipy.spatial import cKDTree

        distances, others = cKDTree(points).query(points, k + 1, p=TREE_METRICS[metric])
    else:
        distances, others = _sklearn(points, metric).kneighbors(points, k + 1)
    return _without_self(np.asarray(distances), np.asarray(others), k)


def _without_self(distances: Floats, others: Pairs, k: int) -> tuple[Floats, Pairs]:
    """Drop each point from its own list; among duplicates it need not come first, or at all."""
    own = others == np.arange(len(others))[:, None]
    own[~own.any(axis=1), -1] = True
    return distances[~own].reshape(-1, k), others[~own].reshape(-1, k)


def _sklearn(points: Floats, metric: str) -> Any:
    neighbors = require("sklearn.neighbors", f"neighbours by metric={metric!r}")
    known = sorted({name for names in neighbors.VALID_METRICS.values() for name in names} - {"precomputed"})
    check_choice(metric, known, "metric")
    return neighbors.NearestNeighbors(metric=metric).fit(points)


def _within(points: Floats, radius: float, metric: str) -> tuple[Pairs, Floats]:
    if metric in TREE_METRICS and points.shape[1] <= TREE_DIMENSIONS:
        from scipy.spatial import cKDTree

        p = TREE_METRICS[metric]
        pairs = cKDTree(points).query_pairs(radius, p=p, output_type="ndarray").astype(np.int64)
        distances = np.linalg.norm(points[pairs[:, 0]] - points[pairs[:, 1]], ord=p, axis=1)
        return pairs, distances
    matrix = _sklearn(points, metric).radius_neighbors_graph(points, radius, mode="distance").tocoo()
    once = matrix.row < matrix.col
    return np.stack([matrix.row[once], matrix.col[once]], axis=1).astype(np.int64), matrix.data[once]


def _weights(distances: Floats, weight: str, bandwidth: float | None, pairs: Pairs) -> Floats | None:
    if weight == "binary":
        return None
    if weight == "distance":
        same = np.flatnonzero(distances == 0)
        if same.size:
            pair = tuple(pairs[same[0]].tolist())
            raise GraphError(f"points {pair} coincide: an edge of weight 0 is none; give weight='gaussian' or 'binary'")
        return distances
    width = _bandwidth(distances) if bandwidth is None else check_positive(bandwidth, "bandwidth")
    weights = np.exp(-0.5 * (distances / width) ** 2)
    far = np.flatnonzero(weights == 0)
    if far.size:
        pair = tuple(pairs[far[0]].tolist())
        raise GraphError(
            f"points {pair} are {distances[far[0]] / width:.3g} bandwidths apart and their weight vanishes; give a "
            f"bandwidth larger than {width:.3g}"
        )
    return weights


def _bandwidth(distances: Floats) -> float:
    """Return the mean distance of neighbours: a length, so that weights do not depend on its unit."""
    mean = float(distances.mean()) if distances.size else 0.0
    return mean or 1.0
