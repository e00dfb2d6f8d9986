"""Connected components over all ranks: each rank's own first, then joined along the edges between ranks.

Every component is known by its least node. In a round each component hooks onto the least of its neighbours, chains
are followed to their ends, and the edges are rewritten between what is left. Whatever still has an edge was joined with
another one, so the rounds are at most the logarithm of the number of nodes.
"""

from __future__ import annotations

import numpy as np
from scipy import sparse
from scipy.sparse import csgraph

from ..backend import IntArray
from .layout import Layout

__all__ = ["least_of_component"]


def least_of_component(layout: Layout, pointers: IntArray, indices: IntArray) -> IntArray:
    """Return the least node of each own node's (weakly) connected component. Collective."""
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
