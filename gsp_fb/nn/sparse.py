"""Sparse matrices in torch: int32 CSR over the arrays they come from, with a backward pass that never transposes.

torch's own CSR product rebuilds the transpose in every backward pass. Here it is stored once, or is the matrix itself
where that is symmetric.
"""

from __future__ import annotations

import warnings
from dataclasses import dataclass
from functools import cache, cached_property
from typing import Any, Protocol, TypeAlias

import numpy as np
import torch
from torch import Tensor

from ..backend import as_csr, transposed
from ..operators import Operator
from .compiling import uncompiled
from .looping import unsigned

__all__ = [
    "Product",
    "SparseMatrix",
    "Transposable",
    "as_tensor",
    "csr_product",
    "matrix_product",
    "structure",
    "torch_csr",
]

CsrArrays: TypeAlias = tuple[Any, Any, Any]

with warnings.catch_warnings():
    # torch announces once per process that CSR is in beta; nothing in it is for the user to act on.
    warnings.simplefilter("ignore")
    torch.eye(1).to_sparse_csr()


def torch_csr(indptr: Tensor, indices: Tensor, values: Tensor, shape: tuple[int, int]) -> Tensor:
    """Return a torch CSR tensor over the three given tensors, without a copy or a check."""
    return torch.sparse_csr_tensor(indptr, indices, values, size=shape, check_invariants=False)


def structure(matrix: Any, device: torch.device | str | None) -> tuple[Tensor, Tensor]:
    """Return ``indptr`` and ``indices`` of a CSR array as tensors, int32 wherever that holds them."""
    largest = max(int(matrix.indptr[-1]), *matrix.shape)
    kind = torch.int32 if largest <= torch.iinfo(torch.int32).max else torch.int64
    indptr, indices = (as_tensor(part).to(device=device, dtype=kind) for part in (matrix.indptr, matrix.indices))
    return indptr, indices


def as_tensor(array: Any) -> Tensor:
    """Return a tensor over the memory of an array: NumPy's, or through DLPack that of any other library.

    Examples
    --------
    >>> numbers = np.arange(3.0)
    >>> as_tensor(numbers).data_ptr() == numbers.ctypes.data
    True
    """
    if not isinstance(array, np.ndarray):
        return torch.utils.dlpack.from_dlpack(array)
    # torch warns of read-only memory; frozen graph arrays are only ever read here, so a writable alias would be
    # honest, but NumPy grants none: the copy happens once.
    return torch.from_numpy(array if array.flags.writeable else array.copy())


class Product(Protocol):
    """Anything that is multiplied with features: a matrix, or a sum over edges that acts like one."""

    def __matmul__(self, h: Tensor) -> Tensor:
        """Return ``P @ h``."""
        ...


class Transposable(Protocol):
    """A constant matrix in torch's CSR layout, and its transpose."""

    @property
    def csr(self) -> Tensor:
        """The matrix."""
        ...

    @property
    def transposed(self) -> Tensor:
        """Its transpose."""
        ...


@dataclass(eq=False)  # not frozen: torch.compile would take it apart into tensors, and knows no sparse ones
class SparseMatrix:
    """A constant matrix ``P`` for ``P @ h``; gradients flow to ``h`` through the stored transpose.

    Attributes
    ----------
    csr, transposed : torch CSR tensors
        One and the same tensor where the matrix is symmetric.

    Examples
    --------
    >>> from scipy import sparse
    >>> P = SparseMatrix.from_scipy(sparse.csr_array([[0.0, 2.0], [0.0, 1.0]]))
    >>> h = torch.ones(2, 1, requires_grad=True)
    >>> (P @ h).sum().backward()
    >>> h.grad.ravel().tolist()
    [0.0, 3.0]
    """

    csr: Tensor
    transposed: Tensor

    @classmethod
    def from_scipy(
        cls,
        matrix: Any,
        *,
        symmetric: bool = False,
        dtype: torch.dtype = torch.float32,
        device: torch.device | str | None = None,
    ) -> SparseMatrix:
        """Return the torch form of a sparse array of SciPy or of a GPU; ``symmetric`` saves the transpose."""
        forward = _tensor(as_csr(matrix), dtype, device)
        return cls(forward, forward if symmetric else _tensor(transposed(matrix), dtype, device))

    @classmethod
    def from_operator(
        cls, op: Operator, *, dtype: torch.dtype = torch.float32, device: torch.device | str | None = None
    ) -> SparseMatrix:
        """Return the torch form of an operator of the core, where it is unless ``device`` says otherwise.

        An operator on a GPU comes by DLPack: torch reads the arrays that were made there.
        """
        return cls.from_scipy(op.to_sparse(), symmetric=op.is_symmetric, dtype=dtype, device=device)

    @property
    def shape(self) -> tuple[int, int]:
        """Rows and columns."""
        return self.csr.shape[0], self.csr.shape[1]

    @cached_property
    def arrays(self) -> tuple[CsrArrays, CsrArrays]:
        """``indptr``, ``indices`` and values of the matrix and of its transpose, for compiled loops on the CPU."""
        forward, backward = (_arrays(matrix) for matrix in (self.csr, self.transposed))
        return forward, backward

    def __deepcopy__(self, memo: dict[int, Any]) -> SparseMatrix:
        # A constant, and torch cannot copy CSR tensors: copies of a layer share it.
        return self

    def __matmul__(self, h: Tensor) -> Tensor:
        """Return ``P @ h`` for ``h`` of shape (n, f), or (copies, n, f) with one product for all copies."""
        if h.ndim == 2:
            return matrix_product(h, self)
        copies, n, f = h.shape
        wide = matrix_product(h.permute(1, 0, 2).reshape(n, copies * f), self)
        return wide.reshape(self.shape[0], copies, f).permute(1, 0, 2)


def _arrays(matrix: Tensor) -> CsrArrays:
    return unsigned(matrix.crow_indices()), unsigned(matrix.col_indices()), matrix.values().numpy()


def _tensor(matrix: Any, dtype: torch.dtype, device: torch.device | str | None) -> Tensor:
    values = as_tensor(matrix.data).to(device=device, dtype=dtype)
    return torch_csr(*structure(matrix, device), values, matrix.shape)


# Columns from which torch's sums over bags of rows, made for embeddings, are faster than its CSR product; measured
# from 200 to 100 000 rows, up to twice as fast.
BAGS_FROM = 32


@cache
def _has_bags() -> bool:
    """Return whether this torch has the vectorised sums; elsewhere they add one row at a time."""
    return "fbgemm" in torch.backends.quantized.supported_engines


def csr_product(matrix: Tensor, h: Tensor) -> Tensor:
    """Return ``matrix @ h`` of a torch CSR tensor and a dense one, without gradients, by the faster of two ways.

    Examples
    --------
    >>> csr_product(torch.eye(2).to_sparse_csr(), torch.ones(2, 40)).sum()
    tensor(80.)
    """
    bags = h.device.type == "cpu" and h.dtype == torch.float32 and h.shape[1] >= BAGS_FROM and _has_bags()
    if not bags or not h.numel():
        return matrix @ h
    indptr, indices, values = matrix.crow_indices(), matrix.col_indices(), matrix.values()
    sums, *_ = torch.embedding_bag(
        h.contiguous(), indices, indptr, mode=0, per_sample_weights=values, include_last_offset=True
    )
    return sums


class _MatrixProduct(torch.autograd.Function):
    @staticmethod
    def forward(ctx: Any, h: Tensor, matrix: Transposable) -> Tensor:
        ctx.matrix = matrix
        return csr_product(matrix.csr, h)

    @staticmethod
    def backward(ctx: Any, *grads: Tensor) -> tuple[Tensor, None]:
        matrix: Transposable = ctx.matrix
        return matrix_product(grads[0].contiguous(), SparseMatrix(matrix.transposed, matrix.csr)), None


@uncompiled  # a compiler has nothing to gain inside, and does not know sparse tensors
def matrix_product(h: Tensor, matrix: Transposable) -> Tensor:
    """Return ``matrix @ h``; the backward pass takes the stored transpose."""
    product: Tensor = _MatrixProduct.apply(h, matrix)  # type: ignore[no-untyped-call]  # torch leaves apply untyped
    return product
