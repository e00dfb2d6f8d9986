"""Every reader of the library in one table: the file it is given, and the call that reads it.

A reader's promise: whatever the bytes are, it returns, or it raises one of our errors. Anything else is a bug.
The property-based tests (``tests/test_corruption.py``) and the fuzzer share this table and the corpus beside it.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Callable
from dataclasses import dataclass
from importlib import import_module
from pathlib import Path
from typing import Any

import numpy as np

from gsp_fb.datasets import info, loading, readers
from gsp_fb.datasets.readers import geomgcn, npz, pickled
from gsp_fb.datasets.readers.archive import parse_gin, read_gin_zip, read_ppi
from gsp_fb.errors import GspError
from gsp_fb.files import FORMATS, read_graph
from gsp_fb.opening import open_graph
from gsp_fb.operators import operator

CORPUS = Path(__file__).parent / "corpus"
# The caller's own limit, so that a number in a header costs the fuzzer no time.
MAX_NODES = 100_000


@dataclass(frozen=True)
class Reader:
    """How bytes are put before one reader: under which file name, and what is then called with the path."""

    file_name: str
    read: Callable[[Path], object]

    def survives(self, content: bytes, folder: Path) -> object | None:
        """Return what was read, or None where the content was refused; any other exception is a finding."""
        path = folder / self.file_name
        path.write_bytes(content)
        try:
            return self.read(path)
        except GspError as refusal:
            if str(folder) not in str(refusal):
                raise AssertionError(f"the refusal does not name the file: {refusal}") from refusal
            return None


def _graph(path: Path) -> object:
    return read_graph(path, max_nodes=MAX_NODES)


def _dataset(read: Callable[[Path], Any]) -> Callable[[Path], object]:
    """Go the whole way to a data set: a graph, features, labels and splits."""

    def whole(path: Path) -> object:
        arrays = read(path)
        return loading._dataset(info("texas"), arrays, directed=False, loops="keep", made_up=False)

    return whole


def _collection(read: Callable[[Path], Any]) -> Callable[[Path], object]:
    return lambda path: list(loading._collection(info("MUTAG"), read(path), "keep"))


def _gin(path: Path) -> Any:
    with readers.reading(path), open(path, encoding="utf-8") as lines:
        return parse_gin(lines, [["0"]])


def _stored(path: Path) -> object:
    """Open a folder of which one file is damaged, and use it: a product reads all of it."""
    folder = path.parent
    for name, file_name in NPYD.items():
        if file_name != path.name:
            (folder / file_name).write_bytes((CORPUS / name / "small").read_bytes())
    graph = open_graph(folder, memory="1MB")
    if graph.n_nodes > MAX_NODES:
        return graph
    return operator(graph, "sym") @ np.ones(graph.n_nodes)


def _nn() -> Any:
    # Only when asked for: torch takes seconds, and most readers have no use for it.
    return import_module("gsp_fb.nn")


def _sidecar(path: Path) -> object:
    """Read a damaged sidecar beside whole tensors."""
    (path.parent / "checkpoint-00000003.safetensors").write_bytes(_tensors())
    return _nn().read_checkpoint(path)


def _tensors() -> bytes:
    return (CORPUS / "checkpoint_tensors" / "small").read_bytes()


def _tensor_file(path: Path) -> object:
    """Read damaged tensors whose sidecar vouches for them, as that of a forger would."""
    facts = {"format": 1, "tensors": path.name, "sha256": hashlib.sha256(path.read_bytes()).hexdigest()}
    facts |= {"epoch": 3, "best_epoch": 2, "recipe": {}, "config": {}, "data": {}}
    sidecar = path.with_name("checkpoint.json")
    sidecar.write_text(json.dumps(facts))
    return _nn().read_checkpoint(sidecar)


# The files of a graph that is kept on disk, each of them a reader of its own.
NPYD = {
    "npyd_facts": "graph.json",
    "npyd_indptr": "indptr.npy",
    "npyd_indices": "indices.npy",
    "npyd_weights": "weights.npy",
}
READERS: dict[str, Reader] = {
    **{name: Reader(f"graph{kind.suffixes[0]}", _graph) for name, kind in FORMATS.items()},
    "csv_gz": Reader("graph.csv.gz", _graph),
    **{name: Reader(file_name, _stored) for name, file_name in NPYD.items()},
    "node_npz": Reader("set.npz", _dataset(npz.read_node)),
    "collection_npz": Reader("set.npz", _collection(npz.read_collection)),
    "relations_npz": Reader("set.npz", lambda path: npz.read_relations(path, "poincare")),
    "gnn_benchmark": Reader("set.npz", _dataset(npz.read_gnn_benchmark)),
    "heterophilous": Reader("set.npz", _dataset(npz.read_heterophilous)),
    "masks": Reader("split.npz", npz.read_masks),
    "geom_edges": Reader("out1_graph_edges.txt", geomgcn.read_edges),
    "geom_nodes": Reader("out1_node_feature_label.txt", geomgcn.read_nodes),
    "film_nodes": Reader("out1_node_feature_label.txt", lambda path: geomgcn.read_index_nodes(path, 9)),
    "relations_text": Reader("relations.txt", geomgcn.read_relations_text),
    "gin_text": Reader("MUTAG.txt", _collection(_gin)),
    "gin_zip": Reader("set.zip", _collection(lambda path: read_gin_zip(path, "SET"))),
    "ppi": Reader("ppi.zip", _dataset(read_ppi)),
    "planetoid_matrix": Reader("ind.cora.x", geomgcn._matrix),
    "planetoid_array": Reader("ind.cora.y", geomgcn._one_hot),
    "planetoid_graph": Reader("ind.cora.graph", geomgcn._edges),
    "planetoid_pickle": Reader("ind.cora.any", lambda path: pickled.load_pickle(path, object)),
    "checkpoint_json": Reader("checkpoint.json", _sidecar),
    "checkpoint_tensors": Reader("checkpoint-00000003.safetensors", _tensor_file),
    "metrics": Reader("metrics.csv", lambda path: _nn().read_metrics(path.parent)),
}


def seeds(name: str) -> dict[str, bytes]:
    """Return the corpus of a reader by file name."""
    return {path.name: path.read_bytes() for path in sorted((CORPUS / name).iterdir())}
