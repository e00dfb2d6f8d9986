"""One pattern times many matrices, and tensors over the memory of arrays."""

from unittest import mock

import numpy as np
import pytest
import torch
from scipy import sparse

from gsp_fb.nn import inputs
from gsp_fb.nn.inputs import features
from gsp_fb.nn.looping import is_loopable
from gsp_fb.nn.sparse import SparseMatrix
from gsp_fb.nn.stacked import recycle_gradients, recycling, stacked_product
from tests.support import device

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
    assert is_loopable(W)
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


@pytest.mark.parametrize(("dtype", "width"), [(torch.float64, 5), (torch.float32, 40)])
def test_one_thread_and_several_agree(dtype, width, monkeypatch):
    pytest.importorskip("numba")
    x, _ = sparse_x(dtype)
    W = weights(dtype, width=width)
    monkeypatch.setattr(inputs, "stacked_product", mock.Mock(side_effect=stacked_product))
    one = x @ W
    torch.set_num_threads(2)
    assert torch.allclose(x @ W, one, atol=1e-5)
    torch.set_num_threads(1)
    monkeypatch.setenv("GSP_FB_ENGINE", "scipy")
    assert not is_loopable(W)
    assert torch.allclose(x @ W, one, atol=1e-5)
    inputs.stacked_product.assert_called_once()


@pytest.mark.parametrize("width", [31, 32, 100])
def test_wide_products_by_bags_are_the_dense_ones(width):
    rng = np.random.default_rng(2)
    matrix = sparse.csr_array(rng.normal(size=(7, 9)) * (rng.random((7, 9)) < 0.4))
    matrix.data[0] = 0.0
    P = SparseMatrix.from_scipy(matrix)
    h = torch.from_numpy(rng.normal(size=(9, width))).float().requires_grad_()
    strided = h.T.contiguous().T
    grad = torch.from_numpy(rng.normal(size=(7, width))).float()
    dense = torch.from_numpy(matrix.toarray()).float()
    for given in (h, strided):
        assert torch.allclose(P @ given, dense @ given, atol=1e-5)
        ours, theirs = (torch.autograd.grad(p, h, grad, retain_graph=True)[0] for p in (P @ given, dense @ given))
        assert torch.allclose(ours, theirs, atol=1e-5)


def test_wide_products_of_nothing_are_zeros():
    nothing = SparseMatrix.from_scipy(sparse.csr_array((3, 4)))
    assert torch.equal(nothing @ torch.ones(4, 40), torch.zeros(3, 40))
    assert (SparseMatrix.from_scipy(sparse.csr_array((3, 0))) @ torch.ones(0, 40)).shape == (3, 40)


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
    with recycling():
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
