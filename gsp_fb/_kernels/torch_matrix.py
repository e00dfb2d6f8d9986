"""A constant sparse matrix as a torch module: it moves and casts with its network; needs torch."""

from __future__ import annotations

from typing import Any, cast

import torch
from scipy import sparse
from torch import Tensor, nn

from ..backend import as_csr, is_complex, transposed
from ..errors import ParameterError
from .torch_sparse import TorchCsr, csr_tensors, sparse_product

__all__ = ["SparseMatrix"]


class SparseMatrix(nn.Module):
    """A constant matrix ``P`` for ``P @ h``: its arrays are buffers, so that it moves and casts with its network.

    The buffers are no part of the state dict. A cast rounds the entries; make the matrix in the precision that is
    wanted instead of casting upwards.

    Parameters
    ----------
    forward : triple of Tensor
        ``indptr``, ``indices`` and values in CSR order.
    backward : triple of Tensor, optional
        Those of the transpose; without them the matrix is symmetric.
    n_columns : int
        Columns of the matrix; its rows follow from ``indptr``.

    See Also
    --------
    gsp_fb.nn.SparseFeatures : Sparse features, with dropout on the stored entries.
    gsp_fb.nn.operator_propagation : The channels of an operator as a propagation.

    Examples
    --------
    >>> P = SparseMatrix.from_scipy(sparse.csr_array([[0.0, 2.0], [0.0, 1.0]]))
    >>> h = torch.ones(2, 1, requires_grad=True)
    >>> (P @ h).sum().backward()
    >>> h.grad.ravel().tolist()
    [0.0, 3.0]
    """

    indptr: Tensor
    indices: Tensor
    values: Tensor
    t_indptr: Tensor
    t_indices: Tensor
    t_values: Tensor

    def __init__(self, forward: TorchCsr, backward: TorchCsr | None, n_columns: int) -> None:
        super().__init__()
        self.symmetric = backward is None
        self.shape = (forward[0].numel() - 1, n_columns)
        for prefix, arrays in (("", forward), ("t_", backward or ())):
            for name, part in zip(("indptr", "indices", "values"), arrays, strict=False):
                self.register_buffer(prefix + name, part, persistent=False)

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
        if is_complex(matrix.data):
            raise ParameterError(
                "a matrix of a network is real; operator_propagation turns the complex operators of a magnetic graph "
                "into real pairs, other propagations need real weights"
            )
        backward = None if symmetric else csr_tensors(transposed(matrix), dtype, device)
        return cls(csr_tensors(as_csr(matrix), dtype, device), backward, int(matrix.shape[1]))

    @classmethod
    def from_operator(
        cls, op: Any, *, dtype: torch.dtype = torch.float32, device: torch.device | str | None = None
    ) -> SparseMatrix:
        """Return the torch form of an operator of the core, where it is unless ``device`` states otherwise.

        An operator on a GPU comes by DLPack: torch reads the arrays that were made there.
        """
        return cls.from_scipy(op.to_sparse(), symmetric=op.is_symmetric, dtype=dtype, device=device)

    def arrays(self) -> tuple[TorchCsr, TorchCsr]:
        """Return ``indptr``, ``indices`` and values of the matrix and of its transpose."""
        forward = (self.indptr, self.indices, self.values)
        return forward, forward if self.symmetric else (self.t_indptr, self.t_indices, self.t_values)

    @property
    def csr(self) -> Tensor:
        """The matrix as a torch CSR tensor over the same memory."""
        return torch.sparse_csr_tensor(*self.arrays()[0], size=self.shape, check_invariants=False)

    def restrict(self, rows: Any, columns: Any = None) -> SparseMatrix:
        """Return a block: some rows and columns, the same ones where only rows are given."""
        indptr, indices, values = (part.cpu().numpy() for part in self.arrays()[0])
        square = columns is None
        block = sparse.csr_array((values, indices, indptr), shape=self.shape)[rows][:, rows if square else columns]
        place: dict[str, Any] = {"dtype": self.values.dtype, "device": self.values.device}
        return SparseMatrix.from_scipy(block, symmetric=self.symmetric and square, **place)

    def forward(self, h: Tensor) -> Tensor:
        """Return ``P @ h`` for ``h`` of shape (n, f) or (copies, n, f)."""
        if h.shape[-2] != self.shape[1]:
            raise ParameterError(f"features have {h.shape[-2]} rows but the matrix has {self.shape[1]} columns")
        return sparse_product(h, *self.arrays())

    def __matmul__(self, h: Tensor) -> Tensor:
        return cast(Tensor, self(h))
