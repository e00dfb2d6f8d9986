"""torch tensors: every layout both ways, and scipy's formats beside them."""

from __future__ import annotations

import subprocess
import sys

import numpy as np
import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st
from scipy import sparse

from gsp_fb import Graph
from gsp_fb.convert import from_torch, to_torch
from gsp_fb.errors import GraphError, ParameterError
from gsp_fb.nn import SparseMatrix
from gsp_fb.testing import graphs

LAYOUTS = {"csr": torch.sparse_csr, "coo": torch.sparse_coo, "dense": torch.strided}
FORMATS = ["csr", "csc", "coo", "bsr", "lil", "dok", "dia"]


@pytest.mark.parametrize("layout", LAYOUTS)
@pytest.mark.parametrize("directed", [False, True])
@given(data=st.data())
def test_there_and_back_is_the_same_graph(layout, directed, data):
    graph = data.draw(graphs(directed=directed))
    A = to_torch(graph, layout=layout)
    assert A.layout == LAYOUTS[layout]
    np.testing.assert_array_equal(A.to_dense().numpy(), graph.adjacency.toarray())
    again = from_torch(A, directed=directed)
    assert (again.directed, again.is_weighted) == (directed, graph.is_weighted)
    np.testing.assert_array_equal(again.adjacency.toarray(), graph.adjacency.toarray())


@pytest.mark.parametrize("form", FORMATS)
@pytest.mark.parametrize("kind", ["array", "matrix"])
@given(graph=graphs())
def test_scipy_there_and_back(form, kind, graph):
    maker = getattr(sparse, f"{form}_{kind}")
    again = Graph.from_adjacency(maker(graph.adjacency))
    np.testing.assert_array_equal(again.adjacency.toarray(), graph.adjacency.toarray())


@given(graphs(), st.sampled_from(["sym", "renorm_rw", "lazy_sym"]))
def test_an_operator_in_torch_is_the_operator(graph, family):
    from gsp_fb import operator

    op = operator(graph, family)
    x = np.random.default_rng(0).standard_normal((graph.n_nodes, 2))
    got = SparseMatrix.from_operator(op, dtype=torch.float64) @ torch.from_numpy(x)
    np.testing.assert_allclose(got.numpy(), op @ x, atol=1e-11 * max(1.0, np.abs(op @ x).max()))


def test_entries_listed_again_are_summed_as_torch_sums_them():
    A = torch.sparse_coo_tensor([[0, 0, 1], [1, 1, 0]], [1.0, 2.0, 3.0], (2, 2), check_invariants=True)
    np.testing.assert_array_equal(from_torch(A).adjacency.toarray(), A.to_dense().numpy())


def test_a_fresh_process_is_not_told_that_csr_is_in_beta():
    code = "import gsp_fb as gf; gf.convert.from_torch(gf.convert.to_torch(gf.Graph.from_edges([(0, 1)])))"
    subprocess.run([sys.executable, "-W", "error", "-c", code], check=True)


def test_csc_and_gradients_and_precision():
    A = torch.tensor([[0.0, 0.1], [0.1, 0.0]], requires_grad=True)
    assert from_torch(A).degrees.tolist() == [float(np.float32(0.1))] * 2
    assert from_torch(A.detach().to_sparse_csc()).n_edges == 1
    assert to_torch(Graph.from_edges([(0, 1)]), dtype=torch.float32).dtype == torch.float32


@pytest.mark.parametrize(
    ("act", "error", "message"),
    [
        (lambda: from_torch(np.eye(2)), GraphError, "needs a torch tensor, not ndarray"),
        (lambda: from_torch(torch.ones(2, 3)), GraphError, "must be square"),
        (lambda: from_torch(torch.ones(2)), GraphError, r"shape \(2,\)"),
        (lambda: from_torch(torch.tensor([[0.0, -1.0], [-1.0, 0.0]])), GraphError, "weight -1"),
        (lambda: from_torch(torch.tensor([[0.0, 1.0], [0.0, 0.0]])), GraphError, "symmetrize="),
        (lambda: to_torch(Graph.from_edges([(0, 1)]), layout="ell"), ParameterError, "unknown layout 'ell'"),
    ],
)
def test_errors_name_the_value_and_the_remedy(act, error, message):
    with pytest.raises(error, match=message):
        act()
