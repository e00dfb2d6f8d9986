"""The readers of the original public formats, against the npz layout of the same content.

The originals are not at hand, so the tests write files of the same formats. For three of them the writing is known
to be exact: the text made from the arrays has the git blob id that the public repository lists.
"""

from __future__ import annotations

import hashlib
import io
import json
import pickle
import re
import struct
import zipfile
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from scipy import sparse

from gsp_fb import datasets
from gsp_fb.datasets import loading
from gsp_fb.datasets.readers import NodeArrays, read_collection, read_node, read_relations, read_relations_text
from gsp_fb.datasets.readers.arrays import CollectionArrays
from gsp_fb.datasets.readers.pickled import PickledArray, PickledCsr, load_pickle
from gsp_fb.errors import FormatError, IntegrityError
from tests.support.real_data import DATA, needs_data

PARTS = ("train", "val", "test")


# ---- content, and its npz layout


def node_content(seed: int = 0, *, n_nodes: int = 40, n_features: int = 12, binary: bool = True) -> NodeArrays:
    rng = np.random.default_rng(seed)
    values = rng.integers(1, 9, (n_nodes, n_features)) / (1 if binary else 8)
    dense = (rng.random((n_nodes, n_features)) < 0.3) * (np.ones_like(values) if binary else values)
    part = rng.integers(0, 4, (10, n_nodes))
    return NodeArrays(
        edges=rng.integers(0, n_nodes, (2, 120)),
        x=sparse.csr_array(dense.astype(np.float32)),
        y=rng.permutation(np.arange(n_nodes) % 3),
        masks=np.stack([part == k for k in range(3)]),
    )


def write_npz(path: Path, content: NodeArrays) -> Path:
    arrays = {
        "edge_index": content.edges.astype(np.int32),
        "x_indptr": content.x.indptr,
        "x_indices": content.x.indices,
        "x_data": content.x.data,
        "x_shape": np.array(content.x.shape),
        "y": content.y.astype(np.int16),
    }
    if content.masks is not None:
        arrays |= {f"{part}_mask": content.masks[k] for k, part in enumerate(PARTS)}
    if content.public is not None:
        arrays |= {
            f"planetoid_{part}_idx": index.astype(np.int32) for part, index in zip(PARTS, content.public, strict=True)
        }
        arrays["unlabeled_idx"] = content.unlabelled.astype(np.int32)
    np.savez_compressed(path, **arrays)
    return path


def assert_same(a: NodeArrays, b: NodeArrays) -> None:
    assert np.array_equal(a.edges, b.edges)
    assert a.edges.dtype == b.edges.dtype
    for part in ("indptr", "indices", "data"):
        assert np.array_equal(getattr(a.x, part), getattr(b.x, part))
    assert a.x.shape == b.x.shape
    assert a.x.dtype == b.x.dtype == np.float32
    assert np.array_equal(a.y, b.y)
    assert a.y.dtype == b.y.dtype
    assert (a.masks is None and b.masks is None) or np.array_equal(a.masks, b.masks)
    assert (a.public is None) == (b.public is None)
    if a.public is not None:
        assert all(np.array_equal(one, other) for one, other in zip(a.public, b.public, strict=True))
        assert np.array_equal(a.unlabelled, b.unlabelled)


# ---- the public formats, written


def geom_nodes_text(content: NodeArrays) -> str:
    digits = np.full((content.x.shape[0], 2 * content.x.shape[1]), ord(","), dtype=np.uint8)
    digits[:, ::2] = ord("0") + content.x.toarray()
    rows = (f"{i}\t{row[:-1].tobytes().decode()}\t{content.y[i]}\n" for i, row in enumerate(digits))
    return "node_id\tfeature\tlabel\n" + "".join(rows)


def film_nodes_text(content: NodeArrays) -> str:
    """Write what the film file is like: another header, nodes and columns in no order, a column listed again."""
    rng = np.random.default_rng(0)
    columns = [rng.permutation(row).tolist() for row in np.split(content.x.indices, content.x.indptr[1:-1])]
    texts = (
        f"{i}\t{','.join(map(str, [*columns[i], columns[i][0]]))}\t{content.y[i]}\n"
        for i in rng.permutation(len(columns))
    )
    return "node_id\tfeature(feature_amount:931)\tlabel\n" + "".join(texts)


def edges_text(edges: np.ndarray) -> str:
    return "node_id\tnode_id\n" + "".join(f"{i}\t{j}\n" for i, j in edges.T)


def splits_bytes(content: NodeArrays) -> dict[str, bytes]:
    files = {}
    for k in range(10):
        buffer = io.BytesIO()
        np.savez(buffer, **{f"{part}_mask": content.masks[p, k].astype(np.uint8) for p, part in enumerate(PARTS)})
        files[f"split_{k}"] = buffer.getvalue()
    return files


def gnn_benchmark_bytes(content: NodeArrays) -> bytes:
    n_nodes = len(content.y)
    order = np.argsort(content.edges[0], kind="stable")
    indptr = np.concatenate([[0], np.cumsum(np.bincount(content.edges[0], minlength=n_nodes))])
    buffer = io.BytesIO()
    np.savez(
        buffer,
        adj_data=np.ones(content.edges.shape[1], dtype=np.float32),
        adj_indices=content.edges[1][order],
        adj_indptr=indptr,
        adj_shape=np.array([n_nodes, n_nodes]),
        attr_data=content.x.data,
        attr_indices=content.x.indices,
        attr_indptr=content.x.indptr,
        attr_shape=np.array(content.x.shape),
        labels=content.y,
        class_names=np.array([_Bomb("class_names")], dtype=object),
    )
    return buffer.getvalue()


def heterophilous_bytes(content: NodeArrays) -> bytes:
    buffer = io.BytesIO()
    masks = {f"{part}_masks": content.masks[k] for k, part in enumerate(PARTS)}
    np.savez(buffer, node_features=content.x.toarray(), node_labels=content.y, edges=content.edges.T, **masks)
    return buffer.getvalue()


class _Bomb:
    """Makes a file named ``target`` if it is ever unpickled."""

    def __init__(self, target: object) -> None:
        self.target = str(target)

    def __reduce__(self) -> tuple[object, tuple[str, str]]:
        return open, (self.target, "w")


class _Python2Pickler(pickle._Pickler):
    """Writes what Python 2 wrote: byte strings as BINSTRING, scipy's and numpy's old module names."""

    dispatch = pickle._Pickler.dispatch.copy()

    def save_bytes(self, obj: bytes) -> None:
        self.write(pickle.BINSTRING + struct.pack("<i", len(obj)) + obj)

    dispatch[bytes] = save_bytes

    def save_global(self, obj: object, name: str | None = None) -> None:
        old = {"csr_matrix": "scipy.sparse.csr", "_reconstruct": "numpy.core.multiarray", "list": "__builtin__"}
        name = name or obj.__name__
        self.write(pickle.GLOBAL + f"{old.get(name, obj.__module__)}\n{name}\n".encode())
        self.memoize(obj)

    dispatch[type] = save_global


def python2_pickle(obj: object) -> bytes:
    buffer = io.BytesIO()
    _Python2Pickler(buffer, protocol=2).dump(obj)
    return buffer.getvalue()


def modern_pickle(obj: object) -> bytes:
    return pickle.dumps(obj, protocol=2)


def planetoid_content() -> NodeArrays:
    """Forty nodes, the last ten of them test nodes in shuffled order, two of which no test file mentions."""
    content = node_content(3)
    y, x = content.y.copy(), content.x.toarray()
    missing = np.array([33, 36])
    y[missing], x[missing] = 0, 0
    sources = np.sort(content.edges[0])
    edges = np.stack([sources, content.edges[1]])
    edges = np.concatenate([np.stack([np.arange(40), np.arange(40)]), edges], axis=1)
    edges = edges[:, np.argsort(edges[0], kind="stable")]
    # The public validation set counts 500 nodes from the last training node on, however many there are.
    public = (np.arange(6), np.arange(6, 506), np.setdiff1d(np.arange(30, 40), missing))
    return replace(content, edges=edges, x=sparse.csr_array(x), y=y, public=public, unlabelled=missing)


def planetoid_bytes(content: NodeArrays, dump) -> dict[str, bytes]:
    from collections import defaultdict

    test = np.random.default_rng(0).permutation(content.public[2])
    one_hot = np.eye(content.y.max() + 1, dtype=np.int32)[content.y]
    x = sparse.csr_matrix(content.x)
    graph = defaultdict(list)
    for i, j in content.edges.T.tolist():
        graph[i].append(j)
    return {
        "x": dump(x[:6]),
        "tx": dump(x[test]),
        "allx": dump(x[:30]),
        "y": dump(one_hot[:6]),
        "ty": dump(one_hot[test]),
        "ally": dump(one_hot[:30]),
        "graph": dump(graph),
        "test.index": "".join(f"{i}\n" for i in test).encode(),
    } | splits_bytes(content)


ORIGINALS = {
    "texas": (
        lambda: node_content(1),
        lambda c: {"edges": edges_text(c.edges).encode(), "nodes": geom_nodes_text(c).encode()} | splits_bytes(c),
    ),
    "actor": (
        lambda: node_content(2, n_features=932),
        lambda c: {"edges": edges_text(c.edges).encode(), "nodes": film_nodes_text(c).encode()} | splits_bytes(c),
    ),
    "cora": (planetoid_content, lambda c: planetoid_bytes(c, python2_pickle)),
    "citeseer": (planetoid_content, lambda c: planetoid_bytes(c, modern_pickle)),
    "dblp": (
        lambda: replace(_row_sorted(node_content(4, binary=False)), masks=None),
        lambda c: {"npz": gnn_benchmark_bytes(c)},
    ),
    "minesweeper": (lambda: node_content(5, binary=False), lambda c: {"npz": heterophilous_bytes(c)}),
}


def _row_sorted(content: NodeArrays) -> NodeArrays:
    return replace(content, edges=content.edges[:, np.argsort(content.edges[0], kind="stable")])


def put_originals(name: str, files: dict[str, bytes], cache: Path, monkeypatch: pytest.MonkeyPatch, counts) -> None:
    """Place ``files`` where a download would put them, and make the registry expect them and the class counts."""
    row = datasets.info(name)
    sources = tuple(replace(file, sha256=hashlib.sha256(files[file.role]).hexdigest()) for file in row.sources)
    monkeypatch.setenv("GSP_FB_CACHE", str(cache))
    monkeypatch.setenv("GSP_FB_OFFLINE", "1")
    monkeypatch.delenv("GSP_FB_DATA_DIR", raising=False)
    counts = None if counts is None else tuple(int(count) for count in counts)
    changed = replace(row, sources=sources, class_counts=counts)
    monkeypatch.setattr(loading, "info", {name: changed}.__getitem__)
    for file in sources:
        path = cache / file.key
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(files[file.role])


# ---- both layouts give equal data sets


@pytest.mark.parametrize("name", ORIGINALS)
def test_original_files_and_npz_give_the_same_arrays(name, tmp_path, monkeypatch):
    make, write = ORIGINALS[name]
    content = make()
    put_originals(name, write(content), tmp_path, monkeypatch, np.bincount(content.y))
    read = loading._arrays(loading.info(name), None, read_node)
    assert_same(read, read_node(write_npz(tmp_path / "same.npz", content)))
    assert_same(read, content)
    ds = datasets.load(name)
    unlabelled = content.unlabelled if content.unlabelled is not None else []
    assert np.array_equal(np.flatnonzero(ds.y < 0), unlabelled)
    assert ds.graph.n_nodes == 40
    assert len(ds.splits) == 10


def test_object_arrays_of_a_public_npz_are_never_unpickled(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    content = _row_sorted(node_content(4))
    put_originals("dblp", {"npz": gnn_benchmark_bytes(content)}, tmp_path, monkeypatch, np.bincount(content.y))
    datasets.load("dblp")
    assert not (tmp_path / "class_names").exists()


def test_files_of_another_version_are_told_by_their_class_counts(tmp_path, monkeypatch):
    make, write = ORIGINALS["texas"]
    put_originals("texas", write(make()), tmp_path, monkeypatch, [33, 1, 18, 101, 30])
    with pytest.raises(IntegrityError, match=r"class counts \(14, 13, 13\), expected \(33, 1, 18, 101, 30\)"):
        datasets.load("texas")


# ---- graph collections


def collection_content() -> CollectionArrays:
    rng = np.random.default_rng(7)
    sizes = np.array([3, 1, 5, 4] * 6)
    indptr = np.concatenate([[0], np.cumsum(sizes)])
    edges = [
        np.stack([a, b]) + start
        for start, n in zip(indptr, sizes, strict=False)
        for a, b in [np.nonzero(rng.random((n, n)) < 0.5)]
    ]
    y, tags = rng.permutation(np.arange(24) % 2 * 2), rng.integers(-1, 4, indptr[-1])
    fold = np.concatenate([np.arange(20) % 10, [-1] * 4])
    return CollectionArrays(indptr, np.concatenate(edges, axis=1), tags, y, fold)


def gin_text(content: CollectionArrays, *, attributes: bool = False) -> str:
    lines = [str(len(content.y))]
    for g, label in enumerate(content.y):
        first, last = content.graph_indptr[g : g + 2]
        lines.append(f"{last - first} {label}")
        for node in range(first, last):
            ends = content.edges[1][content.edges[0] == node] - first
            words = [content.node_label[node], len(ends), *ends, *([0.5, -1.25] if attributes else [])]
            lines.append(" ".join(map(str, words)))
    return "\n".join(lines) + "\n"


def gin_files(content: CollectionArrays) -> dict[str, bytes]:
    folds = {f"fold_{k}": "".join(f"{g}\n" for g in np.flatnonzero(content.fold == k)) for k in range(10)}
    return {"text": gin_text(content).encode()} | {role: text.encode() for role, text in folds.items()}


def gin_zip(content: CollectionArrays, folder: str) -> bytes:
    name, buffer = folder.rpartition("/")[2], io.BytesIO()
    with zipfile.ZipFile(buffer, "w", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr(f"{folder}/{name}.txt", gin_text(content, attributes=True))
        for k in range(10):
            members = np.flatnonzero(content.fold == k)
            archive.writestr(f"{folder}/10fold_idx/test_idx-{k + 1}.txt", "".join(f"{g}\n" for g in members))
    return buffer.getvalue()


@pytest.mark.parametrize(
    ("name", "files"),
    [
        ("MUTAG", gin_files),
        ("PTC_MR", lambda c: {"zip": gin_zip(c, "PTC_MR")}),
        ("REDDIT-MULTI-5K", lambda c: {"zip": gin_zip(c, "dataset/REDDITMULTI5K")}),
    ],
)
def test_gin_files_and_npz_give_the_same_graphs(name, files, tmp_path, monkeypatch):
    content = collection_content()
    keys = ("graph_indptr", "edge_index", "node_label", "y", "fold")
    arrays = (content.graph_indptr, content.edges, content.node_label, content.y, content.fold)
    np.savez(tmp_path / "same.npz", **dict(zip(keys, arrays, strict=True)))
    put_originals(name, files(content), tmp_path, monkeypatch, np.unique(content.y, return_counts=True)[1])
    read = loading._arrays(loading.info(name), None, read_collection)
    layout = read_collection(tmp_path / "same.npz")
    for field in ("graph_indptr", "edges", "node_label", "y", "fold"):
        assert np.array_equal(getattr(read, field), getattr(layout, field))
        assert getattr(read, field).dtype == getattr(layout, field).dtype
    assert datasets.load(name).classes.tolist() == [0, 2]


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("2\n1 0\n0 0\n", "ends inside graph 1"),
        ("1\n2 0\n0 1 1\n0 1 2\n", "do not fit degree 1 in a graph of 2 nodes"),
        ("1\n2 0\n0 3 1\n0 1 0\n", "do not fit degree 3"),
        ("1\n2 0 9\n0 1 1\n0 1 0\n", "is malformed: "),
        ("<html>\n", "is malformed: "),
        ("", "ends inside graph 0"),
    ],
)
def test_damaged_gin_text_is_refused(text, message, tmp_path, monkeypatch):
    files = {"text": text.encode()} | {f"fold_{k}": b"" for k in range(10)}
    put_originals("MUTAG", files, tmp_path, monkeypatch, [1])
    with pytest.raises(FormatError, match=message):
        datasets.load("MUTAG")


def test_a_fold_that_lists_a_graph_that_is_not_there_is_refused(tmp_path, monkeypatch):
    files = gin_files(collection_content()) | {"fold_3": b"99\n"}
    put_originals("MUTAG", files, tmp_path, monkeypatch, [12, 12])
    with pytest.raises(FormatError, match="fold 3 lists graph 99 of 24"):
        datasets.load("MUTAG")


def test_a_zip_without_the_member_is_refused(tmp_path, monkeypatch):
    put_originals("PTC_MR", {"zip": gin_zip(collection_content(), "OTHER")}, tmp_path, monkeypatch, [12, 12])
    with pytest.raises(FormatError, match="0 members named"):
        datasets.load("PTC_MR")


# ---- PPI


def ppi_zip(sizes: dict[str, int]) -> tuple[bytes, dict[str, tuple]]:
    rng, buffer, parts = np.random.default_rng(9), io.BytesIO(), {}
    with zipfile.ZipFile(buffer, "w") as archive:
        for part, n in sizes.items():
            links = rng.integers(0, n, (3 * n, 2))
            features, labels = rng.normal(size=(n, 5)), rng.integers(0, 2, (n, 4))
            graph = {"directed": False, "nodes": [{"id": i} for i in range(n)]}
            graph["links"] = [{"source": int(a), "target": int(b)} for a, b in links]
            archive.writestr(f"{part}_graph.json", json.dumps(graph))
            for name, array in {"feats": features, "labels": labels, "graph_id": np.ones(n, int)}.items():
                raw = io.BytesIO()
                np.save(raw, array)
                archive.writestr(f"{part}_{name}.npy", raw.getvalue())
            parts[part] = (links, features, labels)
    return buffer.getvalue(), parts


def test_ppi_is_three_parts_side_by_side_with_many_labels(tmp_path, monkeypatch):
    content, parts = ppi_zip({"train": 20, "valid": 6, "test": 8})
    put_originals("ppi", {"zip": content}, tmp_path, monkeypatch, None)
    ds = datasets.load("ppi")
    assert ds.splits[0].sizes == (20, 6, 8)
    assert ds.y.shape == (34, 4)
    assert ds.n_classes == 4
    for (links, features, labels), index in zip(
        parts.values(), (ds.splits[0].train, ds.splits[0].val, ds.splits[0].test), strict=True
    ):
        assert np.array_equal(ds.x[index], features.astype(np.float32))
        assert np.array_equal(ds.y[index], labels)
        block = ds.graph.adjacency[index][:, index].toarray()
        expected = np.zeros_like(block)
        expected[links[:, 0], links[:, 1]] = expected[links[:, 1], links[:, 0]] = 1
        assert np.array_equal(block, expected)
    assert repr(ds) == f"Dataset('ppi', 34 nodes, {ds.graph.n_edges} edges, 5 features, 4 classes, 1 split)"


# ---- relations


def relations_text(pairs: np.ndarray, space: np.ndarray, relation: np.ndarray) -> str:
    spaces = ("graph", "latent_space")
    rows = (f"{i},{j}\t{spaces[s]}\t{r}\n" for (i, j), s, r in zip(pairs.T, space, relation, strict=True))
    return "node1,node2\tspace\trelation_type\n" + "".join(rows)


def relations_content() -> tuple[np.ndarray, ...]:
    rng = np.random.default_rng(11)
    return rng.integers(0, 9, (2, 30)), rng.integers(0, 2, 30, dtype=np.uint8), rng.integers(0, 4, 30, dtype=np.uint8)


def test_relation_text_and_npz_give_the_same_arrays(tmp_path, monkeypatch):
    content = relations_content()
    keys = ("pairs", "space", "relation")
    np.savez(tmp_path / "same.npz", **{f"poincare_{key}": array for key, array in zip(keys, content, strict=True)})
    row = datasets.info("texas_geom_relations")
    for file in row.sources:
        path = tmp_path / file.key
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(relations_text(*content))
    monkeypatch.setenv("GSP_FB_CACHE", str(tmp_path))
    monkeypatch.setenv("GSP_FB_OFFLINE", "1")
    monkeypatch.delenv("GSP_FB_DATA_DIR", raising=False)
    text, npz = datasets.relations("texas", "poincare"), read_relations(tmp_path / "same.npz", "poincare")
    for key, array in zip(keys, content, strict=True):
        assert np.array_equal(getattr(text, key), array)
        assert np.array_equal(getattr(npz, key), array)
        assert getattr(text, key).dtype == getattr(npz, key).dtype


@pytest.mark.parametrize(
    ("old", "new", "message"),
    [
        ("node1", "node_1", "line 1 is"),
        ("\tgraph", "\tspace", "KeyError: 'space'"),
        ("graph\t", "graph ", "has 2 fields, expected 3"),
        ("\t3\n", "\tx\n", "is malformed: "),
    ],
)
def test_damaged_relations_are_refused(old, new, message, tmp_path):
    (tmp_path / "r.txt").write_text(relations_text(*relations_content()).replace(old, new, 1 if old == "node1" else -1))
    with pytest.raises(FormatError, match=message):
        read_relations_text(tmp_path / "r.txt")


# ---- damage


@pytest.mark.parametrize(
    ("role", "damage", "message"),
    [
        ("edges", lambda b: b"", "the file is empty"),
        ("edges", lambda b: b"<html>" + b, "line 1 is '<html>node_id"),
        ("edges", lambda b: b + b"7\n", "has 1 fields, expected 2"),
        ("edges", lambda b: b + b"7\tx\n", "is malformed: "),
        ("nodes", lambda b: b.replace(b"\n3\t", b"\n2\t"), "node ids are not 0..39"),
        ("nodes", lambda b: b.replace(b"0,", b"", 1), "is malformed: "),
        ("split_4", lambda b: b[: len(b) // 2], "not a readable zip or npz archive"),
        ("split_4", lambda b: b"", "not a readable zip or npz archive"),
    ],
)
def test_damaged_geom_gcn_files_are_refused_by_name(role, damage, message, tmp_path, monkeypatch):
    make, write = ORIGINALS["texas"]
    files = write(make())
    files[role] = damage(files[role])
    put_originals("texas", files, tmp_path, monkeypatch, [14, 13, 13])
    with pytest.raises(FormatError, match=message) as refused:
        datasets.load("texas")
    assert str(tmp_path) in str(refused.value)


@pytest.mark.parametrize("role", ["allx", "ty", "graph", "test.index"])
@pytest.mark.parametrize("keep", [0, 1, 2])
def test_truncated_planetoid_files_are_refused(role, keep, tmp_path, monkeypatch):
    make, write = ORIGINALS["cora"]
    files = write(make())
    files[role] = files[role][: keep * len(files[role]) // 4]
    put_originals("cora", files, tmp_path, monkeypatch, [14, 13, 13])
    with pytest.raises(FormatError, match=r"ind\.cora\."):
        datasets.load("cora")


@pytest.mark.parametrize(
    "payload",
    [
        pytest.param(pickle.dumps(slice(1, 2), protocol=2), id="builtin"),
        pytest.param(b"ccopy_reg\n_reconstructor\n(c__builtin__\nlist\nc__builtin__\nobject\nNtR.", id="reconstructor"),
        pytest.param(pickle.dumps(np.random.default_rng(0)), id="numpy"),
    ],
)
def test_a_pickle_of_anything_else_than_arrays_is_refused(payload, tmp_path):
    (tmp_path / "ind.cora.x").write_bytes(payload)
    with pytest.raises(FormatError, match="no Planetoid file"):
        load_pickle(tmp_path / "ind.cora.x", PickledCsr)


@pytest.mark.filterwarnings("ignore:numpy.core is deprecated:DeprecationWarning")
@pytest.mark.parametrize("module", [b"numpy.core.multiarray", b"numpy._core.multiarray"])
def test_arrays_pickled_by_numpy_1_and_2_are_those_that_numpy_reads(module, tmp_path):
    content = re.sub(rb"numpy\._?core\.multiarray", module, modern_pickle(np.arange(3)))
    assert module in content
    (tmp_path / "ind.cora.y").write_bytes(content)
    np.testing.assert_array_equal(load_pickle(tmp_path / "ind.cora.y", PickledArray).array(), pickle.loads(content))


def test_a_pickle_of_another_kind_of_array_is_refused(tmp_path):
    (tmp_path / "ind.cora.x").write_bytes(pickle.dumps([1, 2]))
    with pytest.raises(FormatError, match="holds a list, expected a PickledCsr"):
        load_pickle(tmp_path / "ind.cora.x", PickledCsr)


def test_oldest_pickles_rebuild_a_matrix_through_the_reconstructor(tmp_path):
    text = b"ccopy_reg\n_reconstructor\n(cscipy.sparse.csr\ncsr_matrix\nc__builtin__\nobject\nNtR."
    (tmp_path / "ind.cora.x").write_bytes(text)
    assert vars(load_pickle(tmp_path / "ind.cora.x", PickledCsr)) == {}


# ---- the real thing, as far as it can be known here


def git_blob(content: bytes) -> str:
    return hashlib.sha1(b"blob %d\0" % len(content) + content).hexdigest()


@needs_data
@pytest.mark.parametrize(
    ("name", "blob"),
    [("texas", "b24f9e51"), ("cornell", "b24f9e51"), ("chameleon", "38132ed8"), ("squirrel", "fd59ff82")],
)
def test_text_written_from_the_arrays_is_the_public_file(name, blob, tmp_path):
    content = read_node(DATA / f"{name}.npz")
    text = geom_nodes_text(content).encode()
    assert git_blob(text)[:8] == blob
    recorded = {file.role: file.sha256 for file in datasets.info(name).sources}
    assert hashlib.sha256(text).hexdigest() == recorded["nodes"]


@needs_data
@pytest.mark.parametrize("name", ["texas", "actor", "wisconsin"])
def test_real_sets_survive_the_way_through_their_public_format(name, tmp_path, monkeypatch):
    content = read_node(DATA / f"{name}.npz")
    nodes = film_nodes_text if name == "actor" else geom_nodes_text
    files = {"edges": edges_text(content.edges).encode(), "nodes": nodes(content).encode()} | splits_bytes(content)
    put_originals(name, files, tmp_path, monkeypatch, np.bincount(content.y))
    assert_same(loading._arrays(loading.info(name), None, read_node), content)
    assert datasets.load(name).graph.sha256 == datasets.load(name, data_dir=DATA).graph.sha256


@needs_data
def test_citeseer_survives_the_way_through_planetoids_pickles(tmp_path, monkeypatch):
    content = read_node(DATA / "citeseer.npz")
    n_train, n_known = len(content.public[0]), int(content.public[2].min())
    test = np.random.default_rng(0).permutation(content.public[2])
    x, one_hot = sparse.csr_matrix(content.x), np.eye(6, dtype=np.int32)[content.y]
    starts = np.searchsorted(content.edges[0], np.arange(len(content.y) + 1))
    graph = {i: content.edges[1, starts[i] : starts[i + 1]].tolist() for i in range(len(content.y))}
    files = {
        "x": python2_pickle(x[:n_train]),
        "tx": python2_pickle(x[test]),
        "allx": python2_pickle(x[:n_known]),
        "y": python2_pickle(one_hot[:n_train]),
        "ty": python2_pickle(one_hot[test]),
        "ally": python2_pickle(one_hot[:n_known]),
        "graph": python2_pickle(graph),
        "test.index": "".join(f"{i}\n" for i in test).encode(),
    } | splits_bytes(content)
    put_originals("citeseer", files, tmp_path, monkeypatch, np.bincount(content.y))
    assert_same(loading._arrays(loading.info("citeseer"), None, read_node), content)
