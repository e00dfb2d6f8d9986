"""Data sets in one npz file, of which only numbers are read: ours, gnn-benchmark's and heterophilous-graphs'."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
from scipy import sparse

from ...files._limits import Archive
from ..splits import PARTS
from .arrays import BoolArray, CollectionArrays, NodeArrays, RelationArrays, as_features, checked_csr, opened, single

__all__ = ["read_collection", "read_gnn_benchmark", "read_heterophilous", "read_masks", "read_node", "read_relations"]

NUMBERS = "biuf"


def _int64(archive: Archive, name: str, *, ndim: int | tuple[int, ...] = 1) -> Any:
    return archive.read(name, ndim=ndim).astype(np.int64)


def _mask(archive: Archive, name: str, *, ndim: int) -> BoolArray:
    return archive.read(name, ndim=ndim, kinds=NUMBERS).astype(np.bool_)


def _csr(archive: Archive, prefix: str) -> sparse.csr_array:
    indices, indptr, shape = (_int64(archive, f"{prefix}_{part}") for part in ("indices", "indptr", "shape"))
    return checked_csr(archive.read(f"{prefix}_data", kinds=NUMBERS), indices, indptr, shape.tolist())


def read_node(path: Path) -> NodeArrays:
    """Return the node data set of this library's npz layout."""
    with opened(path, Archive) as archive:
        edges, x = _int64(archive, "edge_index", ndim=2), as_features(_csr(archive, "x"))
        masks = [_mask(archive, f"{part}_mask", ndim=2) for part in PARTS] if "train_mask" in archive else None
        public, unlabelled = None, None
        if "unlabeled_idx" in archive:
            train, val, test = (_int64(archive, f"planetoid_{part}_idx") for part in PARTS)
            public, unlabelled = (train, val, test), _int64(archive, "unlabeled_idx")
        y = _int64(archive, "y", ndim=(1, 2))
        return NodeArrays(edges, x, y, None if masks is None else np.stack(masks), public, unlabelled)


def read_collection(path: Path) -> CollectionArrays:
    """Return the graphs of this library's npz layout."""
    with opened(path, Archive) as archive:
        edges = _int64(archive, "edge_index", ndim=2)
        label, y, fold = (_int64(archive, key) for key in ("node_label", "y", "fold"))
        return CollectionArrays(_int64(archive, "graph_indptr"), edges, label, y, fold)


def read_relations(path: Path, method: str) -> RelationArrays:
    """Return one method's relations of this library's npz layout."""
    with opened(path, Archive) as archive:
        space, relation = (archive.read(f"{method}_{part}").astype(np.uint8) for part in ("space", "relation"))
        return RelationArrays(_int64(archive, f"{method}_pairs", ndim=2), space, relation)


def read_gnn_benchmark(path: Path) -> NodeArrays:
    """Return a node data set of gnn-benchmark or graph2gauss: CSR adjacency and attributes, no splits."""
    with opened(path, Archive) as archive:
        adjacency = _csr(archive, "adj")
        rows = np.repeat(np.arange(adjacency.shape[0]), np.diff(adjacency.indptr))
        edges = np.stack([rows, adjacency.indices.astype(np.int64)])
        return NodeArrays(edges, as_features(_csr(archive, "attr")), _int64(archive, "labels"))


def read_heterophilous(path: Path) -> NodeArrays:
    """Return a node data set of heterophilous-graphs: dense features, edges (E, 2), ten splits."""
    with opened(path, Archive) as archive:
        masks = np.stack([_mask(archive, f"{part}_masks", ndim=2) for part in PARTS])
        edges, y = _int64(archive, "edges", ndim=2).T, _int64(archive, "node_labels")
        x = as_features(single(archive.read("node_features", ndim=2, kinds=NUMBERS)))
        return NodeArrays(np.ascontiguousarray(edges), x, y, masks)


def read_masks(path: Path) -> BoolArray:
    """Return the (3, N) training, validation and test masks of one Geom-GCN split file."""
    with opened(path, Archive) as archive:
        return np.stack([_mask(archive, f"{part}_mask", ndim=1) for part in PARTS])
