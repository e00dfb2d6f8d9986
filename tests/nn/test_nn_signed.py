"""Networks on signed and magnetic graphs: the same propagations, complex channels as real pairs."""

from dataclasses import replace

import numpy as np
import pytest
import torch

import gsp_fb as gf
from gsp_fb import nn
from gsp_fb.errors import ParameterError, SignalError
from gsp_fb.nn import SparseMatrix, operator_propagation
from gsp_fb.variants import VARIANTS

RNG = np.random.default_rng(0)
ARCS = np.argwhere(RNG.random((12, 12)) < 0.3)
MAGNETIC = gf.Graph.from_edges(ARCS, n_nodes=12, directed=True).magnetic(0.1)
SIGNED = gf.Graph.from_edges(ARCS, RNG.choice([-1.0, 1.0], len(ARCS)), 12, symmetrize="max", signed=True)


@pytest.mark.parametrize("shape", [(12, 4), (12, 5), (12, 1), (3, 12, 6)])
@pytest.mark.parametrize("family", VARIANTS)
def test_pairs_of_real_columns_are_complex_channels(family, shape):
    pair = operator_propagation(MAGNETIC, family, dtype=torch.float64)
    h = torch.as_tensor(RNG.standard_normal(shape))
    complex_h = np.zeros((*shape[:-1], (shape[-1] + 1) // 2), dtype=complex)
    complex_h += h[..., ::2].numpy()
    complex_h[..., : shape[-1] // 2] += 1j * h[..., 1::2].numpy()
    dense = gf.operator(MAGNETIC, family).to_scipy().toarray()
    expected = np.stack([(dense @ complex_h).real, (dense @ complex_h).imag], axis=-1).reshape(*shape[:-1], -1)
    assert np.allclose(pair.low(h).numpy(), expected[..., : shape[-1]])
    low, high = pair.both(h, 2 * h)
    assert np.allclose(low.numpy(), expected[..., : shape[-1]])
    assert np.allclose(high.numpy(), 2 * h.numpy() - 2 * expected[..., : shape[-1]])


@pytest.mark.parametrize("family", VARIANTS)
def test_signed_operators_propagate_as_they_are(family):
    h = torch.as_tensor(RNG.standard_normal((12, 3)))
    pair = operator_propagation(SIGNED, family, dtype=torch.float64)
    assert np.allclose(pair.low(h).numpy(), gf.operator(SIGNED, family) @ h.numpy())


def test_gradients_flow_through_pairs():
    h = torch.as_tensor(RNG.standard_normal((12, 3))).requires_grad_()
    assert torch.autograd.gradcheck(operator_propagation(MAGNETIC, "sym", dtype=torch.float64).low, (h,))


@pytest.mark.parametrize("name", ["gcn", "fb-gcn"])
@pytest.mark.parametrize("kind", ["magnetic", "signed"])
def test_a_data_set_with_such_a_graph_trains(kind, name):
    data = gf.datasets.contextual_sbm(60, homophily=0.1, rng=0)
    source, target, _ = data.graph.edges()
    arcs = gf.Graph.from_edges(np.stack([source, target], axis=1), n_nodes=60, directed=True)
    signs = np.where(data.y[source] == data.y[target], 1.0, -1.0)
    signed = gf.Graph.from_edges(np.stack([source, target], axis=1), signs, 60, signed=True)
    graph = arcs.magnetic(0.25) if kind == "magnetic" else signed
    changed = replace(data, graph=graph)
    split = gf.datasets.random_splits(data.y, n_splits=1, rng=0)[0]
    result = nn.train(nn.build(name, changed, seed=0), changed, split, nn.TrainConfig(epochs=30))
    assert result.losses["train"] < result.history[0]["train_loss"]


def test_q_is_an_option_of_networks_on_directed_graphs():
    data = gf.datasets.contextual_sbm(40, homophily=0.2, rng=0)
    source, target, _ = data.graph.edges()
    arcs = replace(data, graph=gf.Graph.from_edges(np.stack([source, target], axis=1), n_nodes=40, directed=True))
    x = torch.as_tensor(data.x, dtype=torch.float32)
    for name in ("gcn", "fb-gcn", "acm-gcn", "gcnii"):
        option = nn.build(name, arcs, seed=0, q=0.1).eval()
        graph = nn.build(name, replace(arcs, graph=arcs.graph.magnetic(0.1)), seed=0).eval()
        assert torch.equal(option(x), graph(x))
    with pytest.raises(ParameterError, match=r"q=0\.1 is for directed graphs"):
        nn.build("gcn", data, q=0.1)


def test_other_matrices_refuse_complex_entries():
    with pytest.raises(ParameterError, match="real pairs"):
        SparseMatrix.from_operator(gf.operator(MAGNETIC, "sym"))


def test_features_keep_their_imaginary_part_or_are_refused(recwarn):
    """torch drops it with a warning; zero imaginary parts, as of real features on a magnetic graph, are none."""
    x = RNG.standard_normal((12, 3))
    assert torch.equal(nn.features(x.astype(complex)), nn.features(x))
    assert not recwarn.list
    with pytest.raises(SignalError, match="columns 2k and 2k"):
        nn.features(1j * x)


@pytest.mark.parametrize("channels", [None, 3])
def test_channels_that_are_no_names_are_refused(channels):
    with pytest.raises(ParameterError, match="unknown channel"):
        nn.FilterBankLayer(3, 2, operator_propagation(SIGNED), channels=channels)
