"""One-channel layers against PyTorch Geometric's, given the same weights and aligned policies."""

import numpy as np
import pytest
import torch

from gsp_fb import Graph
from gsp_fb.nn import FilterBankLayer, operator_propagation, patch
from gsp_fb.nn.deep import ResidualBlock
from gsp_fb.nn.graphs import GinLayer
from gsp_fb.nn.parts import stream
from gsp_fb.nn.propagation import Attention, EdgeList, Spatial, mean_matrix
from gsp_fb.nn.sparse import SparseMatrix

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


def linear_layer(propagation, **options):
    return FilterBankLayer(F, H, propagation, channels="low", output="identity", generator=stream(1, "w"), **options)


def test_gcn(graph, edges, x):
    layer = linear_layer(operator_propagation(graph, "renorm_sym"))
    theirs = pyg.GCNConv(F, H)
    with torch.no_grad():
        layer.bias.uniform_(generator=stream(2, "b"))
        theirs.lin.weight.copy_(layer.lift.weight.T)
        theirs.bias.copy_(layer.bias)
    assert torch.allclose(layer(x), theirs(x, edges), **CLOSE)


@pytest.mark.parametrize(("heads", "average"), [(1, False), (4, False), (4, True)])
def test_gat(graph, edges, x, heads, average):
    attention = Attention(EdgeList(graph), H, stream(3, "a"), heads=heads, average=average)
    layer = linear_layer(attention)
    size = H if average else H // heads
    theirs = pyg.GATConv(F, size, heads=heads, concat=not average)
    with torch.no_grad():
        theirs.lin.weight.copy_(layer.lift.weight.T)
        theirs.att_src.copy_(attention.from_node[None])
        theirs.att_dst.copy_(attention.to_node[None])
        theirs.bias.zero_()
    assert torch.allclose(layer(x), theirs(x, edges), **CLOSE)


def test_sage(graph, edges, x):
    layer = linear_layer(Spatial(SparseMatrix.from_scipy(mean_matrix(graph))), root=True)
    theirs = pyg.SAGEConv(F, H)
    with torch.no_grad():
        theirs.lin_l.weight.copy_(layer.lift.weight.T)
        theirs.lin_l.bias.copy_(layer.bias)
        # Our low channel is h + mean(h): its own share joins the root weight.
        theirs.lin_r.weight.copy_((layer.lift.weight + layer.root.weight).T)
    assert torch.allclose(layer(x), theirs(x, edges), **CLOSE)


@pytest.mark.parametrize("eps", [0.0, 0.3])
def test_gin(graph, edges, x, eps):
    layer = GinLayer(F, H, stream(4, "g"), learned=True).eval()
    with torch.no_grad():
        layer.eps.fill_(eps)
    theirs = pyg.GINConv(layer.maps["low"], eps=eps)
    adjacency = SparseMatrix.from_scipy(graph.adjacency, symmetric=True)
    assert torch.allclose(layer.split(x, adjacency)["low"], theirs(x, edges), **CLOSE)


@pytest.mark.parametrize("star", [False, True])
def test_gcn2(graph, edges, star):
    h, h_0 = (torch.rand(N, H, generator=stream(k, "h")) for k in (0, 1))
    alpha, lambda_, depth = 0.2, 1.5, 3
    theirs = pyg.GCN2Conv(H, alpha, theta=lambda_, layer=depth, shared_weights=not star)
    theta = float(np.log(lambda_ / depth + 1))
    pair = operator_propagation(graph, "renorm_sym")
    block = ResidualBlock(H, pair, stream(5, "d"), alpha=alpha, theta=theta, star=star)
    with torch.no_grad():
        theirs.weight1.copy_(block.filtered["low"].weight)
        if star:
            theirs.weight2.copy_(block.initial["low"].weight)
    assert torch.allclose(block.split(h, h_0)["low"], theirs(h, h_0, edges), **CLOSE)


@pytest.mark.parametrize(
    "make",
    [
        lambda: pyg.GCNConv(F, H, bias=False),
        lambda: pyg.GATConv(F, H // 2, heads=2, bias=False),
        lambda: pyg.SAGEConv(F, H, bias=False, root_weight=False),
    ],
    ids=["GCNConv", "GATConv", "SAGEConv"],
)
def test_a_patched_convolution_reconstructs_its_linear_map(make, graph, edges, x):
    """a_low = a_high = 1 and equal weights leave x W: the high channel is exactly what the convolution loses."""
    conv = make()
    patched = patch(conv, alphas=(1.0, 1.0))
    patched.high.load_state_dict(conv.state_dict())
    linear = conv.lin if hasattr(conv, "lin") else conv.lin_l
    assert torch.allclose(patched(x, edges), linear(x), **CLOSE)


def test_a_patched_convolution_trains(graph, edges, x):
    patched = patch(pyg.GCNConv(F, H))
    patched(x, edges).square().sum().backward()
    assert all(parameter.grad is not None for parameter in patched.parameters())
