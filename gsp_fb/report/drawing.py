"""The drawn part of a graph with its signals, and what the page's script reads of it.

The part is the whole graph, or a neighbourhood if it is too large to filter live.
"""

from __future__ import annotations

import base64
import math
from typing import Any

import numpy as np

from .._document import format_fact
from ..backend import FloatArray, IntArray
from ..graph import Graph
from ..plot.layouts import positions
from ..variants import VARIANTS
from .facts import Drawing
from .responses import RESPONSES
from .signals import Signals

__all__ = ["LIVE_ENTRIES", "LIVE_NODES", "make_drawing", "neighbourhood", "pack", "payload"]

# What a phone still filters between two frames, and what keeps the file small.
LIVE_NODES = 5000
LIVE_ENTRIES = 160_000
SAMPLE_NODES = 600
NAME_LENGTH = 80
# Columns of the node table that a tool-tip shows.
COLUMNS = 6


def make_drawing(graph: Graph, signals: Signals, rng: np.random.Generator) -> Drawing:
    """Return positions, structure and signals of the nodes that are drawn.

    >>> from gsp_fb.report.signals import make_signals
    >>> g = Graph.from_edges([(0, 1), (1, 2)])
    >>> make_drawing(g, make_signals(g, None, None, {}), np.random.default_rng(0)).live
    True
    """
    real = graph.weights is None or not np.iscomplexobj(graph.weights)
    live = real and graph.n_nodes <= LIVE_NODES and len(graph.indices) <= LIVE_ENTRIES
    nodes = np.arange(graph.n_nodes) if live else neighbourhood(graph, SAMPLE_NODES)
    part = graph if live else Graph.from_adjacency(graph.adjacency[nodes][:, nodes], directed=graph.directed)
    own = graph.coordinates is not None
    at = positions(graph)[nodes] if own else positions(part, "communities", rng=rng)
    table = graph.nodes.take(nodes)
    return Drawing(
        nodes=nodes,
        positions=_framed(at * [1.0, -1.0], keep_shape=own),  # a page counts downwards
        indptr=part.indptr,
        indices=part.indices,
        weights=part.weights,
        signals={title: values[nodes] for title, values in signals.drawn.items()},
        names=[str(node if graph.labels is None else graph.labels[node])[:NAME_LENGTH] for node in nodes],
        live=live,
        directed=graph.directed,
        classes=None if signals.classes is None else signals.classes[nodes],
        class_names=tuple(name[:NAME_LENGTH] for name in signals.class_names),
        columns={name: [_cell(value) for value in table[name].tolist()] for name in list(table)[:COLUMNS]},
        keep_shape=own,
    )


def _cell(value: Any) -> str | None:
    """Return a cell of the node table as text; None where it is empty."""
    if value is None or (isinstance(value, float) and math.isnan(value)):
        return None
    return format_fact(value)[:NAME_LENGTH]


def neighbourhood(graph: Graph, size: int) -> IntArray:
    """Return up to ``size`` nodes around the node of largest degree, in breadth-first order, in ascending order.

    >>> neighbourhood(Graph.from_edges([(0, 1), (1, 2), (2, 3), (1, 4)]), 4)
    array([0, 1, 2, 4])
    """
    found = np.array([int(np.argmax(graph.degrees))])
    seen = np.zeros(graph.n_nodes, dtype=bool)
    ring = found
    while ring.size and found.size < size:
        seen[ring] = True
        spans = [graph.indices[graph.indptr[node] : graph.indptr[node + 1]] for node in ring]
        ring = np.unique(np.concatenate(spans))
        ring = ring[~seen[ring]][: size - found.size]
        found = np.concatenate([found, ring])
    return np.sort(found)


def _framed(at: FloatArray, *, keep_shape: bool) -> FloatArray:
    """Return the coordinates scaled to the unit square with a small margin; both axes alike to keep the shape."""
    low, high = at.min(axis=0), at.max(axis=0)
    span = np.full(2, (high - low).max()) if keep_shape else high - low
    span = np.where(span > 0, span, 1.0)
    return np.asarray(0.5 + 0.96 * (at - (low + high) / 2) / span)


def pack(array: Any, kind: str) -> dict[str, str]:
    """Return an array as base64 of its little-endian bytes, for a typed array of JavaScript.

    >>> pack([1, 2], "u4")
    {'kind': 'u4', 'base64': 'AQAAAAIAAAA='}
    """
    content = np.ascontiguousarray(array, dtype=f"<{kind}").tobytes()
    return {"kind": kind, "base64": base64.b64encode(content).decode()}


def payload(drawing: Drawing, family: str) -> dict[str, Any]:
    """Return what the spectral view reads: the drawing with its signals, and the tables of variants and responses."""
    families = [
        {"name": name, "title": f"{name}: {row.title}", "loops": row.loops, "norm": row.norm}
        for name, row in VARIANTS.items()
    ]
    offered = {name: row for name, row in RESPONSES.items() if name == "pair" or not drawing.directed}
    return {
        "live": drawing.live,
        "directed": drawing.directed,
        "family": family,
        "families": families,
        "responses": [row.script(name) for name, row in offered.items()],
        "names": drawing.names,
        "positions": pack(drawing.positions, "f4"),
        "keep_shape": drawing.keep_shape,
        "indptr": pack(drawing.indptr, "u4"),
        "indices": pack(drawing.indices, "u4"),
        "weights": None if drawing.weights is None else pack(drawing.weights, "f8"),
        "signals": [{"title": title, "values": pack(values, "f8")} for title, values in drawing.signals.items()],
        # An unlabelled node is -1, the largest number without a sign.
        "classes": None if drawing.classes is None else pack(drawing.classes.astype(np.int32).view(np.uint32), "u4"),
        "class_names": list(drawing.class_names),
        "columns": [{"title": title, "values": values} for title, values in drawing.columns.items()],
    }
