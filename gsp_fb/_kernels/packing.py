"""Blocks of columns whose rows fit one cache line, and when it pays to pack a signal into them.

The entries of an arbitrarily numbered graph read the rows of a signal at random, and each read costs as many cache
lines as the row touches: three for 16 float64 columns where numpy puts them, two if they are aligned. Packed, a block
of eight float64 or 16 float32 columns costs one, and the vector that is read at random is small enough for the cache.
"""

from __future__ import annotations

from collections.abc import Iterator

from ..backend import FloatArray
from .csr import Csr
from .tiles import LAST_LEVEL, far_share, last_level_bytes

__all__ = ["column_blocks", "packing_pays"]

ROW_BYTES = 64
# Packed vectors up to this size stay in the cache while they are read.
CACHED_BYTES = last_level_bytes(LAST_LEVEL)
# Rows of fewer entries cost about as much as packing one.
MIN_DEGREE = 4
# The share of neighbours outside of the cache from which packing pays.
FAR_SHARE = 0.25


def column_blocks(signal: FloatArray) -> Iterator[tuple[int, int, int]]:
    """Yield first column, number of columns and packed width of each block: whole cache lines, then the rest."""
    line, n_columns = ROW_BYTES // signal.itemsize, signal.shape[1]
    for start in range(0, n_columns, line):
        count = min(line, n_columns - start)
        yield start, count, max(2, 1 << (count - 1).bit_length())


def packing_pays(graph: Csr, signal: FloatArray) -> bool:
    """Return whether a product reads the signal packed: its neighbours are many, and not in the cache anyway."""
    n_nodes, n_entries = len(signal), len(graph.indices)
    if n_entries < MIN_DEGREE * n_nodes or n_entries == 0:
        return False
    return n_nodes * ROW_BYTES <= CACHED_BYTES or far_share(graph, CACHED_BYTES // ROW_BYTES) > FAR_SHARE
