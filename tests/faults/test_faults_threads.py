"""Rows 107 and 108: other processes and other threads."""

from __future__ import annotations

import multiprocessing
import os
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import numpy as np
import pytest

from gsp_fb._kernels import engine, fast, threads
from gsp_fb.energy import dirichlet_energy
from gsp_fb.graph import Graph
from gsp_fb.operators import operator


def make_graph():
    rng = np.random.default_rng(0)
    pairs = np.unique(np.sort(rng.integers(400, size=(3000, 2)), axis=1), axis=0)
    return Graph.from_edges(pairs, rng.random(len(pairs)) + 0.5, n_nodes=400)


SCRIPT = Path(__file__).with_name("other_process.py")


@pytest.mark.parametrize("engine_name", ["numba", "scipy"])
@pytest.mark.parametrize("method", ["fork", "spawn", "forkserver"])
def test_fault_107_graphs_and_operators_go_through_other_processes(method, engine_name):
    if method not in multiprocessing.get_all_start_methods():
        pytest.skip(f"this system cannot start processes by {method}")
    environment = {**os.environ, engine.ENGINE: engine_name, threads.THREADS: "2"}
    run = subprocess.run(
        [sys.executable, str(SCRIPT), method], capture_output=True, text=True, env=environment, check=False
    )
    assert run.returncode == 0, run.stderr
    assert run.stdout.strip() == "equal and read-only"


@pytest.mark.parametrize("name", engine.ENGINES)
def test_fault_108_eight_threads_on_one_operator_give_the_serial_values(monkeypatch, name):
    monkeypatch.setenv(engine.ENGINE, name)
    monkeypatch.setenv(threads.THREADS, "2")
    monkeypatch.setattr(fast, "THREADS_FROM", 0)
    monkeypatch.setattr(threads, "BLOCK_WORK", 1000)
    signals = [np.random.default_rng(seed).standard_normal((400, 40)) for seed in range(64)]

    def job(op, x):
        return op @ x, op.T @ x, dirichlet_energy(op, x, per_column=True)

    serial_op, op = (operator(make_graph(), "lazy_rw", channel="high") for _ in range(2))
    serial = [job(serial_op, x) for x in signals]
    with ThreadPoolExecutor(8) as pool:
        parallel = list(pool.map(lambda x: job(op, x), signals))
    for one, other in zip(serial, parallel, strict=True):
        assert all(np.array_equal(a, b) for a, b in zip(one, other, strict=True))
