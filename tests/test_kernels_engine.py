"""The two engines give the same results, and those of a dense matrix written from the formula."""

from __future__ import annotations

import os
import subprocess
import sys

import numpy as np
import pytest
from numpy.polynomial import chebyshev
from scipy import sparse

from gsp_fb import _kernels
from gsp_fb._kernels import affine_product, chebyshev_bank, engine, fast, label_propagation_step, plain, quadratic_form
from gsp_fb.errors import GspWarning, ParameterError
from gsp_fb.graph import Graph
from gsp_fb.operators import operator
from gsp_fb.storage import MemoryStorage
from gsp_fb.variants import VARIANTS

ENGINES = ("numba", "scipy")
N = 53


def random_graph(*, directed=False, weighted=False, seed=0):
    rng = np.random.default_rng(seed)
    A = sparse.random_array((N, N), density=0.08, rng=rng).toarray()
    A[:, 7] = A[7] = 0.0
    A[3, 3] = 0.5
    A = A if directed else A + A.T
    return Graph.from_adjacency(A if weighted else (A > 0).astype(float), directed=directed)


GRAPHS = {
    "unweighted": random_graph(),
    "weighted": random_graph(weighted=True),
    "directed": random_graph(directed=True),
    "directed weighted": random_graph(directed=True, weighted=True),
    "no edges": Graph.from_edges([], n_nodes=N),
}

_rng = np.random.default_rng(1)
SIGNALS = {
    "1-D": _rng.standard_normal(N),
    "no column": np.empty((N, 0)),
    "one column": _rng.standard_normal((N, 1)),
    "many columns": _rng.standard_normal((N, 37)),
    "transposed": _rng.standard_normal((5, N)).T,
    "every second": _rng.standard_normal((2 * N, 6))[::2],
    "complex": _rng.standard_normal((N, 3)) + 1j * _rng.standard_normal((N, 3)),
    "complex 1-D": _rng.standard_normal(N) + 1j * _rng.standard_normal(N),
    "float32": _rng.standard_normal((N, 18)).astype(np.float32),
    "float32 1-D": _rng.standard_normal(N).astype(np.float32),
    "complex64": (_rng.standard_normal((N, 2)) + 1j * _rng.standard_normal((N, 2))).astype(np.complex64),
}


@pytest.fixture(params=ENGINES)
def each_engine(request, monkeypatch):
    monkeypatch.setenv(engine.ENGINE, request.param)
    return request.param


def parts(op):
    return op.left, op.right, op.diag


def dense(op):
    A = np.zeros((N, N))
    rows = np.repeat(np.arange(N), np.diff(op.graph.indptr))
    A[rows, op.graph.indices] = 1.0 if op.graph.weights is None else op.graph.weights
    return op.left[:, None] * A * op.right + np.diag(op.diag)


def assert_near(actual, expected, dtype):
    assert actual.shape == expected.shape
    eps = np.finfo(dtype).eps
    assert np.max(np.abs(actual - expected), initial=0.0) <= 64 * eps * N * max(
        1.0, np.max(np.abs(expected), initial=0)
    )


@pytest.mark.parametrize("x", SIGNALS.values(), ids=SIGNALS)
@pytest.mark.parametrize("graph", GRAPHS.values(), ids=GRAPHS)
def test_product_is_that_of_the_dense_matrix(each_engine, graph, x):
    for family in VARIANTS:
        op = operator(graph, family, channel="high")
        y = affine_product(graph, x, *parts(op))
        assert y.dtype == x.dtype
        assert_near(y, dense(op) @ x, x.dtype)


@pytest.mark.parametrize("x", SIGNALS.values(), ids=SIGNALS)
@pytest.mark.parametrize("graph", GRAPHS.values(), ids=GRAPHS)
def test_quadratic_form_is_that_of_the_dense_matrix(each_engine, graph, x):
    for family in VARIANTS:
        op = operator(graph, family, channel="high", isolated="zero")
        form = quadratic_form(graph, x, *parts(op))
        wide = x.reshape(N, x.size // N).astype(complex)
        assert form.dtype == np.float64
        assert_near(form, np.einsum("ij,ij->j", wide.conj(), dense(op) @ wide).real, np.float64)


@pytest.mark.parametrize("complex_", [False, True])
@pytest.mark.parametrize("graph", GRAPHS.values(), ids=GRAPHS)
def test_quadratic_form_of_a_sparse_signal(each_engine, graph, complex_):
    x = sparse.random_array((N, 41), density=0.1, rng=np.random.default_rng(2), format="csr")
    x = x * (1 + 2j) if complex_ else x
    op = operator(graph, "rw", channel="high")
    wide = x.toarray()
    expected = np.einsum("ij,ij->j", wide.conj(), dense(op) @ wide).real
    assert_near(quadratic_form(graph, x, *parts(op)), expected, np.float64)


def test_sparse_signal_may_be_unsorted_and_repeat_entries(each_engine):
    x = sparse.csr_array(
        (np.array([1.0, 2.0, 3.0]), np.array([1, 0, 1]), np.array([0, 3] + [3] * (N - 1))), shape=(N, 2)
    )
    op = operator(GRAPHS["weighted"], "comb", channel="high")
    expected = np.array([[2.0, 4.0]])[0] ** 2 * dense(op)[0, 0]
    assert_near(quadratic_form(op.graph, x, *parts(op)), expected, np.float64)


@pytest.mark.parametrize("order", range(8))
@pytest.mark.parametrize("x", SIGNALS.values(), ids=SIGNALS)
def test_bank_is_numpys_chebyshev_series_of_the_matrix(each_engine, order, x):
    op = operator(GRAPHS["weighted"], "sym", channel="high")
    coefficients = np.random.default_rng(order).standard_normal((3, order + 1))
    out = chebyshev_bank(op.graph, x, *parts(op), coefficients=coefficients, interval=(0.0, 2.5))
    frequencies, basis = np.linalg.eigh(dense(op))
    gains = [chebyshev.chebval(frequencies / 1.25 - 1.0, c) for c in coefficients]
    expected = np.stack([(basis * gain) @ basis.T @ x for gain in gains], axis=-1)
    assert out.dtype == x.dtype
    assert_near(out, expected, x.dtype)


@pytest.mark.parametrize("graph", GRAPHS.values(), ids=GRAPHS)
def test_engines_agree_on_banks_of_every_family(monkeypatch, graph):
    x = SIGNALS["many columns"]
    coefficients = np.random.default_rng(0).standard_normal((2, 12))
    for family in VARIANTS:
        op = operator(graph, family, channel="high", isolated="zero")
        outs = []
        for name in ENGINES:
            monkeypatch.setenv(engine.ENGINE, name)
            outs.append(chebyshev_bank(graph, x, *parts(op), coefficients=coefficients, interval=(-30.0, 30.0)))
        assert_near(*outs, np.float64)


def test_bank_on_an_interval_of_no_length(each_engine):
    op = operator(GRAPHS["no edges"], "sym")
    out = chebyshev_bank(
        op.graph, np.ones((N, 1)), *parts(op), coefficients=np.array([[2.0, 3.0]]), interval=(1.0, 1.0)
    )
    assert np.array_equal(out, np.full((N, 1, 1), 2.0))


def test_empty_graph(each_engine):
    empty = Graph.from_edges([], n_nodes=0)
    none = np.empty(0)
    assert affine_product(empty, np.empty((0, 3)), none, none, none).shape == (0, 3)
    assert np.array_equal(quadratic_form(empty, np.empty((0, 3)), none, none, none), np.zeros(3))
    assert chebyshev_bank(
        empty, np.empty((0, 3)), none, none, none, coefficients=np.ones((2, 4)), interval=(0.0, 2.0)
    ).shape == (0, 3, 2)


def test_wide_indices(each_engine):
    graph = GRAPHS["weighted"]
    wide = Graph(MemoryStorage(graph.indptr.astype(np.int64), graph.indices.astype(np.int64), graph.weights))
    op, x = operator(graph, "sym"), SIGNALS["many columns"]
    assert_near(affine_product(wide, x, *parts(op)), dense(op) @ x, np.float64)
    assert_near(quadratic_form(wide, x, *parts(op)), np.sum(x * (dense(op) @ x), axis=0), np.float64)


def test_compiled_engine_stores_no_weights_for_an_unweighted_graph(monkeypatch):
    monkeypatch.setenv(engine.ENGINE, "numba")
    graph = random_graph(seed=5)
    op, x = operator(graph, "sym", channel="high"), SIGNALS["many columns"]
    affine_product(graph, x, *parts(op))
    quadratic_form(graph, x, *parts(op))
    chebyshev_bank(graph, x, *parts(op), coefficients=np.ones((2, 5)), interval=(0.0, 2.0))
    assert "adjacency" not in vars(graph.storage)


def test_inputs_are_left_as_they_are(each_engine):
    op, x = operator(GRAPHS["weighted"], "sym"), SIGNALS["many columns"].copy()
    before = x.copy()
    chebyshev_bank(op.graph, x, *parts(op), coefficients=np.ones((2, 5)), interval=(0.0, 2.0))
    y = affine_product(op.graph, x, *parts(op))
    assert np.array_equal(x, before)
    assert x.flags.writeable
    assert not np.shares_memory(x, y)


def test_heaviest_label_by_hand(each_engine):
    star = Graph.from_edges([(0, 1), (0, 2), (0, 3), (2, 3)], weights=[1.0, 2.0, 2.0, 1.0], n_nodes=10)
    # Node 0 hears 5 and 1 as loud as each other and takes the smaller; 2 and 3 hear 9 louder; 1 and 4 keep or follow.
    labels = np.array([9, 5, 5, 1, 7, 0, 0, 0, 0, 0])
    assert label_propagation_step(star, labels).tolist() == [5, 9, 9, 9, 7, 0, 0, 0, 0, 0]


def test_heaviest_label_keeps_the_own_one_on_a_tie(each_engine):
    path = Graph.from_edges([(0, 1), (1, 2)])
    assert label_propagation_step(path, np.array([0, 2, 2])).tolist() == [2, 2, 2]


def test_small_jobs_stay_with_scipy_and_large_ones_are_compiled(monkeypatch):
    monkeypatch.delenv(engine.ENGINE, raising=False)
    graph = GRAPHS["unweighted"]
    assert not engine.is_compiled(graph, np.ones(N))
    assert engine.is_compiled(graph, np.ones((N, engine.COMPILED_FROM // N)))
    assert not engine.is_compiled(graph, np.ones((N, engine.COMPILED_FROM // N), dtype=int))


def test_unknown_engine_is_refused(monkeypatch):
    monkeypatch.setenv(engine.ENGINE, "nunba")
    with pytest.raises(ParameterError, match=r"unknown GSP_FB_ENGINE 'nunba'; .*did you mean 'numba'"):
        affine_product(GRAPHS["unweighted"], np.ones(N), np.ones(N), np.ones(N), np.ones(N))


def test_without_numba_scipy_does_the_job_and_asking_for_it_says_what_to_install(monkeypatch):
    monkeypatch.setattr(engine, "has", lambda module: False)
    monkeypatch.setattr("gsp_fb._extras.has", lambda module: False)
    engine._numba_works.cache_clear()
    monkeypatch.delenv(engine.ENGINE, raising=False)
    big = np.ones((N, engine.COMPILED_FROM // N))
    assert _kernels._engine(GRAPHS["unweighted"], big) is plain
    monkeypatch.setenv(engine.ENGINE, "numba")
    with pytest.raises(ImportError, match=r"GSP_FB_ENGINE=numba needs numba: pip install 'gsp-fb\[fast\]'"):
        _kernels._engine(GRAPHS["unweighted"], big)
    engine._numba_works.cache_clear()


def test_a_numba_that_cannot_be_imported_is_reported_once(monkeypatch):
    def broken(name):
        raise ImportError("needs NumPy 1.0 or less")

    monkeypatch.delenv(engine.ENGINE, raising=False)
    monkeypatch.setattr(engine, "import_module", broken)
    engine._numba_works.cache_clear()
    big = np.ones((N, engine.COMPILED_FROM // N))
    with pytest.warns(GspWarning, match=r"scipy is used instead: needs NumPy 1\.0"):
        assert _kernels._engine(GRAPHS["unweighted"], big) is plain
    assert _kernels._engine(GRAPHS["unweighted"], big) is plain
    engine._numba_works.cache_clear()


def test_results_begin_with_a_cache_line():
    assert all(fast._aligned((7, 3), dtype).ctypes.data % 64 == 0 for dtype in (np.float32, np.float64))


def test_loops_compile_where_no_cache_can_be_written(monkeypatch):
    from gsp_fb._kernels import compiling

    real = compiling.numba.njit

    def no_cache(function, **options):
        if options.get("cache"):
            raise RuntimeError("cannot cache function: no locator available")
        return real(function, **options)

    monkeypatch.setattr(compiling.numba, "njit", no_cache)
    assert compiling.compiled(lambda x: x + 1)(1) == 2


def test_a_small_product_imports_no_numba():
    code = (
        "import sys, gsp_fb as gf; gf.operator(gf.Graph.from_edges([(0, 1)]), 'sym') @ [1.0, 2.0]; "
        "sys.exit('numba' in sys.modules)"
    )
    environment = {k: v for k, v in os.environ.items() if k != engine.ENGINE}
    assert subprocess.run([sys.executable, "-c", code], env=environment, check=False).returncode == 0
