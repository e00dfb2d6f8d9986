"""Graphs by example: what they are made of, and that they stay as they were made."""

import dataclasses

import numpy as np
import pytest
from hypothesis import given

import gsp_fb as gf
from gsp_fb.errors import GraphError, ParameterError
from gsp_fb.testing import adjacencies


@given(adjacencies())
def test_every_way_to_hold_a_matrix_gives_the_same_graph(pair):
    matrix, graph = pair
    assert gf.Graph.from_adjacency(matrix).sha256 == graph.sha256


def test_counts():
    g = gf.Graph.from_edges([(0, 1), (1, 2), (2, 2)], n_nodes=5)
    assert (g.n_nodes, g.n_edges, g.n_loops, g.n_isolated, g.n_components) == (5, 3, 1, 2, 3)
    assert repr(g) == "Graph(n_nodes=5, n_edges=3, undirected, unweighted, n_loops=1, n_isolated=2)"


def test_unweighted_graphs_store_no_floats():
    unweighted = gf.Graph.from_edges([(0, 1), (1, 2)], [1.0, 1.0])
    assert unweighted.weights is None
    assert not unweighted.is_weighted
    assert gf.Graph.from_edges([(0, 1), (1, 2)], [1.0, 2.0]).weights.tolist() == [1.0, 1.0, 2.0, 2.0]


def test_directed_graphs_keep_their_arcs():
    g = gf.Graph.from_edges([(0, 1), (1, 0), (1, 2)], [1.0, 2.0, 3.0], directed=True)
    assert g.n_edges == 3
    assert g.degrees.tolist() == [1.0, 5.0, 0.0]
    assert g.n_components == 1
    assert np.array_equal(g.transposed.adjacency.toarray(), g.adjacency.toarray().T)
    assert g.transposed.transposed.sha256 == g.sha256


@pytest.mark.parametrize(("rule", "weight"), [("max", 5.0), ("mean", 3.5), ("sum", 7.0)])
def test_symmetrize(rule, weight):
    g = gf.Graph.from_edges([(0, 1), (1, 0), (1, 1)], [2.0, 5.0, 4.0], symmetrize=rule)
    assert g.adjacency.toarray().tolist() == [[0.0, weight], [weight, 4.0]]


def test_options_that_contradict_or_do_not_exist():
    with pytest.raises(GraphError, match="contradict"):
        gf.Graph.from_edges([(0, 1)], directed=True, symmetrize="max")
    for options in ({"symmetrize": "min"}, {"duplicates": "last"}, {"loops": "ignore"}):
        with pytest.raises(ParameterError, match="choose one of"):
            gf.Graph.from_edges([(0, 1)], **options)
    with pytest.raises(GraphError, match="2 labels for 3 nodes"):
        gf.Graph.from_edges([(0, 2)], labels=("a", "b"))


@pytest.mark.parametrize(
    ("edges", "weights", "message"),
    [
        ([(0, 1, 2)], None, r"shape \(1, 3\)"),
        ([[0, 1, 2], [1, 2, 3]], None, "transpose it"),
        ([("a", "b")], None, "node ids must be integers"),
        ([(0, 1)], [1.0, 2.0], r"shape \(2,\) for 1 edges"),
        ([(0, 1)], [1j], "complex"),
    ],
)
def test_edge_lists_that_are_none(edges, weights, message):
    with pytest.raises(GraphError, match=message):
        gf.Graph.from_edges(edges, weights)


def test_a_graph_is_frozen():
    g = gf.Graph.from_edges([(0, 1)])
    with pytest.raises(dataclasses.FrozenInstanceError):
        g.directed = True


def test_weights_near_overflow_are_not_doubled_on_the_way():
    g = gf.Graph.from_edges([(0, 1), (1, 0), (2, 2)], [1e308, 1e308, 1e308], symmetrize="mean")
    assert g.degrees.tolist() == [1e308] * 3
