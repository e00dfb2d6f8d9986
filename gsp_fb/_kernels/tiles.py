"""How much of a single signal a product reads at a time: all of it, or tiles that stay in the cache.

An entry of an arbitrarily numbered graph reads the signal at random. As long as the signal is in the cache that is
cheap; beyond, each entry brings a line of memory for the sake of one number. Read tile by tile, a line is used by
many entries before it leaves the cache, at the cost of visiting every row once for each tile.
"""

from __future__ import annotations

import numpy as np

from ..backend import FloatArray
from .csr import Csr
from .threads import row_blocks

__all__ = ["single_blocks", "tile_width"]

# A signal up to this size is one tile: what the other programs of a machine leave of its last-level cache.
TILE_BYTES = 2**23
# Visiting a row costs as much as some entries; of short rows, wider tiles leave so many for each visit.
ENTRIES_A_VISIT = 6
# Rows share the tile only within a block: few blocks, so that each line of the tile is read by many entries of one.
MOST_BLOCKS = 16
# Entries looked at to see how the nodes are numbered, and the share of far neighbours from which tiles pay.
SAMPLE = 4096
FAR_SHARE = 0.25


def single_blocks(graph: Csr, x: FloatArray, work: int) -> tuple[int, list[tuple[int, int]]]:
    """Return the width of a tile of a single signal, and the blocks of rows that read it."""
    width = tile_width(graph, x)
    blocks = row_blocks(graph.indptr, work, most=MOST_BLOCKS) if width < len(x) else row_blocks(graph.indptr, work)
    return width, blocks


def tile_width(graph: Csr, x: FloatArray) -> int:
    """Return how many nodes of a single signal are read at a time; all of them where tiles would not pay."""
    n_nodes, n_entries = len(x), len(graph.indices)
    n_tiles = min(-(-x.nbytes // TILE_BYTES), n_entries // (ENTRIES_A_VISIT * max(n_nodes, 1)))
    if n_tiles < 2:
        return n_nodes
    width = -(-n_nodes // n_tiles)
    return width if _far_share(graph, width) > FAR_SHARE else n_nodes


def _far_share(graph: Csr, width: int) -> float:
    """Return the share of entries whose two nodes lie more than half a tile apart, by an even sample."""
    # The same entries in every run: the order of the sums hangs on them.
    sample = np.linspace(0, len(graph.indices) - 1, SAMPLE).astype(graph.indptr.dtype)
    rows = np.searchsorted(graph.indptr, sample, side="right") - 1
    return float(np.mean(np.abs(rows - graph.indices[sample]) > width // 2))
