"""igraph: conversion both ways, against its own matrices."""

from __future__ import annotations

import igraph
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from gsp_fb import Graph
from gsp_fb.convert import from_igraph, to_igraph
from gsp_fb.errors import GraphError
from gsp_fb.testing import graphs


def matrix(G):
    if G.ecount() == 0:  # igraph 1.0 fails on a graph without edges
        return np.zeros((G.vcount(), G.vcount()))
    return G.get_adjacency_sparse("weight" if "weight" in G.es.attributes() else None).toarray()


@pytest.mark.parametrize("directed", [False, True])
@given(data=st.data())
def test_there_and_back_is_the_same_graph(directed, data):
    graph = data.draw(graphs(min_nodes=0, directed=directed))
    again = from_igraph(to_igraph(graph), directed=directed)
    assert (again.directed, again.labels, again.is_weighted) == (directed, None, graph.is_weighted)
    np.testing.assert_array_equal(again.adjacency.toarray(), graph.adjacency.toarray())


@given(graphs(min_nodes=1), st.booleans())
def test_igraph_sees_the_same_graph(graph, named):
    labels = tuple(f"node {i}" for i in range(graph.n_nodes)) if named else None
    G = to_igraph(Graph.from_adjacency(graph.adjacency, nodes=labels))
    assert (G.vcount(), G.ecount(), G.is_directed()) == (graph.n_nodes, graph.n_edges, False)
    np.testing.assert_array_equal(matrix(G), graph.adjacency.toarray())
    assert len(G.connected_components()) == graph.n_components
    assert from_igraph(G).labels == labels


@given(st.lists(st.tuples(st.integers(0, 5), st.integers(0, 5), st.integers(1, 64))), st.booleans())
def test_parallel_edges_are_summed(edges, directed):
    G = igraph.Graph(6, [(u, v) for u, v, _ in edges], directed=directed)
    G.es["weight"] = [w / 8 for *_, w in edges]
    want = np.zeros((6, 6))
    for u, v, w in edges:
        want[u, v] += w / 8
        if not directed and u != v:
            want[v, u] += w / 8
    np.testing.assert_array_equal(from_igraph(G, directed=directed).adjacency.toarray(), want)


def test_options():
    G = igraph.Graph([(0, 1), (1, 2)], directed=True)
    with pytest.raises(GraphError, match="symmetrize='max'"):
        from_igraph(G)
    assert from_igraph(G, symmetrize="max").n_edges == 2
    famous = igraph.Graph.Famous("Zachary")
    assert from_igraph(famous).degrees.tolist() == famous.degree()
    assert from_igraph(famous, directed=True).directed
    famous.es["weight"] = 2.0
    assert from_igraph(famous, weight=None).degrees.tolist() == famous.degree()


def test_a_bad_or_missing_weight_is_named():
    G = igraph.Graph([(0, 1), (1, 2)])
    G.es[0]["weight"] = 1.0
    with pytest.raises(GraphError, match=r"edge 1 has no 'weight' \(1 of 2 edges lack it\)"):
        from_igraph(G)
    G.es["weight"] = [1.0, float("nan")]
    with pytest.raises(GraphError, match="nan"):
        from_igraph(G)
