"""Sampling sets and recovery: exact on bandlimited signals, a noise bound that holds, refusals."""

from itertools import pairwise

import numpy as np
import pytest

import gsp_fb as gf
from gsp_fb import datasets
from gsp_fb.errors import ParameterError, SignalError
from gsp_fb.sampling import condition, recover, sampling_set
from gsp_fb.variants import VARIANTS


@pytest.fixture
def rng():
    return np.random.default_rng(0)


GRAPHS = {
    "sensor": lambda: datasets.sensor(60, rng=0),
    "torus-like": lambda: datasets.ring(40),
    "star": lambda: datasets.star(20),
    "two parts": lambda: gf.Graph.from_edges([(0, 1), (1, 2), (3, 4), (4, 5), (5, 3)]),
}


@pytest.mark.parametrize("method", ["greedy", "leverage"])
@pytest.mark.parametrize("family", VARIANTS)
@pytest.mark.parametrize("name", GRAPHS)
def test_bandlimited_signals_are_recovered(name, family, method, rng):
    op = gf.operator(GRAPHS[name](), family, "high")
    k = 3
    nodes = sampling_set(op, k, 5, method=method, rng=3)
    assert len(set(nodes.tolist())) == 5
    x = gf.spectrum(op, k=k).basis @ rng.standard_normal((k, 2))
    if condition(op, nodes, k).unique:
        np.testing.assert_allclose(recover(op, nodes, x[nodes], k), x, atol=1e-9 * np.abs(x).max())
    else:
        assert method == "leverage"


@pytest.mark.parametrize("family", ["comb", "sym", "rw"])
def test_noise_is_amplified_by_at_most_the_stated_gain(family, rng):
    op = gf.operator(datasets.sensor(80, rng=1), family, "high")
    nodes = sampling_set(op, 6, 9)
    found = condition(op, nodes, 6)
    x = gf.spectrum(op, k=6).basis @ rng.standard_normal(6)
    for _ in range(20):
        noise = 1e-3 * rng.standard_normal(9)
        error = op.scale * (recover(op, nodes, x[nodes] + noise, 6) - x)
        assert np.linalg.norm(error) <= found.noise_gain * np.linalg.norm(op.scale[nodes] * noise) * (1 + 1e-9)


def test_greedy_raises_the_determinant_as_an_exhaustive_search_of_one_step():
    op = gf.operator(datasets.sensor(30, rng=2), "comb", "high")
    basis = gf.spectrum(op, k=4).symmetrized_basis
    nodes = sampling_set(op, 4, 6)
    for size in (4, 5):
        chosen = nodes[:size]
        rest = [i for i in range(30) if i not in chosen]
        gains = [np.linalg.slogdet(basis[[*chosen, i]].T @ basis[[*chosen, i]])[1] for i in rest]
        assert nodes[size] == rest[int(np.argmax(gains))]


def test_more_samples_do_not_worsen_the_gain():
    op = gf.operator(datasets.sensor(50, rng=0), "sym", "high")
    nodes = sampling_set(op, 5, 20)
    gains = [condition(op, nodes[:size], 5).noise_gain for size in range(5, 21)]
    assert all(after <= before * (1 + 1e-9) for before, after in pairwise(gains))


def test_complex_and_single_precision_values():
    op = gf.operator(datasets.path(8), "comb", "high")
    nodes = sampling_set(op, 2, 3)
    x = gf.spectrum(op, k=2).basis @ np.array([1.0 + 2j, -1j])
    np.testing.assert_allclose(recover(op, nodes, x[nodes], 2), x, atol=1e-12)
    assert recover(op, nodes, x.real[nodes].astype(np.float32), 2).dtype == np.float32


@pytest.mark.parametrize(
    ("call", "error", "message"),
    [
        (lambda op: sampling_set(op, 3, 2), ParameterError, "between k=3"),
        (lambda op: sampling_set(op, 3, 99), ParameterError, "8 nodes"),
        (lambda op: sampling_set(op.complement(), 3, 4), ParameterError, "complement"),
        (lambda op: sampling_set(op, 3, 4, method="best"), ParameterError, "greedy"),
        (lambda op: recover(op, [0], [1.0], 2), ParameterError, "do not determine"),
        (lambda op: recover(op, [0, 0], [1.0, 1.0], 2), ParameterError, "twice"),
        (lambda op: recover(op, [0, 9], [1.0, 1.0], 2), ParameterError, "node 9"),
        (lambda op: recover(op, [0.5, 2], [1.0, 1.0], 2), ParameterError, "node numbers"),
        (lambda op: recover(op, [0, 1], [1.0, 1.0, 1.0], 2), SignalError, "values at 2 nodes"),
        (lambda op: recover(op, [0, 1], [1.0, np.nan], 2), SignalError, "nan"),
    ],
)
def test_refusals(call, error, message):
    with pytest.raises(error, match=message):
        call(gf.operator(datasets.path(8), "comb", "high"))
