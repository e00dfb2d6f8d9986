"""Where the installed libraries differ from each other and from us: the numbers of docs/interop.md, each shown."""

from __future__ import annotations

import igraph
import networkx as nx
import numpy as np
import pygsp
import pytest
import torch
from scipy import sparse
from scipy.sparse import csgraph
from sklearn.manifold import spectral_embedding
from torch_geometric.data import Data
from torch_geometric.nn.conv.gcn_conv import gcn_norm
from torch_geometric.transforms import AddLaplacianEigenvectorPE
from torch_geometric.utils import get_laplacian, homophily, to_dense_adj

import gsp_fb as gf

LOOPED = gf.Graph.from_edges([(0, 0), (0, 1), (1, 2)])
LONELY = gf.Graph.from_edges([(0, 1)], n_nodes=3)
ARCS = gf.Graph.from_edges([(0, 1), (0, 2), (1, 2)], directed=True)
RING = gf.Graph.from_edges([(i, (i + 1) % 6) for i in range(6)])
HALF = 1 / np.sqrt(2)


def ours(graph, family, channel="high", **options):
    return gf.operator(graph, family, channel=channel, **options).to_scipy().toarray()


def pyg_matrix(index, weight, n_nodes):
    return to_dense_adj(index, edge_attr=weight, max_num_nodes=n_nodes)[0].numpy()


def pygsp_laplacian(graph, kind):
    theirs = gf.to_pygsp(graph)
    theirs.compute_laplacian(kind)
    return theirs.L.toarray()


def igraph_laplacian(graph, **options):
    return np.array(gf.convert.to_igraph(graph).laplacian(**options))


def test_isolated_node_in_igraph_and_pygsp_is_zero():
    assert igraph_laplacian(LONELY, normalized="symmetric")[2, 2] == 0.0
    assert pygsp_laplacian(LONELY, "normalized")[2, 2] == 0.0
    assert ours(LONELY, "sym")[2, 2] == 0.0


def test_a_loop_counts_once_twice_or_not_at_all_in_the_degree():
    assert LOOPED.degrees[0] == 2.0
    assert gf.to_networkx(LOOPED).degree[0] == 3
    assert gf.convert.to_igraph(LOOPED).degree(0) == 3
    assert gf.to_pygsp(LOOPED).dw[0] == 2.0


def test_a_loop_in_the_symmetric_laplacian():
    index = gf.to_pyg(LOOPED).edge_index
    found = {
        "gsp_fb": ours(LOOPED, "sym"),
        "networkx": nx.normalized_laplacian_matrix(gf.to_networkx(LOOPED)).toarray(),
        "pygsp": pygsp_laplacian(LOOPED, "normalized"),
        "scipy": csgraph.laplacian(LOOPED.adjacency, normed=True).toarray(),
        "pyg": pyg_matrix(*get_laplacian(index, normalization="sym"), 3),
        "igraph": igraph_laplacian(LOOPED, normalized="symmetric"),
    }
    entries = {name: (L[0, 0], L[0, 1]) for name, L in found.items()}
    for name in ("gsp_fb", "networkx", "pygsp"):
        assert entries[name] == pytest.approx((0.5, -0.5))
    for name in ("scipy", "pyg"):
        assert entries[name] == pytest.approx((1.0, -HALF))
    assert entries["igraph"] == pytest.approx((1 / 3, -1 / np.sqrt(6)))


def test_a_loop_leaves_the_combinatorial_laplacian_as_it_is_everywhere():
    want = ours(LOOPED, "comb")
    np.testing.assert_array_equal(want[0], [1.0, -1.0, 0.0])
    np.testing.assert_array_equal(nx.laplacian_matrix(gf.to_networkx(LOOPED)).toarray(), want)
    np.testing.assert_array_equal(csgraph.laplacian(LOOPED.adjacency).toarray(), want)
    np.testing.assert_array_equal(pygsp_laplacian(LOOPED, "combinatorial"), want)
    np.testing.assert_array_equal(igraph_laplacian(LOOPED), want)


def test_an_edge_listed_twice():
    twice = [(0, 1), (0, 1)]
    with pytest.raises(gf.errors.GraphError, match="repeat"):
        gf.Graph.from_edges(twice)
    assert gf.Graph.from_edges(twice, duplicates="sum").degrees[0] == 2.0
    assert gf.Graph.from_edges(twice, duplicates="first").degrees[0] == 1.0
    assert nx.Graph(twice).degree[0] == 1
    assert nx.MultiGraph(twice).degree[0] == 2
    assert igraph.Graph(twice).degree(0) == 2
    assert sparse.coo_array(([1.0, 1.0], ([0, 0], [1, 1])), shape=(2, 2)).toarray()[0, 1] == 2.0
    index = torch.tensor([[0, 0, 1, 1], [1, 1, 0, 0]])
    assert pyg_matrix(*get_laplacian(index), 2)[0, 0] == 2.0


def test_the_degree_of_a_directed_graph():
    A = ARCS.adjacency
    np.testing.assert_array_equal(np.diag(ours(ARCS, "comb")), [2.0, 1.0, 0.0])
    np.testing.assert_array_equal(csgraph.laplacian(A).diagonal(), [0.0, 1.0, 2.0])
    np.testing.assert_array_equal(csgraph.laplacian(A, use_out_degree=True).diagonal(), [2.0, 1.0, 0.0])
    np.testing.assert_array_equal(nx.laplacian_matrix(gf.to_networkx(ARCS)).diagonal(), [2.0, 1.0, 0.0])
    np.testing.assert_array_equal(gf.to_pygsp(ARCS).L.diagonal(), [1.0, 1.0, 1.0])


def test_pyg_collects_at_the_target_and_we_at_the_source():
    data = gf.to_pyg(ARCS)
    theirs = pyg_matrix(
        *gcn_norm(data.edge_index, None, 3), 3
    ).T  # dense[source, target]; a layer applies its transpose
    np.testing.assert_allclose(theirs, ours(ARCS.transposed, "renorm_sym", "low"), atol=1e-6)
    assert (theirs[0, 0], ours(ARCS, "renorm_sym", "low")[0, 0]) == pytest.approx((1.0, 1 / 3))


def test_pygsps_default_laplacian_is_the_combinatorial_one():
    theirs = gf.to_pygsp(RING)
    theirs.compute_fourier_basis()
    np.testing.assert_allclose(theirs.e, [0, 1, 1, 3, 3, 4], atol=1e-12)
    same = gf.spectrum(gf.operator(RING, "comb", channel="high")).frequencies
    np.testing.assert_allclose(theirs.e, same, atol=1e-12)
    half = gf.spectrum(gf.operator(RING, "sym", channel="high")).frequencies
    np.testing.assert_allclose(theirs.e / 2, half, atol=1e-12)


def test_pygsps_estimate_of_the_largest_frequency_is_one_percent_too_large():
    theirs = gf.to_pygsp(RING)
    theirs.estimate_lmax()
    assert theirs.lmax == pytest.approx(4.04)
    assert gf.operator(RING, "comb", channel="high").bounds == pytest.approx((0.0, 4.0))


def test_the_time_of_pygsps_heat_kernel_is_relative_to_the_largest_frequency():
    theirs = gf.to_pygsp(RING)
    theirs.compute_fourier_basis()
    at = np.array([4.0])
    found = pygsp.filters.Heat(theirs, 10.0).evaluate(at)[0, 0]
    assert found == pytest.approx(np.exp(-10.0), rel=1e-6)
    assert gf.filters.heat(10.0)(at)[0] == pytest.approx(np.exp(-40.0))
    assert gf.filters.heat(10.0, normalize="lmax", lmax=4.0)(at)[0] == pytest.approx(found, rel=1e-6)


def test_pygsps_atoms_are_longer_by_the_root_of_the_number_of_nodes():
    theirs = gf.to_pygsp(RING)
    theirs.compute_fourier_basis()
    atom = pygsp.filters.Heat(theirs, 1.0).localize(0, method="exact").ravel()
    kernel = gf.filters.heat(1.0, normalize="lmax", lmax=4.0)
    mine = gf.FilterBank(gf.operator(RING, "comb", channel="high"), kernel).localize(0).ravel()
    assert np.linalg.norm(atom) / np.linalg.norm(mine) == pytest.approx(np.sqrt(6))


def test_the_signs_of_eigenvectors_are_drawn_by_pyg_and_fixed_by_us():
    path = gf.Graph.from_edges([(i, i + 1) for i in range(7)])
    data = Data(edge_index=gf.to_pyg(path).edge_index, num_nodes=8)
    signs = set()
    for seed in range(8):
        torch.manual_seed(seed)
        vector = AddLaplacianEigenvectorPE(1, attr_name="pe", is_undirected=True)(data).pe
        signs.add(float(torch.sign(vector[0, 0])))
    assert signs == {-1.0, 1.0}
    op = gf.operator(path, "sym", channel="high")
    vectors = [gf.spectrum(op, k=2).basis[:, 1] for _ in range(2)]
    np.testing.assert_array_equal(*vectors)
    size = np.abs(vectors[0])
    assert vectors[0][np.flatnonzero(size > 0.999 * size.max())[0]] > 0


def test_scikit_learn_embeds_with_the_random_walk_but_unit_length_of_the_symmetric_modes():
    weights = np.arange(1.0, 6.0)
    path = gf.Graph.from_edges([(i, i + 1) for i in range(5)], weights=weights)
    theirs = spectral_embedding(path.adjacency.toarray(), n_components=1, random_state=0)[:, 0]
    mine = gf.spectrum(gf.operator(path, "rw", channel="high"), k=2).basis[:, 1]
    np.testing.assert_allclose(np.abs(theirs), np.abs(mine), atol=1e-8)
    assert np.linalg.norm(mine * np.sqrt(path.degrees)) == pytest.approx(1.0)


def test_node_homophily_of_an_isolated_node():
    y = np.array([0, 0, 1])
    index = gf.to_pyg(LONELY).edge_index
    assert homophily(index, torch.from_numpy(y), method="node") == pytest.approx(2 / 3)
    assert gf.node_homophily(LONELY, y) == 1.0
