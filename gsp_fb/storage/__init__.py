"""Where the edges of a graph live: in memory, on disk, or on MPI ranks.

A :class:`Storage` answers for the edges: facts, one number a node (degrees, loops, components), product with a block
of signals, blocks of entries, and sums over all processes. Everything above is written once against it.
"""

from ._interface import PRODUCT_COPIES, SIGNS, SPECIAL, EdgeSource, Entries, Facts, FileStorage, Progress, Storage
from .blocks import BlockedAdjacency, RowBlock
from .budget import DEFAULT_LIMIT, Budget, parse_bytes
from .collect import collect_blocks
from .disk import DiskStorage, silent
from .memory import MemoryStorage
from .npy import StoredArray, new_array

__all__ = [
    "DEFAULT_LIMIT",
    "PRODUCT_COPIES",
    "SIGNS",
    "SPECIAL",
    "BlockedAdjacency",
    "Budget",
    "DiskStorage",
    "EdgeSource",
    "Entries",
    "Facts",
    "FileStorage",
    "MemoryStorage",
    "Progress",
    "RowBlock",
    "Storage",
    "StoredArray",
    "collect_blocks",
    "new_array",
    "parse_bytes",
    "silent",
]
