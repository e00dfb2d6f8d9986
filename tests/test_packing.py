"""Blocks of columns packed to one cache line: the same products and banks as the plain engine, where it pays."""

from __future__ import annotations

import numpy as np
import pytest

from gsp_fb._kernels import affine_product, chebyshev_bank, engine, fast, threads, tiles
from gsp_fb.graph import Graph
from gsp_fb.operators import operator

N = 400


def graph(weighted=False):
    rng = np.random.default_rng(0)
    pairs = rng.integers(N, size=(8 * N, 2))
    weights = rng.uniform(0.5, 2.0, size=len(pairs)) if weighted else None
    return Graph.from_edges(pairs, weights=weights, n_nodes=N, duplicates="first")


@pytest.mark.parametrize(
    ("n_columns", "dtype", "expected"),
    [
        (16, np.float64, [(0, 8, 8), (8, 8, 8)]),
        (16, np.float32, [(0, 16, 16)]),
        (11, np.float64, [(0, 8, 8), (8, 3, 4)]),
        (1, np.float64, [(0, 1, 2)]),
        (17, np.float32, [(0, 16, 16), (16, 1, 2)]),
        (0, np.float64, []),
    ],
)
def test_blocks_are_whole_lines_and_then_the_rest(n_columns, dtype, expected):
    blocks = list(tiles.column_blocks(np.empty((3, n_columns), dtype)))
    assert blocks == expected
    assert all(width * np.dtype(dtype).itemsize <= tiles.CACHE_LINE for _, _, width in blocks)


@pytest.mark.parametrize("n_threads", ["1", "3"])
@pytest.mark.parametrize("pays", [True, False])
@pytest.mark.parametrize("weighted", [False, True])
@pytest.mark.parametrize("columns", ["2 d", "3 f", "7 d", "8 d", "21 f", "16 f"])
def test_packed_and_unpacked_are_what_the_plain_engine_gives(monkeypatch, columns, weighted, pays, n_threads):
    n_columns, dtype = int(columns.split()[0]), columns.split()[1]
    op = operator(graph(weighted), "sym", channel="high")
    x = np.random.default_rng(1).standard_normal((N, n_columns)).astype(dtype)
    parts = op.graph, x, op.left, op.right, op.diag
    monkeypatch.setenv(engine.ENGINE, "scipy")
    coefficients = np.random.default_rng(2).standard_normal((3, 8))
    expected = affine_product(*parts), chebyshev_bank(*parts, coefficients=coefficients, interval=(0.0, 2.0))
    monkeypatch.setenv(engine.ENGINE, "numba")
    monkeypatch.setenv(threads.THREADS, n_threads)
    monkeypatch.setattr(fast, "THREADS_FROM", 0)
    monkeypatch.setattr(threads, "BLOCK_WORK", 1000)
    monkeypatch.setattr(fast, "packing_pays", lambda graph, signal: pays)
    found = affine_product(*parts), chebyshev_bank(*parts, coefficients=coefficients, interval=(0.0, 2.0))
    for ours, plain in zip(found, expected, strict=True):
        assert np.max(np.abs(ours - plain)) <= 64 * np.finfo(dtype).eps * np.max(np.abs(plain))


def test_packing_needs_many_neighbours_that_are_far_or_a_signal_that_fits_the_cache(monkeypatch):
    signal = np.empty((N, 8))
    assert tiles.packing_pays(graph(), signal)
    assert not tiles.packing_pays(Graph.from_edges([(0, 1)], n_nodes=N), signal)
    assert not tiles.packing_pays(Graph.from_edges([], n_nodes=0), np.empty((0, 8)))
    monkeypatch.setattr(tiles, "CACHED_BYTES", 64 * 40)
    assert tiles.packing_pays(graph(), signal)
    ring = np.arange(N)
    near = np.concatenate([np.stack([ring, (ring + step) % N], axis=1) for step in (1, 2, 3)])
    assert not tiles.packing_pays(Graph.from_edges(near, n_nodes=N), signal)
