"""The product of a sparse matrix in torch: int32 CSR, with a backward pass that never transposes; needs torch.

torch's own CSR product rebuilds the transpose in every backward pass, and knows neither ``torch.func`` nor
``torch.compile``. Here the transpose is stored once, or is the matrix itself where that is symmetric, and the product
is an operation with rules for both: an autograd function in eager mode (``jvp`` and ``vmap`` need one), the registered
operator ``gsp_fb::sparse_product`` in compiled and exported programs.
"""

from __future__ import annotations

import inspect
import warnings
from functools import cache
from typing import Any, TypeAlias, cast

import numpy as np
import torch
from scipy import sparse
from torch import Tensor
from torch.utils.weak import WeakTensorKeyDictionary

from ..errors import ParameterError

__all__ = [
    "TorchCsr",
    "as_tensor",
    "csr_product",
    "csr_tensors",
    "numbered_transpose",
    "sparse_product",
    "structure",
    "tiled",
]

TorchCsr: TypeAlias = tuple[Tensor, Tensor, Tensor]

with warnings.catch_warnings():
    # torch announces once per process that CSR is in beta; nothing in it is for the user to act on.
    warnings.simplefilter("ignore")
    torch.eye(1).to_sparse_csr()


def structure(matrix: Any, device: torch.device | str | None) -> tuple[Tensor, Tensor]:
    """Return ``indptr`` and ``indices`` of a CSR array as tensors, int32 wherever that holds them."""
    kind = structure_dtype(max(int(matrix.indptr[-1]), *matrix.shape))
    indptr, indices = (as_tensor(part).to(device=device, dtype=kind) for part in (matrix.indptr, matrix.indices))
    return indptr, indices


def structure_dtype(largest: int) -> torch.dtype:
    """Return int32 where it holds the largest index."""
    return torch.int32 if largest <= torch.iinfo(torch.int32).max else torch.int64


def as_tensor(array: Any) -> Tensor:
    """Return a tensor over the memory of an array: NumPy's, or through DLPack that of any other library."""
    if not isinstance(array, np.ndarray):
        return torch.utils.dlpack.from_dlpack(array)
    # torch warns of read-only memory; frozen graph arrays are only ever read here, so a writable alias would be
    # honest, but NumPy grants none: the copy happens once.
    return torch.from_numpy(array if array.flags.writeable else array.copy())


# Rows of a tile (128 float32 columns take 0.75 MB), tiles and mean entries a row of a tile from which they pay.
TILE, MIN_TILES, ENTRIES_PER_BAG = 1536, 4, 16


@cache
def _has_bags() -> bool:
    """Return whether this torch has the vectorised sums; elsewhere they add one row at a time."""
    return "fbgemm" in torch.backends.quantized.supported_engines


def csr_product(h: Tensor, indptr: Tensor, indices: Tensor, values: Tensor) -> Tensor:
    """Return the product of a CSR matrix and ``h`` (n_columns, f), or copy by copy for (copies, n_columns, f).

    torch's sums over bags of rows, made for embeddings, are up to three times as fast as its CSR product in single
    precision. Copies are the blocks of one block-diagonal matrix: a copy's rounding does not depend on those beside it.
    A two-dimensional ``indptr`` holds the starts of the rows of tiles, see ``tiled``.
    """
    if indptr.ndim == 2:  # tiles of columns, one after the other
        tiles = torch.cat([indptr.flatten(), indptr.new_tensor([len(indices)])])
        return csr_product(h, tiles, indices, values).reshape(*h.shape[:-2], *indptr.shape, h.shape[-1]).sum(-3)
    if h.ndim == 3:
        blocks = _block_diagonal(indptr, indices, values, h.shape[:2])
        return csr_product(h.reshape(-1, h.shape[2]), *blocks).reshape(len(h), -1, h.shape[2])
    bags = h.device.type == "cpu" and h.dtype == torch.float32 and _has_bags()
    if not bags or not h.numel():
        shape = (indptr.shape[0] - 1, h.shape[0])
        matrix = torch.sparse_csr_tensor(indptr, indices, values, size=shape, check_invariants=False)
        if not torch.is_autocast_enabled(h.device.type):
            return matrix @ h
        with torch.autocast(h.device.type, enabled=False):  # torch has no CSR product in half precision
            return matrix @ h
    sums, *_ = torch.embedding_bag(  # detached: for a gradient it would list the bag of every entry
        h.detach().contiguous(), indices, indptr, mode=0, per_sample_weights=values, include_last_offset=True
    )
    return sums


def _block_diagonal(indptr: Tensor, indices: Tensor, values: Tensor, shape: torch.Size) -> TorchCsr:
    """Return the matrix once for each of (copies, n_columns), with the values of each copy where they differ."""
    made = _STRUCTURES.setdefault(indices, {})  # type: ignore[no-untyped-call]  # torch leaves it untyped
    if shape not in made:
        made.clear()  # copies that have stopped leave a batch for good
        made[shape] = _block_structure(indptr, indices, *shape)
    return *made[shape], values.expand(shape[0], -1).flatten()


# Structures of block-diagonal matrices by the indices of their block: to make one takes as long as the product.
_STRUCTURES: WeakTensorKeyDictionary = WeakTensorKeyDictionary()


def _block_structure(indptr: Tensor, indices: Tensor, copies: int, n_columns: int) -> tuple[Tensor, Tensor]:
    number = torch.arange(copies, device=indices.device).unsqueeze(-1)
    starts = (indptr[:-1] + number * len(indices)).flatten()
    kind = structure_dtype(copies * max(len(indices), n_columns))
    blocks = (indices + (number * n_columns).to(kind)).flatten()
    ends = starts.new_tensor([copies * len(indices)])
    return torch.cat([starts, ends]).to(kind), blocks


class _Product(torch.autograd.Function):
    """The product in eager mode; ``arrays`` are the three of the matrix and the three of its transpose."""

    @staticmethod
    def forward(h: Tensor, *arrays: Tensor) -> Tensor:
        return csr_product(h, *arrays[:3])

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


# torch inspects the signature in every call of a function with ``setup_context``: a third of a small product.
_Product.forward.__signature__ = inspect.signature(_Product.forward)  # type: ignore[attr-defined]


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
    return csr_product(h, indptr, indices, values)


@_registered.register_fake
def _(h: Tensor, indptr: Tensor, *arrays: Tensor) -> Tensor:
    rows = indptr.shape[-1] - (indptr.ndim == 1)
    return h.new_empty(*h.shape[:-2], rows, h.shape[-1])


def _registered_backward(ctx: Any, grad: Tensor) -> tuple[Tensor | None, ...]:
    arrays = ctx.saved_tensors
    return _registered(grad.contiguous(), *arrays[3:], *arrays[:3]), *[None] * 6


def _save_arrays(ctx: Any, inputs: tuple[Tensor, ...], output: Tensor) -> None:
    ctx.save_for_backward(*inputs[1:])


_registered.register_autograd(_registered_backward, setup_context=_save_arrays)
_registered.register_vmap(lambda info, in_dims, *inputs: _batched(_registered, in_dims, *inputs))

_HALF = (torch.bfloat16, torch.float16)


def sparse_product(h: Tensor, forward: TorchCsr, backward: TorchCsr) -> Tensor:
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


def csr_tensors(matrix: Any, dtype: torch.dtype, device: torch.device | str | None) -> TorchCsr:
    """Return ``indptr``, ``indices`` and values of a CSR array as tensors."""
    return *structure(matrix, device), as_tensor(matrix.data).to(device=device, dtype=dtype)


def tiled(matrix: Any) -> Any:
    """Return a tall CSR array with the columns of every TILE rows numbered apart; its transpose is a stack of tiles.

    A product with the stack reads TILE rows of a signal at a time, which stay in the cache of the core; the sum over
    tiles is that with the transpose of the matrix itself. A matrix with too few entries for that comes as it is.
    """
    (n_rows, n_columns), tiles = matrix.shape, -(-matrix.shape[0] // TILE)
    if tiles < MIN_TILES or matrix.nnz < ENTRIES_PER_BAG * tiles * n_columns:
        return matrix
    tile = np.repeat(np.arange(n_rows) // TILE, np.diff(matrix.indptr))
    return sparse.csr_array(
        (matrix.data, matrix.indices + tile * n_columns, matrix.indptr), (n_rows, tiles * n_columns)
    )


def numbered_transpose(matrix: Any) -> Any:
    """Return the transpose of a CSR array, each value the place of the entry among those of the matrix."""
    return sparse.csr_array((np.arange(matrix.nnz), matrix.indices, matrix.indptr), shape=matrix.shape).T.tocsr()
