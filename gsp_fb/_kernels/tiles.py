"""How much of a signal a product reads at a time: tiles of a single one, blocks of the columns of several.

The entries of an arbitrarily numbered graph read the signal at random. That is cheap while the signal fits the cache;
beyond, each entry loads a cache line for one number. Read tile by tile, a line serves many entries before it is
evicted, at the cost of visiting every row once per tile.

Of several signals each read costs as many cache lines as the row touches: three for 16 float64 columns where numpy puts
them, two if they are aligned. Packed, a block of eight float64 or 16 float32 columns costs one, and the vector that is
read at random is small enough for the cache.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path

import numpy as np

from ..backend import FloatArray
from .engine import Csr

__all__ = ["CACHE_LINE", "column_blocks", "far_share", "last_level_bytes", "packing_pays", "tile_width"]

CACHE_LINE = 64

# File in which Linux reports the size of the last-level cache, and the default on other systems.
LAST_LEVEL = Path("/sys/devices/system/cpu/cpu0/cache/index3/size")
DEFAULT_BYTES = 2**25


def last_level_bytes(source: Path) -> int:
    """Return the size of the last-level cache from a file with the text ``32768K``; a default without the file."""
    try:
        found = re.fullmatch(r"(\d+)K", source.read_text().strip())
    except OSError:
        found = None
    return 1024 * int(found.group(1)) if found else DEFAULT_BYTES


# Packed vectors up to this size stay in the cache while they are read.
CACHED_BYTES = last_level_bytes(LAST_LEVEL)
# A signal up to this size is one tile; the factor leaves room for the CSR arrays and for other processes.
TILE_BYTES = CACHED_BYTES // 4
# Visiting a row costs as much as some entries: tiles are wide enough for this mean number of entries per visit.
ENTRIES_PER_VISIT = 6
# Rows of fewer entries cost about as much as packing one.
MIN_DEGREE = 4
# Size of the sample that measures the locality of the numbering, and the share of far neighbours from which both pay.
SAMPLE = 4096
FAR_SHARE = 0.25


def tile_width(graph: Csr, x: FloatArray) -> int:
    """Return the number of nodes of a single signal per tile; all of them where tiling does not pay."""
    n_nodes, n_entries = len(x), len(graph.indices)
    n_tiles = min(-(-x.nbytes // TILE_BYTES), n_entries // (ENTRIES_PER_VISIT * max(n_nodes, 1)))
    if n_tiles < 2:
        return n_nodes
    width = -(-n_nodes // n_tiles)
    return width if far_share(graph, width) > FAR_SHARE else n_nodes


def far_share(graph: Csr, width: int) -> float:
    """Return the share of entries whose two nodes are more than half a tile apart, from an even sample."""
    # A fixed sample: the order of summation depends on it, and results must be reproducible.
    sample = np.linspace(0, len(graph.indices) - 1, SAMPLE).astype(graph.indptr.dtype)
    rows = np.searchsorted(graph.indptr, sample, side="right") - 1
    return float(np.mean(np.abs(rows - graph.indices[sample]) > width // 2))


def column_blocks(signal: FloatArray) -> Iterator[tuple[int, int, int]]:
    """Yield first column, number of columns and packed width of each block: whole cache lines, then the rest."""
    line, n_columns = CACHE_LINE // signal.itemsize, signal.shape[1]
    for start in range(0, n_columns, line):
        count = min(line, n_columns - start)
        yield start, count, max(2, 1 << (count - 1).bit_length())


def packing_pays(graph: Csr, signal: FloatArray) -> bool:
    """Return whether a product reads the signal packed: its neighbours are many, and not in the cache anyway."""
    n_nodes, n_entries = len(signal), len(graph.indices)
    if n_entries < MIN_DEGREE * n_nodes or n_entries == 0:
        return False
    return n_nodes * CACHE_LINE <= CACHED_BYTES or far_share(graph, CACHED_BYTES // CACHE_LINE) > FAR_SHARE
