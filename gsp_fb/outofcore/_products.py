"""Products with an adjacency matrix whose rows come in chunks, by the engine's own loops where they are at hand."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property
from typing import Any, Protocol

import numpy as np
from scipy import sparse

from .._kernels.engine import cost, is_compiled
from .._kernels.threads import each_block, n_threads, row_blocks
from ..backend import FloatArray, IntArray, Signal, csr, freeze, is_sparse, real_dtype

__all__ = ["Chunk", "StoredAdjacency"]


@dataclass(frozen=True, eq=False)
class Chunk:
    """The rows ``first <= i < last`` of a stored graph: CSR arrays whose row pointers begin at 0."""

    first: int
    last: int
    n_nodes: int
    indptr: IntArray
    indices: IntArray
    weights: FloatArray | None
    directed: bool

    @property
    def rows(self) -> IntArray:
        """The row of every entry, beside ``indices``."""
        return np.repeat(np.arange(self.first, self.last, dtype=self.indices.dtype), np.diff(self.indptr))

    @cached_property
    def adjacency(self) -> sparse.csr_array:
        """The rows as a sparse array with ``last - first`` rows and ``n_nodes`` columns."""
        data = np.ones(len(self.indices)) if self.weights is None else self.weights
        matrix: sparse.csr_array = csr(data, self.indices, self.indptr, (self.last - self.first, self.n_nodes))
        return matrix

    def of_rows(self, values: Any) -> Any:
        """Return for each entry the value of its row."""
        return np.repeat(values[self.first : self.last], np.diff(self.indptr))

    def add_product(self, x: Any, out: Any) -> None:
        """Set the chunk's rows of ``out`` to those of ``A @ x``; ``x`` and ``out`` are dense, contiguous and whole."""
        if not is_compiled(self, x):
            out[self.first : self.last] = self.adjacency @ x
            return
        real = real_dtype(x.dtype)
        signal, target = (array.view(real).reshape(len(x), -1) for array in (x, out))
        _compiled(self, signal, target[self.first : self.last])

    def add_counts(self, mask: Any, total: IntArray) -> None:
        """Set the total of each of the chunk's rows to how many of its entries are marked."""
        before = np.concatenate([[0], np.cumsum(mask, dtype=np.int64)])
        total[self.first : self.last] = np.diff(before[self.indptr])


class Chunked(Protocol):
    """What a product needs of a stored graph."""

    @property
    def n_nodes(self) -> int: ...

    def chunks(self, title: str) -> Iterator[Chunk]: ...


@dataclass(frozen=True, eq=False)
class StoredAdjacency:
    """The adjacency of a stored graph: ``A @ x`` in one pass over the files, everything else by that."""

    graph: Chunked

    @property
    def shape(self) -> tuple[int, int]:
        """``(n_nodes, n_nodes)``."""
        return (self.graph.n_nodes, self.graph.n_nodes)

    def __matmul__(self, x: Signal) -> Signal:
        chunks = self.graph.chunks("product")
        if is_sparse(x):
            parts = [chunk.adjacency @ x for chunk in chunks]
            # Chunks are rows, one after the other, or entries of any rows.
            is_whole = all(part.shape[0] == self.graph.n_nodes for part in parts)
            zero = sparse.csr_array(x.shape, dtype=np.result_type(x.dtype, np.float64))
            return sum(parts, zero) if is_whole else sparse.vstack(parts, format="csr")
        signal = np.ascontiguousarray(x)
        out = np.zeros(signal.shape, dtype=np.result_type(signal, np.float64))
        for chunk in chunks:
            chunk.add_product(signal, out)
        return out


def _compiled(chunk: Chunk, x: FloatArray, out: FloatArray) -> None:
    from .._kernels import loops

    # A loop is compiled once for each kind of arrays; read-only ones are the kind that the engine uses.
    indptr, indices = freeze(chunk.indptr.view()), freeze(chunk.indices.view(f"u{chunk.indices.itemsize}"))
    ones, zeros = freeze(np.ones(len(out))), freeze(np.zeros(len(out)))
    source = freeze(x.view())
    work = cost(chunk, x)

    def run(first: int, last: int) -> None:
        if x.shape[1] == 1:
            column = source[:, 0]
            loops.product_1d(
                first, last, indptr, indices, chunk.weights, column, column, ones, zeros, out[:, 0], len(x)
            )
        else:
            loops.product(first, last, indptr, indices, chunk.weights, source, ones, None, zeros, out)

    each_block(run, row_blocks(chunk.indptr, work), n_threads())
