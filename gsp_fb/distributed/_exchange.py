"""Reading and writing single entries of vectors that other ranks own."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

from ..backend import IntArray

if TYPE_CHECKING:
    from .layout import Layout

__all__ = ["lower_at", "take"]

Array = npt.NDArray[Any]


def _swap(comm: Any, parts: list[Array]) -> list[Array]:
    """Return what every rank has for this one, given what this one has for every rank; all of one dtype."""
    sizes = np.array([len(part) for part in parts], dtype=np.int64)
    incoming = np.empty_like(sizes)
    comm.Alltoall(sizes, incoming)
    sent = np.concatenate(parts)
    received = np.empty(int(incoming.sum()), dtype=sent.dtype)
    comm.Alltoallv([sent, sizes.tolist()], [received, incoming.tolist()])
    return np.split(received, np.cumsum(incoming)[:-1])


def _by_owner(layout: Layout, nodes: IntArray, *others: Array) -> tuple[IntArray, list[list[Array]]]:
    """Return the order that sorts ``nodes`` by owner, and each array cut up that way."""
    owners = layout.owners(nodes)
    order = np.argsort(owners, kind="stable")
    ends = np.searchsorted(owners[order], np.arange(1, layout.comm.size))
    return order, [np.split(array[order], ends) for array in (nodes, *others)]


def take(layout: Layout, local: Array, nodes: IntArray) -> Array:
    """Return the entries at ``nodes`` of the vector whose rows on this rank are ``local``. Collective."""
    asked, back = np.unique(np.asarray(nodes, dtype=np.int64), return_inverse=True)
    order, (parts,) = _by_owner(layout, asked)
    answers = [local[wanted - layout.first] for wanted in _swap(layout.comm, parts)]
    found = np.empty(len(asked), dtype=local.dtype)
    found[order] = np.concatenate(_swap(layout.comm, answers))
    return found[back]


def lower_at(layout: Layout, local: Array, nodes: IntArray, values: Array) -> None:
    """Lower the entries at ``nodes`` to ``values`` where these are less; ``local`` changes in place. Collective."""
    _, (parts, offers) = _by_owner(layout, nodes, values)
    at, lower = (np.concatenate(_swap(layout.comm, part)) for part in (parts, offers))
    np.minimum.at(local, at - layout.first, lower)
