"""The audit against truth: linear networks whose response is a known polynomial of the frequency."""

from types import SimpleNamespace

import numpy as np
import pytest
import torch
from scipy import sparse
from scipy.spatial.distance import pdist
from torch import nn

import gsp_fb as gf
from gsp_fb.nn import audit
from gsp_fb.nn.auditing import bands as bands_module
from gsp_fb.nn.auditing.bands import ChebyshevBands, ExactBands, make_bands
from gsp_fb.variants import VARIANTS

SIGMAS = 5.0


def random_graph(n=120, degree=6, seed=0):
    rng = np.random.default_rng(seed)
    pairs = np.unique(np.sort(rng.integers(0, n, (n * degree // 2, 2)), axis=1), axis=0)
    pairs = pairs[pairs[:, 0] != pairs[:, 1]]
    return gf.Graph.from_edges(pairs, rng.uniform(0.5, 2.0, len(pairs)), n_nodes=n)


def high(graph, family):
    return gf.operator(graph, family, channel="high")


def frequencies(op):
    """Eigenvalues from the dense matrix, without the library's solver."""
    return np.sort(np.linalg.eigvals(op.to_scipy().toarray()).real)


class Polynomial(nn.Module):
    """``sum_k c_k L^k X W``: a linear network whose response is the polynomial."""

    def __init__(self, op, coefficients, width=(3, 4), dtype=torch.float64, seed=0):
        super().__init__()
        generator = torch.Generator().manual_seed(seed)
        self.weight = nn.Parameter(torch.randn(*width, generator=generator, dtype=torch.float64).to(dtype))
        self.register_buffer("matrix", torch.from_numpy(op.to_scipy().toarray()).to(dtype))
        self.coefficients = coefficients

    @property
    def size(self):
        """Root mean square gain of the feature map."""
        return float(self.weight.detach().norm()) / self.weight.shape[0] ** 0.5

    def forward(self, x):
        power, total = x, 0.0
        for c in self.coefficients:
            total, power = total + c * power, self.matrix @ power
        return total @ self.weight


def expected_gain(values, at, edges, size=1.0):
    """Root mean square of the polynomial over the eigenvalues of each band; nan in an empty one."""
    band = np.clip(np.searchsorted(edges, at + 1e-12, side="right") - 1, 0, len(edges) - 2)
    squares = [np.square(values[band == b]) for b in range(len(edges) - 1)]
    return size * np.array([np.sqrt(each.mean()) if each.size else np.nan for each in squares])


def assert_gain(response, expected, rounding=1e-9):
    assert np.array_equal(np.isnan(response.gain), np.isnan(expected))
    there = ~np.isnan(expected)
    off = np.abs(response.gain - expected)[there]
    slack = rounding * np.nanmax(expected)
    assert np.all(off <= SIGMAS * response.error[there] + slack), (off, response.error[there])


def features(graph, width=3, seed=1):
    return np.random.default_rng(seed).normal(size=(graph.n_nodes, width))


@pytest.mark.parametrize("dtype", [torch.float32, torch.float64])
@pytest.mark.parametrize("family", VARIANTS)
def test_response_of_a_polynomial_filter_is_the_polynomial(family, dtype):
    graph = random_graph()
    op = high(graph, family)
    coefficients = (1.0, -0.8, 0.1) if family != "comb" else (1.0, -0.05)
    model = Polynomial(op, coefficients, dtype=dtype)
    found = audit(model, (graph, features(graph)), family=family).response
    at = frequencies(op)
    expected = expected_gain(np.polynomial.polynomial.polyval(at, coefficients), at, found.edges, model.size)
    assert found.method == "forward mode"
    assert_gain(found, expected, rounding=1e-9 if dtype == torch.float64 else 1e-4)
    assert np.nanmax(found.error / found.gain) < 0.5


@pytest.mark.parametrize("family", VARIANTS)
def test_a_filter_keeps_every_band_in_its_band(family):
    graph = random_graph(60)
    found = audit(Polynomial(high(graph, family), (1.0, -0.3)), (graph, features(graph)), family=family, probes=2)
    there = ~np.isnan(found.response.gain)
    assert np.allclose(found.mixing[there], np.eye(8)[there], atol=1e-9)


def test_without_feature_map_the_error_is_only_that_of_the_band():
    graph = random_graph(60)
    identity = audit(nn.Identity(), (graph, features(graph)), probes=3)
    there = ~np.isnan(identity.response.gain)
    assert np.allclose(identity.response.gain[there], 1.0)
    assert np.allclose(identity.response.error[there], 0.0, atol=1e-12)
    assert np.isclose(identity.response.low, 1.0)
    assert np.isclose(identity.response.high, 1.0)


@pytest.mark.parametrize(("name", "power"), [("SGConv", 3), ("GCNConv", 1)])
def test_linear_layers_of_pyg(name, power):
    conv = pytest.importorskip("torch_geometric.nn")
    torch.manual_seed(0)
    options = {"K": power} if name == "SGConv" else {}
    model = getattr(conv, name)(5, 4, **options).double()
    graph = gf.Graph.from_adjacency(random_graph().adjacency.astype(bool).astype(float))
    found = audit(model, (graph, features(graph, 5)), family="renorm_sym").response
    at = frequencies(high(graph, "renorm_sym"))
    weight = model.lin.weight.detach()
    assert_gain(found, expected_gain((1 - at) ** power, at, found.edges, float(weight.norm()) / 5**0.5))


@pytest.mark.parametrize("family", ["renorm_sym", "lazy_rw"])
def test_one_layer_of_our_gcn_without_activation(family):
    data = gf.datasets.contextual_sbm(150, rng=0)
    model = gf.nn.build("gcn", data, layers=1, family=family, dtype=torch.float64)
    found = audit(model, data, family=family)
    at = frequencies(high(data.graph, family))
    weight = max(model.parameters(), key=torch.Tensor.numel).detach()
    size = float(weight.norm()) / data.x.shape[1] ** 0.5
    assert_gain(found.response, expected_gain(1 - at, at, found.response.edges, size))
    assert_gain(found.layers[0].response, expected_gain(1 - at, at, found.response.edges, size))


def test_a_pure_mode_stays_one():
    graph = random_graph(80)
    op = high(graph, "sym")
    modes = gf.spectrum(op)
    for k in (3, 40, 79):
        at = float(modes.frequencies[k])
        model = nn.Sequential(Polynomial(op, (1.0, -0.4), width=(1, 2)))
        found = audit(model, (graph, modes.basis[:, k]), probes=2)
        (layer,) = found.layers
        band = np.searchsorted(found.response.edges, at, side="right") - 1
        assert np.isclose(layer.s_value, at)
        assert np.isclose(layer.profile.fraction[min(band, 7)], 1.0)
        assert np.isclose(found.input.s_value, at)
        assert np.isclose(layer.effective_rank, 1.0)
        assert np.isclose(layer.difference, 1.0)


def test_permuted_nodes_give_a_flat_response_above_the_constant_mode():
    graph = gf.datasets.contextual_sbm(400, degree=12.0, homophily=0.9, rng=0).graph
    order = np.random.default_rng(3).permutation(graph.n_nodes)
    other = gf.Graph.from_adjacency(sparse.csr_array(graph.adjacency[order][:, order]))
    model = Polynomial(high(graph, "renorm_sym").complement(), (0.0, 0.0, 1.0))
    x = features(graph)
    true, shuffled = (audit(model, (g, x), probes=32).response for g in (graph, other))
    there = np.flatnonzero(~np.isnan(shuffled.gain))[1:]  # the first band holds the constant mode
    assert len(there) == 6
    assert true.gain[there].max() / true.gain[there].min() > 20
    # A mode of the other graph is a random direction for this network: its mean gain is that of the trace.
    power = np.linalg.matrix_power(high(graph, "renorm_sym").complement().to_scipy().toarray(), 2)
    flat = model.size * np.sqrt((np.trace(power @ power) - 1.0) / (graph.n_nodes - 1))
    assert np.allclose(shuffled.gain[there], flat, rtol=0.1)


@pytest.mark.parametrize("family", ["sym", "rw", "renorm_sym"])
def test_an_mlp_passes_every_band_alike(family):
    graph = random_graph(300)
    torch.manual_seed(0)
    model = nn.Sequential(nn.Linear(6, 16), nn.ReLU(), nn.Linear(16, 3)).double()
    found = audit(model, (graph, features(graph, 6)), family=family)
    gain = found.response.gain[~np.isnan(found.response.gain)]
    assert gain.max() / gain.min() < 1.3
    assert "passes both halves alike" in found.verdict


def test_errors_shrink_with_the_root_of_the_number_of_probes():
    graph = random_graph()
    model = Polynomial(high(graph, "sym"), (1.0, -0.8, 0.1))
    data = (graph, features(graph))
    errors = {
        n: np.mean([np.nanmean(audit(model, data, probes=n, rng=seed).response.error) for seed in range(6)])
        for n in (16, 32)
    }
    assert 1.2 < errors[16] / errors[32] < 1.65


def test_the_stated_error_is_the_spread_over_seeds():
    graph = random_graph(60)
    model = Polynomial(high(graph, "sym"), (1.0, -0.8, 0.1))
    found = [audit(model, (graph, features(graph)), rng=seed, bands=4).response for seed in range(24)]
    spread = np.nanstd([response.gain for response in found], axis=0)
    stated = np.nanmean([response.error for response in found], axis=0)
    assert np.all((spread / stated > 0.6) & (spread / stated < 1.6))


def test_chebyshev_bands_agree_with_their_kernels(monkeypatch):
    graph = random_graph(500)
    op = high(graph, "sym")
    sharp = make_bands(op, 8)
    monkeypatch.setattr(bands_module, "EXACT_NODES", 10)
    soft = make_bands(op, 8)
    assert isinstance(sharp, ExactBands)
    assert isinstance(soft, ChebyshevBands)
    x = features(graph)
    assert np.isclose(soft.energies(x).sum(), np.square(x).sum(), rtol=1e-2)
    at, vectors = np.linalg.eigh(op.to_scipy().toarray())
    shares = np.square([kernel(at) for kernel in soft.bank.kernels])[:4].sum(axis=0)
    assert np.allclose(soft.low(x), vectors @ (shares[:, None] * (vectors.T @ x)), atol=5e-3)
    assert soft.halves.plan(x).order < 200
    assert np.allclose(soft.energies(x).sum(1), sharp.energies(x).sum(1), rtol=0.15, atol=0.02 * np.square(x).sum())
    model = Polynomial(op, (1.0, -0.8, 0.1))
    found = audit(model, (graph, x)).response
    at = frequencies(op)
    weights = np.square([kernel(at) for kernel in soft.bank.kernels])
    squares = np.polynomial.polynomial.polyval(at, model.coefficients) ** 2
    counts = weights.sum(axis=1)
    expected = np.where(counts > 0.05, model.size * np.sqrt(weights @ squares / np.maximum(counts, 1e-9)), np.nan)
    assert_gain(found, expected, rounding=5e-3)


@pytest.mark.parametrize("family", ["rw", "lazy_rw", "sym", "comb"])
def test_halves_and_bands_split_a_signal(family):
    graph = random_graph(70)
    op = high(graph, family)
    axis = make_bands(op, 5)
    x = features(graph)
    assert np.allclose(sum(axis.split(x)), x)
    assert np.allclose(axis.energies(x).sum(), np.square(np.asarray(op.scale)[:, None] * x).sum())
    assert np.allclose(axis.low(x), sum(axis.split(x)[:3]))


def test_results_do_not_depend_on_hooks_or_on_what_was_measured_before():
    data = gf.datasets.contextual_sbm(80, rng=0)
    model = gf.nn.build("fb-gcn", data)
    first = audit(model, data, probes=4)
    handle = model.layers[0].register_forward_hook(lambda *args: None)
    audit(model, data, probes=2, rng=5)
    again, one = audit(model, data, probes=4), audit(model, data, probes=4, layers=["layers.1"])
    handle.remove()
    assert np.array_equal(first.response.gain, again.response.gain, equal_nan=True)
    assert np.array_equal(first.response.gain, one.response.gain, equal_nan=True)
    assert np.array_equal(first.layers[1].response.gain, one.layers[0].response.gain, equal_nan=True)
    assert first.to_dict() == again.to_dict()


def test_the_model_is_left_as_it_was():
    data = gf.datasets.contextual_sbm(60, rng=0)
    model = gf.nn.build("gcn", data)
    model.train()
    model.layers[1].eval()
    before = {name: value.clone() for name, value in model.state_dict().items()}
    state, torch_state = model.generator.get_state(), torch.get_rng_state()
    audit(model, data, probes=2)
    assert all(torch.equal(before[name], value) for name, value in model.state_dict().items())
    assert all(parameter.grad is None for parameter in model.parameters())
    assert [model.training, model.layers[0].training, model.layers[1].training] == [True, True, False]
    assert not any(module._forward_hooks or module._forward_pre_hooks for module in model.modules())
    assert torch.equal(state, model.generator.get_state())
    assert torch.equal(torch_state, torch.get_rng_state())


@pytest.mark.parametrize("name", ["edgeless", "one node", "two components", "star", "badly scaled"])
def test_degenerate_graphs(name):
    graphs = {
        "edgeless": gf.Graph.from_edges(np.zeros((0, 2), dtype=int), n_nodes=4),
        "one node": gf.Graph.from_edges(np.zeros((0, 2), dtype=int), n_nodes=1),
        "two components": gf.Graph.from_edges([(0, 1), (1, 2), (3, 4)]),
        "star": gf.Graph.from_edges([(0, i) for i in range(1, 8)]),
        "badly scaled": gf.Graph.from_edges([(0, 1), (1, 2), (2, 3)], [1e-8, 1.0, 1e8]),
    }
    graph = graphs[name]
    found = audit(nn.Linear(2, 3).double(), (graph, features(graph, 2)), probes=2)
    assert np.isfinite(found.response.gain).any()
    assert found.verdict
    assert found.to_dict()["n_nodes"] == graph.n_nodes


def test_mean_average_distance_is_the_mean_over_pairs():
    from gsp_fb.nn.auditing.statistics import mean_average_distance

    h = features(random_graph(30), 4)
    assert np.isclose(mean_average_distance(h), pdist(h, "cosine").mean())


@pytest.mark.parametrize("family", VARIANTS)
def test_difference_is_the_norm_outside_the_null_space(family):
    from gsp_fb.nn.auditing.statistics import difference

    graph = gf.Graph.from_edges([(0, 1), (1, 2), (2, 0), (3, 4), (4, 5)], [1.0, 2.0, 0.5, 3.0, 1.0], n_nodes=7)
    op, h = high(graph, family), np.random.default_rng(0).normal(size=(7, 3))
    modes = gf.spectrum(op)
    c = modes.gft(h)
    above = modes.frequencies > 1e-9
    assert np.isclose(difference(op, h), np.linalg.norm(c[above]) / np.linalg.norm(c))


def test_effective_rank_of_known_spectra():
    q, _ = np.linalg.qr(np.random.default_rng(0).normal(size=(20, 4)))
    shares = np.array([4.0, 2.0, 1.0, 1.0]) / 8
    assert np.isclose(gf.effective_rank(q * 7.0), 4.0)
    assert np.isclose(gf.effective_rank(q * shares), np.exp(-(shares * np.log(shares)).sum()))
    assert np.isclose(gf.effective_rank(sparse.csr_array(q)), 4.0)
    with pytest.raises(gf.errors.SignalError, match="zero everywhere"):
        gf.effective_rank(np.zeros((3, 2)))


def test_a_linear_network_decays_as_the_eigengap_predicts():
    graph = random_graph(100)
    op = high(graph, "lazy_sym")
    low = op.complement().to_scipy().toarray()

    class Deep(nn.Module):
        def __init__(self):
            super().__init__()
            self.steps = nn.ModuleList(Polynomial(op, (1.0, -1.0), width=(3, 3)) for _ in range(4))
            for step in self.steps:
                step.weight.data = torch.eye(3, dtype=torch.float64)

        def forward(self, x):
            for step in self.steps:
                x = step(x)
            return x

    x = features(graph)
    found = audit(Deep(), (graph, x), family="lazy_sym", probes=2).oversmoothing
    values = np.sort(np.linalg.eigvalsh(low))
    rate = values[values < 1 - 1e-9][-1]
    assert np.isclose(found.rate, rate)
    # Oracle: powers of the dense matrix, and the projection onto its eigenvectors of eigenvalue 1.
    powers = [np.linalg.matrix_power(low, k) @ x for k in range(5)]
    vectors = np.linalg.eigh(low)[1][:, np.linalg.eigvalsh(low) > 1 - 1e-9]
    outside = [np.linalg.norm(h - vectors @ (vectors.T @ h)) / np.linalg.norm(h) for h in powers]
    assert np.allclose(found.differences, outside)
    assert np.allclose(found.linear, outside)
    assert np.allclose(found.predicted, outside[0] * rate ** np.arange(5))


def test_the_rate_of_a_large_graph_is_that_of_its_eigengap(monkeypatch):
    graph = random_graph(300, degree=14)
    assert graph.n_components == 1
    monkeypatch.setattr(bands_module, "EXACT_NODES", 10)
    found = audit(nn.Linear(3, 2).double(), (graph, features(graph)), family="lazy_sym", probes=2)
    assert np.isclose(found.oversmoothing.rate, 1 - frequencies(high(graph, "lazy_sym"))[1], rtol=0.02)


@pytest.mark.parametrize("family", ["sym", "renorm_sym", "rw", "comb"])
def test_a_layer_is_measured_as_numpy_measures_its_output(family):
    graph, torch_layer = random_graph(90), nn.Linear(3, 4).double()
    model, x = nn.Sequential(torch_layer, nn.Tanh(), nn.Linear(4, 2).double()), features(graph)
    layer = audit(model, (graph, x), family=family, probes=2).layers[0]
    h = torch_layer(torch.from_numpy(x)).detach().numpy()
    op = high(graph, family)
    weights = np.asarray(graph.degrees) if family == "rw" else np.ones(90)
    matrix = np.diag(weights) @ op.to_scipy().toarray()
    centred = h - h.mean(axis=0)
    singular = np.linalg.svd(h, compute_uv=False)
    shares = singular / singular.sum()
    for found, block in ((layer.s_value, h), (layer.s_value_centred, centred)):
        assert np.isclose(found, np.trace(block.T @ matrix @ block) / np.trace(block.T @ np.diag(weights) @ block))
    assert np.isclose(layer.effective_rank, np.exp(-(shares * np.log(shares)).sum()))
    assert np.isclose(layer.mean_average_distance, pdist(h, "cosine").mean())
    root = np.sqrt(weights)[:, None]
    at, vectors = np.linalg.eigh(root * op.to_scipy().toarray() / root.T)
    energies = np.square(vectors.T @ (root * h)).sum(axis=1)
    edges = np.linspace(*op.bounds, 9)
    band = np.clip(np.searchsorted(edges, at + 1e-9, side="right") - 1, 0, 7)
    assert np.allclose(layer.profile.fraction, np.bincount(band, energies, 8) / energies.sum(), atol=1e-6)


def test_what_a_layer_does_to_each_half_of_its_input():
    graph = random_graph()
    op = high(graph, "sym")
    first, second = Polynomial(op, (1.0, -0.5), width=(3, 4)), Polynomial(op, (0.1, 0.5), width=(4, 4), seed=1)
    found = audit(nn.Sequential(first, nn.ReLU(), second), (graph, features(graph)), probes=64)
    at = frequencies(op)
    for layer, row in zip((first, second), found.layers, strict=True):
        squares = np.square(np.polynomial.polynomial.polyval(at, layer.coefficients))
        for half, gain, error in (
            (at < 1, row.gain_low, row.response.low_error),
            (at >= 1, row.gain_high, row.response.high_error),
        ):
            assert abs(gain - layer.size * np.sqrt(squares[half].mean())) < SIGMAS * error
    assert found.layers[0].gain_low > found.layers[0].gain_high
    assert found.layers[1].gain_low < found.layers[1].gain_high


def test_mixing_of_a_network_that_mirrors_the_axis():
    """On a bipartite graph changing the sign of one side turns frequency f into 2 - f."""
    ring = gf.datasets.ring(64)

    class Mirror(nn.Module):
        def forward(self, x):
            return x * torch.tensor([1.0, -1.0], dtype=x.dtype).repeat(32)[:, None]

    # With seven bands no frequency of the ring lies on an edge.
    found = audit(Mirror(), (ring, features(ring)), bands=7, probes=2)
    assert np.allclose(found.mixing, np.eye(7)[::-1], atol=1e-9)
    assert np.allclose(found.response.gain, 1.0)


def test_data_as_a_namespace():
    graph = random_graph(30)
    data = SimpleNamespace(graph=graph, x=features(graph), y=np.arange(30) % 4)
    found = audit(nn.Linear(3, 4).double(), data, probes=2, nodes=np.arange(30) < 15)
    assert 0.0 <= found.accuracy <= 1.0
