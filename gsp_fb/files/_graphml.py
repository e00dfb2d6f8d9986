"""GraphML through the standard library's expat; document types are rejected, so no entity is expanded."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from itertools import product
from typing import Any, BinaryIO, NamedTuple, NoReturn
from xml.parsers import expat

from .._attributes import WEIGHT
from ..errors import FormatError
from ..graph import Graph
from ._limits import parser_errors
from ._nodes import LABELS_NOTE, named_table, restore_labels, with_axes, written_names
from ._parsed import Edges, NamedEdges, Options

__all__ = ["read_graphml", "write_graphml"]

NAMESPACE = "http://graphml.graphdrawing.org/xmlns"
# What a value is, by the type of its key.
TYPES: dict[str, Callable[[str], Any]] = {
    "boolean": lambda text: {"true": True, "1": True, "false": False, "0": False}[text.strip().lower()],
    **dict.fromkeys(("int", "long", "integer"), int),
    **dict.fromkeys(("float", "double"), float),
}
# Accepted encodings. Expat passes any other name to Python's codec registry, so the list is closed.
ENCODINGS = re.compile(r"utf-?(8|16)|us-ascii|iso-8859-\d+|windows-125\d", re.IGNORECASE)
# Elements that have values inside.
DESCRIBED = ("key", "graph", "node", "edge")
_DIRECTED = {"directed": True, "undirected": False, "true": True, "false": False}
_NOT_XML = re.compile("[^\t\n\r -\ud7ff\ue000-\ufffd\U00010000-\U0010ffff]")


def read_graphml(file: BinaryIO, options: Options) -> Edges:
    """Return the one graph in ``file``; node ids become labels, the edge attribute ``weight`` the weights."""
    reader = _Reader()
    with parser_errors("not well-formed XML", (expat.ExpatError, LookupError, ValueError)):
        reader.parser.ParseFile(file)
    if reader.directed is None:
        raise FormatError("no <graph> element")
    return reader.edges(options.weight)


class _Key(NamedTuple):
    """An attribute: its name, the elements that have it, its type and default."""

    name: str
    domain: str
    kind: str
    default: Any = None


class _Reader:
    """State of one pass over a document: the edges found so far and the stack of open elements.

    ``_start_NAME`` is called with the attributes of an element that opens, ``_describe`` with a value inside one.
    """

    def __init__(self) -> None:
        self.found = NamedEdges()
        self.directed: bool | None = None
        self.kind: str | None = None
        self._keys: dict[str, _Key] = {}
        self._open: list[str] = []
        self._key = ""
        self._text: list[str] = []
        self.parser = expat.ParserCreate(namespace_separator=" ")
        self.parser.XmlDeclHandler = self._declaration
        self.parser.StartDoctypeDeclHandler = self._doctype
        self.parser.StartElementHandler = self._start
        self.parser.EndElementHandler = self._end
        self.parser.CharacterDataHandler = self._text.append

    def _refuse(self, why: str) -> NoReturn:
        raise FormatError(f"line {self.parser.CurrentLineNumber}: {why}")

    def _declaration(self, version: str, encoding: str | None, standalone: int) -> None:
        if encoding is not None and not ENCODINGS.fullmatch(encoding):
            self._refuse(f"encoding {encoding[:40]!r} is not supported; save the file as UTF-8")

    def _doctype(self, *declaration: object) -> None:
        self._refuse("a document type is declared; entities are not supported")

    def _start(self, name: str, attributes: dict[str, str]) -> None:
        element = name.rpartition(" ")[2]
        self._open.append(element)
        self._text.clear()
        start = getattr(self, f"_start_{element}", None)  # other elements do not describe the graph
        if start is not None:
            start(attributes)

    def _end(self, name: str) -> None:
        element, key = self._open.pop(), self._keys.get(self._key)
        parent = self._open[-1] if self._open else ""
        if element in ("default", "data") and parent in DESCRIBED and key is not None and self._text:
            self._describe(parent, key, self._value(key))
        self._text.clear()

    def _describe(self, element: str, key: _Key, value: Any) -> None:
        if element == "key":
            self._keys[self._key] = key._replace(default=value)
        elif element != "graph":
            self.found.describe(element, key.name, value)
        elif key.name == LABELS_NOTE:
            self.kind = value

    def _value(self, key: _Key) -> Any:
        text = "".join(self._text)
        try:
            return TYPES.get(key.kind, str)(text)
        except (ValueError, KeyError):
            what = "true or false" if key.kind == "boolean" else f"a number of type {key.kind}"
            self._refuse(f"{key.name} {text[:40]!r} is not {what}")

    def edges(self, weight: str | None) -> Edges:
        """Return what was found: attributes of nodes as their table, the chosen attribute of edges as weights."""
        found, n_nodes = self.found, len(self.found.nodes)
        for key, (kind, described) in product(self._keys.values(), found.cells.items()):
            if key.default is not None and key.domain in (kind, "all"):
                given = described.get(key.name, {})
                described[key.name] = {k: given.get(k, key.default) for k in range(found.count(kind))}
        cells, names = found.cells["node"], [str(name) for name in found.nodes]
        given, are_default = cells.get("name", {}), self.kind is None and names == [f"n{i}" for i in range(n_nodes)]
        if are_default and len(given) == n_nodes == len({name for name in given.values() if isinstance(name, str)}):
            # igraph numbers the nodes n0, n1, ... and keeps their names as an attribute.
            names = [given[i] for i in range(n_nodes)]
            cells.pop("name", None)
        table = named_table(restore_labels(names, self.kind), n_nodes, cells)
        return found.edges(bool(self.directed), table, weight)

    def _need(self, attributes: dict[str, str], name: str) -> str:
        if name not in attributes:
            self._refuse(f"<{self._open[-1]}> has no attribute {name!r}")
        return attributes[name]

    def _start_key(self, attributes: dict[str, str]) -> None:
        self._key = self._need(attributes, "id")
        kind, domain = attributes.get("attr.type", "string"), attributes.get("for", "all")
        if "attr.name" in attributes:
            # Keys without a name hold drawings of an editor.
            name = attributes["attr.name"]
            kind = "double" if kind == "string" and name == WEIGHT and domain != "node" else kind
            self._keys[self._key] = _Key(name, domain, kind)

    def _start_data(self, attributes: dict[str, str]) -> None:
        self._key = self._need(attributes, "key")

    def _start_graph(self, attributes: dict[str, str]) -> None:
        if self.directed is not None:
            self._refuse("a second or nested graph; a file must contain exactly one")
        self.directed = _DIRECTED.get(self._need(attributes, "edgedefault"))
        if self.directed is None:
            self._refuse(f"edgedefault is {attributes['edgedefault']!r}; it must be directed or undirected")

    def _start_node(self, attributes: dict[str, str]) -> None:
        if not self.found.add_node(self._need(attributes, "id")):
            self._refuse(f"node {attributes['id']!r} occurs twice")

    def _start_edge(self, attributes: dict[str, str]) -> None:
        if _DIRECTED.get(attributes.get("directed", ""), self.directed) is not self.directed:
            self._refuse("directed and undirected edges are mixed; all edges of a graph must be of one kind")
        self.found.ends.append((self._need(attributes, "source"), self._need(attributes, "target")))

    def _start_hyperedge(self, attributes: dict[str, str]) -> None:
        self._refuse("hyperedges are not supported; an edge joins two nodes")


def write_graphml(graph: Graph, file: BinaryIO) -> None:
    """Write ``graph`` with its labels as node ids, and weights with the shortest exact digits."""
    file.writelines(f"{line}\n".encode() for line in _lines(graph))


def _lines(graph: Graph) -> Iterator[str]:
    plain, kind = written_names(graph)
    names = [_quoted(name) for name in plain]
    source, target, weights = graph.edges()
    yield "<?xml version='1.0' encoding='utf-8'?>"
    yield f'<graphml xmlns="{NAMESPACE}">'
    yield f'<key id="labels" for="graph" attr.name="{LABELS_NOTE}" attr.type="string"/>'
    yield '<key id="weight" for="edge" attr.name="weight" attr.type="double"/>'
    columns = with_axes(graph.nodes)
    for k, (name, cells) in enumerate(columns.items()):
        yield f'<key id="d{k}" for="node" attr.name={_quoted(name)} attr.type="{_kind(cells)}"/>'
    yield f'<graph edgedefault="{"directed" if graph.directed else "undirected"}">'
    yield f'<data key="labels">{kind}</data>'
    for i, name in enumerate(names):
        data = "".join(f'<data key="d{k}">{_text(cells[i])}</data>' for k, cells in enumerate(columns.values()))
        yield f"<node id={name}>{data}</node>" if columns else f"<node id={name}/>"
    for k, (i, j) in enumerate(zip(source, target, strict=True)):
        data = "" if weights is None else f'<data key="weight">{float(weights[k])!r}</data>'
        yield f"<edge source={names[i]} target={names[j]}>{data}</edge>"
    yield "</graph>"
    yield "</graphml>"


def _quoted(name: str) -> str:
    illegal = _NOT_XML.search(name)
    if illegal:
        raise FormatError(f"label {name!r} has the character {illegal[0]!r}, which XML cannot hold; use another format")
    from xml.sax.saxutils import quoteattr  # imports much of urllib, so only where it is needed

    return quoteattr(name)


def _kind(cells: list[Any]) -> str:
    """Return the type of a column: that of its cells, text if they differ."""
    kinds = {type(cell) for cell in cells if cell is not None}
    return {bool: "boolean", int: "long", float: "double"}.get(kinds.pop(), "string") if len(kinds) == 1 else "string"


def _text(cell: Any) -> str:
    return "" if cell is None else _quoted(str(cell))[1:-1]
