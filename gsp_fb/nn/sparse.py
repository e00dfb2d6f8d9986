"""Sparse matrices in torch: int32 CSR over the arrays they come from, with a backward pass that never transposes.

torch's own CSR product rebuilds the transpose in every backward pass, and knows neither ``torch.func`` nor
``torch.compile``. Here the transpose is stored once, or is the matrix itself where that is symmetric, and the product
is an operation with rules for both: an autograd function in eager mode (``jvp`` and ``vmap`` need one), the registered
operator ``gsp_fb::sparse_product`` in compiled and exported programs.
"""

from __future__ import annotations

import warnings
from functools import cache
from typing import Any, TypeAlias, cast

import numpy as np
import torch
from scipy import sparse
from torch import Tensor, nn

from ..backend import as_csr, is_complex, transposed
from ..errors import ParameterError
from ..operators import Operator

__all__ = ["Csr", "SparseMatrix", "as_tensor", "sparse_product", "structure"]

Csr: TypeAlias = tuple[Tensor, Tensor, Tensor]

with warnings.catch_warnings():
    # torch announces once per process that CSR is in beta; nothing in it is for the user to act on.
    warnings.simplefilter("ignore")
    torch.eye(1).to_sparse_csr()


def structure(matrix: Any, device: torch.device | str | None) -> tuple[Tensor, Tensor]:
    """Return ``indptr`` and ``indices`` of a CSR array as tensors, int32 wherever that holds them."""
    largest = max(int(matrix.indptr[-1]), *matrix.shape)
    kind = torch.int32 if largest <= torch.iinfo(torch.int32).max else torch.int64
    indptr, indices = (as_tensor(part).to(device=device, dtype=kind) for part in (matrix.indptr, matrix.indices))
    return indptr, indices


def as_tensor(array: Any) -> Tensor:
    """Return a tensor over the memory of an array: NumPy's, or through DLPack that of any other library."""
    if not isinstance(array, np.ndarray):
        return torch.utils.dlpack.from_dlpack(array)
    # torch warns of read-only memory; frozen graph arrays are only ever read here, so a writable alias would be
    # honest, but NumPy grants none: the copy happens once.
    return torch.from_numpy(array if array.flags.writeable else array.copy())


@cache
def _has_bags() -> bool:
    """Return whether this torch has the vectorised sums; elsewhere they add one row at a time."""
    return "fbgemm" in torch.backends.quantized.supported_engines


def _kernel(h: Tensor, indptr: Tensor, indices: Tensor, values: Tensor) -> Tensor:
    """Return the product of a CSR matrix and ``h`` (n_columns, f), or copy by copy for (copies, n_columns, f).

    torch's sums over bags of rows, made for embeddings, are up to three times as fast as its CSR product in single
    precision. Copies side by side in one wide product would have to be moved there and back, which takes three times
    as long as their products, and their rounding would depend on the copies beside.
    """
    if h.ndim == 3:
        out = h.new_empty(len(h), indptr.shape[0] - 1, h.shape[2])
        for copy, into, own in zip(h, out, values.expand(len(h), -1), strict=True):
            into.copy_(_kernel(copy, indptr, indices, own))
        return out
    bags = h.device.type == "cpu" and h.dtype == torch.float32 and _has_bags()
    if not bags or not h.numel():
        shape = (indptr.shape[0] - 1, h.shape[0])
        matrix = torch.sparse_csr_tensor(indptr, indices, values, size=shape, check_invariants=False)
        if not torch.is_autocast_enabled(h.device.type):
            return matrix @ h
        with torch.autocast(h.device.type, enabled=False):  # torch has no CSR product in half precision
            return matrix @ h
    sums, *_ = torch.embedding_bag(
        h.contiguous(), indices, indptr, mode=0, per_sample_weights=values, include_last_offset=True
    )
    return sums


class _Product(torch.autograd.Function):
    """The product in eager mode; ``arrays`` are the three of the matrix and the three of its transpose."""

    @staticmethod
    def forward(h: Tensor, *arrays: Tensor) -> Tensor:
        return _kernel(h, *arrays[:3])

    @staticmethod
    def setup_context(ctx: Any, inputs: tuple[Tensor, ...], output: Tensor) -> None:
        ctx.save_for_backward(*inputs[1:])
        ctx.save_for_forward(*inputs[1:])

    @staticmethod
    def backward(ctx: Any, *grads: Tensor) -> tuple[Tensor | None, ...]:
        arrays = ctx.saved_tensors
        return _apply(grads[0].contiguous(), *arrays[3:], *arrays[:3]), *[None] * 6

    @staticmethod
    def jvp(ctx: Any, *tangents: Tensor) -> Tensor:
        return _apply(tangents[0], *ctx.saved_tensors)

    @staticmethod
    def vmap(info: Any, in_dims: tuple[int | None, ...], h: Tensor, *arrays: Tensor) -> tuple[Tensor, int]:
        return _batched(_apply, in_dims, h, *arrays)


def _apply(h: Tensor, *arrays: Tensor) -> Tensor:
    return cast(Tensor, _Product.apply(h, *arrays))  # type: ignore[no-untyped-call]  # torch leaves apply untyped


def _batched(product: Any, in_dims: Any, h: Tensor, *arrays: Tensor) -> tuple[Tensor, int]:
    """Return the product of a batch of signals, side by side as columns of one product."""
    if any(dim is not None for dim in in_dims[1:]):
        raise ParameterError("vmap runs over the features; a batch of sparse matrices is one block-diagonal matrix")
    wide = h.movedim(in_dims[0], 1)
    return product(wide.flatten(1), *arrays).reshape(-1, *wide.shape[1:]), 1


@torch.library.custom_op("gsp_fb::sparse_product", mutates_args=())
def _registered(  # noqa: PLR0917  # a registered operator takes tensors, one argument each
    h: Tensor, indptr: Tensor, indices: Tensor, values: Tensor, t_indptr: Tensor, t_indices: Tensor, t_values: Tensor
) -> Tensor:
    return _kernel(h, indptr, indices, values)


@_registered.register_fake
def _(h: Tensor, indptr: Tensor, *arrays: Tensor) -> Tensor:
    return h.new_empty(*h.shape[:-2], indptr.shape[0] - 1, h.shape[-1])


def _registered_backward(ctx: Any, grad: Tensor) -> tuple[Tensor | None, ...]:
    arrays = ctx.saved_tensors
    return _registered(grad.contiguous(), *arrays[3:], *arrays[:3]), *[None] * 6


def _save_arrays(ctx: Any, inputs: tuple[Tensor, ...], output: Tensor) -> None:
    ctx.save_for_backward(*inputs[1:])


_registered.register_autograd(_registered_backward, setup_context=_save_arrays)
_registered.register_vmap(lambda info, in_dims, *inputs: _batched(_registered, in_dims, *inputs))

_HALF = (torch.bfloat16, torch.float16)


def sparse_product(h: Tensor, forward: Csr, backward: Csr) -> Tensor:
    """Return the product of a sparse matrix and ``h`` (n_columns, f); gradients flow to ``h`` through the transpose.

    With ``h`` of shape (copies, n_columns, f) the values may be those of each copy, (copies, nnz).
    Half precision is summed in single precision and rounded once, as autocast asks for.
    """
    kinds = h.dtype, forward[2].dtype
    if kinds[0] == kinds[1] and kinds[0] not in _HALF:
        product: Any = _registered if torch.compiler.is_compiling() else _apply
        return cast(Tensor, product(h, *forward, *backward))
    if not any(kind in _HALF for kind in kinds):
        raise ParameterError(f"features are {kinds[0]} but the matrix {kinds[1]}; call .to({kinds[0]}) on the module")
    wide = torch.promote_types(torch.promote_types(*kinds), torch.float32)
    cast_arrays = [(*csr[:2], csr[2].to(wide)) for csr in (forward, backward)]
    return sparse_product(h.to(wide), *cast_arrays).to(h.dtype)


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
    SparseFeatures : Sparse features, with dropout on the stored entries.
    operator_propagation : The channels of an operator as a propagation.

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

    def __init__(self, forward: Csr, backward: Csr | None, n_columns: int) -> None:
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
        backward = None if symmetric else _arrays(transposed(matrix), dtype, device)
        return cls(_arrays(as_csr(matrix), dtype, device), backward, int(matrix.shape[1]))

    @classmethod
    def from_operator(
        cls, op: Operator, *, dtype: torch.dtype = torch.float32, device: torch.device | str | None = None
    ) -> SparseMatrix:
        """Return the torch form of an operator of the core, where it is unless ``device`` states otherwise.

        An operator on a GPU comes by DLPack: torch reads the arrays that were made there.
        """
        return cls.from_scipy(op.to_sparse(), symmetric=op.is_symmetric, dtype=dtype, device=device)

    def arrays(self) -> tuple[Csr, Csr]:
        """Return ``indptr``, ``indices`` and values of the matrix and of its transpose."""
        forward = (self.indptr, self.indices, self.values)
        return forward, forward if self.symmetric else (self.t_indptr, self.t_indices, self.t_values)

    @property
    def csr(self) -> Tensor:
        """The matrix as a torch CSR tensor over the same memory."""
        return torch.sparse_csr_tensor(*self.arrays()[0], size=self.shape, check_invariants=False)

    def restrict(self, nodes: Any) -> SparseMatrix:
        """Return the rows and columns of some nodes of a square matrix."""
        indptr, indices, values = (part.cpu().numpy() for part in self.arrays()[0])
        block = sparse.csr_array((values, indices, indptr), shape=self.shape)[nodes][:, nodes]
        place: dict[str, Any] = {"dtype": self.values.dtype, "device": self.values.device}
        return SparseMatrix.from_scipy(block, symmetric=self.symmetric, **place)

    def forward(self, h: Tensor) -> Tensor:
        """Return ``P @ h`` for ``h`` of shape (n, f) or (copies, n, f)."""
        if h.shape[-2] != self.shape[1]:
            raise ParameterError(f"features have {h.shape[-2]} rows but the matrix has {self.shape[1]} columns")
        return sparse_product(h, *self.arrays())

    def __matmul__(self, h: Tensor) -> Tensor:
        return cast(Tensor, self(h))


def _arrays(matrix: Any, dtype: torch.dtype, device: torch.device | str | None) -> Csr:
    return *structure(matrix, device), as_tensor(matrix.data).to(device=device, dtype=dtype)
