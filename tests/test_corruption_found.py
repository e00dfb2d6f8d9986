"""What damage by chance and fuzzing found in the readers, each as the smallest file that showed it."""

import gzip
import io
import pickle
import resource
import subprocess
import sys
import zipfile
from pathlib import Path

import numpy as np
import pytest

from gsp_fb.datasets.readers.archive import read_gin_zip
from gsp_fb.datasets.readers.arrays import as_features, single
from gsp_fb.datasets.readers.geomgcn import read_nodes
from gsp_fb.datasets.readers.npz import read_collection, read_masks, read_node
from gsp_fb.datasets.readers.pickled import PickledArray, StoredCsr, load_pickle
from gsp_fb.errors import FormatError
from gsp_fb.files import read_graph, write_graph
from gsp_fb.graph import Graph
from gsp_fb.opening import open_graph
from gsp_fb.operators import operator
from gsp_fb.outofcore import write_folder

NODES = "graph [ node [ id 0 ] node [ id 1 ] edge [ source 0 target 1 {} ] ]"


@pytest.mark.parametrize(
    ("text", "message"),
    [
        (NODES.format("weight INFE5"), "not expected"),
        ("graph [ node [ id 0 label " + "[ a " * 50_000 + "]" * 50_000 + " ] ]", "a list for its label"),
        ("graph [ node [ label " + "[ a " * 50_000 + "]" * 50_000 + " ] ]", "no 'id'"),
        (NODES.format("weight " + "[ a " * 50_000 + "]" * 50_000), "no number"),
    ],
    ids=["a number of no kind", "a nested label", "a nested node without id", "a nested weight"],
)
def test_gml(text, message, tmp_path):
    (tmp_path / "a.gml").write_text(text.replace("[ a ]", "[ a 1 ]"))
    with pytest.raises(FormatError, match=message):
        read_graph(tmp_path / "a.gml")


@pytest.mark.parametrize("encoding", ["unicode_escape", "idna", "zlib_codec", "utf-7", "undefined"])
def test_graphml_in_an_encoding_that_is_none_for_xml(encoding, tmp_path):
    text = f"<?xml version='1.0' encoding='{encoding}'?><graphml><graph edgedefault='directed'/></graphml>"
    (tmp_path / "a.graphml").write_text(text)
    with pytest.raises(FormatError, match=r"save the file as UTF-8|no well-formed XML"):
        read_graph(tmp_path / "a.graphml")


@pytest.mark.parametrize("comment", [b"%\0\n", b"%" + b"\0" * 5000 + b"\n", b"% a\r%b\n"])
def test_matrix_market_comments_do_not_reach_the_compiled_reader(comment, tmp_path):
    head = b"%%MatrixMarket matrix coordinate real symmetric\n"
    (tmp_path / "a.mtx").write_bytes(head + comment + b"2 2 1\n2 1 0.5\n")
    assert read_graph(tmp_path / "a.mtx").degrees.tolist() == [0.5, 0.5]


def npz(**arrays):
    buffer = io.BytesIO()
    np.savez(buffer, **arrays)
    return buffer.getvalue()


OWN = {"format_version": 1, "directed": False, "indptr": np.array([0, 1, 2]), "indices": np.array([1, 0])}


def test_npz_in_dtypes_that_scipy_has_not(tmp_path):
    (tmp_path / "a.npz").write_bytes(npz(**OWN, weights=np.full(2, 0.5, np.float16)))
    assert read_graph(tmp_path / "a.npz").degrees.tolist() == [0.5, 0.5]


def test_npz_of_unsigned_indices_that_decrease(tmp_path):
    (tmp_path / "a.npz").write_bytes(npz(**(OWN | {"indptr": np.array([0, 3, 2], np.uint64)})))
    with pytest.raises(FormatError, match="indptr decreases"):
        read_graph(tmp_path / "a.npz")


@pytest.mark.parametrize("dtype", [b"<i3", b"<f9", b"|S0", b"<U99999999999"])
def test_npz_of_a_dtype_that_does_not_exist(dtype, tmp_path):
    with zipfile.ZipFile(io.BytesIO(npz(**OWN))) as archive:
        members = {name: archive.read(name) for name in archive.namelist()}
    text = b"{'descr': '" + dtype + b"', 'fortran_order': False, 'shape': (2,), }\n"
    members["indices.npy"] = b"\x93NUMPY\x01\x00" + len(text).to_bytes(2, "little") + text + bytes(16)
    with zipfile.ZipFile(tmp_path / "a.npz", "w") as archive:
        for name, member in members.items():
            archive.writestr(name, member)
    with pytest.raises(FormatError, match="array 'indices'"):
        read_graph(tmp_path / "a.npz")


def test_parquet_keeps_a_long_name_once(tmp_path):
    pa, pq = pytest.importorskip("pyarrow"), pytest.importorskip("pyarrow.parquet")
    names = pa.DictionaryArray.from_arrays(pa.array([0, 1] * 10_000), ["a" * 10**6, "b"])
    pq.write_table(pa.table({"source": names, "target": names}), tmp_path / "a.parquet", store_schema=False)
    before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    assert read_graph(tmp_path / "a.parquet", duplicates="first").n_nodes == 2
    assert resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before < 500 * 1024


def test_parquet_whose_statistics_are_damaged(tmp_path):
    pytest.importorskip("pyarrow")
    write_graph(Graph.from_edges([(0, 1), (1, 2)], [0.5, 2.0]), tmp_path / "a.parquet")
    content = (tmp_path / "a.parquet").read_bytes()
    for at in range(len(content) // 2, len(content) - 8):
        (tmp_path / "a.parquet").write_bytes(content[:at] + bytes([content[at] ^ 0x10]) + content[at + 1 :])
        try:
            read_graph(tmp_path / "a.parquet")
        except FormatError:
            continue


def test_a_data_set_whose_header_lies_about_its_shape(tmp_path):
    text = b"{'descr': '<i8', 'fortran_order': False, 'shape': (2, 500000000000), }\n"
    lying = b"\x93NUMPY\x01\x00" + len(text).to_bytes(2, "little") + text
    with zipfile.ZipFile(tmp_path / "a.npz", "w") as archive:
        archive.writestr("edge_index.npy", lying)
    for read in (read_node, read_collection):
        with pytest.raises(FormatError, match=r"a\.npz"):
            read(tmp_path / "a.npz")


def test_a_split_whose_compression_is_damaged(tmp_path):
    buffer = io.BytesIO()
    np.savez_compressed(buffer, train_mask=np.ones(500), val_mask=np.zeros(500), test_mask=np.zeros(500))
    content = bytearray(buffer.getvalue())
    content[60:90] = bytes(30)
    (tmp_path / "a.npz").write_bytes(content)
    with pytest.raises(FormatError, match=r"a\.npz"):
        read_masks(tmp_path / "a.npz")


def test_a_member_that_unpacks_to_more_than_it_says(tmp_path):
    """A size of ten bytes is announced, ten million are there: no more than was announced is unpacked."""
    with zipfile.ZipFile(tmp_path / "set.zip", "w", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr("SET/SET.txt", b"\n" * 10**7)
    content = (tmp_path / "set.zip").read_bytes()
    (tmp_path / "set.zip").write_bytes(content.replace((10**7).to_bytes(4, "little"), (10).to_bytes(4, "little")))
    with pytest.raises(FormatError, match=r"set\.zip"):
        read_gin_zip(tmp_path / "set.zip", "SET")


# Integers that all have the same hash, as keys.
COLLIDING = b"".join(b"\x8a\x0a" + (k * (2**61 - 1)).to_bytes(10, "little") + b"N" for k in range(1, 99))
COPIES = b"c__builtin__\nlist\nh\x00\x85R" * 900
BOMBS = {
    "a memo of two billion": b"\x80\x02]r\xff\xff\xff\x7f.",
    "tuples in tuples, to be hashed": b"\x80\x02})" + b"\x85" * 100_000 + b"K\x01s.",
    "a list copied again and again": b"\x80\x02]q\x00(" + b"K\x01" * 9000 + b"e0" + COPIES + b".",
    "keys of one hash": b"\x80\x02}(" + COLLIDING + b"u.",
    "an array of a trillion": b"\x80\x02cnumpy\nndarray\n\x8a\x06" + (10**12).to_bytes(6, "little") + b"\x85\x85R.",
    "a text in another encoding": b"\x80\x02c_codecs\nencode\nX\x02\x00\x00\x00abX\x08\x00\x00\x00punycode\x86R.",
    "a class that is changed": b"\x80\x02cscipy.sparse.csr\ncsr_matrix\nN}X\x01\x00\x00\x00aK\x01s\x86b.",
    "a function that is changed": b"\x80\x02c_codecs\nencode\nN}X\x01\x00\x00\x00aK\x01s\x86b.",
}


@pytest.mark.parametrize("bomb", BOMBS)
def test_pickles_that_are_bombs(bomb, tmp_path):
    (tmp_path / "ind.cora.x").write_bytes(BOMBS[bomb])
    before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    with pytest.raises(FormatError, match=r"ind\.cora\.x"):
        load_pickle(tmp_path / "ind.cora.x", StoredCsr)
    assert resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before < 200 * 1024
    assert not hasattr(StoredCsr, "a")


def test_pickled_arrays_are_made_from_their_bytes(tmp_path):
    for array in (np.eye(3, dtype=np.int32), np.asfortranarray(np.arange(6.0).reshape(2, 3)), np.ones((1, 4), ">f4")):
        for protocol in (0, 2):
            (tmp_path / "a").write_bytes(pickle.dumps(array, protocol=protocol))
            read = load_pickle(tmp_path / "a", PickledArray).array()
            assert np.array_equal(read, array)
            assert read.dtype == array.dtype


def test_gzip_cut_inside_its_trailer(tmp_path):
    content = gzip.compress(b"0,1\n1,2\n")
    for keep in range(len(content)):
        (tmp_path / "a.csv.gz").write_bytes(content[:keep])
        with pytest.raises(FormatError):
            read_graph(tmp_path / "a.csv.gz")


@pytest.mark.parametrize(("features", "node"), [(["", "1,0"], 0), (["1,0", " "], 1), (["", ""], 0)])
def test_geom_gcn_node_without_features(features, node, tmp_path):
    rows = "".join(f"{k}\t{text}\t0\n" for k, text in enumerate(features))
    (tmp_path / "nodes.txt").write_text(f"node_id\tfeature\tlabel\n{rows}")
    with pytest.raises(FormatError, match=f"node {node} has no features"):
        read_nodes(tmp_path / "nodes.txt")


READ = """
import sys
from gsp_fb.errors import FormatError
from gsp_fb.files import read_graph
try:
    read_graph(sys.argv[1])
except FormatError as refused:
    print(refused)
"""


@pytest.mark.parametrize(
    ("seed", "changes"), [("named", {327: 0x29}), ("path", {260: 0x6D, 284: 10, 432: 0xB8, 574: 53})]
)
def test_parquet_metadata_that_contradicts_itself_does_not_end_the_process(seed, changes, tmp_path):
    content = bytearray((Path(__file__).parents[1] / "tools" / "fuzz" / "corpus" / "parquet" / seed).read_bytes())
    for at, byte in changes.items():
        content[at] = byte
    (tmp_path / "a.parquet").write_bytes(content)
    # Arrow aborts the interpreter, so another one reads the file.
    done = subprocess.run(
        [sys.executable, "-c", READ, tmp_path / "a.parquet"], capture_output=True, text=True, check=False
    )
    assert (done.returncode, done.stderr) == (0, "")
    assert "a.parquet: no readable Parquet file" in done.stdout


def stored(folder, weights):
    graph = Graph.from_edges([(0, 1), (1, 2)], [2.0, 3.0])
    write_folder(graph, folder)
    np.save(folder / "weights.npy", np.array(weights))
    return folder


def test_a_stored_array_with_a_header_of_python_2_is_read_without_a_warning(tmp_path):
    folder = stored(tmp_path / "a.npyd", [2.0, 2.0, 3.0, 3.0])
    content = (folder / "indptr.npy").read_bytes()
    (folder / "indptr.npy").write_bytes(content.replace(b"(4,)", b"(4L,)").replace(b" \n", b"\n", 1))
    assert open_graph(folder).degrees.tolist() == [2.0, 5.0, 3.0]


@pytest.mark.parametrize(("weight", "message"), [(1e-320, "too small to invert"), (1.7e308, "overflows")])
def test_degrees_that_cannot_be_used_name_the_stored_graph(weight, message, tmp_path):
    folder = stored(tmp_path / "a.npyd", [weight, weight, weight, weight])
    with pytest.raises(FormatError, match=f"a.npyd: degree of node . .*{message}"):
        operator(open_graph(folder), "sym")


def test_a_signalling_nan_among_features_is_refused_like_any_other():
    signalling = np.array([0x7FF0000000000001], dtype=np.uint64).view(np.float64)
    with pytest.raises(FormatError, match="a feature is not finite"):
        as_features(single(signalling.reshape(1, 1)))
