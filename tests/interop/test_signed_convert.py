"""Signed graphs through the converters: there and back with ``signed=True``, refused by name without it."""

import numpy as np
import pytest
import torch

import gsp_fb as gf
from gsp_fb.errors import GraphError, ParameterError

SIGNED = gf.Graph.from_edges([(0, 1), (1, 2), (0, 2)], [1.0, -2.0, 0.5], signed=True)
ARCS = gf.Graph.from_edges([(0, 1), (1, 2)], [1.0, -2.0], directed=True, signed=True)


def to_arrow(graph):
    return pytest.importorskip("pyarrow").Table.from_pandas(gf.to_pandas(graph))


TRIPS = {
    "networkx": (gf.to_networkx, gf.from_networkx),
    "igraph": (gf.to_igraph, gf.from_igraph),
    "pandas": (gf.to_pandas, gf.from_pandas),
    "arrow": (to_arrow, gf.from_arrow),
    "pyg": (gf.to_pyg, gf.from_pyg),
    "pygsp": (gf.to_pygsp, gf.from_pygsp),
    "torch": (gf.to_torch, gf.from_torch),
}


@pytest.mark.parametrize("graph", [SIGNED, ARCS], ids=["edges", "arcs"])
@pytest.mark.parametrize("library", TRIPS)
def test_there_and_back(library, graph):
    there, back = TRIPS[library]
    found = back(there(graph), directed=graph.directed, signed=True)
    assert np.array_equal(found.adjacency.toarray(), graph.adjacency.toarray())
    with pytest.raises(GraphError, match="signed=True"):
        back(there(graph), directed=graph.directed)


def test_complex_weights_keep_their_imaginary_part_or_are_refused():
    magnetic = gf.Graph.from_edges([(0, 1), (1, 2)], directed=True).magnetic()
    for layout in ("csr", "coo", "dense"):
        there = gf.to_torch(magnetic, layout=layout)
        assert there.dtype == torch.complex128
        assert gf.from_torch(there, signed=True) == magnetic
    with pytest.raises(ParameterError, match="complex"):
        gf.to_torch(magnetic, dtype=torch.float32)
