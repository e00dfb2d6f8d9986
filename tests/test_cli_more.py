"""The commands that filter and train, run as a user runs them, on data made here."""

import json
import os
import re
import signal
import subprocess
import sys

import numpy as np
import pytest

import gsp_fb as gf
from gsp_fb.cli import main
from gsp_fb.cli.filtering import parse_kernel
from gsp_fb.errors import ParameterError
from gsp_fb.filters import KERNELS

QUICK = ["--epochs", "6", "--splits", "0,1", "--set", "hidden=4"]


@pytest.fixture
def ring(tmp_path):
    gf.write_graph(gf.datasets.ring(24), tmp_path / "ring.npz")
    np.save(tmp_path / "x.npy", np.cos(2 * np.pi * np.arange(24) / 24))
    return tmp_path / "ring.npz"


@pytest.fixture
def blocks(monkeypatch):
    """Let the command line find a small block model under the name of a data set."""
    data = gf.datasets.contextual_sbm(60, degree=6, n_features=5, n_splits=3, rng=0)
    monkeypatch.setattr("gsp_fb.cli.training.read_dataset", lambda name, args: data)
    return data


def result(capsys, *argv, code=0):
    assert main([*map(str, argv), "--json"]) == code
    return json.loads(capsys.readouterr().out)


def test_filter_a_pure_tone(ring, tmp_path, capsys):
    argv = ["filter", ring, "--signal", tmp_path / "x.npy", "--kernel", "heat:tau=2", "-o", tmp_path / "c.npy"]
    found = result(capsys, *argv, "--plot", tmp_path / "bank.png")
    gain = np.exp(-2 * (1 - np.cos(2 * np.pi / 24)))
    assert found["filters"][0]["share"] == pytest.approx(gain**2, rel=1e-8)
    assert np.allclose(np.load(tmp_path / "c.npy")[:, 0], gain * np.load(tmp_path / "x.npy"))
    assert (tmp_path / "bank.png").read_bytes().startswith(b"\x89PNG")


def test_profile_of_a_pure_tone(ring, tmp_path, capsys):
    argv = ["profile", ring, "--signal", tmp_path / "x.npy", "--bins", "4", "--plot", tmp_path / "profile.svg"]
    bands = result(capsys, *argv)["bands"]
    assert [round(band["share"], 12) for band in bands] == [1.0, 0.0, 0.0, 0.0]
    assert b"<svg" in (tmp_path / "profile.svg").read_bytes()


@pytest.mark.parametrize("text", ["heat:tau", "heat:speed=3", "heat:tau=x"])
def test_kernels_that_are_no_specification(text):
    with pytest.raises(ParameterError, match="option=value"):
        parse_kernel(text)


@pytest.mark.parametrize("name", ["low_pass", "high_pass", "meyer", "itersine", "held"])
def test_kernels_by_name_alone(name):
    assert name in KERNELS
    assert parse_kernel(name)


def test_the_channels_of_a_model_are_words(capsys):
    assert main(["models"]) == 0
    printed = capsys.readouterr().out
    assert re.search(r"^acm-gcn .* low, high, identity$", printed, re.MULTILINE)
    assert re.search(r"^bernnet .* polynomial$", printed, re.MULTILINE)
    assert max(map(len, printed.splitlines())) <= 80


def test_models_lists_every_row(capsys):
    names = {row["name"] for row in result(capsys, "models")["models"]}
    base = {"gcn", "gat", "graphsage", "graphsaint", "geom-gcn-p", "geom-gcn-s", "geom-gcn-i", "gwnn"}
    base |= {"gcnii", "gcnii*", "gin-0", "gin-eps"}
    learnable = {"acm-gcn", "gprgnn", "bernnet", "chebnetii", "jacobiconv"}
    assert names == {"mlp"} | base | {f"fb-{name}" for name in base} | learnable


def test_train_resume_predict_embed(blocks, tmp_path, capsys):
    first = result(capsys, "train", "fb-gcn", "blocks", *QUICK, "--family", "lazy_rw", "-o", tmp_path / "run")
    assert (first["splits"], len(first["runs"]), first["option"]["family"]) == (2, 2, "lazy_rw")
    again = result(capsys, "train", "fb-gcn", "blocks", *QUICK, "--family", "lazy_rw", "-o", tmp_path / "run")
    assert [row["test"] for row in again["runs"]] == [row["test"] for row in first["runs"]]
    assert json.loads((tmp_path / "run" / "summary.json").read_text())["test mean"] == again["test mean"]
    run = tmp_path / "run" / "split-0-seed-0"
    result(capsys, "predict", run, "blocks", "-o", tmp_path / "p.npy")
    assert np.allclose(np.load(tmp_path / "p.npy").sum(axis=1), 1.0, atol=1e-5)
    result(capsys, "embed", run, "blocks", "-o", tmp_path / "e.npz")
    assert set(np.load(tmp_path / "e.npz")) == {"low", "high", "combined"}


def test_train_together_with_seeds(blocks, capsys):
    found = result(capsys, "train", "gcn", "blocks", *QUICK, "--seeds", "2", "--raw-features")
    assert {(row["split"], row["seed"]) for row in found["runs"]} == {(0, 0), (0, 1), (1, 0), (1, 1)}
    assert found["training"]["normalize"] is False


def test_search_chooses_and_goes_on(blocks, tmp_path, capsys):
    argv = ["search", "gcn", "blocks", *QUICK, "-o", tmp_path / "study"]
    assert result(capsys, *argv, "--trials", "2")["n_finished"] == 2
    assert result(capsys, *argv, "--trials", "3")["n_finished"] == 3
    assert json.loads((tmp_path / "study" / "best.json").read_text())["model"] == "gcn"


@pytest.mark.parametrize(
    ("argv", "message"),
    [
        (["train", "gnc", "blocks"], "did you mean"),
        (["train", "gcn", "blocks", "--splits", "7"], "--splits"),
        (["train", "gcn", "blocks", "--set", "hidden"], "name=value"),
        (["train", "gcn", "blocks", "--set", "hiden=3"], "did you mean 'hidden'"),
        (["train", "gcn", "blocks", "--lr", "0"], "lr must be"),
    ],
)
def test_wrong_usage_is_exit_code_2(blocks, argv, message, capsys):
    assert main(argv) == 2
    assert message in capsys.readouterr().err


LONG = """
import sys
import gsp_fb as gf
from gsp_fb.cli import main, training
data = gf.datasets.contextual_sbm(60, degree=6, n_features=5, n_splits=3, rng=0)
training.read_dataset = lambda name, args: data
print("ready", flush=True)
sys.exit(main(["train", "gcn", "blocks", "--epochs", "1000000", "--patience", "1000000", "-o", sys.argv[1]]))
"""


def test_ctrl_c_saves_and_exits_130(tmp_path):
    process = subprocess.Popen(
        [sys.executable, "-c", LONG, str(tmp_path / "run")],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        env={**os.environ, "OMP_NUM_THREADS": "1"},
    )
    metrics = tmp_path / "run" / "split-0-seed-0" / "metrics.csv"
    while not metrics.exists() and process.poll() is None:
        pass
    process.send_signal(signal.SIGINT)
    _, errors = process.communicate()
    assert process.returncode == 130, errors
    assert "resume it from" in errors
    assert "Traceback" not in errors
    assert (metrics.parent / "checkpoint.json").exists()
