"""Readers of the public file layouts: one reader per layout, in one table."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np

from ..registry import DatasetInfo
from .archive import parse_gin, read_gin_zip, read_ppi
from .arrays import BoolArray, CollectionArrays, NodeArrays, reading
from .geomgcn import read_edges, read_index_nodes, read_nodes, read_planetoid, read_relations_text
from .npz import read_collection, read_gnn_benchmark, read_heterophilous, read_masks, read_node, read_relations

__all__ = ["READERS", "read_collection", "read_node", "read_relations", "read_relations_text"]

Files = Mapping[str, Path]


def _splits(files: Files) -> BoolArray:
    masks = [read_masks(files[f"split_{k}"]) for k in range(10)]
    with reading(files["split_0"]):
        return np.stack(masks, axis=1)


def _node_arrays(files: Files, x: Any, y: Any) -> NodeArrays:
    edges, masks = read_edges(files["edges"]), _splits(files)
    with reading(files["edges"]):
        return NodeArrays(edges, x, y, masks)


def _planetoid(files: Files, row: DatasetInfo) -> NodeArrays:
    read, masks = read_planetoid(files), _splits(files)
    with reading(files["split_0"]):
        return replace(read, masks=masks)


def _gin(files: Files, row: DatasetInfo) -> CollectionArrays:
    text, *folds = files.values()
    with reading(text), open(text, encoding="utf-8") as lines:
        return parse_gin(lines, [fold.read_text(encoding="utf-8").splitlines() for fold in folds])


READERS: dict[str, Callable[[Files, DatasetInfo], Any]] = {
    "geomgcn": lambda files, row: _node_arrays(files, *read_nodes(files["nodes"])),
    "geomgcn_film": lambda files, row: _node_arrays(files, *read_index_nodes(files["nodes"], row.features or 0)),
    "planetoid": _planetoid,
    "gnn_benchmark": lambda files, row: read_gnn_benchmark(files["npz"]),
    "heterophilous": lambda files, row: read_heterophilous(files["npz"]),
    "gin": _gin,
    "gin_zip": lambda files, row: read_gin_zip(files["zip"], row.source),
    "powerful_gnns": lambda files, row: read_gin_zip(files["zip"], row.source),
    "ppi": lambda files, row: read_ppi(files["zip"]),
}
