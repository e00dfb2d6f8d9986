"""networkx: conversion both ways, and the GraphML and GML files it reads and writes."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import networkx as nx
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from gsp_fb import Graph
from gsp_fb.convert import from_networkx, to_networkx
from gsp_fb.errors import GraphError
from gsp_fb.files import read_graph, write_graph
from gsp_fb.nodes import NodeTable
from gsp_fb.testing import graphs

LABELS = st.one_of(
    st.text(max_size=4), st.integers(), st.tuples(st.integers(), st.booleans()), st.frozensets(st.integers())
)
DIRECTIONS = st.booleans()


def assert_same(actual: Graph, expected: Graph) -> None:
    assert (actual.directed, actual.labels, actual.is_weighted) == (
        expected.directed,
        expected.labels,
        expected.is_weighted,
    )
    np.testing.assert_array_equal(actual.adjacency.toarray(), expected.adjacency.toarray())


@st.composite
def labelled_graphs(draw: st.DrawFn) -> Graph:
    graph = draw(graphs(min_nodes=0, directed=draw(DIRECTIONS)))
    n = graph.n_nodes
    labels = draw(st.none() | st.lists(LABELS, min_size=n, max_size=n, unique=True).map(tuple))
    return graph if labels == tuple(range(n)) else replace(graph, nodes=NodeTable(n, labels))


@given(labelled_graphs())
def test_there_and_back_is_the_same_graph(graph: Graph) -> None:
    assert_same(from_networkx(to_networkx(graph), directed=graph.directed), graph)


@given(labelled_graphs())
def test_networkx_sees_the_same_matrix(graph: Graph) -> None:
    G = to_networkx(graph)
    assert G.is_directed() == graph.directed
    assert (G.number_of_nodes(), G.number_of_edges()) == (graph.n_nodes, graph.n_edges)
    if graph.n_nodes:
        np.testing.assert_array_equal(nx.to_numpy_array(G), graph.adjacency.toarray())
    assert all(("weight" in data) == graph.is_weighted for *_, data in G.edges(data=True))


multigraph_edges = st.lists(st.tuples(st.integers(0, 5), st.integers(0, 5), st.integers(0, 1000).map(lambda w: w / 8)))


@given(multigraph_edges, st.sampled_from([nx.MultiGraph, nx.MultiDiGraph, nx.Graph, nx.DiGraph]))
def test_parallel_edges_are_summed_as_networkx_sums_them(edges: list, kind: type) -> None:
    G = kind()
    G.add_nodes_from(range(7))
    G.add_weighted_edges_from(edges)
    graph = from_networkx(G, directed=G.is_directed())
    np.testing.assert_array_equal(graph.adjacency.toarray(), nx.to_numpy_array(G))
    np.testing.assert_array_equal(
        from_networkx(G.to_undirected(), directed=True).adjacency.toarray(), nx.to_numpy_array(G.to_undirected())
    )


def test_a_real_graph_has_the_operators_networkx_has() -> None:
    G = nx.karate_club_graph()
    graph = from_networkx(G)
    np.testing.assert_array_equal(graph.degrees, [d for _, d in G.degree(weight="weight")])
    assert from_networkx(G, weight=None).degrees.tolist() == [d for _, d in G.degree()]
    assert graph.labels is None


def test_symmetrize_combines_the_arcs() -> None:
    G = nx.DiGraph()
    G.add_weighted_edges_from([(0, 1, 2.0), (1, 0, 4.0), (1, 2, 6.0)])
    for rule, weights in {"max": [4, 6], "mean": [3, 3], "sum": [6, 6]}.items():
        assert from_networkx(G, symmetrize=rule).adjacency.toarray()[[0, 1], [1, 2]].tolist() == weights


def test_symmetrize_changes_nothing_in_an_undirected_graph() -> None:
    G = nx.Graph()
    G.add_edge("a", "b", weight=3.0)
    for rule in ("max", "mean", "sum"):
        assert_same(from_networkx(G, symmetrize=rule), from_networkx(G))


def test_bad_weights_name_the_edge() -> None:
    G = nx.Graph()
    G.add_edge("a", "b", weight=float("nan"))
    with pytest.raises(GraphError, match="nan"):
        from_networkx(G)


FILES = {".graphml": (nx.write_graphml_xml, nx.read_graphml), ".gml": (nx.write_gml, nx.read_gml)}


@pytest.mark.parametrize("suffix", FILES)
@pytest.mark.parametrize("kind", [nx.Graph, nx.DiGraph, nx.MultiGraph])
def test_files_that_networkx_writes_are_read(suffix: str, kind: type, tmp_path: Path) -> None:
    G = kind(name="é < & >")
    G.add_nodes_from(["b", "Ä&\"'", "isolated"], colour="red")
    G.add_weighted_edges_from([("b", "Ä&\"'", 0.1), ("b", "b", 1e-300), ("b", "b", 2e300)], note="x")
    G.add_edge("Ä&\"'", "z")
    FILES[suffix][0](G, tmp_path / f"a{suffix}")
    assert_same(read_graph(tmp_path / f"a{suffix}"), from_networkx(G, directed=G.is_directed()))


@pytest.mark.parametrize("suffix", FILES)
@pytest.mark.parametrize("directed", [False, True])
@pytest.mark.parametrize("labels", [None, ("ä&\"'<\n", " ", "c", "7")])
def test_networkx_reads_the_files_that_are_written(
    suffix: str, directed: bool, labels: tuple | None, tmp_path: Path
) -> None:
    edges, weights = [(0, 1), (1, 2), (2, 2)], [0.1, 1e-300, 1e22]
    graph = Graph.from_edges(edges, weights, n_nodes=4, directed=directed, nodes=labels or ("0", "1", "2", "3"))
    write_graph(graph, tmp_path / f"a{suffix}")
    assert_same(from_networkx(FILES[suffix][1](tmp_path / f"a{suffix}"), directed=directed), graph)
