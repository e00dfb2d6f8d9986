"""Names and tables of nodes in files: which can be stored, how they are restored, and the header that carries them."""

from __future__ import annotations

import json
import math
import re
from collections.abc import Hashable, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import chain
from numbers import Integral
from typing import Any

import numpy as np

from ..backend import IntArray
from ..errors import FormatError, GraphError
from ..graph import Graph
from ..nodes import NodeTable, check_coordinates, node_table
from ._limits import parser_errors
from ._parsed import Edges, Labels

__all__ = ["LABELS_NOTE", "Header", "dump_nodes", "labels_of", "load_json", "load_nodes", "named_table"]
__all__ += ["names_to_pairs", "restore_labels", "with_axes", "writable_labels", "written_names"]

VERSION = 1
# The key under which text formats keep the type of the labels.
LABELS_NOTE = "gsp_fb_labels"
PLAIN = (str, int, float, bool, type(None))
# What UTF-8 cannot encode.
_SURROGATE = re.compile("[\ud800-\udfff]")


def writable_labels(labels: tuple[Hashable, ...] | None) -> Labels:
    """Return ``labels`` if a file can store them: either all text or all integers."""
    if labels is None:
        return None
    if all(_is_int64(name) for name in labels):
        return tuple(int(name) for name in labels)  # type: ignore[call-overload]  # checked by _is_int64
    odd = next((name for name in labels if not isinstance(name, str) or _SURROGATE.search(name)), None)
    if odd is not None:
        raise FormatError(f"label {odd!r} cannot be written; labels must be all text or all 64-bit integers")
    return tuple(str(name) for name in labels)


def _is_int64(name: Any) -> bool:
    return not isinstance(name, bool) and isinstance(name, Integral) and -(2**63) <= int(name) < 2**63


def written_names(graph: Graph) -> tuple[list[str], str]:
    """Return the node names in text formats, and 'none', 'int' or 'str': the note that restores the type of labels."""
    labels = writable_labels(graph.labels)
    if labels is None:
        return [str(i) for i in range(graph.n_nodes)], "none"
    return list(map(str, labels)), "int" if labels and isinstance(labels[0], int) else "str"


def restore_labels(names: Sequence[str], kind: str | None) -> Labels:
    """Return the labels behind ``names``; if ``kind`` is None, the numbers 0..n-1 in order are not labels."""
    numbered = all(name == str(i) for i, name in enumerate(names))
    if kind == "none" or (kind is None and numbered):
        if not numbered:
            raise FormatError("the header states numbered nodes, but the nodes are not numbered in order")
        return None
    if kind == "int":
        return tuple(_integer(name) for name in names)
    return tuple(names)


def _integer(name: str) -> int:
    try:
        return int(name)
    except ValueError:
        raise FormatError(f"node {name!r} should be an integer") from None


def names_to_pairs(columns: Sequence[Sequence[Any]], labels: Labels) -> tuple[IntArray, Labels]:
    """Return node numbers for the columns source and target, in the order of ``labels`` or of first appearance."""
    if labels is None:
        # dict preserves insertion order: row by row, source before target.
        labels = tuple(dict.fromkeys(chain.from_iterable(zip(*columns, strict=True))))
    number = {name: i for i, name in enumerate(labels)}
    try:
        pairs = [list(map(number.__getitem__, column)) for column in columns]
    except KeyError as unknown:
        raise FormatError(f"node {unknown} is not among the labels of the header") from None
    return np.array(pairs, dtype=np.int64).reshape(2, -1).T, labels


def load_json(text: str | bytes) -> Any:
    """Return the value of a JSON text, or raise FormatError."""
    with parser_errors("broken JSON", (ValueError, RecursionError)):
        return json.loads(text)


def labels_of(labels: Any, n_nodes: int) -> Labels:
    """Return the labels of ``n_nodes`` nodes from JSON, or raise FormatError."""
    if labels is None:
        return None
    if not isinstance(labels, list) or len(labels) != n_nodes or not all(type(x) in (int, str) for x in labels):
        raise FormatError(f"broken labels: they must be {n_nodes} texts or integers")
    return writable_labels(tuple(labels))


@dataclass(frozen=True)
class Header:
    """Facts that a list of edges does not contain, as one line of JSON in a comment or in metadata."""

    n_nodes: int
    n_edges: int
    directed: bool
    labels: Labels = None
    nodes: dict[str, Any] | None = None

    @classmethod
    def of(cls, graph: Graph) -> Header:
        """Return the header of ``graph``."""
        labels = writable_labels(graph.labels)
        return cls(graph.n_nodes, graph.n_edges, graph.directed, labels, dump_nodes(graph.nodes))

    def dumps(self) -> str:
        """Return the header as one line of ASCII."""
        facts = {"gsp_fb": VERSION} | vars(self)
        return json.dumps({key: fact for key, fact in facts.items() if key != "nodes" or fact is not None})

    @classmethod
    def loads(cls, text: str | bytes) -> Header:
        """Return the header that :meth:`dumps` wrote, or raise FormatError."""
        header = load_json(text)
        if not isinstance(header, dict) or header.pop("gsp_fb", None) != VERSION:
            raise FormatError(f"the gsp_fb header is not of version {VERSION}; update gsp_fb to read it")
        known = set(header) - {"nodes"} == {"n_nodes", "n_edges", "directed", "labels"}
        if not known or type(header["directed"]) is not bool:
            raise FormatError("broken gsp_fb header: n_nodes, n_edges, directed and labels are required")
        if any(type(header[key]) is not int or header[key] < 0 for key in ("n_nodes", "n_edges")):
            raise FormatError("broken gsp_fb header: n_nodes and n_edges must be integers >= 0")
        return cls(**header | {"labels": labels_of(header["labels"], header["n_nodes"])})

    def check_complete(self, n_listed: int) -> None:
        """Raise FormatError unless the number of edges read is the number written."""
        if n_listed != self.n_edges:
            raise FormatError(f"{n_listed} edges found, {self.n_edges} written; the file is damaged or truncated")

    def completed(self, edges: Edges) -> Edges:
        """Return the edges below the header, which must be all that it counts, with the nodes that it states."""
        self.check_complete(len(edges.pairs))
        table = load_nodes(self.nodes, self.n_nodes, self.labels)
        return replace(edges, n_nodes=self.n_nodes, directed=self.directed, nodes=table)


def holds_more_than_names(table: NodeTable) -> bool:
    """Return whether a table has columns or coordinates."""
    return bool(len(table)) or table.coordinates is not None


def written_columns(table: NodeTable) -> dict[str, list[Any]]:
    """Return the columns as plain values: numbers, text, and None in an empty cell; other objects raise FormatError."""
    columns = {name: column.tolist() for name, column in table.columns.items()}
    for name, cells in columns.items():
        odd = next((cell for cell in cells if not isinstance(cell, PLAIN)), None)
        if odd is not None:
            raise FormatError(f"column {name!r} holds {odd!r}; files hold numbers and text: convert it")
    return columns


def with_axes(table: NodeTable) -> dict[str, list[Any]]:
    """Return the columns for formats without coordinates: those that no column states are columns x, y (and z)."""
    columns = written_columns(table)
    if table.coordinates is None:
        return columns
    stated: Any = node_table(dict(table.columns), table.n_nodes).coordinates
    if np.array_equal(stated, table.coordinates):
        return columns
    axes = dict(zip("xyz", table.coordinates.T.tolist(), strict=False))
    taken = next((name for name in axes if name in columns), None)
    if taken is not None:
        raise FormatError(f"column {taken!r} is not the coordinate of that name; rename the column")
    return {**columns, **axes}


def dump_nodes(table: NodeTable) -> dict[str, Any] | None:
    """Return columns and coordinates for JSON; None where there are none. Names are stored apart."""
    if not holds_more_than_names(table):
        return None
    cells = written_columns(table)
    return {
        "coordinates": None if table.coordinates is None else table.coordinates.tolist(),
        "columns": {name: [column.dtype.str, cells[name]] for name, column in table.columns.items()},
    }


def load_nodes(found: Any, n_nodes: int, labels: Labels) -> NodeTable:
    """Return the table that :func:`dump_nodes` wrote, checked."""
    if found is None:
        return NodeTable(n_nodes, labels)
    try:
        columns = {str(name): _column(dtype, cells, n_nodes) for name, (dtype, cells) in found["columns"].items()}
        points = found["coordinates"]
        return NodeTable(n_nodes, labels, None if points is None else check_coordinates(points, n_nodes), columns)
    except (TypeError, ValueError, KeyError, AttributeError, OverflowError, GraphError) as bad:
        raise FormatError(f"broken node table: {bad}") from None


def _column(dtype: str, cells: list[Any], n_nodes: int) -> Any:
    kind = np.dtype(dtype)
    if not isinstance(cells, list) or len(cells) != n_nodes or kind.kind not in "biufO":
        raise ValueError(f"a column of {dtype} needs {n_nodes} cells")
    if kind.kind != "O":
        return np.array(cells, dtype=kind)
    if not all(isinstance(cell, PLAIN) for cell in cells):
        raise ValueError("a cell is neither a number nor text")
    return np.array([*cells, None], dtype=object)[:-1]


def named_table(labels: Labels, n_nodes: int, cells: Mapping[str, Mapping[int, Any]]) -> NodeTable:
    """Return the table of names and of the attributes that some nodes have, by node number.

    A number that is missing is nan; coordinates follow from the names of the columns.
    """
    columns = {name: _attribute(given, n_nodes) for name, given in cells.items()}
    return replace(node_table(columns, n_nodes), names=labels)


def _attribute(given: Mapping[int, Any], n_nodes: int) -> Any:
    kinds = {type(value) for value in given.values()}
    if kinds == {bool} and len(given) == n_nodes:
        return np.array([given[i] for i in range(n_nodes)])
    if kinds <= {int, float}:
        column = np.array([given.get(i, math.nan) for i in range(n_nodes)])
        return column if column.dtype.kind in "if" else column.astype(np.float64)
    return np.array([*(given.get(i) for i in range(n_nodes)), None], dtype=object)[:-1]
