"""Commands that train: what a search chose, models of one's own, and runs that are kept and extended."""

import json
import sys
from dataclasses import replace

import pytest

from gsp_fb.cli import main
from gsp_fb.datasets import contextual_sbm
from gsp_fb.nn import MODELS, models, read_metrics

QUICK = ("--epochs", "3", "--set", "hidden=4")
PLUGIN = """
import torch
from gsp_fb.nn import Model, register_model

def construct(context):
    return torch.nn.Linear(context.n_features, context.n_classes)

register_model(Model("plugged", "Plugged", construct, {}, {"lr": 0.05}, {"lr": (0.01, 0.1)}))
"""


@pytest.fixture(autouse=True)
def _data(monkeypatch):
    data = contextual_sbm(60, degree=6, n_features=5, n_splits=3, rng=0)
    monkeypatch.setattr("gsp_fb.cli.training.read_dataset", lambda name, args: data)


def printed(capsys, *argv):
    assert main([*map(str, argv), "--json"]) == 0
    return json.loads(capsys.readouterr().out)


def test_every_split_is_kept_and_extended(tmp_path, capsys):
    line = ("train", "fb-gcn", "blocks", "--set", "hidden=4", "-o", tmp_path)
    first = printed(capsys, *line, "--epochs", "3")
    assert [run["epochs"] for run in first["runs"]] == [3, 3, 3]
    assert {"split", "seed", "epochs", "best", "val", "test", "S", "E[S]", "seconds", "memory"} == set(first["runs"][0])
    longer = printed(capsys, *line, "--epochs", "6")
    assert [run["epochs"] for run in longer["runs"]] == [6, 6, 6]
    assert len(read_metrics(tmp_path / "split-2-seed-0")) == 6
    assert printed(capsys, *line, "--epochs", "6")["runs"][0]["test"] == longer["runs"][0]["test"]
    assert main([*map(str, line), "--epochs", "6", "--family", "sym"]) == 2
    assert "recipe.options.family: lazy_rw stored, sym given" in capsys.readouterr().err


def test_train_takes_what_a_search_chose(tmp_path, capsys):
    found = printed(capsys, "search", "gcn", "blocks", *QUICK, "--trials", "3", "-o", tmp_path)
    trained = printed(capsys, "train", "gcn", "blocks", "--from", tmp_path / "best.json", "--epochs", "2")
    assert trained["option"] == found["options"]
    assert trained["training"] == {**found["config"], "epochs": 2}
    assert main(["train", "mlp", "blocks", "--from", str(tmp_path / "best.json")]) == 2
    assert "is of model 'gcn', not 'mlp'" in capsys.readouterr().err
    (tmp_path / "best.json").write_text("{")
    assert main(["train", "gcn", "blocks", "--from", str(tmp_path / "best.json")]) != 0
    assert "holds no result of a search" in capsys.readouterr().err


def test_without_options_the_settings_of_the_row_are_compared(tmp_path, capsys, monkeypatch):
    short = replace(MODELS["fb-gcn"], training={**MODELS["fb-gcn"].training, "epochs": 3})
    monkeypatch.setitem(models._TABLE, "fb-gcn", short)
    line = ("train", "fb-gcn", "blocks", "--splits", "0,1", "-o", tmp_path)
    found = printed(capsys, *line)
    settings = [{name: row[name] for name in ("norm", "dropout", "hidden")} for row in found["compared"]]
    (other,) = short.alternatives
    assert settings == [{name: short.options[name] for name in other}, dict(other)]
    best = max(found["compared"], key=lambda row: row["val"])
    assert best["chosen"]
    assert found["option"] == {name: best[name] for name in other}
    assert sum(row["val"] for row in found["runs"]) / 2 == pytest.approx(best["val"])
    # What a directory holds goes on with its settings; whatever is stated is trained alone.
    again = printed(capsys, *line)
    assert (again["compared"], again["runs"][0]["test"]) == (found["compared"], found["runs"][0]["test"])
    longer = printed(capsys, *line, "--epochs", "5")
    assert (longer["option"], longer["runs"][0]["epochs"]) == (found["option"], 5)
    assert "compared" not in printed(capsys, *line[:-2], "--set", "hidden=4")
    assert main(["train", "gcn", "blocks", "-o", str(tmp_path)]) == 2
    assert "is of model 'fb-gcn', not 'gcn'" in capsys.readouterr().err


def test_a_plugin_brings_a_model(tmp_path, capsys, monkeypatch):
    (tmp_path / "my_models.py").write_text(PLUGIN)
    monkeypatch.chdir(tmp_path)
    monkeypatch.delitem(sys.modules, "my_models", raising=False)
    monkeypatch.setattr(sys, "path", list(sys.path))
    plugin = ("--plugin", "my_models")
    assert "plugged" in [row["name"] for row in printed(capsys, "models", *plugin)["models"]]
    printed(capsys, "train", "plugged", "blocks", *plugin, "--epochs", "2", "--splits", "0", "-o", tmp_path / "run")
    run = tmp_path / "run" / "split-0-seed-0"
    assert printed(capsys, "predict", run, "blocks", *plugin, "-o", tmp_path / "p.npy")["shape"] == "(60, 2)"
    assert main(["models", "--plugin", "no_such_module"]) == 2
    assert "--plugin no_such_module" in capsys.readouterr().err
