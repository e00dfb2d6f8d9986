"""Torch's customs: networks move, cast, copy, pickle, compile, export and are differentiated like any other module."""

import copy
import pickle

import numpy as np
import pytest
import torch
from hypothesis import given, settings
from safetensors.torch import load_model, save_model
from scipy import special

import gsp_fb as gf
from gsp_fb.errors import ParameterError
from gsp_fb.filters.polynomials import BASES
from gsp_fb.nn import MODELS, FilterBankLayer, PolynomialFilter, build, features, filter_signal, operator_propagation
from gsp_fb.nn.propagation.polynomial import PolynomialPropagation
from gsp_fb.testing import families, graphs

NODE = [name for name, row in MODELS.items() if row.task == "node"]
# One of every kind of propagation and of channels.
KINDS = ["fb-gcn", "fb-gat", "graphsage", "fb-geom-gcn-p", "fb-gwnn", "fb-gcnii*", "acm-gcn", "jacobiconv"]


def make(name, dataset, **options):
    small = {key: value for key, value in {"hidden": 9, "depth": 3}.items() if key in MODELS[name].options}
    return build(name, dataset, relations=dataset.relations, **small, **options)


@pytest.fixture
def x(blocks):
    return torch.from_numpy(blocks.x.toarray()).float()


@pytest.mark.parametrize("name", NODE)
def test_fault_137_networks_cast_and_run_under_autocast(name, blocks, x):
    model = make(name, blocks).eval()
    exact = make(name, blocks).double().eval()(x.double())
    assert exact.dtype == torch.float64
    assert torch.allclose(exact.float(), model(x), atol=1e-4)
    assert torch.allclose(make(name, blocks).bfloat16().eval()(x.bfloat16()).float(), model(x), atol=0.2)
    with torch.autocast("cpu", dtype=torch.bfloat16):
        loss = model(x).float().square().sum()
    loss.backward()
    assert all(torch.isfinite(p.grad).all() for p in model.parameters() if p.grad is not None)


def test_fault_137_precisions_that_differ_are_named_before_computing(blocks):
    pair = operator_propagation(blocks.graph)
    with pytest.raises(ParameterError, match=r"features are torch.float64 but the matrix torch.float32"):
        pair.low(torch.ones(blocks.graph.n_nodes, 2, dtype=torch.float64))


@pytest.mark.parametrize("name", NODE)
def test_copies_pickles_and_files_are_independent_and_equal(name, blocks, x, tmp_path):
    model = make(name, blocks, seed=1).eval()
    before = model(x)
    twins = [copy.deepcopy(model), pickle.loads(pickle.dumps(model)), make(name, blocks, seed=2).eval()]
    save_model(model, tmp_path / "model.safetensors")
    load_model(twins[2], tmp_path / "model.safetensors")
    assert not any("indptr" in key or "values" in key for key in model.state_dict())
    with torch.no_grad():
        for parameter in model.parameters():
            parameter.zero_()
    assert all(torch.equal(twin(x), before) for twin in twins)


@pytest.mark.parametrize("name", NODE)
def test_fault_138_another_propagation_is_honoured_or_refused(name, blocks, x):
    model = make(name, blocks).eval()
    with torch.no_grad():
        for parameter in model.parameters():
            parameter.add_(0.1 * torch.randn(parameter.shape, generator=torch.Generator().manual_seed(0)))
    n = blocks.graph.n_nodes
    ring = operator_propagation(gf.Graph.from_edges([(i, (i + 1) % n) for i in range(n)]), "sym")
    if "geom" in name:
        with pytest.raises(ParameterError, match="averages 9 blocks, the given propagation 1"):
            model(x, propagation=ring)
    else:
        assert not torch.allclose(model(x, propagation=ring), model(x), atol=1e-4)


@pytest.mark.parametrize("name", KINDS)
def test_networks_compile_whole_and_export(name, blocks, x):
    torch._dynamo.reset()
    model = make(name, blocks, dropout=0.5).eval()
    compiled = torch.compile(model, fullgraph=True, backend="aot_eager")
    assert torch.allclose(compiled(x), model(x), atol=1e-5)
    program = torch.export.export(model, (x,))
    assert torch.allclose(program.module()(x), model(x), atol=1e-5)


@pytest.mark.parametrize("name", ["fb-gcn", "fb-gat"])
def test_compiled_training_draws_what_plain_training_draws(name, blocks):
    torch._dynamo.reset()
    plain, fast = (make(name, blocks, dropout=0.5, seed=3) for _ in range(2))
    compiled = torch.compile(fast, fullgraph=True, backend="aot_eager")
    for dense in (features(blocks.x), features(blocks.x.toarray())):
        outputs = [model(dense) for model in (plain, compiled)]
        assert torch.allclose(*outputs, atol=1e-5)
        grads = [
            torch.autograd.grad(out.sum(), list(model.parameters()))
            for out, model in zip(outputs, (plain, fast), strict=True)
        ]
        assert all(torch.allclose(a, b, atol=1e-5) for a, b in zip(*grads, strict=True))


@pytest.mark.parametrize("name", NODE)
def test_vmap_jvp_and_vjp_agree(name, blocks, x):
    """The three see one Jacobian: u' (J t) = (J' u)' t, and a batch is its signals one by one."""
    model, x = make(name, blocks, dtype=torch.float64).eval(), x.double() + 0.1
    t, u = (torch.randn(x.shape, generator=torch.Generator().manual_seed(k), dtype=torch.float64) for k in (0, 1))
    out, forward = torch.func.jvp(model, (x,), (t,))
    (backward,) = torch.func.vjp(model, x)[1](u[:, : out.shape[1]])
    left, right = (forward * u[:, : out.shape[1]]).sum(), (backward * t).sum()
    assert float(left.detach()) == pytest.approx(float(right.detach()), rel=1e-8, abs=1e-10)
    batch = torch.stack([x, t])
    assert torch.allclose(torch.func.vmap(model)(batch), torch.stack([model(x), model(t)]), atol=1e-10)
    several = torch.func.vmap(lambda v: torch.func.jvp(model, (x,), (v,))[1])(batch)
    assert torch.allclose(several[1], forward, atol=1e-10)


def test_fault_136_torchs_seed_decides_the_weights_of_a_public_layer(blocks):
    pair = operator_propagation(blocks.graph)
    torch.manual_seed(3)
    first, second = (FilterBankLayer(4, 2, pair, mixing="node") for _ in range(2))
    torch.manual_seed(3)
    again = FilterBankLayer(4, 2, pair, mixing="node")
    assert not torch.equal(first.lift.weight, second.lift.weight)
    assert all(torch.equal(a, b) for a, b in zip(first.parameters(), again.parameters(), strict=True))
    models = [build("acm-gcn", blocks, seed=5) for _ in range(2)]
    assert all(torch.equal(a, b) for a, b in zip(*(m.parameters() for m in models), strict=True))


# Learnable filters -------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("basis", BASES)
@pytest.mark.parametrize("family", ["sym", "renorm_rw", "lazy_sym"])
def test_a_learnable_filter_is_its_response_at_the_eigenvalues(basis, family, blocks):
    L = gf.operator(blocks.graph, family, channel="high")
    values, vectors = np.linalg.eig(L.to_scipy().toarray())
    learned = PolynomialFilter(basis, 7, width=2).double()
    with torch.no_grad():
        for parameter in learned.parameters():
            parameter.copy_(torch.randn(parameter.shape, generator=torch.Generator().manual_seed(1)))
    pair = PolynomialPropagation(operator_propagation(blocks.graph, family, dtype=torch.float64), learned)
    h = np.random.default_rng(0).normal(size=(blocks.graph.n_nodes, 2))
    response = learned.response(values.real)
    response = response if response.ndim == 2 else response[:, None]
    expected = (vectors @ (response * np.linalg.solve(vectors, h))).real
    assert np.allclose(pair.low(torch.from_numpy(h)).detach().numpy(), expected, atol=1e-9)


def test_learnable_filters_start_where_their_papers_do():
    f = np.linspace(0.0, 2.0, 9)
    assert np.allclose(PolynomialFilter("bernstein").response(f), 1.0)
    assert np.allclose(PolynomialFilter("chebyshev").response(f), 1.0, atol=1e-6)
    pagerank = sum(0.1 * 0.9**k * (1 - f) ** k for k in range(10)) + 0.9**10 * (1 - f) ** 10
    assert np.allclose(PolynomialFilter("monomial").response(f), pagerank, atol=1e-6)


def test_jacobis_filter_starts_at_the_papers_sum():
    """Wang and Zhang's start: ratios ``scale * tanh(min(1, 1 / scale))`` of successive polynomials, weights 1."""
    f, a, b, scale = np.linspace(0.0, 2.0, 9), -0.75, 0.25, 0.5
    ratio = scale * np.tanh(1.0)
    expected = sum(ratio**k * special.eval_jacobi(k, a, b, 1.0 - f) for k in range(11))
    found = PolynomialFilter("jacobi", width=2, a=a, b=b, scale=scale).response(f)
    assert np.allclose(found, expected[:, None], atol=1e-5)


@pytest.mark.parametrize("basis", BASES)
def test_the_coefficients_of_a_slow_filter_start_alike_and_move_so_much_slower(basis):
    steps = []
    for rate in (1.0, 0.02):
        learned = PolynomialFilter(basis, 4, width=2, rate=rate)
        start = learned.coefficients().detach().clone()
        assert torch.allclose(start, PolynomialFilter(basis, 4, width=2).coefficients(), rtol=1e-6)
        optimizer = torch.optim.Adam([learned.theta], lr=0.01)
        learned.coefficients().square().sum().backward()
        optimizer.step()
        steps.append((start - learned.coefficients().detach()).abs())
    assert torch.allclose(steps[1], 0.02 * steps[0], rtol=1e-2)


def test_the_dropout_of_a_filter_acts_on_what_it_filters(blocks, x):
    model = build("bernnet", blocks, dropout=0.0, filter_dropout=0.5)
    still = build("bernnet", blocks, dropout=0.0)
    assert not torch.allclose(model(x), still(x))
    assert torch.equal(model.eval()(x), still.eval()(x))
    with pytest.raises(ParameterError, match="filter_dropout must be in"):
        build("bernnet", blocks, filter_dropout=1.0)
    with pytest.raises(ParameterError, match="filter_rate must be finite and > 0"):
        build("bernnet", blocks, filter_rate=0.0)


def test_the_response_of_a_model_is_that_of_its_filter(blocks):
    assert build("gprgnn", blocks).response([0.0, 2.0]).shape == (2,)
    assert build("jacobiconv", blocks).response([0.0, 2.0]).shape == (2, 3)
    with pytest.raises(ParameterError, match="0 learnable filters"):
        build("gcn", blocks).response([0.0])
    with pytest.raises(ParameterError, match="normalised family, not 'comb'"):
        build("gprgnn", blocks, family="comb")


@settings(max_examples=10)
@given(graphs(min_nodes=2), families())
def test_gradients_flow_through_a_filter_bank(graph, family):
    bank = gf.FilterBank(gf.operator(graph, family, channel="high"), [gf.filters.heat(0.5), gf.filters.low_pass()])
    x = torch.randn(
        graph.n_nodes, 2, generator=torch.Generator().manual_seed(0), dtype=torch.float64, requires_grad=True
    )
    out = filter_signal(bank, x)
    assert np.array_equal(out.detach().numpy(), bank.analyze(x.detach().numpy()))
    u = torch.randn(out.shape, generator=torch.Generator().manual_seed(1), dtype=torch.float64)
    (grad,) = torch.autograd.grad(out, x, u, retain_graph=True)
    eye = np.eye(graph.n_nodes)
    dense = np.moveaxis(bank.analyze(eye), -1, 0)
    expected = sum(G.T @ u[..., m].numpy() for m, G in enumerate(dense))
    scale = 1 + np.abs(dense).max()
    assert np.allclose(grad.numpy(), expected, atol=1e-6 * scale)


@pytest.mark.parametrize("q", [None, 0.25])
def test_gradients_flow_through_the_bank_itself(q):
    """A tensor that requires a gradient stays one, and a real signal becomes complex where the weights are."""
    arcs = gf.Graph.from_edges([(0, 1), (1, 2), (2, 0), (2, 3)], n_nodes=5, directed=True)
    graph = gf.Graph.from_adjacency(arcs.adjacency, symmetrize="max") if q is None else arcs.magnetic(q)
    bank = gf.FilterBank(gf.operator(graph, "rw", channel="high"), gf.filters.regular())
    x = torch.arange(10.0, dtype=torch.float64).reshape(5, 2).requires_grad_()
    c = bank.analyze(x)
    assert np.array_equal(c.detach().numpy(), bank.analyze(x.detach().numpy()))
    again = bank.synthesize(c)
    assert torch.allclose(again, x.to(again.dtype), atol=1e-9)
    (grad,) = torch.autograd.grad(again.real.square().sum(), x)
    assert torch.allclose(grad, 2 * x, atol=1e-8)


def test_a_filter_bank_under_the_transforms_of_torch(blocks):
    bank = gf.FilterBank(gf.operator(blocks.graph, "rw", channel="high"), [gf.filters.heat(0.5), gf.filters.low_pass()])
    x, t = (torch.randn(61, generator=torch.Generator().manual_seed(k), dtype=torch.float64) for k in (0, 1))
    run = lambda x: filter_signal(bank, x)  # noqa: E731
    assert torch.allclose(torch.func.jvp(run, (x,), (t,))[1], run(t))
    assert torch.allclose(torch.func.vmap(run)(torch.stack([x, t])), torch.stack([run(x), run(t)]), atol=1e-7)
    jacobian = torch.func.jacrev(lambda x: run(x).sum(-1))(x)
    assert torch.allclose(jacobian @ t, run(t).sum(-1), atol=1e-6)
    with pytest.raises(ParameterError, match="takes a FilterBank"):
        filter_signal(object(), x)
    with pytest.raises(ParameterError, match="tensor on the CPU"):
        filter_signal(bank, np.ones(61))
