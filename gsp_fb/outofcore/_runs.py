"""The first half of an external sort: listed edges become sorted runs of keys on disk, and a count for each row.

A key is ``row * 2^32 + column * 2 + reverse``: in order of keys, rows come one after the other, columns within them,
and an arc before the reverse of the opposite one.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from .._build import INT32_LIMIT
from ..backend import FloatArray, IntArray
from ..files._parsed import Options
from ._edges import EdgeBlock, check_listed_edges, lengthened

__all__ = ["Keys", "Rules", "SortedRun", "ends_of", "sorted_keys", "write_runs"]

Keys = npt.NDArray[np.uint64]
ROW_BITS, COLUMN_BITS = np.uint64(32), np.uint64(1)
_COLUMN = np.uint64(2**31 - 1)


@dataclass(frozen=True)
class Rules:
    """What the listed pairs mean: unordered (``mirror``), or arcs to be combined by ``symmetrize`` or kept."""

    options: Options
    mirror: bool
    n_nodes: int | None

    def arcs(self, block: EdgeBlock) -> tuple[Keys, FloatArray | None]:
        """Return the keys of a block with those of the reversed arcs where the rules ask for them."""
        source, target, weights = block.source, block.target, block.weights
        if self.options.loops == "drop":
            kept = source != target
            source, target, weights = source[kept], target[kept], None if weights is None else weights[kept]
        keys = _keys(source, target, 0)
        if not self.mirror and self.options.symmetrize is None:
            return keys, weights
        # A loop is its own reverse: it is there once, or taken as both where the two are averaged or compared.
        back = source != target if self.mirror or self.options.symmetrize == "sum" else np.ones(len(source), dtype=bool)
        keys = np.concatenate([keys, _keys(target[back], source[back], 0 if self.mirror else 1)])
        return keys, None if weights is None else np.concatenate([weights, weights[back]])


def _keys(rows: IntArray, columns: IntArray, flag: int) -> Keys:
    return rows.astype(np.uint64) << ROW_BITS | columns.astype(np.uint64) << COLUMN_BITS | np.uint64(flag)


def ends_of(keys: Keys) -> tuple[IntArray, IntArray]:
    """Return the rows and the columns in ``keys``."""
    return (keys >> ROW_BITS).astype(np.int64), (keys >> COLUMN_BITS & _COLUMN).astype(np.int32)


@dataclass(frozen=True)
class SortedRun:
    """Sorted keys, and their weights, in two files of raw numbers."""

    keys: Path
    weights: Path | None

    def position(self, row: int) -> int:
        """Return where the keys of ``row`` begin."""
        mapped: Any = np.memmap(self.keys, dtype=np.uint64, mode="r")
        return int(np.searchsorted(mapped, np.uint64(row) << ROW_BITS))

    def part(self, start: int, stop: int) -> tuple[Keys, FloatArray | None]:
        """Return the keys and weights from ``start`` to before ``stop``."""
        count, offset = stop - start, 8 * start
        keys = np.fromfile(self.keys, np.uint64, count, offset=offset)
        return keys, None if self.weights is None else np.fromfile(self.weights, np.float64, count, offset=offset)


def write_runs(
    blocks: Iterable[EdgeBlock], rules: Rules, folder: Path, *, memory: int
) -> tuple[list[SortedRun], IntArray, int]:
    """Sort each block by itself and write it to ``folder``; the nodes' counts may take half of ``memory``.

    Returns the runs, how many keys each row has, and how many edges were listed.
    """
    runs: list[SortedRun] = []
    counts: IntArray = np.zeros(rules.n_nodes or 0, dtype=np.int64)
    n_listed = 0
    for block in blocks:
        most = INT32_LIMIT if rules.n_nodes is None else rules.n_nodes
        check_listed_edges(block, n_listed, most, signed=rules.options.signed)
        counts = lengthened(counts, block, memory)
        n_listed += len(block.source)
        keys, weights = sorted_keys(*rules.arcs(block))
        counts += np.bincount((keys >> ROW_BITS).astype(np.int64), minlength=len(counts))
        if len(keys):
            runs.append(_written(keys, weights, folder / f"{len(runs)}"))
    return runs, counts, n_listed


def sorted_keys(keys: Keys, weights: FloatArray | None) -> tuple[Keys, FloatArray | None]:
    """Return keys in order, those without weights in place: of an edge that is listed twice the first stays first."""
    if weights is None:
        keys.sort()
        return keys, None
    order = np.argsort(keys, kind="stable")
    return keys[order], weights[order]


def _written(keys: Keys, weights: FloatArray | None, path: Path) -> SortedRun:
    keys.tofile(path.with_suffix(".keys"))
    if weights is None:
        return SortedRun(path.with_suffix(".keys"), None)
    weights.tofile(path.with_suffix(".weights"))
    return SortedRun(path.with_suffix(".keys"), path.with_suffix(".weights"))
