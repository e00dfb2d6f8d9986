"""MatrixMarket coordinate files: real, integer and pattern matrices, general or symmetric."""

from __future__ import annotations

import io
import re
from typing import Any, BinaryIO

import numpy as np
from scipy import sparse

from .._extras import require
from ..errors import FormatError
from ..graph import Graph
from ._parsed import Matrix, Options

__all__ = ["read_mtx", "write_mtx"]

# Header words after the first two, each with the choices that define a graph.
HEADER = {
    "format": ("coordinate",),
    "field": ("real", "double", "integer", "unsigned-integer", "pattern"),
    "symmetry": ("general", "symmetric"),
}
DIRECTED_NOTE = "gsp_fb directed"
# "1 1\n" is the shortest entry, so the size of the file bounds the number of entries that a header may announce.
BYTES_PER_ENTRY = 4
# The value of an entry by the field of the header; Fortran writes D for the exponent.
REAL = rb"[+-]?(?:(?:[0-9]+\.?[0-9]*|\.[0-9]+)(?:[eEdD][+-]?[0-9]+)?|nan|inf(?:inity)?)"
VALUES = {"pattern": b"", "integer": rb"[ \t]+[+-]?[0-9]{1,18}", "unsigned-integer": rb"[ \t]+[0-9]{1,18}"}
FORTRAN = bytes.maketrans(b"dD", b"eE")


def read_mtx(file: BinaryIO, options: Options) -> Matrix:
    """Return the matrix in ``file``; header and entries are checked before scipy reads them."""
    content = file.read()
    if not content.endswith(b"\n"):
        raise FormatError("the last line has no line break and may be truncated; add one if it is complete")
    text = io.BytesIO(content)
    header, words, directed = _check_header(text, len(content), options)
    body = _check_body(text.read(), words["field"], header.count(b"\n")).translate(FORTRAN)
    try:
        matrix = require("scipy.io", "reading MatrixMarket").mmread(io.BytesIO(header + body), spmatrix=False)
    except (ValueError, OverflowError) as bad:
        raise FormatError(str(bad)) from bad
    entries = sparse.coo_array(matrix)
    return Matrix(_mirrored(entries) if words["symmetry"] == "symmetric" else entries, directed)


def _mirrored(entries: Any) -> Any:
    """Return both triangles of a symmetric matrix of which the file lists one; both listed is an error."""
    row, col = entries.row.astype(np.int64), entries.col.astype(np.int64)
    off, n_nodes = row != col, entries.shape[0]
    both = np.intersect1d((row * n_nodes + col)[off], (col * n_nodes + row)[off])
    if both.size:
        i, j = divmod(int(both[0]), n_nodes)
        raise FormatError(f"entries ({i + 1}, {j + 1}) and ({j + 1}, {i + 1}): a symmetric file lists one triangle")
    ends = (np.concatenate([row, col[off]]), np.concatenate([col, row[off]]))
    return sparse.coo_array((np.concatenate([entries.data, entries.data[off]]), ends), shape=entries.shape)


def _check_header(file: io.BytesIO, n_bytes: int, options: Options) -> tuple[bytes, dict[str, str], bool | None]:
    """Return the header as that of a general matrix with as many lines, its words, and the direction it states."""
    first = file.readline().decode("ascii", "replace").split()
    words = [word.lower() for word in first[1:]]
    if not first or first[0] != "%%MatrixMarket" or len(words) != 4 or words[0] != "matrix":
        raise FormatError("no '%%MatrixMarket matrix' line at the start")
    for word, (what, choices) in zip(words[1:], HEADER.items(), strict=True):
        if word not in choices:
            raise FormatError(f"{what} {word!r} does not define a graph; it must be one of {', '.join(choices)}")
    comments, sizes = _comments_and_sizes(file)
    _check_sizes(sizes, n_bytes, options)
    found = dict(zip(HEADER, words[1:], strict=True))
    first_line = f"%%MatrixMarket matrix coordinate {found['field']} general"
    header = "\n".join([first_line, *["%"] * len(comments), " ".join(sizes), ""]).encode("ascii")
    if found["symmetry"] == "symmetric":
        return header, found, False
    return header, found, True if DIRECTED_NOTE in comments else None


def _comments_and_sizes(file: io.BytesIO) -> tuple[list[str], list[str]]:
    comments: list[str] = []
    for line in file:
        text = line.decode("utf-8", "replace").strip()
        if text and not text.startswith("%"):
            return comments, text.split()
        comments.append(text.lstrip("% "))
    raise FormatError("no line with the sizes of the matrix")


def _check_sizes(words: list[str], n_bytes: int, options: Options) -> None:
    if len(words) != 3 or not all(word.isascii() and word.isdigit() and len(word) < 19 for word in words):
        raise FormatError(f"the size line is {' '.join(words)[:60]!r}; it must be rows, columns and entries")
    n_rows, n_cols, n_entries = map(int, words)
    if n_rows != n_cols:
        raise FormatError(f"the matrix is {n_rows} x {n_cols}; an adjacency matrix is square")
    options.limits.check_nodes(n_rows)
    if n_entries * BYTES_PER_ENTRY > n_bytes:
        raise FormatError(f"{n_entries} entries announced, but the file has only {n_bytes} bytes; it is truncated")


def _check_body(body: bytes, field: str, n_lines: int) -> bytes:
    """Return the entries after matching every byte of them; the first line that does not match is named."""
    line = rb"[ \t]*(?:[0-9]{1,18}[ \t]+[0-9]{1,18}" + VALUES.get(field, rb"[ \t]+" + REAL) + rb"[ \t]*)?\r?\n"
    if re.fullmatch(rb"(?:" + line + rb")*+", body, re.IGNORECASE):
        return body
    rows = body.splitlines(keepends=True)
    at = next((k for k, row in enumerate(rows) if not re.fullmatch(line, row, re.IGNORECASE)), 0)
    entry = rows[at].decode("utf-8", "backslashreplace").strip()[:60]
    expected = "row column" if field == "pattern" else f"row column value, of field {field}"
    raise FormatError(f"line {n_lines + at + 1}: {entry!r} is not {expected!r}")


def write_mtx(graph: Graph, file: BinaryIO) -> None:
    """Write ``graph`` with the shortest digits that restore the same float64."""
    comment, symmetry = (DIRECTED_NOTE, "general") if graph.directed else ("", "symmetric")
    rules = {"comment": comment, "field": "real" if graph.is_weighted else "pattern", "symmetry": symmetry}
    require("scipy.io", "writing MatrixMarket").mmwrite(file, sparse.coo_array(graph.adjacency), **rules)
