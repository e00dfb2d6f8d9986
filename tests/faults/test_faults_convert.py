"""Rows 17 to 20 of the catalogue of faults: graphs of other libraries."""

from __future__ import annotations

import networkx as nx
import numpy as np
import pytest

from gsp_fb.convert import from_networkx, to_networkx
from gsp_fb.errors import GraphError


def test_fault_017_directed_networkx_graph() -> None:
    G = nx.DiGraph([(0, 1), (1, 2)])
    with pytest.raises(GraphError, match=r"directed; give symmetrize='max' \(or 'mean', 'sum'\) or directed=True"):
        from_networkx(G)
    assert from_networkx(G, directed=True).directed
    assert not from_networkx(G, symmetrize="max").directed


@pytest.mark.parametrize("kind", [nx.MultiGraph, nx.MultiDiGraph])
def test_fault_018_multigraph_weights_are_summed(kind: type) -> None:
    G = kind()
    G.add_weighted_edges_from([(0, 1, 0.5), (0, 1, 0.25), (1, 0, 4.0), (2, 2, 1.0), (2, 2, 1.0)])
    graph = from_networkx(G, directed=G.is_directed())
    np.testing.assert_array_equal(graph.adjacency.toarray(), nx.to_scipy_sparse_array(G).toarray())


def test_fault_019_weight_that_is_missing() -> None:
    G = nx.Graph([("a", "b")])
    G.add_edge("b", "c", weight=2.0)
    assert from_networkx(G).degrees.tolist() == [1.0, 3.0, 2.0]


@pytest.mark.parametrize("weight", [None, "heavy", "1.0", [1.0], 1j])
def test_fault_019_weight_that_is_no_number(weight: object) -> None:
    G = nx.Graph()
    G.add_edge("a", "b", weight=weight)
    with pytest.raises(GraphError) as refused:
        from_networkx(G)
    assert str(refused.value).startswith(f"edge ('a', 'b') has weight {weight!r};")


@pytest.mark.parametrize(
    "names", [("b", "a", "c"), (2.5, 1.5, 0.5), ((0, 1), (0, 0), (1, 1)), (2, 0, 1), (False, True, 2)]
)
def test_fault_020_node_names_are_kept_in_the_librarys_order(names: tuple) -> None:
    G = nx.Graph()
    G.add_nodes_from(names)
    G.add_edge(names[2], names[0], weight=3.0)
    graph = from_networkx(G)
    assert graph.labels == names
    assert graph.adjacency.toarray()[0].tolist() == [0.0, 0.0, 3.0]
    assert list(to_networkx(graph).nodes) == list(names)


def test_fault_020_numbers_in_order_are_no_labels() -> None:
    assert from_networkx(nx.path_graph(4)).labels is None
