"""A single signal larger than the cache is read in tiles: the same sums, whoever adds them, and only where it pays."""

from __future__ import annotations

from contextlib import contextmanager

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from gsp_fb._kernels import affine_product, chebyshev_bank, engine, fast, quadratic_form, set_threads, threads, tiles
from gsp_fb.graph import Graph
from gsp_fb.storage import MemoryStorage
from gsp_fb.testing import graphs, operators
from tests.support.closeness import assert_close, size_of

N = 3000
# Tiles of a few hundred of N nodes, where the real ones hold a million.
SMALL = 2048


def numbered(reach, seed=0):
    """Return a graph of N nodes and about ten neighbours each, none further away on a ring than ``reach``."""
    rng = np.random.default_rng(seed)
    i = rng.integers(N, size=5 * N)
    j = (i + rng.integers(-reach, reach + 1, size=5 * N)) % N
    return Graph.from_edges(np.stack([i, j], axis=1), n_nodes=N, duplicates="first")


@contextmanager
def compiled(width=None, **settings):
    """Run the compiled engine, with tiles of ``width`` nodes or other settings of the choice."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv(engine.ENGINE, "numba")
        if width is not None:
            patch.setattr(tiles, "tile_width", lambda graph, x: width)
        for name, value in settings.items():
            patch.setattr(tiles, name, value)
        yield patch


def results(op, x):
    parts = (op.graph, x, op.left, op.right, op.diag)
    # Wide enough for any graph that is drawn: outside of its interval a bank only shows how rounding grows.
    interval = (-size_of(op.diag) - reach_of(op), size_of(op.diag) + reach_of(op))
    bank = chebyshev_bank(*parts, coefficients=np.ones((2, 6)), interval=interval)
    return affine_product(*parts), quadratic_form(*parts), bank


def reach_of(op):
    return float(np.max(abs(op.left[:, None] * op.graph.adjacency.toarray() * op.right).sum(axis=1), initial=1.0))


@given(operators(graphs() | graphs(directed=True)), st.sampled_from("fd"), st.integers(1, 8))
def test_tiles_of_any_width_give_what_the_other_engine_gives(op, kind, width):
    n = op.graph.n_nodes
    x = np.random.default_rng(n).standard_normal(n).astype(kind)
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv(engine.ENGINE, "scipy")
        expected = results(op, x)
    with compiled(width):
        product, form, bank = results(op, x)
    scale = (reach_of(op) + size_of(op.diag)) * size_of(x)
    assert_close(product, expected[0], scale=scale)
    assert_close(form, expected[1], scale=scale * size_of(x) * n)
    assert_close(bank, expected[2], scale=6 * n * size_of(x))


@pytest.mark.parametrize("index", [np.int32, np.int64])
@pytest.mark.parametrize("weighted", [False, True])
@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_tiles_give_what_the_whole_gives(dtype, weighted, index):
    graph = numbered(N)
    weights = np.random.default_rng(1).uniform(0.5, 2.0, size=len(graph.indices)) if weighted else None
    graph = Graph(MemoryStorage(graph.indptr.astype(index), graph.indices.astype(index), weights, directed=True))
    parts = (np.linspace(0.1, 0.2, N), np.linspace(0.3, 0.1, N), np.linspace(-1.0, 1.0, N))
    x = np.random.default_rng(2).standard_normal(N).astype(dtype)
    products = []
    for size in (SMALL, tiles.TILE_BYTES):
        with compiled(TILE_BYTES=size, ENTRIES_PER_VISIT=1):
            assert (tiles.tile_width(graph, x) < N) == (size == SMALL)
            products.append(affine_product(graph, x, *parts))
    assert_close(products[0], products[1], scale=10 * size_of(x))


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_sums_of_tiles_do_not_depend_on_the_number_of_threads(dtype):
    graph = numbered(N)
    x = np.random.default_rng(3).standard_normal(N).astype(dtype)
    parts = (graph, x, np.full(N, 0.1), np.ones(N), np.zeros(N))
    found = []
    with compiled(TILE_BYTES=SMALL, ENTRIES_PER_VISIT=1) as patch:
        patch.setattr(fast, "THREADS_FROM", 0)
        patch.setattr(threads, "BLOCK_WORK", 1000)
        patch.setenv(threads.THREADS, "1")
        for count in (1, 2, 5):
            set_threads(count)
            bank = chebyshev_bank(*parts, coefficients=np.ones((3, 8)), interval=(-2.0, 2.0))
            found.append((affine_product(*parts), quadratic_form(*parts), bank))
    for other in found[1:]:
        assert all(np.array_equal(one, same) for one, same in zip(found[0], other, strict=True))


def test_tiles_are_even_and_fit(monkeypatch):
    monkeypatch.setattr(tiles, "TILE_BYTES", 8 * N // 3)
    monkeypatch.setattr(tiles, "ENTRIES_PER_VISIT", 1)
    assert tiles.tile_width(numbered(N), np.zeros(N)) == N // 3
    assert tiles.tile_width(numbered(N), np.zeros(N, dtype=np.float32)) == N // 2


def test_short_rows_are_not_cut_into_many_tiles(monkeypatch):
    monkeypatch.setattr(tiles, "TILE_BYTES", 8)
    graph = numbered(N)
    degree = len(graph.indices) / N
    monkeypatch.setattr(tiles, "ENTRIES_PER_VISIT", degree / 2)
    assert tiles.tile_width(graph, np.zeros(N)) == N // 2
    monkeypatch.setattr(tiles, "ENTRIES_PER_VISIT", degree)
    assert tiles.tile_width(graph, np.zeros(N)) == N


def test_neighbours_close_to_each_other_need_no_tiles(monkeypatch):
    monkeypatch.setattr(tiles, "TILE_BYTES", SMALL)
    monkeypatch.setattr(tiles, "ENTRIES_PER_VISIT", 1)
    assert tiles.tile_width(numbered(20), np.zeros(N)) == N
    assert tiles.tile_width(numbered(N), np.zeros(N)) < N


@pytest.mark.parametrize("n_nodes", [0, 1, 100])
def test_a_signal_that_fits_the_cache_is_one_tile(n_nodes):
    assert tiles.tile_width(Graph.from_edges([], n_nodes=n_nodes), np.zeros(n_nodes)) == n_nodes


@pytest.mark.parametrize(("text", "expected"), [("266240K\n", 266240 * 1024), ("unknown", 2**25), (None, 2**25)])
def test_the_cache_is_as_large_as_the_system_says(text, expected, tmp_path):
    source = tmp_path / "size"
    if text is not None:
        source.write_text(text)
    assert tiles.last_level_bytes(source) == expected
