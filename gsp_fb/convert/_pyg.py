"""PyTorch Geometric data: an edge index that contains both directions of an undirected edge."""

from __future__ import annotations

from typing import Any

import numpy as np

from .._arguments import host_array
from .._extras import require
from ..errors import GraphError
from ..graph import Graph
from ._common import check_direction

__all__ = ["from_pyg", "to_pyg"]


def from_pyg(
    data: Any,
    *,
    directed: bool = False,
    symmetrize: str | None = None,
    duplicates: str = "error",
    loops: str = "keep",
    signed: bool = False,
) -> Graph:
    """Convert a PyG ``Data`` object.

    Parameters
    ----------
    data : torch_geometric.data.Data
        ``edge_index`` gives the arcs, ``num_nodes`` the number of nodes. Weights are ``edge_weight``, or else
        ``edge_attr`` if it has one number per edge; wider attributes are features, not weights.
    directed : bool
        Keep arcs as they are. Otherwise each arc must have its reverse with the same weight, as PyG stores undirected
        graphs.
    symmetrize : {'max', 'mean', 'sum'}, optional
        Combine the arcs ``(i, j)`` and ``(j, i)`` of an edge index that is not symmetric.
    duplicates, loops, signed
        As in :meth:`Graph.from_edges`.

    Returns
    -------
    Graph
        Without labels.

    Raises
    ------
    GraphError
        There is no edge index, or it is not symmetric and neither ``directed`` nor ``symmetrize`` is given.

    See Also
    --------
    to_pyg : The inverse.
    from_torch : From an adjacency tensor.

    Examples
    --------
    >>> from types import SimpleNamespace
    >>> data = SimpleNamespace(edge_index=[[0, 1, 1, 2], [1, 0, 2, 1]], num_nodes=4)
    >>> from_pyg(data)
    Graph(n_nodes=4, n_edges=2, undirected, unweighted, n_isolated=1)
    """
    check_direction(False, directed, symmetrize)
    index = getattr(data, "edge_index", None)
    if index is None:
        raise GraphError(
            "data has no edge_index; if a transform replaced it by adj_t, give the data before the transform"
        )
    pairs = host_array(index, GraphError, "edge_index").T
    arcs = Graph.from_edges(pairs, _weights(data), data.num_nodes, directed=True, duplicates=duplicates, signed=signed)
    return Graph.from_adjacency(arcs.adjacency, directed=directed, symmetrize=symmetrize, loops=loops, signed=signed)


def _weights(data: Any) -> Any:
    weights = getattr(data, "edge_weight", None)
    if weights is not None:
        return host_array(weights, GraphError, "edge_weight")
    weights = getattr(data, "edge_attr", None)
    if weights is None:
        return None
    weights = host_array(weights, GraphError, "edge_attr")
    if weights.ndim == 2 and weights.shape[1] == 1:
        return weights[:, 0]
    return weights if weights.ndim == 1 else None


def to_pyg(graph: Graph, x: Any = None, y: Any = None) -> Any:
    """Convert to a PyG ``Data`` object; an undirected edge is listed in both directions.

    Parameters
    ----------
    graph : Graph
        Labels are omitted: PyG has no field for them.
    x, y : array_like, optional
        Features and classes, converted by ``torch.as_tensor``. Weights have the precision of a floating-point ``x``, so
        that layers can multiply the two, and float64 otherwise.

    Returns
    -------
    torch_geometric.data.Data
        With ``edge_index``, ``num_nodes`` and, if the graph is weighted, ``edge_weight``.

    Raises
    ------
    GraphError
        The weights are complex: layers multiply real features.
    ImportError
        torch or torch_geometric is not installed.

    See Also
    --------
    from_pyg : The inverse.
    to_torch : To an adjacency tensor.

    Examples
    --------
    >>> data = to_pyg(Graph.from_edges([(0, 1)], n_nodes=3))
    >>> data.edge_index.tolist(), data.num_nodes
    ([[0, 1], [1, 0]], 3)
    """
    graph.check_real("a graph of PyG", remedy="keep graph.adjacency")
    torch = require("torch", "conversion to PyG")
    A = graph.adjacency.tocoo()
    data = require("torch_geometric.data", "conversion to PyG").Data(
        edge_index=torch.as_tensor(np.stack([A.row, A.col]).astype(np.int64)), num_nodes=graph.n_nodes
    )
    for name, value in (("x", x), ("y", y)):
        if value is not None:
            data[name] = torch.as_tensor(value)
    if graph.is_weighted:
        precision = data.x.dtype if x is not None and data.x.is_floating_point() else torch.float64
        data.edge_weight = torch.tensor(A.data, dtype=precision)
    return data
