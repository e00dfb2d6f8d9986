"""Which rank owns which rows: contiguous ranges of nodes with about equally many entries."""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Sequence
from contextlib import AbstractContextManager
from dataclasses import dataclass
from itertools import pairwise
from typing import Any

import numpy as np
import numpy.typing as npt

from ..backend import IntArray
from ..errors import FormatError, ParameterError
from ..outofcore.folder import Files
from ._exchange import take
from ._mpi import allreduce, collective_errors

__all__ = ["Layout", "balanced_cuts", "check_cuts", "check_pointers"]

# A row costs about as much as this many entries: the vectors of the recurrence pass over it as well.
ROW_COST = 4


@dataclass(frozen=True, eq=False)
class Layout:
    """The rows of each rank: those of rank ``r`` are ``cuts[r] <= i < cuts[r + 1]``; a rank may have none."""

    comm: Any
    rank: int
    cuts: tuple[int, ...]

    @property
    def first(self) -> int:
        """The first row of this rank."""
        return self.cuts[self.rank]

    @property
    def last(self) -> int:
        """The row after this rank's last."""
        return self.cuts[self.rank + 1]

    @property
    def n_local(self) -> int:
        """Number of rows of this rank."""
        return self.last - self.first

    @property
    def n_nodes(self) -> int:
        """Number of all rows."""
        return self.cuts[-1]

    def owners(self, nodes: IntArray) -> IntArray:
        """Return the rank that has each of ``nodes``."""
        return np.asarray(np.searchsorted(self.cuts, nodes, side="right") - 1)

    def gather(self, rows: npt.NDArray[Any]) -> npt.NDArray[Any]:
        """Return the rows of all ranks one below the other, on every rank. Collective."""
        return np.concatenate(self.comm.allgather(rows))

    def take(self, local: npt.NDArray[Any], nodes: IntArray) -> npt.NDArray[Any]:
        """Return the entries at ``nodes`` of the vector whose rows on this rank are ``local``. Collective."""
        return take(self, local, nodes)

    def reduce(self, values: Any, how: str) -> Any:
        """Return the ``'sum'``, ``'min'`` or ``'max'`` over all ranks, entry by entry. Collective."""
        return allreduce(self.comm, values, how)

    def agree(self) -> AbstractContextManager[None]:
        """Return a context in which an error of one rank is raised by all of them."""
        return collective_errors(self.comm)


def balanced_cuts(files: Files, n_ranks: int) -> tuple[int, ...]:
    """Return ranges of rows of about equal cost, by bisection in the row pointers on disk: a few pages are read."""
    n_nodes, n_entries = files.facts.n_nodes, files.facts.n_entries
    pointers = files.indptr.rows(0, n_nodes + 1)

    def cost(row: int) -> int:
        return int(pointers[row]) + ROW_COST * row

    whole = n_entries + ROW_COST * n_nodes
    inner = [bisect_left(range(n_nodes), share * whole // n_ranks, key=cost) for share in range(1, n_ranks)]
    return (0, *inner, n_nodes)


def check_cuts(cuts: Sequence[int], n_nodes: int, n_ranks: int) -> tuple[int, ...]:
    """Return ``cuts`` if they divide ``n_nodes`` rows among ``n_ranks`` ranks."""
    found = tuple(int(cut) for cut in cuts)
    if len(found) != n_ranks + 1 or found[0] != 0 or found[-1] != n_nodes or any(b < a for a, b in pairwise(found)):
        raise ParameterError(f"cuts must rise from 0 to {n_nodes} in {n_ranks + 1} numbers, not {found}")
    return found


def check_pointers(pointers: IntArray, layout: Layout, files: Files) -> None:
    """Raise FormatError unless the row pointers of this rank's rows are part of a sequence from 0 to the end."""
    n_entries = files.facts.n_entries
    begins = layout.first > 0 or pointers[0] == 0
    ends = layout.last < layout.n_nodes or pointers[-1] == n_entries
    inside = pointers[0] >= 0 and pointers[-1] <= n_entries
    if not (begins and ends and inside) or np.any(pointers[1:] < pointers[:-1]):
        raise FormatError(f"{files.indptr.path}: row pointers do not rise from 0 to {n_entries}")
