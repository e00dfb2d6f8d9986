"""Folders made by external sorting hold the graph that from_edges makes of the same list."""

import gzip
import os
import subprocess
import sys
import tempfile

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import gsp_fb as gf
from gsp_fb import outofcore
from gsp_fb.errors import FormatError, GraphError, ParameterError

RULES = [
    {"directed": True},
    {"directed": False},
    {"symmetrize": "max"},
    {"symmetrize": "mean"},
    {"symmetrize": "sum"},
]
PAIRS = st.lists(st.tuples(st.integers(0, 9), st.integers(0, 9)), min_size=1, max_size=60)


@pytest.fixture(scope="module")
def shared():
    # Hundreds of folders are written, each to the disk for sure: better to a disk of memory.
    with tempfile.TemporaryDirectory(dir="/dev/shm" if os.path.isdir("/dev/shm") else None) as path:
        yield path


def same(kept, graph):
    assert kept.load().sha256 == graph.sha256
    assert (kept.n_edges, kept.n_loops, kept.is_weighted) == (graph.n_edges, graph.n_loops, graph.is_weighted)


@settings(max_examples=100)
@given(
    PAIRS,
    st.builds(
        lambda rule, duplicates, loops, signed: {**rule, "duplicates": duplicates, "loops": loops, "signed": signed},
        st.sampled_from(RULES),
        st.sampled_from(["first", "sum"]),
        st.sampled_from(["keep", "drop"]),
        st.booleans(),
    ),
    st.booleans(),
    st.integers(1200, 12000),
)
def test_folder_is_the_graph_of_the_same_edges(shared, pairs, options, weighted, memory):
    folder = tempfile.mkdtemp(dir=shared)
    weights = np.resize([0.5, 1.0, 0.0, 2.25, -1.0 if options["signed"] else 1.0], len(pairs)) if weighted else None
    lines = [f"{i},{j}" + ("" if weights is None else f",{weights[k]}") for k, (i, j) in enumerate(pairs)]
    with open(f"{folder}/edges.csv", "w") as file:
        file.write("\n".join(lines))
    kept = outofcore.build_folder(f"{folder}/edges.csv", f"{folder}/g.npyd", memory=memory, **options)
    same(kept, gf.Graph.from_edges(pairs, weights, **options))
    assert sorted(os.listdir(folder)) == ["edges.csv", "g.npyd"]
    assert not os.path.exists(f"{folder}/g.npyd/runs")


@pytest.fixture
def graph():
    rng = np.random.default_rng(0)
    return gf.Graph.from_edges(rng.integers(0, 500, (3000, 2)), rng.random(3000), n_nodes=510, duplicates="first")


@pytest.mark.parametrize("suffix", [".csv", ".tsv", ".csv.gz", ".parquet"])
def test_our_own_files_keep_isolated_nodes_direction_and_weights(tmp_path, graph, suffix):
    gf.write_graph(graph, tmp_path / f"g{suffix}")
    same(outofcore.build_folder(tmp_path / f"g{suffix}", tmp_path / "g.npyd", memory="200kB"), graph)


def test_pairs_in_an_npy_file(tmp_path, graph):
    source, target, _ = graph.edges()
    pairs = np.stack([source, target], axis=1)
    np.save(tmp_path / "pairs.npy", pairs)
    kept = outofcore.build_folder(tmp_path / "pairs.npy", tmp_path / "g.npyd", memory="100kB")
    same(kept, gf.Graph.from_edges(pairs))


def test_a_header_names_the_columns(tmp_path):
    (tmp_path / "e.txt").write_text("# made by hand\nweight\ttarget\tsource\n2.5\t1\t0\n\n1\t2\t1\n")
    kept = outofcore.build_folder(tmp_path / "e.txt", tmp_path / "g.npyd", directed=True)
    same(kept, gf.Graph.from_edges([(0, 1), (1, 2)], [2.5, 1.0], directed=True))


BAD = {
    "0,1\n1,zwei\n": (FormatError, "lines 1 to 2.*zwei"),
    "0,1\n0,1\n": (GraphError, r"edge \(0, 1\) is listed again"),
    "0,1,nan\n": (GraphError, r"edge \(0, 1\) has weight nan"),
    "0,-1\n": (GraphError, r"edge 0 is \(0, -1\)"),
    "0,1,2,3\n": (FormatError, "4 columns; name source"),
    "source,target,length\n0,1,2.5\n": (FormatError, "no column is called 'weight', and 'length' has numbers"),
    "0,2000000000\n": (ParameterError, "memory=1000000 bytes is too little for node 2000000000"),
    "": (FormatError, "no edges"),
    '# gsp_fb {"gsp_fb": 1, "n_nodes": 3, "n_edges": 2, "directed": false, "labels": null}\n0,1\n': (
        FormatError,
        "1 edges found, 2 written",
    ),
}


@pytest.mark.parametrize("text", BAD, ids=range(len(BAD)))
def test_bad_lists_are_refused_and_leave_nothing(tmp_path, text):
    (tmp_path / "e.csv").write_text(text)
    error, message = BAD[text]
    with pytest.raises(error, match=message):
        outofcore.build_folder(tmp_path / "e.csv", tmp_path / "g.npyd", memory="1MB")
    assert os.listdir(tmp_path) == ["e.csv"]


def test_columns_that_hold_no_weights_are_passed_over(tmp_path):
    (tmp_path / "e.csv").write_text("source,target,kind,id\n0,1,road,7\n1,2,rail,8\n")
    graph = outofcore.build_folder(tmp_path / "e.csv", tmp_path / "g.npyd")
    assert (graph.n_edges, graph.is_weighted) == (2, False)


def test_a_weight_of_another_name_in_a_parquet_is_refused(tmp_path):
    pa, parquet = (pytest.importorskip(name) for name in ("pyarrow", "pyarrow.parquet"))
    table = {"source": [0, 1], "target": [1, 2], "km": [1.5, 2.0], "kind": ["a", "b"]}
    parquet.write_table(pa.table(table), tmp_path / "e.parquet")
    with pytest.raises(FormatError, match="'km' has numbers; rename or remove it"):
        outofcore.build_folder(tmp_path / "e.parquet", tmp_path / "g.npyd")


def test_a_text_cut_short_is_refused(tmp_path):
    whole = gzip.compress(b"".join(b"%d,%d\n" % (i, i + 1) for i in range(9999)))
    (tmp_path / "e.csv.gz").write_bytes(whole[: len(whole) // 2])
    with pytest.raises(FormatError, match="cannot be read"):
        outofcore.build_folder(tmp_path / "e.csv.gz", tmp_path / "g.npyd")


def test_an_existing_folder_is_never_touched(tmp_path):
    (tmp_path / "e.csv").write_text("0,1\n")
    (tmp_path / "g.npyd").mkdir()
    with pytest.raises(FileExistsError, match="remove it"):
        outofcore.build_folder(tmp_path / "e.csv", tmp_path / "g.npyd")


KILLED = """
import os, sys
from gsp_fb import outofcore
def until_merging(items, title, total=None):
    if title == "merging":
        os.kill(os.getpid(), 9)
    return items
outofcore.build_folder(sys.argv[1], sys.argv[2], progress=until_merging)
"""


def test_a_killed_conversion_leaves_no_folder_and_can_be_repeated(tmp_path):
    (tmp_path / "e.csv").write_text("0,1\n1,2\n")
    command = [sys.executable, "-c", KILLED, tmp_path / "e.csv", tmp_path / "g.npyd"]
    assert subprocess.run(command, check=False).returncode == -9
    assert not (tmp_path / "g.npyd").exists()
    assert outofcore.build_folder(tmp_path / "e.csv", tmp_path / "g.npyd").n_edges == 2


def test_damaged_folders_are_refused(tmp_path, graph):
    outofcore.write_folder(graph, tmp_path / "g.npyd")
    indices = np.load(tmp_path / "g.npyd/indices.npy")
    indices[7] = graph.n_nodes
    np.save(tmp_path / "g.npyd/indices.npy", indices)
    with pytest.raises(FormatError, match="is no node"):
        gf.open_graph(tmp_path / "g.npyd").degrees.sum()
    np.save(tmp_path / "g.npyd/indices.npy", indices[:-1])
    with pytest.raises(FormatError, match="are expected"):
        gf.open_graph(tmp_path / "g.npyd")
    (tmp_path / "g.npyd/graph.json").write_text("{}")
    with pytest.raises(FormatError, match="damaged"):
        gf.open_graph(tmp_path / "g.npyd")


def test_amounts_of_memory():
    assert outofcore.parse_bytes("1.5 GB") == 1_500_000_000
    for wrong in ("4 bananas", "", "0GB", "-1MB"):
        with pytest.raises(ParameterError, match="is not understood"):
            outofcore.parse_bytes(wrong)
    with pytest.raises(ParameterError, match="integer"):
        outofcore.parse_bytes(1.5)


@pytest.mark.parametrize("shape", [(5,), (5, 3), (5, 3, 2), (5, 0)])
@pytest.mark.parametrize("order", ["C", "F"])
def test_a_window_of_rows_in_either_order(tmp_path, shape, order):
    x = np.asarray(np.arange(np.prod(shape), dtype=float).reshape(shape), order=order)
    np.save(tmp_path / "x.npy", x)
    array = outofcore.StoredArray.open(tmp_path / "x.npy")
    for start, stop in ((0, 5), (1, 4), (2, 2)):
        np.testing.assert_array_equal(array.rows(start, stop), x[start:stop])
