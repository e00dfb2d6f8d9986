"""A graph on disk, in a folder or in a file of edges: passes over the list itself, which needs no second place.

The list has to be in order, each edge once, its smaller end first (arcs: in order of source and target): what
:func:`gsp_fb.write_graph` writes as Parquet or CSV. Every pass checks that; any other list goes through
:func:`gsp_fb.outofcore.build_folder`, which sorts.
"""

from __future__ import annotations

import os
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any, NoReturn

import numpy as np
from scipy import sparse

from .._build import INT32_LIMIT
from ..backend import FloatArray, IntArray
from ..errors import FormatError, GraphError
from ..files import read_graph
from ..graph import Graph
from ..storage import Budget, DiskStorage, Facts, MemoryStorage, Progress, parse_bytes, silent
from ._edges import EdgeBlock, check_listed_edges, lengthened, open_edges
from .folder import open_files, read_node_table

__all__ = ["EdgeFile", "disk_graph"]

# Listed edges become entries in both directions and a matrix of them: so much more memory than the list itself.
ENTRIES_SHARE = 2
NEGATIVE = "gsp_fb.outofcore.build_folder(..., signed=True) makes a folder that keeps negative weights"


@dataclass(frozen=True, eq=False)
class EdgeChunk:
    """Some entries of a graph, of any rows; an undirected edge is there in both directions."""

    rows: IntArray
    indices: IntArray
    weights: FloatArray | None
    n_nodes: int

    @cached_property
    def adjacency(self) -> sparse.csr_array:
        """The entries as a sparse array of the graph's own shape."""
        data = np.ones(len(self.rows)) if self.weights is None else self.weights
        return sparse.coo_array((data, (self.rows, self.indices)), shape=(self.n_nodes, self.n_nodes)).tocsr()

    def add_product(self, x: Any, out: Any) -> None:
        """Add the part of ``A @ x`` that these entries make to ``out``."""
        out += self.adjacency @ x


@dataclass(frozen=True, eq=False)
class EdgeFile:
    """A file of edges in order whose every line was seen once: what the graph is."""

    path: Path
    facts: Facts
    is_weighted: bool
    row_counts: IntArray

    @property
    def name(self) -> str:
        """The file."""
        return str(self.path)

    def blocks(self, budget: Budget, progress: Progress, title: str) -> Iterator[EdgeChunk]:
        """Yield the graph in blocks of entries: one pass over the file."""
        directed, n_nodes = self.facts.directed, self.facts.n_nodes
        blocks = _blocks(self.path, budget.chunk, directed=directed, n_nodes=n_nodes)
        for block in progress(blocks, title, total=None):
            yield self._both_ways(block)

    def _both_ways(self, block: EdgeBlock) -> EdgeChunk:
        weights = block.weights if self.is_weighted else None
        if self.facts.directed:
            return EdgeChunk(block.source, block.target, weights, self.facts.n_nodes)
        back = block.source != block.target
        rows = np.concatenate([block.source, block.target[back]])
        columns = np.concatenate([block.target, block.source[back]])
        both = None if weights is None else np.concatenate([weights, weights[back]])
        return EdgeChunk(rows, columns, both, self.facts.n_nodes)

    def fingerprint(self, digest: Any, budget: Budget, progress: Progress) -> NoReturn:
        """Refuse: the fingerprint is that of whole rows."""
        raise GraphError(f"{self.path} lists edges; the fingerprint needs a folder (gsp-fb convert) or .load()")

    def load(self, budget: Budget, progress: Progress) -> MemoryStorage:
        """Return the graph in memory."""
        return read_graph(self.path, directed=self.facts.directed or None).in_memory()


def disk_graph(
    path: str | os.PathLike[str], memory: int | str, *, directed: bool | None = None, progress: Progress | None = None
) -> Graph:
    """Return the graph in a folder or an ordered file of edges; see :func:`gsp_fb.open_graph`."""
    limit, show = parse_bytes(memory), progress or silent
    source = _open_in_order(path, limit, show, directed) if os.path.isfile(path) else open_files(path)
    n_nodes = source.facts.n_nodes
    return Graph(DiskStorage(source, Budget(limit, n_nodes), show), read_node_table(path, n_nodes))


def _open_in_order(path: str | os.PathLike[str], limit: int, progress: Progress, directed: bool | None) -> EdgeFile:
    """Return a file of edges after one pass that counts and checks them."""
    listed = open_edges(path, limit)
    stated = directed if listed.header is None else listed.header.directed
    n_nodes = None if listed.header is None else listed.header.n_nodes
    n_listed, n_loops, is_weighted = 0, 0, False
    counts: IntArray = np.zeros(n_nodes or 0, dtype=np.int64)
    blocks = _blocks(path, Budget(limit, 0).chunk, directed=bool(stated), n_nodes=n_nodes)
    for block in progress(blocks, "reading edges", total=None):
        counts = lengthened(counts, block, limit)
        loops = block.source == block.target
        n_listed, n_loops = n_listed + len(loops), n_loops + int(loops.sum())
        is_weighted = is_weighted or (block.weights is not None and bool(np.any(block.weights != 1.0)))
        counts += np.bincount(block.source, minlength=len(counts))
        if not stated:
            counts += np.bincount(block.target[~loops], minlength=len(counts))
    listed.check_complete(n_listed, where=f"{os.fspath(path)}: ")
    facts = Facts(len(counts), int(counts.sum()), n_loops, bool(stated))
    return EdgeFile(Path(path), facts, is_weighted, counts)


def _blocks(path: str | os.PathLike[str], memory: int, *, directed: bool, n_nodes: int | None) -> Iterator[EdgeBlock]:
    """Yield the listed edges, checked to be those of a graph and in order."""
    n_before, last = 0, -1
    for block in open_edges(path, memory // ENTRIES_SHARE).blocks:
        check_listed_edges(block, n_before, INT32_LIMIT if n_nodes is None else n_nodes, remedy=NEGATIVE)
        keys = np.concatenate([[last], block.source << 32 | block.target])
        _check_order(block, keys, directed=directed)
        n_before, last = n_before + len(block.source), int(keys[-1])
        yield block


def _check_order(block: EdgeBlock, keys: IntArray, *, directed: bool) -> None:
    """Raise FormatError unless each key is greater than the one before it, and what it stands for is an edge."""
    odd = keys[1:] <= keys[:-1]
    if not directed:
        odd |= block.source > block.target
    if block.weights is not None:
        odd |= block.weights == 0
    if odd.any():
        at = int(np.argmax(odd))
        raise FormatError(
            f"edge ({block.source[at]}, {block.target[at]}) is out of order, listed again, has its larger end first or "
            "weighs nothing; `gsp-fb convert` puts edges in order"
        )
