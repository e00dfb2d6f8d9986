"""torch.compile: the same numbers to rounding, and a clear word where it cannot be done."""

import os
import shutil
import subprocess
import sys

import pytest
import torch

from gsp_fb._kernels import torch_resources as resources
from gsp_fb.errors import ParameterError, TrainingError
from gsp_fb.nn import TrainConfig, build, train

needs_compiler = pytest.mark.skipif(
    not resources.is_compilable() or not any(map(shutil.which, ("g++", "c++", "clang++"))),
    reason="torch.compile needs a C++ compiler",
)


@pytest.mark.slow
@needs_compiler
@pytest.mark.parametrize("name", ["fb-gcn", "fb-gat", "fb-gcnii"])
def test_a_compiled_model_trains_as_the_plain_one(name, blocks):
    options = {"hidden": 8, "dropout": 0.3, "dtype": torch.float64}
    plain, fast = (
        train(build(name, blocks, **options), blocks, blocks.splits[0], TrainConfig(epochs=2, compile=compile_))
        for compile_ in (False, True)
    )
    for one, other in zip(plain.history, fast.history, strict=True):
        assert other == pytest.approx(one, rel=1e-9)


@pytest.mark.slow
def test_a_missing_compiler_is_named(tmp_path):
    """Inductor reads CXX when it is imported, so a process of its own is needed."""
    script = """
import numpy as np
from types import SimpleNamespace
from gsp_fb import Graph
from gsp_fb.errors import TrainingError
from gsp_fb.nn import TrainConfig, build, train
ds = SimpleNamespace(graph=Graph.from_edges([(0, 1), (1, 2)]), x=np.eye(3), y=np.array([0, 1, 0]))
split = SimpleNamespace(train=[0, 1], val=[2], test=[])
try:
    train(build("fb-gcn", ds), ds, split, TrainConfig(epochs=1, compile=True))
except TrainingError as failure:
    print(failure)
"""
    environment = {**os.environ, "CXX": str(tmp_path / "no-compiler"), "TORCHINDUCTOR_CACHE_DIR": str(tmp_path)}
    done = subprocess.run([sys.executable, "-c", script], env=environment, capture_output=True, text=True, check=True)
    assert "torch.compile failed" in done.stdout
    assert "compile=False" in done.stdout


def test_where_torch_cannot_compile_it_is_said_before_the_first_epoch(blocks, monkeypatch):
    monkeypatch.setattr(resources, "is_compilable", lambda: False)
    model = build("gcn", blocks)
    with pytest.raises(TrainingError, match=r"does not support this Python or platform.*compile=False"):
        train(model, blocks, blocks.splits[0], TrainConfig(epochs=1, compile=True))


def test_compile_is_a_flag():
    with pytest.raises(ParameterError, match="compile must be True or False"):
        TrainConfig(compile=1)
