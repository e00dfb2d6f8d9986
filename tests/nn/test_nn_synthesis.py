"""The synthesis of rectified channels as one operation, of one network and of many."""

import numpy as np
import pytest
import torch
from scipy import sparse

from gsp_fb._kernels import threads
from gsp_fb.nn import looping, synthesis
from gsp_fb.nn.sparse import SparseMatrix
from gsp_fb.nn.synthesis import plain_synthesis, rectified_synthesis

COPIES = 3


@pytest.fixture(autouse=True)
def always_compiled(monkeypatch):
    pytest.importorskip("numba")
    monkeypatch.setattr(synthesis, "COMPILED_FROM", 0)


def synthesis_parts(dtype, copies=(COPIES,), width=4):
    """Return pre-activations of both channels, two weights a copy, and a matrix that is not symmetric."""
    rng = np.random.default_rng(3)
    z = torch.from_numpy(rng.normal(size=(*copies, 6, 2 * width))).to(dtype).requires_grad_()
    alphas = [torch.from_numpy(rng.random((*copies, 1, 1))).to(dtype).requires_grad_() for _ in range(2)]
    matrix = sparse.csr_array(rng.normal(size=(6, 6)) * (rng.random((6, 6)) < 0.5))
    return z, alphas, SparseMatrix.from_scipy(matrix, dtype=dtype), torch.from_numpy(matrix.toarray()).to(dtype)


@pytest.mark.parametrize("share", [0.0, 1.0])
@pytest.mark.parametrize("dtype", [torch.float32, torch.float64])
@pytest.mark.parametrize("copies", [(), (COPIES,)])
@pytest.mark.parametrize("width", [1, 4, 7, 16, 64, 87])
def test_the_synthesis_and_its_gradients_are_the_dense_ones(dtype, share, copies, width):
    """Every width: columns are taken 64, 16, 4 and 1 at a time."""
    z, alphas, matrix, P = synthesis_parts(dtype, copies, width)
    low, high = (a * part for a, part in zip(alphas, torch.relu(z).chunk(2, dim=-1), strict=True))
    theirs = share * low + high + P @ (low - high)
    ours = rectified_synthesis(z, *alphas, matrix, share)
    assert torch.allclose(ours, theirs, atol=1e-5)
    grad = torch.randn(ours.shape, generator=torch.Generator().manual_seed(0), dtype=dtype)
    pairs = zip(*(torch.autograd.grad(result, [z, *alphas], grad) for result in (ours, theirs)), strict=True)
    assert all(torch.allclose(one, other, atol=1e-5) for one, other in pairs)


@pytest.mark.parametrize("copies", [(), (COPIES,)])
def test_gradients_of_the_synthesis_and_their_own(copies):
    z, alphas, matrix, _ = synthesis_parts(torch.float64, copies)
    assert torch.autograd.gradcheck(lambda *parts: rectified_synthesis(*parts, matrix, 1.0), (z, *alphas))
    assert torch.autograd.gradgradcheck(lambda *parts: rectified_synthesis(*parts, matrix, 1.0), (z, *alphas))


@pytest.mark.parametrize("setting", ["small", "scipy"])
def test_what_the_loops_do_not_take_is_the_same_by_torch(setting, monkeypatch):
    z, alphas, matrix, _ = synthesis_parts(torch.float64, ())
    ours = rectified_synthesis(z, *alphas, matrix, 1.0)
    monkeypatch.setattr(synthesis, "_Synthesis", None)
    if setting == "small":
        monkeypatch.setattr(synthesis, "COMPILED_FROM", 10**9)
    else:
        monkeypatch.setenv("GSP_FB_ENGINE", "scipy")
    assert torch.allclose(rectified_synthesis(z, *alphas, matrix, 1.0), ours)


@pytest.mark.parametrize("copies", [(), (COPIES,)])
def test_threads_share_the_rows_and_change_nothing(copies, monkeypatch):
    z, alphas, matrix, _ = synthesis_parts(torch.float32, copies)
    monkeypatch.setattr(looping, "SHARED_FROM", 0)
    monkeypatch.setattr(threads, "BLOCK_WORK", 20)
    results = []
    for count in (1, 2):
        torch.set_num_threads(count)
        monkeypatch.setenv("GSP_FB_THREADS", str(count))
        mixed = rectified_synthesis(z, *alphas, matrix, 1.0)
        results.append([mixed, *torch.autograd.grad(mixed.sum(), [z, *alphas])])
    assert all(torch.equal(one, two) for one, two in zip(*results, strict=True))
    whole = plain_synthesis(z, *alphas, matrix, 1.0)
    theirs = [whole, *torch.autograd.grad(whole.sum(), [z, *alphas])]
    assert all(torch.allclose(one, two, atol=1e-5) for one, two in zip(results[0], theirs, strict=True))


def test_fixed_weights_serve_all_copies_of_a_synthesis():
    z, _, matrix, P = synthesis_parts(torch.float64)
    low, high = torch.relu(z).chunk(2, dim=-1)
    half = torch.tensor(0.5)
    expected = 0.5 * (high + P @ (low - high))
    assert torch.allclose(rectified_synthesis(z, half, half, matrix, 0.0), expected)


def test_an_infinite_pre_activation_below_zero_counts_as_none():
    z, alphas, matrix, _ = synthesis_parts(torch.float64)
    broken = z.detach().clone()
    broken[1, 2, 3] = -torch.inf
    broken.requires_grad_()
    mixed = rectified_synthesis(broken, *alphas, matrix, 1.0)
    grads = torch.autograd.grad(mixed.sum(), [broken, *alphas])
    assert all(torch.isfinite(part).all() for part in (mixed, *grads))


def test_what_is_not_a_number_survives_the_synthesis():
    z, alphas, matrix, _ = synthesis_parts(torch.float64)
    broken = z.detach().clone()
    broken[1, 2, 3] = torch.nan
    mixed = rectified_synthesis(broken, *alphas, matrix, 1.0)
    assert torch.isnan(mixed[1]).any()
    assert not torch.isnan(mixed[[0, 2]]).any()
