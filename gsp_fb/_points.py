"""Neighbours of points in space: pairs, distances and weights of k-nearest and radius graphs."""

from __future__ import annotations

from typing import Any

import numpy as np

from ._arguments import check_choice, check_count, check_positive, host_array
from ._extras import has, require
from .backend import FloatArray, IntArray
from .errors import GraphError, ParameterError

__all__ = ["WEIGHTS", "check_points", "each_once", "edge_weights", "gaussian_weights", "nearest_neighbours"]
__all__ += ["neighbour_pairs"]

# From so many points on, in more dimensions than trees serve, an approximate search is used if it is installed.
APPROXIMATE_FROM, TREE_DIMENSIONS = 100_000, 15
WEIGHTS = ("gaussian", "binary", "distance")


def check_points(points: Any) -> FloatArray:
    """Return points as finite float64 rows."""
    array = host_array(points, GraphError, "points")
    if array.ndim != 2 or not array.shape[1] or array.dtype.kind not in "biuf":
        raise GraphError(
            f"points have shape {array.shape} and type {array.dtype}; numbers of (n, dimensions) are needed"
        )
    array = np.asarray(array, dtype=np.float64)
    bad = np.flatnonzero(~np.isfinite(array).all(axis=1))
    if bad.size:
        raise GraphError(f"point {bad[0]} is {tuple(array[bad[0]].tolist())}; points must be finite")
    return array


def neighbour_pairs(
    points: FloatArray, k: int | None, radius: float | None, *, mutual: bool, metric: str
) -> tuple[IntArray, FloatArray]:
    """Return the pairs ``i < j`` of neighbouring points, each once, and their distances."""
    if (k is None) == (radius is None):
        raise ParameterError(f"k={k!r} and radius={radius!r}: give exactly one of them")
    if radius is not None and mutual:
        raise ParameterError("mutual=True is for k nearest neighbours; radius neighbours are always mutual")
    near = nearest_neighbours(points, k, metric) if k is not None else _within(points, radius, metric)
    return each_once(*near, mutual=mutual)


def each_once(
    row: IntArray, col: IntArray, distance: FloatArray, *, mutual: bool = False
) -> tuple[IntArray, FloatArray]:
    """Return the pairs ``i < j`` in lists of neighbours, each once, and their distances; ``mutual``: those in both."""
    low, high = np.minimum(row, col), np.maximum(row, col)
    order = np.lexsort((high, low))
    low, high, distance = low[order], high[order], distance[order]
    again = np.append(False, (low[1:] == low[:-1]) & (high[1:] == high[:-1]))
    # A pair that both of its points name stands in two rows, one after the other.
    keep = np.append(again[1:], False)[: len(again)] if mutual else ~again
    return np.stack([low[keep], high[keep]], axis=1), distance[keep]


def nearest_neighbours(points: FloatArray, k: int, metric: str = "euclidean") -> tuple[IntArray, IntArray, FloatArray]:
    """Return each point's k nearest others: rows, columns and distances, k entries a row."""
    n_points, k = len(points), check_count(k, "k")
    if k >= n_points:
        raise ParameterError(f"k={k} neighbours need at least {k + 1} points, not {n_points}")
    if n_points >= APPROXIMATE_FROM and points.shape[1] > TREE_DIMENSIONS and has("pynndescent"):
        pynndescent = require("pynndescent", "approximate neighbours")
        return _without_self(*pynndescent.NNDescent(points, metric, n_neighbors=k + 1, random_state=0).neighbor_graph)
    if metric == "euclidean" and (points.shape[1] <= TREE_DIMENSIONS or not has("sklearn")):
        from scipy.spatial import KDTree

        distance, at = (np.asarray(found) for found in KDTree(points).query(points, k + 1))
        return _without_self(at, distance)
    search = require("sklearn.neighbors", "a graph of points").NearestNeighbors(n_neighbors=k, metric=metric)
    distance, at = search.fit(points).kneighbors()
    return np.repeat(np.arange(n_points), k), at.ravel().astype(np.int64), distance.ravel()


def _without_self(at: IntArray, distance: FloatArray) -> tuple[IntArray, IntArray, FloatArray]:
    """Return rows, columns and distances of lists of one neighbour too many: the point itself, or the last."""
    row, k = np.arange(len(at)), at.shape[1] - 1
    others = at != row[:, None]
    # Among more than k points that coincide, a point may be missing from its own list: the last one is dropped then.
    others[others.all(axis=1), -1] = False
    return np.repeat(row, k), at[others].astype(np.int64), distance[others].astype(np.float64)


def _within(points: FloatArray, radius: Any, metric: str) -> tuple[IntArray, IntArray, FloatArray]:
    radius = check_positive(radius, "radius")
    search = require("sklearn.neighbors", "a graph of points").NearestNeighbors(radius=radius, metric=metric)
    found = search.fit(points).radius_neighbors_graph(mode="distance").tocoo()
    return found.row.astype(np.int64), found.col.astype(np.int64), found.data


def edge_weights(distance: FloatArray, weight: str, bandwidth: float | None) -> FloatArray | None:
    """Return the weights of edges by their lengths; None where all are 1."""
    check_choice(weight, WEIGHTS, "weight")
    if weight != "gaussian" and bandwidth is not None:
        raise ParameterError(f"bandwidth={bandwidth!r} is for weight='gaussian', not {weight!r}")
    if weight == "binary":
        return None
    if weight == "distance":
        if not np.all(distance > 0):
            raise GraphError("two neighbouring points coincide, so their edge has weight 0; use weight='gaussian'")
        return distance
    return gaussian_weights(distance, bandwidth)


def gaussian_weights(distance: FloatArray, bandwidth: float | None = None) -> FloatArray:
    """Return ``exp(-d^2 / (2 s^2))`` with the bandwidth s, by default the mean distance."""
    # The mean length makes the rule free of the unit of length.
    mean = float(distance.mean()) if len(distance) else 1.0
    sigma = check_positive(bandwidth, "bandwidth") if bandwidth is not None else mean or 1.0
    return np.exp(-((distance / sigma) ** 2) / 2)
