"""Effective resistances against the pseudo-inverse, networkx and laws of circuits."""

import networkx as nx
import numpy as np
import pytest

import gsp_fb as gf
from gsp_fb.errors import GraphError, ParameterError

RNG = np.random.default_rng(5)


def by_pseudo_inverse(graph, pairs):
    A = graph.adjacency.toarray()
    np.fill_diagonal(A, 0.0)
    inverse = np.linalg.pinv(np.diag(A.sum(axis=1)) - A, hermitian=True)
    u, v = np.asarray(pairs).T
    return inverse[u, u] + inverse[v, v] - 2 * inverse[u, v]


def weighted(n_nodes, decades):
    edges = np.array(nx.connected_watts_strogatz_graph(n_nodes, 6, 0.2, seed=1).edges())
    weights = 10.0 ** RNG.uniform(-decades, decades, len(edges))
    return gf.Graph.from_edges(edges, weights=weights, n_nodes=n_nodes)


@pytest.mark.parametrize("decades", [0.0, 1.0, 3.0])
@pytest.mark.parametrize("n_pairs", [1, 7, 400])
def test_it_is_the_form_of_the_pseudo_inverse(decades, n_pairs):
    graph = weighted(60, decades)
    pairs = RNG.integers(0, 60, (n_pairs, 2))
    assert np.allclose(gf.resistance(graph, pairs), by_pseudo_inverse(graph, pairs), rtol=1e-6)


def test_networkx_agrees():
    theirs = nx.karate_club_graph()
    pairs = [(0, 33), (5, 16), (11, 0)]
    want = [nx.resistance_distance(theirs, u, v, weight="weight", invert_weight=False) for u, v in pairs]
    assert np.allclose(gf.resistance(gf.from_networkx(theirs), pairs), want, rtol=1e-8)


def test_foster_sums_the_edges_of_a_connected_graph_to_n_minus_one():
    graph = weighted(300, 2.0)
    source, target, weights = graph.edges()
    total = np.sum(weights * gf.resistance(graph, np.stack([source, target], axis=1)))
    assert total == pytest.approx(299, rel=1e-7)


def test_no_current_flows_between_components_nor_from_a_node_to_itself():
    graph = gf.Graph.from_edges([(0, 1), (2, 3), (3, 3)], weights=[2.0, 4.0, 9.0], n_nodes=6)
    pairs = [(0, 1), (1, 2), (2, 3), (4, 5), (5, 5), (1, 0)]
    assert gf.resistance(graph, pairs).tolist() == pytest.approx([0.5, np.inf, 0.25, np.inf, 0.0, 0.5])
    assert gf.resistance(graph, np.empty((0, 2), dtype=int)).shape == (0,)


def test_a_long_path_is_a_series():
    path = gf.Graph.from_edges([(i, i + 1) for i in range(20_000)])
    assert gf.resistance(path, [(0, 20_000), (5, 105)]) == pytest.approx([20_000, 100], rel=1e-7)


@pytest.mark.parametrize(
    ("pairs", "said"), [([(0, 9)], "node 9"), ([0, 1], r"shape \(2,\)"), ([(0.5, 1.0)], "integers")]
)
def test_bad_pairs_are_named(pairs, said):
    with pytest.raises(ParameterError, match=said):
        gf.resistance(gf.Graph.from_edges([(0, 1)]), pairs)


def test_a_directed_graph_is_refused():
    with pytest.raises(GraphError, match="symmetrize="):
        gf.resistance(gf.Graph.from_edges([(0, 1)], directed=True), [(0, 1)])
