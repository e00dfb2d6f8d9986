"""Where the edges of a graph live: in memory, on disk, or on MPI ranks.

A :class:`Storage` answers for the edges: facts, one number a node (degrees, loops, components), products with a block
of signals, blocks of entries, and sums over all processes. Everything above is written once against it.
"""

from ._interface import PRODUCT_COPIES, SPECIAL, Entries, Facts, Progress, Source, Storage
from .blocks import BlockedAdjacency, RowBlock
from .budget import DEFAULT_LIMIT, Budget, parse_bytes
from .collect import collect
from .disk import DiskStorage, silent
from .memory import MemoryStorage
from .mpi import MpiStorage
from .npy import StoredArray, new_array

__all__ = [
    "DEFAULT_LIMIT",
    "PRODUCT_COPIES",
    "SPECIAL",
    "BlockedAdjacency",
    "Budget",
    "DiskStorage",
    "Entries",
    "Facts",
    "MemoryStorage",
    "MpiStorage",
    "Progress",
    "RowBlock",
    "Source",
    "Storage",
    "StoredArray",
    "collect",
    "new_array",
    "parse_bytes",
    "silent",
]
