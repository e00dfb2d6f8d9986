"""A graph in a file of edges: passes over the list itself, so that it needs no second place on disk.

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

from .._build import INT32_LIMIT, total_degrees
from ..backend import FloatArray, IntArray, freeze
from ..errors import FormatError, GraphError
from ..files import read_graph
from ..graph import Graph
from ._budget import Budget
from ._edges import EdgeBlock, open_edges
from .folder import Facts
from .graph import Progress, StoredGraph

__all__ = ["EdgeGraph", "open_edge_graph"]

# Listed edges become entries in both directions and a matrix of them: so much more memory than the list itself.
ENTRIES_SHARE = 2


@dataclass(frozen=True, eq=False)
class EdgeChunk:
    """Some stored entries of a graph, of any rows; an undirected edge is there in both directions."""

    rows: IntArray
    indices: IntArray
    weights: FloatArray | None
    n_nodes: int

    @cached_property
    def adjacency(self) -> sparse.csr_array:
        """The entries as a sparse array of the graph's own shape."""
        data = np.ones(len(self.rows)) if self.weights is None else self.weights
        return sparse.coo_array((data, (self.rows, self.indices)), shape=(self.n_nodes, self.n_nodes)).tocsr()

    def of_rows(self, values: Any) -> Any:
        """Return for each entry the value of its row."""
        return values[self.rows]

    def add_product(self, x: Any, out: Any) -> None:
        """Add the part of ``A @ x`` that these entries make to ``out``."""
        out += self.adjacency @ x

    def add_counts(self, mask: Any, total: IntArray) -> None:
        """Add to each row's total how many of its entries are marked."""
        total += np.bincount(self.rows[mask], minlength=self.n_nodes)


@dataclass(frozen=True)
class EdgeFile:
    """A file of edges whose every line was seen once: what the graph is."""

    path: Path
    facts: Facts
    is_weighted: bool
    row_counts: IntArray


@dataclass(frozen=True)
class _Pointers:
    """Row pointers that belong to no entries in memory."""

    values: IntArray

    @property
    def shape(self) -> tuple[int, ...]:
        return self.values.shape

    def __getitem__(self, key: Any) -> Any:
        return self.values[key]


@dataclass(frozen=True, eq=False, repr=False)
class EdgeGraph(StoredGraph):
    """A stored graph over a file of edges; made by :func:`gsp_fb.outofcore.open_graph`."""

    files: Any

    @property
    def is_weighted(self) -> bool:
        """Whether any weight differs from 1."""
        return bool(self.files.is_weighted)

    @property
    def indptr(self) -> Any:
        """Row pointers, counted."""
        return _Pointers(np.concatenate([[0], np.cumsum(self.files.row_counts)]))

    def chunks(self, title: str = "edges") -> Iterator[Any]:
        """Yield the graph in chunks of entries: one pass over the file."""
        blocks = _blocks(self.files.path, self.budget.chunk, directed=self.directed)
        for block in self.progress(blocks, title, total=None):
            _check_nodes(block, self.n_nodes)
            yield self._chunk_of(block)

    def _chunk_of(self, block: EdgeBlock) -> EdgeChunk:
        weights = block.weights if self.is_weighted else None
        if self.directed:
            return EdgeChunk(block.source, block.target, weights, self.n_nodes)
        back = block.source != block.target
        rows, columns = (
            np.concatenate([ends, others[back]])
            for ends, others in ((block.source, block.target), (block.target, block.source))
        )
        both = None if weights is None else np.concatenate([weights, weights[back]])
        return EdgeChunk(rows, columns, both, self.n_nodes)

    @cached_property
    def degrees(self) -> FloatArray:
        """Weighted degrees d = A 1 (out-degrees if directed); a self-loop counts once."""
        if not self.is_weighted:
            return freeze(self.files.row_counts.astype(np.float64))
        with np.errstate(over="ignore"):
            return freeze(total_degrees(self.adjacency @ np.ones(self.n_nodes)))

    @property
    def sha256(self) -> NoReturn:
        """Refused: the fingerprint is that of whole rows."""
        raise GraphError(f"{self.files.path} lists edges; the fingerprint needs a folder (gsp-fb convert) or .load()")

    def load(self) -> Graph:
        """Return the whole graph in memory."""
        return read_graph(self.files.path, directed=self.directed or None)


def open_edge_graph(
    path: str | os.PathLike[str], limit: int, progress: Progress, *, directed: bool | None
) -> EdgeGraph:
    """Return the graph in a file of edges after one pass that counts and checks them."""
    header = open_edges(path, limit).header
    stated = directed if header is None else header.directed
    n_nodes = None if header is None else header.n_nodes
    n_listed, n_loops, is_weighted = 0, 0, False
    counts = np.zeros(n_nodes or 0, dtype=np.int64)
    chunk = Budget(limit, 0).chunk
    for block in progress(_blocks(path, chunk, directed=bool(stated)), "reading edges", total=None):
        n_seen = int(max(block.source.max(initial=-1), block.target.max(initial=-1))) + 1
        if n_nodes is not None:
            _check_nodes(block, n_nodes)
        counts = np.concatenate([counts, np.zeros(max(0, n_seen - len(counts)), dtype=np.int64)])
        loops = block.source == block.target
        n_listed, n_loops = n_listed + len(loops), n_loops + int(loops.sum())
        is_weighted = is_weighted or (block.weights is not None and bool(np.any(block.weights != 1.0)))
        counts += np.bincount(block.source, minlength=len(counts))
        if not stated:
            counts += np.bincount(block.target[~loops], minlength=len(counts))
    if header is not None:
        header.check_complete(n_listed)
    facts = Facts(len(counts), int(counts.sum()), n_loops, bool(stated))
    return EdgeGraph(EdgeFile(Path(path), facts, is_weighted, counts), Budget(limit, len(counts)), progress)


def _blocks(path: str | os.PathLike[str], memory: int, *, directed: bool) -> Iterator[EdgeBlock]:
    """Yield the listed edges, checked to be in order."""
    last = -1
    for block in open_edges(path, memory // ENTRIES_SHARE).blocks:
        if not len(block.source):
            continue
        _check_nodes(block, INT32_LIMIT)
        keys = np.concatenate([[last], block.source << 32 | block.target])
        odd = np.flatnonzero(keys[1:] <= keys[:-1]) if directed else _out_of_order(block, keys)
        if odd.size:
            raise FormatError(
                f"{os.fspath(path)}: edge ({block.source[odd[0]]}, {block.target[odd[0]]}) is out of order, listed "
                "again or has its larger end first; `gsp-fb convert` puts edges in order"
            )
        _check_weights(block)
        last = int(keys[-1])
        yield block


def _out_of_order(block: EdgeBlock, keys: IntArray) -> IntArray:
    return np.flatnonzero((keys[1:] <= keys[:-1]) | (block.source > block.target))


def _check_nodes(block: EdgeBlock, n_nodes: int) -> None:
    odd = np.flatnonzero(
        (np.minimum(block.source, block.target) < 0) | (np.maximum(block.source, block.target) >= n_nodes)
    )
    if odd.size:
        edge = (int(block.source[odd[0]]), int(block.target[odd[0]]))
        raise GraphError(f"edge {edge}: node ids must lie in 0..{n_nodes - 1}")


def _check_weights(block: EdgeBlock) -> None:
    # Written so that a weight that is no number fails as well.
    if block.weights is not None and not (block.weights.min() > 0 and block.weights.max() < np.inf):
        at = int(np.flatnonzero(~((block.weights > 0) & np.isfinite(block.weights)))[0])
        edge = (int(block.source[at]), int(block.target[at]))
        raise GraphError(
            f"edge {edge} has weight {block.weights[at]}; weights must be finite and > 0 in a list of edges"
        )
