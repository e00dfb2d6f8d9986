"""Rows 39, 67 to 75 and 82 of the catalogue of faults: files that lie, burst, end early or are not there."""

from __future__ import annotations

import gzip
import io
import os
import pickle
import re
import resource
import stat
import subprocess
import sys
import tempfile
import time
import tracemalloc
import zipfile
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import sparse

from gsp_fb import Graph
from gsp_fb.errors import FormatError
from gsp_fb.files import FORMATS, read_graph, write_graph

GRAPH = Graph.from_edges(
    [(0, 1), (1, 2), (2, 3), (3, 3), (4, 0)], [0.1, 1 / 3, 7.0, 1e-5, 12345.678], n_nodes=7, nodes=tuple("abcdéfg")
)
NAMES = ["a.npz", "a.mtx", "a.graphml", "a.gml", "a.csv", "a.tsv", "a.parquet", "a.mtx.gz", "a.csv.gz", "a.graphml.gz"]
SMALL = 20 * 2**20


def written(path: Path, graph: Graph = GRAPH) -> bytes:
    plain = Graph.from_adjacency(graph.adjacency, directed=graph.directed)
    write_graph(plain if ".mtx" in path.name else graph, path)
    return path.read_bytes()


def npy(array: np.ndarray) -> bytes:
    buffer = io.BytesIO()
    np.save(buffer, array, allow_pickle=True)
    return buffer.getvalue()


def write_zip(path: Path, members: dict[str | zipfile.ZipInfo, bytes], method: int = zipfile.ZIP_DEFLATED) -> None:
    with zipfile.ZipFile(path, "w", method) as archive:
        for name, content in members.items():
            archive.writestr(name, content)


def own_members(**changed: bytes) -> dict[str, bytes]:
    arrays = {
        "format_version": np.int64(1),
        "directed": np.bool_(False),
        "indptr": np.array([0, 1, 2]),
        "indices": np.array([1, 0]),
    }
    return {f"{name}.npy": npy(array) for name, array in arrays.items()} | {f"{k}.npy": v for k, v in changed.items()}


def refused(path: Path, match: str, **options: object) -> None:
    """Check that reading fails with the path and the reason, in a bounded amount of memory."""
    tracemalloc.start()
    try:
        with pytest.raises(FormatError, match=match) as error:
            read_graph(path, **options)
        assert tracemalloc.get_traced_memory()[1] < 3 * SMALL
    finally:
        tracemalloc.stop()
    assert str(path) in str(error.value)


@pytest.mark.parametrize("name", ["a.mtx", "a.mtx.gz"])
def test_fault_039_few_bytes_that_claim_many_nodes(name: str, tmp_path: Path) -> None:
    text = b"%%MatrixMarket matrix coordinate real general\n300000000 300000000 1\n1 1 1.0\n"
    (tmp_path / name).write_bytes(gzip.compress(text) if name.endswith(".gz") else text)
    refused(tmp_path / name, "300000000 nodes are more than max_nodes=50000000")


@pytest.mark.parametrize(
    ("name", "text"),
    [
        ("a.csv", "0,300000000\n"),
        ("a.tsv", '# gsp_fb {"gsp_fb": 1, "n_nodes": 300000000, "n_edges": 0, "directed": false, "labels": null}\n'),
    ],
)
def test_fault_039_edge_tables_too(name: str, text: str, tmp_path: Path) -> None:
    (tmp_path / name).write_text(text)
    refused(tmp_path / name, "max_nodes=50000000")


def test_fault_039_scipys_npz_too(tmp_path: Path) -> None:
    sparse.save_npz(tmp_path / "a.npz", sparse.coo_array(([1.0], ([0], [0])), shape=(3 * 10**8, 3 * 10**8)))
    refused(tmp_path / "a.npz", "300000000 nodes are more than max_nodes")


def test_fault_039_the_limit_is_the_callers(tmp_path: Path) -> None:
    (tmp_path / "a.csv").write_text("0,10\n")
    assert read_graph(tmp_path / "a.csv", max_nodes=11).n_nodes == 11
    refused(tmp_path / "a.csv", "11 nodes are more than max_nodes=10", max_nodes=10)


class Payload:
    def __init__(self, path: Path) -> None:
        self.path = path

    def __reduce__(self) -> tuple:
        return Path.touch, (self.path,)


def test_fault_067_a_pickle_in_an_npz_is_not_run(tmp_path: Path) -> None:
    evidence = tmp_path / "executed"
    array = np.array([Payload(evidence)], dtype=object)
    for member in ("indptr", "indices", "weights", "labels", "directed", "format_version", "format"):
        write_zip(tmp_path / "a.npz", own_members(weights=npy(np.ones(2))) | {f"{member}.npy": npy(array)})
        refused(tmp_path / "a.npz", "pickled objects")
    assert not evidence.exists()
    np.load(tmp_path / "a.npz", allow_pickle=True)["format"]
    assert evidence.exists(), "the payload does not work, so nothing was tested"


def test_fault_067_a_bare_pickle_is_no_archive(tmp_path: Path) -> None:
    (tmp_path / "a.npz").write_bytes(pickle.dumps(Payload(tmp_path / "executed")))
    refused(tmp_path / "a.npz", "npz archive")
    assert not (tmp_path / "executed").exists()


@pytest.mark.parametrize(
    "shape", ["(1000000000000,)", "(3,)", "(9999999999999999999999,)", "(-3,)", "(2, 1)", "()", "3"]
)
def test_fault_068_a_header_that_lies_about_its_shape(shape: str, tmp_path: Path) -> None:
    text = f"{{'descr': '<i8', 'fortran_order': False, 'shape': {shape}, }}\n".encode()
    lying = b"\x93NUMPY\x01\x00" + len(text).to_bytes(2, "little") + text + np.array([1, 0]).tobytes()
    write_zip(tmp_path / "a.npz", own_members(indices=lying))
    refused(tmp_path / "a.npz", "array 'indices'")


@pytest.mark.parametrize("dtype", ["<f8", "<c16", "<M8[s]", "|V8", "<U2", "|S8"])
def test_fault_068_indices_that_are_no_integers(dtype: str, tmp_path: Path) -> None:
    write_zip(tmp_path / "a.npz", own_members(indices=npy(np.zeros(2, dtype))))
    refused(tmp_path / "a.npz", "array 'indices'")


@pytest.mark.parametrize(
    ("arrays", "message"),
    [
        ({"indptr": [0, 1, 9]}, "indptr ends at 9"),
        ({"indptr": [0, 3, 2]}, "decreases"),
        ({"indptr": [1, 1, 2]}, "indptr"),
        ({"indptr": np.empty(0, int)}, "indptr"),
        ({"indices": [5, 0]}, "column index 5"),
        ({"indices": [-1, 0]}, "column index -1"),
        ({"indices": [1, 1]}, "not symmetric"),
        ({"weights": [1.0]}, "only 2 indices|indptr ends"),
        ({"weights": [1.0, np.nan]}, "nan"),
        ({"weights": [1.0, -1.0]}, "-1"),
        ({"labels": np.frombuffer(b"[[", np.uint8)}, "JSON"),
        ({"labels": np.frombuffer(b'["a"]', np.uint8)}, "labels"),
        ({"format_version": np.int64(2)}, "version 2"),
    ],
)
def test_fault_068_arrays_that_are_no_csr_never_reach_compiled_code(arrays: dict, message: str, tmp_path: Path) -> None:
    write_zip(tmp_path / "a.npz", own_members(**{name: npy(np.asarray(value)) for name, value in arrays.items()}))
    refused(tmp_path / "a.npz", message)


def test_fault_069_zip_bomb(tmp_path: Path) -> None:
    path = tmp_path / "a.npz"
    n_bytes = 128 * 2**20
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, content in own_members().items():
            archive.writestr(name, content)
        with archive.open("weights.npy", "w", force_zip64=True) as member:
            description = {"descr": "<f8", "fortran_order": False, "shape": (n_bytes // 8,)}
            np.lib.format.write_array_header_1_0(member, description)
            for _ in range(n_bytes // 2**20):
                member.write(bytes(2**20))
    assert path.stat().st_size < n_bytes / 500
    refused(path, "a decompression bomb")
    refused(path, "max_bytes=1000000 ", max_bytes=10**6)


@pytest.mark.parametrize("name", ["a.csv.gz", "a.mtx.gz", "a.graphml.gz", "a.gml.gz"])
def test_fault_069_gzip_bomb(name: str, tmp_path: Path) -> None:
    with gzip.open(tmp_path / name, "wb") as file:
        for _ in range(40):
            file.write(b"\n" * 2**20)
    # The gate is on the way, not behind it: no more than what may be is ever unpacked.
    limit = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    with pytest.raises(FormatError, match="a decompression bomb"):
        read_graph(tmp_path / name)
    assert resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - limit < 200 * 1024


def test_fault_069_parquet_bomb(tmp_path: Path) -> None:
    import pyarrow as pa
    import pyarrow.parquet as pq

    column = pa.array(np.zeros(2 * 10**7, np.int64))
    pq.write_table(pa.table({"source": column, "target": column}), tmp_path / "a.parquet")
    assert (tmp_path / "a.parquet").stat().st_size < 2**20
    refused(tmp_path / "a.parquet", "a decompression bomb")


def test_fault_069_honest_zeros_are_read(tmp_path: Path) -> None:
    np.savez_compressed(
        tmp_path / "a.npz", format_version=1, directed=False, indptr=np.zeros(10**6), indices=np.zeros(0, int)
    )
    refused(tmp_path / "a.npz", "indptr.*float64")
    indptr = np.zeros(10**6, np.int64)
    np.savez_compressed(tmp_path / "a.npz", format_version=1, directed=False, indptr=indptr, indices=indptr[:0])
    assert read_graph(tmp_path / "a.npz").n_nodes == 10**6 - 1


@pytest.mark.parametrize("name", ["../evil.npy", "a/../../evil.npy", "/etc/evil.npy", "C:\\evil.npy", "..\\evil.npy"])
def test_fault_070_members_that_point_outside(name: str, tmp_path: Path) -> None:
    (tmp_path / "in").mkdir()
    write_zip(tmp_path / "in" / "a.npz", own_members() | {name: npy(np.zeros(1))})
    refused(tmp_path / "in" / "a.npz", "points outside")
    assert [path.name for path in tmp_path.iterdir()] == ["in"]


def test_fault_070_members_that_are_links(tmp_path: Path) -> None:
    link = zipfile.ZipInfo("weights.npy")
    link.external_attr = (stat.S_IFLNK | 0o777) << 16
    write_zip(tmp_path / "a.npz", own_members() | {link: b"/etc/passwd"})
    refused(tmp_path / "a.npz", "symbolic link")


@pytest.mark.filterwarnings("ignore:Duplicate name")
def test_fault_070_a_member_that_is_there_twice(tmp_path: Path) -> None:
    write_zip(tmp_path / "a.npz", own_members() | {zipfile.ZipInfo("indices.npy"): npy(np.array([0, 0]))})
    refused(tmp_path / "a.npz", "twice")


@pytest.mark.parametrize("name", NAMES)
def test_fault_071_no_cut_of_a_file_is_a_graph(name: str, tmp_path: Path) -> None:
    content = written(tmp_path / name)
    # What follows the last element of XML, or the last bracket of GML, is nothing but a line break.
    whole = len(content.rstrip(b"\n")) if name in ("a.graphml", "a.gml") else len(content)
    for length in {*range(0, whole, 7), *range(max(whole - 40, 0), whole)}:
        (tmp_path / name).write_bytes(content[:length])
        with pytest.raises(FormatError, match=re.escape(str(tmp_path / name))):
            read_graph(tmp_path / name)


HEADER = "%%MatrixMarket matrix coordinate real general\n"


@pytest.mark.parametrize(
    ("text", "message"),
    [
        (HEADER + "2 2 1\n1 2 nan\n", "nan"),
        (HEADER + "2 2 1\n1 2 inf\n", "inf"),
        (HEADER + "2 2 1\n1 2 -1\n", "-1"),
        (HEADER + "2 2 1\n0 1 1\n", "Line 3"),
        (HEADER + "2 2 1\n3 1 1\n", "Line 3"),
        (HEADER + "2 2 1\n1 1\n", "line 3: '1 1' is not"),
        (HEADER + "2 2 1\n1 2 x\n", "line 3: '1 2 x' is not"),
        (HEADER + "2 2 1\n2 1 1\x00\n", r"line 3: '2 1 1\\x00' is not"),  # a segmentation fault in scipy 1.17's reader
        (HEADER + "2 2 1\n1 1 1\n2 2 1\n", "[Tt]oo many|Line 4"),
        (HEADER + "2 2 2\n1 1 1\n", "Truncated"),
        (HEADER + "2 2 99999999\n1 1 1\n", "truncated"),
        (HEADER + "2 3 1\n1 1 1\n", "2 x 3"),
        (HEADER + "2 2\n1 1 1\n", "size line"),
        (HEADER + "-2 -2 1\n1 1 1\n", "size line"),
        (HEADER + "% nothing else\n", "no line with the sizes"),
        (HEADER + "2 2 1\n1 1 1.5", "no line break"),
        (HEADER.replace("real", "complex") + "1 1 1\n1 1 1 0\n", "field 'complex'"),
        (HEADER.replace("general", "skew-symmetric") + "2 2 1\n2 1 1\n", "symmetry 'skew-symmetric'"),
        (HEADER.replace("general", "hermitian") + "2 2 1\n2 1 1\n", "symmetry 'hermitian'"),
        (HEADER.replace("coordinate", "array") + "1 1\n1\n", "format 'array'"),
        (HEADER.replace("matrix", "vector") + "1 1 1\n1 1 1\n", "MatrixMarket matrix"),
        (HEADER.replace("real", "integer") + "1 1 1\n1 1 99999999999999999999\n", "line 3: '1 1 9+' is not"),
        ("1 1 1\n1 1 1\n", "MatrixMarket"),
        ("\n", "MatrixMarket"),
        ("", "no line break"),
    ],
)
def test_fault_072_matrix_market_outside_the_documented_subset(text: str, message: str, tmp_path: Path) -> None:
    (tmp_path / "a.mtx").write_text(text)
    refused(tmp_path / "a.mtx", message)


@pytest.mark.parametrize(
    ("field", "entry", "weight"), [("pattern", "1 2", 1), ("integer", "1 2 3", 3), ("real", "1 2 .5", 0.5)]
)
def test_fault_072_matrix_market_inside_it(field: str, entry: str, weight: float, tmp_path: Path) -> None:
    (tmp_path / "a.mtx").write_text(f"%%MatrixMarket matrix coordinate {field} symmetric\n%note\n2 2 1\n{entry}\n")
    assert read_graph(tmp_path / "a.mtx").degrees.tolist() == [weight, weight]


LAUGHS = "".join(f'<!ENTITY l{i} "{f"&l{i - 1};" * 10}">' for i in range(1, 12))
GRAPHML = '<graphml><graph edgedefault="directed"><node id="&l11;"/></graph></graphml>'


@pytest.mark.parametrize(
    "prolog",
    [
        f'<!DOCTYPE graphml [<!ENTITY l0 "ha">{LAUGHS}]>',
        '<!DOCTYPE graphml [<!ENTITY l11 SYSTEM "file://{secret}">]>',
        '<!DOCTYPE graphml [<!ENTITY % p SYSTEM "file://{secret}"> %p;]>',
        '<!DOCTYPE graphml SYSTEM "file://{secret}">',
        '<!DOCTYPE graphml SYSTEM "http://127.0.0.1:9/x.dtd">',
    ],
)
def test_fault_073_xml_entities_are_neither_expanded_nor_fetched(prolog: str, tmp_path: Path) -> None:
    fifo = tmp_path / "secret"
    os.mkfifo(fifo)  # reading it would hang, as nobody writes
    (tmp_path / "a.graphml").write_text(prolog.replace("{secret}", str(fifo)) + GRAPHML)
    refused(tmp_path / "a.graphml", "line 1: a document type is declared; entities are not supported")


@pytest.mark.parametrize(
    ("body", "message"),
    [
        ("", "no <graph>"),
        ("<graph/>", "edgedefault"),
        ('<graph edgedefault="sideways"/>', "sideways"),
        ('<graph edgedefault="directed"><node/></graph>', "no attribute 'id'"),
        ('<graph edgedefault="directed"><node id="a"/><node id="a"/></graph>', "twice"),
        ('<graph edgedefault="directed"><node id="a"/><edge source="a" target="b"/></graph>', "'b', which is not"),
        ('<graph edgedefault="directed"><node id="a"/><edge source="a"/></graph>', "no attribute 'target'"),
        ('<graph edgedefault="directed"><edge directed="false" source="a" target="a"/></graph>', "mixed"),
        ('<graph edgedefault="directed"/><graph edgedefault="directed"/>', "second or nested"),
        ('<graph edgedefault="directed"><hyperedge/></graph>', "hyperedges"),
        ('<key id="w" for="edge" attr.name="weight"><default>heavy</default></key>', "'heavy' is not a number"),
        ("&undefined;", "undefined entity"),
    ],
)
def test_fault_073_graphml_that_is_no_graph(body: str, message: str, tmp_path: Path) -> None:
    (tmp_path / "a.graphml").write_text(f"<graphml>{body}</graphml>")
    refused(tmp_path / "a.graphml", message)


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("graph [ node [ id 0 ] ", "truncated"),
        ("graph [ node [ id 0 ] ] ]", "line 1: ']' is not expected"),
        ("graph [\nnode [ id ]\n]", "line 2: ']"),
        ("graph [ node [ label 3 ] ]", "no 'id'"),
        ("graph [ node [ id 0 ] node [ id 0 ] ]", "twice"),
        ('graph [ node [ id 0 label "a" ] node [ id 1 label "a" ] ]', "same label"),
        ("graph [ node [ id 0 ] edge [ source 0 target 1 ] ]", "not in the file"),
        ('graph [ node [ id 0 ] edge [ source 0 target 0 weight "x" ] ]', "not a number"),
        ("graph [ ] graph [ ]", "2 graphs"),
        ("graph 3", "1 graphs"),
        ("", "0 graphs"),
        ("[" * 100_000, "line 1"),
        ("graph [ a " * 100_000, "line 1|truncated"),
        ("a [ " * 100_000, "truncated"),
        ("graph [ ?", r"'\?' is not expected"),
        ('graph [ a "', "not expected"),
    ],
)
def test_fault_073_gml_that_is_no_graph(text: str, message: str, tmp_path: Path) -> None:
    (tmp_path / "a.gml").write_text(text)
    with pytest.raises(FormatError, match=message):
        read_graph(tmp_path / "a.gml")


@pytest.mark.parametrize(
    "content",
    [
        b"\xef\xbb\xbf0,1,0.5\n1,2,2\n",
        b"0,1,0.5\r\n1,2,2\r\n",
        b"0,1,0.5\r1,2,2\r",
        b"source,target,weight\n0,1,0.5\n1,2,2\n",
        b"Source;Target;Weight\n0;1;0.5\n1;2;2\n",
        b'"0","1","0.5"\n"1","2","2"\n',
        b"\n\n0,1,0.5\n\n   \n1,2,2\n\n",
        b"0\t1\t0.5\n1\t2\t2\n",
        b"0 1 0.5\n1 2  2 \n",
        b" 0, 1, 0.5\n 1, 2, 2",
        b'# comment, "with\n% another\n0,1,0.5\n1,2,2\n',
    ],
)
@pytest.mark.parametrize("name", ["a.csv", "a.tsv", "a.txt"])
def test_fault_074_edge_tables_as_they_come(content: bytes, name: str, tmp_path: Path) -> None:
    (tmp_path / name).write_bytes(content)
    assert read_graph(tmp_path / name).degrees.tolist() == [0.5, 2.5, 2.0]


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("0,1\n1,x\n", "line 2: 1, x where the lines above have integers"),
        ("0,1\n\n1\n", "line 3: 1 columns where 2"),
        ("0,1,1\n1,2,1,000\n", "line 2: 4 columns where 3"),
        ('0,1,5\n1,2,"1,000"\n', "line 2: weight '1,000' is not a number"),
        ("0,1,\n", "line 1: weight '' is not a number"),
        ("0,1,nan\n", "weight nan"),
        ("0,1,-2\n", "weight -2"),
        ("0,-1\n", "-1"),
        ("0,1.5\n1,2.5\n", "line 1: 0, 1.5 are neither node numbers nor names"),
        ("id1,id2\n0,1\n", "line 1: columns id1, id2; the header names no source and target: give source='id1'"),
        ("0,1,2,3\n", "line 1: 4 columns; name source and target"),
        ('0,1\n"1,2\n', "line 2: unexpected end of data"),
        ("", "no edges"),
        ("source,target\n", "no edges"),
        ("# gsp_fb {}\n", "version"),
        ("# gsp_fb [[[\n", "JSON"),
        ("# gsp_fb " + "[" * 100_000 + "\n", "JSON"),
        ('# gsp_fb {"gsp_fb": 1, "n_nodes": -1, "n_edges": 0, "directed": false, "labels": null}\n', ">= 0"),
        ('# gsp_fb {"gsp_fb": 1, "n_nodes": 1, "n_edges": 0, "directed": 0, "labels": null}\n', "directed"),
        ('# gsp_fb {"gsp_fb": 1, "n_nodes": 1, "n_edges": 0, "directed": true, "labels": [[]]}\n', "labels"),
    ],
)
def test_fault_074_edge_tables_that_are_none_name_the_line(text: str, message: str, tmp_path: Path) -> None:
    (tmp_path / "a.csv").write_text(text)
    refused(tmp_path / "a.csv", message)


def test_fault_074_bytes_that_are_no_text(tmp_path: Path) -> None:
    (tmp_path / "a.csv").write_bytes(b"0,1\n1,\xff\n")
    refused(tmp_path / "a.csv", "line 2: byte 0xff")


@pytest.mark.parametrize("wrong", [kind.suffixes[0] for kind in FORMATS.values()])
@pytest.mark.parametrize("right", [kind.suffixes[0] for kind in FORMATS.values()])
def test_fault_075_wrong_extension(right: str, wrong: str, tmp_path: Path) -> None:
    content = written(tmp_path / f"a{right}")
    (tmp_path / f"b{wrong}").write_bytes(content)
    if right == wrong or {right, wrong} == {".csv", ".tsv"}:
        assert read_graph(tmp_path / f"b{wrong}").n_nodes == GRAPH.n_nodes
    else:
        refused(tmp_path / f"b{wrong}", f"b{wrong}: ")


def test_fault_075_text_that_is_not_compressed(tmp_path: Path) -> None:
    (tmp_path / "a.csv.gz").write_text("0,1\n")
    refused(tmp_path / "a.csv.gz", "gzip")


@pytest.mark.parametrize("name", ["a.xyz", "a", ".npz.bak", "a.npz.gz", "a.parquet.gz", "a.pkl"])
def test_fault_075_unknown_extension(name: str, tmp_path: Path) -> None:
    for call in (lambda: read_graph(tmp_path / name), lambda: write_graph(GRAPH, tmp_path / name)):
        with pytest.raises(FormatError, match=r"no known suffix; give format= one of npz \(\.npz\), mtx"):
            call()
    assert not list(tmp_path.iterdir())


@pytest.mark.parametrize("name", NAMES)
def test_fault_075_missing_file_or_directory(name: str, tmp_path: Path) -> None:
    with pytest.raises(FileNotFoundError, match=name):
        read_graph(tmp_path / name)
    with pytest.raises(FileNotFoundError, match="missing"):
        written(tmp_path / "missing" / name)
    (tmp_path / name).mkdir()
    with pytest.raises(IsADirectoryError, match=name):
        read_graph(tmp_path / name)
    with pytest.raises(IsADirectoryError, match=name):
        written(tmp_path / name)


NOBODY = """
import os, sys
from gsp_fb import Graph
from gsp_fb.files import read_graph, write_graph
if os.geteuid() == 0:
    os.seteuid(65534)  # root may do everything
for call in (lambda: read_graph(sys.argv[1]), lambda: write_graph(Graph.from_edges([(0, 1)]), sys.argv[1])):
    try:
        call()
    except PermissionError as refused:
        print(refused)
"""


@pytest.mark.parametrize("name", ["a.npz", "a.csv", "a.parquet"])
def test_fault_075_no_permission(name: str) -> None:
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder, name)
        written(path)
        path.chmod(0)
        os.chmod(folder, 0o555)
        command = [sys.executable, "-c", NOBODY, str(path)]
        said = subprocess.run(command, capture_output=True, text=True, check=True).stdout
        os.chmod(folder, 0o755)
    read, write = said.splitlines()
    assert str(path) in read
    assert folder in write


def test_fault_082_temporary_files_of_the_killed_are_swept_by_the_next_write(tmp_path: Path) -> None:
    with subprocess.Popen([sys.executable, "-c", ""]) as process:
        pass
    old, young = (tmp_path / f".gsp_fb-{process.pid}-{mark}.tmp" for mark in ("aa", "bb"))
    for temp in (old, young):
        temp.write_bytes(b"half")
    yesterday = time.time() - 25 * 3600
    os.utime(old, (yesterday, yesterday))
    written(tmp_path / "a.npz")
    assert {path.name for path in tmp_path.iterdir()} == {"a.npz", young.name}


@st.composite
def damages(draw: st.DrawFn) -> object:
    """Draw a way to cut, flip, remove, repeat or insert bytes."""
    at, length = draw(st.floats(0, 1)), draw(st.integers(0, 40))
    kind = draw(st.sampled_from(["cut", "flip", "remove", "repeat", "insert"]))
    noise = draw(
        st.binary(min_size=1, max_size=8) | st.sampled_from([b"9" * 20, b"-1", b"[" * 50, b"\n", b'"', b"e999"])
    )

    def damage(content: bytes) -> bytes:
        i = int(at * len(content))
        flipped = bytes(byte ^ noise[k % len(noise)] for k, byte in enumerate(content[i : i + 3]))
        return {
            "cut": content[:i],
            "flip": content[:i] + flipped + content[i + 3 :],
            "remove": content[:i] + content[i + length :],
            "repeat": content[: i + length] + content[i:],
            "insert": content[:i] + noise + content[i:],
        }[kind]

    return damage


def outcome(path: Path) -> Graph | str:
    """Return the graph in a damaged file or why it was refused; any other exception is a failure."""
    try:
        return read_graph(path, max_nodes=10**6)
    except FormatError as refusal:
        return str(refusal)


@pytest.mark.parametrize("name", NAMES)
@settings(max_examples=80)
@given(steps=st.lists(damages(), min_size=1, max_size=3))
def test_fault_071_damaged_files_are_refused_or_still_graphs(name: str, steps: list) -> None:
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder, name)
        content = written(path)
        for damage in steps:
            content = damage(content)
        path.write_bytes(content)
        graph = outcome(path)
        if isinstance(graph, str):
            assert str(path) in graph
        else:
            again = Graph.from_adjacency(graph.adjacency, directed=graph.directed)
            assert again.sha256 == graph.sha256
