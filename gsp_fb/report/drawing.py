"""The graph as the page draws it: all of it with its signals, or a neighbourhood where it is too large to filter."""

from __future__ import annotations

import numpy as np

from ..graph import Graph
from .facts import Drawing
from .layout import neighbourhood, node_positions
from .signals import Signals

__all__ = ["LIVE_ENTRIES", "LIVE_NODES", "make_drawing"]

# What a phone still filters between two frames, and what keeps the file small.
LIVE_NODES = 5000
LIVE_ENTRIES = 160_000
SAMPLE_NODES = 600
NAME_LENGTH = 80


def make_drawing(graph: Graph, signals: Signals, rng: np.random.Generator) -> Drawing:
    """Return positions, structure and signals of the nodes that are drawn.

    Examples
    --------
    >>> from gsp_fb.report.signals import make_signals
    >>> g = Graph.from_edges([(0, 1), (1, 2)])
    >>> make_drawing(g, make_signals(g, None, None, {}), np.random.default_rng(0)).live
    True
    """
    live = graph.n_nodes <= LIVE_NODES and len(graph.indices) <= LIVE_ENTRIES
    nodes = np.arange(graph.n_nodes) if live else neighbourhood(graph, SAMPLE_NODES)
    part = graph if live else Graph.from_adjacency(graph.adjacency[nodes][:, nodes], directed=graph.directed)
    return Drawing(
        nodes=nodes,
        positions=node_positions(part, rng),
        indptr=part.indptr,
        indices=part.indices,
        weights=part.weights,
        signals={title: values[nodes] for title, values in signals.drawn.items()},
        names=[str(node if graph.labels is None else graph.labels[node])[:NAME_LENGTH] for node in nodes],
        live=live,
    )
