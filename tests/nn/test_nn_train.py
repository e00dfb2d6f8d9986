"""The training loop: what it chooses, what it writes, and what it does without a validation part."""

import csv
import json
import math
from types import SimpleNamespace

import numpy as np
import pytest
import torch

from gsp_fb import operator, s_value
from gsp_fb.nn import TrainConfig, build, features, read_checkpoint, read_metrics, train
from gsp_fb.nn.metrics import losses


def test_the_chosen_epoch_is_the_one_of_least_validation_loss(blocks):
    result = train(build("fb-gcn", blocks), blocks, blocks.splits[0], TrainConfig(lr=0.05, epochs=120, patience=20))
    course = [row["val_loss"] for row in result.history]
    assert result.best_epoch == int(np.argmin(course)) + 1
    assert result.losses["val"] == pytest.approx(min(course), rel=1e-6)
    assert result.epochs in (120, result.best_epoch + 20)


def test_the_model_is_left_in_the_chosen_state(blocks):
    model = build("fb-gcn", blocks, dropout=0.2)
    split = blocks.splits[0]
    result = train(model, blocks, split, TrainConfig(lr=0.05, epochs=60, normalize=False))
    with torch.no_grad():
        logits = model.eval()(features(blocks.x))
    y = torch.from_numpy(blocks.y)
    assert float(losses(logits[split.val], y[split.val]).mean()) == pytest.approx(result.losses["val"])
    assert result.s_value == pytest.approx(
        s_value(operator(blocks.graph, "renorm_sym", channel="high"), logits), rel=1e-5
    )
    assert np.allclose(model.alphas(), result.alphas)


def test_without_validation_the_last_epoch_is_chosen_and_test_is_recorded(blocks):
    split = SimpleNamespace(**{**vars(blocks.splits[0]), "val": []})
    result = train(build("gcn", blocks), blocks, split, TrainConfig(epochs=12, patience=3))
    assert result.best_epoch == result.epochs == 12
    assert math.isnan(result.scores["val"])
    assert result.history[-1]["test_accuracy"] == result.scores["test"]


def test_a_run_with_validation_records_nothing_of_the_test_part(blocks):
    result = train(build("gcn", blocks), blocks, blocks.splits[0], TrainConfig(epochs=3))
    assert not any("test" in name for name in result.history[0])


def test_the_files_of_a_run(blocks, tmp_path):
    model = build("fb-gcn", blocks)
    result = train(model, blocks, blocks.splits[0], TrainConfig(epochs=7), directory=tmp_path / "new" / "run")
    folder = tmp_path / "new" / "run"
    with (folder / "metrics.csv").open() as file:
        rows = list(csv.DictReader(file))
    assert [row["epoch"] for row in rows] == [str(k) for k in range(1, 8)]
    assert rows == read_metrics(folder)
    assert {name: float(value) for name, value in rows[3].items()} == result.history[3]
    expected = {"epoch", "train_loss", "train_accuracy", "val_loss", "val_accuracy", "s_value"}
    assert expected | {f"alpha_{c}_{k}" for c in ("low", "high") for k in (1, 2)} == set(rows[0])
    facts = read_checkpoint(folder).facts
    assert facts["finished"]
    assert facts["recipe"]["model"] == "fb-gcn"
    assert facts["data"]["graph"] == blocks.graph.sha256
    assert {"gsp_fb", "torch", "numpy"} <= set(facts["versions"])
    assert len(list(folder.glob("*.safetensors"))) == 1
    json.dumps(result.as_dict())


def test_seeds_decide_everything(blocks):
    config = TrainConfig(epochs=10)
    first, again, other = (
        train(build("fb-gcn", blocks, seed=seed), blocks, blocks.splits[0], config).history for seed in (0, 0, 1)
    )
    assert first == again
    assert first != other


def test_a_bar_is_shown_when_asked_for(blocks, capsys):
    train(build("gcn", blocks), blocks, blocks.splits[0], TrainConfig(epochs=3), progress=True)
    assert "3/3" in capsys.readouterr().err


def test_sampled_training_evaluates_on_the_whole_graph(blocks):
    model = build("fb-graphsage", blocks, fanout=2, dropout=0.0)
    result = train(model, blocks, blocks.splits[0], TrainConfig(lr=0.02, epochs=80))
    assert result.scores["test"] > 0.5
    x = features(blocks.x, normalize=True)
    assert torch.equal(model(x), model(x))
