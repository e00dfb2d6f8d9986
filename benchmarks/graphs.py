"""The graphs that are measured on."""

from __future__ import annotations

from typing import Any

import numpy as np
from scipy import sparse
from scipy.spatial import cKDTree

INSIDE = 0.9  # share of the edges that stay in their community


def community_edges(n_nodes: int, n_edges: int, seed: int = 0) -> Any:
    """Return random pairs, most of them within one of sqrt(n)/2 communities, over shuffled node ids."""
    rng = np.random.default_rng(seed)
    group = rng.integers(max(1, round(np.sqrt(n_nodes) / 2)), size=n_nodes, dtype=np.int32)
    members = np.argsort(group, kind="stable").astype(np.int32)
    start = np.searchsorted(group[members], np.arange(group.max() + 2)).astype(np.int32)
    pairs = np.empty((n_edges, 2), dtype=np.int32)
    pairs[:, 0] = rng.integers(n_nodes, size=n_edges, dtype=np.int32)
    own = group[pairs[:, 0]]
    pairs[:, 1] = members[
        start[own] + (rng.random(n_edges, dtype=np.float32) * (start[own + 1] - start[own])).astype(int)
    ]
    away = np.flatnonzero(rng.random(n_edges, dtype=np.float32) > INSIDE)
    pairs[away, 1] = rng.integers(n_nodes, size=len(away), dtype=np.int32)
    return pairs[pairs[:, 0] != pairs[:, 1]]


def nearby_edges(n_nodes: int, n_edges: int, seed: int = 0, reach: int = 500) -> Any:
    """Return random pairs at most ``reach`` apart on a line: a mesh, a road map, any graph in a good numbering."""
    rng = np.random.default_rng(seed)
    pairs = np.empty((n_edges, 2), dtype=np.int32)
    pairs[:, 0] = rng.integers(n_nodes, size=n_edges, dtype=np.int32)
    pairs[:, 1] = np.minimum(pairs[:, 0] + rng.integers(1, reach, size=n_edges, dtype=np.int32), n_nodes - 1)
    return pairs[pairs[:, 0] != pairs[:, 1]]


def community(n_nodes: int, nnz: int, seed: int = 0) -> sparse.csr_array:
    """Return the 0/1 adjacency of a community graph with about ``nnz`` entries."""
    row, col = community_edges(n_nodes, nnz // 2, seed).T
    A = sparse.coo_array((np.ones(len(row)), (row, col)), shape=(n_nodes, n_nodes)).tocsr()
    A = sparse.csr_array(A + A.T)
    A.data[:] = 1.0
    return A


def grid(side: int) -> sparse.csr_array:
    """Return the adjacency of a ``side`` x ``side`` grid, numbered row by row."""
    path = sparse.diags_array([np.ones(side - 1)] * 2, offsets=[-1, 1])
    eye = sparse.eye_array(side)
    return sparse.csr_array(sparse.kron(path, eye) + sparse.kron(eye, path))


def shuffled(A: sparse.csr_array, seed: int = 0) -> sparse.csr_array:
    """Return the same graph with its nodes numbered at random."""
    order = np.random.default_rng(seed).permutation(A.shape[0])
    return sparse.csr_array(A[order][:, order])


def nearest_points(n_points: int, n_nearest: int, seed: int = 0) -> sparse.csr_array:
    """Return the 0/1 adjacency of random points in a square and their nearest ones, numbered as they were drawn."""
    points = np.random.default_rng(seed).random((n_points, 2))
    _, nearest = cKDTree(points).query(points, n_nearest + 1, workers=-1)  # the first is the point itself
    indptr = np.arange(0, n_points * n_nearest + 1, n_nearest)
    A = sparse.csr_array((np.ones(nearest[:, 1:].size), nearest[:, 1:].ravel(), indptr), shape=(n_points, n_points))
    A = sparse.csr_array(A + A.T)
    A.data[:] = 1.0
    return A
