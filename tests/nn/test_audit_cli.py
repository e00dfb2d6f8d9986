"""``gsp-fb audit`` on runs of ``gsp-fb train``."""

import json
import re

import pytest
import torch

import gsp_fb as gf
from gsp_fb.cli import main


@pytest.fixture
def run(monkeypatch, tmp_path, capsys):
    data = gf.datasets.contextual_sbm(60, degree=6, n_features=5, n_splits=2, rng=0)
    monkeypatch.setattr("gsp_fb.datasets.load", lambda name, **options: data)
    monkeypatch.setattr("gsp_fb.datasets.info", lambda name: data.info)
    config = gf.nn.TrainConfig(epochs=4)
    gf.nn.train(gf.nn.build("gcn", data), data, data.splits[1], config, directory=tmp_path / "out" / "split-1-seed-0")
    (tmp_path / "out" / "summary.json").write_text(json.dumps({"data set": "blocks"}))
    return tmp_path / "out" / "split-1-seed-0"


def printed(capsys, *argv, code=0):
    assert main(["audit", *map(str, argv), "--probes", "2", "--bands", "4"]) == code
    return capsys.readouterr()


def test_tables_and_verdict(run, capsys):
    out = printed(capsys, run).out
    assert "layers.1" in out
    assert "half of the features" in out
    assert "blocks" in out


def test_json_is_one_object_with_the_fields_of_the_audit(run, capsys):
    found = json.loads(printed(capsys, run, "--json").out)
    assert found["data set"] == "blocks"
    assert len(found["audit"]["response"]["gain"]) == 4
    assert len(found["audit"]["response"]["edges"]) == 5
    assert {"layers", "dependence", "oversmoothing", "verdict", "suggestions"} <= set(found["audit"])
    assert {row["where"] for row in found["audit"]["dependence"]} == {"input", "layers.1"}


@pytest.mark.parametrize("part", ["", "..", "checkpoint.json"])
def test_a_run_a_training_and_a_checkpoint_are_understood(run, part, capsys):
    assert json.loads(printed(capsys, run / part, "--json").out)["audit"]["model"] == "gcn"


def test_page(run, tmp_path, capsys):
    printed(capsys, run, "-o", tmp_path / "page.html")
    page = (tmp_path / "page.html").read_text(encoding="utf-8")
    assert page.startswith("<!doctype html>")
    assert page.count("<img") == 3
    assert "http" not in page
    assert "<script" not in page


def test_refusals(run, tmp_path, capsys):
    assert "ends in .html" in printed(capsys, run, "-o", tmp_path / "page.pdf", code=2).err
    assert "holds no run" in printed(capsys, tmp_path / "nothing", code=3).err
    (run.parent / "summary.json").unlink()
    assert "give --dataset" in printed(capsys, run, code=2).err


@pytest.mark.slow
def test_the_page_of_figures_is_written_by_its_command(monkeypatch, tmp_path):
    from paper import audit as page

    data = gf.datasets.contextual_sbm(60, degree=6, n_features=5, n_splits=1, rng=0)
    monkeypatch.setattr("gsp_fb.datasets.load", lambda name, **options: data)
    monkeypatch.setattr(page, "DEPTHS", (2, 3))
    monkeypatch.setattr(page, "SEEDS", (0, 1))
    # The blocks have no public split, and the page takes the first one.
    options = ["--epochs", "2", "--depth-epochs", "3", "--datasets", "two_blocks", "--pictures", str(tmp_path)]
    assert page.main([*options, "-o", str(tmp_path / "p.md")]) == 0
    text = (tmp_path / "p.md").read_text(encoding="utf-8")
    assert text.count("\n| ") == 2 * (2 + 4) + (2 + 2 * 3)
    assert "at most 2 epochs" in text
    assert text.count(", best") == 2
    assert "The largest class holds" in text
    assert "of 1 |" in text  # splits whose peak lies in the upper half
    assert f"torch {torch.__version__}" in text
    assert re.search(r"`python -m paper\.audit --epochs 2 .*` at commit ([0-9a-f]{40}|None)", text)
    assert (tmp_path / "audit-two-blocks.png").read_bytes().startswith(b"\x89PNG")
