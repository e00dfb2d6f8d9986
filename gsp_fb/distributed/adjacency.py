"""The adjacency over all ranks as a PETSc matrix: matrix-vector products on the rows that each rank owns."""

from __future__ import annotations

import math
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np

from ..backend import FloatArray, IntArray, Signal, is_complex, to_dense
from ..errors import GraphError
from ._mpi import petsc
from .layout import Layout

__all__ = ["ComplexAdjacency", "DistributedAdjacency", "distributed_adjacency"]


def distributed_adjacency(layout: Layout, pointers: IntArray, indices: IntArray, weights: Any) -> Any:
    """Return the adjacency whose rows on this rank are given; complex weights take two real matrices. Collective."""
    parts = (weights.real, weights.imag) if weights is not None and is_complex(weights) else (weights,)
    made = [DistributedAdjacency(layout, _petsc_matrix(layout, pointers, indices, part)) for part in parts]
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

    layout: Layout
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
