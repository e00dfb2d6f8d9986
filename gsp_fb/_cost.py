"""What a computation will cost, stated before it starts."""

from __future__ import annotations

import warnings

from .errors import GspWarning

__all__ = ["EXPENSIVE", "NANOSECONDS", "state_cost"]

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
