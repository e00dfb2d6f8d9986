"""Node features that stay sparse in torch: products with weights, dropout on the stored entries alone."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

import torch
from scipy import sparse
from torch import Tensor

from .torch_sparse import TorchCsr, as_tensor, numbered_transpose, sparse_product, structure, tiled

__all__ = ["SparseFeatures"]


@dataclass(eq=False)
class SparseFeatures:
    """Node features ``X`` that stay sparse: ``X @ W`` with gradients to ``W``, dropout on the stored entries alone.

    Parameters
    ----------
    values : Tensor, shape (nnz,) or (copies, nnz)
        With copies, every parameter set sees its own entries (its own dropout).
    forward, backward : pairs of Tensor
        ``indptr`` and ``indices`` of the matrix and of its transpose; the latter of a large matrix in tiles, with the
        starts of the rows of each as a row of ``indptr``.
    order : Tensor, shape (nnz,)
        Where the entries of the transpose are among ``values``.
    shape : tuple of int
        Rows and columns.
    transposed : Tensor, optional
        The values in the order of the transpose, where they serve more than one step.

    See Also
    --------
    features : Features of a data set as tensors, sparse or dense.
    SparseMatrix : A constant sparse matrix as a module.

    Examples
    --------
    >>> x = SparseFeatures.from_scipy(sparse.csr_array([[0.0, 2.0], [0.0, 0.0], [1.0, 0.0]]))
    >>> x.shape, (x @ torch.tensor([[1.0], [10.0]])).ravel().tolist()
    ((3, 2), [20.0, 0.0, 1.0])
    """

    values: Tensor
    forward: tuple[Tensor, Tensor]
    backward: tuple[Tensor, Tensor]
    order: Tensor
    shape: tuple[int, int]
    transposed: Tensor | None = None

    @classmethod
    def from_scipy(
        cls, x: Any, *, dtype: torch.dtype = torch.float32, device: torch.device | str = "cpu"
    ) -> SparseFeatures:
        """Return the torch form of a scipy sparse array of shape (n_nodes, n_features)."""
        x = sparse.csr_array(x)
        flipped, values = numbered_transpose(tiled(x)), as_tensor(x.data).to(device=device, dtype=dtype)
        order = torch.from_numpy(flipped.data).to(device)
        indptr, indices = structure(flipped, device)
        if len(indptr) > x.shape[1] + 1:
            indptr = indptr[:-1].reshape(-1, x.shape[1])
        both = structure(x, device), (indptr, indices)
        return cls(values, *both, order, x.shape, transposed=values.index_select(-1, order))

    def with_values(self, values: Tensor) -> SparseFeatures:
        """Return the same pattern with other entries."""
        return replace(self, values=values, transposed=None)

    def rows(self, index: Tensor) -> SparseFeatures:
        """Return the features of the nodes in ``index``."""
        indptr, indices = (part.cpu().numpy() for part in self.forward)
        x = sparse.csr_array((self.values.cpu().numpy(), indices, indptr), shape=self.shape)
        return SparseFeatures.from_scipy(x[index.cpu().numpy()], dtype=self.values.dtype, device=self.values.device)

    @property
    def arrays(self) -> tuple[TorchCsr, TorchCsr]:
        """``indptr``, ``indices`` and values of the matrix and of its transpose."""
        forward = (*self.forward, self.values)
        if not torch.is_grad_enabled():  # the transpose serves the backward pass alone
            return forward, forward
        values = self.values.index_select(-1, self.order) if self.transposed is None else self.transposed
        return forward, (*self.backward, values)

    def to_dense(self) -> Tensor:
        """Return the features as a dense tensor."""
        return self @ torch.eye(self.shape[1], dtype=self.values.dtype, device=self.values.device)

    def matmul(self, weight: Tensor) -> Tensor:
        """Return ``X @ W`` for ``W`` of shape (f, h), or (copies, f, h) with the copies leading the result."""
        return sparse_product(weight, *self.arrays)

    __matmul__ = matmul
