"""Faults of one's own files and tables: refused by name of column and option, or read right."""

from __future__ import annotations

import os
from types import SimpleNamespace

import igraph
import networkx as nx
import numpy as np
import pandas as pd
import pytest
from scipy import sparse

import gsp_fb as gf
from gsp_fb.errors import FormatError, GraphError, ParameterError, SignalError
from gsp_fb.outofcore import write_folder

MTX = "%%MatrixMarket matrix coordinate {} {}\n"


def test_fault_117_a_tiny_signal_from_memory_and_from_disk(tmp_path):
    graph = gf.datasets.erdos_renyi(20, 0.3, rng=0)
    write_folder(graph, tmp_path / "g.npyd")
    x = 1e-200 * np.arange(1.0, 21)
    values = [gf.s_value(gf.operator(g, "sym", channel="high"), x) for g in (graph, gf.open_graph(tmp_path / "g.npyd"))]
    assert values[0] == pytest.approx(values[1], rel=1e-12)
    assert values[0] == pytest.approx(gf.s_value(gf.operator(graph, "sym", channel="high"), x * 1e200), rel=1e-12)


def test_fault_118_a_stored_graph_names_load(tmp_path):
    write_folder(gf.datasets.ring(5), tmp_path / "g.npyd")
    with pytest.raises(GraphError, match=r"call \.load\(\)"):
        gf.open_graph(tmp_path / "g.npyd").subgraph([0, 1])


@pytest.mark.parametrize("value", ["1.5.7", "1.5e", "1-5", "12nan", "1.5 7", "0x1p3", "1,5"])
def test_fault_119_matrix_market_values_that_are_no_numbers(value, tmp_path):
    path = tmp_path / "a.mtx"
    path.write_text(MTX.format("real", "general") + f"2 2 2\n1 2 1\n2 1 {value}\n")
    with pytest.raises(FormatError, match=rf"a\.mtx: line 4: '2 1 {value}'"):
        gf.read_graph(path)


@pytest.mark.parametrize(
    ("field", "entry"), [("integer", "2 1 5e2"), ("integer", "2 1 5.0"), ("pattern", "2 1 1"), ("integer", "2 1 1 1")]
)
def test_fault_119_matrix_market_entries_of_another_field(field, entry, tmp_path):
    (tmp_path / "a.mtx").write_text(MTX.format(field, "symmetric") + f"2 2 1\n{entry}\n")
    with pytest.raises(FormatError, match=f"line 3: '{entry}'"):
        gf.read_graph(tmp_path / "a.mtx")


def test_fault_119_fortran_exponents_are_read_as_such(tmp_path):
    (tmp_path / "a.mtx").write_text(MTX.format("real", "symmetric") + "2 2 1\n2 1 1.5D+02\n")
    assert gf.read_graph(tmp_path / "a.mtx").weights.tolist() == [150.0, 150.0]


def test_fault_120_a_symmetric_file_with_both_triangles(tmp_path):
    (tmp_path / "a.mtx").write_text(MTX.format("real", "symmetric") + "3 3 3\n2 1 1\n3 1 1\n1 3 1\n")
    with pytest.raises(FormatError, match=r"\(1, 3\) and \(3, 1\): a symmetric file lists one triangle"):
        gf.read_graph(tmp_path / "a.mtx")


def test_fault_121_special_files_and_files_without_a_size(tmp_path):
    os.mkfifo(tmp_path / "pipe.csv")
    for path in ("/dev/zero", tmp_path / "pipe.csv"):
        with pytest.raises(FormatError, match="not a regular file"):
            gf.read_graph(path, format="csv", max_bytes=10**6)
    if os.path.exists("/proc/self/maps"):  # a regular file that announces no bytes
        with pytest.raises(FormatError, match="max_bytes=64"):
            gf.read_graph("/proc/self/maps", format="csv", max_bytes=64)


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("person,friend\nann,bob\nbob,eve\n", "source='person' and target='friend' if it is a header, header=False"),
        ("person,friend\n1,2\n2,3\n", "give source='person' and target='friend'"),
        ("person,friend,km\nann,bob,1\nbob,eve,2\n", "give source='person' and target='friend'"),
        ("source,target,length\nann,bob,1\n", "'length' holds numbers; give weight='length'"),
        ("source,target,length,cost\nann,bob,1,2\n", "'length', 'cost' hold numbers; give weight='length'"),
        ("a,b,c,d\nann,bob,1,2\n", "if they are names, give source='a' and target='b'"),
    ],
)
def test_fault_122_a_header_or_weight_that_is_not_known(text, message, tmp_path):
    (tmp_path / "a.csv").write_text(text)
    with pytest.raises(FormatError, match=message):
        gf.read_graph(tmp_path / "a.csv")


def test_fault_122_columns_are_named_by_options(tmp_path):
    (tmp_path / "a.csv").write_text("km,friend,person\n2.5,bob,ann\n1,eve,bob\n")
    graph = gf.read_graph(tmp_path / "a.csv", source="person", target="friend", weight="km")
    assert (graph.labels, graph.degrees.tolist()) == (("ann", "bob", "eve"), [2.5, 3.5, 1.0])
    assert not gf.read_graph(tmp_path / "a.csv", source="person", target="friend", weight=None).is_weighted
    (tmp_path / "b.csv").write_text("ann,bob\neve,kim\n")
    assert gf.read_graph(tmp_path / "b.csv", header=False).n_edges == 2
    with pytest.raises(FormatError, match="no column 'x'"):
        gf.read_graph(tmp_path / "a.csv", source="x", target="friend")


@pytest.mark.parametrize("suffix", [".graphml", ".gml"])
def test_fault_123_node_and_edge_attributes_are_kept(suffix, tmp_path):
    G = nx.Graph()
    G.add_node("Rome", lon=12.5, lat=41.9, kind="old", size=3)
    G.add_node("Oslo", lon=10.7, lat=59.9, kind="new", size=1)
    G.add_edge("Rome", "Oslo", km=2000.0, hours=22.0)
    {".graphml": nx.write_graphml, ".gml": nx.write_gml}[suffix](G, tmp_path / f"a{suffix}")
    with pytest.raises(FormatError, match="'km', 'hours' hold numbers; give weight='km'"):
        gf.read_graph(tmp_path / f"a{suffix}")
    graph = gf.read_graph(tmp_path / f"a{suffix}", weight="km")
    assert graph.weights.tolist() == [2000.0, 2000.0]
    assert graph.nodes["kind"].tolist() == ["old", "new"]
    np.testing.assert_array_equal(graph.coordinates, [[12.5, 41.9], [10.7, 59.9]])


def test_fault_123_igraphs_names_are_names(tmp_path):
    G = igraph.Graph.TupleList([("a", "b"), ("b", "c")])
    G.vs["age"] = [1.0, 2.0, 3.0]
    G.write_graphml(str(tmp_path / "a.graphml"))
    graph = gf.read_graph(tmp_path / "a.graphml")
    assert (graph.labels, graph.nodes["age"].tolist()) == (("a", "b", "c"), [1.0, 2.0, 3.0])


def test_fault_124_a_series_in_another_order_or_with_other_names():
    graph = gf.Graph.from_edges([(0, 1), (1, 2)], nodes=("a", "b", "c"))
    np.testing.assert_array_equal(graph.check_signal(pd.Series([3.0, 1.0, 2.0], index=list("cab"))), [1.0, 2.0, 3.0])
    with pytest.raises(SignalError, match=r"'c'.*'d'"):
        graph.check_signal(pd.Series(np.ones(3), index=list("abd")))


def test_fault_125_an_edge_attribute_that_no_edge_has():
    G = nx.Graph([("a", "b", {"km": 3.0})])
    for convert, graph in ((gf.from_networkx, G), (gf.from_igraph, igraph.Graph.from_networkx(G))):
        with pytest.raises(GraphError, match="no edge has the attribute 'kn'; there are 'km'"):
            convert(graph, weight="kn")
        with pytest.raises(GraphError, match="'km' holds numbers; give weight='km'"):
            convert(graph)
        assert convert(graph, weight="km").is_weighted
        assert not convert(graph, weight=None).is_weighted
    frame = pd.DataFrame({"source": ["a"], "target": ["b"], "km": [3.0]})
    with pytest.raises(GraphError, match="give weight='km'"):
        gf.from_pandas(frame)


def test_fault_126_gephis_column_of_directions(tmp_path):
    text = "Source,Target,Type,Id,Weight\na,b,{0},0,2\nb,c,{1},1,3\n"
    (tmp_path / "a.csv").write_text(text.format("Directed", "Directed"))
    graph = gf.read_graph(tmp_path / "a.csv")
    assert graph.directed
    assert graph.weights.tolist() == [2.0, 3.0]
    (tmp_path / "a.csv").write_text(text.format("Undirected", "Undirected"))
    assert not gf.read_graph(tmp_path / "a.csv").directed
    (tmp_path / "a.csv").write_text(text.format("Directed", "Undirected"))
    with pytest.raises(FormatError, match="line 3: column 'Type'"):
        gf.read_graph(tmp_path / "a.csv")


def test_fault_127_targets_of_a_data_set():
    ring = gf.datasets.ring(6)
    strings = gf.datasets.Dataset.from_arrays(ring, np.eye(6), ["x", "y", None, "x", "y", "x"])
    assert (strings.n_classes, strings.classes) == (2, ("x", "y"))
    numbers = gf.datasets.Dataset.from_arrays(ring, np.eye(6), np.linspace(0, 1, 6))
    assert (numbers.n_classes, numbers.y.dtype.kind) == (0, "f")
    with pytest.raises(SignalError, match="label 3"):
        gf.datasets.Dataset.from_arrays(ring, np.eye(6), np.array(["x", 3, None, "x", "y", "x"], dtype=object))


def test_fault_128_a_sparse_signal_of_one_axis():
    ring = gf.datasets.ring(6)
    high = gf.operator(ring, "sym", channel="high")
    columns = gf.one_hot([0, 1, 0, 1, 1, 0])
    assert gf.s_value(high, columns[:, 0]) == gf.s_value(high, columns.toarray()[:, 0])
    assert gf.s_value(high, sparse.coo_array(np.arange(6.0))) == gf.s_value(high, np.arange(6.0))


def test_fault_147_classes_are_counted():
    data = gf.datasets.Dataset.from_arrays(gf.datasets.ring(4), np.eye(4), [0, 10_000_000, 0, -1])
    assert (data.n_classes, data.classes) == (2, (0, 10_000_000))


@pytest.mark.parametrize(
    ("train", "message"),
    [([0.5], "of type float64"), ([7], "names item 7"), ([-1], "names item -1"), ([True, False], "mask of shape")],
)
def test_fault_148_split_indices_that_are_none(train, message):
    with pytest.raises(ParameterError, match=message):
        gf.datasets.Dataset.from_arrays(
            gf.datasets.ring(4), np.eye(4), [0, 1, 0, 1], [SimpleNamespace(train=train, val=[2], test=[3])]
        )


@pytest.mark.parametrize(
    ("given", "message"),
    [
        (gf.datasets.ring(4), r"operator\(graph, 'sym', channel='high'\)"),
        (nx.path_graph(4), r"operator\(from_networkx\(G\)"),
        (np.eye(4), r"operator\(Graph\.from_adjacency\(A\)"),
        (sparse.csr_array(np.eye(4)), r"operator\(Graph\.from_adjacency\(A\)"),
    ],
)
def test_fault_139_what_is_given_in_place_of_an_operator(given, message):
    calls = (gf.s_value, gf.dirichlet_energy, lambda op, x: gf.spectrum(op))
    for call in (*calls, lambda op, x: gf.FilterBank(op, gf.filters.heat(1.0))):
        with pytest.raises(ParameterError, match=f"an operator is needed.*{message}"):
            call(given, np.ones(4))


def test_advice_takes_a_data_set():
    data = gf.datasets.contextual_sbm(100, homophily=0.3, rng=0)
    found = gf.advise(data)
    assert found.channels == gf.advise(data.graph, data.x, data.y, data.splits[0].train).channels
