"""Write the seed corpus: a few small whole files for each reader. ``python -m tools.fuzz.seeds`` makes it anew."""

from __future__ import annotations

import hashlib
import io
import json
import pickle
import tempfile
import zipfile
from collections import defaultdict
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import torch
from safetensors.torch import save
from scipy import sparse

from gsp_fb import Graph
from gsp_fb.files import FORMATS, write_graph
from gsp_fb.outofcore import write_folder
from tools.fuzz.readers import NPYD

EDGES = [(0, 1), (1, 2), (2, 2), (0, 3)]
GRAPHS = {
    "path": Graph.from_edges(EDGES, n_nodes=5),
    "arcs": Graph.from_edges(EDGES, [0.5, 2.0, 1e-3, 7.0], directed=True),
}
NAMED = Graph.from_edges(EDGES, [0.1, 0.2, 3.0, 4.0], nodes=("a", "b&", "ü", "d"))
X = sparse.csr_matrix(np.array([[0, 1, 0], [2, 0, 0], [0, 0, 3], [1, 1, 0]], dtype=np.float32))
Y, PAIRS = np.array([0, 1, 0, 1]), np.array([[0, 1, 2, 3], [1, 2, 3, 0]])
MASKS = np.array([[[1, 0, 0, 0]], [[0, 1, 0, 0]], [[0, 0, 1, 1]]], dtype=bool)
PARTS = ("train", "val", "test")
GIN = "2\n2 0\n0 1 1\n1 1 0\n3 1\n0 2 1 2\n0 1 0\n2 1 0\n"
TEXTS = {
    "geom_edges": "node_id\tnode_id\n0\t1\n2\t3\n",
    "geom_nodes": "node_id\tfeature\tlabel\n0\t0,1,0\t1\n1\t1,0,0.5\t0\n",
    "film_nodes": "node_id\tfeature(feature_amount:9)\tlabel\n1\t0,8,8\t0\n0\t3\t2\n",
    "relations_text": "node1,node2\tspace\trelation_type\n0,1\tgraph\t0\n2,1\tlatent_space\t3\n",
    "gin_text": GIN,
    "metrics": "epoch,train_loss,s_value\n1,0.5,nan\n2,0.25,1.5\n3,0.",
}


def _npz(**arrays: Any) -> bytes:
    buffer = io.BytesIO()
    np.savez(buffer, allow_pickle=False, **arrays)
    return buffer.getvalue()


def _zip(**members: bytes) -> bytes:
    buffer = io.BytesIO()
    with zipfile.ZipFile(buffer, "w") as archive:
        for name, content in members.items():
            # Without a date: the same seeds every time.
            archive.writestr(zipfile.ZipInfo(name.replace("__", "/").replace("--", ".")), content)
    return buffer.getvalue()


def _npy(array: Any) -> bytes:
    buffer = io.BytesIO()
    np.save(buffer, array)
    return buffer.getvalue()


def _csr(prefix: str, matrix: Any) -> dict[str, Any]:
    parts = {name: getattr(matrix, name) for name in ("data", "indices", "indptr")}
    return {f"{prefix}_{name}": part for name, part in (parts | {"shape": np.array(matrix.shape)}).items()}


def _masks(ending: str) -> dict[str, Any]:
    return {f"{part}_{ending}": MASKS[k] for k, part in enumerate(PARTS)}


def _ppi() -> bytes:
    graph = json.dumps({"nodes": [{"id": 0}, {"id": 1}], "links": [{"source": 0, "target": 1}]}).encode()
    members = {}
    for part in ("train", "valid", "test"):
        members |= {f"{part}_graph--json": graph, f"{part}_feats--npy": _npy(np.eye(2)[:, :2])}
        members[f"{part}_labels--npy"] = _npy(np.eye(2, dtype=np.int64))
    return _zip(**members)


def _planetoid() -> dict[str, dict[str, bytes]]:
    graph = defaultdict(list, {0: [1, 2], 1: [0], 2: [0]})
    held = {"matrix": X, "array": np.eye(3, dtype=np.int32), "graph": graph}
    written = {name: {f"protocol{p}": pickle.dumps(thing, protocol=p) for p in (0, 2)} for name, thing in held.items()}
    return {f"planetoid_{name}": files for name, files in written.items()} | {"planetoid_pickle": written["matrix"]}


def _binary() -> dict[str, dict[str, bytes]]:
    public = {f"planetoid_{part}_idx": np.array([k]) for k, part in enumerate(PARTS)}
    node = {"edge_index": PAIRS, "y": Y} | _csr("x", X)
    folds = {f"SET__10fold_idx__test_idx-{k}--txt": b"0\n" if k == 1 else b"1\n" for k in range(1, 11)}
    collection = {"graph_indptr": [0, 2, 5], "edge_index": [[0, 1, 2], [1, 0, 3]], "node_label": [0, 1, 0, 0, 2]}
    return {
        "node_npz": {
            "splits": _npz(**node, **_masks("mask")),
            "planetoid": _npz(**node, **public, unlabeled_idx=np.array([2])),
        },
        "collection_npz": {"small": _npz(**collection, y=[0, 1], fold=[0, -1])},
        "relations_npz": {
            "small": _npz(poincare_pairs=PAIRS, poincare_space=np.uint8([0, 1] * 2), poincare_relation=np.uint8(Y))
        },
        "gnn_benchmark": {
            "small": _npz(**_csr("adj", sparse.csr_array(GRAPHS["arcs"].adjacency)), **_csr("attr", X), labels=Y)
        },
        "heterophilous": {
            "small": _npz(node_features=X.toarray(), node_labels=Y, edges=np.asfortranarray(PAIRS.T), **_masks("masks"))
        },
        "masks": {"small": _npz(**{f"{part}_mask": MASKS[k, 0].astype(np.uint8) for k, part in enumerate(PARTS)})},
        "gin_zip": {"small": _zip(**{"SET__SET--txt": GIN.encode()}, **folds)},
        "ppi": {"small": _ppi()},
    }


def _checkpoints() -> dict[str, dict[str, bytes]]:
    tensors = save({"model.weight": torch.arange(6.0).reshape(2, 3), "generator": torch.zeros(4, dtype=torch.uint8)})
    facts = {"format": 1, "tensors": "checkpoint-00000003.safetensors", "sha256": hashlib.sha256(tensors).hexdigest()}
    facts |= {"epoch": 3, "best_epoch": 2, "recipe": {"model": "gcn"}, "config": {"lr": 0.01}, "data": {"graph": "abc"}}
    return {"checkpoint_tensors": {"small": tensors}, "checkpoint_json": {"small": json.dumps(facts).encode()}}


def _graphs(folder: Path) -> dict[str, dict[str, bytes]]:
    files: dict[str, dict[str, bytes]] = defaultdict(dict)
    for name, kind in {**FORMATS, "csv_gz": FORMATS["csv"]}.items():
        graphs = GRAPHS | ({"named": NAMED} if kind.labels else {})
        path = folder / f"graph{kind.suffixes[0]}{'.gz' if name == 'csv_gz' else ''}"
        for title, graph in graphs.items():
            write_graph(graph, path)
            files[name][title] = path.read_bytes()
    files["npz"]["scipy_csr"], files["npz"]["scipy_coo"] = (_scipy(kind) for kind in ("csr", "coo"))
    files["csv"]["plain"], files["tsv"]["plain"] = b"a;b;1\nb;c;2.5\n", b"# note\n0 1\n1 2\n"
    files["mtx"]["integer"] = b"%%MatrixMarket matrix coordinate integer symmetric\n% note\n2 2 1\n2 1 3\n"
    return files


def _stored(folder: Path) -> dict[str, dict[str, bytes]]:
    write_folder(GRAPHS["arcs"], folder / "graph.npyd")
    return {name: {"small": (folder / "graph.npyd" / file).read_bytes()} for name, file in NPYD.items()}


def _scipy(kind: str) -> bytes:
    buffer = io.BytesIO()
    sparse.save_npz(buffer, GRAPHS["path"].adjacency.asformat(kind), compressed=False)
    return buffer.getvalue()


def write_corpus(corpus: Path, folder: Path) -> None:
    """Write all seeds under ``corpus``, with ``folder`` for scratch."""
    texts = {name: {"small": text.encode()} for name, text in TEXTS.items()}
    makers: list[Callable[[], dict[str, dict[str, bytes]]]] = [_planetoid, _binary, _checkpoints]
    tables = [_graphs(folder), _stored(folder), texts, *(make() for make in makers)]
    for name, files in ((name, files) for table in tables for name, files in table.items()):
        (corpus / name).mkdir(parents=True, exist_ok=True)
        for title, content in files.items():
            (corpus / name / title).write_bytes(content)


if __name__ == "__main__":
    with tempfile.TemporaryDirectory() as scratch:
        write_corpus(Path(__file__).parent / "corpus", Path(scratch))
