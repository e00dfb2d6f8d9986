"""Products of many rows with small weights: block by block the same as torch's, with their gradients."""

import pytest
import torch

from gsp_fb._kernels import torch_dense
from gsp_fb._kernels.torch_dense import dense_product, empty_tensor


@pytest.fixture(params=[4096, 7], ids=["one-block", "blocks"], autouse=True)
def blocks(request, monkeypatch):
    monkeypatch.setattr(torch_dense, "ROWS", request.param)


def inputs(width, dtype=torch.float32):
    generator = torch.Generator().manual_seed(0)
    shapes = (30, 20), (20, width), (30, width)
    x, weight, grad = (torch.randn(shape, generator=generator, dtype=dtype) for shape in shapes)
    return x.requires_grad_(), weight.requires_grad_(), grad


@pytest.mark.parametrize("width", [1, 6, 40])
@pytest.mark.parametrize("dtype", [torch.float32, torch.float64])
def test_product_and_gradients_are_those_of_torch(width, dtype):
    x, weight, grad = inputs(width, dtype)
    torch.testing.assert_close(dense_product(x, weight), x @ weight)
    ours, theirs = (torch.autograd.grad(p, (x, weight), grad) for p in (dense_product(x, weight), x @ weight))
    torch.testing.assert_close(ours, theirs)


def test_gradients_of_gradients_are_those_of_torch():
    x, weight, _ = inputs(6)

    def second(product):
        first = torch.autograd.grad(product.square().sum(), (x, weight), create_graph=True)
        return torch.autograd.grad(sum(part.square().sum() for part in first), (x, weight))

    torch.testing.assert_close(second(dense_product(x, weight)), second(x @ weight), rtol=1e-4, atol=1e-1)


def test_what_torch_transforms_is_left_to_torch():
    x, weight = (part.detach() for part in inputs(6)[:2])
    stacked = torch.func.vmap(lambda w: dense_product(x, w))(torch.stack([weight, 2 * weight]))
    torch.testing.assert_close(stacked[1], 2 * (x @ weight))
    _, tangent = torch.func.jvp(lambda w: dense_product(x, w), (weight,), (torch.ones_like(weight),))
    torch.testing.assert_close(tangent, x @ torch.ones_like(weight))
    with torch.autocast("cpu", dtype=torch.bfloat16):
        assert dense_product(x, weight).dtype == torch.bfloat16


@pytest.mark.parametrize("dtype", [torch.float32, torch.float64])
def test_large_tensors_begin_on_a_cache_line(dtype, monkeypatch):
    monkeypatch.setattr(torch_dense, "HUGE", 0)
    found = empty_tensor((3, 5, 7), torch.ones(1, dtype=dtype))
    assert (found.shape, found.dtype, found.data_ptr() % 64) == ((3, 5, 7), dtype, 0)
