"""Data sets that are one npz file: this library's layout, gnn-benchmark's and heterophilous-graphs'.

Only numeric members are read. An object array would have to be unpickled, so it is never touched.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import numpy as np
from scipy import sparse

from .arrays import BoolArray, CollectionArrays, NodeArrays, RelationArrays, as_features, reading

__all__ = ["read_collection", "read_gnn_benchmark", "read_heterophilous", "read_masks", "read_node", "read_relations"]

PARTS = ("train", "val", "test")


@contextmanager
def _members(path: Path) -> Iterator[Any]:
    with reading(path), open(path, "rb") as file, np.lib.npyio.NpzFile(file, allow_pickle=False) as archive:
        yield archive


def _csr(archive: Mapping[str, Any], prefix: str) -> sparse.csr_array:
    data, indices, indptr = (archive[f"{prefix}_{part}"] for part in ("data", "indices", "indptr"))
    n_rows, n_columns = archive[f"{prefix}_shape"].tolist()
    matrix = sparse.csr_array((data, indices, indptr), shape=(n_rows, n_columns))
    matrix.check_format(full_check=True)
    return matrix


def _int64(array: Any) -> Any:
    return np.asarray(array, dtype=np.int64)


def read_node(path: Path) -> NodeArrays:
    """Return the node data set of this library's npz layout."""
    with _members(path) as archive:
        masks = [archive[f"{part}_mask"] for part in PARTS] if "train_mask" in archive else None
        public = [_int64(archive[f"planetoid_{part}_idx"]) for part in PARTS] if "unlabeled_idx" in archive else None
        return NodeArrays(
            edges=_int64(archive["edge_index"]),
            x=as_features(_csr(archive, "x")),
            y=_int64(archive["y"]),
            masks=None if masks is None else np.stack(masks),
            public=None if public is None else (public[0], public[1], public[2]),
            unlabelled=_int64(archive["unlabeled_idx"]) if "unlabeled_idx" in archive else None,
        )


def read_collection(path: Path) -> CollectionArrays:
    """Return the graphs of this library's npz layout."""
    with _members(path) as archive:
        keys = ("graph_indptr", "edge_index", "node_label", "y", "fold")
        return CollectionArrays(*(_int64(archive[key]) for key in keys))


def read_relations(path: Path, method: str) -> RelationArrays:
    """Return one method's relations of this library's npz layout."""
    with _members(path) as archive:
        pairs, space, relation = (archive[f"{method}_{part}"] for part in ("pairs", "space", "relation"))
        return RelationArrays(_int64(pairs), space, relation)


def read_gnn_benchmark(path: Path) -> NodeArrays:
    """Return a node data set of gnn-benchmark or graph2gauss: CSR adjacency and attributes, no splits."""
    with _members(path) as archive:
        adjacency = _csr(archive, "adj")
        rows = np.repeat(np.arange(adjacency.shape[0]), np.diff(adjacency.indptr))
        edges = np.stack([rows, _int64(adjacency.indices)])
        return NodeArrays(edges, as_features(_csr(archive, "attr")), _int64(archive["labels"]))


def read_heterophilous(path: Path) -> NodeArrays:
    """Return a node data set of heterophilous-graphs: dense features, edges (E, 2), ten splits."""
    with _members(path) as archive:
        masks = np.stack([np.asarray(archive[f"{part}_masks"], dtype=bool) for part in PARTS])
        edges, y = _int64(archive["edges"]).T, _int64(archive["node_labels"])
        return NodeArrays(np.ascontiguousarray(edges), as_features(archive["node_features"]), y, masks)


def read_masks(path: Path) -> BoolArray:
    """Return the (3, N) training, validation and test masks of one Geom-GCN split file."""
    with _members(path) as archive:
        return np.stack([np.asarray(archive[f"{part}_mask"]) != 0 for part in PARTS])
