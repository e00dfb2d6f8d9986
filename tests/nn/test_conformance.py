"""Every one-channel row of the model table is the published network, given the same weights.

``python tests/nn/test_conformance.py`` writes the table of ``docs/conformance.md``.
"""

from pathlib import Path

import numpy as np
import pytest
import torch
from scipy.special import comb, eval_jacobi
from torch import nn

from gsp_fb import Graph
from gsp_fb.filters.heat_basis import heat_wavelets
from gsp_fb.nn import MODELS, GraphBatch, build
from gsp_fb.nn.parts import stream
from gsp_fb.nn.samplers import SaintSampler

PAGE = Path(__file__).parents[2] / "docs" / "conformance.md"
N, F, C = 30, 12, 3
DOUBLE = torch.float64
relu = torch.relu


def dataset():
    """No loops and no isolated node: there the policies of the libraries agree."""
    rng = np.random.default_rng(0)
    pairs = {(i, i + 1) for i in range(N - 1)} | {tuple(sorted(p)) for p in rng.integers(0, N, (40, 2)) if p[0] != p[1]}
    graph = Graph.from_edges(sorted((int(i), int(j)) for i, j in pairs), duplicates="first")
    near, far = np.stack(graph.adjacency.nonzero()), rng.integers(0, N, (2, 60))
    pairs = np.unique(np.concatenate([near, far], axis=1), axis=1)
    m = pairs.shape[1]

    class Data:
        pass

    data = Data()
    data.graph, data.x, data.y, data.name = graph, rng.random((N, F)), np.arange(N) % C, "conformance"
    data.edges = torch.from_numpy(np.stack(graph.adjacency.nonzero())).long()
    data.A = torch.from_numpy(graph.adjacency.toarray())
    data.relations = Data()
    data.relations.pairs, data.relations.space = pairs, rng.integers(0, 2, m)
    data.relations.relation = rng.integers(0, 4, m)
    return data


@pytest.fixture(scope="module")
def data():
    return dataset()


@pytest.fixture(scope="module")
def x(data):
    return torch.from_numpy(data.x)


def randomised(model):
    """Return the network in evaluation, its biases and gains drawn too: a zero would hide its place."""
    generator = torch.Generator().manual_seed(1)
    with torch.no_grad():
        for parameter in model.parameters():
            parameter.add_(0.3 * torch.randn(parameter.shape, generator=generator, dtype=DOUBLE))
    return model.eval()


def made(name, data, **options):
    sources = {"relations": data.relations} if "geom" in name else {}
    return randomised(build(name, data, dtype=DOUBLE, hidden=18, **sources, **options))


def linear(W, b=None):
    layer = nn.Linear(*W.shape, bias=b is not None).double()
    with torch.no_grad():
        layer.weight.copy_(W.T)
        if b is not None:
            layer.bias.copy_(b)
    return layer


def mlp(data, x):
    model = made("mlp", data)
    first, second = (linear(layer.lift.weight, layer.bias) for layer in model.layers)
    return model(x), second(relu(first(x)))


def _pyg():
    return pytest.importorskip("torch_geometric.nn")


def gcn(data, x):
    model, convs = made("gcn", data), []
    for layer in model.layers:
        conv = _pyg().GCNConv(*layer.lift.weight.shape).double()
        with torch.no_grad():
            conv.lin.weight.copy_(layer.lift.weight.T)
            conv.bias.copy_(layer.bias)
        convs.append(conv)
    return model(x), convs[1](relu(convs[0](x, data.edges)), data.edges)


def gat(data, x):
    model, h = randomised(build("gat", data, dtype=DOUBLE, hidden=5, heads=4)), x
    for layer, last in zip(model.layers, (False, True), strict=True):
        attention = layer.propagation
        size = attention.to_node.shape[1]
        conv = _pyg().GATConv(layer.lift.weight.shape[0], size, heads=attention.heads, concat=not last).double()
        with torch.no_grad():
            conv.lin.weight.copy_(layer.lift.weight.T)
            conv.att_src.copy_(attention.from_node[None])
            conv.att_dst.copy_(attention.to_node[None])
            conv.bias.copy_(layer.bias)
        h = conv(h, data.edges) if last else nn.functional.elu(conv(h, data.edges))
    return model(x), h


def graphsage(data, x):
    model, h = made("graphsage", data), x
    for layer, act in zip(model.layers, (relu, nn.Identity()), strict=True):
        conv = _pyg().SAGEConv(*layer.lift.weight.shape).double()
        with torch.no_grad():
            conv.lin_l.weight.copy_(layer.lift.weight.T)
            conv.lin_l.bias.copy_(layer.bias)
            conv.lin_r.weight.copy_(layer.root.weight.T)
        h = act(conv(h, data.edges))
    return model(x), h


def _message_weights(sampler, A, seed):
    """Return C_v / C_uv, counted over the subgraphs that the sampler itself drew before training."""
    generator = stream(seed, "t")
    rng = np.random.default_rng(int(torch.randint(2**62, (1,), generator=generator)))
    nodes, pairs = np.zeros(N), np.zeros((N, N))
    for _ in range(sampler.subgraphs.n_subgraphs):
        marks = sampler.subgraphs.draw(rng)
        nodes += marks
        pairs += np.outer(marks, marks)
    return np.where(A > 0, nodes[:, None] / np.maximum(pairs, 1), 0.0)


def graphsaint(data, x):
    """Zeng et al. 2020, Eq. 1-2: on a subgraph, messages divided by C_uv / C_v; on the whole graph, plain means."""
    model = randomised(build("graphsaint", data, dtype=DOUBLE, hidden=18, n_roots=6, coverage=200))
    sampler = SaintSampler(data.graph, stream(0, "t"), n_roots=6, length=2, coverage=200)
    batch = next(sampler.batches(torch.arange(N)))
    nodes = batch.nodes.numpy()
    means = data.A / data.A.sum(1, keepdim=True)
    inside = means.numpy() * _message_weights(sampler, data.A.numpy(), seed=0)
    inside = inside[np.ix_(nodes, nodes)]
    ours, theirs = [], []
    for M, rows, propagation in ((means, x, None), (torch.from_numpy(inside), x[batch.nodes], batch.propagation)):
        ours.append(model(rows, propagation))
        h = rows
        for layer, act in zip(model.layers, (relu, nn.Identity()), strict=True):
            h = act(M @ h @ layer.lift.weight + h @ layer.root.weight + layer.bias)
        theirs.append(h)
    return torch.cat(ours), torch.cat(theirs)


def geom_gcn(data, x):
    """Pei et al. 2020, Eq. 3-4: W_d per division, messages / sqrt(deg_v deg_u), divisions joined, at last averaged."""
    model, h = made("geom-gcn-p", data), x
    division = data.relations.space * 4 + data.relations.relation
    A = torch.zeros(9, N, N, dtype=DOUBLE)
    A[division, data.relations.pairs[0], data.relations.pairs[1]] = 1.0
    A[8] = torch.eye(N)
    degrees = A.sum((0, 2))
    scale = (degrees[:, None] * degrees[None]) ** -0.5
    for layer, last in zip(model.layers, (False, True), strict=True):
        parts = [scale * A[d] @ (h @ W) for d, W in enumerate(layer.lift.weight.chunk(9, dim=1))]
        h = torch.stack(parts).mean(0) + layer.bias if last else relu(torch.cat(parts, 1) + layer.bias)
    return model(x), h


def gwnn(data, x):
    """Xu et al. 2019, Eq. 8: psi_s diag(g) psi_s^-1 X W, wavelets thresholded."""
    model, h = made("gwnn", data), x
    psi, inverse = (torch.from_numpy(basis.toarray()) for basis in heat_wavelets(data.graph, 1.0, 1e-4))
    for layer, act in zip(model.layers, (relu, nn.Identity()), strict=True):
        gain = layer.propagation.gain
        h = act(psi @ (gain * (inverse @ (h @ layer.lift.weight))) + layer.bias)
    return model(x), h


def gcnii(data, x, star=False):
    name = "gcnii*" if star else "gcnii"
    model = made(name, data, depth=3, alpha=0.2, lambda_=1.5)
    h = h_0 = relu(linear(model.lift.weight, model.lift.bias)(x))
    for position, block in enumerate(model.layers, 1):
        conv = _pyg().GCN2Conv(18, 0.2, theta=1.5, layer=position, shared_weights=not star).double()
        with torch.no_grad():
            conv.weight1.copy_(block.filtered[0].weight)
            if star:
                conv.weight2.copy_(block.initial[0].weight)
        h = relu(conv(h, h_0, data.edges))
    return model(x), linear(model.head.weight, model.head.bias)(h)


def gin(data, x, name="gin-0"):
    graphs = type(data)()
    graphs.graph, graphs.graph_indptr, graphs.x, graphs.y = data.graph, np.array([0, N]), data.x, np.array([1])
    model = randomised(build(name, graphs, dtype=DOUBLE, hidden=8, layers=2, concat=False))
    batch = GraphBatch.of(data.graph, graphs.graph_indptr, data.x, dtype=DOUBLE)
    h = x
    for layer in model.layers:
        conv = _pyg().GINConv(layer.maps[0])
        conv.eps = layer.eps
        h = relu(layer.norm(conv(h, data.edges)))
    return model(batch), linear(model.head.weight, model.head.bias)(h.sum(0, keepdim=True))


def polynomial(name, terms):
    def check(data, x):
        model, K = made(name, data, degree=5), 5
        h = x
        for position, layer in enumerate(model.layers, 1):
            h = linear(layer.lift.weight, layer.bias)(h)
            h = relu(h) if position < len(model.layers) else h
        A = data.A + torch.eye(N) if name == "gprgnn" else data.A
        P = A * (A.sum(1)[:, None] * A.sum(0)[None]) ** -0.5
        learned = model.filtering.learned
        values, vectors = np.linalg.eigh(P.numpy())
        out = 0
        for k, response in enumerate(terms(K, 1.0 - values)):
            B = torch.from_numpy(vectors * response @ vectors.T)
            out = out + B @ h * learned.coefficients()[k]
        return model(x), out

    check.__doc__ = terms.__doc__
    return check


def gprgnn(K, f):
    """Chien et al. 2021, Eq. 2: sum_k gamma_k P^k H, P with self-loops."""
    return [(1 - f) ** k for k in range(K + 1)]


def bernnet(K, f):
    """He et al. 2021, Eq. 4: sum_k theta_k C(K, k) / 2^K (2I - L)^(K-k) L^k H, theta rectified."""
    return [comb(K, k) / 2**K * (2 - f) ** (K - k) * f**k for k in range(K + 1)]


def chebnetii(K, f):
    """He et al. 2022, Eq. 11: 2/(K+1) sum_k' sum_j gamma_j T_k(x_j) T_k(L - I) H, halved at k = 0, gamma rectified."""
    points = np.cos((np.arange(K + 1) + 0.5) * np.pi / (K + 1))[::-1]
    T = [lambda t, k=k: np.cos(k * np.arccos(np.clip(t, -1, 1))) for k in range(K + 1)]
    return [2 / (K + 1) * sum(T[k](x) * T[k](f - 1) / (1 + (k == 0)) for k in range(K + 1)) for x in points]


def jacobiconv(K, f):
    """Wang and Zhang 2022, Eq. 9: sum_k alpha_kl P_k^(1,1)(A) (X W)_l, a coefficient a column, no nonlinearity."""
    return [eval_jacobi(k, 1, 1, 1 - f) for k in range(K + 1)]


# Row of the table: oracle, where the oracle is from, and the function that compares.
FORMULA = "formula in the test"
CONFORMANCE = {
    "mlp": ("torch.nn.Linear", "torch", mlp),
    "gcn": ("GCNConv", "PyG", gcn),
    "gat": ("GATConv", "PyG", gat),
    "graphsage": ("SAGEConv", "PyG", graphsage),
    "graphsaint": ("Zeng et al. 2020, Eq. 1-2", FORMULA, graphsaint),
    **{f"geom-gcn-{k}": ("Pei et al. 2020, Eq. 3-4", FORMULA, geom_gcn) for k in "psi"},
    "gwnn": ("Xu et al. 2019, Eq. 8", FORMULA, gwnn),
    "gcnii": ("GCN2Conv", "PyG", gcnii),
    "gcnii*": ("GCN2Conv(shared_weights=False)", "PyG", lambda data, x: gcnii(data, x, star=True)),
    "gin-0": ("GINConv", "PyG", gin),
    "gin-eps": ("GINConv", "PyG", lambda data, x: gin(data, x, "gin-eps")),
    "gprgnn": ("Chien et al. 2021, Eq. 2", FORMULA, polynomial("gprgnn", gprgnn)),
    "bernnet": ("He et al. 2021, Eq. 4", FORMULA, polynomial("bernnet", bernnet)),
    "chebnetii": ("He et al. 2022, Eq. 11", FORMULA, polynomial("chebnetii", chebnetii)),
    "jacobiconv": ("Wang and Zhang 2022, Eq. 9", FORMULA, polynomial("jacobiconv", jacobiconv)),
}


@pytest.mark.parametrize("name", CONFORMANCE)
def test_a_one_channel_row_is_the_published_network(name, data, x):
    ours, theirs = CONFORMANCE[name][2](data, x)
    assert ours.shape == theirs.shape
    assert torch.allclose(ours, theirs, atol=1e-9, rtol=1e-9)
    assert ours.numel() == 1 or float(ours.detach().std()) > 1e-3


def test_every_one_channel_row_is_compared():
    two = {name for name in MODELS if name.startswith("fb-")}
    assert set(CONFORMANCE) == set(MODELS) - two - {"acm-gcn"}  # its layer is compared in test_nn_layer_laws.py


def table():
    """Return the table of the page."""
    rows = [
        f"| `{name}` | {row.title} | {CONFORMANCE[name][0]} | {CONFORMANCE[name][1]} |"
        for name, row in MODELS.items()
        if name in CONFORMANCE
    ]
    return "\n".join(["| model | network | equals | oracle |", "|---|---|---|---|", *rows])


def test_the_page_holds_the_table():
    assert table() in PAGE.read_text(encoding="utf-8")


if __name__ == "__main__":
    start, end = "<!-- table -->\n", "\n<!-- end -->"
    before, _, rest = PAGE.read_text(encoding="utf-8").partition(start)
    PAGE.write_text(before + start + table() + end + rest.partition(end)[2], encoding="utf-8")
