"""Laws of the layer: what goes in comes out, relabelling commutes, gradients are right."""

import itertools

import numpy as np
import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st

from gsp_fb import Graph, operator
from gsp_fb._kernels.attention import EdgeList
from gsp_fb.errors import ParameterError
from gsp_fb.filters.heat_basis import heat_wavelets
from gsp_fb.nn import FilterBankLayer, PolynomialFilter, SparseFeatures, SparseMatrix, operator_propagation
from gsp_fb.nn.channels import CHANNELS, Channels, Mixing, channel_names
from gsp_fb.nn.inputs import features
from gsp_fb.nn.parts import stream
from gsp_fb.nn.propagation.attention import Attention
from gsp_fb.nn.propagation.operators import Complement, Spatial, Wavelet
from gsp_fb.sampling.subgraphs import mean_matrix
from gsp_fb.testing import families, graphs, operators
from gsp_fb.theory import paper_matrix
from tests.support.closeness import assert_close, size_of

WIDTH = 4
DOUBLE = {"dtype": torch.float64}


def identity_layer(propagation, **options):
    layer = FilterBankLayer(
        WIDTH, WIDTH, propagation, activation="identity", output="identity", bias=False, **options
    ).double()
    with torch.no_grad():
        blocks = layer.lift.weight.shape[1] // WIDTH
        layer.lift.weight.copy_(torch.eye(WIDTH).repeat(1, blocks))
    return layer


def signal(n, seed=0, width=WIDTH):
    return torch.from_numpy(np.random.default_rng(seed).normal(size=(n, width)))


def attention(graph, width=WIDTH, **options):
    return Attention(EdgeList(graph.adjacency), width, stream(1, "test"), **options).double()


def wavelet(graph):
    bases = (SparseMatrix.from_scipy(b, symmetric=True, **DOUBLE) for b in heat_wavelets(graph, threshold=0.0))
    return Wavelet(*bases, stream(2, "test")).double()


COMPLEMENTARY = {
    "operator": lambda g: operator_propagation(g, "renorm_sym", **DOUBLE),
    "attention": attention,
    "wavelet": wavelet,
}


@given(graphs(), families())
def test_with_alphas_one_and_equal_weights_a_layer_returns_its_input(graph, family):
    x = signal(graph.n_nodes)
    layer = identity_layer(operator_propagation(graph, family, **DOUBLE), mixing=(1.0, 1.0))
    scale = size_of(x.numpy()) * (1 + size_of(operator(graph, family).to_scipy().toarray()))
    assert_close(layer(x).detach().numpy(), x.numpy(), scale=scale)


@pytest.mark.parametrize("name", COMPLEMENTARY)
@settings(max_examples=20)
@given(graph=graphs())
def test_every_complementary_propagation_reconstructs(name, graph):
    x = signal(graph.n_nodes)
    layer = identity_layer(COMPLEMENTARY[name](graph), mixing=(1.0, 1.0))
    assert torch.allclose(layer(x), x, atol=1e-8)


@given(graphs())
def test_the_spatial_pair_adds_up_to_twice_the_input(graph):
    x = signal(graph.n_nodes)
    pair = Spatial(SparseMatrix.from_scipy(mean_matrix(graph), **DOUBLE))
    assert torch.allclose(pair.low(x) + pair.high(x), 2 * x, atol=1e-12)


@pytest.mark.parametrize("mixing", ["scalar", "tied"])
@given(graph=graphs())
def test_a_filterbank_begins_at_the_scale_of_its_input(graph, mixing):
    x = signal(graph.n_nodes)
    means = SparseMatrix.from_scipy(mean_matrix(graph), **DOUBLE)
    for pair in (Complement(means), Spatial(means)):
        assert torch.allclose(identity_layer(pair, mixing=mixing)(x), x, atol=1e-8)


@given(operators())
def test_the_low_channel_is_the_papers_matrix(op):
    x = signal(op.graph.n_nodes)
    matrix = paper_matrix(op)
    layer = identity_layer(Complement(SparseMatrix.from_operator(op, **DOUBLE)), channels="low")
    assert_close(layer(x).detach().numpy(), matrix @ x.numpy(), scale=size_of(x.numpy()) * (1 + size_of(matrix)))


@pytest.mark.parametrize("family", ["renorm_sym", "lazy_rw"])
def test_one_product_gives_what_two_channels_give(blocks, family):
    """synthesize() is a shortcut: without it the layer must return the same."""
    pair = operator_propagation(blocks.graph, family, **DOUBLE)

    class OnlyLow:
        def low(self, h):
            return pair.low(h)

    x = signal(blocks.graph.n_nodes)
    layer = FilterBankLayer(WIDTH, 3, pair, generator=stream(3, "t")).double()
    assert torch.allclose(layer(x), layer(x, OnlyLow()), atol=1e-12)
    spatial = Spatial(SparseMatrix.from_scipy(mean_matrix(blocks.graph), **DOUBLE))
    layer = FilterBankLayer(WIDTH, 3, spatial, generator=stream(3, "t")).double()
    low, high = spatial.low, spatial.high

    class Separate:
        pass

    Separate.low, Separate.high = staticmethod(low), staticmethod(high)
    assert torch.allclose(layer(x), layer(x, Separate()), atol=1e-12)


def test_the_layer_is_the_formula_written_densely(blocks):
    P = operator(blocks.graph, "lazy_rw").to_scipy().toarray()
    x = signal(blocks.graph.n_nodes).numpy()
    layer = FilterBankLayer(WIDTH, 3, operator_propagation(blocks.graph, "lazy_rw", **DOUBLE)).double()
    with torch.no_grad():
        layer.bank.mixing.logits.copy_(torch.tensor([0.7, -1.2]))
    low, high = np.split(layer.lift.weight.detach().numpy(), 2, axis=1)
    a = 2 / (1 + np.exp(-np.array([0.7, -1.2])))

    def relu(z):
        return np.maximum(z, 0)

    inner = a[0] * P @ relu(x @ low) + a[1] * (relu(x @ high) - P @ relu(x @ high))
    assert np.allclose(layer(torch.from_numpy(x)).detach().numpy(), relu(inner), atol=1e-6)


@pytest.mark.parametrize(
    ("transformation", "order"), [("linear", "before"), ("nonlinear", "before"), ("nonlinear", "after")]
)
@pytest.mark.parametrize("channels", ["low", "high", "both"])
def test_the_ablation_options_place_the_nonlinearity(blocks, channels, transformation, order):
    pair = operator_propagation(blocks.graph, **DOUBLE)
    layer = FilterBankLayer(
        WIDTH,
        3,
        pair,
        channels=channels,
        transformation=transformation,
        order=order,
        mixing=(1.0, 0.5),
        output="identity",
    ).double()
    x = signal(blocks.graph.n_nodes)
    z = (x @ layer.lift.weight).split(3, dim=1)
    act = {
        "linear": (lambda t: t, lambda t: t),
        "before": (torch.relu, lambda t: t),
        "after": (lambda t: t, torch.relu),
    }
    before, after = act["linear" if transformation == "linear" else order]
    parts = {"low": after(pair.low(before(z[0]))), "high": after(pair.high(before(z[-1])))}
    expected = parts["low"] + 0.5 * parts["high"] if channels == "both" else parts[channels]
    assert torch.allclose(layer(x), expected, atol=1e-12)
    split = layer.split(x)
    assert torch.allclose(split["combined"], expected, atol=1e-12)
    names = {"low", "high"} if channels == "both" else {channels}
    assert set(split) == {*names, "combined", "shares"}


# Channels and mixing -----------------------------------------------------------------------------------------------

THREE = ("low", "high", "identity")


def bank_of(propagation, channels, mixing="scalar", **options):
    return FilterBankLayer(WIDTH, 3, propagation, channels=channels, mixing=mixing, **DEFAULT, **options).double()


DEFAULT = {"output": "identity"}


@given(st.lists(st.floats(-1e3, 1e3), min_size=3, max_size=3), st.sampled_from(["scalar", "tied"]))
def test_learned_weights_start_at_one_and_are_bounded(logits, kind):
    mixing = Mixing(kind, THREE)
    assert torch.equal(mixing.alphas().detach(), torch.ones(3))
    with torch.no_grad():
        mixing.logits.copy_(torch.tensor(logits))
    weights = mixing.alphas().detach()
    assert bool((weights >= 0).all())
    assert float(weights.max()) <= (2.0 if kind == "scalar" else 3.0)
    if kind == "tied":
        assert float(weights.sum()) == pytest.approx(3.0)


@pytest.mark.parametrize("mixing", ["scaler", (1.0,), (1.0, np.inf), 3, ("a", "b")])
def test_bad_mixings_are_refused(mixing):
    with pytest.raises(ParameterError, match="mixing"):
        Mixing(mixing)


@pytest.mark.parametrize("channels", ["loww", ("low", "low"), (), ("both", "high")])
def test_bad_channels_are_refused(channels):
    with pytest.raises(ParameterError, match="channel"):
        channel_names(channels)


@pytest.mark.parametrize("mixing", ["scalar", "tied", (0.5, 2.0, -1.0)])
@pytest.mark.parametrize("order", ["before", "after"])
def test_three_channels_are_the_formula(blocks, mixing, order):
    P = torch.from_numpy(operator(blocks.graph, "rw").to_scipy().toarray())
    layer = bank_of(operator_propagation(blocks.graph, "rw", **DOUBLE), THREE, mixing, order=order)
    x = signal(blocks.graph.n_nodes)
    z = (x @ layer.lift.weight).chunk(3, dim=1)
    before, after = (torch.relu, torch.nn.Identity()) if order == "before" else (torch.nn.Identity(), torch.relu)
    one = torch.eye(len(P), dtype=torch.float64)
    filtered = [after(F @ before(part)) for F, part in zip((P, one - P, one), z, strict=True)]
    expected = sum(a * part for a, part in zip(layer.alphas(), filtered, strict=True))
    assert torch.allclose(layer(x), expected, atol=1e-12)
    assert all(torch.allclose(layer.split(x)[name], part) for name, part in zip(THREE, filtered, strict=True))


def test_mixing_per_node_is_the_formula_of_acm(blocks):
    """Luan et al. 2022, Eq. 6, written out: softmax(sigmoid([H_c v_c]) W / 3), times 3."""
    layer = bank_of(operator_propagation(blocks.graph, **DOUBLE), THREE, "node", order="after")
    x = signal(blocks.graph.n_nodes)
    split, mixing = layer.split(x), layer.bank.mixing
    parts = [split[name] for name in THREE]
    scores = torch.stack([part @ v for part, v in zip(parts, mixing.scores, strict=True)], dim=1)
    weights = 3 * torch.softmax(torch.sigmoid(scores) @ mixing.joint / 3, dim=1)
    expected = sum(weights[:, [c]] * part for c, part in enumerate(parts))
    assert torch.allclose(layer(x), expected, atol=1e-12)
    assert layer.alphas() is None


@pytest.mark.parametrize("mixing", ["scalar", "tied", "node", (1.0, 0.0, 0.5)])
def test_shares_are_the_contributions_and_sum_to_one(blocks, mixing):
    layer = bank_of(operator_propagation(blocks.graph, **DOUBLE), THREE, mixing)
    shares = layer.split(signal(blocks.graph.n_nodes))["shares"]
    assert shares.shape == ((blocks.graph.n_nodes, 3) if mixing == "node" else (3,))
    assert torch.allclose(shares.sum(-1), torch.ones(shares.shape[:-1], dtype=torch.float64))
    assert mixing != (1.0, 0.0, 0.5) or shares[1] == 0
    nothing = layer.split(torch.zeros(blocks.graph.n_nodes, WIDTH, dtype=torch.float64))["shares"]
    assert torch.allclose(nothing, torch.full_like(nothing, 1 / 3))


@pytest.mark.parametrize("channels", [("low",), ("low", "high"), THREE, CHANNELS])
@pytest.mark.parametrize("mixing", ["scalar", "node"])
def test_a_layer_commutes_with_relabelling_and_with_copies(blocks, channels, mixing):
    order = np.random.default_rng(0).permutation(blocks.graph.n_nodes)
    moved = Graph.from_adjacency(blocks.graph.adjacency[order][:, order])
    here, there = (operator_propagation(graph, "sym", **DOUBLE) for graph in (blocks.graph, moved))
    layer, x = bank_of(here, channels, mixing, generator=stream(0, "t")), signal(blocks.graph.n_nodes)
    assert torch.allclose(layer(x)[order], layer(x[order], there), atol=1e-10)
    copies = bank_of(here, channels, mixing, copies=(2,))
    with torch.no_grad():
        for name, parameter in copies.named_parameters():
            parameter.copy_(layer.get_parameter(name).expand_as(parameter))
    assert torch.allclose(copies(x), layer(x).expand(2, -1, -1), atol=1e-12)


def test_polynomial_channels_need_a_linear_propagation(blocks):
    with pytest.raises(ParameterError, match=r"fixed linear propagation.*not Attention"):
        FilterBankLayer(WIDTH, WIDTH, attention(blocks.graph), channels=("low", "chebyshev"))
    assert Channels("low", "scalar", 2).mixing is None


def test_an_object_without_low_is_no_propagation():
    with pytest.raises(ParameterError, match=r"needs a method low\(h\); object has none"):
        FilterBankLayer(2, 2, object())


# Gradients ---------------------------------------------------------------------------------------------------------

TRIANGLE = Graph.from_edges([(0, 1), (1, 2), (2, 2)], n_nodes=4)


@pytest.mark.parametrize("family", ["renorm_sym", "lazy_rw"])
@pytest.mark.parametrize("channels", ["low", "high", "both", (*THREE, "jacobi")])
def test_gradcheck_of_the_layer(family, channels):
    layer = FilterBankLayer(
        3,
        2,
        operator_propagation(TRIANGLE, family, **DOUBLE),
        channels=channels,
        activation="tanh",
        output="tanh",
        root=True,
    ).double()
    x = signal(4, width=3).requires_grad_()
    names = [name for name, _ in layer.named_parameters()]

    def run(x, *values):
        return torch.func.functional_call(layer, dict(zip(names, values, strict=True)), (x,))

    assert torch.autograd.gradcheck(run, (x, *layer.parameters()))
    assert torch.autograd.gradgradcheck(run, (x, *layer.parameters()))


def test_gradcheck_of_sparse_features():
    x = features(TRIANGLE.adjacency, dtype=torch.float64)
    assert isinstance(x, SparseFeatures)
    weight = signal(4, width=2).requires_grad_()
    assert torch.autograd.gradcheck(lambda w: x @ w, (weight,))


@pytest.mark.parametrize("average", [False, True])
def test_gradcheck_of_attention(average):
    module = attention(TRIANGLE, 2 if average else 4, heads=2, average=average)
    h = signal(4).requires_grad_()
    names = [name for name, _ in module.named_parameters()]

    def run(h, *values):
        return torch.func.functional_call(_Low(module), {f"m.{n}": v for n, v in zip(names, values, strict=True)}, (h,))

    assert torch.autograd.gradcheck(run, (h, *module.parameters()))


class _Low(torch.nn.Module):
    def __init__(self, m):
        super().__init__()
        self.m = m

    def forward(self, h):
        return torch.cat(self.m.both(h, h * h), 1)


@pytest.mark.parametrize("directed", [False, True])
def test_the_backward_pass_is_the_transpose(directed):
    graph = Graph.from_edges([(0, 1), (1, 2), (0, 2)], directed=directed)
    for family in ("sym", "rw", "renorm_sym"):
        op = operator(graph, family)
        P = SparseMatrix.from_operator(op, dtype=torch.float64)
        h = signal(3).requires_grad_()
        seed = signal(3, seed=1)
        (P @ h).backward(seed)
        assert np.allclose(h.grad.numpy(), op.to_scipy().toarray().T @ seed.numpy())
        assert P.symmetric == op.is_symmetric


def test_copies_are_products_one_by_one(blocks):
    P = SparseMatrix.from_operator(operator(blocks.graph, "lazy_rw"), dtype=torch.float64)
    h = torch.stack([signal(blocks.graph.n_nodes, seed) for seed in range(3)])
    assert torch.allclose(P @ h, torch.stack([P @ part for part in h]))
    x = features(blocks.x, dtype=torch.float64)
    w = torch.stack([signal(blocks.x.shape[1], seed) for seed in range(3)])
    assert torch.allclose(x @ w, torch.from_numpy(np.stack([blocks.x @ part.numpy() for part in w])))
    own = x.with_values(torch.rand(3, blocks.x.nnz, dtype=torch.float64))
    expected = torch.stack([x.with_values(v) @ part for v, part in itertools.zip_longest(own.values, w)])
    assert torch.allclose(own @ w, expected)


def test_float32_indices_are_int32_and_the_values_are_shared(blocks):
    matrix = operator(blocks.graph, "sym").to_scipy().astype(np.float32)
    P = SparseMatrix.from_scipy(matrix, symmetric=True)
    assert P.indptr.dtype == P.indices.dtype == torch.int32
    assert P.values.data_ptr() == matrix.data.ctypes.data


def test_one_filter_of_ones_own_needs_no_list_and_split_takes_a_propagation_by_name():
    ring = operator_propagation(Graph.from_edges([(0, 1), (1, 2), (2, 0)]), "sym")
    path = operator_propagation(Graph.from_edges([(0, 1), (1, 2)]), "sym")
    learned = PolynomialFilter("bernstein", 3, width=2)
    layer = FilterBankLayer(4, 2, ring, channels=learned)
    assert layer.bank.filters["bernstein"] is learned
    x = torch.arange(12.0).reshape(3, 4)
    assert torch.equal(layer.split(x, propagation=path)["combined"], layer(x, path))
