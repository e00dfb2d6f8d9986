"""Edges on MPI ranks: every rank holds the rows of its own nodes, matvecs go through a distributed matrix."""

from __future__ import annotations

import math
import os
from collections.abc import Iterator
from contextlib import AbstractContextManager, ExitStack
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
import numpy.typing as npt

from .._arguments import Checked
from .._atomic import atomic_write
from .._build import total_degrees
from ..backend import FloatArray, IntArray, Signal, freeze, to_dense
from ..errors import SignalError
from ..outofcore.folder import Files
from ..storage import DEFAULT_LIMIT, PRODUCT_COPIES, Budget, Entries, FileStorage, MemoryStorage, StoredArray, silent
from ..storage.npy import open_array, write_header
from ._mpi import collective_errors
from .adjacency import distributed_adjacency, least_of_component
from .layout import Layout

__all__ = ["MpiStorage", "check_rows"]


@dataclass(frozen=True, eq=False)
class MpiStorage(FileStorage):
    """A graph distributed over ranks; made by :func:`gsp_fb.open_graph`. All ranks see the files of ``source``."""

    source: Files
    layout: Layout
    # Row pointers of the local rows, as in the file; their neighbours and weights are read when they are asked for.
    pointers: IntArray
    adjacency: Any

    kind = "mpi"

    @cached_property
    def magnitudes(self) -> Any:
        """The adjacency with the absolute values of the weights. Collective."""
        if not self.is_signed:
            return self.adjacency
        indices, weights = self._local_entries()
        return distributed_adjacency(self.layout, self.pointers, indices, None if weights is None else np.abs(weights))

    @property
    def local_rows(self) -> range:
        """The rows of this rank."""
        return range(self.layout.first, self.layout.last)

    @cached_property
    def longest_row(self) -> int:
        """The greatest number of entries in a row of any rank."""
        return int(self.reduce(np.diff(self.pointers).max(initial=0), "max"))

    def _local_entries(self) -> tuple[IntArray, FloatArray | None]:
        return self.source.entries(int(self.pointers[0]), int(self.pointers[-1]))

    @property
    def _rows(self) -> IntArray:
        return np.repeat(np.arange(len(self.local_rows)), np.diff(self.pointers))

    @cached_property
    def degrees(self) -> FloatArray:
        """Sums of absolute weights over the local rows (out-degrees if directed); a self-loop counts once."""
        counts = np.diff(self.pointers)
        with self.agree(), np.errstate(over="ignore"):
            sizes = self._local_entries()[1]
            sums = counts if sizes is None else np.bincount(self._rows, weights=np.abs(sizes), minlength=len(counts))
            return freeze(total_degrees(sums.astype(np.float64)))

    @cached_property
    def component_labels(self) -> IntArray:
        """The number of each local node's component, counted over all ranks in the order of their first nodes."""
        least = least_of_component(self.layout, self.pointers, self._local_entries()[0])
        leads = least == np.arange(self.layout.first, self.layout.last)
        counts = self.gather(np.array([np.count_nonzero(leads)]))
        before = int(counts[: self.layout.comm.rank].sum())
        return freeze(self.layout.take(before + np.cumsum(leads) - 1, least))

    @cached_property
    def n_ghosts(self) -> int:
        """Number of other ranks' nodes whose values a product brings here: eight bytes each for every column."""
        indices = self._local_entries()[0]
        return len(np.unique(indices[(indices < self.layout.first) | (indices >= self.layout.last)]))

    @property
    def sha256(self) -> str:
        """A fingerprint of structure and weights: that of the same graph in memory."""
        return self.load().sha256

    def entries(self, title: str) -> Iterator[Entries]:
        """Yield the entries of the local rows at once."""
        yield Entries(self._rows, *self._local_entries())

    def take(self, values: Any, nodes: IntArray) -> Any:
        """Return the entries at ``nodes`` of a vector whose local rows are ``values``. Collective."""
        return self.layout.take(values, nodes)

    def reduce(self, values: Any, how: str) -> Any:
        """Return the ``'sum'``, ``'min'`` or ``'max'`` over all ranks. Collective."""
        return self.layout.reduce(values, how)

    def gather(self, rows: npt.NDArray[Any]) -> npt.NDArray[Any]:
        """Return the rows of all ranks one below the other, on every rank. Collective."""
        return np.concatenate(self.layout.comm.allgather(rows))

    def agree(self) -> AbstractContextManager[None]:
        """Return a context in which an error of one rank is raised by all of them. Collective."""
        return collective_errors(self.layout.comm)

    def signals(self, x: Any, *, copies: int = PRODUCT_COPIES, reserved: int = 0) -> Iterator[tuple[int, Checked]]:
        """Yield the local rows as one dense block, complex where the weights are. Collective."""
        with self.agree():
            x = open_array(x)  # all rows; an array holds the local ones
            if isinstance(x, StoredArray):
                check_rows(x.shape, self.n_nodes)
                x = np.array(x.rows(self.layout.first, self.layout.last))
            try:
                signal = self.checked(to_dense(x))
            except SignalError as bad:
                where = f"rank {self.layout.comm.rank}, counting from its first row {self.layout.first}"
                raise SignalError(f"{where}: {bad}") from None
        yield 0, signal

    def save(self, rows: Signal, path: str | os.PathLike[str]) -> None:
        """Write the rows of all ranks as one ``.npy`` file, each rank its own part, whole or not at all. Collective.

        The file has a temporary name until every rank has written; a job that is killed leaves what was there before.
        """
        comm, part = self.layout.comm, np.ascontiguousarray(rows)
        row_bytes = part.dtype.itemsize * math.prod(part.shape[1:])
        with ExitStack() as stack:
            begun = None
            with self.agree():
                if comm.rank == 0:
                    file = stack.enter_context(atomic_write(path))
                    begun = file.name, write_header(file, (self.n_nodes, *part.shape[1:]), part.dtype)
                    file.truncate(begun[1] + self.n_nodes * row_bytes)
                    file.flush()
            name, offset = comm.bcast(begun)
            with self.agree(), open(name, "r+b") as shared:
                shared.seek(offset + self.layout.first * row_bytes)
                shared.write(part.tobytes())
                shared.flush()
                os.fsync(shared.fileno())
            with self.agree():
                stack.close()

    def load(self) -> MemoryStorage:
        """Return the whole graph in the memory of this process."""
        return self.source.load(Budget(DEFAULT_LIMIT, self.n_nodes), silent)


def check_rows(shape: tuple[int, ...], n_nodes: int) -> None:
    """Raise SignalError unless an array of this shape has a row for every node."""
    if not shape or shape[0] != n_nodes:
        raise SignalError(f"signal has {shape[0] if shape else 0} rows but the graph has {n_nodes} nodes")
