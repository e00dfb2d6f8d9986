"""GraphML through the standard library's expat; document types are rejected, so no entity is expanded."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from typing import BinaryIO, NoReturn
from xml.parsers import expat

from ..errors import FormatError
from ..graph import Graph
from ._labels import label_kind, node_names, restore_labels, writable_labels
from ._parsed import Edges, NamedEdges, Options

__all__ = ["read_graphml", "write_graphml"]

NAMESPACE = "http://graphml.graphdrawing.org/xmlns"
LABELS_NOTE = "gsp_fb_labels"
# Domain and name of the keys that are read.
ROLES = {("edge", "weight"), ("all", "weight"), ("graph", LABELS_NOTE)}
# Accepted encodings. Expat passes any other name to Python's codec registry, so the list is closed.
ENCODINGS = re.compile(r"utf-?(8|16)|us-ascii|iso-8859-\d+|windows-125\d", re.IGNORECASE)
_DIRECTED = {"directed": True, "undirected": False, "true": True, "false": False}
_NOT_XML = re.compile("[^\t\n\r -\ud7ff\ue000-\ufffd\U00010000-\U0010ffff]")


def read_graphml(file: BinaryIO, options: Options) -> Edges:
    """Return the one graph in ``file``; node ids become labels, the edge attribute ``weight`` the weights."""
    reader = _Reader()
    try:
        reader.parser.ParseFile(file)
    except FormatError:
        raise
    except (expat.ExpatError, LookupError, ValueError) as bad:
        raise FormatError(f"not well-formed XML: {bad}") from None
    if reader.directed is None:
        raise FormatError("no <graph> element")
    return reader.found.edges(reader.directed, restore_labels([str(name) for name in reader.found.nodes], reader.kind))


class _Reader:
    """State of one pass over a document: the edges found so far and the stack of open elements."""

    def __init__(self) -> None:
        self.found = NamedEdges()
        self.directed: bool | None = None
        self.kind: str | None = None
        self._default: float | None = None
        self._roles: dict[str, str] = {}
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
        if element in STARTS:
            STARTS[element](self, attributes)

    def _end(self, name: str) -> None:
        element = self._open.pop()
        role = self._roles.get(self._key)
        if element == "default" and role == "weight":
            self._default = self._number()
        elif element == "data" and role == "weight" and self._open[-1:] == ["edge"]:
            self.found.weights[-1] = self._number()
        elif element == "data" and role == LABELS_NOTE and self._open[-1:] == ["graph"]:
            self.kind = "".join(self._text)
        self._text.clear()

    def _number(self) -> float:
        text = "".join(self._text)
        try:
            return float(text)
        except ValueError:
            self._refuse(f"weight {text[:40]!r} is not a number")

    def _need(self, attributes: dict[str, str], name: str) -> str:
        if name not in attributes:
            self._refuse(f"<{self._open[-1]}> has no attribute {name!r}")
        return attributes[name]

    def start_key(self, attributes: dict[str, str]) -> None:
        """Record which key is the weight, and which holds the kind of labels."""
        self._key = self._need(attributes, "id")
        name = attributes.get("attr.name", "")
        if (attributes.get("for", "all"), name) in ROLES:
            self._roles[self._key] = name

    def start_data(self, attributes: dict[str, str]) -> None:
        """Record the key of the value that follows."""
        self._key = self._need(attributes, "key")

    def start_graph(self, attributes: dict[str, str]) -> None:
        """Read the direction of all edges."""
        if self.directed is not None:
            self._refuse("a second or nested graph; a file must contain exactly one")
        self.directed = _DIRECTED.get(self._need(attributes, "edgedefault"))
        if self.directed is None:
            self._refuse(f"edgedefault is {attributes['edgedefault']!r}; it must be directed or undirected")

    def start_node(self, attributes: dict[str, str]) -> None:
        """Add a node by its id."""
        if not self.found.add_node(self._need(attributes, "id")):
            self._refuse(f"node {attributes['id']!r} occurs twice")

    def start_edge(self, attributes: dict[str, str]) -> None:
        """Add an edge, with the default weight until its own is read."""
        if _DIRECTED.get(attributes.get("directed", ""), self.directed) is not self.directed:
            self._refuse("directed and undirected edges are mixed; all edges of a graph must be of one kind")
        self.found.add_edge(self._need(attributes, "source"), self._need(attributes, "target"), self._default)

    def start_hyperedge(self, attributes: dict[str, str]) -> None:
        """Reject edges between more than two nodes."""
        self._refuse("hyperedges are not supported; an edge joins two nodes")


# The elements that describe the graph; all others are ignored.
STARTS: dict[str, Callable[[_Reader, dict[str, str]], None]] = {
    "key": _Reader.start_key,
    "data": _Reader.start_data,
    "graph": _Reader.start_graph,
    "node": _Reader.start_node,
    "edge": _Reader.start_edge,
    "hyperedge": _Reader.start_hyperedge,
}


def write_graphml(graph: Graph, file: BinaryIO) -> None:
    """Write ``graph`` with its labels as node ids, and weights with the shortest exact digits."""
    for line in _lines(graph):
        file.write(f"{line}\n".encode())


def _lines(graph: Graph) -> Iterator[str]:
    names = [_quoted(name) for name in node_names(graph)]
    source, target, weights = graph.edges()
    yield "<?xml version='1.0' encoding='utf-8'?>"
    yield f'<graphml xmlns="{NAMESPACE}">'
    yield f'<key id="labels" for="graph" attr.name="{LABELS_NOTE}" attr.type="string"/>'
    yield '<key id="weight" for="edge" attr.name="weight" attr.type="double"/>'
    yield f'<graph edgedefault="{"directed" if graph.directed else "undirected"}">'
    yield f'<data key="labels">{label_kind(writable_labels(graph.labels))}</data>'
    yield from (f"<node id={name}/>" for name in names)
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
