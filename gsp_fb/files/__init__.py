"""Graph files: one table of formats, one function to read and one to write.

Reading is strict: a file that is truncated, damaged, larger than a limit or not a graph raises FormatError with its
path, before memory is allocated for it. Nothing is unpickled, writing is crash-safe. A format is a row of ``FORMATS``.
"""

from __future__ import annotations

import gzip
import os
import warnings
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any, BinaryIO

from .._arguments import check_choice
from .._atomic import atomic_write
from .._attributes import WEIGHT
from ..errors import FormatError, GraphError, GspWarning, ParameterError
from ..graph import Graph
from ..nodes import NodeTable
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
    """One file format: how it is recognised, read and written, and what it preserves.

    Parameters
    ----------
    suffixes : tuple of str
        Endings of the file name; ``.gz`` may follow if ``text`` is true.
    read : callable
        ``read(file, options)`` returns the parsed content of a binary file.
    write : callable
        ``write(graph, file)`` writes to a binary file.
    duplicates : {'error', 'sum'}
        Default treatment of an edge that is listed more than once.
    text : bool
        Whether the whole file may be gzip-compressed.
    labels : bool
        Whether the node table is preserved: names, coordinates and columns. Every format preserves structure, weights
        (bit by bit), direction, isolated nodes and self-loops.
    columns : tuple of str
        Options of :func:`gsp_fb.read_graph` that name columns and apply to the format.

    See Also
    --------
    gsp_fb.read_graph : Reads every format of the table.
    gsp_fb.write_graph : Writes every format of the table.

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
    columns: tuple[str, ...] = ()


# Options of readers that name columns.
TABLE = ("source", "target", "weight", "header")

FORMATS = {
    "npz": Format((".npz",), read_npz, write_npz, "sum", text=False),
    "mtx": Format((".mtx",), read_mtx, write_mtx, "sum", labels=False),
    "graphml": Format((".graphml",), read_graphml, write_graphml, "sum", columns=("weight",)),
    "gml": Format((".gml",), read_gml, write_gml, "sum", columns=("weight",)),
    "csv": Format((".csv",), read_csv, write_csv, "error", columns=TABLE),
    "tsv": Format((".tsv", ".txt", ".edges"), read_tsv, write_tsv, "error", columns=TABLE),
    "parquet": Format((".parquet",), read_parquet, write_parquet, "error", text=False, columns=TABLE[:3]),
}


def read_graph(
    path: str | os.PathLike[str],
    *,
    format: str | None = None,
    directed: bool | None = None,
    symmetrize: str | None = None,
    duplicates: str | None = None,
    loops: str = "keep",
    source: str | None = None,
    target: str | None = None,
    weight: str | None = WEIGHT,
    header: bool | None = None,
    signed: bool = False,
    max_nodes: int = MAX_NODES,
    max_bytes: int = MAX_BYTES,
) -> Graph:
    """Read a graph from a file.

    Parameters
    ----------
    path : path_like
    format : str, optional
        A key of ``FORMATS``; by default the suffix of the file decides. Any text format may end in ``.gz``.
    directed : bool, optional
        By default as the file states, else undirected: then a matrix must be symmetric, and a list has each edge once.
    symmetrize : {'max', 'mean', 'sum'}, optional
        Combine the arcs ``(i, j)`` and ``(j, i)`` of a directed file into one undirected edge.
    duplicates : {'error', 'first', 'sum'}, optional
        Treatment of an edge that is listed more than once. By default an error in edge tables (csv, tsv, parquet) and
        the sum in GraphML and GML, where it is a parallel edge. Entries of a matrix (npz, mtx) are always summed.
    loops : {'keep', 'drop'}
        Treatment of self-loops.
    source, target : str, optional
        Columns of an edge table that hold the ends; by default those called source, src or from and target, dst or to.
    weight : str or None
        Column of an edge table, or edge attribute of GraphML and GML; an edge without it has weight 1. By default the
        one called weight; if there is none and others hold numbers, a choice is required. None: every weight is 1.
    header : bool, optional
        Whether the first line of csv or tsv names the columns; recognised by default, an error where it may be an edge.
    signed : bool
        Allow negative weights, see :meth:`Graph.from_edges`. An ``.npz`` file of :func:`write_graph` needs no option.
    max_nodes, max_bytes : int
        Limits on the number of nodes and on the bytes read and unpacked; a file that declares more is rejected before
        allocation. Devices, pipes and sockets are rejected.

    Returns
    -------
    Graph
        With a node table where the file names its nodes or has attributes of them.

    Raises
    ------
    FormatError
        The content does not match the format, is damaged or truncated, exceeds a limit, or is not a valid graph.
    OSError
        The file is missing, a directory, or not readable.

    See Also
    --------
    write_graph : The inverse.
    Graph.from_edges : From arrays in memory.

    Notes
    -----
    Node names become ``labels``, unless they are the numbers 0..n-1 in order. In edge tables integers are node numbers
    and other text is a name; names are numbered in order of first appearance. Comment lines (``#`` or ``%``) are
    allowed at the top of an edge table. A column ``Type`` of Directed or Undirected, as in tables of Gephi, states the
    direction. Node attributes of GraphML and GML are columns of the node table, and coordinates follow from those
    called ``x, y`` (``z``) or ``lon, lat``; names of nodes that igraph wrote are their attribute ``name``.

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
    named: dict[str, Any] = {"source": source, "target": target, "weight": weight, "header": header}
    odd = next((name for name in named if named[name] != getattr(Options, name) and name not in kind.columns), None)
    if odd is not None:
        raise ParameterError(f"{odd}={named[odd]!r} does not apply to {kind.suffixes[0]} files")
    options = Options(directed, symmetrize, duplicates or kind.duplicates, loops, limits, signed=signed, **named)
    with _naming(path), open_limited(path, limits) as file:
        return kind.read(file, options).graph(options)


def write_graph(graph: Graph, path: str | os.PathLike[str], *, format: str | None = None) -> None:
    """Write a graph to a file from which :func:`read_graph` restores it bit by bit.

    The node table is written with the graph. The file is replaced atomically. Names must be unique and either all text
    or all integers; MatrixMarket cannot store a node table and warns.

    Parameters
    ----------
    graph : Graph
    path : path_like
        An existing file is replaced.
    format : str, optional
        A key of ``FORMATS``; by default the suffix decides. A text format is compressed if the name ends in ``.gz``.

    Raises
    ------
    FormatError
        The suffix is unknown, or the format cannot store the labels.
    GraphError
        A weight is negative or complex, and the format is not npz; or the edges are not in memory.
    OSError
        The directory is missing or not writable, or the disk is full.

    See Also
    --------
    read_graph : The inverse.
    to_networkx : Convert instead of writing.

    Examples
    --------
    >>> import tempfile
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     write_graph(Graph.from_edges([(0, 1)], n_nodes=3), f"{folder}/graph.npz")
    ...     read_graph(f"{folder}/graph.npz")
    Graph(n_nodes=3, n_edges=1, undirected, unweighted, n_isolated=1)
    """
    kind = _format_of(path, format)
    graph.in_memory()
    what = f"{os.fspath(path)}: this format"
    if kind is not FORMATS["npz"]:
        graph.check_unsigned(what, remedy="write an .npz file, or a folder with outofcore.write_folder")
    lost = "" if kind.labels else ", ".join(_held(graph.nodes))
    if lost:
        warnings.warn(f"{what} cannot store {lost}; they are omitted", GspWarning, stacklevel=2)
    with _naming(path), atomic_write(path) as file:
        if not is_gzip(path):
            kind.write(graph, file)  # type: ignore[arg-type]  # mode 'wb' by default
            return
        # No time stamp and no name inside: equal graphs give equal files.
        with gzip.GzipFile(filename="", mode="wb", fileobj=file, mtime=0) as packed:
            kind.write(graph, packed)  # type: ignore[arg-type]  # a GzipFile writes like a binary file


def _held(table: NodeTable) -> list[str]:
    """Return what a node table holds, for a message."""
    parts = ["labels"] * (table.names is not None) + ["coordinates"] * (table.coordinates is not None)
    return parts + ([f"node columns {', '.join(table)}"] if len(table) else [])


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
    """Prefix errors about the content with the path."""
    try:
        yield
    except (FormatError, GraphError) as bad:
        raise FormatError(f"{os.fspath(path)}: {bad}") from bad
