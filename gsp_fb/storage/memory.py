"""Edges in memory: one CSR adjacency on the host or a GPU."""

from __future__ import annotations

import hashlib
import os
from collections.abc import Iterator
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any

import numpy as np
from scipy import sparse

from .._arguments import Checked, checked_signal
from ..backend import (
    FloatArray,
    IntArray,
    as_complex,
    asarray_like,
    cast,
    components,
    csr,
    device_of,
    freeze,
    group_sum,
    is_complex,
    move,
    namespace,
    real,
    repeat_rows,
    to_host,
    transposed,
)
from ._interface import PRODUCT_COPIES, Entries, OneProcess
from .npy import StoredArray, open_array

__all__ = ["MemoryStorage"]


@dataclass(frozen=True, eq=False)
class MemoryStorage(OneProcess):
    """Read-only CSR arrays that belong to one graph; the constructor trusts its arguments.

    Attributes
    ----------
    indptr, indices : int arrays
        Row ``i`` holds the neighbours of node ``i``, sorted.
    weights : float64 or complex128 array or None
        One per entry; None where every weight is 1, so that an unweighted graph stores no floats. Complex ones are
        those of a Hermitian adjacency.
    directed : bool

    Examples
    --------
    >>> path = MemoryStorage(np.array([0, 1, 3, 4]), np.array([1, 0, 2, 1]), None, False)
    >>> path.n_nodes, path.degrees
    (3, array([1., 2., 1.]))
    """

    indptr: IntArray
    indices: IntArray
    weights: FloatArray | None
    directed: bool = False
    # An attribute, not a property: every checked signal is held against it.
    n_nodes: int = field(init=False, repr=False)

    kind = "memory"

    def __post_init__(self) -> None:
        object.__setattr__(self, "n_nodes", int(self.indptr.shape[0]) - 1)
        for array in (self.indptr, self.indices, self.weights):
            freeze(array)

    @property
    def n_entries(self) -> int:
        """Number of stored entries: two for an undirected edge, one for a loop or an arc."""
        return int(self.indices.shape[0])

    @property
    def n_loops(self) -> int:
        """Number of nodes with a self-loop."""
        return int(namespace(self.loop_weights).count_nonzero(self.loop_weights))

    @property
    def is_weighted(self) -> bool:
        """Whether any weight differs from 1."""
        return self.weights is not None

    @cached_property
    def is_signed(self) -> bool:
        """Whether some weight is negative or complex."""
        if self.weights is None:
            return False
        return self.is_complex or bool(namespace(self.weights).any(self.weights < 0))

    @cached_property
    def is_complex(self) -> bool:
        """Whether the weights are complex, and with them products with any signal."""
        return self.weights is not None and is_complex(self.weights)

    @property
    def device(self) -> str:
        """Where the arrays live."""
        return device_of(self.indptr)

    @property
    def rows(self) -> IntArray:
        """The row of every entry, made anew at each call."""
        numbers = asarray_like(np.arange(self.n_nodes), self.indptr, self.indptr.dtype)
        rows: IntArray = repeat_rows(numbers, self.indptr)
        return rows

    @cached_property
    def adjacency(self) -> sparse.csr_array:
        """The adjacency as a read-only CSR array, scipy's or the device's."""
        data = _ones(self.indices) if self.weights is None else self.weights
        return csr(freeze(data), self.indices, self.indptr, (self.n_nodes, self.n_nodes))

    @property
    def magnitudes(self) -> sparse.csr_array:
        """The adjacency with the absolute values of the weights, made anew where some are negative or complex."""
        if not self.is_signed or self.weights is None:
            return self.adjacency
        sizes = namespace(self.weights).abs(self.weights)
        return csr(sizes, self.indices, self.indptr, (self.n_nodes, self.n_nodes))

    @cached_property
    def degrees(self) -> FloatArray:
        """Sums of absolute weights over the rows (out-degrees if directed); a self-loop counts once."""
        counts = cast(self.indptr[1:] - self.indptr[:-1], namespace(self.indptr).float64)
        with np.errstate(over="ignore"):
            # Counts are exact.
            return freeze(counts if self.weights is None else self.magnitudes @ namespace(counts).ones_like(counts))

    @cached_property
    def loop_weights(self) -> FloatArray:
        """The diagonal of the adjacency, which is real."""
        loops = self.rows == self.indices
        at = self.indices[loops]
        weights = _ones(at) if self.weights is None else real(self.weights[loops])
        return freeze(group_sum(at, weights, self.n_nodes))

    @cached_property
    def component_labels(self) -> IntArray:
        """The number of each node's (weakly) connected component; searched on the host, wherever the graph is."""
        return freeze(components(self.magnitudes, directed=self.directed))

    @property
    def longest_row(self) -> int:
        """The greatest number of entries in a row."""
        return int(namespace(self.indptr).max(self.indptr[1:] - self.indptr[:-1])) if self.n_nodes else 0

    @cached_property
    def sha256(self) -> str:
        """A fingerprint of structure and weights, the same on every machine."""
        digest = hashlib.sha256(f"{self.n_nodes} {self.directed}".encode())
        kinds = "<i8", "<i8", "<c16" if self.is_complex else "<f8"
        for array, kind in zip((self.indptr, self.indices, self.weights), kinds, strict=True):
            if array is not None:
                digest.update(np.ascontiguousarray(to_host(array), dtype=kind).tobytes())
        return digest.hexdigest()

    def to(self, device: str) -> MemoryStorage:
        """Return the arrays on another device."""
        indptr, indices, weights = (move(array, device) for array in (self.indptr, self.indices, self.weights))
        return MemoryStorage(indptr, indices, weights, self.directed)

    def transposed(self) -> MemoryStorage:
        """Return the storage of the reversed arcs."""
        A = transposed(self.adjacency)
        return MemoryStorage(A.indptr, A.indices, None if self.weights is None else A.data, self.directed)

    def entries(self, title: str) -> Iterator[Entries]:
        """Yield all entries at once."""
        yield Entries(self.rows, self.indices, self.weights)

    def signals(self, x: Any, *, copies: int = PRODUCT_COPIES, reserved: int = 0) -> Iterator[tuple[int, Checked]]:
        """Return the whole signal as one block, complex where the weights are."""
        if isinstance(x, str | os.PathLike | StoredArray):
            x = np.asarray(open_array(x))
        signal = checked_signal(x, self.n_nodes)
        return iter(((0, signal._replace(values=as_complex(signal.values)) if self.is_complex else signal),))

    def load(self) -> MemoryStorage:
        """Return itself."""
        return self

    def __reduce__(self) -> tuple[Any, ...]:
        # Rebuilding through the constructor keeps the arrays read-only in the other process.
        return MemoryStorage, (self.indptr, self.indices, self.weights, self.directed)


def _ones(like: Any) -> Any:
    xp = namespace(like)
    return xp.ones_like(like, dtype=xp.float64)
