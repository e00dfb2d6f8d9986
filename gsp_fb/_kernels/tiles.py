"""Cache tiling of a single signal: how many of its nodes a product reads at a time.

The entries of an arbitrarily numbered graph read the signal at random. That is cheap while the signal fits the cache;
beyond, each entry loads a cache line for one number. Read tile by tile, a line serves many entries before it is
evicted, at the cost of visiting every row once per tile.
"""

from __future__ import annotations

import re
from pathlib import Path

import numpy as np

from ..backend import FloatArray
from .csr import Csr

__all__ = ["far_share", "last_level_bytes", "tile_width"]

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


# A signal up to this size is one tile; the factor leaves room for the CSR arrays and for other processes.
TILE_BYTES = last_level_bytes(LAST_LEVEL) // 4
# Visiting a row costs as much as some entries: tiles are wide enough for this mean number of entries per visit.
ENTRIES_PER_VISIT = 6
# Size of the sample that measures the locality of the numbering, and the share of far neighbours from which tiles pay.
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
