"""The synthesis of a large graph in few passes equals the operations one by one, with its gradients."""

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


def inputs(copies, dtype=torch.float64):
    generator = torch.Generator().manual_seed(0)
    z = torch.randn(*copies, GRAPH.n_nodes, 10, generator=generator, dtype=dtype)
    alphas = torch.rand(*copies, 2, generator=generator, dtype=dtype) + 0.5
    return z.requires_grad_(), alphas.requires_grad_()


@pytest.mark.parametrize("limits", [(0, 10**9), (0, 0)])  # one range of rows, and many
@pytest.mark.parametrize("dtype", [torch.float32, torch.float64])
@pytest.mark.parametrize("copies", [(), (3,)])
@pytest.mark.parametrize("own", [0.0, 1.0])
def test_the_loops_give_the_operations_one_by_one(own, copies, dtype, limits, monkeypatch):
    for name, limit in zip(("LOOPED_FROM", "THREADS_FROM"), limits, strict=True):
        monkeypatch.setattr(synthesis, name, limit)
    given, propagation = inputs(copies, dtype), pair(own, dtype)
    looped = propagation.rectified(*given)
    z, (a_low, a_high) = torch.relu(given[0]), given[1][..., None, None].unbind(-3)
    plain = propagation.synthesize(*(a * part for a, part in zip((a_low, a_high), z.chunk(2, -1), strict=True)))
    torch.testing.assert_close(looped, plain)
    grad = torch.randn(plain.shape, generator=torch.Generator().manual_seed(1), dtype=dtype)
    for found, expected in zip(
        torch.autograd.grad(looped, given, grad), torch.autograd.grad(plain, given, grad), strict=True
    ):
        torch.testing.assert_close(found, expected)


def test_gradients_of_gradients_flow(monkeypatch):
    monkeypatch.setattr(synthesis, "LOOPED_FROM", 0)
    propagation = pair(0.0, torch.float64)
    assert torch.autograd.gradgradcheck(propagation.rectified, inputs(()))


def test_what_is_not_a_number_passes_the_rectifier(monkeypatch):
    monkeypatch.setattr(synthesis, "LOOPED_FROM", 0)
    z, alphas = inputs(())
    z = z.detach().clone()
    z[4, 2] = torch.nan
    assert torch.isnan(pair(0.0, torch.float64).rectified(z, alphas)[4, 2])


def test_a_small_graph_and_other_precisions_are_left_to_torch():
    z, alphas = inputs(())
    assert pair(0.0, torch.float64).rectified(z, alphas) is None
