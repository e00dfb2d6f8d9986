"""Our operators against the real other libraries: equal to 1e-12 where policies agree, and each difference shown."""

import networkx as nx
import numpy as np
import pytest
import torch
from hypothesis import assume, given
from pygsp import graphs as pygsp_graphs
from scipy.sparse import csgraph
from torch_geometric.nn.conv.gcn_conv import gcn_norm
from torch_geometric.utils import get_laplacian

import gsp_fb as gf
from gsp_fb.testing import graphs

AGREE = 1e-12
LOOPED = gf.Graph.from_edges([(0, 0), (0, 1), (1, 2)])
WITH_ISOLATED = gf.Graph.from_edges([(0, 1)], n_nodes=3)


def dense(graph, family, channel="high", **options):
    return gf.operator(graph, family, channel=channel, **options).to_scipy().toarray()


def close(ours, theirs):
    theirs = theirs.toarray() if hasattr(theirs, "toarray") else np.asarray(theirs)
    scale = max(1.0, np.abs(ours).max(initial=0.0))
    assert np.abs(ours - theirs).max(initial=0.0) <= AGREE * scale


def edge_tensors(graph):
    coo = graph.adjacency.tocoo()
    return torch.as_tensor(np.stack(coo.coords), dtype=torch.long), torch.as_tensor(coo.data.copy())


def to_dense(index, weight, n_nodes):
    out = np.zeros((n_nodes, n_nodes))
    np.add.at(out, (index[0].numpy(), index[1].numpy()), weight.numpy())
    return out


@given(graphs())
def test_networkx_combinatorial(graph):
    close(dense(graph, "comb"), nx.laplacian_matrix(nx.from_scipy_sparse_array(graph.adjacency)))


@given(graphs())
def test_networkx_symmetric_with_loops_and_isolated_nodes(graph):
    close(dense(graph, "sym"), nx.normalized_laplacian_matrix(nx.from_scipy_sparse_array(graph.adjacency)))


@given(graphs(loops=False))
def test_scipy_combinatorial_and_symmetric(graph):
    close(dense(graph, "comb"), csgraph.laplacian(graph.adjacency))
    close(dense(graph, "sym"), csgraph.laplacian(graph.adjacency, normed=True))


@given(graphs(loops=False, min_nodes=2))
def test_pygsp_combinatorial_and_normalized(graph):
    assume(graph.n_edges > 0)
    theirs = pygsp_graphs.Graph(graph.adjacency.copy())
    close(dense(graph, "comb"), theirs.L)
    theirs.compute_laplacian("normalized")
    close(dense(graph, "sym"), theirs.L)


@given(graphs(loops=False))
def test_pyg_laplacians_with_our_zero_policy(graph):
    index, weight = edge_tensors(graph)
    for norm, family in ((None, "comb"), ("sym", "sym"), ("rw", "rw")):
        theirs = to_dense(
            *get_laplacian(index, weight, norm, num_nodes=graph.n_nodes, dtype=torch.float64), graph.n_nodes
        )
        close(dense(graph, family, isolated="zero"), theirs)


@given(graphs(loops=False))
def test_pyg_gcn_norm_is_our_renormalised_operator(graph):
    index, weight = edge_tensors(graph)
    theirs = to_dense(*gcn_norm(index, weight, graph.n_nodes, dtype=torch.float64), graph.n_nodes)
    close(dense(graph, "renorm_sym", "low"), theirs)


def test_difference_isolated_node_is_zero_in_scipy_and_networkx_and_one_in_pyg():
    index, weight = edge_tensors(WITH_ISOLATED)
    pyg = to_dense(*get_laplacian(index, weight, "sym", num_nodes=3, dtype=torch.float64), 3)
    scipy_like = csgraph.laplacian(WITH_ISOLATED.adjacency, normed=True).toarray()
    networkx_like = nx.normalized_laplacian_matrix(nx.from_scipy_sparse_array(WITH_ISOLATED.adjacency)).toarray()
    assert (scipy_like[2, 2], networkx_like[2, 2], pyg[2, 2]) == (0.0, 0.0, 1.0)
    assert dense(WITH_ISOLATED, "sym")[2, 2] == 0.0
    assert dense(WITH_ISOLATED, "sym", isolated="zero")[2, 2] == 1.0


def test_difference_loops_are_left_out_of_scipys_degrees():
    theirs = csgraph.laplacian(LOOPED.adjacency, normed=True).toarray()
    assert theirs[0, 1] == pytest.approx(-1 / np.sqrt(1 * 2))
    assert dense(LOOPED, "sym")[0, 1] == pytest.approx(-1 / np.sqrt(2 * 2))


def test_difference_gcn_norm_adds_only_missing_loops():
    index, weight = edge_tensors(LOOPED)
    theirs = to_dense(*gcn_norm(index, weight, 3, dtype=torch.float64), 3)
    assert theirs[0, 0] == pytest.approx(1 / 2)
    assert dense(LOOPED, "renorm_sym", "low")[0, 0] == pytest.approx(2 / 3)


def test_difference_pygsp_refuses_nothing_negative_and_we_do():
    with pytest.raises(gf.errors.GraphError, match=r"weight -1\.0"):
        gf.Graph.from_adjacency([[0, -1.0], [-1.0, 0]])
    assert pygsp_graphs.Graph(np.array([[0, -1.0], [-1.0, 0]])).N == 2


def test_difference_pygsp_reads_six_columns_as_a_synthesis():
    from pygsp import filters as pygsp_filters

    theirs = pygsp_graphs.Ring(12)
    theirs.estimate_lmax()
    bank = pygsp_filters.Itersine(theirs, Nf=6)
    six, five = np.ones((12, 6)), np.ones((12, 5))
    assert bank.filter(six).shape == (12,)
    assert bank.filter(five).shape == (12, 5, 6)


def test_difference_pygsp_energy_of_a_block_is_a_matrix():
    ring = pygsp_graphs.Ring(6)
    x = np.arange(12.0).reshape(6, 2)
    theirs = np.asarray(ring.dirichlet_energy(x))
    graph = gf.Graph.from_adjacency(ring.W)
    assert theirs.shape == (2, 2)
    op = gf.operator(graph, "comb", channel="high")
    assert np.trace(theirs) == pytest.approx(gf.dirichlet_energy(op, x))
