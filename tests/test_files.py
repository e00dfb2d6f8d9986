"""Every format gives back what was written, bit by bit, and reads foreign files by stated rules."""

from __future__ import annotations

import gzip
import string
import tempfile
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import sparse
from scipy.io import mmwrite

from gsp_fb import Graph
from gsp_fb.errors import FormatError, GraphError, GspWarning, ParameterError
from gsp_fb.files import FORMATS, read_graph, write_graph
from gsp_fb.nodes import NodeTable
from gsp_fb.testing import graphs

SUFFIXES = [suffix for kind in FORMATS.values() for suffix in kind.suffixes]
SUFFIXES += [f"{suffix}.gz" for kind in FORMATS.values() if kind.text for suffix in kind.suffixes[:1]]
LABELLED = [suffix for suffix in SUFFIXES if not suffix.startswith(".mtx")]
# XML holds no control characters; everything else that a name may be is in here.
NAMES = st.text(st.characters(exclude_categories=["Cs", "Cc"], include_characters="\t\n\r\"&<>'#,;"), max_size=6)
ANY_WEIGHT = st.floats(1e-290, 1e290)


def assert_same(actual: Graph, expected: Graph) -> None:
    assert actual.directed == expected.directed
    assert actual.labels == expected.labels
    np.testing.assert_array_equal(actual.indptr, expected.indptr)
    np.testing.assert_array_equal(actual.indices, expected.indices)
    assert (actual.weights is None) == (expected.weights is None)
    if expected.weights is not None:
        assert actual.weights.tobytes() == expected.weights.tobytes()


def round_trip(graph: Graph, suffix: str) -> Graph:
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder, f"a graph é{suffix}")
        write_graph(graph, path)
        assert [p.name for p in Path(folder).iterdir()] == [path.name]
        return read_graph(path)


@st.composite
def any_graphs(draw: st.DrawFn) -> Graph:
    """Graphs of either direction, with weights of any size and digits, and none, integer or text labels."""
    graph = draw(graphs(min_nodes=0, directed=draw(st.booleans())))
    if draw(st.booleans()):
        A = graph.adjacency.copy()
        values = draw(st.lists(ANY_WEIGHT, min_size=1, max_size=9))
        pair_sum = np.repeat(np.arange(graph.n_nodes), np.diff(A.indptr)) + A.indices
        A.data = np.array(values)[pair_sum % len(values)]  # the same for (i, j) and (j, i)
        graph = Graph.from_adjacency(A, directed=graph.directed)
    names = draw(st.sampled_from([None, NAMES, st.integers(-(2**63), 2**63 - 1)]))
    if names is None or not graph.n_nodes:
        return graph
    return replace(
        graph,
        nodes=NodeTable(
            graph.n_nodes, tuple(draw(st.lists(names, min_size=graph.n_nodes, max_size=graph.n_nodes, unique=True)))
        ),
    )


@pytest.mark.parametrize("suffix", SUFFIXES)
@settings(max_examples=60)
@given(graph=any_graphs())
def test_a_file_gives_back_the_graph_that_was_written(suffix: str, graph: Graph) -> None:
    if suffix.startswith(".mtx"):
        graph = replace(graph, nodes=NodeTable(graph.n_nodes))
    assert_same(round_trip(graph, suffix), graph)


@pytest.mark.parametrize("suffix", LABELLED)
@pytest.mark.parametrize("labels", [None, ("0", "1", "2", "3"), (0, 1, 2, 3), (3, 2, 1, 0), ("", " ", "\n#", "a,b")])
def test_labels_that_look_like_numbers_stay_what_they_are(suffix: str, labels: tuple | None) -> None:
    graph = Graph.from_edges([(0, 1), (1, 2), (1, 1)], [0.1, 0.2, 1 / 3], n_nodes=4, nodes=labels)
    assert_same(round_trip(graph, suffix), graph)


@pytest.mark.parametrize("suffix", SUFFIXES)
def test_equal_graphs_are_equal_files(suffix: str, tmp_path: Path) -> None:
    graph = Graph.from_edges([(0, 1), (1, 2)], [0.1, 2.0])
    for name in ("first", "second"):
        write_graph(graph, tmp_path / f"{name}{suffix}")
    assert (tmp_path / f"first{suffix}").read_bytes() == (tmp_path / f"second{suffix}").read_bytes()


@pytest.mark.parametrize("suffix", SUFFIXES)
def test_direction_of_a_directed_file_is_the_callers_to_change(suffix: str, tmp_path: Path) -> None:
    path = tmp_path / f"arcs{suffix}"
    write_graph(Graph.from_edges([(0, 1), (1, 0), (1, 2)], [1.0, 3.0, 4.0], directed=True), path)
    assert read_graph(path).directed
    with pytest.raises(FormatError, match=r"arcs.*symmetrize='max'"):
        read_graph(path, directed=False)
    assert read_graph(path, symmetrize="max").adjacency.toarray().tolist() == [[0, 3, 0], [3, 0, 4], [0, 4, 0]]
    with pytest.raises(GraphError, match="contradict"):
        read_graph(path, symmetrize="max", directed=True)


@pytest.mark.parametrize("suffix", SUFFIXES)
def test_undirected_file_read_as_directed_has_both_arcs(suffix: str, tmp_path: Path) -> None:
    graph = Graph.from_edges([(0, 1), (1, 2), (2, 2)], [1.0, 3.0, 5.0])
    write_graph(graph, tmp_path / f"edges{suffix}")
    arcs = read_graph(tmp_path / f"edges{suffix}", directed=True)
    assert arcs.directed
    np.testing.assert_array_equal(arcs.adjacency.toarray(), graph.adjacency.toarray())
    assert_same(read_graph(tmp_path / f"edges{suffix}", symmetrize="sum"), graph)


@pytest.mark.parametrize("suffix", SUFFIXES)
def test_loops_can_be_dropped(suffix: str, tmp_path: Path) -> None:
    write_graph(Graph.from_edges([(0, 1), (1, 1)]), tmp_path / f"loop{suffix}")
    assert read_graph(tmp_path / f"loop{suffix}", loops="drop").n_loops == 0


@pytest.mark.parametrize("labels", [(1, "a"), (1.5, 2.5), ((0, 0), (0, 1)), (True, False), ("\ud800", "a"), (2**63, 0)])
@pytest.mark.parametrize("suffix", LABELLED)
def test_labels_that_no_file_holds_are_refused(suffix: str, labels: tuple, tmp_path: Path) -> None:
    with pytest.raises(FormatError, match="label"):
        write_graph(Graph.from_edges([(0, 1)], nodes=labels), tmp_path / f"graph{suffix}")
    assert not list(tmp_path.iterdir())


def test_control_characters_go_into_every_format_but_xml(tmp_path: Path) -> None:
    graph = Graph.from_edges([(0, 1)], nodes=("\x00", "\x01a"))
    with pytest.raises(FormatError, match="XML cannot hold"):
        write_graph(graph, tmp_path / "graph.graphml")
    for suffix in (".gml", ".csv", ".tsv", ".parquet", ".npz"):
        assert_same(round_trip(graph, suffix), graph)


def test_matrix_market_warns_that_it_leaves_labels_out(tmp_path: Path) -> None:
    graph = Graph.from_edges([(0, 1)], nodes=("a", "b"))
    with pytest.warns(GspWarning, match="cannot store labels"):
        write_graph(graph, tmp_path / "graph.mtx")
    assert_same(read_graph(tmp_path / "graph.mtx"), replace(graph, nodes=NodeTable(graph.n_nodes)))


@pytest.mark.parametrize("kind", ["csr", "csc", "coo"])
@pytest.mark.parametrize("make", [sparse.csr_array, sparse.csr_matrix])
def test_scipys_own_npz_is_read(kind: str, make: type, tmp_path: Path) -> None:
    A = make(np.array([[0, 2.0, 0], [2.0, 1.0, 0], [0, 0, 0]])).asformat(kind)
    for compressed in (False, True):
        sparse.save_npz(tmp_path / "a.npz", A, compressed=compressed)
        np.testing.assert_array_equal(read_graph(tmp_path / "a.npz").adjacency.toarray(), A.toarray())


def test_npz_of_another_byte_order_is_read(tmp_path: Path) -> None:
    arrays = {
        "indptr": np.array([0, 1, 2], ">i8"),
        "indices": np.array([1, 0], ">u2"),
        "weights": np.full(2, 0.1, ">f8"),
    }
    np.savez(tmp_path / "a.npz", format_version=1, directed=False, **arrays)
    assert_same(read_graph(tmp_path / "a.npz"), Graph.from_edges([(0, 1)], [0.1]))


@pytest.mark.parametrize("symmetry", ["general", "symmetric"])
@pytest.mark.parametrize("field", ["real", "integer", "pattern"])
def test_scipys_matrix_market_is_read(field: str, symmetry: str, tmp_path: Path) -> None:
    A = sparse.coo_array(np.array([[0, 1, 0], [1, 1, 0], [0, 0, 0]]))
    mmwrite(tmp_path / "a.mtx", A, field=field, symmetry=symmetry)
    np.testing.assert_array_equal(read_graph(tmp_path / "a.mtx").adjacency.toarray(), A.toarray())


def test_a_general_matrix_must_be_symmetric_or_declared_directed(tmp_path: Path) -> None:
    mmwrite(tmp_path / "a.mtx", sparse.coo_array(np.array([[0, 1], [0, 0]])), symmetry="general")
    with pytest.raises(FormatError, match="not symmetric"):
        read_graph(tmp_path / "a.mtx")
    assert read_graph(tmp_path / "a.mtx", directed=True).n_edges == 1
    assert read_graph(tmp_path / "a.mtx", symmetrize="max").n_edges == 1


@pytest.mark.parametrize(
    ("text", "n_nodes", "labels"),
    [
        ("0,1\n1,2\n", 3, None),
        ("0 1\n1   2\n", 3, None),
        ("0\t1\n", 2, None),
        ("0;1\n", 2, None),
        ("# SNAP\n% KONECT\n\n0 1\n", 2, None),
        ("a,b\nb,c\n", 3, ("a", "b", "c")),
        ("b,a\nc,b", 3, ("b", "a", "c")),
        ("From,To\nb,a\n", 2, ("b", "a")),
        ("kind,target,source\nold,a,b\n", 2, ("b", "a")),
        ('"Smith, John",b\n', 2, ("Smith, John", "b")),
        ("1,a\n2,b\n", 4, ("1", "a", "2", "b")),
    ],
)
def test_foreign_edge_tables(text: str, n_nodes: int, labels: tuple | None, tmp_path: Path) -> None:
    for name in ("a.csv", "a.tsv", "a.txt"):
        (tmp_path / name).write_text(text)
        graph = read_graph(tmp_path / name)
        assert (graph.n_nodes, graph.labels) == (n_nodes, labels)


def test_the_third_column_is_the_weight(tmp_path: Path) -> None:
    (tmp_path / "a.csv").write_text("0,1,0.5\n1,2,2e-3\n")
    assert read_graph(tmp_path / "a.csv").degrees.tolist() == [0.5, 0.502, 0.002]
    (tmp_path / "a.csv").write_text("weight,dst,src\n0.5,1,0\n")
    assert read_graph(tmp_path / "a.csv").degrees.tolist() == [0.5, 0.5]


def test_repeated_edges_are_the_callers_to_explain(tmp_path: Path) -> None:
    (tmp_path / "a.csv").write_text("0,1,2\n0,1,3\n")
    with pytest.raises(FormatError, match=r"a\.csv: 1 of 2 listed edges repeat.*duplicates='first'"):
        read_graph(tmp_path / "a.csv")
    assert read_graph(tmp_path / "a.csv", duplicates="first").degrees.tolist() == [2, 2]
    assert read_graph(tmp_path / "a.csv", duplicates="sum").degrees.tolist() == [5, 5]
    (tmp_path / "b.csv").write_text("0,1,2\n1,0,2\n")
    assert read_graph(tmp_path / "b.csv", symmetrize="max").degrees.tolist() == [2, 2]


def test_foreign_parquet_with_names_or_numbers(tmp_path: Path) -> None:
    import pandas as pd

    path = tmp_path / "a.parquet"
    pd.DataFrame({"source": ["b", "a"], "target": ["a", "c"], "weight": [1, 2], "more": [0, 0]}).to_parquet(path)
    graph = read_graph(path)
    assert graph.labels == ("b", "a", "c")
    assert graph.degrees.tolist() == [1, 3, 2]
    pd.DataFrame({"source": [0, 1], "target": [1, 3]}).to_parquet(path)
    assert_same(read_graph(path), Graph.from_edges([(0, 1), (1, 3)]))


@pytest.mark.parametrize(
    ("columns", "message"),
    [
        ({"a": [0]}, "source and target are required; found a"),
        ({"source": [0, None], "target": [1, 2]}, "1 empty cells"),
        ({"source": [0.5], "target": [1.5]}, "0.5"),
        ({"source": [0], "target": [1], "weight": ["x"]}, "weight"),
        ({"source": [0], "target": [-1]}, "-1"),
        ({"source": [0], "target": [10**12]}, "max_nodes"),
        ({"source": ["a", "a"], "target": ["b", "b"]}, "repeat"),
    ],
)
def test_parquet_that_is_no_edge_table(columns: dict, message: str, tmp_path: Path) -> None:
    import pyarrow as pa
    import pyarrow.parquet as pq

    pq.write_table(pa.table(columns), tmp_path / "a.parquet")
    with pytest.raises(FormatError, match=message):
        read_graph(tmp_path / "a.parquet")


def test_format_may_be_given_for_any_name(tmp_path: Path) -> None:
    graph = Graph.from_edges([(0, 1), (1, 2)])
    for name in FORMATS:
        write_graph(graph, tmp_path / "data.bin", format=name)
        assert_same(read_graph(tmp_path / "data.bin", format=name), graph)


def test_gzip_is_told_by_the_name(tmp_path: Path) -> None:
    write_graph(Graph.from_edges([(0, 1)]), tmp_path / "a.CSV.GZ")
    assert gzip.decompress((tmp_path / "a.CSV.GZ").read_bytes()).startswith(b"# gsp_fb {")


@pytest.mark.parametrize(
    "option",
    [{"format": "pickle"}, {"symmetrize": "maximum"}, {"duplicates": "last"}, {"loops": "keeep"}, {"max_nodes": -1}],
)
def test_unknown_options_are_named_before_the_file_is_opened(option: dict) -> None:
    with pytest.raises(ParameterError):
        read_graph("there is no such file.csv", **option)


def test_matrix_entries_are_always_summed(tmp_path: Path) -> None:
    write_graph(Graph.from_edges([(0, 1)]), tmp_path / "a.mtx")
    with pytest.raises(ParameterError, match="edge lists"):
        read_graph(tmp_path / "a.mtx", duplicates="first")


def test_gml_that_others_write(tmp_path: Path) -> None:
    (tmp_path / "a.gml").write_text(
        'Creator "x [ y ]"\n# note\ngraph\n[\n  node [ id 7 label "a&#233;&amp;&unknown;" graphics [ x 1.5 y .5 ] ]\n'
        '  node\n  [\n id 3\n label "b" ]\n edge [ source 3 target 7 weight 2 ]\n edge [ source 7 target 3 ]\n]\n'
    )
    graph = read_graph(tmp_path / "a.gml")
    assert graph.labels == ("aé&&unknown;", "b")
    assert graph.adjacency.toarray().tolist() == [[0, 3], [3, 0]]


def test_graphml_default_weight_and_parallel_edges(tmp_path: Path) -> None:
    (tmp_path / "a.graphml").write_text(
        '<graphml><key id="k" for="edge" attr.name="weight"><default>4</default></key>'
        '<graph edgedefault="undirected"><edge source="a" target="b"/>'
        '<edge source="b" target="a"><data key="k"> 0.5 </data></edge><node id="a"/><node id="b"/></graph></graphml>'
    )
    graph = read_graph(tmp_path / "a.graphml")
    assert graph.labels == ("a", "b")
    assert graph.degrees.tolist() == [4.5, 4.5]


def test_every_format_is_documented_by_its_row() -> None:
    assert set(FORMATS) == {"npz", "mtx", "graphml", "gml", "csv", "tsv", "parquet"}
    for kind in FORMATS.values():
        assert all(suffix[0] == "." and set(suffix[1:]) <= set(string.ascii_lowercase) for suffix in kind.suffixes)


@pytest.mark.parametrize("suffix", ["csv", "parquet"])
def test_one_end_of_an_edge_alone_is_refused(suffix, tmp_path):
    path = tmp_path / f"edges.{suffix}"
    write_graph(Graph.from_edges([(0, 1), (1, 2)]), path)
    with pytest.raises(ParameterError, match="source='source' and target=None: name both columns or none"):
        read_graph(path, source="source")
