"""Edge tables as text: two columns of nodes, an optional third of weights; numbers or names, with or without header."""

from __future__ import annotations

import csv
import io
import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any, BinaryIO

import numpy as np

from ..backend import FloatArray, IntArray
from ..errors import FormatError
from ..graph import Graph
from ._labels import Header, names_to_pairs
from ._parsed import Edges, Labels, Options

__all__ = ["read_csv", "read_tsv", "write_csv", "write_tsv"]

HEADER_MARK = "# gsp_fb "
COMMENTS = ("#", "%")
# Accepted names of each column in a header.
COLUMNS = {"source": ("source", "src", "from"), "target": ("target", "dst", "to"), "weight": ("weight",)}
_INTEGER = re.compile(r"[+-]?[0-9]{1,18}")
_DECIMAL = re.compile(r"[+-]?[0-9.]+([eE][+-]?[0-9]+)?")

Row = tuple[int, list[str]]


@dataclass(frozen=True)
class _Layout:
    """Positions of the columns."""

    width: int
    source: int = 0
    target: int = 1
    weight: int | None = None


def _read(file: BinaryIO, options: Options, *, delimiters: Sequence[str]) -> Edges:
    header, rows = _rows(_decode(file), delimiters)
    layout, rows = _layout(rows)
    for line, row in rows:
        if len(row) != layout.width:
            raise FormatError(f"line {line}: {len(row)} columns where {layout.width} are expected")
    weights = None if layout.weight is None else _weights(rows, layout.weight)
    if header is None:
        pairs, labels = _pairs(rows, layout, None)
        return Edges(pairs, weights, None if labels is None else len(labels), None, labels)
    header.check_complete(len(rows))
    return Edges(_pairs(rows, layout, header.labels)[0], weights, header.n_nodes, header.directed, header.labels)


def _decode(file: BinaryIO) -> str:
    content = file.read()
    try:
        return content.decode("utf-8-sig")
    except UnicodeDecodeError as bad:
        line = content.count(b"\n", 0, bad.start) + 1
        raise FormatError(f"line {line}: byte {bad.object[bad.start]:#04x} is not UTF-8 text") from None


def _rows(text: str, delimiters: Sequence[str]) -> tuple[Header | None, list[Row]]:
    """Return the header that this library wrote, if any, and the cells of each line after the leading comments."""
    stream = io.StringIO(text, newline="")
    header, n_skipped, start = None, 0, 0
    while (line := stream.readline()) and (line.startswith(COMMENTS) or not line.strip()):
        if line.startswith("%%MatrixMarket"):
            raise FormatError("this is a MatrixMarket file; give format='mtx'")
        if line.startswith(HEADER_MARK):
            header = Header.loads(line.removeprefix(HEADER_MARK))
        n_skipped, start = n_skipped + 1, stream.tell()
    if header is not None and not text.endswith("\n"):
        raise FormatError("the last line has no line break; the file is truncated")
    stream.seek(start)
    delimiter = next((mark for mark in delimiters if mark in line), None)
    cells = _split(stream) if delimiter is None else _parse(stream, delimiter)
    rows = [(n_skipped + number, row) for number, row in cells if "".join(row[:1]).strip() or len(row) > 1]
    # Blanks around a cell are part of a name only in files that this library wrote.
    return header, rows if header is not None else [(line, [cell.strip() for cell in row]) for line, row in rows]


def _split(stream: io.StringIO) -> Iterator[Row]:
    return ((number, line.split()) for number, line in enumerate(stream, start=1))


def _parse(stream: io.StringIO, delimiter: str) -> Iterator[Row]:
    reader = csv.reader(stream, delimiter=delimiter, strict=True)
    try:
        for row in reader:
            yield reader.line_num, row
    except csv.Error as bad:
        raise FormatError(f"line {reader.line_num}: {bad}") from None


def _layout(rows: list[Row]) -> tuple[_Layout, list[Row]]:
    if not rows:
        return _Layout(2), rows
    line, first = rows[0]
    named = _named_columns([cell.lower() for cell in first])
    if {"source", "target"} <= set(named):
        return _Layout(len(first), **named), rows[1:]
    if len(first) not in (2, 3):
        raise FormatError(f"line {line}: {len(first)} columns; name source and target (and weight) in a header line")
    if not _are_integers(first[:2]) and len(rows) > 1 and all(_are_integers(row[:2]) for _, row in rows[1:]):
        raise FormatError(f"line {line}: columns {', '.join(first)}; a header must name them source, target and weight")
    return _Layout(len(first), weight=2 if len(first) == 3 else None), rows


def _named_columns(cells: list[str]) -> dict[str, int]:
    return {name: cells.index(word) for name, words in COLUMNS.items() for word in words if word in cells}


def _are_integers(cells: list[str]) -> bool:
    return all(map(_INTEGER.fullmatch, cells))


def _pairs(rows: list[Row], layout: _Layout, labels: Labels) -> tuple[IntArray, Labels]:
    columns = [[row[at] for _, row in rows] for at in (layout.source, layout.target)]
    if labels is not None:
        return names_to_pairs(columns, tuple(map(str, labels)))
    if rows and not _are_integers(ends := [column[0] for column in columns]):
        if all(map(_DECIMAL.fullmatch, ends)):
            raise FormatError(f"line {rows[0][0]}: {', '.join(ends)} are neither node numbers nor names")
        return names_to_pairs(columns, None)
    if not all(_are_integers(column) for column in columns):
        line, pair = next(
            (line, pair) for (line, _), *pair in zip(rows, *columns, strict=True) if not _are_integers(pair)
        )
        raise FormatError(f"line {line}: {', '.join(pair)} where the lines above have integers")
    return np.array([list(map(int, column)) for column in columns], dtype=np.int64).reshape(2, -1).T, None


def _weights(rows: list[Row], at: int) -> FloatArray:
    try:
        return np.array([float(row[at]) for _, row in rows], dtype=np.float64)
    except ValueError:
        line, text = next((line, row[at]) for line, row in rows if not _is_number(row[at]))
        raise FormatError(f"line {line}: weight {text!r} is not a number") from None


def _is_number(text: str) -> bool:
    try:
        float(text)
    except ValueError:
        return False
    return True


def _write(graph: Graph, file: BinaryIO, *, delimiter: str) -> None:
    header = Header.of(graph)
    names: Sequence[int | str] = range(graph.n_nodes) if header.labels is None else header.labels
    source, target, weights = graph.edges()
    columns: list[list[Any]] = [[names[i] for i in source], [names[j] for j in target]]
    columns += [] if weights is None else [weights.tolist()]
    text = io.TextIOWrapper(file, encoding="utf-8", newline="")
    text.write(f"{HEADER_MARK}{header.dumps()}\n{delimiter.join(list(COLUMNS)[: len(columns)])}\n")
    # All names in quotes: QUOTE_MINIMAL does not quote a lone carriage return.
    table = csv.writer(text, delimiter=delimiter, lineterminator="\n", quoting=csv.QUOTE_NONNUMERIC)
    table.writerows(zip(*columns, strict=True))
    text.detach()


read_csv = partial(_read, delimiters=",;\t")
read_tsv = partial(_read, delimiters="\t,;")
write_csv = partial(_write, delimiter=",")
write_tsv = partial(_write, delimiter="\t")
