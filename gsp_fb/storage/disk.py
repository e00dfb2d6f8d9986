"""Edges on disk: read in blocks under a memory limit; what has one number a node is in memory."""

from __future__ import annotations

import hashlib
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
from scipy import sparse
from scipy.sparse import csgraph

from .._arguments import Checked, host_array
from .._build import total_degrees
from ..backend import FloatArray, IntArray, freeze, is_sparse
from ..errors import FormatError, GraphError, SignalError
from ._interface import PRODUCT_COPIES, Entries, FileStorage, OneProcess, Progress
from .blocks import BlockedAdjacency
from .budget import Budget
from .memory import MemoryStorage
from .npy import StoredArray, open_array

__all__ = ["DiskStorage", "silent"]

# Bytes that an entry takes while a graph is loaded: index and weight, once in the files' types and once checked.
LOAD_BYTES = 24
# Complex weights take so much more, in the files and checked.
COMPLEX_BYTES = 16


def silent(items: Iterable[Any], title: str, *, total: int | None = None) -> Iterable[Any]:
    """Return the items as they are: a ``progress`` that shows nothing."""
    return items


@dataclass(frozen=True, eq=False)
class DiskStorage(OneProcess, FileStorage):
    """A graph whose edges stay in their files; made by :func:`gsp_fb.open_graph`."""

    budget: Budget
    # Wraps the blocks of every pass.
    progress: Progress = silent

    kind = "disk"

    @property
    def magnitudes(self) -> BlockedAdjacency:
        """The adjacency with the absolute values of the weights."""
        return BlockedAdjacency(self, absolute=self.is_signed)

    @property
    def longest_row(self) -> int:
        """The greatest number of entries in a row."""
        return int(self.source.row_counts.max(initial=0))

    @property
    def adjacency(self) -> BlockedAdjacency:
        """The adjacency as a matrix that knows matrix-vector products and nothing else."""
        return BlockedAdjacency(self)

    @property
    def fits_memory(self) -> bool:
        """Whether the whole graph and the vectors of an operator fit the memory limit."""
        entry = LOAD_BYTES + (COMPLEX_BYTES if self.is_complex else 0)
        return entry * self.n_entries + self.budget.vectors <= self.budget.limit

    def blocks(self, title: str) -> Iterator[Any]:
        """Yield the entries in blocks that fit the memory limit: one pass over the files."""
        return self.source.blocks(self.budget, self.progress, title)

    @cached_property
    def degrees(self) -> FloatArray:
        """Sums of absolute weights over the rows (out-degrees if directed); a self-loop counts once."""
        with np.errstate(over="ignore"):
            degrees = self.magnitudes @ np.ones(self.n_nodes) if self.is_weighted else 1.0 * self.source.row_counts
        try:
            return freeze(total_degrees(degrees))
        except GraphError as bad:
            raise FormatError(f"{self.source.name}: {bad}") from None

    @cached_property
    def component_labels(self) -> IntArray:
        """The number of each node's (weakly) connected component, in the order of their first nodes."""
        labels: IntArray = np.arange(self.n_nodes)
        for block in self.blocks("components"):
            ends = labels[block.rows], labels[block.indices]
            met = sparse.coo_array((np.ones(len(ends[0]), dtype=np.int8), ends), shape=(self.n_nodes, self.n_nodes))
            labels = csgraph.connected_components(met, directed=True, connection="weak")[1][labels]
        _, first, labels = np.unique(labels, return_index=True, return_inverse=True)
        return freeze(np.argsort(np.argsort(first))[labels].astype(np.int32 if self.n_nodes < 2**31 else np.int64))

    @cached_property
    def sha256(self) -> str:
        """A fingerprint of structure and weights: that of the same graph in memory."""
        digest = hashlib.sha256(f"{self.n_nodes} {self.directed}".encode())
        self.source.fingerprint(digest, self.budget, self.progress)
        return digest.hexdigest()

    def entries(self, title: str) -> Iterator[Entries]:
        """Yield the entries in blocks."""
        return (Entries(block.rows, block.indices, block.weights) for block in self.blocks(title))

    def signals(self, x: Any, *, copies: int = PRODUCT_COPIES, reserved: int = 0) -> Iterator[tuple[int, Checked]]:
        """Yield the signal in blocks of columns that fit the memory limit, complex where the weights are.

        A sparse signal comes in one piece; ParameterError is raised where not even one column fits.
        """
        x = open_array(x)
        if is_sparse(x):
            yield 0, self.checked(x)
            return
        x = x if isinstance(x, StoredArray) else host_array(x, SignalError, "signal")
        itemsize = max(x.dtype.itemsize, 16 if self.is_complex else 0)
        width = self.budget.columns(copies, itemsize, reserved=reserved)
        # What is no signal of this graph goes on as it is, to the function that states what is wrong with it.
        if x.ndim != 2 or x.shape[0] != self.n_nodes or x.shape[1] <= width:
            yield 0, self.checked(np.asarray(x) if isinstance(x, StoredArray) else x)
            return
        for start in range(0, x.shape[1], width):
            stop = min(start + width, x.shape[1])
            part = x.columns(start, stop, chunk=self.budget.chunk) if isinstance(x, StoredArray) else x[:, start:stop]
            yield start, self.checked(part)

    def load(self) -> MemoryStorage:
        """Return the whole graph in memory, every block of it checked."""
        return self.source.load(self.budget, self.progress)
