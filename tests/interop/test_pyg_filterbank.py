"""Our convolution and transform inside PyTorch Geometric, against our own layer and bank."""

from __future__ import annotations

import copy
import subprocess
import sys

import numpy as np
import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st
from torch_geometric.data import Batch, Data
from torch_geometric.explain import Explainer, GNNExplainer
from torch_geometric.loader import DataLoader
from torch_geometric.nn import GCNConv, Sequential, global_mean_pool
from torch_geometric.transforms import Compose, NormalizeFeatures, ToUndirected

import gsp_fb as gf
from gsp_fb.errors import GraphError, ParameterError
from gsp_fb.nn import FilterBankLayer, operator_propagation
from gsp_fb.nn.parts import stream
from gsp_fb.nn.pyg import AddFilterBank, FilterBankConv
from gsp_fb.testing import families, graphs

F, H = 4, 3
CLOSE = {"atol": 1e-10, "rtol": 1e-10}
RING = gf.to_pyg(gf.Graph.from_edges([(i, (i + 1) % 12) for i in range(12)]))


def signal(n_nodes, n_columns=F):
    return torch.rand(n_nodes, n_columns, generator=stream(0, "x"), dtype=torch.float64)


def twins(graph, family, isolated="self", **options):
    """Return our layer and the convolution with the same weights, in double precision."""
    pair = operator_propagation(graph, family, isolated=isolated, dtype=torch.float64)
    layer = FilterBankLayer(F, H, pair, output="identity", generator=stream(1, "w"), **options).double()
    conv = FilterBankConv(F, H, family=family, isolated=isolated, **options).double()
    conv.layer.load_state_dict(layer.state_dict())
    return layer, conv


@settings(max_examples=40)
@given(graphs(min_nodes=2), families(), st.sampled_from(["self", "zero"]), st.sampled_from(["both", "low", "high"]))
def test_the_convolution_is_our_layer(graph, family, isolated, channels):
    layer, conv = twins(graph, family, isolated, channels=channels)
    data, x = gf.to_pyg(graph), signal(graph.n_nodes)
    want, got = layer(x).detach(), conv(x, data.edge_index, data.edge_weight)
    assert torch.allclose(got, want, atol=1e-10 * max(1.0, float(want.abs().max())))


@settings(max_examples=20)
@given(graphs(min_nodes=2, directed=True, loops=False), families())
def test_messages_go_along_the_arcs(graph, family):
    """PyG collects at the target of an arc; our operators take from the target: the same on the reversed graph."""
    layer, conv = twins(graph.transposed, family)
    data, x = gf.to_pyg(graph), signal(graph.n_nodes)
    want, got = layer(x).detach(), conv(x, data.edge_index, data.edge_weight)
    assert torch.allclose(got, want, atol=1e-10 * max(1.0, float(want.abs().max())))


def test_one_linear_channel_is_gcnconv_there_too_with_a_direction():
    index = torch.tensor([[0, 0, 1, 3], [1, 2, 2, 0]])
    weight, x = torch.tensor([0.5, 2.0, 1.0, 3.0]), signal(5).float()
    theirs, ours = GCNConv(F, H), FilterBankConv(F, H, channels="low")
    with torch.no_grad():
        theirs.lin.weight.copy_(ours.layer.lift.weight.T)
    assert torch.allclose(ours(x, index, weight), theirs(x, index, weight), atol=1e-6)


def test_adj_t_is_as_good_as_edge_index():
    index, weight, x = torch.tensor([[0, 0, 1], [1, 2, 2]]), torch.tensor([0.5, 2.0, 1.0]).double(), signal(3)
    conv = FilterBankConv(F, H, family="lazy_rw").double()
    adj_t = torch.sparse_coo_tensor(index.flip(0), weight, (3, 3), check_invariants=True).coalesce()
    assert torch.allclose(conv(x, adj_t), conv(x, index, weight), **CLOSE)


def test_a_batch_is_its_graphs_one_by_one():
    sizes = (3, 1, 6)
    datas = [Data(x=signal(n), edge_index=torch.stack([torch.arange(n - 1), torch.arange(1, n)])) for n in sizes]
    conv, transform = FilterBankConv(F, H).double(), AddFilterBank("renorm_sym")
    batch = Batch.from_data_list(datas)
    alone = torch.cat([conv(data.x, data.edge_index) for data in datas])
    assert torch.allclose(conv(batch.x, batch.edge_index), alone, **CLOSE)
    assert torch.allclose(transform(batch).x_high, torch.cat([transform(data).x_high for data in datas]), **CLOSE)


@pytest.mark.parametrize("family", sorted(gf.variants.VARIANTS))
def test_gradients_reach_weights_of_edges_also_beside_an_isolated_node(family):
    index = torch.tensor([[0, 1, 1, 2], [1, 0, 2, 1]])
    weight = torch.tensor([0.5, 0.5, 2.0, 2.0], dtype=torch.float64, requires_grad=True)
    conv, x = FilterBankConv(F, H, family=family, activation="tanh").double(), signal(4).requires_grad_()
    assert torch.autograd.gradcheck(lambda x, w: conv(x, index, w), (x, weight))


def alternating():
    data = RING.clone()
    data.y = torch.arange(12) % 2
    data.x = torch.randn(12, 2, generator=stream(3, "x")) + (2.0 * data.y - 1.0)[:, None]
    return data


def test_a_training_loop_of_pyg():
    """Two convolutions where two GCNConv would be, in PyG's own container."""
    torch.manual_seed(0)
    data = alternating()
    model = Sequential(
        "x, edge_index",
        [
            (FilterBankConv(2, 16), "x, edge_index -> x"),
            torch.nn.ReLU(),
            (FilterBankConv(16, 2), "x, edge_index -> x"),
        ],
    )
    optimizer = torch.optim.Adam(model.parameters(), lr=0.05)
    for _ in range(60):
        optimizer.zero_grad()
        torch.nn.functional.cross_entropy(model(data.x, data.edge_index)[:8], data.y[:8]).backward()
        optimizer.step()
    assert (model(data.x, data.edge_index).argmax(dim=1) == data.y).all()


def test_mini_batches_of_graphs():
    """Rings with a smooth and with an alternating signal: only the high channel's energy differs."""
    torch.manual_seed(0)
    datas = []
    for label in (0, 1) * 8:
        data = RING.clone()
        sign = (2.0 * (torch.arange(12) % 2) - 1.0) if label else torch.ones(12)
        data.x, data.y = (sign * torch.randn(1, generator=stream(len(datas), "g")).sign())[:, None], label
        datas.append(data)
    conv, head = FilterBankConv(1, 8, output="relu"), torch.nn.Linear(8, 2)
    optimizer = torch.optim.Adam([*conv.parameters(), *head.parameters()], lr=0.05)

    def logits(batch):
        return head(global_mean_pool(conv(batch.x, batch.edge_index), batch.batch))

    for _ in range(40):
        for batch in DataLoader(datas, batch_size=4):
            optimizer.zero_grad()
            torch.nn.functional.cross_entropy(logits(batch), batch.y).backward()
            optimizer.step()
    whole = Batch.from_data_list(datas)
    assert (logits(whole).argmax(dim=1) == whole.y).all()


def test_pygs_explainer_sees_the_edges():
    data, conv = alternating(), FilterBankConv(2, 2)
    explainer = Explainer(
        conv,
        GNNExplainer(epochs=2),
        explanation_type="model",
        edge_mask_type="object",
        model_config={"mode": "multiclass_classification", "task_level": "node", "return_type": "raw"},
    )
    found = explainer(data.x, data.edge_index, index=0)
    assert found.edge_mask.shape == (24,)
    assert float(found.edge_mask.max()) > 0


def test_seeds_are_torchs_and_resetting_keeps_the_parameters():
    torch.manual_seed(7)
    conv, other = FilterBankConv(F, H), FilterBankConv(F, H)
    weight = conv.layer.lift.weight
    before = weight.detach().clone()
    assert not torch.equal(before, other.layer.lift.weight)
    conv.reset_parameters()
    assert conv.layer.lift.weight is weight
    assert not torch.equal(before, weight)
    torch.manual_seed(7)
    conv.reset_parameters()
    assert torch.equal(before, weight)
    assert torch.equal(copy.deepcopy(conv).layer.lift.weight, weight)
    named = FilterBankConv(F, H, generator=stream(1, "w"))
    assert torch.equal(named.layer.lift.weight, twins(gf.from_pyg(RING), "rw")[0].float().lift.weight)


@settings(max_examples=40)
@given(graphs(min_nodes=2), families())
def test_the_transform_is_our_bank(graph, family):
    data = gf.to_pyg(graph, x=signal(graph.n_nodes))
    low, high = gf.FilterBank.two_channel(graph, family).analyze(data.x.numpy())
    made, joined = AddFilterBank(family)(data), AddFilterBank(family, concat=True)(data)
    scale = max(1.0, np.abs(low).max())
    np.testing.assert_allclose(made.x_low, low, atol=1e-10 * scale)
    np.testing.assert_allclose(made.x_high, high, atol=1e-10 * scale)
    assert torch.equal(joined.x, torch.cat([made.x_low, made.x_high], dim=1))
    assert "x_low" not in data
    assert data.x.shape == (graph.n_nodes, F)


def test_a_chain_of_transforms():
    data = Data(x=signal(3).float(), edge_index=torch.tensor([[0, 1], [1, 2]]))
    chain = Compose([ToUndirected(), AddFilterBank("rw", concat=True), NormalizeFeatures()])
    assert chain(data).x.shape == (3, 2 * F)
    assert repr(AddFilterBank("lazy_rw")) == "AddFilterBank(lazy_rw, gamma=1)"


@pytest.mark.parametrize(
    ("act", "error", "message"),
    [
        (lambda: FilterBankConv(F, H, family="gcn"), ParameterError, "unknown family 'gcn'"),
        (lambda: FilterBankConv(-1, H), ParameterError, "n_in must be an integer >= 1, not -1"),
        (lambda: FilterBankConv(F, H, family="rw", gamma=2.0), ParameterError, "has no gamma"),
        (lambda: AddFilterBank("rw", isolated="drop"), ParameterError, "unknown isolated policy 'drop'"),
        (lambda: AddFilterBank()(Data(edge_index=RING.edge_index)), ParameterError, r"needs data\.x"),
        (
            lambda: AddFilterBank("rw", isolated="error")(Data(x=signal(3), edge_index=torch.tensor([[0, 1], [1, 0]]))),
            GraphError,
            "node 2 is isolated",
        ),
    ],
)
def test_errors_name_the_value_and_the_remedy(act, error, message):
    with pytest.raises(error, match=message):
        act()


MISSING = """
from importlib import util
real = util.find_spec
util.find_spec = lambda name, *args: None if name == "torch_geometric" else real(name, *args)
try:
    import sys, gsp_fb.nn
    print("torch_geometric" in sys.modules)
    import gsp_fb.nn.pyg
except ImportError as missing:
    print(missing)
"""


def test_nothing_else_loads_torch_geometric_and_its_absence_is_named():
    said = subprocess.run([sys.executable, "-c", MISSING], capture_output=True, text=True, check=True).stdout
    assert said == "False\ngsp_fb.nn.pyg needs torch_geometric: pip install torch_geometric\n"


@pytest.mark.parametrize("family", ["comb", "sym", "rw", "renorm_sym", "lazy_rw"])
def test_degrees_of_signed_weights_are_sums_of_absolute_values(family):
    """Weights 1 and -1 add up to degree 0, and negative sums to nan, unless signs are left out of the degrees."""
    signed = gf.Graph.from_edges([(0, 1), (1, 2), (2, 3), (0, 3)], [1.0, -1.0, -3.0, 2.0], signed=True)
    layer, conv = twins(signed, family)
    data = gf.to_pyg(signed, x=signal(4))
    assert torch.allclose(conv(data.x, data.edge_index, data.edge_weight), layer(data.x), **CLOSE)
    low = AddFilterBank(family)(data).x_low
    assert torch.allclose(low, torch.as_tensor(gf.operator(signed, family) @ data.x.numpy()), **CLOSE)
