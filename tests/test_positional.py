"""Positional encodings: signs, repeated frequencies, padding, trivial modes."""

import numpy as np
import pytest

import gsp_fb as gf
from gsp_fb.errors import GspWarning, ParameterError
from gsp_fb.positional import degenerate_groups
from gsp_fb.variants import VARIANTS


def weighted_path(n_nodes):
    return gf.Graph.from_edges([(i, i + 1) for i in range(n_nodes - 1)], np.arange(1.0, n_nodes))


@pytest.mark.parametrize("family", VARIANTS)
@pytest.mark.parametrize("n_nodes", [9, 800])
def test_a_simple_spectrum_is_encoded_by_its_modes(family, n_nodes):
    op = gf.operator(weighted_path(n_nodes), family, channel="high")
    _, vectors = np.linalg.eigh(op.symmetrized.to_scipy().toarray())
    encoding = gf.laplacian_pe(op, 4) * op.scale[:, None]
    assert np.allclose(np.abs(np.sum(encoding * vectors[:, 1:5], axis=0)), 1.0, atol=1e-6)
    first = np.argmax(np.abs(encoding) > np.abs(encoding).max(axis=0) - 1e-9, axis=0)
    lead = encoding[first, np.arange(4)]
    assert np.all(lead > 0)
    assert degenerate_groups(op, 4) == [[0], [1], [2], [3]]


def test_encodings_do_not_depend_on_the_call():
    op = gf.operator(gf.datasets.grid(30, 31), "sym", channel="high")
    assert np.array_equal(gf.laplacian_pe(op, 3, warn=False), gf.laplacian_pe(op, 3, warn=False))


@pytest.mark.parametrize("n_nodes", [24, 900])
def test_repeated_frequencies_are_flagged_and_span_their_space(n_nodes):
    op = gf.operator(gf.datasets.ring(n_nodes), "comb", channel="high")
    with pytest.warns(GspWarning, match=r"columns 0\.\.1; 2\.\.3 belong to repeated"):
        encoding = gf.laplacian_pe(op, 4)
    angle = 2 * np.pi * np.arange(n_nodes) / n_nodes
    for at, k in ((0, 1), (2, 2)):
        waves = np.stack([np.cos(k * angle), np.sin(k * angle)], axis=1) * np.sqrt(2 / n_nodes)
        part = encoding[:, at : at + 2]
        assert np.allclose(part @ part.T, waves @ waves.T, atol=1e-8)
    with pytest.warns(GspWarning, match=r"columns 0\.\.0"):
        gf.laplacian_pe(op, 1)


def test_one_trivial_mode_a_component_is_left_out_and_missing_columns_are_zero():
    graph = gf.Graph.from_edges([(0, 1), (1, 2), (3, 4)], [1.0, 2.0, 5.0], n_nodes=6)
    encoding = gf.laplacian_pe(gf.operator(graph, "comb", channel="high"), 5)
    assert encoding.shape == (6, 5)
    assert np.linalg.matrix_rank(encoding) == 3
    assert np.all(encoding[:, 3:] == 0)
    assert np.allclose(encoding.sum(axis=0), 0)


def test_an_unbalanced_graph_has_no_trivial_mode():
    triangle = gf.Graph.from_edges([(0, 1), (1, 2), (0, 2)], [1.0, 2.0, -3.0], signed=True)
    assert np.linalg.matrix_rank(gf.laplacian_pe(gf.operator(triangle, "comb", channel="high"), 3)) == 3
    arcs = gf.Graph.from_edges([(0, 1), (1, 2), (2, 0)], directed=True).magnetic(0.1)
    assert gf.laplacian_pe(gf.operator(arcs, "sym", channel="high"), 2).dtype == np.complex128


def test_a_low_channel_is_refused():
    with pytest.raises(ParameterError, match="low channel"):
        gf.laplacian_pe(gf.operator(weighted_path(4), "sym"), 2)


def test_pyg_encodes_simple_spectra_alike():
    torch = pytest.importorskip("torch")
    transforms = pytest.importorskip("torch_geometric.transforms")
    from torch_geometric.data import Data

    from gsp_fb.nn.pyg import AddLaplacianPE

    edges = np.array([(0, 1), (1, 2), (2, 3), (3, 4), (1, 3), (0, 2), (1, 5)])
    data = Data(edge_index=torch.tensor(np.concatenate([edges, edges[:, ::-1]]).T.copy()), num_nodes=6)
    data.x = torch.ones(6, 1)
    theirs = transforms.AddLaplacianEigenvectorPE(3, attr_name="pe")(data.clone()).pe
    ours = AddLaplacianPE(3)(data.clone()).laplacian_pe
    assert torch.allclose(ours.abs(), theirs.abs(), atol=1e-5)
    assert AddLaplacianPE(3, attr_name=None)(data.clone()).x.shape == (6, 4)
    assert AddLaplacianPE(8)(data.clone()).laplacian_pe.shape == (6, 8)


def test_no_node_and_no_operator():
    empty = gf.Graph.from_edges([], n_nodes=0)
    assert gf.laplacian_pe(gf.operator(empty, "sym", channel="high"), 3).shape == (0, 3)
    with pytest.raises(ParameterError, match="operator is needed"):
        gf.laplacian_pe(empty, 3)


def test_pyg_encodes_signed_weights():
    torch = pytest.importorskip("torch")
    data = pytest.importorskip("torch_geometric.data")
    from gsp_fb.nn.pyg import AddLaplacianPE

    A = np.array([[0, 1, -2.0], [1, 0, 3], [-2, 3, 0]])
    at = np.nonzero(A)
    given = data.Data(edge_index=torch.tensor(np.stack(at)), edge_weight=torch.tensor(A[at]), num_nodes=3)
    op = gf.operator(gf.Graph.from_adjacency(A, signed=True), "sym", channel="high")
    assert np.allclose(AddLaplacianPE(2)(given).laplacian_pe, gf.laplacian_pe(op, 2), atol=1e-6)
