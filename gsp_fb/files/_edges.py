"""Edge tables as text: two columns of nodes and one of weights, by number or name, with or without a header."""

from __future__ import annotations

import csv
import io
import re
import warnings
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from functools import cache, partial
from itertools import islice
from typing import Any, BinaryIO, NamedTuple

import numpy as np

from .._attributes import listed, weight_attribute
from .._extras import has, require
from ..backend import FloatArray, IntArray
from ..errors import FormatError
from ..graph import Graph
from ._nodes import Header, names_to_pairs
from ._parsed import Edges, Labels, Options

__all__ = ["read_csv", "read_tsv", "write_csv", "write_tsv"]

HEADER_MARK = "# gsp_fb "
# Bytes of numbers from which on importing pandas pays.
FAST_FROM = 2**22
COMMENTS = ("#", "%")
# Accepted names of each column in a header.
COLUMNS = {"source": ("source", "src", "from"), "target": ("target", "dst", "to"), "weight": ("weight",)}
ENDS = ("source", "target")
# Gephi's column of directions, with what its cells mean.
KIND = "type"
KINDS = {"directed": True, "undirected": False}
BYTE_ORDER_MARK, NEWLINE = b"\xef\xbb\xbf", 10
_INTEGERS = re.compile(r"(?:[+-]?[0-9]{1,18},)*+")
_NUMBERS = re.compile(r"(?:[+-]?(?:[0-9]+\.?[0-9]*|\.[0-9]+)(?:[eE][+-]?[0-9]+)?,)*+")
_DECIMAL = re.compile(r"[+-]?[0-9.]+([eE][+-]?[0-9]+)?")

Columns = Sequence[Sequence[str]]


@dataclass(frozen=True, eq=False)
class _Text:
    """The lines of a table after the leading comments, cut into cells; line numbers are counted only for errors."""

    content: bytes
    delimiter: str | None
    n_skipped: int
    own: bool
    start: int = 0

    def columns(self) -> Columns:
        """Return the columns of cells; a line of another length than the first one is an error."""
        if (plain := self._plain_columns()) is not None:
            return plain
        rows = [row for _, row in self.numbered()]
        odd = next((k for k, row in enumerate(rows) if len(row) != len(rows[0])), None)
        if odd is not None:
            raise self.refuse(odd, f"{len(rows[odd])} columns where {len(rows[0])} are expected")
        return list(zip(*rows, strict=True))

    def body(self) -> bytes:
        """Return the lines after the leading comments, without the last line break."""
        body = self.content.removeprefix(BYTE_ORDER_MARK).split(b"\n", self.n_skipped)[-1].replace(b"\r\n", b"\n")
        return body.removesuffix(b"\n")

    def _plain_columns(self) -> Columns | None:
        """Return the columns of a text without quotes and empty lines by one split; None for any other text."""
        body = self.body()
        if self.delimiter is None or b'"' in body or b"\r" in body or not body:
            return None
        mark, raw = ord(self.delimiter), np.frombuffer(body, dtype=np.uint8)
        ends = np.append(raw[(raw == mark) | (raw == NEWLINE)], NEWLINE).astype(np.uint8)
        width = int(np.argmax(ends == NEWLINE)) + 1
        expected = np.array([mark] * (width - 1) + [NEWLINE], dtype=np.uint8)
        if width < 2 or len(ends) % width or not np.all(ends.reshape(-1, width) == expected):
            return None
        cells = body.decode().replace("\n", self.delimiter).split(self.delimiter)
        return [cells[k::width] for k in range(width)]

    def numbered(self) -> Iterator[tuple[int, list[str]]]:
        """Yield the cells of each line that is not empty, with its number."""
        stream = io.TextIOWrapper(io.BytesIO(self.content), encoding="utf-8-sig", newline="")
        for _ in range(self.n_skipped):
            stream.readline()
        blanks = ((number, line.split()) for number, line in enumerate(stream, start=1))
        cells = blanks if self.delimiter is None else self._parsed(stream)
        return ((self.n_skipped + number, row) for number, row in cells if len(row) > 1 or "".join(row).strip())

    def _parsed(self, stream: Any) -> Iterator[tuple[int, list[str]]]:
        reader = csv.reader(stream, delimiter=str(self.delimiter), strict=True)
        try:
            for row in reader:
                yield reader.line_num, row
        except csv.Error as bad:
            raise FormatError(f"line {reader.line_num}: {bad}") from None

    def refuse(self, row: int, why: str) -> FormatError:
        """Return the error of a row, with its line number."""
        line, _ = next(islice(self.numbered(), row + self.start, None))
        return FormatError(f"line {line}: {why}")


class _Table(NamedTuple):
    """Columns of cells, by the names of the header or by position."""

    text: _Text
    columns: dict[str, Sequence[str]]

    @property
    def n_rows(self) -> int:
        return len(next(iter(self.columns.values())))


def _read(file: BinaryIO, options: Options, *, delimiters: Sequence[str]) -> Edges:
    content = file.read()
    try:
        content.decode("utf-8-sig")
    except UnicodeDecodeError as bad:
        line = content.count(b"\n", 0, bad.start) + 1
        raise FormatError(f"line {line}: byte {bad.object[bad.start]:#04x} is not UTF-8 text") from None
    ours, text = _opened(content, delimiters)
    labels = None if ours is None else ours.labels
    found = _read_numbers(text, options) if labels is None else None
    if found is None:
        table, ends, weight = _layout(text, options)
        weights = None if weight is None else _weights(table, weight)
        pairs, names = _pairs(table, ends, labels)
        found = Edges(pairs, weights, None if names is None else len(names), _direction(table), names)
    return found if ours is None else ours.completed(found)


def _read_numbers(text: _Text, options: Options) -> Edges | None:
    """Return the edges of a table of plain numbers whose first columns are its ends; None for any other table.

    One pattern accounts for every byte below the first line, so that no cell is guessed; the layout follows from the
    first two lines alone, as every line below is of their kind.
    """
    first, _, below = text.body().partition(b"\n")
    width = 0 if text.delimiter is None else first.count(text.delimiter.encode()) + 1
    pattern = _number_lines(width, str(text.delimiter))
    if width < 2 or not pattern.fullmatch(below):
        return None
    second = below.split(b"\n", 1)[0]
    try:
        table, ends, weight = _layout(replace(text, content=first + b"\n" + second, n_skipped=0), options)
    except FormatError:
        return None  # the path that counts lines words it
    names = list(table.columns)
    headed = table.n_rows == 1
    if set(ends) != set(names[:2]) or not (headed or pattern.fullmatch(first)):
        return None
    rows = _number_rows(below if headed else first + b"\n" + below, str(text.delimiter), width)
    pairs = rows[:, [names.index(end) for end in ends]].astype(np.int64)
    return Edges(pairs, None if weight is None else rows[:, names.index(weight)].copy(), None, None, None)


@cache
def _number_lines(width: int, delimiter: str) -> re.Pattern[bytes]:
    """Return the pattern of lines with two node numbers, exact as float64, and ``width - 2`` other numbers."""
    mark = re.escape(delimiter)
    number = r"[+-]?(?:[0-9]++\.?[0-9]*+|\.[0-9]++)(?:[eE][+-]?[0-9]++)?+"
    line = mark.join(["[0-9]{1,15}+"] * 2 + [number] * (width - 2))
    return re.compile(f"{line}(?:\n{line})*+".encode())


def _number_rows(lines: bytes, delimiter: str, width: int) -> FloatArray:
    """Return lines that fit the pattern as an array; the parser of pandas is seven times as fast and rounds alike."""
    if len(lines) >= FAST_FROM and has("pandas"):
        read = require("pandas", "fast parsing").read_csv
        options = {"sep": delimiter, "header": None, "float_precision": "round_trip", "dtype": np.float64}
        with warnings.catch_warnings():
            # Newer versions round so by default and deprecate the option; older ones need it.
            warnings.simplefilter("ignore")
            return np.asarray(read(io.BytesIO(lines), **options).to_numpy())
    cells = lines.replace(b"\n", b",").replace(delimiter.encode(), b",")
    return np.fromstring(cells, dtype=np.float64, sep=",").reshape(-1, width)


def _opened(content: bytes, delimiters: Sequence[str]) -> tuple[Header | None, _Text]:
    """Return the header that this library wrote, if any, and the text after the leading comments."""
    stream = io.TextIOWrapper(io.BytesIO(content), encoding="utf-8-sig", newline="")
    header, n_skipped = None, 0
    while (line := stream.readline()) and (line.startswith(COMMENTS) or not line.strip()):
        if line.startswith("%%MatrixMarket"):
            raise FormatError("this is a MatrixMarket file; give format='mtx'")
        if line.startswith(HEADER_MARK):
            header = Header.loads(line.removeprefix(HEADER_MARK))
        n_skipped += 1
    if header is not None and not content.endswith(b"\n"):
        raise FormatError("the last line has no line break; the file is truncated")
    delimiter = next((mark for mark in delimiters if mark in line), None)
    return header, _Text(content, delimiter, n_skipped, own=header is not None)


def _layout(text: _Text, options: Options) -> tuple[_Table, tuple[str, str], str | None]:
    """Return the table, the names of its columns source and target, and that of the weights."""
    columns = text.columns()
    # Blanks around a cell are part of a name only in files that this library wrote.
    cells = columns if text.own else [list(map(str.strip, column)) for column in columns]
    first = [column[0].strip() for column in columns]
    ends = _named_ends(first, options)
    if ends is None:
        _check_no_header(text, columns, first, options)
        names = list(COLUMNS)[: len(first) or 2]
        table = _Table(text, dict(zip(names, cells or [[], []], strict=True)))
        return table, ENDS, "weight" if "weight" in names and options.weight is not None else None
    if len(set(first)) != len(first):
        raise text.refuse(0, f"a column occurs twice in the header {listed(first)}")
    table = _Table(replace(text, start=1), dict(zip(first, [column[1:] for column in cells], strict=True)))
    others = [name for name in first if name not in ends]
    numeric = (name for name in others if table.n_rows and _are_numbers(table.columns[name]))
    return table, ends, weight_attribute(others, numeric, options.weight)


def _named_ends(first: list[str], options: Options) -> tuple[str, str] | None:
    """Return the names of the columns source and target where the first line is a header; None where it is an edge."""
    options.check_ends()
    if options.source is not None and options.target is not None:
        missing = next((name for name in (options.source, options.target) if name not in first), None)
        if missing is not None:
            raise FormatError(f"no column {missing!r}; the header is {listed(first)}")
        return options.source, options.target
    if options.header is False:
        return None
    lower = {cell.lower(): cell for cell in reversed(first)}
    source, target = (next((lower[word] for word in COLUMNS[end] if word in lower), None) for end in ENDS)
    if source is not None and target is not None:
        return source, target
    return (first[0], first[1]) if options.header and len(first) >= 2 else None


def _check_no_header(text: _Text, columns: Columns, first: list[str], options: Options) -> None:
    """Raise FormatError where the first line may name the columns: nothing in it occurs below."""
    if not first or (options.header is False and len(first) in (2, 3)):
        return
    asked = f"give source={first[0]!r} and target={first[1 % len(first)]!r}"
    if len(first) not in (2, 3):
        named = _integers(first[:2]) is None and len(first) > 3
        why = f"columns {', '.join(first)}; if they are names, {asked}" if named else f"{len(first)} columns"
        raise text.refuse(0, f"{why}; name source and target (and weight) in a header line")
    if len(columns[0]) == 1 or any(map(_DECIMAL.fullmatch, first[:2])):
        return
    below = {cell.strip() for column in columns[:2] for cell in column[1:]}
    is_title = len(first) == 3 and not _are_numbers(first[2:]) and _are_numbers(columns[2][1:])
    if is_title or _integers(list(below)) is not None:
        raise text.refuse(0, f"columns {', '.join(first)}; the header names no source and target: {asked}")
    if below.isdisjoint(first[:2]):
        why = f"{', '.join(first)} may be a header or an edge, as no other line has these names"
        raise text.refuse(0, f"{why}; {asked} if it is a header, header=False if it is an edge")


def _integers(column: Sequence[str]) -> IntArray | None:
    """Return a column of whole numbers, None if a cell is something else; one pattern over the joined text is fast."""
    joined = ",".join(column) + ","
    if not _INTEGERS.fullmatch(joined) or joined.count(",") != len(column) or not len(column):
        return None
    return np.fromstring(joined.removesuffix(","), dtype=np.int64, sep=",")


def _are_numbers(column: Sequence[str]) -> bool:
    try:
        _floats(column)
    except ValueError:
        return False
    return True


def _floats(column: Sequence[str]) -> FloatArray:
    joined = ",".join(column) + ","
    if len(column) and joined.count(",") == len(column) and _NUMBERS.fullmatch(joined):
        return np.fromstring(joined.removesuffix(","), dtype=np.float64, sep=",")
    if "_" in joined:
        raise ValueError("an underscore in a number")
    return np.array(list(map(float, column)), dtype=np.float64)


def _pairs(table: _Table, ends: tuple[str, str], labels: Labels) -> tuple[IntArray, Labels]:
    columns = [table.columns[name] for name in ends]
    if labels is not None:
        return names_to_pairs(columns, tuple(map(str, labels)))
    if not table.n_rows:
        return np.empty((0, 2), dtype=np.int64), None
    numbers = [_integers(column) for column in columns]
    if all(column is not None for column in numbers):
        return np.stack(numbers, axis=1), None  # type: ignore[arg-type]  # none is None
    first = [column[0] for column in columns]
    if _integers(first) is None:
        if all(map(_DECIMAL.fullmatch, first)):
            raise table.text.refuse(0, f"{', '.join(first)} are neither node numbers nor names")
        empty = next((list(column).index("") for column in columns if "" in column), None)
        if empty is not None:
            raise table.text.refuse(empty, "a node has no name; fill the empty cell")
        return names_to_pairs(columns, None)
    odd, pair = next((k, pair) for k, pair in enumerate(zip(*columns, strict=True)) if _integers(pair) is None)
    raise table.text.refuse(odd, f"{', '.join(pair)} where the lines above have integers")


def _weights(table: _Table, name: str) -> FloatArray:
    column = table.columns[name]
    try:
        return _floats(column)
    except ValueError:
        odd = next(k for k, cell in enumerate(column) if not _are_numbers([cell]))
        raise table.text.refuse(odd, f"weight {column[odd]!r} is not a number") from None


def _direction(table: _Table) -> bool | None:
    """Return the direction that Gephi's column ``Type`` states; None without one."""
    name = next((name for name in table.columns if name.lower() == KIND), None)
    stated = [] if name is None else [cell.lower() for cell in table.columns[name]]
    if not set(stated) & set(KINDS):
        return None
    odd = next((k for k, cell in enumerate(stated) if cell != stated[0]), None)
    if odd is not None:
        why = f"column {name!r} is {stated[odd]!r} and {stated[0]!r} above; edges must be of one kind"
        raise table.text.refuse(odd, why)
    return KINDS[stated[0]]


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
