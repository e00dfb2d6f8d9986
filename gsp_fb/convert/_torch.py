"""torch tensors: an adjacency matrix in any layout, or the edge index of PyTorch Geometric, with both directions."""

from __future__ import annotations

import warnings
from typing import Any

import numpy as np
from scipy import sparse

from .._arguments import check_choice, host_array
from .._build import check_direction
from .._extras import require
from ..errors import GraphError, ParameterError
from ..graph import Graph

__all__ = ["from_pyg", "from_torch", "to_pyg", "to_torch"]

LAYOUTS = ("csr", "coo", "dense")


def from_torch(
    A: Any, *, directed: bool = False, symmetrize: str | None = None, loops: str = "keep", signed: bool = False
) -> Graph:
    """Convert an adjacency matrix that is a torch tensor: dense, COO, CSR or CSC, on any device.

    Parameters
    ----------
    A : torch.Tensor, shape (n_nodes, n_nodes)
        Copied to the host; repeated entries of a COO tensor are summed, as in torch.
    directed, symmetrize, loops, signed
        As in :meth:`Graph.from_edges`; complex entries as in :meth:`Graph.from_adjacency`.

    Returns
    -------
    Graph
        On the host, float64.

    Raises
    ------
    GraphError
        ``A`` is not a square matrix of finite weights, has negative ones without ``signed``, or is asymmetric and
        neither ``directed`` nor ``symmetrize`` is given.
    ImportError
        torch is not installed.

    See Also
    --------
    to_torch : The inverse.
    from_pyg : From an edge index.

    Examples
    --------
    >>> import torch
    >>> from_torch(torch.tensor([[0.0, 2.0], [2.0, 0.0]]).to_sparse()).degrees
    array([2., 2.])
    """
    torch = require("torch", "conversion from torch")
    if not isinstance(A, torch.Tensor):
        raise GraphError(f"from_torch needs a torch tensor, not {type(A).__name__}; use Graph.from_adjacency")
    if A.ndim != 2:
        raise GraphError(f"adjacency has shape {tuple(A.shape)}; it must be a square matrix")
    A = A.detach().cpu()
    if A.layout == torch.strided:
        matrix = A.numpy()
    else:
        # Every sparse layout converts to COO, and torch has checked its indices on construction.
        A = A.to_sparse_coo().coalesce()
        matrix = sparse.coo_array((A.values().numpy(), tuple(A.indices().numpy())), shape=tuple(A.shape))
    return Graph.from_adjacency(matrix, directed=directed, symmetrize=symmetrize, loops=loops, signed=signed)


def to_torch(graph: Graph, *, layout: str = "csr", dtype: Any = None) -> Any:
    """Convert the adjacency matrix to a torch tensor.

    Parameters
    ----------
    graph : Graph
        Labels are omitted.
    layout : {'csr', 'coo', 'dense'}
        Layout of the tensor.
    dtype : torch.dtype, optional
        By default float64, or complex128 for complex weights, which represents every weight exactly.

    Returns
    -------
    torch.Tensor, shape (n_nodes, n_nodes)
        On the CPU.

    Raises
    ------
    ParameterError
        The layout is unknown, or ``dtype`` is real and the weights are complex.
    ImportError
        torch is not installed.

    See Also
    --------
    from_torch : The inverse.
    to_pyg : To an edge index.

    Examples
    --------
    >>> to_torch(Graph.from_edges([(0, 1)]), layout="dense")
    tensor([[0., 1.],
            [1., 0.]], dtype=torch.float64)
    """
    torch = require("torch", "conversion to torch")
    check_choice(layout, LAYOUTS, "layout")
    A = graph.adjacency.tocoo()
    index = torch.as_tensor(np.stack([A.row, A.col]).astype(np.int64))
    if graph.is_complex and dtype is not None and not dtype.is_complex:
        raise ParameterError(f"the weights are complex and dtype={dtype} is real; give torch.complex64 or complex128")
    values = torch.tensor(A.data, dtype=dtype)
    coo = torch.sparse_coo_tensor(index, values, A.shape, check_invariants=True).coalesce()
    with warnings.catch_warnings():
        # torch warns once per process that CSR support is in beta; the user cannot act on it.
        warnings.filterwarnings("ignore", "Sparse CSR", UserWarning)
        return {"csr": coo.to_sparse_csr, "coo": lambda: coo, "dense": coo.to_dense}[layout]()


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
        Keep arcs as they are. Otherwise each has its reverse of the same weight, as PyG stores undirected graphs.
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
        what = "data has no edge_index"
        raise GraphError(f"{what}; if a transform replaced it by adj_t, give the data before the transform")
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
    index = torch.as_tensor(np.stack([A.row, A.col]).astype(np.int64))
    data = require("torch_geometric.data", "conversion to PyG").Data(edge_index=index, num_nodes=graph.n_nodes)
    for name, value in (("x", x), ("y", y)):
        if value is not None:
            data[name] = torch.as_tensor(value)
    if graph.is_weighted:
        precision = data.x.dtype if x is not None and data.x.is_floating_point() else torch.float64
        data.edge_weight = torch.tensor(A.data, dtype=precision)
    return data
