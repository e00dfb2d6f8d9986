"""Graphs with coordinates: from edges and places, or from the nearest neighbours of points."""

from __future__ import annotations

from typing import Any

import numpy as np

from .._points import gaussian_weights, nearest_neighbours
from ..backend import FloatArray
from ..graph import Graph
from ..nodes import NodeTable

__all__ = ["circle", "nearest", "placed"]


def placed(edges: Any, coordinates: Any, weights: Any = None, **columns: Any) -> Graph:
    """Return the undirected graph of pairs ``(first, second)`` with nodes at the coordinates."""
    n = len(coordinates)
    nodes = NodeTable(n, None, np.asarray(coordinates, dtype=np.float64), columns)
    return Graph.from_edges(np.stack(edges, axis=1), weights, n, nodes=nodes)


def circle(n: int) -> FloatArray:
    """Return ``n`` equally spaced points of the unit circle, from (1, 0) on."""
    angles = 2 * np.pi * np.arange(n) / max(n, 1)
    return np.stack([np.cos(angles), np.sin(angles)], axis=1)


def nearest(points: FloatArray, k: int, coordinates: FloatArray | None = None, **columns: Any) -> Graph:
    """Return the k-nearest-neighbour graph, weight exp(-d^2 / (2 s^2)) with the mean edge length s."""
    n = len(points)
    k = min(k, n - 1)
    nodes = NodeTable(n, None, points if coordinates is None else coordinates, columns)
    if k < 1:
        return Graph.from_edges(np.empty((0, 2), dtype=np.int64), n_nodes=n, nodes=nodes)
    first, second, lengths = nearest_neighbours(points, k)
    weights = gaussian_weights(lengths)
    keep = weights > 0
    edges = np.stack([first[keep], second[keep]], axis=1)
    return Graph.from_edges(edges, weights[keep], n, symmetrize="max", nodes=nodes)
