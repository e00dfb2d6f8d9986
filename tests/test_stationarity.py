"""Stationarity: the dense definition, what stationary and other signals give, refusals; and memory of large graphs."""

import tracemalloc

import numpy as np
import pytest

import gsp_fb as gf
from gsp_fb import datasets, filters, reduction, sampling
from gsp_fb.errors import GraphError, ParameterError, SignalError
from gsp_fb.filters import stationarity
from gsp_fb.variants import VARIANTS


def made(graph, family="comb"):
    return gf.operator(graph, family, channel="high")


@pytest.mark.parametrize("n_signals", [10, 60])
@pytest.mark.parametrize("family", VARIANTS)
def test_the_level_is_that_of_the_dense_covariance(family, n_signals):
    op = made(datasets.sensor(30, rng=0), family)
    x = np.random.default_rng(0).standard_normal((30, n_signals))
    found = stationarity(op, x, n_surrogates=5)
    hat = gf.spectrum(op).gft(x)
    covariance = hat @ hat.T / n_signals
    assert found.level == pytest.approx(np.linalg.norm(np.diag(covariance)) / np.linalg.norm(covariance))
    np.testing.assert_allclose(found.power, np.diag(covariance))
    assert 0 < found.level <= 1


def test_filtered_white_noise_is_stationary_and_the_p_values_are_uniform():
    op = made(datasets.sensor(40, rng=0))
    bank = gf.FilterBank(op, lambda e: 1 / (1 + e))
    p_values = []
    for seed in range(60):
        noise = np.random.default_rng(seed).standard_normal((40, 80))
        p_values.append(stationarity(op, bank.analyze(noise)[..., 0], n_surrogates=39, rng=seed).p_value)
    assert 0.35 < np.mean(p_values) < 0.65
    assert np.mean(np.array(p_values) <= 0.1) < 0.25


def test_noise_at_some_nodes_alone_is_not_stationary():
    op = made(datasets.sensor(40, rng=0))
    x = np.random.default_rng(0).standard_normal((40, 80))
    x[:20] *= 0.1
    found = stationarity(op, x)
    assert found.p_value <= 0.01
    assert found.level < found.expected


@pytest.mark.parametrize(
    ("call", "error", "message"),
    [
        (lambda op: stationarity(op, np.ones(8)), SignalError, "at least 2"),
        (lambda op: stationarity(op, np.ones((8, 1))), SignalError, "at least 2"),
        (lambda op: stationarity(op, np.zeros((8, 2))), SignalError, "not all 0"),
        (lambda op: stationarity(op, 1j * np.ones((8, 2))), SignalError, "real"),
        (lambda op: stationarity(op.complement(), np.ones((8, 2))), ParameterError, "complement"),
        (lambda op: stationarity(op, np.ones((8, 2)), n_surrogates=0), ParameterError, "n_surrogates"),
    ],
)
def test_refusals(call, error, message):
    with pytest.raises(error, match=message):
        call(made(datasets.path(8)))
    with pytest.raises(GraphError, match="symmetrize="):
        stationarity(made(gf.Graph.from_edges([(0, 1)], directed=True)), np.ones((2, 2)))


def test_a_full_spectrum_of_a_large_graph_is_refused():
    big = made(datasets.ring(200_000))
    with pytest.raises(ParameterError, match="ask for k modes"):
        stationarity(big, np.ones((200_000, 2)))


N = 3000
LARGE = {
    "pyramid": lambda g, op, x: reduction.Pyramid(g, 3).analyze(x),
    "coarsen": lambda g, op, x: reduction.coarsen(g, 0.5, k=4),
    "sparsify": lambda g, op, x: reduction.sparsify(g, 0.9),
    "gradient": lambda g, op, x: gf.divergence(op, gf.gradient(op, x)),
    "tikhonov": lambda g, op, x: filters.denoise(op, x, strength=1.0),
    "tv": lambda g, op, x: filters.denoise(op, x, method="tv", strength=0.1),
    "sampling": lambda g, op, x: sampling.sampling_set(op, 4, 6),
    "line graph": lambda g, op, x: gf.line_graph(g),
}


@pytest.mark.parametrize("name", LARGE)
def test_no_dense_matrix_of_a_large_graph(name):
    graph = datasets.road(N, rng=0)
    op, x = made(graph), np.random.default_rng(0).standard_normal(N)
    tracemalloc.start()
    LARGE[name](graph, op, x)
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert peak < 0.5 * 8 * N**2
