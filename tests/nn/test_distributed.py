"""Real processes over gloo: two train the model of one; a killed one costs the epochs since a checkpoint."""

import json
import os
import subprocess
import sys

import numpy as np
import pytest
import torch

from gsp_fb.cli.torchrun import main
from gsp_fb.datasets import contextual_sbm
from gsp_fb.errors import ParameterError
from gsp_fb.nn import TrainConfig, build, read_checkpoint, read_metrics, train
from gsp_fb.nn.distributed import train_distributed

pytestmark = pytest.mark.skipif(not torch.distributed.is_available(), reason="this torch has no torch.distributed")

# What both sides train: dropout and sampling on, and an odd number of subgraphs an epoch.
JOB = """
import os, signal, sys
import torch
from gsp_fb.datasets import contextual_sbm
from gsp_fb.nn import TrainConfig, build
from gsp_fb.nn.distributed import process_group, train_distributed

def job(directory, per_step, epochs=6, model="fb-graphsaint", **options):
    torch.set_num_threads(1)
    data = contextual_sbm(n_nodes=90, n_classes=3, degree=6, n_features=8, n_splits=1, rng=0)
    net = build(model, data, seed=3, hidden=8, n_roots=15, dropout=0.3, dtype=torch.float64)
    config = TrainConfig(lr=0.02, epochs=epochs, patience=epochs, checkpoint_every=2, normalize=False)
    train_distributed(net, data, data.splits[0], config, per_step=per_step, directory=directory, **options)
"""
RUN = (
    JOB
    + """
if __name__ == "__main__":
    from gsp_fb.nn.runstate import Run
    directory, per_step, killed = sys.argv[1], int(sys.argv[2]), sys.argv[3:]
    record = Run.record
    def dying(self, row):
        record(self, row)
        if killed and os.environ["RANK"] == killed[0] and self.epoch == 5:
            os.kill(os.getpid(), signal.SIGKILL)
    Run.record = dying
    with process_group():
        job(directory, per_step)
"""
)

# The command line as `torchrun -m gsp_fb.nn` runs it, on a set that needs no download.
COMMAND = """
import sys
from gsp_fb import datasets
from gsp_fb.cli.torchrun import main

data = datasets.contextual_sbm(n_nodes=60, n_classes=2, degree=6, n_features=6, n_splits=2, rng=1)
datasets.load = lambda name, **options: data
sys.exit(main(sys.argv[1:]))
"""


@pytest.fixture(scope="module")
def job():
    names = {}
    exec(compile(JOB, "job", "exec"), names)  # the same text that the processes run
    return names["job"]


TWO = ("-m", "torch.distributed.run", "--standalone", "--nproc_per_node", "2")


def python(*argv):
    environment = {**os.environ, "OMP_NUM_THREADS": "1", "GLOO_SOCKET_IFNAME": "lo"}
    command = [sys.executable, *map(str, argv)]
    return subprocess.run(command, env=environment, capture_output=True, text=True, check=False)


def torchrun(*argv):
    return python(*TWO, *argv)


@pytest.fixture(scope="module")
def script(tmp_path_factory):
    path = tmp_path_factory.mktemp("job") / "job.py"
    path.write_text(RUN)
    return path


def assert_same_run(directory, other, *, exactly=True):
    first, second = read_checkpoint(directory), read_checkpoint(other)
    assert first.tensors.keys() == second.tensors.keys()
    for name, value in first.tensors.items():
        gap = float((value.double() - second.tensors[name].double()).abs().max())
        assert gap == 0 if exactly else gap < 1e-9, name
    if exactly:
        assert read_metrics(directory) == read_metrics(other)


def test_two_processes_train_the_model_that_one_trains(job, script, tmp_path):
    job(tmp_path / "one", 2)
    done = torchrun(script, tmp_path / "two", 2)
    assert done.returncode == 0, done.stderr
    assert_same_run(tmp_path / "one", tmp_path / "two")
    assert len(read_metrics(tmp_path / "two")) == 6


def test_four_subgraphs_a_step_are_two_of_each_process(job, script, tmp_path):
    job(tmp_path / "one", 4)
    done = torchrun(script, tmp_path / "two", 4)
    assert done.returncode == 0, done.stderr
    assert_same_run(tmp_path / "one", tmp_path / "two", exactly=False)


@pytest.mark.parametrize("rank", [pytest.param(0, marks=pytest.mark.slow), 1])
def test_a_killed_process_ends_the_job_and_it_resumes(job, script, tmp_path, rank):
    job(tmp_path / "whole", 2)
    done = torchrun(script, tmp_path / "killed", 2, rank)
    assert done.returncode != 0
    assert read_checkpoint(tmp_path / "killed").facts["epoch"] == 4
    # Another number of processes may take it up.
    job(tmp_path / "killed", 2)
    assert_same_run(tmp_path / "whole", tmp_path / "killed")


def test_the_global_batch_belongs_to_the_run(job, tmp_path):
    job(tmp_path, 2)
    with pytest.raises(ParameterError, match="subgraphs a step: 2 stored, 4 given"):
        job(tmp_path, 4)


def test_a_step_is_the_mean_gradient_of_its_subgraphs(blocks):
    """One subgraph a step and no dropout: nothing but the order of random draws separates it from plain training."""
    model = build("fb-graphsaint", blocks, n_roots=30, hidden=8, dropout=0.0)
    result = train_distributed(model, blocks, blocks.splits[0], TrainConfig(lr=0.05, epochs=40), per_step=1)
    assert result.scores["train"] > 0.8
    plain = build("fb-graphsaint", blocks, n_roots=30, hidden=8, dropout=0.0)
    usual = train(plain, blocks, blocks.splits[0], TrainConfig(lr=0.05, epochs=40))
    assert abs(usual.scores["train"] - result.scores["train"]) < 0.15


def test_a_model_without_a_sampler_is_refused(blocks):
    with pytest.raises(ParameterError, match="splits or seeds"):
        train_distributed(build("fb-gcn", blocks), blocks, blocks.splits[0])


def test_the_command_line(monkeypatch, capsys, tmp_path):
    data = contextual_sbm(n_nodes=60, n_classes=2, degree=6, n_features=6, n_splits=2, rng=1)
    monkeypatch.setattr("gsp_fb.datasets.load", lambda name, **options: data)
    arguments = ["--splits", "0", "1", "--epochs", "3", "--set", "hidden=4", "-o", str(tmp_path)]
    assert main(["fb-gcn", "blocks", "--over", "runs", *arguments]) == 0
    assert '"processes": 1' in capsys.readouterr().out
    assert sorted(os.listdir(tmp_path)) == ["split-0-seed-0", "split-1-seed-0"]
    assert np.isfinite(float(read_metrics(tmp_path / "split-1-seed-0")[-1]["train_loss"]))
    assert main(["fb-gcn", "blocks", "--epochs", "3"]) == 1
    assert "splits or seeds" in capsys.readouterr().err
    assert main(["fb-gcn", "blocks", "--set", "hidden"]) == 1
    assert "--set takes name=value, not 'hidden'" in capsys.readouterr().err


@pytest.mark.parametrize(
    ("model", "options"),
    [
        ("fb-graphsaint", ["--per-step", "2", "--set", "n_roots=10"]),
        ("fb-gcn", ["--over", "runs", "--splits", "0", "1", "--seeds", "0", "1"]),
    ],
)
def test_two_processes_of_the_command_line_print_what_one_prints(tmp_path, model, options):
    script = tmp_path / "command.py"
    script.write_text(COMMAND)
    line = [script, model, "blocks", *options, "--set", "hidden=4", "--epochs", "3"]
    printed = []
    for start in (python, torchrun):
        done = start(*line)
        assert done.returncode == 0, done.stderr
        printed.append(json.loads(done.stdout))
    one, two = printed
    assert (one.pop("processes"), two.pop("processes")) == (1, 2)
    rows = [[(run["split"], run["seed"], run["scores"]) for run in facts.pop("runs")] for facts in printed]
    assert rows[0] == rows[1]
    assert one == two
