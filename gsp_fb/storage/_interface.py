"""What every storage of a graph answers, what several have in common, and where a storage registers functions."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from contextlib import AbstractContextManager, nullcontext
from dataclasses import dataclass, field
from functools import cached_property
from typing import TYPE_CHECKING, Any, Protocol

import numpy as np
import numpy.typing as npt

from .._arguments import Checked, checked_signal
from .._atomic import atomic_write
from ..backend import FloatArray, IntArray, Signal, as_complex, freeze, to_host

if TYPE_CHECKING:
    from .budget import Budget
    from .memory import MemoryStorage

__all__ = ["PRODUCT_COPIES", "SIGNS", "SPECIAL", "EdgeSource", "Entries", "Facts", "Progress", "Storage"]

# Items, a title and how many there are -> the same items, shown while they are consumed.
Progress = Callable[..., Iterable[Any]]

# Arrays as large as the block of columns that are alive at the peak of a product or a quadratic form, the block
# itself included.
PRODUCT_COPIES = 7

# (kind of storage, name of a function) -> the implementation for that storage, where the general one cannot serve:
# partial spectra over ranks. The package behind a storage registers its own.
SPECIAL: dict[tuple[str, str], Callable[..., Any]] = {}


@dataclass(frozen=True, eq=False)
class Entries:
    """Some stored entries of a graph, in any order.

    Rows are counted from the first row of this process, columns over the whole graph; weights are None where all are 1.
    """

    rows: IntArray
    columns: IntArray
    weights: Any


class Storage(Protocol):
    """Where the edges of a graph live: memory, disk or MPI ranks.

    Numbers are those of the whole graph. Vectors over the nodes, and signals, hold the rows ``local_rows`` of this
    process: all of them, except on MPI ranks. On ranks everything but the facts is collective.

    Attributes
    ----------
    kind : {'memory', 'disk', 'mpi'}
    adjacency
        The matrix: ``adjacency @ x`` of local rows gives local rows. In memory a CSR array.
    """

    kind: str

    @property
    def n_nodes(self) -> int: ...
    @property
    def n_entries(self) -> int: ...
    @property
    def n_loops(self) -> int: ...
    @property
    def directed(self) -> bool: ...
    @property
    def is_weighted(self) -> bool: ...
    @property
    def is_signed(self) -> bool: ...
    @property
    def is_complex(self) -> bool: ...
    @property
    def magnitudes(self) -> Any: ...
    @property
    def device(self) -> str: ...
    @property
    def local_rows(self) -> range: ...
    @property
    def adjacency(self) -> Any: ...
    @property
    def degrees(self) -> FloatArray: ...
    @property
    def loop_weights(self) -> FloatArray: ...
    @property
    def component_labels(self) -> IntArray: ...
    @property
    def longest_row(self) -> int: ...
    @property
    def sha256(self) -> str: ...

    def entries(self, title: str) -> Iterator[Entries]:
        """Yield the entries of the local rows, a block at a time."""

    def take(self, values: Any, nodes: IntArray) -> Any:
        """Return the entries at ``nodes``, of the whole graph, of a vector given by its local rows."""

    def reduce(self, values: Any, how: str) -> Any:
        """Return the ``'sum'``, ``'min'`` or ``'max'`` over all processes, entry by entry."""

    def gather(self, rows: npt.NDArray[Any]) -> npt.NDArray[Any]:
        """Return the rows of all processes one below the other."""

    def agree(self) -> AbstractContextManager[None]:
        """Return a context in which an error of one process is raised by all of them."""

    def signals(self, x: Any, *, copies: int = PRODUCT_COPIES, reserved: int = 0) -> Iterator[tuple[int, Checked]]:
        """Yield a signal, checked, in blocks of columns of which ``copies`` fit the memory; each with its first column.

        ``x`` is an array of local rows, or a ``.npy`` file (path or StoredArray) with all rows.
        """

    def save(self, rows: Signal, path: Any) -> None:
        """Write an array over the nodes as a ``.npy`` file, whole or not at all."""

    def load(self) -> Storage:
        """Return the whole graph in the memory of this process."""


# Kinds of stored weights: >= 0, real with negative ones, complex of a Hermitian adjacency.
SIGNS = (None, "signed", "complex")


@dataclass(frozen=True)
class Facts:
    """What the arrays of a graph do not hold."""

    n_nodes: int
    n_entries: int
    n_loops: int
    directed: bool
    signs: str | None = None

    @property
    def is_signed(self) -> bool:
        return self.signs is not None

    @property
    def is_complex(self) -> bool:
        return self.signs == "complex"

    @property
    def weight_type(self) -> str:
        return "<c16" if self.is_complex else "<f8"


class EdgeSource(Protocol):
    """The files behind a graph: a folder of CSR arrays, or an ordered list of edges.

    Its blocks have ``rows``, ``indices``, ``weights`` (None where all are 1), the ``adjacency`` of their entries, and
    ``add_product(x, out)``.
    """

    @property
    def facts(self) -> Facts: ...
    @property
    def is_weighted(self) -> bool: ...
    @property
    def row_counts(self) -> IntArray: ...
    @property
    def name(self) -> str: ...
    def blocks(self, budget: Budget, progress: Progress, title: str) -> Iterator[Any]: ...
    def fingerprint(self, digest: Any, budget: Budget, progress: Progress) -> None: ...
    def load(self, budget: Budget, progress: Progress) -> MemoryStorage: ...


class OneProcess:
    """What a storage answers where one process has all rows."""

    n_nodes: int

    @property
    def local_rows(self) -> range:
        """All rows."""
        return range(self.n_nodes)

    def take(self, values: Any, nodes: IntArray) -> Any:
        """Return ``values[nodes]``."""
        return values[nodes]

    def reduce(self, values: Any, how: str) -> Any:
        """Return ``values``: there is one process."""
        return values

    def gather(self, rows: Any) -> Any:
        """Return ``rows``: they are all of them."""
        return rows

    def agree(self) -> AbstractContextManager[None]:
        """Return a context that does nothing: there is one process."""
        return nullcontext()

    def save(self, rows: Signal, path: Any) -> None:
        """Write an array over the nodes as a ``.npy`` file, whole or not at all."""
        with atomic_write(path) as file:
            np.save(file, np.ascontiguousarray(to_host(rows)), allow_pickle=False)


@dataclass(frozen=True, eq=False)
class FileStorage:
    """What storages of edges in files have in common; the facts of ``source``, of the whole graph, are attributes."""

    source: EdgeSource
    n_nodes: int = field(init=False, repr=False)
    n_entries: int = field(init=False, repr=False)
    n_loops: int = field(init=False, repr=False)
    directed: bool = field(init=False, repr=False)
    is_weighted: bool = field(init=False, repr=False)
    is_signed: bool = field(init=False, repr=False)
    is_complex: bool = field(init=False, repr=False)

    device = "cpu"

    def __post_init__(self) -> None:
        object.__setattr__(self, "is_weighted", self.source.is_weighted)
        for name in ("n_nodes", "n_entries", "n_loops", "directed", "is_signed", "is_complex"):
            object.__setattr__(self, name, getattr(self.source.facts, name))

    @cached_property
    def loop_weights(self: Storage) -> FloatArray:
        """The diagonal of the adjacency, which is real, local rows."""
        local = self.local_rows
        diagonal = np.zeros(len(local))
        for part in self.entries("loops") if self.n_loops else ():
            at = np.flatnonzero(part.rows + local.start == part.columns)
            diagonal[part.rows[at]] = 1.0 if part.weights is None else part.weights[at].real
        return freeze(diagonal)

    def checked(self: Storage, x: Any) -> Checked:
        """Return a signal over the local rows, checked, and complex where the weights are."""
        signal = checked_signal(x, len(self.local_rows))
        return signal._replace(values=as_complex(signal.values)) if self.is_complex else signal
