"""Homophily of labels on a stored graph, from two counts a node that one pass over the edges gives.

The measures are those of :mod:`gsp_fb.energy`: self-loops and weights do not count, and an edge with an unlabelled
end (a negative label) is left out.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from .._arguments import check_labels
from ..backend import IntArray
from .graph import StoredGraph

__all__ = ["class_homophily", "edge_homophily", "node_homophily"]

NAN = float("nan")


def node_homophily(graph: StoredGraph, y: Any) -> float:
    """Return the mean share of a node's neighbours with its own label, as :func:`gsp_fb.node_homophily`.

    Examples
    --------
    >>> import tempfile
    >>> from gsp_fb import Graph
    >>> from gsp_fb.outofcore import open_graph, write_folder
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     write_folder(Graph.from_edges([(0, 1), (1, 2)]), f"{folder}/path.npyd")
    ...     node_homophily(open_graph(f"{folder}/path.npyd"), [0, 0, 1])
    0.5
    """
    count, alike = _counts(graph, check_labels(y, graph.n_nodes))
    met = count > 0
    return float(np.mean(alike[met] / count[met])) if met.any() else NAN


def edge_homophily(graph: StoredGraph, y: Any) -> float:
    """Return the share of edges whose ends have the same label, as :func:`gsp_fb.edge_homophily`.

    Examples
    --------
    >>> import tempfile
    >>> from gsp_fb import Graph
    >>> from gsp_fb.outofcore import open_graph, write_folder
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     write_folder(Graph.from_edges([(0, 1), (1, 2)]), f"{folder}/path.npyd")
    ...     edge_homophily(open_graph(f"{folder}/path.npyd"), [0, 0, 1])
    0.5
    """
    count, alike = _counts(graph, check_labels(y, graph.n_nodes))
    return float(alike.sum() / count.sum()) if count.any() else NAN


def class_homophily(graph: StoredGraph, y: Any) -> float:
    """Return the excess of same-label ends over the classes' shares, as :func:`gsp_fb.class_homophily`.

    Examples
    --------
    >>> import tempfile
    >>> from gsp_fb import Graph
    >>> from gsp_fb.outofcore import open_graph, write_folder
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     write_folder(Graph.from_edges([(0, 1), (2, 3)]), f"{folder}/pairs.npyd")
    ...     class_homophily(open_graph(f"{folder}/pairs.npyd"), [0, 0, 1, 1])
    1.0
    """
    y = check_labels(y, graph.n_nodes)
    labelled = y >= 0
    share = np.bincount(y[labelled]) / max(1, int(np.count_nonzero(labelled)))
    n_classes = np.count_nonzero(share)
    if n_classes < 2:
        return NAN
    ends, same = (np.bincount(y[labelled], weights=part[labelled]) for part in _counts(graph, y))
    return float(np.maximum(same / np.maximum(ends, 1) - share, 0.0).sum() / (n_classes - 1))


def _counts(graph: StoredGraph, y: IntArray) -> tuple[IntArray, IntArray]:
    """Return for each node how many labelled neighbours it has, and how many of them have its own label."""
    n_neighbours, n_alike = np.zeros((2, graph.n_nodes), dtype=np.int64)
    # Every entry gathers a label, so the table of labels is kept as short as it can be.
    labels = np.maximum(y, -1).astype(np.min_scalar_type(-1 - int(y.max(initial=0))))
    for chunk in graph.chunks("labels"):
        own, other = chunk.of_rows(labels), labels[chunk.indices]
        counted = (own >= 0) & (other >= 0)
        if graph.n_loops:
            counted &= chunk.rows != chunk.indices
        chunk.add_counts(counted, n_neighbours)
        chunk.add_counts(counted & (own == other), n_alike)
    return n_neighbours, n_alike
