"""Convolutions of PyTorch Geometric with a high-pass channel; tests/nn/test_conformance.py has the baselines."""

import copy
import pickle

import numpy as np
import pytest
import torch
from safetensors import torch as safetensors

from gsp_fb import Graph
from gsp_fb.errors import ParameterError
from gsp_fb.nn import patch
from gsp_fb.nn.parts import stream
from gsp_fb.nn.patch import PatchedLayer

pyg = pytest.importorskip("torch_geometric.nn")

N, F, H = 30, 12, 8
CLOSE = {"atol": 1e-5, "rtol": 1e-5}


@pytest.fixture
def graph():
    """No loops and no isolated node: there the two libraries' policies agree (MEASURED differences are elsewhere)."""
    rng = np.random.default_rng(0)
    pairs = {(i, i + 1) for i in range(N - 1)} | {tuple(sorted(p)) for p in rng.integers(0, N, (40, 2)) if p[0] != p[1]}
    return Graph.from_edges(sorted((int(i), int(j)) for i, j in pairs), duplicates="first")


@pytest.fixture
def edges(graph):
    return torch.from_numpy(np.stack(graph.adjacency.nonzero())).long()


@pytest.fixture
def x():
    return torch.rand(N, F, generator=stream(0, "x"))


@pytest.mark.parametrize(
    "make",
    [
        lambda: pyg.GCNConv(F, H, bias=False),
        lambda: pyg.GATConv(F, H // 2, heads=2, bias=False),
        lambda: pyg.SAGEConv(F, H, bias=False, root_weight=False),
        lambda: pyg.SAGEConv(F, H, bias=False),
    ],
    ids=["GCNConv", "GATConv", "SAGEConv without root", "SAGEConv"],
)
def test_a_patched_convolution_reconstructs_its_linear_map(make, graph, edges, x):
    """With weights of 1 and equal maps x W is left: the high channel is exactly what the convolution loses."""
    conv = make()
    patched = patch(conv, mixing=(1.0, 1.0))
    patched.high.load_state_dict({name: value for name, value in conv.state_dict().items() if name != "lin_r.weight"})
    linear = conv.lin if hasattr(conv, "lin") else conv.lin_l
    root = conv.lin_r(x) if getattr(conv, "root_weight", False) else 0.0
    assert torch.allclose(patched(x, edges), linear(x) + root, **CLOSE)


@pytest.mark.parametrize("make", [lambda: pyg.GCNConv(F, H), lambda: pyg.SAGEConv(F, H), lambda: pyg.GATConv(F, H)])
def test_fault_134_the_high_channel_is_zero_at_a_constant(make):
    """Also with a trained bias and beside a root map."""
    ring = torch.stack([torch.arange(8), (torch.arange(8) + 1) % 8])
    conv = make()
    with torch.no_grad():
        for parameter in conv.parameters():
            parameter.add_(0.5)
    patched = patch(conv)
    high = patched.high_channel(torch.ones(8, F), torch.cat([ring, ring.flip(0)], dim=1))
    assert float(high.detach().abs().max()) < 1e-5


@pytest.mark.parametrize(
    ("make", "message"),
    [
        (lambda: pyg.GENConv(F, H), "GENConv is no linear map followed by averaging"),
        (lambda: pyg.GINConv(torch.nn.Linear(F, H)), "GINConv has no linear map"),
        (lambda: pyg.SAGEConv(-1, H), r"width of SAGEConv is not known yet \(in_channels=-1\)"),
    ],
)
def test_what_has_no_high_channel_is_refused(make, message):
    with pytest.raises(ParameterError, match=message):
        patch(make())


def test_a_whole_model_is_walked(edges, x):
    model = pyg.GraphSAGE(F, H, num_layers=2, out_channels=3)
    patched = patch(model)
    assert [type(conv) for conv in patched.convs] == [PatchedLayer] * 2
    assert all(isinstance(conv, pyg.SAGEConv) for conv in model.convs)
    assert torch.equal(patched.convs[0].low.lin_l.weight, model.convs[0].lin_l.weight)
    assert patched(x, edges).shape == (N, 3)
    patched.reset_parameters()
    assert not torch.equal(patched.convs[0].low.lin_l.weight, model.convs[0].lin_l.weight)


def test_fault_135_copies_of_a_patched_layer_are_independent_and_stored_once(edges, x, tmp_path):
    patched = patch(pyg.GCNConv(F, H))
    twins = [copy.deepcopy(patched), pickle.loads(pickle.dumps(patched))]
    before = patched(x, edges)
    assert len({value.data_ptr() for value in patched.state_dict().values()}) == len(patched.state_dict())
    safetensors.save_model(patched, tmp_path / "patched.safetensors")
    with torch.no_grad():
        for parameter in patched.parameters():
            parameter.zero_()
    assert all(torch.equal(twin(x, edges), before) for twin in twins)
    safetensors.load_model(patched, tmp_path / "patched.safetensors")
    assert torch.equal(patched(x, edges), before)


def test_a_patched_convolution_trains(edges, x):
    patched = patch(pyg.GCNConv(F, H))
    patched(x, edges).square().sum().backward()
    assert all(parameter.grad is not None for parameter in patched.parameters())
