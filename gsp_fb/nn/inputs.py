"""Input features in torch: a bag of words stays sparse in ``X @ W``, also under dropout."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any, TypeAlias

import numpy as np
import torch
from scipy import sparse
from torch import Tensor

from .._arguments import check_signal
from .._kernels.torch_sparse import TorchCsr, as_tensor, numbered_transpose, sparse_product, structure, tiled
from ..backend import is_sparse
from ..errors import SignalError

__all__ = ["Features", "SparseFeatures", "features"]


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


Features: TypeAlias = Tensor | SparseFeatures


def features(
    x: Any, *, normalize: bool = False, dtype: torch.dtype = torch.float32, device: torch.device | str = "cpu"
) -> Features:
    """Return node features as a tensor, or as sparse features if they are sparse.

    Parameters
    ----------
    x : array_like or scipy sparse, shape (n_nodes, n_features)
        Finite values.
    normalize : bool
        Divide each row by the sum of its magnitudes. Rows of zeros stay as they are.
    dtype : torch.dtype
        Type of the entries.
    device : torch.device or str
        Where the result is placed.

    Returns
    -------
    Tensor or SparseFeatures, shape (n_nodes, n_features)
        The input of a model of :func:`build`. It shares the memory of ``x`` where type and device allow; no model of
        this package writes to it.

    See Also
    --------
    SparseFeatures : The sparse form.
    gsp_fb.row_normalized : Division by the sum instead of the sum of magnitudes.

    Examples
    --------
    >>> features([[1.0, 3.0]], normalize=True).tolist()
    [[0.25, 0.75]]
    """
    x = check_signal(x, x.shape[0] if hasattr(x, "shape") else len(x))
    if x.dtype.kind == "c":
        if np.any((x.data if is_sparse(x) else x).imag):
            raise SignalError("features are complex; give real and imaginary part of column k as columns 2k and 2k + 1")
        x = x.real
    if normalize:
        sums = np.asarray(abs(x).sum(axis=1)).reshape(-1, 1)
        scale = 1.0 / np.where(sums == 0, 1.0, sums)
        x = sparse.csr_array(x.multiply(scale)) if is_sparse(x) else x * scale
    if is_sparse(x):
        return SparseFeatures.from_scipy(x, dtype=dtype, device=device)
    return as_tensor(x).to(dtype=dtype, device=device)
