"""Graphs in files: one table of formats, one function to read and one to write.

A file is read whole or not at all: what is cut short, damaged, too large or not a graph raises FormatError with
the path, before anything is allocated for it. Nothing is ever unpickled, and writing is crash-safe.
"""

from __future__ import annotations

import gzip
import os
import warnings
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import BinaryIO

from .._arguments import check_choice
from .._atomic import atomic_write
from ..errors import FormatError, GraphError, GspWarning
from ..graph import Graph
from ._edges import read_csv, read_tsv, write_csv, write_tsv
from ._gml import read_gml, write_gml
from ._graphml import read_graphml, write_graphml
from ._limits import MAX_BYTES, MAX_NODES, Limits, is_gzip, open_limited
from ._mtx import read_mtx, write_mtx
from ._npz import read_npz, write_npz
from ._parquet import read_parquet, write_parquet
from ._parsed import Options, Parsed

__all__ = ["FORMATS", "Format", "read_graph", "write_graph"]


@dataclass(frozen=True)
class Format:
    """How one format is recognised, read and written, and what it keeps.

    Attributes
    ----------
    suffixes : tuple of str
        File names end so; with ``.gz`` behind it where ``text`` is true.
    read, write : callable
    duplicates : {'error', 'sum'}
        What an edge that is listed again means by default.
    text : bool
        Whether the file may be compressed by gzip as a whole.
    labels : bool
        Whether node names are kept. Structure, weights (bit by bit), direction, isolated nodes and self-loops
        are kept by every format.

    Examples
    --------
    >>> FORMATS["graphml"].suffixes, FORMATS["graphml"].labels
    (('.graphml',), True)
    """

    suffixes: tuple[str, ...]
    read: Callable[[BinaryIO, Options], Parsed]
    write: Callable[[Graph, BinaryIO], None]
    duplicates: str
    text: bool = True
    labels: bool = True


FORMATS = {
    "npz": Format((".npz",), read_npz, write_npz, "sum", text=False),
    "mtx": Format((".mtx",), read_mtx, write_mtx, "sum", labels=False),
    "graphml": Format((".graphml",), read_graphml, write_graphml, "sum"),
    "gml": Format((".gml",), read_gml, write_gml, "sum"),
    "csv": Format((".csv",), read_csv, write_csv, "error"),
    "tsv": Format((".tsv", ".txt", ".edges"), read_tsv, write_tsv, "error"),
    "parquet": Format((".parquet",), read_parquet, write_parquet, "error", text=False),
}


def read_graph(
    path: str | os.PathLike[str],
    *,
    format: str | None = None,
    directed: bool | None = None,
    symmetrize: str | None = None,
    duplicates: str | None = None,
    loops: str = "keep",
    max_nodes: int = MAX_NODES,
    max_bytes: int = MAX_BYTES,
) -> Graph:
    """Return the graph in a file.

    Parameters
    ----------
    path : path_like
    format : str, optional
        A name of ``FORMATS``; by default the file's suffix tells. Any text format may end in ``.gz``.
    directed : bool, optional
        By default what the file says, and undirected if it says nothing: then a matrix must be symmetric, and
        an edge list names each edge once.
    symmetrize : {'max', 'mean', 'sum'}, optional
        Combine the arcs ``(i, j)`` and ``(j, i)`` of a directed file into one undirected edge.
    duplicates : {'error', 'first', 'sum'}, optional
        What an edge that is listed again means. By default an error in edge tables (csv, tsv, parquet) and the
        sum in GraphML and GML, where it is a parallel edge. Entries of a matrix (npz, mtx) are always summed.
    loops : {'keep', 'drop'}
    max_nodes, max_bytes : int
        A file that claims more nodes, or unpacks to more bytes, is refused before anything is allocated.

    Notes
    -----
    Node names become ``labels``; numbers 0..n-1 in order do not. In edge tables integers are node numbers, other
    text is a name, and names are numbered in order of first appearance. Comments (``#`` or ``%``) stand at the
    top of an edge table; a header names the columns source, target and weight.

    Raises
    ------
    FormatError
        The file is not what its suffix says, is damaged or cut short, exceeds a limit, or holds no valid graph.
    OSError
        The file is missing, a directory, or not readable.

    Examples
    --------
    >>> import tempfile
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     write_graph(Graph.from_edges([(0, 1), (1, 2)], [0.5, 2.0]), f"{folder}/path.csv.gz")
    ...     read_graph(f"{folder}/path.csv.gz").degrees
    array([0.5, 2.5, 2. ])
    """
    kind = _format_of(path, format)
    limits = Limits(max_nodes, max_bytes)
    options = Options(directed, symmetrize, duplicates or kind.duplicates, loops, limits)
    with _naming(path), open_limited(path, limits) as file:
        return kind.read(file, options).graph(options)


def write_graph(graph: Graph, path: str | os.PathLike[str], *, format: str | None = None) -> None:
    """Write ``graph`` to a file that :func:`read_graph` gives back bit by bit.

    The file appears whole or not at all. Labels must be all text or all integers, each different from the others;
    MatrixMarket has no place for them and warns.

    Parameters
    ----------
    graph : Graph
    path : path_like
        An existing file is replaced.
    format : str, optional
        A name of ``FORMATS``; by default the suffix tells. A text format is compressed if it ends in ``.gz``.

    Raises
    ------
    FormatError
        The suffix is unknown, or the format cannot hold the labels.
    OSError
        The directory is missing or not writable, or the disk is full.

    Examples
    --------
    >>> import tempfile
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     write_graph(Graph.from_edges([(0, 1)], n_nodes=3), f"{folder}/graph.npz")
    ...     read_graph(f"{folder}/graph.npz")
    Graph(n_nodes=3, n_edges=1, undirected, unweighted, n_isolated=1)
    """
    kind = _format_of(path, format)
    if graph.labels is not None and not kind.labels:
        warnings.warn(f"{os.fspath(path)}: this format keeps no labels; they are left out", GspWarning, stacklevel=2)
    with _naming(path), atomic_write(path) as file:
        if not is_gzip(path):
            kind.write(graph, file)  # type: ignore[arg-type]  # mode 'wb' by default
            return
        # Neither time nor name inside: equal graphs are equal files.
        with gzip.GzipFile(filename="", mode="wb", fileobj=file, mtime=0) as packed:
            kind.write(graph, packed)  # type: ignore[arg-type]  # a GzipFile writes like a binary file


def _format_of(path: str | os.PathLike[str], name: str | None) -> Format:
    if name is not None:
        return FORMATS[check_choice(name, FORMATS, "format")]
    file_name = os.path.basename(os.fspath(path)).lower()
    bare = file_name.removesuffix(".gz")
    for kind in FORMATS.values():
        if bare.endswith(kind.suffixes) and (kind.text or bare == file_name):
            return kind
    known = ", ".join(f"{name} ({' '.join(kind.suffixes)})" for name, kind in FORMATS.items())
    raise FormatError(f"{os.fspath(path)}: no known suffix; give format= one of {known}")


@contextmanager
def _naming(path: str | os.PathLike[str]) -> Iterator[None]:
    """Put the path in front of what is wrong with the content."""
    try:
        yield
    except (FormatError, GraphError) as bad:
        raise FormatError(f"{os.fspath(path)}: {bad}") from bad
