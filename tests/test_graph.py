"""Graphs by example: what they are made of, and that they stay as they were made."""

import dataclasses
import hashlib
import pickle
from types import SimpleNamespace

import numpy as np
import pytest
from hypothesis import given

import gsp_fb as gf
from gsp_fb.errors import GraphError, ParameterError
from gsp_fb.testing import adjacencies
from tests.support import device


@given(adjacencies())
def test_every_way_to_hold_a_matrix_gives_the_same_graph(pair):
    matrix, graph = pair
    assert gf.Graph.from_adjacency(matrix).sha256 == graph.sha256


def test_counts():
    g = gf.Graph.from_edges([(0, 1), (1, 2), (2, 2)], n_nodes=5)
    assert (g.n_nodes, g.n_edges, g.n_loops, g.n_isolated, g.n_components) == (5, 3, 1, 2, 3)
    assert repr(g) == "Graph(n_nodes=5, n_edges=3, undirected, unweighted, n_loops=1, n_isolated=2)"


def test_repr_tells_what_the_graph_is():
    weighted = gf.Graph.from_edges([(0, 1)], [2.0], directed=True)
    assert repr(weighted) == "Graph(n_nodes=2, n_edges=1, directed, weighted, n_isolated=1)"
    assert repr(gf.Graph.from_edges([(0, 1)])) == "Graph(n_nodes=2, n_edges=1, undirected, unweighted)"


def test_labels_stay_with_the_graph_however_it_is_made():
    names = ("a", "b")
    listed = gf.Graph.from_edges([(0, 1)], directed=True, nodes=names)
    assert listed.labels == listed.transposed.labels == names
    assert gf.Graph.from_adjacency([[0, 1], [1, 0]], nodes=names).labels == names
    assert pickle.loads(pickle.dumps(listed)).labels == names
    assert listed.to(device.DEVICE).labels == names
    assert listed.to(device.DEVICE).directed


def test_edges_lists_each_edge_once_and_each_arc():
    pairs = [(0, 1), (1, 2), (2, 2)]
    sources, targets, weights = gf.Graph.from_edges(pairs, [3.0, 4.0, 5.0]).edges()
    assert [*zip(sources.tolist(), targets.tolist(), weights.tolist(), strict=True)] == [
        (0, 1, 3.0),
        (1, 2, 4.0),
        (2, 2, 5.0),
    ]
    sources, targets, weights = gf.Graph.from_edges([(1, 0), (0, 1)], directed=True).edges()
    assert (sources.tolist(), targets.tolist(), weights) == ([0, 1], [1, 0], None)


def test_loops_are_dropped_from_lists_and_matrices_alike():
    assert gf.Graph.from_edges([(0, 1), (1, 1)], loops="drop").n_loops == 0
    assert gf.Graph.from_adjacency([[0, 1], [1, 1]], loops="drop").n_loops == 0
    assert gf.Graph.from_adjacency([[0, 1], [1, 1]]).n_loops == 1


def test_matrices_are_symmetrised_or_kept_directed():
    A = np.array([[0.0, 2.0], [4.0, 0.0]])
    assert gf.Graph.from_adjacency(A, symmetrize="mean").adjacency.toarray().tolist() == [[0, 3], [3, 0]]
    arcs = gf.Graph.from_adjacency(A, directed=True)
    assert arcs.directed
    assert arcs.adjacency.toarray().tolist() == A.tolist()


def test_fingerprints_tell_structure_weights_and_direction_apart():
    graphs = [
        gf.Graph.from_edges([(0, 1)]),
        gf.Graph.from_edges([(0, 1)], n_nodes=3),
        gf.Graph.from_edges([(0, 1)], [2.0]),
        gf.Graph.from_edges([(0, 1), (1, 0)], directed=True),
    ]
    assert len({graph.sha256 for graph in graphs}) == len(graphs)
    layout = b"2 False" + np.array([0, 1, 2], "<i8").tobytes() + np.array([1, 0], "<i8").tobytes()
    assert graphs[0].sha256 == hashlib.sha256(layout).hexdigest()


def test_reordering_takes_its_method():
    path = gf.Graph.from_edges([(0, 3), (3, 1), (1, 2)])
    rows, cols = path.reordered("rcm").graph.edges()[:2]
    assert np.max(np.abs(rows - cols)) == 1
    assert path.reordered().order.tolist() == path.reordered("community").order.tolist()


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
    with pytest.raises(GraphError, match="the node table has 2 rows for 3 nodes"):
        gf.Graph.from_edges([(0, 2)], nodes=("a", "b"))


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


@pytest.mark.parametrize("weights", [[2.0, 2.0, 2.0], [2.0, 3.0, 2.0], [1e308, 1e308, 1e308]])
def test_a_pair_listed_again_keeps_its_first_weight(weights):
    graph = gf.Graph.from_edges([(0, 1), (1, 0), (2, 3)], weights, duplicates="first")
    assert graph.adjacency.toarray()[[0, 1, 2], [1, 0, 3]].tolist() == [weights[0], weights[0], weights[2]]


def test_what_needs_the_rows_of_all_nodes_refuses_mpi_ranks():
    graph = dataclasses.replace(gf.Graph.from_edges([(0, 1)]), storage=SimpleNamespace(kind="mpi"))
    with pytest.raises(GraphError, match=r"distributed over MPI ranks: call \.load\(\)"):
        graph.in_one_process()
