"""Node names in files: which can be stored, how they are restored, and the header that carries them."""

from __future__ import annotations

import json
from collections.abc import Hashable, Sequence
from dataclasses import dataclass
from itertools import chain
from numbers import Integral
from typing import Any

import numpy as np

from ..backend import IntArray
from ..errors import FormatError
from ..graph import Graph
from ..nodes import NodeTable
from ._nodes import dump_nodes, load_nodes
from ._parsed import Labels

__all__ = [
    "Header",
    "dump_labels",
    "label_kind",
    "load_json",
    "load_labels",
    "names_to_pairs",
    "node_names",
    "restore_labels",
    "writable_labels",
]

VERSION = 1


def writable_labels(labels: tuple[Hashable, ...] | None) -> Labels:
    """Return ``labels`` if a file can store them: either all text or all integers."""
    if labels is None:
        return None
    if all(_is_int64(name) for name in labels):
        return tuple(int(name) for name in labels)  # type: ignore[call-overload]  # checked by _is_int64
    odd = next((name for name in labels if not isinstance(name, str) or not _encodes(name)), None)
    if odd is not None:
        raise FormatError(f"label {odd!r} cannot be written; labels must be all text or all 64-bit integers")
    return tuple(str(name) for name in labels)


def _is_int64(name: Any) -> bool:
    return not isinstance(name, bool) and isinstance(name, Integral) and -(2**63) <= int(name) < 2**63


def _encodes(name: str) -> bool:
    try:
        name.encode("utf-8")
    except UnicodeEncodeError:
        return False
    return True


def label_kind(labels: Labels) -> str:
    """Return 'none', 'int' or 'str': the note with which text formats restore the type of the labels."""
    if labels is None:
        return "none"
    return "int" if labels and isinstance(labels[0], int) else "str"


def node_names(graph: Graph) -> list[str]:
    """Return the node names in text formats: the labels, or the node numbers."""
    names = writable_labels(graph.labels)
    return [str(name) for name in (range(graph.n_nodes) if names is None else names)]


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


def dump_labels(labels: Labels) -> bytes:
    """Return ``labels`` as ASCII JSON."""
    return json.dumps(labels).encode()


def load_labels(text: bytes, n_nodes: int) -> Labels:
    """Return the labels that :func:`dump_labels` wrote for ``n_nodes`` nodes, or raise FormatError."""
    return _check_labels(load_json(text), n_nodes)


def load_json(text: str | bytes) -> Any:
    """Return the value of a JSON text, or raise FormatError."""
    try:
        return json.loads(text)
    except (ValueError, RecursionError) as bad:
        raise FormatError(f"broken JSON: {bad}") from None


def _check_labels(labels: Any, n_nodes: int) -> Labels:
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

    @property
    def table(self) -> NodeTable:
        """The node table."""
        return load_nodes(self.nodes, self.n_nodes, self.labels)

    def dumps(self) -> str:
        """Return the header as one line of ASCII."""
        facts = {"gsp_fb": VERSION} | vars(self)
        return json.dumps(facts if self.nodes is not None else {k: v for k, v in facts.items() if k != "nodes"})

    @classmethod
    def loads(cls, text: str | bytes) -> Header:
        """Return the header that :meth:`dumps` wrote, or raise FormatError."""
        header = load_json(text)
        if not isinstance(header, dict) or header.pop("gsp_fb", None) != VERSION:
            raise FormatError(f"the gsp_fb header is not of version {VERSION}; update gsp_fb to read it")
        if (
            set(header) - {"nodes"} != {"n_nodes", "n_edges", "directed", "labels"}
            or type(header["directed"]) is not bool
        ):
            raise FormatError("broken gsp_fb header: n_nodes, n_edges, directed and labels are required")
        if any(type(header[key]) is not int or header[key] < 0 for key in ("n_nodes", "n_edges")):
            raise FormatError("broken gsp_fb header: n_nodes and n_edges must be integers >= 0")
        return cls(**header | {"labels": _check_labels(header["labels"], header["n_nodes"])})

    def check_complete(self, n_listed: int) -> None:
        """Raise FormatError unless the number of edges read is the number written."""
        if n_listed != self.n_edges:
            raise FormatError(f"{n_listed} edges found, {self.n_edges} written; the file is damaged or truncated")
