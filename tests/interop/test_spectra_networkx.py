"""Frequencies of real graphs beside what networkx counts."""

import networkx as nx
import numpy as np

import gsp_fb as gf
from tests.support.real_data import DATA, needs_data


@needs_data
def test_the_high_end_of_cora(monkeypatch):
    """One frequency 2 of L_sym for each bipartite component with an edge."""
    monkeypatch.setenv("GSP_FB_DATA_DIR", str(DATA))
    graph = gf.datasets.load("cora").graph
    whole = nx.from_scipy_sparse_array(graph.adjacency)
    parts = (whole.subgraph(part) for part in nx.connected_components(whole))
    n_bipartite = sum(part.number_of_edges() > 0 and nx.is_bipartite(part) for part in parts)
    assert n_bipartite > 10
    for k in (10, 60):
        modes = gf.spectrum(gf.operator(graph, "sym", "high"), k, "high")
        assert np.count_nonzero(modes.frequencies > 2 - 1e-9) == min(k, n_bipartite)
