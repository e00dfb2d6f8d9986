"""The table of models: every row builds, commutes with relabelling, trains, and is one argument from its baseline."""

from itertools import pairwise
from types import SimpleNamespace

import numpy as np
import pytest
import torch

from gsp_fb import Graph
from gsp_fb.datasets import contextual_sbm
from gsp_fb.datasets.unions import tag_features
from gsp_fb.errors import GraphError, ParameterError
from gsp_fb.filters.heat_basis import heat_wavelets
from gsp_fb.nn import (
    MODELS,
    GraphBatch,
    Model,
    TrainConfig,
    build,
    describe,
    features,
    models,
    n_parameters,
    parameter_groups,
    register_model,
    train,
)
from gsp_fb.nn.channels import channel_names
from gsp_fb.nn.parts import Norm, stream
from gsp_fb.nn.samplers import SaintSampler, sampled_mean
from gsp_fb.sampling.subgraphs import random_walks

NODE = [name for name, row in MODELS.items() if row.task == "node"]
GRAPH = [name for name, row in MODELS.items() if row.task == "graph"]
SMALL = {"hidden": 18, "dropout": 0.0}


def make(name, dataset, **options):
    known = MODELS[name].options
    small = {key: value for key, value in {**SMALL, "depth": 4}.items() if key in known}
    relations = getattr(dataset, "relations", None)
    return build(name, dataset, relations=relations, **{**small, **options})


def inputs(name, dataset, dtype=torch.float32):
    if name in NODE:
        return features(dataset.x, dtype=dtype)
    tags = np.ones((dataset.graph.n_nodes, 1))
    return GraphBatch.of(dataset.graph, dataset.graph_indptr, tags, dtype=dtype)


def test_the_table_lists_the_models_of_the_paper():
    shallow = ["mlp", "gcn", "gat", "graphsage", "graphsaint", "geom-gcn-p", "geom-gcn-s", "geom-gcn-i", "gwnn"]
    base = [*shallow, "gcnii", "gcnii*", "gin-0", "gin-eps"]
    learnable = ["acm-gcn", "gprgnn", "bernnet", "chebnetii", "jacobiconv"]
    assert list(MODELS) == [*base, *(f"fb-{name}" for name in base[1:]), *learnable]
    assert [row["name"] for row in describe()] == list(MODELS)


@pytest.mark.parametrize("name", [name for name in MODELS if name.startswith("fb-")])
def test_a_filterbank_with_its_low_channel_alone_is_the_baseline(name, blocks, rings):
    dataset = blocks if name in NODE else rings
    bank = make(name, dataset, channels="low", seed=5).eval()
    options = {key: value for key, value in MODELS[name].options.items() if key in ("family", "gamma")}
    baseline = make(name.removeprefix("fb-"), dataset, seed=5, **options).eval()
    x = inputs("gcn", dataset) if name in NODE else _tags(dataset)
    assert torch.equal(bank(x), baseline(x))


def _tags(dataset):
    from gsp_fb.datasets.unions import tag_features

    return GraphBatch.of(dataset.graph, dataset.graph_indptr, tag_features(dataset))


@pytest.mark.parametrize("name", NODE)
def test_relabelling_the_nodes_relabels_the_output(name, blocks):
    order = np.random.default_rng(3).permutation(blocks.graph.n_nodes)
    place = np.argsort(order)
    A = blocks.graph.adjacency[order][:, order]
    moved = SimpleNamespace(
        name="moved",
        graph=Graph.from_adjacency(A),
        x=blocks.x[order],
        y=blocks.y[order],
        relations=SimpleNamespace(**{**vars(blocks.relations), "pairs": place[blocks.relations.pairs]}),
    )
    first, second = (make(name, data, seed=1, dtype=torch.float64).eval() for data in (blocks, moved))
    state = first.state_dict()
    if "gwnn" in name:  # the gains belong to the nodes and move with them
        state = {key: value[order] if key.endswith("gain") else value for key, value in state.items()}
    second.load_state_dict(state)
    with torch.no_grad():
        here, there = first(inputs(name, blocks, torch.float64)), second(inputs(name, moved, torch.float64))
    assert torch.allclose(here[order], there, atol=1e-9)


@pytest.mark.parametrize("name", [name for name in MODELS if name.startswith("fb-")])
def test_a_second_channel_about_doubles_the_parameters(name, blocks, rings):
    dataset = blocks if name in NODE else rings
    ratio = n_parameters(make(name, dataset)) / n_parameters(make(name.removeprefix("fb-"), dataset))
    assert 1.3 < ratio < 2.1  # the root maps of GraphSAGE and the node gains of GWNN are not doubled


@pytest.mark.parametrize("name", MODELS)
def test_every_model_beats_chance_as_it_is_trained_by_default(name, blocks, rings):
    dataset = blocks if name in NODE else rings
    model = build(name, dataset, relations=getattr(dataset, "relations", None))
    config = TrainConfig(**MODELS[name].training, epochs=200, patience=200)
    result = train(model, dataset, dataset.splits[0], config)
    majority = np.bincount(dataset.y).max() / len(dataset.y)
    assert result.scores["train"] > majority + 0.4
    assert (result.scores["val"] + result.scores["test"]) / 2 > majority + 0.3


@pytest.mark.parametrize("name", MODELS)
def test_channels_and_alphas_of_every_model(name, blocks, rings):
    dataset = blocks if name in NODE else rings
    model = make(name, dataset)
    x = inputs(name, dataset) if name in NODE else _tags(dataset)
    splits = model.channels(x)
    names = channel_names(MODELS[name].options.get("channels", "low"))
    assert all(tuple(part) == (*names, "combined", "shares") for part in splits)
    assert model.channel_names == names
    # The spatial pair adds up to twice the identity.
    start = 0.5 if name == "fb-graphsage" else 1.0
    assert torch.equal(model.alphas(), torch.full((len(splits) if name.startswith("fb-") else 0, 2), start))
    shares = model.shares(x)
    assert shares.shape == (len(splits), len(names))
    assert torch.allclose(shares.sum(-1), torch.ones(len(splits)))


STACKED = [name for name, row in MODELS.items() if "residual" in row.options]


@pytest.mark.parametrize("norm", ["none", "layer", "batch"])
@pytest.mark.parametrize("residual", [False, True])
@pytest.mark.parametrize("name", STACKED)
def test_every_stack_has_depth_residuals_and_norms(name, residual, norm, blocks):
    model = make(name, blocks, layers=3, residual=residual, norm=norm, input_dropout=0.2)
    x = inputs(name, blocks)
    model(x).square().sum().backward()
    assert all(parameter.grad is not None for parameter in model.parameters())
    assert len(model.channels(x)) == 3
    assert model.input_dropout.rate == 0.2


@pytest.mark.parametrize("norm", ["layer", "batch"])
def test_norms_are_torchs(norm):
    theirs = torch.nn.LayerNorm(5) if norm == "layer" else torch.nn.BatchNorm1d(5)
    h = torch.randn(9, 5, generator=torch.Generator().manual_seed(0))
    assert torch.allclose(Norm(norm, 5)(h), theirs(h), atol=1e-6)


def test_a_residual_stack_is_the_formula(blocks):
    model = make("gcn", blocks, residual=True, norm="layer", dtype=torch.float64).eval()
    x = inputs("gcn", blocks, torch.float64)
    h = torch.relu(model.lift(x))
    for layer in model.layers:
        h = h + layer(h)
    assert torch.allclose(model(x), model.head(h))
    one = model.layers[0]
    assert torch.allclose(one(h), torch.relu(one.norm(one.propagation.low(h @ one.lift.weight) + one.bias)))


@pytest.mark.parametrize("name", [name for name in STACKED if "channels" in MODELS[name].options])
@pytest.mark.parametrize("channels", [("low", "identity"), ["low", "high", "identity"], "high"])
def test_every_stack_takes_any_channels(name, channels, blocks):
    model = make(name, blocks, channels=channels)
    model(inputs(name, blocks)).sum().backward()
    names = channel_names(channels)
    assert model.channel_names == names
    assert model.shares(inputs(name, blocks)).shape == (2, len(names))


def test_a_gcn_with_an_identity_channel_trains(blocks):
    model = build("gcn", blocks, channels=("low", "identity"))
    result = train(model, blocks, blocks.splits[0], TrainConfig(lr=0.05, epochs=60, normalize=False))
    assert result.scores["train"] > 0.9
    assert {"alpha_low_1", "alpha_identity_2"} <= set(result.history[-1])


@pytest.mark.parametrize("name", ["acm-gcn", "fb-gcn", "fb-gcnii", "fb-gin-0"])
def test_shares_in_the_metrics_are_those_of_the_network(name, blocks, rings):
    data = rings if MODELS[name].task == "graph" else blocks
    model = build(name, data, hidden=8)
    config = TrainConfig(epochs=3, normalize=False)
    result = train(model, data, data.splits[0], config)
    x = GraphBatch.of(data.graph, data.graph_indptr, tag_features(data)) if data is rings else inputs(name, data)
    shares = model.shares(x)
    np.testing.assert_allclose(result.shares, shares, atol=1e-6)
    row = result.history[result.best_epoch - 1]
    for layer, expected in enumerate(shares.tolist(), 1):
        found = [row[f"share_{channel}_{layer}"] for channel in model.channel_names]
        np.testing.assert_allclose(found, expected, atol=1e-6)
        assert sum(found) == pytest.approx(1.0)


def test_one_channel_has_no_columns_of_shares(blocks):
    result = train(build("gcn", blocks), blocks, blocks.splits[0], TrainConfig(epochs=2))
    assert result.shares == []
    assert not any(name.startswith("share") for name in result.history[0])


def test_a_row_of_ones_own_is_built_by_name_and_cannot_hide_the_packages(blocks):
    def construct(plan):
        assert {plan.graph.n_nodes, plan.n_features, plan.n_classes} == {61, 24, 3}
        return torch.nn.Linear(plan.n_features, plan.n_classes, bias=plan.options["bias"])

    row = Model("own-linear", "Own", construct, {"bias": False})
    try:
        assert build(register_model(row).name, blocks, bias=True).bias is not None
        assert "own-linear" in [entry["name"] for entry in describe()]
        with pytest.raises(ParameterError, match="'gcn' is one of the package's own"):
            register_model(Model("gcn", "Own", construct, {}))
        with pytest.raises(ParameterError, match="not dict"):
            register_model({})
    finally:
        models._TABLE.pop("own-linear", None)


def test_alphas_have_a_group_without_weight_decay(blocks):
    model = make("fb-gcn", blocks)
    decayed, free = parameter_groups(model, 0.5)
    assert decayed["weight_decay"] == 0.5
    assert free["weight_decay"] == 0.0
    assert [tuple(p.shape) for p in free["params"]] == [(2,), (2,)]
    assert len(decayed["params"]) + len(free["params"]) == len(list(model.parameters()))


def test_the_high_channel_pays_under_heterophily_and_costs_nothing_under_homophily():
    scores = {}
    for homophily in (0.1, 0.9):
        ds = contextual_sbm(300, 3, degree=10, homophily=homophily, n_features=16, signal=1.0, rng=1)
        for name in ("gcn", "fb-gcn"):
            runs = [
                train(build(name, ds, dropout=0.3), ds, split, TrainConfig(lr=0.02, epochs=150, normalize=False))
                for split in ds.splits[:3]
            ]
            scores[name, homophily] = np.mean([run.scores["test"] for run in runs])
    assert scores["fb-gcn", 0.1] > scores["gcn", 0.1] + 0.05
    assert scores["fb-gcn", 0.9] > scores["gcn", 0.9] - 0.05


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"hiden": 3}, "unknown option of fb-gcn 'hiden'.*did you mean 'hidden'"),
        ({"family": "gcn"}, "unknown family"),
        ({"channels": "hihg"}, "did you mean 'high'"),
        ({"transformation": "x"}, "transformation"),
        ({"order": "x"}, "order"),
        ({"norm": "x"}, "norm"),
        ({"mixing": "x"}, "mixing"),
        ({"residual": 1}, "residual must be True or False"),
        ({"input_dropout": 1.0}, "input_dropout"),
        ({"layers": 0}, "layers must be an integer >= 1"),
        ({"hidden": 0}, "hidden"),
        ({"seed": -1}, "seed"),
        ({"gamma": -1.0}, "gamma"),
    ],
)
def test_bad_options_name_the_value(options, message, blocks):
    with pytest.raises(ParameterError, match=message):
        build("fb-gcn", blocks, **options)


def test_unknown_models_list_the_known(blocks):
    with pytest.raises(ParameterError, match=r"unknown model 'fb-gnc'.*did you mean 'fb-gcn'"):
        build("fb-gnc", blocks)


@pytest.mark.parametrize("name", ["gat", "graphsaint"])
def test_models_with_own_parameters_refuse_copies(name, blocks):
    with pytest.raises(ParameterError, match="copies"):
        make(name, blocks, copies=(2,))


def test_geom_gcn_says_that_it_needs_relations(blocks):
    nameless = SimpleNamespace(graph=blocks.graph, x=blocks.x, y=blocks.y)
    with pytest.raises(ParameterError, match="relations="):
        build("geom-gcn-p", nameless)


def test_geom_gcn_reads_its_relations_where_the_data_is(blocks, monkeypatch):
    asked = []

    def stored(name, method, *, data_dir=None):
        asked.append((name, method, data_dir))
        return blocks.relations

    monkeypatch.setattr("gsp_fb.datasets.relations", stored)
    build("fb-geom-gcn-s", blocks, data_dir="/some/where", hidden=4)
    assert asked == [("blocks", "struc2vec", "/some/where")]


@pytest.mark.parametrize("node", [-1, 61])
def test_relations_of_absent_nodes_are_refused(node, blocks):
    wrong = SimpleNamespace(pairs=np.array([[0], [node]]), space=np.array([0]), relation=np.array([0]))
    with pytest.raises(GraphError, match=f"name node {node} but the graph has 61 nodes"):
        build("geom-gcn-p", blocks, relations=wrong)


def test_geom_gcn_relations_are_the_sum_over_divisions(blocks):
    """With one weight for all divisions the layer is D^-1/2 (A_relations + I) D^-1/2."""
    from gsp_fb.datasets.divisions import relation_matrix
    from gsp_fb.nn import SparseMatrix
    from gsp_fb.nn.propagation.operators import RelationPropagation

    n = blocks.graph.n_nodes
    A = np.zeros((n, n))
    np.add.at(A, tuple(blocks.relations.pairs), 1.0)
    A += np.eye(n)
    scale = A.sum(1) ** -0.5
    matrix = SparseMatrix.from_scipy(relation_matrix(blocks.relations, n), dtype=torch.float64)
    mean = RelationPropagation(matrix, average=True)
    h = torch.from_numpy(np.random.default_rng(0).normal(size=(n, 2)))
    expected = scale[:, None] * A * scale @ h.numpy() / 9
    assert np.allclose(mean.low(h.repeat(1, 9)).numpy(), expected)


# GWNN --------------------------------------------------------------------------------------------------------------


def test_wavelets_are_the_matrix_exponential_and_its_inverse(blocks):
    from scipy.linalg import expm

    from gsp_fb import operator

    L = operator(blocks.graph, "sym", channel="high").to_scipy().toarray()
    psi, inverse = heat_wavelets(blocks.graph, 1.0, 0.0)
    assert np.allclose(psi.toarray(), expm(-L), atol=1e-9)
    assert np.allclose((psi @ inverse).toarray(), np.eye(len(L)), atol=1e-8)
    cut, _ = heat_wavelets(blocks.graph, 1.0, 1e-2)
    assert cut.nnz < psi.nnz
    assert np.abs(cut.data).min() >= 1e-2


def test_the_published_pair_of_wavelets_is_that_of_overwritten_eigenvalues(blocks):
    """GWNN's code turns its eigenvalues into exp(-s lambda) in place, then takes exp(s lambda) of what it finds."""
    from gsp_fb import operator

    L = operator(blocks.graph, "sym", channel="high").to_scipy().toarray()
    lamb, U = np.linalg.eigh(L)
    matrices = []
    for sign in (-0.7, 0.7):
        lamb[:] = np.exp(sign * lamb)
        matrices.append(U * lamb @ U.T)
    left, right = heat_wavelets(blocks.graph, 0.7, 0.0, inverse="published")
    assert np.allclose(right.toarray(), matrices[0], atol=1e-9)
    assert np.allclose(left.toarray(), matrices[1], atol=1e-9)
    with pytest.raises(ParameterError, match="did you mean 'exact'"):
        build("gwnn", blocks, inverse="exat")


# Samplers ----------------------------------------------------------------------------------------------------------


def test_sampled_neighbours_are_neighbours_and_at_most_fanout(blocks):
    M = sampled_mean(blocks.graph, 2, stream(0, "t")).csr.to_dense().numpy()
    assert np.all((M > 0) <= (blocks.graph.adjacency.toarray() > 0))
    assert (M > 0).sum(1).max() == 2
    sums = M.sum(1)
    assert np.allclose(sums[blocks.graph.degrees > 0], 1.0)
    assert np.all(sums[blocks.graph.degrees == 0] == 0.0)


def test_sampled_means_are_right_on_average(blocks):
    generator = stream(0, "t")
    draws = [sampled_mean(blocks.graph, 3, generator).csr.to_dense() for _ in range(600)]
    A = blocks.graph.adjacency.toarray()
    mean = A / np.maximum(A.sum(1, keepdims=True), 1)
    assert np.allclose(torch.stack(draws).mean(0).numpy(), mean, atol=0.1)


def test_walks_follow_edges(blocks):
    walks = random_walks(blocks.graph, np.arange(blocks.graph.n_nodes), 4, np.random.default_rng(0))
    A = blocks.graph.adjacency.toarray() + np.diag(blocks.graph.degrees == 0)
    assert all(A[i, j] for walk in walks for i, j in pairwise(walk))


def test_saint_estimates_the_loss_and_the_aggregation_without_bias(blocks):
    sampler = SaintSampler(blocks.graph, stream(0, "t"), n_roots=10, coverage=400)
    train_nodes = torch.arange(20)
    value = np.random.default_rng(0).normal(size=blocks.graph.n_nodes)
    losses, sums = [], np.zeros(blocks.graph.n_nodes)
    counts = np.zeros(blocks.graph.n_nodes)
    for _ in range(150):
        for batch in sampler.batches(train_nodes):
            nodes = batch.nodes.numpy()
            losses.append(float((torch.from_numpy(value[nodes])[batch.targets] * batch.weights).sum()))
            sums[nodes] += batch.propagation.low(torch.from_numpy(value[nodes])[:, None])[:, 0].numpy()
            counts[nodes] += 1
    assert np.mean(losses) == pytest.approx(value[:20].mean(), abs=0.05)
    expected = sampler.subgraphs.mean @ value
    assert np.allclose((sums / counts), expected, atol=0.25)


def test_graph_batches_are_the_graphs_themselves(rings):
    x = np.random.default_rng(0).normal(size=(rings.graph.n_nodes, 3))
    chosen = [5, 0, 17]
    batch = GraphBatch.of(rings.graph, rings.graph_indptr, x, chosen, dtype=torch.float64)
    spans = [slice(rings.graph_indptr[g], rings.graph_indptr[g + 1]) for g in chosen]
    expected = np.stack([x[span].sum(0) for span in spans])
    assert np.allclose((batch.readout @ batch.x).numpy(), expected)
    A = rings.graph.adjacency.toarray()
    from scipy.linalg import block_diag

    assert np.array_equal(batch.adjacency.csr.to_dense().numpy(), block_diag(*(A[span, span] for span in spans)))


def test_an_edge_between_two_graphs_is_refused(rings):
    cut = rings.graph_indptr.copy()
    cut[4] += 2
    with pytest.raises(GraphError, match=r"edge \(\d+, \d+\) joins two graphs"):
        GraphBatch.of(rings.graph, cut, np.ones((rings.graph.n_nodes, 1)), [1, 4, 3])
