"""torch takes an operator on the device as it is: by DLPack, over the same memory, and gradients flow through it.

The double of a device lets no NumPy function read its arrays, but DLPack it speaks, as CuPy does.
"""

import dataclasses

import numpy as np
import pytest
import torch

import gsp_fb as gf
from gsp_fb._kernels.torch_sparse import as_tensor
from gsp_fb.errors import GraphError
from gsp_fb.nn import SparseMatrix, build
from gsp_fb.nn.propagation.operators import operator_propagation
from gsp_fb.sampling.subgraphs import mean_matrix
from gsp_fb.variants import VARIANTS
from tests.support import device


@pytest.fixture(scope="module")
def blocks():
    return gf.datasets.contextual_sbm(40, n_classes=2, degree=5, n_features=4, n_splits=1, rng=0)


def moved(data):
    return dataclasses.replace(data, graph=data.graph.to(device.DEVICE))


def address(array):
    return torch.from_dlpack(array).data_ptr()


def test_tensors_lie_over_the_memory_of_the_device(monkeypatch, small):
    op = gf.operator(small.there, "sym")
    made = op.to_sparse()
    monkeypatch.setattr(gf.Operator, "to_sparse", lambda self: made)
    P = SparseMatrix.from_operator(op, dtype=torch.float64)
    assert P.symmetric
    assert P.csr.values().data_ptr() == address(made.data)
    assert P.csr.col_indices().data_ptr() == address(made.indices)
    assert P.csr.crow_indices().data_ptr() == address(made.indptr)


def test_a_tensor_goes_to_the_device_without_a_copy():
    from array_api_strict import from_dlpack

    h = torch.arange(6.0, dtype=torch.float64).reshape(3, 2)
    x = from_dlpack(h)
    assert address(x) == h.data_ptr()
    assert as_tensor(x).data_ptr() == h.data_ptr()


@pytest.mark.parametrize("family", VARIANTS)
def test_products_and_gradients_are_those_of_the_host(small, family):
    here, there = (operator_propagation(graph, family, dtype=torch.float64) for graph in (small.here, small.there))
    gradients = []
    for pair in (here, there):
        h = torch.from_numpy(small.x.copy()).requires_grad_()
        (pair.low(h) ** 2 + pair.high(h)).sum().backward()
        gradients.append(h.grad)
    assert torch.equal(*gradients)


@pytest.mark.parametrize("model", ["gcn", "fb-gcn", "fb-gcnii"])
def test_models_over_an_operator_take_a_graph_on_the_device(blocks, model):
    here, there = (build(model, data, seed=0, dropout=0.0, dtype=torch.float64) for data in (blocks, moved(blocks)))
    x = torch.from_numpy(np.asarray(blocks.x, dtype=np.float64))
    for net in (here, there):
        net.eval()
    assert torch.equal(here(x), there(x))


@pytest.mark.parametrize("model", ["fb-gat", "fb-graphsage", "fb-graphsaint", "fb-gwnn"])
def test_models_over_something_else_say_where_they_want_it(blocks, model):
    with pytest.raises(GraphError, match=r"on the CPU; call \.to\('cpu'\) on this graph on 'double' first"):
        build(model, moved(blocks), seed=0)


def test_what_runs_on_the_host_says_so(small):
    for refused in (gf.verify, lambda graph: graph.reordered("rcm"), mean_matrix):
        with pytest.raises(GraphError, match="on the CPU"):
            refused(small.there)
    with pytest.raises(GraphError, match=r"graph\.to\('cpu'\)"):
        gf.operator(small.there, "sym").to_scipy()
