"""From an edge list of any size to the folder of a graph on disk, by an external sort.

The list is read once, in blocks that fit the memory; each is sorted and written as a run. Counts of the rows then cut
the graph into ranges of rows that fit the memory; for each range the runs give one slice each, and these are sorted,
merged by the rules and appended to the result. So every edge is written twice and read twice.
"""

from __future__ import annotations

import os
import shutil
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import IO, Any

import numpy as np

from ..backend import FloatArray, IntArray
from ..errors import GraphError
from ..files._nodes import Header
from ..files._parsed import Options
from ..graph import Graph
from ..storage import DEFAULT_LIMIT, Facts, Progress, parse_bytes, silent
from ..storage.npy import write_header
from ._edges import open_edges
from ._runs import Keys, Rules, SortedRun, ends_of, sorted_keys, write_runs
from .edge_file import disk_graph
from .folder import new_folder, row_ranges, write_facts

__all__ = ["build_folder"]

# Bytes of memory that an entry takes while a range of rows is merged.
MERGE_BYTES = 80
COMBINE: dict[str, Callable[[FloatArray, FloatArray], FloatArray]] = {
    # Of the two the one of larger magnitude, and of opposite ones the positive one.
    "max": lambda forward, backward: np.where(
        forward + backward < 0, np.minimum(forward, backward), np.maximum(forward, backward)
    ),
    "mean": lambda forward, backward: forward / 2 + backward / 2,
    "sum": np.add,
}


def build_folder(
    source: str | os.PathLike[str],
    path: str | os.PathLike[str],
    *,
    memory: int | str = DEFAULT_LIMIT,
    n_nodes: int | None = None,
    directed: bool | None = None,
    symmetrize: str | None = None,
    duplicates: str = "error",
    loops: str = "keep",
    signed: bool = False,
    progress: Progress | None = None,
) -> Graph:
    r"""Write the graph of an edge list of any size as a folder, and open it.

    The graph is that of :meth:`gsp_fb.Graph.from_edges`. The folder appears whole or not at all; sorting takes three to
    four times its size on the same disk meanwhile.

    Parameters
    ----------
    source : path_like
        ``.csv``, ``.tsv``, ``.txt`` or ``.edges`` (also with ``.gz`` behind it), ``.parquet``, or pairs of integers in
        a ``.npy`` file. Nodes are numbers.
    path : path_like
        The folder to make; by custom it ends in ``.npyd``.
    memory : int or str
        Memory for sorting: bytes, or text such as ``'2GB'``.
    n_nodes : int, optional
        By default what the file states of itself, or the largest number plus one.
    directed : bool, optional
        Keep arcs as they are listed; by default what the file states, and undirected if it states nothing.
    symmetrize, duplicates, loops, signed
        As in :meth:`gsp_fb.Graph.from_edges`.
    progress : callable, optional
        See :func:`gsp_fb.open_graph`.

    Returns
    -------
    Graph
        On disk, as :func:`gsp_fb.open_graph` returns it.

    Raises
    ------
    FormatError
        The file is no edge list of numbered nodes, or is cut short.
    GraphError
        An edge is listed again and ``duplicates`` states that this is an error, or a weight is not finite, or
        negative without ``signed``.
    FileExistsError
        There is something at ``path``.

    See Also
    --------
    write_folder : Write a graph that is in memory.
    gsp_fb.open_graph : Open a folder that exists.

    Examples
    --------
    >>> import tempfile
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     _ = Path(folder, "edges.csv").write_text("0,1\n1,2\n")
    ...     build_folder(f"{folder}/edges.csv", f"{folder}/path.npyd", memory="1MB").degrees
    array([1., 2., 1.])
    """
    limit = parse_bytes(memory)
    options = Options(directed, symmetrize, duplicates, loops, signed=signed)
    show = progress or silent
    with new_folder(path) as folder:
        listed = open_edges(source, limit // 4)
        rules = _rules(listed.header, options, n_nodes)
        scratch = folder / "runs"
        scratch.mkdir()
        blocks = show(listed.blocks, "reading edges", total=None)
        runs, row_counts, n_listed = write_runs(blocks, rules, scratch, memory=limit)
        listed.check_complete(n_listed, n_nodes)
        _merge(runs, row_counts, rules, folder, memory=limit, show=show)
        shutil.rmtree(scratch)
    return disk_graph(path, limit, progress=progress)


def _rules(header: Header | None, options: Options, n_nodes: int | None) -> Rules:
    """Return what the caller's options mean for a list with this header."""
    stated = None if header is None else header.directed
    direction = options.direction(stated)
    mirror = stated is False or not (direction["directed"] or direction["symmetrize"])
    return Rules(replace(options, **direction), mirror, n_nodes if header is None else header.n_nodes)


def _merge(
    runs: Sequence[SortedRun], row_counts: IntArray, rules: Rules, folder: Path, *, memory: int, show: Progress
) -> None:
    """Write the arrays of the graph from sorted runs, one range of rows after the other."""
    # Of keys; the merge leaves those of entries.
    counts = np.concatenate([[0], row_counts])
    ranges = row_ranges(np.cumsum(counts), max(1, memory // 2 // MERGE_BYTES))
    n_loops = 0
    with open(folder / "indices.npy", "xb") as indices, open(folder / "weights.npy", "xb") as file:
        write_header(indices, (0,), np.int32)
        weights = _Weights(file)
        for first, last in show(ranges, "merging", total=len(ranges)):
            rows, columns, values = _merged(*_slices(runs, first, last), rules)
            counts[first + 1 : last + 1] = np.bincount(rows - first, minlength=last - first)
            n_loops += int(np.count_nonzero(rows == columns))
            columns.tofile(indices)
            weights.append(values)
        n_entries = int(counts.sum())
        write_header(indices, (n_entries,), np.int32)
        write_header(file, (n_entries,), np.float64)
    if not weights.is_needed:
        (folder / "weights.npy").unlink()
    np.save(folder / "indptr.npy", np.cumsum(counts))
    signs = "signed" if weights.is_signed else None
    write_facts(folder, Facts(len(counts) - 1, n_entries, n_loops, bool(rules.options.directed), signs))


def _slices(runs: Sequence[SortedRun], first: int, last: int) -> tuple[Keys, FloatArray | None]:
    """Return the keys of a range of rows from all runs in the order of the list."""
    parts = [run.part(run.position(first), run.position(last)) for run in runs]
    keys = np.concatenate([part[0] for part in parts]) if parts else np.empty(0, dtype=np.uint64)
    weights = [part[1] for part in parts if part[1] is not None]
    return keys, np.concatenate(weights) if weights else None


def _merged(keys: Keys, weights: FloatArray | None, rules: Rules) -> tuple[IntArray, IntArray, FloatArray]:
    """Return rows, columns and weights of the entries behind ``keys``, each once and in order."""
    keys, weights = sorted_keys(keys, weights)
    values = np.ones(len(keys)) if weights is None else weights
    keys, values = _unrepeated(keys, values, rules.options.duplicates)
    if rules.options.symmetrize is not None:
        keys, values = _combined(keys, values, COMBINE[rules.options.symmetrize])
    kept = values != 0
    return *ends_of(keys[kept]), values[kept]


def _unrepeated(keys: Keys, values: FloatArray, duplicates: str) -> tuple[Keys, FloatArray]:
    starts = np.flatnonzero(np.concatenate([np.ones(min(1, len(keys)), dtype=bool), keys[1:] != keys[:-1]]))
    if len(starts) == len(keys):
        return keys, values
    if duplicates == "error":
        row, column = (int(end[0]) for end in ends_of(keys[1:][keys[1:] == keys[:-1]][:1]))
        raise GraphError(
            f"edge ({row}, {column}) is listed again; give duplicates='first' or 'sum', or symmetrize='max' if each "
            "edge is listed in both directions"
        )
    return keys[starts], values[starts] if duplicates == "first" else np.add.reduceat(values, starts)


def _combined(keys: Keys, values: FloatArray, rule: Callable[[Any, Any], FloatArray]) -> tuple[Keys, FloatArray]:
    """Return one value for each pair of ends from that of the arc and that of the reversed opposite one."""
    backward = (keys & np.uint64(1)).astype(bool)
    pairs, place = np.unique(keys & ~np.uint64(1), return_inverse=True)
    both = np.zeros((2, len(pairs)))
    both[0, place[~backward]] = values[~backward]
    both[1, place[backward]] = values[backward]
    return pairs, rule(both[0], both[1])


@dataclass
class _Weights:
    """A file of weights that stays empty as long as all of them are 1."""

    file: IO[bytes]
    n_ones: int = 0
    is_needed: bool = False
    is_signed: bool = False

    def append(self, values: FloatArray) -> None:
        """Add the weights of the next entries."""
        self.is_signed = self.is_signed or bool(np.any(values < 0))
        if not self.is_needed and np.all(values == 1.0):
            self.n_ones += len(values)
            return
        if not self.is_needed:
            write_header(self.file, (0,), np.float64)
            for start in range(0, self.n_ones, 2**20):
                np.ones(min(2**20, self.n_ones - start)).tofile(self.file)
            self.is_needed = True
        values.tofile(self.file)
