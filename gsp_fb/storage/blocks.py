"""Rows of an adjacency in blocks, and their products with signals by the compiled loops where they are available."""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np
from scipy import sparse

from .._kernels.engine import cost, is_compiled
from .._kernels.threads import each_block, n_threads, row_blocks
from ..backend import FloatArray, IntArray, Signal, csr, freeze, is_sparse, real_dtype

if TYPE_CHECKING:
    from .disk import DiskStorage

__all__ = ["BlockedAdjacency", "RowBlock"]


@dataclass(frozen=True, eq=False)
class RowBlock:
    """The rows ``first <= i < last`` of a graph: CSR arrays whose row pointers begin at 0."""

    first: int
    last: int
    n_nodes: int
    indptr: IntArray
    indices: IntArray
    weights: FloatArray | None
    directed: bool
    is_complex: bool = False

    @property
    def rows(self) -> IntArray:
        """The row of every entry, beside ``indices``."""
        return np.repeat(np.arange(self.first, self.last, dtype=self.indices.dtype), np.diff(self.indptr))

    @cached_property
    def adjacency(self) -> sparse.csr_array:
        """The rows as a sparse array with ``last - first`` rows and ``n_nodes`` columns."""
        data = np.ones(len(self.indices)) if self.weights is None else self.weights
        return csr(data, self.indices, self.indptr, (self.last - self.first, self.n_nodes))

    def add_product(self, x: Any, out: Any) -> None:
        """Set the block's rows of ``out`` to those of ``A @ x``; ``x`` and ``out`` are dense, contiguous and whole."""
        if not is_compiled(self, x):
            out[self.first : self.last] = self.adjacency @ x
            return
        real = real_dtype(x.dtype)
        signal, target = (array.view(real).reshape(len(x), -1) for array in (x, out))
        _compiled(self, signal, target[self.first : self.last])


@dataclass(frozen=True, eq=False)
class BlockedAdjacency:
    """An adjacency that is read in blocks: ``A @ x`` takes one pass over them; ``absolute`` takes ``|A|``."""

    storage: DiskStorage
    absolute: bool = False

    def __matmul__(self, x: Signal) -> Signal:
        blocks = self.storage.blocks("product")
        if self.absolute:
            blocks = (replace(block, weights=np.abs(block.weights)) for block in blocks)
        if is_sparse(x):
            parts = [block.adjacency @ x for block in blocks]
            # Blocks are rows, one after the other, or entries of any rows.
            is_whole = all(part.shape[0] == self.storage.n_nodes for part in parts)
            zero = sparse.csr_array(x.shape, dtype=self._dtype(x))
            return sum(parts, zero) if is_whole else sparse.vstack(parts, format="csr")
        signal = np.ascontiguousarray(x)
        out = np.zeros(signal.shape, dtype=self._dtype(signal))
        for block in blocks:
            block.add_product(signal, out)
        return out

    def _dtype(self, x: Any) -> Any:
        is_complex = self.storage.is_complex and not self.absolute
        return np.result_type(x.dtype, np.complex128 if is_complex else np.float64)


def _compiled(block: RowBlock, x: FloatArray, out: FloatArray) -> None:
    from .._kernels import loops

    # A loop is compiled once for each kind of arrays; read-only ones are the kind that the engine uses.
    csr = freeze(block.indptr.view()), freeze(block.indices.view(f"u{block.indices.itemsize}"))
    ones, zeros = freeze(np.ones(len(out))), freeze(np.zeros(len(out)))
    source = freeze(x.view())
    work = cost(block, x)

    def run(first: int, last: int) -> None:
        if x.shape[1] == 1:
            column, sums = source[:, 0], np.empty(0, x.dtype)
            loops.product_1d(first, last, csr, block.weights, column, column, ones, zeros, out[:, 0], sums)
        else:
            loops.product_2d(first, last, csr, block.weights, source, ones, None, zeros, out)

    each_block(run, row_blocks(block.indptr, work), n_threads())
