"""One pattern times many matrices, and tensors over the memory of arrays."""

import numpy as np
import pytest
import torch
from scipy import sparse

from gsp_fb.nn import stacked
from gsp_fb.nn.inputs import features
from gsp_fb.nn.sparse import SparseMatrix
from gsp_fb.nn.stacked import (
    is_stackable,
    recycle_gradients,
    shared_copies,
    stacked_product,
    stacked_synthesis,
)
from gsp_fb.testing import device

COPIES = 3


def sparse_x(dtype, n=9, f=13, seed=0):
    rng = np.random.default_rng(seed)
    x = rng.normal(size=(n, f)) * (rng.random((n, f)) < 0.4)
    x[2] = 0.0
    return features(sparse.csr_array(x), dtype=dtype), torch.from_numpy(x).to(dtype)


def weights(dtype, f=13, width=5):
    return torch.from_numpy(np.random.default_rng(1).normal(size=(COPIES, f, width))).to(dtype).requires_grad_()


@pytest.mark.parametrize("dtype", [torch.float32, torch.float64])
@pytest.mark.parametrize("dropped", [False, True])
def test_the_stacked_product_and_its_gradient_are_the_dense_ones(dtype, dropped):
    pytest.importorskip("numba")
    x, dense = sparse_x(dtype)
    dense = dense.repeat(COPIES, 1, 1)
    if dropped:
        keep = torch.arange(COPIES * x.values.numel()).reshape(COPIES, -1) % 3 > 0
        dense[dense != 0] *= keep.ravel()
        x = x.with_values(x.values * keep)
    W = weights(dtype)
    assert is_stackable(W)
    product = x @ W
    assert torch.allclose(product, dense @ W, atol=1e-5)
    grad = torch.randn(product.shape, generator=torch.Generator().manual_seed(0), dtype=dtype)
    ours, theirs = (torch.autograd.grad(p, W, grad)[0] for p in (product, dense @ W))
    assert torch.allclose(ours, theirs, atol=1e-5)


def test_gradcheck_of_the_stacked_product():
    pytest.importorskip("numba")
    x, _ = sparse_x(torch.float64)
    W = weights(torch.float64, width=2)
    assert torch.autograd.gradcheck(lambda w: stacked_product(w, x.stack), (W,))
    assert torch.autograd.gradgradcheck(lambda w: stacked_product(w, x.stack) ** 2, (W,))


def test_both_engines_agree_and_threads_change_nothing(monkeypatch):
    pytest.importorskip("numba")
    x, _ = sparse_x(torch.float64)
    W = weights(torch.float64)
    one = x @ W
    torch.set_num_threads(2)
    assert torch.equal(x @ W, one)
    monkeypatch.setenv("GSP_FB_ENGINE", "scipy")
    assert not is_stackable(W)
    assert torch.allclose(x @ W, one, atol=1e-12)


def test_matrices_of_other_libraries_come_in_through_dlpack():
    matrix = sparse.csr_array(np.array([[0.0, 2.0, 0.0], [1.0, 0.0, 3.0]]))
    ours, theirs = (SparseMatrix.from_scipy(m) for m in (matrix, device.from_host(matrix)))
    h = torch.ones(3, 2)
    assert torch.equal(ours @ h, theirs @ h)
    assert torch.equal(ours.transposed.to_dense(), theirs.transposed.to_dense())


def test_a_matrix_in_torch_shares_the_memory_of_its_entries():
    matrix = sparse.csr_array(np.eye(3, dtype=np.float32))
    held = SparseMatrix.from_scipy(matrix)
    assert held.csr.values().data_ptr() == matrix.data.ctypes.data
    assert held.csr.col_indices().data_ptr() == matrix.indices.ctypes.data


def synthesis_parts(dtype):
    """Return pre-activations of both channels, two weights a copy, and a matrix that is not symmetric."""
    rng = np.random.default_rng(3)
    z = torch.from_numpy(rng.normal(size=(COPIES, 6, 8))).to(dtype).requires_grad_()
    alphas = [torch.from_numpy(rng.random((COPIES, 1, 1))).to(dtype).requires_grad_() for _ in range(2)]
    matrix = sparse.csr_array(rng.normal(size=(6, 6)) * (rng.random((6, 6)) < 0.5))
    return z, alphas, SparseMatrix.from_scipy(matrix, dtype=dtype), torch.from_numpy(matrix.toarray()).to(dtype)


@pytest.mark.parametrize("share", [0.0, 1.0])
@pytest.mark.parametrize("dtype", [torch.float32, torch.float64])
def test_the_stacked_synthesis_and_its_gradients_are_the_dense_ones(dtype, share):
    pytest.importorskip("numba")
    z, alphas, matrix, P = synthesis_parts(dtype)
    low, high = (a * part for a, part in zip(alphas, torch.relu(z).chunk(2, dim=-1), strict=True))
    theirs = share * low + high + P @ (low - high)
    ours = stacked_synthesis(z, *alphas, matrix, share)
    assert torch.allclose(ours, theirs, atol=1e-5)
    grad = torch.randn(ours.shape, generator=torch.Generator().manual_seed(0), dtype=dtype)
    pairs = zip(*(torch.autograd.grad(result, [z, *alphas], grad) for result in (ours, theirs)), strict=True)
    assert all(torch.allclose(one, other, atol=1e-5) for one, other in pairs)


def test_gradcheck_of_the_stacked_synthesis():
    pytest.importorskip("numba")
    z, alphas, matrix, _ = synthesis_parts(torch.float64)
    assert torch.autograd.gradcheck(lambda *parts: stacked_synthesis(*parts, matrix, 1.0), (z, *alphas))


def test_fixed_weights_serve_all_copies_of_a_synthesis():
    pytest.importorskip("numba")
    z, _, matrix, P = synthesis_parts(torch.float64)
    low, high = torch.relu(z).chunk(2, dim=-1)
    half = torch.tensor(0.5)
    expected = 0.5 * (high + P @ (low - high))
    assert torch.allclose(stacked_synthesis(z, half, half, matrix, 0.0), expected)


def test_what_is_not_a_number_survives_the_synthesis():
    pytest.importorskip("numba")
    z, alphas, matrix, _ = synthesis_parts(torch.float64)
    broken = z.detach().clone()
    broken[1, 2, 3] = torch.nan
    mixed = stacked_synthesis(broken, *alphas, matrix, 1.0)
    assert torch.isnan(mixed[1]).any()
    assert not torch.isnan(mixed[[0, 2]]).any()


@pytest.mark.parametrize("dtype", [torch.float32, torch.float64])
@pytest.mark.parametrize("width", [1, 5, 16, 23, 64, 90])
def test_every_width_is_summed_whole(dtype, width):
    """Four vectors of columns at a time, then one, then what is left."""
    pytest.importorskip("numba")
    x, dense = sparse_x(dtype)
    W = weights(dtype, width=width)
    assert torch.allclose(x @ W, dense @ W, atol=1e-5)
    grad = torch.ones(COPIES, 9, width, dtype=dtype)
    assert torch.allclose(torch.autograd.grad(x @ W, W, grad)[0], dense.T @ grad, atol=1e-5)


def test_recycled_gradients_are_written_anew_and_never_shared():
    pytest.importorskip("numba")
    x, dense = sparse_x(torch.float64)
    first, second = weights(torch.float64), weights(torch.float64)
    with shared_copies():
        for factor in (1.0, 2.0, 3.0):
            held = {W.grad.data_ptr() for W in (first, second) if W.grad is not None}
            recycle_gradients([first, second])
            torch.autograd.backward((factor * (x @ first) + x @ second).sum())
            expected = (dense.T @ torch.ones(9, 5, dtype=torch.float64)).expand_as(first)
            assert torch.allclose(first.grad, factor * expected)
            assert torch.allclose(second.grad, expected)
            assert not held or held == {first.grad.data_ptr(), second.grad.data_ptr()}


def test_gradients_are_not_recycled_outside_of_a_batch():
    pytest.importorskip("numba")
    x, _ = sparse_x(torch.float64)
    W = weights(torch.float64)
    torch.autograd.backward((x @ W).sum())
    kept, before = W.grad, W.grad.clone()
    recycle_gradients([W])
    torch.autograd.backward((2.0 * (x @ W)).sum())
    assert torch.equal(kept, before)
    assert torch.equal(W.grad, 2.0 * before)


def test_threads_that_share_the_copies_change_nothing_and_are_put_back(monkeypatch):
    pytest.importorskip("numba")
    x, _ = sparse_x(torch.float32)
    W = weights(torch.float32)
    one = x @ W
    monkeypatch.setattr(stacked, "SHARED_FROM", 0)
    torch.set_num_threads(2)
    with shared_copies():
        assert torch.get_num_threads() == 1
        assert torch.equal(x @ W, one)
    assert torch.get_num_threads() == 2


def test_an_error_in_a_thread_that_shares_the_copies_surfaces(monkeypatch):
    monkeypatch.setattr(stacked, "SHARED_FROM", 0)
    torch.set_num_threads(2)

    def loop(first, last):
        if last == COPIES:
            raise MemoryError("copy")

    with shared_copies(), pytest.raises(MemoryError, match="copy"):
        stacked._each_copy(loop, COPIES, 1)
    assert torch.get_num_threads() == 2
