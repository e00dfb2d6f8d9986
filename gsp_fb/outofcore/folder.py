"""The folder of a stored graph: ``graph.json`` beside the CSR arrays as plain ``.npy`` files, made whole or not at all.

graph.npyd/graph.json     version, n_nodes, n_entries, n_loops, directed; signs where weights are signed or complex
graph.npyd/indptr.npy     int64, n_nodes + 1
graph.npyd/indices.npy    int32 (int64 from 2^31 nodes on), sorted within each row
graph.npyd/weights.npy    float64, or complex128 of a Hermitian adjacency; absent where every weight is 1
graph.npyd/nodes.json     names, coordinates and columns of the nodes, absent where there are none
"""

from __future__ import annotations

import errno
import json
import os
import secrets
import shutil
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import asdict, dataclass
from functools import cached_property
from itertools import pairwise
from pathlib import Path
from typing import Any

import numpy as np

from .._arguments import check_host
from .._atomic import sweep_stale, write_json
from .._build import INT32_LIMIT
from ..backend import FloatArray, IntArray, freeze
from ..errors import FormatError
from ..files._nodes import dump_nodes, holds_more_than_names, labels_of, load_json, load_nodes, writable_labels
from ..graph import Graph
from ..nodes import NodeTable
from ..storage import SIGNS, Budget, Facts, MemoryStorage, Progress, RowBlock, StoredArray

__all__ = ["Files", "is_folder_name", "new_folder", "open_files", "read_node_table", "write_facts", "write_folder"]

SUFFIX = ".npyd"
VERSION = 1
FACTS, NODES = "graph.json", "nodes.json"


@dataclass(frozen=True)
class Files:
    """The arrays of a folder, checked against each other; ``weights`` is None where all of them are 1."""

    facts: Facts
    indptr: StoredArray
    indices: StoredArray
    weights: StoredArray | None

    @property
    def name(self) -> str:
        """The folder."""
        return str(self.indptr.path.parent)

    @property
    def is_weighted(self) -> bool:
        """Whether any weight differs from 1."""
        return self.weights is not None

    @cached_property
    def pointers(self) -> IntArray:
        """The row pointers in memory, checked."""
        return self.row_pointers(0, self.facts.n_nodes)

    def row_pointers(self, first: int, last: int) -> IntArray:
        """Return the row pointers of the rows ``first <= i < last``, checked to be part of a sequence to the end."""
        pointers, n_entries = np.array(self.indptr.rows(first, last + 1)), self.facts.n_entries
        begins = pointers[0] == 0 if first == 0 else pointers[0] >= 0
        ends = pointers[-1] == n_entries if last == self.facts.n_nodes else pointers[-1] <= n_entries
        if not (begins and ends) or np.any(pointers[1:] < pointers[:-1]):
            raise FormatError(f"{self.indptr.path}: row pointers do not rise from 0 to {n_entries}")
        return freeze(pointers)

    @property
    def row_counts(self) -> IntArray:
        """Number of entries in each row."""
        return np.diff(self.pointers)

    def entries(self, start: int, stop: int) -> tuple[IntArray, FloatArray | None]:
        """Return neighbours and weights of the entries ``start <= e < stop``, checked; None where all weights are 1."""
        indices = self.indices.rows(start, stop)
        # Read as unsigned, a negative number is too large as well; compiled code would follow it anywhere.
        if stop > start and indices.view(f"u{indices.itemsize}").max() >= self.facts.n_nodes:
            raise FormatError(f"{self.indices.path}: a neighbour in entries {start}..{stop - 1} is no node")
        if self.weights is None:
            return indices, None
        weights = self.weights.rows(start, stop)
        # Written so that a weight that is no number fails as well.
        if not (np.isfinite(weights).all() if self.facts.is_signed else np.all((weights >= 0) & (weights < np.inf))):
            rule = "finite" if self.facts.is_signed else "finite and >= 0"
            raise FormatError(f"{self.weights.path}: a weight in {start}..{stop - 1} is not {rule}")
        return indices, weights

    def blocks(self, budget: Budget, progress: Progress, title: str) -> Iterator[RowBlock]:
        """Yield the graph in blocks of as many rows as the budget allows, and one at least: one pass over the files."""
        width = self.indices.dtype.itemsize + 8 + (self.weights.dtype.itemsize if self.weights else 0)
        spans = row_ranges(self.pointers, max(1, budget.chunk // width))
        following = [*spans[1:], (0, 0)]
        for (first, last), ahead in progress(zip(spans, following, strict=True), title, total=len(spans)):
            # The system reads the next block while this one is computed with, where it knows how to be asked.
            if hasattr(os, "posix_fadvise"):
                self._prefetch(*ahead)
            yield self._block(first, last)

    def _prefetch(self, first: int, last: int) -> None:
        start, stop = int(self.pointers[first]), int(self.pointers[last])
        for array in filter(None, (self.indices, self.weights)):
            begin, width = array.offset + start * array.dtype.itemsize, (stop - start) * array.dtype.itemsize
            with open(array.path, "rb", buffering=0) as file:
                os.posix_fadvise(file.fileno(), begin, width, os.POSIX_FADV_WILLNEED)

    def _block(self, first: int, last: int) -> RowBlock:
        start, stop = int(self.pointers[first]), int(self.pointers[last])
        indices, weights = self.entries(start, stop)
        indptr = (self.pointers[first : last + 1] - start).astype(indices.dtype)
        facts = self.facts
        return RowBlock(first, last, facts.n_nodes, indptr, indices, weights, facts.directed, facts.is_complex)

    def fingerprint(self, digest: Any, budget: Budget, progress: Progress) -> None:
        """Feed row pointers, neighbours and weights to a hash, as they are hashed of a graph in memory."""
        digest.update(np.ascontiguousarray(self.pointers, dtype="<i8").data)
        for block in self.blocks(budget, progress, "fingerprint"):
            digest.update(np.ascontiguousarray(block.indices, dtype="<i8").data)
        for block in self.blocks(budget, progress, "fingerprint of weights") if self.is_weighted else ():
            digest.update(np.ascontiguousarray(block.weights, dtype=self.facts.weight_type).data)

    def load(self, budget: Budget, progress: Progress) -> MemoryStorage:
        """Return the graph in memory, every block of it checked."""
        for _ in self.blocks(budget, progress, "check"):
            pass
        fits = self.facts.n_entries <= np.iinfo(self.indices.dtype).max
        pointers = self.pointers.astype(self.indices.dtype) if fits else self.pointers.copy()
        indices = np.asarray(self.indices).astype(pointers.dtype, copy=False)
        weights = None if self.weights is None else np.asarray(self.weights)
        return MemoryStorage(pointers, indices, weights, self.facts.directed)


def row_ranges(pointers: IntArray, most: int) -> list[tuple[int, int]]:
    """Return consecutive ranges of rows, each with at most ``most`` entries, or a single row."""
    cuts, n_rows = [0], len(pointers) - 1
    while cuts[-1] < n_rows:
        reach = int(np.searchsorted(pointers, pointers[cuts[-1]] + most, side="right")) - 1
        # Row pointers and results have a share in the memory as well: no more rows than entries.
        cuts.append(max(cuts[-1] + 1, min(reach, cuts[-1] + most, n_rows)))
    return list(pairwise(cuts))


def is_folder_name(path: str | os.PathLike[str]) -> bool:
    """Return whether the suffix of a path is that of a stored graph, ``.npyd``.

    Parameters
    ----------
    path : path_like
        Only its name is looked at; the folder need not exist.

    Returns
    -------
    bool
        True for the suffix ``.npyd``.

    See Also
    --------
    write_folder : Write a graph as such a folder.
    is_edge_list : The same question for edge lists.

    Examples
    --------
    >>> is_folder_name("web.npyd/"), is_folder_name("web.npz")
    (True, False)
    """
    return Path(path).suffix == SUFFIX


def open_files(path: str | os.PathLike[str]) -> Files:
    """Return the arrays in a folder, no content read yet; FormatError where a header differs from ``graph.json``."""
    folder = Path(path)
    facts = _read_facts(folder)
    indptr, indices, weights = (folder / f"{name}.npy" for name in ("indptr", "indices", "weights"))
    stored = StoredArray.open(weights) if weights.exists() else None
    files = Files(facts, StoredArray.open(indptr), StoredArray.open(indices), stored)
    _check(files.indptr, facts.n_nodes + 1, "i8")
    _check(files.indices, facts.n_entries, "i4" if facts.n_nodes <= INT32_LIMIT else "i8")
    if files.weights is not None:
        _check(files.weights, facts.n_entries, facts.weight_type)
    return files


def _read_facts(folder: Path) -> Facts:
    content = (folder / FACTS).read_bytes()
    try:
        found = json.loads(content)
        if found.pop("version") != VERSION:
            raise FormatError(f"{folder}: not of version {VERSION}; update gsp_fb to read it")
        facts = Facts(**found)
        if facts.signs not in SIGNS:
            raise FormatError(f"{folder / FACTS}: signs are {facts.signs!r}; update gsp_fb to read it")
        return facts
    except (ValueError, AttributeError, KeyError, TypeError, RecursionError) as bad:
        raise bad if isinstance(bad, FormatError) else FormatError(f"{folder / FACTS} is damaged: {bad}") from None


def read_node_table(path: str | os.PathLike[str], n_nodes: int) -> NodeTable:
    """Return the node table of a folder, empty where it has none or ``path`` is a file; FormatError if it is broken."""
    file = Path(path) / NODES
    if not file.is_file():
        return NodeTable(n_nodes)
    try:
        found = load_json(file.read_bytes())
        labels = labels_of(found["labels"], n_nodes)
        return load_nodes(found["nodes"], n_nodes, labels)
    except (FormatError, KeyError, TypeError) as bad:
        raise FormatError(f"{file}: {bad}") from None


def _check(array: StoredArray, length: int, kind: str) -> None:
    if array.shape != (length,) or array.dtype != np.dtype(kind):
        raise FormatError(
            f"{array.path}: {array.dtype} of shape {array.shape} where {length} of {np.dtype(kind)} are expected"
        )


@contextmanager
def new_folder(path: str | os.PathLike[str]) -> Iterator[Path]:
    """Make a temporary folder beside ``path`` that becomes it when the block ends, and vanishes if it raises.

    A folder cannot be replaced in one step, so nothing is: FileExistsError if there is something at ``path``.
    """
    target = Path(os.path.realpath(path))
    if target.exists():
        raise FileExistsError(errno.EEXIST, "there is something already; remove it or choose another name", str(path))
    sweep_stale(target.parent)
    temp = target.parent / f".gsp_fb-{os.getpid()}-{secrets.token_hex(6)}.tmp"
    temp.mkdir()
    try:
        yield temp
        for file in temp.iterdir():
            with open(file, "rb+") as written:
                os.fsync(written.fileno())
        os.rename(temp, target)
    finally:
        shutil.rmtree(temp, ignore_errors=True)


def write_facts(folder: Path, facts: Facts) -> None:
    """Write ``graph.json``, the last file of a folder."""
    # Weights >= 0 go unmentioned, so that earlier versions read the folder.
    found = {name: value for name, value in asdict(facts).items() if value is not None}
    write_json(folder / FACTS, {"version": VERSION, **found})


def write_folder(graph: Graph, path: str | os.PathLike[str]) -> None:
    """Write a graph that is in memory as a folder that :func:`gsp_fb.open_graph` opens.

    The node table is written as ``nodes.json``.

    Parameters
    ----------
    graph : Graph
    path : path_like
        By custom it ends in ``.npyd``.

    Raises
    ------
    FileExistsError
        There is something at ``path``.

    See Also
    --------
    build_folder : The same from an edge list of any size.

    Examples
    --------
    >>> import tempfile
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     write_folder(Graph.from_edges([(0, 1), (1, 2)]), f"{folder}/path.npyd")
    ...     sorted(os.listdir(f"{folder}/path.npyd"))
    ['graph.json', 'indices.npy', 'indptr.npy']
    """
    arrays = graph.in_memory()
    check_host(graph.device, "folders are written")
    with new_folder(path) as folder:
        index = np.int32 if graph.n_nodes <= INT32_LIMIT else np.int64
        np.save(folder / "indptr.npy", arrays.indptr.astype(np.int64, copy=False))
        np.save(folder / "indices.npy", arrays.indices.astype(index, copy=False))
        if arrays.weights is not None:
            np.save(folder / "weights.npy", arrays.weights)
        if graph.labels is not None or holds_more_than_names(graph.nodes):
            table = {"labels": writable_labels(graph.labels), "nodes": dump_nodes(graph.nodes)}
            (folder / NODES).write_text(json.dumps(table), encoding="utf-8")
        signs = "complex" if graph.is_complex else "signed" if graph.is_signed else None
        write_facts(folder, Facts(graph.n_nodes, arrays.n_entries, graph.n_loops, graph.directed, signs))
