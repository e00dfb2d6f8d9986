"""GML: nested lists of keys and values; labels and non-ASCII text as HTML entities."""

from __future__ import annotations

import math
import re
from collections.abc import Iterator
from html.entities import name2codepoint
from typing import Any, BinaryIO

from .._attributes import WEIGHT
from ..errors import FormatError
from ..graph import Graph
from ._limits import parser_errors
from ._nodes import LABELS_NOTE, named_table, restore_labels, with_axes, written_names
from ._parsed import Edges, NamedEdges, Options

__all__ = ["read_gml", "write_gml"]

NODE_KEYS = ("id", "label")
EDGE_KEYS = ("source", "target", "graphics")
# Keys of GML are letters and digits; a column with any other name has no place in it.
_KEY = re.compile(r"[A-Za-z]\w*", re.ASCII)
# Possessive quantifier over blanks and comments: no backtracking, hence linear time on any text.
_TOKEN = re.compile(
    r"""(?:\s|\#[^\n]*)*+(?:(?P<open>\[)|(?P<close>\])|"(?P<text>[^"]*)"|(?P<end>\Z)
    |(?P<number>[+-]?(?:(?:\d+\.?\d*|\.\d+)(?:[Ee][+-]?\d+)?|INF|NAN))(?![\w.])|(?P<key>[A-Za-z]\w*))""",
    re.VERBOSE | re.ASCII,
)
_VALUES = {"open", "text", "number"}
_ENTITY = re.compile(r"&(?:#(\d+)|#[xX]([0-9A-Fa-f]+)|([A-Za-z][0-9A-Za-z]*));")
_ESCAPED = re.compile(r'[^ -~]|[&"]')


def read_gml(file: BinaryIO, options: Options) -> Edges:
    """Return the one graph in ``file``; node labels, or ids where there are none, become labels."""
    with parser_errors("not UTF-8 text", (UnicodeDecodeError,)):
        text = file.read().decode("utf-8-sig")
    graphs = [value for key, value in _parse(text) if key == "graph"]
    if len(graphs) != 1 or not isinstance(graphs[0], list):
        raise FormatError(f"{len(graphs)} graphs found; a file must contain exactly one")
    return _edges(graphs[0], options.weight)


def _parse(text: str) -> list[tuple[str, Any]]:
    """Return the document as nested lists of (key, value), without recursion: the file determines the depth."""
    stack: list[list[tuple[str, Any]]] = [[]]
    key: str | None = None
    for kind, token in _tokens(text):
        if (kind in _VALUES) is (key is None) or (kind == "close" and len(stack) == 1):
            raise _unexpected(text, token.start())
        if kind in _VALUES:
            value = [] if kind == "open" else _value(kind, token[kind])
            stack[-1].append((str(key), value))
            if kind == "open":
                stack.append(value)
        elif kind == "close":
            stack.pop()
        key = token["key"]
    if len(stack) != 1:
        raise FormatError("the text ends inside a list; the file is truncated")
    return stack[0]


def _tokens(text: str) -> Iterator[tuple[str, re.Match[str]]]:
    at, kind = 0, ""
    while kind != "end":
        token = _TOKEN.match(text, at)
        if token is None:
            raise _unexpected(text, at)
        at, kind = token.end(), str(token.lastgroup)
        yield kind, token


def _unexpected(text: str, at: int) -> FormatError:
    at += len(text[at:]) - len(text[at:].lstrip())
    return FormatError(f"line {text.count(chr(10), 0, at) + 1}: {text[at : at + 20]!r} is not expected here")


def _value(kind: str, text: str) -> Any:
    if kind == "text":
        return _ENTITY.sub(_character, text)
    return int(text) if text.lstrip("+-").isdigit() and len(text) < 20 else float(text)


def _character(entity: re.Match[str]) -> str:
    decimal, hexadecimal, name = entity.groups()
    code = int(decimal[:9]) if decimal else int(hexadecimal[:7], 16) if hexadecimal else name2codepoint.get(name, -1)
    return chr(code) if 0 <= code < 0x110000 else entity[0]


def _edges(graph: list[tuple[str, Any]], weight: str | None) -> Edges:
    facts = dict(graph)
    nodes = [dict(value) for key, value in graph if key == "node" and isinstance(value, list)]
    found = NamedEdges()
    for node in nodes:
        if not found.add_node(_need(node, "id", "node")):
            raise FormatError(f"node {node['id']!r} occurs twice")
        for name, value in _attributes(node, NODE_KEYS):
            found.describe("node", name, value)
    for key, value in graph:
        if key == "edge" and isinstance(value, list):
            edge = dict(value)
            found.ends.append((_need(edge, "source", "edge"), _need(edge, "target", "edge")))
            for name, cell in _attributes(edge, EDGE_KEYS):
                found.describe("edge", name, cell)
    kind = facts.get(LABELS_NOTE)
    labels = restore_labels(_names(nodes), kind if isinstance(kind, str) else None)
    table = named_table(labels, len(nodes), found.cells["node"])
    return found.edges(facts.get("directed", 0) == 1, table, weight)


def _attributes(item: dict[str, Any], known: tuple[str, ...]) -> Iterator[tuple[str, Any]]:
    """Yield the attributes of a node or an edge; of lists only the position in ``graphics``."""
    for name, value in item.items():
        if name == "graphics" and isinstance(value, list):
            yield from ((axis, at) for axis, at in value if axis in ("x", "y", "z") and not isinstance(at, list))
        elif name == WEIGHT and isinstance(value, list):
            raise FormatError("an edge has a list for its weight, which is not a number")
        elif name not in known and not isinstance(value, list):
            yield name, value


def _need(item: dict[str, Any], key: str, what: str) -> Any:
    if not isinstance(item.get(key), int | str):
        raise FormatError(f"{what} with the keys {', '.join(list(item)[:9])} has no {key!r} that is an integer or text")
    return item[key]


def _names(nodes: list[dict[str, Any]]) -> list[str]:
    key = "label" if all("label" in node for node in nodes) else "id"
    if any(isinstance(node[key], list) for node in nodes):
        raise FormatError(f"a node has a list for its {key}; it must be text or a number")
    names = [str(node[key]) for node in nodes]
    if len(set(names)) != len(names):
        twice = next(name for i, name in enumerate(names) if name in names[:i])
        raise FormatError(f"two nodes have the same label {twice!r}")
    return names


def write_gml(graph: Graph, file: BinaryIO) -> None:
    """Write ``graph`` with its labels, and weights with the shortest exact digits."""
    file.writelines(f"{line}\n".encode("ascii") for line in _lines(graph))


def _lines(graph: Graph) -> Iterator[str]:
    source, target, weights = graph.edges()
    names, kind = written_names(graph)
    yield "graph ["
    yield f"directed {int(graph.directed)}"
    yield f'{LABELS_NOTE} "{kind}"'
    columns = _written(graph)
    for i, name in enumerate(names):
        cells = "".join(f" {key} {_cell(cells[i])}" for key, cells in columns.items() if cells[i] is not None)
        yield f"node [ id {i} label {_quoted(name)}{cells} ]"
    for k, (i, j) in enumerate(zip(source, target, strict=True)):
        weight = "" if weights is None else f" weight {_real(float(weights[k]))}"
        yield f"edge [ source {i} target {j}{weight} ]"
    yield "]"


def _written(graph: Graph) -> dict[str, list[Any]]:
    """Return the columns and coordinates of the node table that GML can hold."""
    columns = with_axes(graph.nodes)
    odd = next((name for name in columns if name in NODE_KEYS or not _KEY.fullmatch(name)), None)
    if odd is not None:
        raise FormatError(f"column {odd!r} cannot be a key of GML; use another name or another format")
    return columns


def _cell(value: Any) -> str:
    if isinstance(value, str):
        return _quoted(value)
    return _real(value) if isinstance(value, float) else str(int(value))


def _quoted(text: str) -> str:
    return '"' + _ESCAPED.sub(lambda c: f"&#{ord(c[0])};", text) + '"'


def _real(weight: float) -> str:
    """Return the shortest exact digits with a decimal point, which distinguishes a real from an integer in GML."""
    if not math.isfinite(weight):
        return repr(weight).upper()
    digits, mark, exponent = repr(weight).upper().partition("E")
    return digits + (".0" if "." not in digits else "") + mark + exponent
