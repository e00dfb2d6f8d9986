"""torch tensors: an adjacency in any of torch's layouts."""

from __future__ import annotations

import warnings
from typing import Any

import numpy as np
from scipy import sparse

from .._arguments import check_choice
from .._extras import require
from ..errors import GraphError
from ..graph import Graph

__all__ = ["from_torch", "to_torch"]

LAYOUTS = ("csr", "coo", "dense")


def from_torch(A: Any, *, directed: bool = False, symmetrize: str | None = None, loops: str = "keep") -> Graph:
    """Return the graph of an adjacency that is a torch tensor: dense, COO, CSR or CSC, on any device.

    Parameters
    ----------
    A : torch.Tensor, shape (n_nodes, n_nodes)
        Copied to the host; entries of a COO tensor that are listed again are summed, as torch sums them.
    directed, symmetrize, loops
        As in :meth:`Graph.from_adjacency`.

    Raises
    ------
    GraphError
        ``A`` is not a square matrix of finite weights >= 0, or not symmetric and no option says what that means.

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
    return Graph.from_adjacency(
        _to_host(A.detach().cpu(), torch), directed=directed, symmetrize=symmetrize, loops=loops
    )


def _to_host(A: Any, torch: Any) -> Any:
    if A.layout == torch.strided:
        return A.numpy()
    # Every sparse layout can become COO, and its constructor in torch has checked the indices.
    A = A.to_sparse_coo().coalesce()
    row, col = A.indices().numpy()
    return sparse.coo_array((A.values().numpy(), (row, col)), shape=tuple(A.shape))


def to_torch(graph: Graph, *, layout: str = "csr", dtype: Any = None) -> Any:
    """Return the adjacency as a torch tensor.

    Parameters
    ----------
    graph : Graph
    layout : {'csr', 'coo', 'dense'}
    dtype : torch.dtype, optional
        float64 by default, which holds every weight exactly.

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
    values = torch.tensor(A.data, dtype=torch.float64 if dtype is None else dtype)
    coo = torch.sparse_coo_tensor(index, values, A.shape, check_invariants=True).coalesce()
    with warnings.catch_warnings():
        # torch announces once per process that CSR is in beta; nothing in it is for the user to act on.
        warnings.filterwarnings("ignore", "Sparse CSR", UserWarning)
        return {"csr": coo.to_sparse_csr, "coo": lambda: coo, "dense": coo.to_dense}[layout]()
