"""MatrixMarket coordinate files: real, integer and pattern matrices, general or symmetric."""

from __future__ import annotations

import io
from typing import BinaryIO

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
# The bytes of numbers, nan and infinity included; a zero byte among them crashes scipy's compiled reader.
NUMBER_BYTES = b"0123456789+-.eEdDnNaAiIfFtTyY \t\r\n"


def read_mtx(file: BinaryIO, options: Options) -> Matrix:
    """Return the matrix in ``file``; the header is checked before memory is allocated."""
    content = file.read()
    if not content.endswith(b"\n"):
        raise FormatError("the last line has no line break and may be truncated; add one if it is complete")
    text = io.BytesIO(content)
    header, directed = _check_header(text, len(content), options)
    body = _check_body(text.read())
    try:
        matrix = require("scipy.io", "reading MatrixMarket").mmread(io.BytesIO(header + body), spmatrix=False)
    except (ValueError, OverflowError) as bad:
        raise FormatError(str(bad)) from bad
    return Matrix(sparse.coo_array(matrix), directed)


def _check_header(file: io.BytesIO, n_bytes: int, options: Options) -> tuple[bytes, bool | None]:
    """Return the parsed header, normalised to as many lines as it had, and the direction it states."""
    banner = file.readline().decode("ascii", "replace").split()
    words = [word.lower() for word in banner[1:]]
    if not banner or banner[0] != "%%MatrixMarket" or len(words) != 4 or words[0] != "matrix":
        raise FormatError("no '%%MatrixMarket matrix' line at the start")
    for word, (what, choices) in zip(words[1:], HEADER.items(), strict=True):
        if word not in choices:
            raise FormatError(f"{what} {word!r} does not define a graph; it must be one of {', '.join(choices)}")
    comments, sizes = _comments_and_sizes(file)
    _check_sizes(sizes, n_bytes, options)
    lines = [f"%%MatrixMarket {' '.join(words)}", *("%" for _ in comments), " ".join(sizes), ""]
    header = "\n".join(lines).encode("ascii")
    if words[3] == "symmetric":
        return header, False
    return header, True if DIRECTED_NOTE in comments else None


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


def _check_body(body: bytes) -> bytes:
    strange = body.translate(None, NUMBER_BYTES)
    if strange:
        raise FormatError(f"byte {strange[0]:#04x} among the entries, which must be numbers")
    return body


def write_mtx(graph: Graph, file: BinaryIO) -> None:
    """Write ``graph`` with the shortest digits that restore the same float64."""
    require("scipy.io", "writing MatrixMarket").mmwrite(
        file,
        sparse.coo_array(graph.adjacency),
        comment=DIRECTED_NOTE if graph.directed else "",
        field="real" if graph.is_weighted else "pattern",
        symmetry="general" if graph.directed else "symmetric",
    )
