"""Putting models to use: metrics against scikit-learn, prediction from checkpoints, patching, searching."""

import json
from types import SimpleNamespace

import numpy as np
import pytest
import torch
from torch import nn

from gsp_fb import Graph, operator
from gsp_fb._kernels.torch_elementwise import kept
from gsp_fb.errors import ParameterError
from gsp_fb.nn import (
    MODELS,
    SparseMatrix,
    TrainConfig,
    build,
    embed,
    features,
    operator_propagation,
    patch,
    predict,
    search,
    train,
)
from gsp_fb.nn.parts import Dropout, stream
from gsp_fb.nn.targets import accuracy, losses, micro_f1, roc_auc

FEW = TrainConfig(lr=0.05, epochs=15, checkpoint_every=5)


# Metrics -----------------------------------------------------------------------------------------------------------


def test_metrics_are_those_of_scikit_learn():
    from sklearn import metrics

    rng = np.random.default_rng(0)
    logits = np.round(rng.normal(size=(60, 2)), 1)
    y = rng.integers(0, 2, 60)
    ours = torch.from_numpy(logits), torch.from_numpy(y)
    assert accuracy(*ours) == pytest.approx(metrics.accuracy_score(y, logits.argmax(1)))
    assert roc_auc(*ours) == pytest.approx(metrics.roc_auc_score(y, logits[:, 1] - logits[:, 0]))
    labels = rng.integers(0, 2, (60, 2))
    assert micro_f1(ours[0], torch.from_numpy(labels)) == pytest.approx(
        metrics.f1_score(labels, logits > 0, average="micro")
    )
    assert losses(*ours).mean() == pytest.approx(
        metrics.log_loss(y, np.exp(logits) / np.exp(logits).sum(1, keepdims=True))
    )


def test_several_labels_a_node_train_too(blocks):
    columns = np.stack([blocks.y == 0, blocks.y != 1], axis=1).astype(int)
    several = SimpleNamespace(**{**vars(blocks), "y": columns})
    config = TrainConfig(lr=0.02, epochs=60, metric="micro_f1", normalize=False)
    assert train(build("fb-gcn", several), several, several.splits[0], config).scores["train"] > 0.8


# Dropout -----------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("share", [1e-4, 0.1, 0.5, 0.9, 1.0])
def test_a_mask_keeps_its_share_of_places_and_a_mean_of_one(share):
    mask = kept((251, 4001), share, stream(0, "t"), torch.float64)
    there = (mask != 0).double()
    spread = (share * (1 - share) / mask.numel()) ** 0.5
    # The share itself is rounded to 16 bits; the scale is that of the rounded one.
    assert abs(float(there.mean()) - share) <= 5 * spread + 2**-17
    assert abs(float(mask.mean()) - 1.0) <= 5 * spread / share
    assert mask.unique().numel() == (1 if share == 1.0 else 2)


def test_places_of_a_mask_that_come_from_one_draw_are_independent():
    mask = (kept((100_000, 4), 0.3, stream(1, "t"), torch.float64) != 0).double()
    assert float((torch.corrcoef(mask.T) - torch.eye(4, dtype=torch.float64)).abs().max()) < 5 / 100_000**0.5


def test_dropout_keeps_the_mean_and_leaves_evaluation_alone(blocks):
    drop = Dropout(0.4, stream(0, "t"))
    x = torch.ones(200, 200)
    dropped = drop(x)
    assert float((dropped == 0).double().mean()) == pytest.approx(0.4, abs=0.01)
    assert float(dropped.mean()) == pytest.approx(1.0, abs=0.02)
    sparse_x = features(blocks.x)
    assert drop(sparse_x).values.shape == sparse_x.values.shape
    assert drop.eval()(x) is x


# Prediction --------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("name", ["fb-gcn", "fb-gat", "fb-gin-0", "fb-geom-gcn-p"])
def test_a_checkpoint_predicts_what_training_reported(name, blocks, rings, tmp_path):
    dataset = rings if MODELS[name].task == "graph" else blocks
    relations = getattr(dataset, "relations", None)
    split = dataset.splits[0]
    result = train(build(name, dataset, seed=3, relations=relations), dataset, split, FEW, directory=tmp_path)
    probabilities = predict(tmp_path, dataset, relations=relations)
    assert np.allclose(probabilities.sum(1), 1.0, atol=1e-5)
    correct = probabilities.argmax(1) == dataset.y
    for part in ("train", "val", "test"):
        assert correct[getattr(split, part)].mean() == pytest.approx(result.scores[part])
    parts = embed(tmp_path / "checkpoint.json", dataset, layer=0, relations=relations)
    assert set(parts) == {"low", "high", "combined"}
    assert len(parts["low"]) == dataset.graph.n_nodes


def test_prediction_takes_other_graphs_and_refuses_other_features(blocks, tmp_path):
    train(build("gcn", blocks), blocks, blocks.splits[0], FEW, directory=tmp_path)
    other = SimpleNamespace(graph=Graph.from_edges([(0, 1)]), x=np.ones((2, 24)), y=np.array([0, 2]))
    assert predict(tmp_path, other).shape == (2, 3)
    narrow = SimpleNamespace(graph=blocks.graph, x=blocks.x[:, :5], y=blocks.y)
    with pytest.raises(ParameterError, match="trained on 24 features; the data has 5"):
        predict(tmp_path, narrow)
    with pytest.raises(ParameterError, match="layer 7"):
        embed(tmp_path, blocks, layer=7)


# Patching ----------------------------------------------------------------------------------------------------------


class OwnLayer(nn.Module):
    """A one-channel layer as a user may have it."""

    def __init__(self, graph, n_in, n_out):
        super().__init__()
        self.lin = nn.Linear(n_in, n_out, bias=False)
        self.matrix = SparseMatrix.from_operator(operator(graph, "lazy_rw"))

    def forward(self, x):
        return self.matrix @ self.lin(x)


def test_a_patched_layer_with_equal_weights_is_its_linear_map(blocks):
    own = OwnLayer(blocks.graph, 24, 5)
    patched = patch(own, mixing=(1.0, 1.0))
    patched.high.load_state_dict(own.state_dict())
    x = torch.from_numpy(blocks.x.toarray()).float()
    assert torch.allclose(patched(x), own.lin(x), atol=1e-5)


def test_a_patched_layer_keeps_the_weights_and_draws_new_ones_for_the_copy(blocks):
    own = OwnLayer(blocks.graph, 24, 5)
    before = own.lin.weight.detach().clone()
    patched = patch(own)
    assert torch.equal(own.lin.weight, before)
    assert torch.equal(patched.low.lin.weight, before)
    assert not torch.equal(patched.high.lin.weight, before)
    assert patched.alphas().tolist() == [1.0, 1.0]


def test_patch_says_what_it_needs(blocks):
    with pytest.raises(ParameterError, match=r"Identity has no linear map.*transform="):
        patch(nn.Identity())
    wrong = patch(OwnLayer(blocks.graph, 24, 5), transform=lambda layer, x: x)
    with pytest.raises(ParameterError, match=r"returns \(61, 5\) but its linear map \(61, 24\)"):
        wrong(torch.from_numpy(blocks.x.toarray()).float())


def test_an_own_propagation_gets_its_second_channel(blocks):
    class Own:
        def __init__(self, graph):
            self.pair = operator_propagation(graph, "rw")

        def low(self, h):
            return self.pair.low(self.pair.low(h))

    from gsp_fb.nn import FilterBankLayer

    layer = FilterBankLayer(24, 4, Own(blocks.graph))
    layer(features(blocks.x)).sum().backward()
    assert float(layer.bank.mixing.logits.grad.abs().min()) > 0


# Search ------------------------------------------------------------------------------------------------------------

SPACE = {"lr": (0.001, 0.05), "dropout": (0.0, 0.5)}


def test_a_search_chooses_by_validation_and_goes_on_where_it_was(blocks, tmp_path):
    first = search("fb-gcn", blocks, blocks.splits, tmp_path, n_trials=3, space=SPACE, config=FEW, hidden=8)
    again = search("fb-gcn", blocks, blocks.splits, tmp_path, n_trials=3, space=SPACE, config=FEW, hidden=8)
    assert again == first
    more = search("fb-gcn", blocks, blocks.splits, tmp_path, n_trials=5, space=SPACE, config=FEW, hidden=8)
    assert (first.n_finished, more.n_finished) == (3, 4)  # the space has four combinations
    assert more.val_score >= first.val_score
    json.dumps(more.as_dict())
    config = TrainConfig(**more.config)
    run = train(build("fb-gcn", blocks, **more.options), blocks, blocks.splits[0], config)
    assert run.scores["val"] == pytest.approx(more.val_score)


def test_a_grid_is_exhausted_once(blocks, tmp_path):
    found = search("gcn", blocks, blocks.splits, tmp_path, n_trials=9, sampler="grid", space=SPACE, config=FEW)
    assert found.n_finished == 4


def test_the_test_items_do_not_influence_a_search(blocks, tmp_path):
    """Permuting the labels of all test nodes must not change what is chosen."""
    split = blocks.splits[0]
    y = blocks.y.copy()
    y[split.test] = (y[split.test] + 1) % 3
    other = SimpleNamespace(**{**vars(blocks), "y": y})
    results = [
        search("gcn", data, data.splits, tmp_path / str(k), n_trials=3, space=SPACE, config=FEW)
        for k, data in enumerate((blocks, other))
    ]
    assert results[0] == results[1]


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"space": {"learning_rate": (1,)}}, "unknown name in the search space 'learning_rate'"),
        ({"sampler": "tpee"}, "did you mean 'tpe'"),
        ({"n_trials": 0}, "n_trials"),
        ({"splits": []}, "at least one split"),
        ({"also": ["filter"]}, "unknown extra choice of gcn 'filter'"),
        ({"splits": [SimpleNamespace(train=[0], val=[], test=[])]}, "split 0 has no validation items"),
        ({"splits": [SimpleNamespace(train=[0], val=np.zeros(61, bool), test=[])]}, "split 0 has no validation items"),
    ],
)
def test_bad_searches_are_refused(options, message, blocks, tmp_path):
    arguments = {"splits": blocks.splits, **options}
    with pytest.raises(ParameterError, match=message):
        search("gcn", blocks, directory=tmp_path, **arguments)


def test_a_search_may_choose_the_family(blocks, tmp_path):
    found = search(
        "fb-gcn", blocks, blocks.splits, tmp_path, n_trials=2, space={}, also=("family",), config=FEW, sampler="grid"
    )
    assert found.options["family"] in MODELS["fb-gcn"].extra["family"]
    assert "relations" not in found.options


@pytest.mark.parametrize("name", MODELS)
def test_the_space_of_every_model_names_its_own_options(name):
    row = MODELS[name]
    known = {*row.options, *TrainConfig.__dataclass_fields__}
    assert {*row.space, *row.extra} <= known
    assert 64 in row.space["hidden"]
    assert row.task == "graph" or row.space["normalize"] == (True, False)
    assert set(row.extra) == {"family", "inverse"} & set(row.options)
    assert set(row.training) <= set(TrainConfig.__dataclass_fields__)
    TrainConfig(**row.training)
