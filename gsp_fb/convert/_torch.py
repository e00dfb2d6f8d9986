"""torch tensors: an adjacency matrix in any layout of torch."""

from __future__ import annotations

import warnings
from typing import Any

import numpy as np
from scipy import sparse

from .._arguments import check_choice
from .._extras import require
from ..errors import GraphError, ParameterError
from ..graph import Graph

__all__ = ["from_torch", "to_torch"]

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
