"""One setting for the number of threads; what is computed does not depend on it."""

from __future__ import annotations

import os
import subprocess
import sys
import time
import weakref
from collections import deque

import numpy as np
import pytest
from threadpoolctl import threadpool_limits

from gsp_fb._kernels import affine_product, chebyshev_bank, engine, fast, quadratic_form, set_threads, threads, workers
from gsp_fb.errors import ParameterError
from gsp_fb.graph import Graph
from gsp_fb.operators import operator


@pytest.fixture(autouse=True)
def _restored(monkeypatch):
    monkeypatch.delenv(threads.THREADS, raising=False)


def large_operator():
    pairs = np.random.default_rng(0).integers(3000, size=(20_000, 2))
    return operator(Graph.from_edges(pairs, n_nodes=3000, duplicates="first"), "sym", channel="high")


def test_setting_wins_over_everything():
    with threadpool_limits(1):
        set_threads(3)
        assert threads.n_threads() == 3
        set_threads(None)
        assert threads.n_threads() == 1


def test_default_is_at_most_the_cpus_of_this_process():
    assert 1 <= threads.n_threads() <= threads._n_cpus()


def test_processes_started_later_inherit_the_setting():
    set_threads(5)
    code = "from gsp_fb._kernels.threads import n_threads; print(n_threads())"
    assert subprocess.check_output([sys.executable, "-c", code], text=True).strip() == "5"


@pytest.mark.parametrize("wrong", [0, -1, 1.5, True, "2"])
def test_a_number_of_threads_is_a_positive_integer(wrong):
    with pytest.raises(ParameterError, match="number of threads must be an integer >= 1"):
        set_threads(wrong)


@pytest.mark.parametrize("wrong", ["0", "many", "-2", ""])
def test_environment_is_checked_as_well(monkeypatch, wrong):
    monkeypatch.setenv(threads.THREADS, wrong)
    with pytest.raises(ParameterError, match="GSP_FB_THREADS must be an integer >= 1"):
        threads.n_threads()


@pytest.mark.parametrize("n_blocks", [0, 1, 2, 7, 1000])
def test_blocks_cover_the_rows_once(n_blocks):
    indptr = np.concatenate([[0], np.cumsum(np.random.default_rng(1).integers(50, size=100))])
    blocks = threads.row_blocks(indptr, n_blocks * threads.BLOCK_WORK)
    assert [row for first, last in blocks for row in range(first, last)] == list(range(100))
    assert len(blocks) <= min(max(n_blocks, 1), threads.MAX_BLOCKS)


def test_blocks_have_about_as_many_entries():
    indptr = np.concatenate([[0], np.cumsum(np.random.default_rng(2).integers(50, size=10_000))])
    blocks = threads.row_blocks(indptr, 16 * threads.BLOCK_WORK)
    entries = [indptr[last] - indptr[first] for first, last in blocks]
    assert len(entries) == 16
    assert max(entries) - min(entries) <= 2 * 50


def test_no_rows_make_no_blocks():
    assert threads.row_blocks(np.array([0]), 0) == []


@pytest.mark.parametrize("count", [1, 2, 8])
def test_each_block_is_done_once(count):
    done = []
    threads.each_block(done.append, [(k,) for k in range(100)], count)
    assert sorted(done) == list(range(100))


def test_an_error_in_any_thread_reaches_the_caller():
    def fail_late(k):
        if k == 50:
            raise MemoryError("block 50")

    with pytest.raises(MemoryError, match="block 50"):
        threads.each_block(fail_late, [(k,) for k in range(100)], 4)


def test_a_thread_that_has_not_begun_is_not_waited_for(monkeypatch):
    waiting, done = [], []
    monkeypatch.setattr(threads, "submit", waiting.append)
    threads.each_block(done.append, [(k,) for k in range(10)], 3)
    assert done == list(range(10))
    for run in waiting:
        run()
    assert len(waiting) == 2
    assert done == list(range(10))


def test_after_an_error_a_thread_that_begins_late_does_nothing(monkeypatch):
    waiting, done = [], []
    monkeypatch.setattr(threads, "submit", waiting.append)

    def fail_at_once(k):
        done.append(k)
        raise MemoryError("block 0")

    with pytest.raises(MemoryError, match="block 0"):
        threads.each_block(fail_at_once, [(k,) for k in range(10)], 2)
    for run in waiting:
        run()
    assert done == [0]


@pytest.mark.parametrize("columns", [1, 20])
@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_results_do_not_depend_on_the_number_of_threads(monkeypatch, dtype, columns):
    monkeypatch.setenv(engine.ENGINE, "numba")
    monkeypatch.setattr(fast, "THREADS_FROM", 0)
    monkeypatch.setattr(threads, "BLOCK_WORK", 10_000)
    op = large_operator()
    x = np.random.default_rng(3).standard_normal((3000, columns)).astype(dtype)
    parts = (op.graph, x, op.left, op.right, op.diag)
    results = []
    for count in (1, 2, 5):
        set_threads(count)
        bank = chebyshev_bank(*parts, coefficients=np.ones((3, 8)), interval=(0.0, 2.0))
        results.append((affine_product(*parts), quadratic_form(*parts), bank))
    for other in results[1:]:
        for one, same in zip(results[0], other, strict=True):
            assert np.array_equal(one, same)


def test_a_thread_is_used_again_and_keeps_no_job(monkeypatch):
    monkeypatch.setattr(workers, "_IDLE", deque())
    ended = [workers._thread.allocate_lock() for _ in range(3)]
    names = []
    for end in ended:
        end.acquire()

        def job(end=end):
            names.append(workers._thread.get_native_id())
            end.release()

        kept = weakref.ref(job)
        workers.submit(job)
        assert end.acquire(timeout=10)
        del job
        while not workers._IDLE:
            time.sleep(0.001)
        assert kept() is None
    assert len(set(names)) == 1


@pytest.mark.skipif(not hasattr(os, "sched_setaffinity"), reason="only Linux moves threads")
def test_a_thread_may_use_the_cpus_of_the_caller_but_its_own(monkeypatch):
    moved = {}
    monkeypatch.setattr(workers, "_current_cpu", lambda: lambda: 1)
    monkeypatch.setattr(workers.os, "sched_getaffinity", lambda thread: {0, 1, 3})
    monkeypatch.setattr(workers.os, "sched_setaffinity", moved.__setitem__)
    workers._move_from_own_cpu(77)
    assert moved == {77: {0, 3}}
    monkeypatch.setattr(workers.os, "sched_getaffinity", lambda thread: {1})
    workers._move_from_own_cpu(78)
    assert 78 not in moved
