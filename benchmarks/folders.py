"""A symmetric graph of any size, written straight as a folder of CSR arrays, block of rows by block of rows.

Every candidate neighbour of node i is the image of i under an involution of 0..2^bits - 1, so that row j lists i where
row i lists j, and no sorting of pairs is needed. Most involutions move a node within its window of 1024 numbers, by a
mask of their own in each window; the others pair nodes anywhere.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np

from gsp_fb.outofcore.folder import new_folder, write_facts
from gsp_fb.storage import Facts
from gsp_fb.storage.npy import write_header

WINDOW_BITS = 10
NEAR, FAR = 28, 4  # candidates of a row
DROPPED = 0.05  # share of the pairs that are left out, so that rows differ in length
BLOCK_BITS = 19  # rows of a block
STRIDE = 0x632BE59BD9B4E019
KEY = np.uint64(0x9E3779B97F4A7C15)


def write_symmetric_folder(path: Path, bits: int, seed: int = 8) -> int:
    """Write a graph of ``2**bits`` nodes and about 30 times as many entries; return the number of entries."""
    n_nodes, step = 1 << bits, 1 << min(bits, BLOCK_BITS)
    counts = np.zeros(n_nodes + 1, dtype=np.int64)
    with new_folder(path) as folder:
        with open(folder / "indices.npy", "wb+") as file:
            start = write_header(file, (0,), np.int32)
            for first in range(0, n_nodes, step):
                rows, kept = _rows(np.arange(first, first + step, dtype=np.int64), bits, seed)
                counts[first + 1 : first + step + 1] = kept.sum(axis=1)
                file.write(rows[kept].data)
            n_entries = int(counts.sum())
            if write_header(file, (n_entries,), np.int32) != start:
                raise RuntimeError("the header of indices.npy has grown over the content")
        np.save(folder / "indptr.npy", np.cumsum(counts))
        write_facts(folder, Facts(n_nodes, n_entries, 0, False))
    return n_entries


def _rows(nodes: Any, bits: int, seed: int) -> tuple[Any, Any]:
    """Return the candidates of each node in ascending order, and which of them are entries."""
    columns = [_near(nodes, k, seed) for k in range(NEAR)] + [_far(nodes, bits, k, seed) for k in range(FAR)]
    # A pair that is left out is marked by -1 in both of its rows: the choice depends on its smaller end alone.
    for k, column in enumerate(columns):
        column[_hash(np.minimum(nodes, column), 1000 + k, seed) < DROPPED * 2.0**64] = -1
    rows = np.sort(np.stack(columns, axis=1).astype(np.int32), axis=1)
    kept = rows >= 0
    kept[:, 1:] &= rows[:, 1:] != rows[:, :-1]
    return rows, kept


def _near(nodes: Any, k: int, seed: int) -> Any:
    mask = _hash(nodes[:: 1 << WINDOW_BITS] >> WINDOW_BITS, k, seed) >> np.uint64(64 - WINDOW_BITS)
    masks = np.where(mask == 0, 1 + k, mask).astype(np.int64)
    return nodes ^ np.repeat(masks, 1 << WINDOW_BITS)[: len(nodes)]


def _far(nodes: Any, bits: int, k: int, seed: int) -> Any:
    """Return ``s^-1(s(i) xor 1)`` with the bijection ``s(i) = (i * odd) mod 2^bits``, its bits shuffled downwards."""
    low = (1 << bits) - 1
    odd = int(np.random.default_rng([seed, k]).integers(1 << 20, 1 << 30)) | 1
    inverse, half = pow(odd, -1, 1 << bits), bits // 2 + 1
    mixed = (nodes * odd) & low
    mixed = ((mixed ^ (mixed >> half)) * odd) & low
    partner = ((mixed ^ 1) * inverse) & low
    partner = partner ^ (partner >> half)  # undoes the shift, which is its own inverse for half > bits / 2
    return (partner * inverse) & low


def _hash(values: Any, k: int, seed: int) -> Any:
    mixed = (values.astype(np.uint64) + np.uint64((k * STRIDE + seed) % 2**64)) * KEY
    mixed ^= mixed >> np.uint64(29)
    mixed *= np.uint64(0xBF58476D1CE4E5B9)
    return mixed ^ (mixed >> np.uint64(32))
