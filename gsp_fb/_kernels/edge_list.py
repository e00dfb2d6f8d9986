"""The entries of an adjacency as attention visits them; needs torch."""

from __future__ import annotations

from typing import Any

import numpy as np
import torch
from scipy import sparse
from torch import Tensor, nn

from .torch_sparse import numbered_transpose

__all__ = ["EdgeList"]


class EdgeList(nn.Module):
    """The entries of a sparse adjacency with one self-loop a node, in CSR order, and those of its transpose.

    Buffers: ``indptr``, ``indices``, ``rows`` and ``columns`` of the entries, ``t_indptr``, ``t_indices`` of the
    transpose and ``order``, where the transpose's entries are.
    """

    indptr: Tensor
    indices: Tensor
    rows: Tensor
    columns: Tensor
    order: Tensor
    t_indptr: Tensor
    t_indices: Tensor

    def __init__(self, listed: Any) -> None:
        super().__init__()
        self.n_nodes = listed.shape[0]
        # The pattern alone: a negative weight of a loop would cancel the one that is added.
        pattern = sparse.csr_array((np.ones(len(listed.indices)), listed.indices, listed.indptr), listed.shape)
        A = sparse.csr_array(pattern + sparse.eye_array(self.n_nodes))
        flipped = numbered_transpose(A)
        short = {"indptr": A.indptr, "indices": A.indices, "t_indptr": flipped.indptr, "t_indices": flipped.indices}
        rows = np.repeat(np.arange(self.n_nodes), np.diff(A.indptr))
        long = {"rows": rows, "columns": A.indices, "order": flipped.data}
        for arrays, kind in ((short, np.int32), (long, np.int64)):
            for name, array in arrays.items():
                self.register_buffer(name, torch.from_numpy(np.asarray(array, dtype=kind)), persistent=False)

    def restrict(self, nodes: Any) -> EdgeList:
        """Return the entries among some nodes, which are numbered anew."""
        indptr, indices = self.indptr.cpu().numpy(), self.indices.cpu().numpy()
        listed = sparse.csr_array((np.ones(len(indices)), indices, indptr), (self.n_nodes, self.n_nodes))
        return EdgeList(listed[nodes][:, nodes]).to(self.indptr.device)
