"""Input features in torch: a bag of words stays sparse in ``X @ W``, also under dropout."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
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

    def csr(self, values: Tensor) -> Tensor:
        """Return the matrix with the given entries, shape (nnz,)."""
        return torch_csr(*self.forward, values, self.shape)

    def csr_transposed(self, values: Tensor) -> Tensor:
        """Return the transpose of the matrix with the given entries."""
        return torch_csr(*self.backward, values[self.order], self.shape[::-1])

    def __matmul__(self, weight: Tensor) -> Tensor:
        """Return ``X @ W`` for ``W`` of shape (f, h), or (copies, f, h) with the copies leading the result."""
        product: Tensor = _FeatureProduct.apply(weight, self.values, self)  # type: ignore[no-untyped-call]  # torch leaves it untyped
        return product


class _FeatureProduct(torch.autograd.Function):
    """The product with every copy of ``W``, written in place: copying weights would cost as much as multiplying."""

    @staticmethod
    def forward(ctx: Any, weight: Tensor, values: Tensor, x: SparseFeatures) -> Tensor:
        ctx.x, ctx.n_copies = x, weight.shape[0] if weight.ndim == 3 else None
        ctx.save_for_backward(values)
        return _each(x.csr, values, weight, ctx.n_copies)

    @staticmethod
    def backward(ctx: Any, *grads: Tensor) -> tuple[Tensor, None, None]:
        (values,) = ctx.saved_tensors
        return _each(ctx.x.csr_transposed, values, grads[0].contiguous(), ctx.n_copies), None, None


def _each(matrix: Callable[[Tensor], Tensor], values: Tensor, dense: Tensor, n_copies: int | None) -> Tensor:
    """Return ``matrix(values) @ dense``, copy by copy; entries without a copies axis serve all copies."""
    if n_copies is None:
        return matrix(values) @ dense
    shared = matrix(values) if values.ndim == 1 else None
    parts = [shared if shared is not None else matrix(values[k]) for k in range(n_copies)]
    out = dense.new_empty(n_copies, parts[0].shape[0], dense.shape[-1])
    for part, source, target in zip(parts, dense, out, strict=True):
        torch.mm(part, source, out=target)
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
