"""Kron reduction: the dense Schur complement, PyGSP's result, resistances, and what is refused."""

import numpy as np
import pytest

import gsp_fb as gf
from gsp_fb import datasets
from gsp_fb.errors import GraphError, ParameterError
from gsp_fb.reduction import kron


def laplacian(graph):
    return gf.operator(graph, "comb", "high").to_scipy().toarray()


def weighted(n, p, seed):
    rng = np.random.default_rng(seed)
    edges = [(i, i + 1) for i in range(n - 1)] + [(i, j) for i in range(n) for j in range(i + 2, n) if rng.random() < p]
    return gf.Graph.from_edges(edges, weights=10 ** rng.uniform(-3, 3, len(edges)))


GRAPHS = {
    "grid": lambda: datasets.grid(6, 7),
    "sensor": lambda: datasets.sensor(50, rng=0),
    "star": lambda: datasets.star(12),
    "badly scaled": lambda: weighted(30, 0.1, 0),
    "tree": lambda: gf.Graph.from_edges([(i, (i - 1) // 2) for i in range(1, 31)]),
}


@pytest.mark.parametrize("name", GRAPHS)
@pytest.mark.parametrize("seed", range(3))
def test_the_laplacian_is_the_schur_complement(name, seed):
    graph = GRAPHS[name]()
    keep = np.random.default_rng(seed).permutation(graph.n_nodes)[: graph.n_nodes // 2]
    drop = np.setdiff1d(np.arange(graph.n_nodes), keep)
    L = laplacian(graph)
    wanted = L[np.ix_(keep, keep)] - L[np.ix_(keep, drop)] @ np.linalg.solve(
        L[np.ix_(drop, drop)], L[np.ix_(drop, keep)]
    )
    np.testing.assert_allclose(laplacian(kron(graph, keep)), wanted, atol=1e-9 * np.abs(L).max())


@pytest.mark.parametrize("name", ["grid", "sensor"])
def test_it_is_pygsps_reduction(name):
    pygsp = pytest.importorskip("pygsp")
    graph = GRAPHS[name]()
    keep = np.arange(0, graph.n_nodes, 2)
    other = pygsp.graphs.Graph(graph.adjacency.toarray(), coords=np.zeros((graph.n_nodes, 2)))
    theirs = pygsp.reduction.kron_reduction(other, keep)
    np.testing.assert_allclose(kron(graph, keep).adjacency.toarray(), theirs.W.toarray(), atol=1e-10)


def test_effective_resistances_between_kept_nodes_stay():
    graph = GRAPHS["sensor"]()
    keep = np.array([3, 40, 7, 21])
    before, after = np.linalg.pinv(laplacian(graph)), np.linalg.pinv(laplacian(kron(graph, keep)))
    for i, a in enumerate(keep):
        for j, b in enumerate(keep):
            wanted = before[a, a] + before[b, b] - 2 * before[a, b]
            np.testing.assert_allclose(after[i, i] + after[j, j] - 2 * after[i, j], wanted, atol=1e-9)


def test_names_loops_masks_and_components():
    graph = gf.Graph.from_edges(
        [(0, 1), (1, 2), (2, 2), (3, 4)], weights=[1.0, 1.0, 5.0, 2.0], nodes=("a", "b", "c", "d", "e")
    )
    reduced = kron(graph, [2, 0, 3])
    assert reduced.labels == ("c", "a", "d")
    assert reduced.loop_weights.tolist() == [5.0, 0.0, 0.0]
    assert reduced.n_components == graph.n_components
    mask = np.array([True, False, True, True, False])
    np.testing.assert_allclose(kron(graph, mask).adjacency.toarray()[0, 1], 0.5)
    np.testing.assert_allclose(kron(graph, np.arange(5)).adjacency.toarray(), graph.adjacency.toarray())


def test_a_tree_of_1e5_nodes_loses_its_leaves_sparsely():
    n = 2**17 - 1
    tree = gf.Graph.from_edges(np.stack([np.arange(1, n), (np.arange(1, n) - 1) // 2], axis=1))
    reduced = kron(tree, np.arange(n // 2))
    assert (reduced.n_nodes, reduced.n_edges) == (n // 2, n // 2 - 1)


@pytest.mark.parametrize(
    ("keep", "error", "message"),
    [
        ([], ParameterError, "at least one"),
        ([0, 0], ParameterError, "twice"),
        ([0, 9], ParameterError, "node 9"),
        ([0.5], ParameterError, "node numbers"),
        ([True, False], ParameterError, "2 entries"),
        ([False] * 5, ParameterError, "0 of them True"),
        ([0, 1], GraphError, "vanish"),
    ],
)
def test_refusals(keep, error, message):
    graph = gf.Graph.from_edges([(0, 1), (1, 2), (3, 4)])
    with pytest.raises(error, match=message):
        kron(graph, keep)


def test_fill_in_is_refused_before_it_is_computed():
    with pytest.raises(ParameterError, match="max_entries"):
        kron(datasets.star(2000), np.arange(1, 2000), max_entries=1000)
    with pytest.raises(GraphError, match="symmetrize="):
        kron(gf.Graph.from_edges([(0, 1)], directed=True), [0])
