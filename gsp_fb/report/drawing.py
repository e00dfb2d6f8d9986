"""The drawn part of a graph with its signals: the whole graph, or a neighbourhood if it is too large to filter live."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from .._document import format_fact
from ..backend import FloatArray, IntArray
from ..graph import Graph
from ..plot.layouts import positions
from .facts import Drawing
from .signals import Signals

__all__ = ["LIVE_ENTRIES", "LIVE_NODES", "make_drawing", "neighbourhood"]

# What a phone still filters between two frames, and what keeps the file small.
LIVE_NODES = 5000
LIVE_ENTRIES = 160_000
SAMPLE_NODES = 600
NAME_LENGTH = 80
# Columns of the node table that a tool-tip shows.
COLUMNS = 6


def make_drawing(graph: Graph, signals: Signals, rng: np.random.Generator) -> Drawing:
    """Return positions, structure and signals of the nodes that are drawn.

    Examples
    --------
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

    Examples
    --------
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
