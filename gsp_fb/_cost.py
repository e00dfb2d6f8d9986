"""What a computation will cost, stated before it starts, and the memory that it took."""

from __future__ import annotations

import math
import sys
import warnings
from typing import Any

from ._extras import require
from .errors import GspWarning

__all__ = ["EXPENSIVE", "NANOSECONDS", "peak_memory", "state_cost"]

# One core and one entry of one column; blocks of columns on a quiet machine take a third of it.
NANOSECONDS = 1.5
# Entries that are read, over all columns and steps, above which a function states its cost first: five seconds.
EXPENSIVE = 5e9 / NANOSECONDS


def state_cost(reads: float, what: str, remedy: str) -> None:
    """Warn that ``what`` reads more than ``EXPENSIVE`` entries: about how long it takes, and what takes less."""
    if reads > EXPENSIVE:
        seconds = reads * NANOSECONDS * 1e-9
        length = f"{seconds:.0f} s" if seconds < 600 else f"{seconds / 60:.0f} min"
        warnings.warn(f"{what} takes about {length} of one core; {remedy}", GspWarning, stacklevel=3)


def peak_memory(device: Any) -> float:
    """Return the peak memory in MB: of torch on a GPU, of the process elsewhere; nan where the system has no count."""
    if device.type == "cuda":
        return float(require("torch", "memory of a GPU").cuda.max_memory_allocated(device)) / 1e6
    try:
        import resource
    except ImportError:  # Windows
        return math.nan
    unit = 1 if sys.platform == "darwin" else 1024
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * unit / 1e6
