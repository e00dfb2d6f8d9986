"""Renumbered graphs: the same graph under other names, with neighbours closer together."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import sparse

from gsp_fb._kernels import engine
from gsp_fb.errors import ParameterError
from gsp_fb.graph import Graph
from gsp_fb.operators import operator
from gsp_fb.reorder import ORDERS, community_labels, reordered
from gsp_fb.testing import graphs
from tests.support.closeness import assert_close, size_of


def shuffled_blocks(n_groups=20, size=30, seed=0):
    """Return dense groups with a few edges between them under shuffled names, and each node's group."""
    rng = np.random.default_rng(seed)
    group = rng.permutation(np.repeat(np.arange(n_groups), size))
    n = len(group)
    A = (group[:, None] == group) & (rng.random((n, n)) < 0.5)
    A |= rng.random((n, n)) < 0.2 / n
    A = np.triu(A, 1)
    return Graph.from_adjacency(sparse.csr_array((A | A.T).astype(float))), group


def mean_distance(graph):
    rows = np.repeat(np.arange(graph.n_nodes), np.diff(graph.indptr))
    return float(np.mean(np.abs(rows - graph.indices)))


@given(graphs(), st.sampled_from(sorted(ORDERS)))
def test_the_new_graph_is_the_old_one_under_other_names(graph, how):
    new = reordered(graph, how)
    assert np.array_equal(np.sort(new.order), np.arange(graph.n_nodes))
    assert np.array_equal(new.order[new.inverse], np.arange(graph.n_nodes))
    assert np.array_equal(new.graph.adjacency.toarray(), graph.adjacency.toarray()[new.order][:, new.order])
    assert new.graph.is_weighted == graph.is_weighted
    assert all(np.all(np.diff(row) > 0) for row in np.split(new.graph.indices, new.graph.indptr[1:-1]))


@given(graphs(), st.sampled_from(sorted(ORDERS)))
def test_results_come_back_in_the_users_order(graph, how):
    x = np.random.default_rng(0).standard_normal((graph.n_nodes, 3))
    new = reordered(graph, how)
    y = new.restore(operator(new.graph, "rw") @ new.permute(x))
    assert_close(y, operator(graph, "rw") @ x, scale=size_of(x))


def test_directed_graph_and_labels_follow():
    graph = Graph.from_edges([(0, 3), (3, 1), (1, 2)], directed=True, nodes=("a", "b", "c", "d"))
    for how in ORDERS:
        new = reordered(graph, how)
        assert new.graph.directed
        assert [new.graph.labels[k] for k in new.inverse] == ["a", "b", "c", "d"]
        assert np.array_equal(new.graph.adjacency.toarray(), graph.adjacency.toarray()[new.order][:, new.order])


@pytest.mark.parametrize("name", ["numba", "scipy"])
def test_communities_are_found(monkeypatch, name):
    monkeypatch.setenv(engine.ENGINE, name)
    graph, group = shuffled_blocks()
    labels = community_labels(graph)
    for label in np.unique(labels):
        assert len(np.unique(group[labels == label])) == 1
    assert mean_distance(reordered(graph, "community").graph) < mean_distance(graph) / 5


def test_both_engines_find_the_same_communities(monkeypatch):
    graph, _ = shuffled_blocks(seed=1)
    found = []
    for name in ("numba", "scipy"):
        monkeypatch.setenv(engine.ENGINE, name)
        found.append(community_labels(graph))
    assert np.array_equal(*found)


def test_two_sides_of_a_bipartite_graph_settle():
    sides = Graph.from_edges([(i, 10 + j) for i in range(10) for j in range(10)])
    assert len(np.unique(community_labels(sides))) == 1


def test_rcm_narrows_the_band_of_a_shuffled_ring():
    names = np.random.default_rng(0).permutation(200)
    ring = Graph.from_edges(np.stack([names, np.roll(names, 1)], axis=1))
    new = reordered(ring, "rcm").graph
    rows = np.repeat(np.arange(200), np.diff(new.indptr))
    assert np.max(np.abs(rows - new.indices)) == 2


def test_no_nodes():
    empty = Graph.from_edges([], n_nodes=0)
    assert all(reordered(empty, how).graph.n_nodes == 0 for how in ORDERS)


def test_orders_cannot_be_changed():
    new = reordered(Graph.from_edges([(0, 1)]), "rcm")
    assert not new.order.flags.writeable
    assert not new.inverse.flags.writeable


def test_unknown_order_lists_the_known():
    with pytest.raises(
        ParameterError, match=r"unknown order 'rmc'; choose one of rcm, community \(did you mean 'rcm'\?\)"
    ):
        reordered(Graph.from_edges([(0, 1)]), "rmc")


ROWS = {
    "vector": lambda rng, n: rng.standard_normal(n),
    "columns": lambda rng, n: rng.standard_normal((n, 37)),
    "float32": lambda rng, n: rng.standard_normal((n, 5)).astype(np.float32),
    "complex": lambda rng, n: rng.standard_normal((n, 3)) + 1j,
    "bytes": lambda rng, n: rng.integers(100, size=(n, 3)).astype(np.int8),
    "flags": lambda rng, n: rng.random(n) < 0.5,
    "coefficients": lambda rng, n: rng.standard_normal((n, 6, 16)).swapaxes(1, 2),
    "by columns": lambda rng, n: rng.standard_normal((4, n)).T,
    "every second": lambda rng, n: rng.standard_normal((2 * n, 3))[::2],
    "no column": lambda rng, n: np.empty((n, 0)),
    "names": lambda rng, n: np.array([f"node {k}" for k in range(n)]),
    "objects": lambda rng, n: np.array([str(k) for k in range(n)], dtype=object),
}


@pytest.mark.parametrize("kind", ROWS)
def test_rows_of_any_kind_are_taken_as_numpy_takes_them(kind):
    x = ROWS[kind](np.random.default_rng(3), 101)
    new = Graph.from_edges(
        np.random.default_rng(3).integers(101, size=(300, 2)), n_nodes=101, duplicates="first"
    ).reordered()
    taken, order = new.permute(x), new.order
    assert taken.dtype == x.dtype
    assert taken.shape == x.shape
    assert np.array_equal(taken, x[order])


def test_there_and_back_keeps_the_layout_of_a_bank():
    new = shuffled_blocks()[0].reordered("community")
    c = np.random.default_rng(4).standard_normal((new.graph.n_nodes, 3, 5)).swapaxes(1, 2)
    back = new.restore(new.permute(c))
    assert np.array_equal(back, c)
    assert back.strides == c.strides
