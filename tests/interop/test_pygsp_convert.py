"""PyGSP: conversion both ways."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from pygsp import graphs as pygsp_graphs

from gsp_fb import Graph
from gsp_fb.convert import from_pygsp, to_pygsp
from gsp_fb.errors import GraphError
from gsp_fb.testing import graphs


@pytest.mark.parametrize("directed", [False, True])
@given(data=st.data())
def test_there_and_back_is_the_same_graph(directed: bool, data: st.DataObject) -> None:
    graph = data.draw(graphs(min_nodes=2, directed=directed))
    again = from_pygsp(to_pygsp(graph), directed=directed)
    assert (again.directed, again.is_weighted) == (directed, graph.is_weighted)
    np.testing.assert_array_equal(again.adjacency.toarray(), graph.adjacency.toarray())


@given(graphs(min_nodes=2, loops=False))
def test_pygsp_counts_the_same_nodes_edges_and_degrees(graph: Graph) -> None:
    G = to_pygsp(graph)
    assert (G.N, int(G.n_edges), G.is_directed()) == (graph.n_nodes, graph.n_edges, False)
    np.testing.assert_allclose(np.asarray(G.dw).ravel(), graph.degrees, rtol=1e-14)


@pytest.mark.parametrize("make", [lambda: pygsp_graphs.Ring(9), pygsp_graphs.Logo, lambda: pygsp_graphs.Path(5)])
def test_graphs_that_pygsp_makes(make: object) -> None:
    G = make()
    graph = from_pygsp(G)
    np.testing.assert_array_equal(graph.adjacency.toarray(), G.W.toarray())
    assert graph.n_edges == G.n_edges


def test_a_directed_one_needs_a_word_and_a_negative_weight_is_refused() -> None:
    G = pygsp_graphs.Graph(np.array([[0.0, 1.0], [0.0, 0.0]]))
    with pytest.raises(GraphError, match="symmetrize='max'"):
        from_pygsp(G)
    assert from_pygsp(G, directed=True).directed
    assert from_pygsp(G, symmetrize="max").n_edges == 1
    with pytest.raises(GraphError, match="weight -1"):
        from_pygsp(pygsp_graphs.Graph(np.array([[0.0, -1.0], [-1.0, 0.0]])))


def test_the_graph_does_not_change_with_pygsps() -> None:
    graph = Graph.from_edges([(0, 1), (1, 2)])
    to_pygsp(graph).W.data[:] = 7.0
    assert graph.degrees.tolist() == [1.0, 2.0, 1.0]
