"""Which rank owns which rows: ranges of nodes with about equally many entries; and exchange between the ranks."""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import Any

import numpy as np
import numpy.typing as npt

from ..backend import IntArray
from ..errors import ParameterError
from ..outofcore.folder import Files
from ._mpi import mpi

__all__ = ["Layout", "balanced_cuts", "check_cuts"]

Array = npt.NDArray[Any]
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

    def take(self, local: Array, nodes: IntArray) -> Array:
        """Return the entries at ``nodes`` of the vector whose rows on this rank are ``local``. Collective."""
        asked, back = np.unique(np.asarray(nodes, dtype=np.int64), return_inverse=True)
        order, (parts,) = self._by_owner(asked)
        answers = [local[wanted - self.first] for wanted in _swap(self.comm, parts)]
        found = np.empty(len(asked), dtype=local.dtype)
        found[order] = np.concatenate(_swap(self.comm, answers))
        return found[back]

    def lower_at(self, local: Array, nodes: IntArray, values: Array) -> None:
        """Lower the entries at ``nodes`` to ``values`` where these are less; ``local`` changes in place. Collective."""
        _, (parts, offers) = self._by_owner(nodes, values)
        at, lower = (np.concatenate(_swap(self.comm, part)) for part in (parts, offers))
        np.minimum.at(local, at - self.first, lower)

    def _by_owner(self, nodes: IntArray, *others: Array) -> tuple[IntArray, list[list[Array]]]:
        """Return the order that sorts ``nodes`` by the rank that has them, and each array cut up that way."""
        owners = np.searchsorted(self.cuts, nodes, side="right") - 1
        order = np.argsort(owners, kind="stable")
        ends = np.searchsorted(owners[order], np.arange(1, self.comm.size))
        return order, [np.split(array[order], ends) for array in (nodes, *others)]

    def reduce(self, values: Any, how: str) -> Any:
        """Return the ``'sum'``, ``'min'`` or ``'max'`` of each entry over all ranks; floats of numbers. Collective."""
        mine = np.asarray(values)
        mine = mine.astype(np.complex128 if mine.dtype.kind == "c" else np.float64)
        result = np.empty_like(mine)
        self.comm.Allreduce(mine, result, op=getattr(mpi(), how.upper()))
        return result if mine.ndim else result.item()


def _swap(comm: Any, parts: list[Array]) -> list[Array]:
    """Return what every rank has for this one, given what this one has for every rank; all of one dtype."""
    sizes = np.array([len(part) for part in parts], dtype=np.int64)
    incoming = np.empty_like(sizes)
    comm.Alltoall(sizes, incoming)
    sent = np.concatenate(parts)
    received = np.empty(int(incoming.sum()), dtype=sent.dtype)
    comm.Alltoallv([sent, sizes.tolist()], [received, incoming.tolist()])
    return np.split(received, np.cumsum(incoming)[:-1])


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
