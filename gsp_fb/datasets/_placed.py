"""Graphs with coordinates: from edges and places, or from the nearest neighbours of points."""

from __future__ import annotations

from typing import Any

import numpy as np

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
    from scipy.spatial import KDTree

    n = len(points)
    k = min(k, n - 1)
    nodes = NodeTable(n, None, points if coordinates is None else coordinates, columns)
    if k < 1:
        return Graph.from_edges(np.empty((0, 2), dtype=np.int64), n_nodes=n, nodes=nodes)
    found = KDTree(points).query(points, k=np.arange(2, k + 2))
    lengths, near = np.asarray(found[0]), np.asarray(found[1])
    edges = np.stack([np.repeat(np.arange(n), k), near.ravel()], axis=1)
    # Points that coincide are at distance 0, all of them where nothing varies.
    spread = float(lengths.mean()) or 1.0
    weights = np.exp(-(lengths.ravel() ** 2) / (2 * spread**2))
    keep = (edges[:, 0] != edges[:, 1]) & (weights > 0)
    return Graph.from_edges(edges[keep], weights[keep], n, symmetrize="max", nodes=nodes)
