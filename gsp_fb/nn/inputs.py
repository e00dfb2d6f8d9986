"""Input features in torch: a bag of words stays sparse in ``X @ W``, also under dropout."""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any, TypeAlias

import numpy as np
import torch
from scipy import sparse
from torch import Tensor

from .._validate import check_signal
from ..backend import is_sparse
from .sparse import structure, torch_csr, writable

__all__ = ["Features", "SparseFeatures", "features"]


@dataclass(frozen=True, eq=False)
class SparseFeatures:
    """Node features ``X`` that stay sparse: ``X @ W`` with gradients to ``W``, dropout on the stored entries alone.

    Attributes
    ----------
    values : Tensor, shape (nnz,) or (copies, nnz)
        With copies, every parameter set sees its own entries (its own dropout).
    forward, backward : pairs of int32 tensors
        ``indptr`` and ``indices`` of the matrix and of its transpose.
    order : int64 tensor
        ``values[..., order]`` are the transpose's values.
    """

    values: Tensor
    forward: tuple[Tensor, Tensor]
    backward: tuple[Tensor, Tensor]
    order: Tensor
    shape: tuple[int, int]

    @classmethod
    def from_scipy(
        cls, x: Any, *, dtype: torch.dtype = torch.float32, device: torch.device | str = "cpu"
    ) -> SparseFeatures:
        """Return the torch form of a scipy sparse array of shape (n_nodes, n_features)."""
        x = sparse.csr_array(x)
        numbered = sparse.csr_array((np.arange(x.nnz), x.indices, x.indptr), shape=x.shape).T.tocsr()
        place = torch.device(device)
        values = torch.from_numpy(writable(x.data)).to(device=place, dtype=dtype)
        order = torch.from_numpy(numbered.data).to(place)
        return cls(values, structure(x, place), structure(numbered, place), order, x.shape)

    def with_values(self, values: Tensor) -> SparseFeatures:
        """Return the same pattern with other entries."""
        return replace(self, values=values)

    def rows(self, index: Tensor) -> SparseFeatures:
        """Return the features of the nodes in ``index``."""
        indptr, indices = (part.cpu().numpy() for part in self.forward)
        x = sparse.csr_array((self.values.cpu().numpy(), indices, indptr), shape=self.shape)
        return SparseFeatures.from_scipy(x[index.cpu().numpy()], dtype=self.values.dtype, device=self.values.device)

    @cached_property
    def csr(self) -> Tensor:
        """The matrix itself, in torch's layout; of entries without a copies axis."""
        return torch_csr(*self.forward, self.values, self.shape)

    @cached_property
    def transposed(self) -> Tensor:
        """The transpose of the matrix."""
        return torch_csr(*self.backward, self.values[self.order], self.shape[::-1])

    def unbound(self, n_copies: int) -> list[SparseFeatures]:
        """Return the features of each copy: entries without a copies axis serve all of them."""
        if self.values.ndim == 1:
            return [self] * n_copies
        return [self.with_values(values) for values in self.values]

    def __matmul__(self, weight: Tensor) -> Tensor:
        """Return ``X @ W`` for ``W`` of shape (f, h), or (copies, f, h) with the copies leading the result."""
        copies = [self] if weight.ndim == 2 else self.unbound(weight.shape[0])
        product: Tensor = _FeatureProduct.apply(weight, copies)  # type: ignore[no-untyped-call]  # torch leaves it untyped
        return product


class _FeatureProduct(torch.autograd.Function):
    @staticmethod
    def forward(ctx: Any, weight: Tensor, copies: list[SparseFeatures]) -> Tensor:
        ctx.copies = copies
        return _products([x.csr for x in copies], weight)

    @staticmethod
    def backward(ctx: Any, *grads: Tensor) -> tuple[Tensor, None]:
        return _products([x.transposed for x in ctx.copies], grads[0].contiguous()), None


def _products(matrices: list[Tensor], dense: Tensor) -> Tensor:
    """Return each matrix times its part of ``dense``, in place: moving weights would cost as much as multiplying."""
    if dense.ndim == 2:
        return matrices[0] @ dense
    out = dense.new_empty(len(matrices), matrices[0].shape[0], dense.shape[-1])
    for matrix, source, target in zip(matrices, dense, out, strict=True):
        torch.mm(matrix, source, out=target)
    return out


Features: TypeAlias = Tensor | SparseFeatures


def features(
    x: Any,
    *,
    normalize: bool = False,
    dtype: torch.dtype = torch.float32,
    device: torch.device | str = "cpu",
) -> Features:
    """Return node features as torch takes them: sparse stays sparse.

    Parameters
    ----------
    x : array_like or scipy sparse, shape (n_nodes, n_features)
    normalize : bool
        Divide each row by the sum of its magnitudes. Rows of zeros stay as they are.

    Examples
    --------
    >>> features([[1.0, 3.0]], normalize=True).tolist()
    [[0.25, 0.75]]
    """
    x = check_signal(x, x.shape[0] if hasattr(x, "shape") else len(x))
    if normalize:
        sums = np.asarray(abs(x).sum(axis=1)).reshape(-1, 1)
        scale = 1.0 / np.where(sums == 0, 1.0, sums)
        x = sparse.csr_array(x.multiply(scale)) if is_sparse(x) else x * scale
    if is_sparse(x):
        return SparseFeatures.from_scipy(x, dtype=dtype, device=device)
    return torch.tensor(x, dtype=dtype, device=device)
