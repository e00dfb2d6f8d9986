"""PyTorch Geometric: conversion both ways, against its own utilities."""

from __future__ import annotations

import numpy as np
import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st
from torch_geometric.data import Data
from torch_geometric.utils import contains_self_loops, is_undirected, to_dense_adj

from gsp_fb import Graph
from gsp_fb.convert import from_pyg, to_pyg
from gsp_fb.errors import GraphError
from gsp_fb.testing import graphs


@pytest.mark.parametrize("directed", [False, True])
@settings(max_examples=50)
@given(data=st.data())
def test_there_and_back_is_the_same_graph(directed: bool, data: st.DataObject) -> None:
    graph = data.draw(graphs(directed=directed))
    again = from_pyg(to_pyg(graph), directed=directed)
    assert (again.directed, again.is_weighted) == (directed, graph.is_weighted)
    np.testing.assert_array_equal(again.adjacency.toarray(), graph.adjacency.toarray())


@settings(max_examples=50)
@given(graphs())
def test_pyg_sees_the_same_matrix(graph: Graph) -> None:
    data = to_pyg(graph)
    data.validate(raise_on_error=True)
    assert (data.num_nodes, data.is_undirected()) == (graph.n_nodes, True)
    assert contains_self_loops(data.edge_index) == bool(graph.n_loops)
    dense = to_dense_adj(data.edge_index, edge_attr=data.edge_weight, max_num_nodes=graph.n_nodes)[0]
    np.testing.assert_array_equal(dense.numpy(), graph.adjacency.toarray())


def test_an_asymmetric_edge_index_needs_a_word() -> None:
    data = Data(edge_index=torch.tensor([[0, 1], [1, 2]]), num_nodes=3)
    assert not is_undirected(data.edge_index)
    with pytest.raises(GraphError, match=r"not symmetric.*symmetrize='max'.*directed=True"):
        from_pyg(data)
    assert from_pyg(data, directed=True).n_edges == 2
    assert from_pyg(data, symmetrize="max").n_edges == 2


@pytest.mark.parametrize(
    ("name", "value", "degree"),
    [
        ("edge_weight", torch.tensor([0.1, 0.1]), float(np.float32(0.1))),
        ("edge_attr", torch.tensor([3.0, 3.0]), 3.0),
        ("edge_attr", torch.tensor([[3], [3]]), 3.0),
        ("edge_attr", torch.tensor([[3.0, 1.0], [3.0, 1.0]]), 1.0),
        ("edge_weight", torch.tensor([2.0, 2.0], requires_grad=True), 2.0),
    ],
)
def test_what_counts_as_a_weight(name: str, value: torch.Tensor, degree: float) -> None:
    data = Data(edge_index=torch.tensor([[0, 1], [1, 0]]), num_nodes=2, **{name: value})
    assert from_pyg(data).degrees.tolist() == [degree, degree]


def test_repeated_arcs_and_a_missing_index() -> None:
    data = Data(edge_index=torch.tensor([[0, 0, 1, 1], [1, 1, 0, 0]]), num_nodes=2)
    with pytest.raises(GraphError, match="2 of 4 listed edges repeat"):
        from_pyg(data)
    assert from_pyg(data, duplicates="first").degrees.tolist() == [1.0, 1.0]
    with pytest.raises(GraphError, match="no edge_index"):
        from_pyg(Data(x=torch.zeros(2, 1)))


def test_features_and_classes_go_along_and_set_the_precision() -> None:
    graph = Graph.from_edges([(0, 1)], [0.5])
    x, y = np.eye(2, dtype=np.float32), np.array([0, 1])
    data = to_pyg(graph, x, y)
    assert (data.x.dtype, data.edge_weight.dtype, data.y.tolist()) == (torch.float32, torch.float32, [0, 1])
    assert to_pyg(graph).edge_weight.dtype == torch.float64
    assert "edge_weight" not in to_pyg(Graph.from_edges([(0, 1)]))
