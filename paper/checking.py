"""Stored figures measured again: random cells, compared to the bit on one machine and within a band elsewhere."""

from __future__ import annotations

import tempfile
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from .cells import Cell
from .fingerprint import fingerprint
from .journal import Journal
from .measures import measure
from .store import Store, environment
from .training import one_thread

__all__ = ["BAND", "Check", "check", "drawn"]

# Largest difference of a mean score (a share) between processors, libraries or kernels: sums in another order end an
# early stopping elsewhere, so that a mean over ten splits moves by about a point on small sets.
BAND = 0.015
_SCORES = ("test", "validation")


@dataclass(frozen=True)
class Check:
    """One cell measured again: ``equal`` to the bit, ``within`` the band, or ``differs``."""

    cell: Cell
    state: str
    difference: float
    seconds: float

    @property
    def passed(self) -> bool:
        """Whether the figures stand."""
        return self.state != "differs"


def drawn(store: Store, cells: Sequence[Cell], count: int, *, within: float | None = None, rng: Any = 0) -> list[Cell]:
    """Return up to ``count`` cells of the present code at random, which together fit into ``within`` seconds."""
    spent = store.seconds([cell for cell in cells if not store.is_stale(cell)])
    known = {cell.path: cell for cell in cells}
    left = np.inf if within is None else within
    found: list[Cell] = []
    for path in np.random.default_rng(rng).permutation(sorted(spent)).tolist():
        if len(found) < count and spent[path] <= left:
            found.append(known[path])
            left -= spent[path]
    return found


def check(store: Store, cells: Sequence[Cell], *, report: Callable[[Check], None] = lambda found: None) -> list[Check]:
    """Measure the cells again, without the journals of the first time, and compare."""
    found = []
    for cell in cells:
        with one_thread(), tempfile.TemporaryDirectory() as folder:
            journal = Journal(Path(folder, "check.jsonl"), cell.spec)
            again = measure(cell, journal)
            found.append(_compared(cell, store.read(cell) or {}, again, journal.seconds))
        report(found[-1])
    return found


def _compared(cell: Cell, stored: Mapping[str, Any], again: Mapping[str, Any], seconds: float) -> Check:
    pairs = [(_numbers(stored, name), _numbers(again, name)) for name in (*_SCORES, "values")]
    if all(before == after for before, after in pairs):
        return Check(cell, "equal", 0.0, seconds)
    means = [abs(np.mean(before) - np.mean(after)) for before, after in pairs if before and after]
    difference = float(max(means, default=np.inf))
    alike = {"fingerprint": fingerprint(cell.code), **environment()}
    same = all(stored.get(name) == value for name, value in alike.items())
    return Check(cell, "within" if difference <= BAND and not same else "differs", difference, seconds)


def _numbers(facts: Mapping[str, Any], name: str) -> list[float]:
    """Return the scores of a part by split, or the S-values of a table's cell."""
    if name != "values":
        return [float(score) for score in facts.get(name, [])]
    return [float(row[kind]) for row in facts.get(name, []) for kind in ("as_printed", "as_defined")]
