"""Edge lists of any size as a stream of blocks: text, Parquet, or pairs in a ``.npy`` file."""

from __future__ import annotations

import gzip
import os
import zlib
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from itertools import islice
from typing import Any

import numpy as np

from .._attributes import IDENTIFIERS, is_number_type, listed
from .._build import check_ends, check_weights
from .._extras import require
from ..backend import FloatArray, IntArray
from ..errors import FormatError, ParameterError
from ..files._edges import COLUMNS, COMMENTS, HEADER_MARK
from ..files._limits import is_gzip
from ..files._nodes import Header
from ..files._parquet import METADATA_KEY
from ..storage import StoredArray

__all__ = ["EdgeBlock", "ListedEdges", "check_listed_edges", "is_edge_list", "lengthened", "open_edges"]

# Bytes that a listed edge takes while it is read: a line of text with its cells is the longest.
TEXT_BYTES, TABLE_BYTES = 400, 96


@dataclass(frozen=True)
class EdgeBlock:
    """Some listed edges in order; ``weights`` is None where the list has none."""

    source: IntArray
    target: IntArray
    weights: FloatArray | None


def check_listed_edges(
    block: EdgeBlock, n_before: int, n_nodes: int, *, signed: bool = False, remedy: str = "give signed=True to keep it"
) -> None:
    """Raise GraphError for an edge that no graph of ``n_nodes`` nodes has; ``n_before`` were listed earlier."""
    check_ends(block.source, block.target, n_nodes, before=n_before)
    if block.weights is not None:
        check_weights(block.weights, lambda at: (block.source[at], block.target[at]), signed=signed, remedy=remedy)


def lengthened(counts: IntArray, block: EdgeBlock, memory: int) -> IntArray:
    """Return a count for each node with room for those of a block, or ParameterError beyond half of ``memory``."""
    greatest = max(int(block.source.max(initial=-1)), int(block.target.max(initial=-1)))
    if 16 * greatest > memory // 2:
        raise ParameterError(f"memory={memory} bytes is too little for node {greatest}; give {32 * greatest}")
    n_new = greatest + 1 - len(counts)
    return np.concatenate([counts, np.zeros(n_new, dtype=np.int64)]) if n_new > 0 else counts


@dataclass(frozen=True)
class ListedEdges:
    """A list of edges: the header of our own files, or None, and the blocks."""

    header: Header | None
    blocks: Iterator[EdgeBlock]

    def check_complete(self, n_listed: int, n_nodes: int | None = None, where: str = "") -> None:
        """Raise FormatError where edges are missing, or nothing states how many nodes there are."""
        if self.header is not None:
            self.header.check_complete(n_listed)
        elif n_nodes is None and not n_listed:
            raise FormatError(f"{where}no edges, and nothing that states how many nodes there are")


def open_edges(path: str | os.PathLike[str], memory: int) -> ListedEdges:
    """Return the edge list in a file, to be read in blocks of about ``memory`` bytes; FormatError if it is none."""
    reader = _reader(path)
    if reader is None:
        known = " ".join(suffix for suffixes in SUFFIXES for suffix in suffixes)
        raise FormatError(f"{os.fspath(path)}: edge lists of any size end in {known}, text also in .gz")
    listed = reader(path, memory)
    if listed.header is not None and listed.header.labels is not None:
        raise FormatError(f"{os.fspath(path)}: nodes have names; stored graphs number them 0..n-1")
    return listed


def is_edge_list(path: str | os.PathLike[str]) -> bool:
    """Return whether the suffix of a file is that of an edge list, which is read in blocks.

    Parameters
    ----------
    path : path_like
        Only its name is looked at; the file need not exist.

    Returns
    -------
    bool
        True if :func:`build_folder` reads such files.

    See Also
    --------
    build_folder : Write an edge list as a folder.
    is_folder_name : The same question for folders.

    Examples
    --------
    >>> is_edge_list("web.csv.gz"), is_edge_list("web.gml")
    (True, False)
    """
    return _reader(path) is not None


def _reader(path: str | os.PathLike[str]) -> Callable[[str | os.PathLike[str], int], ListedEdges] | None:
    name = os.fspath(path).lower().removesuffix(".gz")
    return next((reader for suffixes, reader in SUFFIXES.items() if name.endswith(suffixes)), None)


@contextmanager
def _lines(path: str | os.PathLike[str]) -> Iterator[Iterator[str]]:
    """Open a text file and give its lines; what cannot be unpacked or decoded raises FormatError."""
    opener = gzip.open if is_gzip(path) else open
    with opener(path, "rt", encoding="utf-8-sig") as file:
        try:
            yield iter(file)
        except (EOFError, gzip.BadGzipFile, zlib.error, UnicodeDecodeError) as bad:
            raise FormatError(f"{os.fspath(path)}: the text cannot be read: {bad}") from None


def _open_text(path: str | os.PathLike[str], memory: int) -> ListedEdges:
    header, first, below, n_skipped = None, "", "", 0
    with _lines(path) as lines:
        for line in lines:
            if line.strip() and not line.startswith(COMMENTS):
                first, below = line, next(filter(str.strip, lines), "")
                break
            n_skipped += 1
            if line.startswith(HEADER_MARK):
                header = Header.loads(line.removeprefix(HEADER_MARK))
    layout = _layout(first, below, n_skipped + 1)
    return ListedEdges(
        header, _text_blocks(path, n_skipped + layout.pop("header"), max(1, memory // TEXT_BYTES), layout)
    )


def _layout(first: str, below: str, number: int) -> dict[str, Any]:
    """Return how the columns are read, in the words of ``numpy.loadtxt``, and how many lines name them."""
    delimiter = next((mark for mark in ",;\t" if mark in first), None)
    cells = [cell.strip(' "\n').lower() for cell in first.split(delimiter)]
    named = {name: cells.index(word) for name, words in COLUMNS.items() for word in words if word in cells}
    is_header = {"source", "target"} <= set(named)
    if first and not is_header and len(cells) not in (2, 3):
        raise FormatError(f"line {number}: {len(cells)} columns; name source and target (and weight) in a header line")
    if is_header:
        others = [k for k in range(len(cells)) if k not in named.values()]
        values = dict(enumerate(below.split(delimiter)))
        _check_weight(named, [cells[k] for k in others if _is_number(values.get(k, ""))])
    at = named if is_header else dict(zip(COLUMNS, range(len(cells)), strict=False))
    kinds = [(name, np.float64 if name == "weight" else np.int64) for name in at]
    return {"delimiter": delimiter, "usecols": tuple(at.values()), "dtype": kinds, "header": int(is_header)}


def _is_number(cell: str) -> bool:
    try:
        float(cell.strip(' "\n'))
    except ValueError:
        return False
    return "_" not in cell  # Python's separator of digits, and of no file


def _check_weight(named: Iterable[str], numeric: Iterable[str]) -> None:
    """Raise FormatError where weights may be in a column of another name: they are never dropped."""
    others = [name for name in numeric if name.lower() not in IDENTIFIERS]
    if "weight" not in named and others:
        raise FormatError(f"no column is called 'weight', and {listed(others)} has numbers; rename or remove it")


def _text_blocks(
    path: str | os.PathLike[str], n_skipped: int, most: int, layout: dict[str, Any]
) -> Iterator[EdgeBlock]:
    with _lines(path) as lines:
        rest = filter(str.strip, islice(lines, n_skipped, None))
        start = n_skipped + 1
        while block := list(islice(rest, most)):
            yield _parsed(block, start, layout)
            start += len(block)


def _parsed(block: list[str], start: int, layout: dict[str, Any]) -> EdgeBlock:
    try:
        table = np.loadtxt(block, comments=None, quotechar='"', ndmin=1, **layout)
    except ValueError as bad:
        raise FormatError(f"lines {start} to {start + len(block) - 1}: {bad}; node numbers are needed") from None
    weights = table["weight"] if "weight" in (table.dtype.names or ()) else None
    return EdgeBlock(table["source"], table["target"], weights)


def _open_parquet(path: str | os.PathLike[str], memory: int) -> ListedEdges:
    file = require("pyarrow.parquet", "reading Parquet").ParquetFile(path, memory_map=False)
    columns = [name for name in COLUMNS if name in file.schema_arrow.names]
    if not {"source", "target"} <= set(columns):
        raise FormatError(f"columns source and target are needed; found {', '.join(file.schema_arrow.names)}")
    others = (field for field in file.schema_arrow if field.name not in columns)
    _check_weight(columns, [field.name for field in others if is_number_type(field.type)])
    text = (file.schema_arrow.metadata or {}).get(METADATA_KEY)
    batches = file.iter_batches(max(1, memory // TABLE_BYTES), columns=columns, use_threads=False)
    return ListedEdges(None if text is None else Header.loads(text), map(_batch, batches))


def _batch(batch: Any) -> EdgeBlock:
    columns = {name: batch.column(name) for name in batch.schema.names}
    odd = next((name for name, column in columns.items() if column.null_count), None)
    if odd is not None:
        raise FormatError(f"column {odd!r} has empty cells")
    arrays = {name: column.to_numpy(zero_copy_only=False) for name, column in columns.items()}
    if any(arrays[name].dtype.kind not in "iu" for name in ("source", "target")):
        raise FormatError("columns source and target must be node numbers")
    weights = arrays.get("weight")
    source, target = (arrays[name].astype(np.int64) for name in ("source", "target"))
    return EdgeBlock(source, target, None if weights is None else weights.astype(np.float64))


def _open_npy(path: str | os.PathLike[str], memory: int) -> ListedEdges:
    pairs = StoredArray.open(path)
    if pairs.ndim != 2 or pairs.shape[1] != 2 or pairs.dtype.kind not in "iu" or pairs.fortran:
        raise FormatError(
            f"{os.fspath(path)}: {pairs.dtype} of shape {pairs.shape}; integers of shape (n_edges, 2) are needed"
        )
    n, step = pairs.shape[0], max(1, memory // TABLE_BYTES)
    blocks = (pairs.rows(start, min(start + step, n)).astype(np.int64) for start in range(0, n, step))
    return ListedEdges(None, (EdgeBlock(block[:, 0], block[:, 1], None) for block in blocks))


SUFFIXES: dict[tuple[str, ...], Callable[[str | os.PathLike[str], int], ListedEdges]] = {
    (".csv", ".tsv", ".txt", ".edges"): _open_text,
    (".parquet",): _open_parquet,
    (".npy",): _open_npy,
}
