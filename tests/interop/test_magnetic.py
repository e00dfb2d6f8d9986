"""Magnetic operators beside MagNet's: `pip install --no-deps torch-geometric-signed-directed`."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import sparse

import gsp_fb as gf
from gsp_fb.testing import graphs

torch = pytest.importorskip("torch")
magnetic = pytest.importorskip(
    "torch_geometric_signed_directed.utils.directed.get_magnetic_Laplacian",
    reason="torch-geometric-signed-directed is not installed",
)


def theirs(graph, normalization, q):
    """MagNet's Laplacian of unit weights as a dense matrix."""
    pairs = torch.as_tensor(np.stack([graph.rows, graph.indices]).astype(np.int64))
    found = magnetic.get_magnetic_Laplacian(pairs, None, normalization, torch.float64, graph.n_nodes, q)
    index, real, imag = (part.numpy() for part in found)
    shape = (graph.n_nodes, graph.n_nodes)
    return sparse.coo_array((real + 1j * imag, (index[0], index[1])), shape=shape).toarray()


@settings(max_examples=50, deadline=None)
@given(graphs(directed=True, weighted=False, loops=False, min_nodes=2), st.floats(0.0, 0.5))
def test_the_magnetic_laplacian_is_that_of_magnet(graph, q):
    """Their isolated nodes have L_ii = 1 when normalised: our policy ``zero``. Weighted arcs differ: see below."""
    magnetic_graph = graph.magnetic(q)
    for family, normalization in (("comb", None), ("sym", "sym")):
        ours = gf.operator(magnetic_graph, family, channel="high", isolated="zero").to_scipy().toarray()
        np.testing.assert_allclose(ours, theirs(graph, normalization, q), atol=1e-12)


def test_difference_the_phase_of_a_weighted_arc():
    """Ours is q turns whatever the weight; MagNet's is q times the weight, and depends on the unit of weights."""
    arc = gf.Graph.from_edges([(0, 1)], [3.0], directed=True).magnetic(0.1).adjacency.toarray()
    index, real, imag = magnetic.get_magnetic_Laplacian(
        torch.tensor([[0], [1]]), torch.tensor([3.0], dtype=torch.float64), None, q=0.1
    )
    at = int(np.flatnonzero((index[0] == 0) & (index[1] == 1))[0])
    assert np.angle(arc[0, 1]) == pytest.approx(2 * np.pi * 0.1)
    assert np.angle(-(real[at] + 1j * imag[at]).item()) == pytest.approx(2 * np.pi * 0.3)
