"""Rows 107 and 108: other processes and other threads."""

from __future__ import annotations

import multiprocessing
import warnings
from concurrent.futures import ThreadPoolExecutor

import numpy as np
import pytest

from gsp_fb._kernels import engine, fast, threads
from gsp_fb.energy import dirichlet_energy
from gsp_fb.graph import Graph
from gsp_fb.operators import Operator, operator


def make_graph(*, directed=False, weighted=True):
    rng = np.random.default_rng(0)
    pairs = np.unique(rng.integers(400, size=(3000, 2)), axis=0)
    pairs = pairs if directed else np.unique(np.sort(pairs, axis=1), axis=0)
    weights = rng.random(len(pairs)) + 0.5 if weighted else None
    return Graph.from_edges(pairs, weights, n_nodes=400, directed=directed, labels=tuple(f"v{k}" for k in range(400)))


GRAPHS = [make_graph(), make_graph(weighted=False), make_graph(directed=True)]
X = np.random.default_rng(1).standard_normal((400, 24))


def arrays(thing):
    if isinstance(thing, Operator):
        return [*arrays(thing.graph), thing.left, thing.right, thing.diag, thing.scale]
    return [a for a in (thing.indptr, thing.indices, thing.weights) if a is not None]


def facts(thing):
    graph = thing.graph if isinstance(thing, Operator) else thing
    return (graph.directed, graph.labels, repr(thing), [a.dtype for a in arrays(thing)])


def look_at(things):
    """Run in the other process: hand back what came, whether it is read-only there, and what it computes there."""
    products = [thing @ X if isinstance(thing, Operator) else thing.degrees for thing in things]
    return things, [not a.flags.writeable for thing in things for a in arrays(thing)], products


@pytest.mark.parametrize("compiled", [True, False])
@pytest.mark.parametrize("method", ["fork", "spawn", "forkserver"])
def test_fault_107_graphs_and_operators_go_through_other_processes(monkeypatch, method, compiled):
    if method not in multiprocessing.get_all_start_methods():
        pytest.skip(f"this system cannot start processes by {method}")
    monkeypatch.setenv(engine.ENGINE, "numba" if compiled else "scipy")
    monkeypatch.setenv(threads.THREADS, "2")
    monkeypatch.setattr(fast, "THREADS_FROM", 0)
    monkeypatch.setattr(threads, "BLOCK_WORK", 1000)
    things = [*GRAPHS, *(operator(g, "renorm_rw", channel="high", gamma=0.3) for g in GRAPHS)]
    here = look_at(things)[2]  # threads have run in this process before it forks
    with warnings.catch_warnings():
        # From 3.12 on Python warns of every fork beside any thread, those that BLAS keeps included.
        warnings.simplefilter("ignore", DeprecationWarning)
        with multiprocessing.get_context(method).Pool(2) as pool:
            answers = [pool.apply_async(look_at, (things,)) for _ in range(2)]
            answers = [answer.get(timeout=300) for answer in answers]
    for back, read_only, there in answers:
        assert all(read_only)
        for sent, received in zip(things, back, strict=True):
            assert facts(sent) == facts(received)
            assert all(np.array_equal(a, b) for a, b in zip(arrays(sent), arrays(received), strict=True))
            assert not any(a.flags.writeable for a in arrays(received))
        assert all(np.array_equal(a, b) for a, b in zip(here, there, strict=True))


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
