"""Products with sparse matrices: wide and narrow, of one network and of many, and tensors over the memory of arrays."""

import numpy as np
import pytest
import torch
from scipy import sparse

from gsp_fb._kernels import torch_sparse
from gsp_fb.errors import ParameterError
from gsp_fb.nn import SparseMatrix
from gsp_fb.nn.inputs import features
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
@pytest.mark.parametrize("width", [1, 5, 40])
@pytest.mark.parametrize("tile", [1536, 2])
def test_the_products_of_all_copies_and_their_gradients_are_the_dense_ones(dtype, dropped, width, tile, monkeypatch):
    monkeypatch.setattr(torch_sparse, "TILE", tile)
    monkeypatch.setattr(torch_sparse, "ENTRIES_PER_BAG", 0)
    x, dense = sparse_x(dtype)
    dense = dense.repeat(COPIES, 1, 1)
    if dropped:
        keep = torch.arange(COPIES * x.values.numel()).reshape(COPIES, -1) % 3 > 0
        dense[dense != 0] *= keep.ravel()
        x = x.with_values(x.values * keep)
    W = weights(dtype, width=width)
    product = x @ W
    assert torch.allclose(product, dense @ W, atol=1e-5)
    grad = torch.randn(product.shape, generator=torch.Generator().manual_seed(0), dtype=dtype)
    ours, theirs = (torch.autograd.grad(p, W, grad)[0] for p in (product, dense @ W))
    assert torch.allclose(ours, theirs, atol=1e-5)


def test_sparse_features_become_dense():
    x, dense = sparse_x(torch.float64)
    assert torch.equal(x.to_dense(), dense)


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
    assert torch.equal(ours.t_values, theirs.t_values)


def test_a_block_of_a_matrix_keeps_its_entries():
    matrix = sparse.random_array((6, 6), density=0.5, rng=np.random.default_rng(0), format="csr")
    P = SparseMatrix.from_scipy(matrix, dtype=torch.float64)
    nodes = np.array([4, 0, 3])
    assert np.array_equal(P.restrict(nodes).csr.to_dense().numpy(), matrix.toarray()[np.ix_(nodes, nodes)])


@pytest.mark.parametrize(
    ("h", "message"),
    [
        (torch.ones(4, 2), "features have 4 rows but the matrix has 3 columns"),
        (torch.ones(3, 2, dtype=torch.float64), r"features are torch.float64 but the matrix torch.float32; call .to"),
    ],
)
def test_features_that_do_not_fit_are_refused(h, message):
    with pytest.raises(ParameterError, match=message):
        SparseMatrix.from_scipy(sparse.csr_array(np.eye(3))) @ h
