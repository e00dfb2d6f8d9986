"""The adjacency over all ranks: a PETSc matrix with products on the rows that each rank owns; and its components."""

from __future__ import annotations

import math
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
from scipy import sparse
from scipy.sparse import csgraph

from ..backend import FloatArray, IntArray, Signal, is_complex, to_dense
from ..errors import GraphError
from ._mpi import petsc
from .layout import Layout

__all__ = ["ComplexAdjacency", "DistributedAdjacency", "distributed_adjacency", "least_of_component"]


def distributed_adjacency(layout: Layout, pointers: IntArray, indices: IntArray, weights: Any) -> Any:
    """Return the adjacency whose rows on this rank are given; complex weights take two real matrices. Collective."""
    parts = (weights.real, weights.imag) if weights is not None and is_complex(weights) else (weights,)
    made = [DistributedAdjacency(_petsc_matrix(layout, pointers, indices, part)) for part in parts]
    return ComplexAdjacency(*made) if len(made) == 2 else made[0]


def _petsc_matrix(layout: Layout, pointers: IntArray, indices: IntArray, weights: FloatArray | None) -> Any:
    """Return a PETSc AIJ matrix from this rank's rows; columns are numbered over all ranks. Collective."""
    index = petsc().IntType
    values = np.ones(len(indices)) if weights is None else np.ascontiguousarray(weights)
    csr = (pointers - pointers[0]).astype(index), indices.astype(index, copy=False), values
    size = (layout.n_local, layout.n_nodes)
    matrix = petsc().Mat().createAIJ((size, size), csr=csr, comm=layout.comm)
    matrix.assemble()
    return matrix


def check_index_type(layout: Layout, n_entries: int) -> None:
    """Raise GraphError if PETSc was built with indices too short for this rank's rows."""
    most = int(np.iinfo(petsc().IntType).max)
    if max(n_entries, layout.n_nodes) > most:
        raise GraphError(
            f"rank {layout.comm.rank} has {n_entries} entries of a graph with {layout.n_nodes} nodes, and PETSc counts "
            f"to {most}: use more ranks, or a PETSc with 64-bit indices (on Debian python3-petsc4py-64-real)"
        )


@dataclass(frozen=True, eq=False)
class DistributedAdjacency:
    """``A @ x`` on the rows of each rank; the neighbours' values that other ranks hold are fetched on the way."""

    matrix: Any

    def __matmul__(self, x: Signal) -> Signal:
        block = to_dense(x)
        wide = np.result_type(block.dtype, np.float64)
        flat = np.ascontiguousarray(block, dtype=wide).view(np.float64)
        # A complex column is two real ones; the number of columns is spelled out for a rank without rows.
        columns = flat.reshape(len(block), math.prod(block.shape[1:]) * (wide.itemsize // 8)).T
        image = self._columns(np.ascontiguousarray(columns))
        return np.ascontiguousarray(image.T).view(wide).reshape(block.shape)

    @cached_property
    def _vectors(self) -> Any:
        """Two vectors that borrow their content; made once, as PETSc keeps those of a job until all ranks let go."""
        return self.matrix.createVecs()

    def _columns(self, columns: FloatArray) -> FloatArray:
        source, target = self._vectors
        image = np.empty_like(columns)
        for column, result in zip(columns, image, strict=True):
            source.placeArray(column)
            target.placeArray(result)
            self.matrix.mult(source, target)
            source.resetArray()
            target.resetArray()
        return image


@dataclass(frozen=True, eq=False)
class ComplexAdjacency:
    """``A @ x`` with complex weights: PETSc's numbers are real here, so real and imaginary parts are two matrices."""

    real: DistributedAdjacency
    imag: DistributedAdjacency

    def __matmul__(self, x: Signal) -> Signal:
        return self.real @ x + 1j * (self.imag @ x)


def least_of_component(layout: Layout, pointers: IntArray, indices: IntArray) -> IntArray:
    """Return the least node of each own node's (weakly) connected component. Collective.

    Every component is known by its least node: each rank's own first, then joined along the edges between ranks. In a
    round each component hooks onto the least of its neighbours, chains are followed to their ends, and the edges are
    rewritten between what is left. Whatever still has an edge was joined with another one, so the rounds are at most
    the logarithm of the number of nodes.
    """
    rows = np.repeat(np.arange(layout.n_local), np.diff(pointers))
    here = (indices >= layout.first) & (indices < layout.last)
    labels = layout.first + _own(layout.n_local, rows[here], indices[here] - layout.first)
    ends = labels[rows[~here]], layout.take(labels, indices[~here])
    return layout.take(_joined(layout, *_distinct(*ends)), labels)


def _own(n_rows: int, rows: IntArray, columns: IntArray) -> IntArray:
    """Return the least node of the component of each row among the rows of this rank alone."""
    joined = sparse.coo_array((np.ones(len(rows), dtype=np.int8), (rows, columns)), shape=(n_rows, n_rows))
    groups = csgraph.connected_components(joined, directed=True, connection="weak")[1]
    return np.unique(groups, return_index=True)[1][groups] if n_rows else np.zeros(0, dtype=np.int64)


def _distinct(a: IntArray, b: IntArray) -> tuple[IntArray, IntArray]:
    """Return each edge once as its lesser and its greater end, loops left out."""
    pairs = np.unique(np.stack([np.minimum(a, b), np.maximum(a, b)]).astype(np.int64), axis=1)
    low, high = pairs[:, pairs[0] < pairs[1]]
    return low, high


def _joined(layout: Layout, low: IntArray, high: IntArray) -> IntArray:
    """Return for each own node what its component, if it is the least of one, becomes along the given edges."""
    parent = np.arange(layout.first, layout.last, dtype=np.int64)
    while layout.reduce(len(low), "sum") > 0:
        layout.lower_at(parent, high, low)
        _follow(layout, parent)
        low, high = _distinct(layout.take(parent, low), layout.take(parent, high))
    return parent


def _follow(layout: Layout, parent: IntArray) -> None:
    """Let every node point to the end of its chain; each round doubles the steps."""
    while True:
        ahead = layout.take(parent, parent)
        if layout.reduce(np.count_nonzero(ahead != parent), "sum") == 0:
            return
        parent[:] = ahead
