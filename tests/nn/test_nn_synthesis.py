"""The synthesis of a large graph in few passes equals the operations one by one, with its gradients."""

from functools import partial

import pytest
import torch

from gsp_fb._kernels import synthesis
from gsp_fb.datasets import contextual_sbm
from gsp_fb.nn import SparseMatrix, operator_propagation
from gsp_fb.nn.propagation.operators import Spatial

pytest.importorskip("numba")

GRAPH = contextual_sbm(30, rng=0).graph


def pair(own, dtype):
    if not own:
        return operator_propagation(GRAPH, "lazy_rw", dtype=dtype)
    return Spatial(SparseMatrix.from_scipy(GRAPH.adjacency, dtype=dtype))


def inputs(copies, dtype=torch.float64, width=10):
    generator = torch.Generator().manual_seed(0)
    z = torch.randn(*copies, GRAPH.n_nodes, width, generator=generator, dtype=dtype)
    alphas = torch.rand(*copies, 2, generator=generator, dtype=dtype) + 0.5
    return z.requires_grad_(), alphas.requires_grad_()


@pytest.fixture(params=[10**9, 0], ids=["one-range-of-rows", "many"])
def loops(request, monkeypatch):
    """Compiled loops at any size."""
    monkeypatch.setattr(synthesis, "LOOPED_FROM", 0)
    monkeypatch.setattr(synthesis, "THREADS_FROM", request.param)


@pytest.mark.usefixtures("loops")
@pytest.mark.parametrize("dtype", [torch.float32, torch.float64])
@pytest.mark.parametrize("copies", [(), (3,)])
@pytest.mark.parametrize("width", [2, 10, 16, 42])  # rests of a vector alone, whole vectors alone, and both
@pytest.mark.parametrize(("own", "second"), [(0.0, "high"), (1.0, "high"), (0.0, "identity"), (1.0, "identity")])
def test_the_loops_give_the_operations_one_by_one(own, second, width, copies, dtype):
    given, propagation = inputs(copies, dtype, width), pair(own, dtype)
    bias = torch.randn(*copies, width // 2, generator=torch.Generator().manual_seed(2), dtype=dtype).requires_grad_()
    looped, given = propagation.rectified(*given, second, bias), (*given, bias)
    (h_low, h_second), weights = torch.relu(given[0]).chunk(2, -1), given[1][..., None, None].unbind(-3)
    plain = weights[0] * propagation.low(h_low) + weights[1] * getattr(propagation, second)(h_second)
    plain = plain + bias.unsqueeze(-2)
    torch.testing.assert_close(looped, plain)
    grad = torch.randn(plain.shape, generator=torch.Generator().manual_seed(1), dtype=dtype)
    for found, expected in zip(
        torch.autograd.grad(looped, given, grad), torch.autograd.grad(plain, given, grad), strict=True
    ):
        torch.testing.assert_close(found, expected)


@pytest.mark.usefixtures("loops")
def test_a_copy_has_the_numbers_that_it_has_alone():
    z, alphas = inputs((3,), torch.float32, 42)
    propagation = pair(1.0, torch.float32)
    grad = torch.randn(3, GRAPH.n_nodes, 21, generator=torch.Generator().manual_seed(1))
    batched = propagation.rectified(z, alphas, "high")
    gradients = torch.autograd.grad(batched, (z, alphas), grad)
    for k in range(3):
        given = [part.detach()[k : k + 1].clone().requires_grad_() for part in (z, alphas)]
        alone = propagation.rectified(*given, "high")
        assert torch.equal(alone[0], batched[k])
        for found, expected in zip(torch.autograd.grad(alone, given, grad[k : k + 1]), gradients, strict=True):
            assert torch.equal(found[0], expected[k])


@pytest.mark.usefixtures("loops")
def test_gradients_of_gradients_flow():
    propagation = pair(0.0, torch.float64)
    for second in ("high", "identity"):
        assert torch.autograd.gradgradcheck(partial(propagation.rectified, second=second), inputs(()))


@pytest.mark.usefixtures("loops")
def test_what_is_not_a_number_passes_the_rectifier():
    z, alphas = inputs(())
    z = z.detach().clone()
    z[4, 2] = torch.nan
    assert torch.isnan(pair(0.0, torch.float64).rectified(z, alphas, "high")[4, 2])
    z, alphas = (part.detach().clone() for part in inputs((), width=32))
    z[4, 2], z[5, 20] = torch.nan, torch.nan
    found = pair(0.0, torch.float64).rectified(z, alphas, "high")
    assert torch.isnan(found[[4, 5], [2, 4]]).all()


def test_a_small_graph_and_other_precisions_are_left_to_torch():
    z, alphas = inputs(())
    assert pair(0.0, torch.float64).rectified(z, alphas, "high") is None
