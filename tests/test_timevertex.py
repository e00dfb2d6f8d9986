"""Joint transforms against dense Kronecker products."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import sparse

import gsp_fb as gf
from gsp_fb.errors import ParameterError, SignalError
from gsp_fb.testing import graphs, magnetic_graphs, operators, signals, signed_graphs

HIGH = operators(graphs() | signed_graphs() | magnetic_graphs(), channel="high", isolated="self")


def fourier(n_times):
    steps = np.arange(n_times)
    return np.exp(-2j * np.pi * np.outer(steps, steps) / n_times) / np.sqrt(n_times)


@given(HIGH, signals(columns=st.integers(1, 5)))
def test_the_joint_transform_is_the_kronecker_product(op, signal):
    x, modes = signal(op.graph), gf.spectrum(op)
    c = gf.joint_gft(modes, x)
    whole = np.kron(np.linalg.inv(modes.basis), fourier(x.shape[1]))
    size = 1 + np.abs(c).max(initial=0.0)
    assert np.allclose(c.ravel(), whole @ x.ravel(), atol=1e-7 * size)
    assert np.allclose(gf.joint_igft(modes, c), x, atol=1e-8 * (1 + np.abs(x).max()) * op.scale.max() / op.scale.min())
    energy = np.sum(op.scale[:, None] ** 2 * np.abs(x) ** 2)
    assert np.isclose(np.sum(np.abs(c) ** 2), energy)


def test_a_sparse_signal_is_transformed_as_a_dense_one():
    op = gf.operator(gf.datasets.ring(5), "sym", channel="high")
    x = np.eye(5)[:, :3]
    assert np.allclose(gf.joint_gft(op, sparse.csr_array(x)), gf.joint_gft(op, x), atol=1e-15)
    filters = gf.filters.heat(1.0), abs
    assert np.allclose(gf.joint_filter(op, sparse.csr_array(x), *filters), gf.joint_filter(op, x, *filters), atol=1e-15)


@given(operators(graphs() | magnetic_graphs(), channel="high", isolated="self", family="sym"), signals(columns=6))
def test_separable_filters_multiply_joint_coefficients(op, signal):
    x, modes = signal(op.graph), gf.spectrum(op)
    ours = gf.joint_filter(op, x, gf.filters.heat(1.0), lambda f: 1 / (1 + 20 * f**2))
    gains = np.outer(np.exp(-modes.frequencies), 1 / (1 + 20 * np.fft.fftfreq(6) ** 2))
    dense = gf.joint_igft(modes, gains * gf.joint_gft(modes, x))
    assert np.allclose(ours, dense, atol=1e-6 * (1 + np.abs(x).max()))
    assert np.iscomplexobj(ours) == op.graph.is_complex


def test_a_delay_is_a_complex_time_kernel_with_a_real_result():
    op = gf.operator(gf.datasets.ring(700), "sym", channel="high")
    x = np.random.default_rng(0).standard_normal((700, 9))
    moved = gf.joint_filter(op, x, np.ones_like, lambda f: np.exp(-2j * np.pi * f))
    assert np.allclose(moved, np.roll(x, 1, axis=1), atol=1e-6)


def test_refusals():
    op = gf.operator(gf.datasets.ring(600), "sym", channel="high")
    with pytest.raises(ParameterError, match="all 600 modes"):
        gf.joint_gft(gf.spectrum(op, 4), np.ones((600, 2)))
    with pytest.raises(SignalError, match="n_times"):
        gf.joint_gft(gf.operator(gf.datasets.ring(6), "sym", channel="high"), np.ones(6))
    with pytest.raises(ParameterError, match="time kernel"):
        gf.joint_filter(op, np.ones((600, 2)), gf.filters.heat(1.0), lambda f: 1.0)


@pytest.mark.parametrize(
    ("kernel", "time_kernel", "message"),
    [
        (gf.filters.low_pass(), 3, "function of frequency, not int"),
        (gf.filters.low_pass(), lambda f: np.where(f == 0, np.inf, 1.0), "inf at frequency 0"),
        (gf.filters.low_pass(), lambda f: ["a"] * len(f), "type <U1"),
        (gf.filters.regular(), np.ones_like, "one kernel over nodes, not a bank of 2"),
    ],
)
def test_gains_are_checked(kernel, time_kernel, message):
    with pytest.raises(ParameterError, match=message):
        gf.joint_filter(gf.operator(gf.datasets.ring(6), "sym", channel="high"), np.ones((6, 4)), kernel, time_kernel)


@pytest.mark.parametrize("kind", [np.float32, np.float64, np.complex64])
def test_a_joint_filter_keeps_the_precision_of_the_signal(kind):
    op = gf.operator(gf.datasets.ring(6), "sym", channel="high")
    assert gf.joint_filter(op, np.ones((6, 4), kind), gf.filters.low_pass(), np.ones_like).dtype == kind
