"""PyGSP graphs: a weighted adjacency matrix."""

from __future__ import annotations

from typing import Any

import numpy as np
from scipy import sparse

from .._build import check_direction
from .._extras import require
from ..graph import Graph

__all__ = ["from_pygsp", "to_pygsp"]


def from_pygsp(
    G: Any, *, directed: bool = False, symmetrize: str | None = None, loops: str = "keep", signed: bool = False
) -> Graph:
    """Convert a PyGSP graph.

    Parameters
    ----------
    G : pygsp.graphs.Graph
        ``W`` is copied, ``coords`` of two or three columns become coordinates, ``signals`` columns of the node table.
    directed, symmetrize, loops, signed
        As in :meth:`Graph.from_edges`.

    Returns
    -------
    Graph
        Without names.

    Raises
    ------
    GraphError
        As for :func:`from_networkx`; PyGSP itself only logs negative weights.

    See Also
    --------
    to_pygsp : The inverse.
    from_networkx : From networkx.

    Examples
    --------
    >>> from types import SimpleNamespace
    >>> from_pygsp(SimpleNamespace(W=sparse.csr_array([[0, 2], [2, 0]]), is_directed=lambda: False)).degrees
    array([2., 2.])
    """
    check_direction(G.is_directed(), directed, symmetrize)
    rule, signals = symmetrize if G.is_directed() else None, getattr(G, "signals", None) or None
    graph = Graph.from_adjacency(G.W, directed=directed, symmetrize=rule, loops=loops, signed=signed, nodes=signals)
    coords = np.asarray(getattr(G, "coords", np.empty(0)))
    return graph.with_coordinates(coords) if coords.ndim == 2 and coords.shape[1] in (2, 3) else graph


def to_pygsp(graph: Graph) -> Any:
    """Convert to a ``pygsp.graphs.Graph``.

    Parameters
    ----------
    graph : Graph
        Its adjacency becomes the weight matrix, its coordinates ``coords`` and numeric columns of the node table
        ``signals``; names and other columns are omitted.

    Returns
    -------
    pygsp.graphs.Graph
        With a copy of the adjacency.

    Raises
    ------
    GraphError
        The weights are complex: PyGSP takes a Hermitian matrix for a directed graph.
    ImportError
        pygsp is not installed.

    See Also
    --------
    from_pygsp : The inverse.
    to_networkx : To networkx.

    Examples
    --------
    >>> to_pygsp(Graph.from_edges([(0, 1), (1, 2)])).W.toarray().tolist()
    [[0.0, 1.0, 0.0], [1.0, 0.0, 1.0], [0.0, 1.0, 0.0]]
    """
    graph.check_real("a PyGSP graph", remedy="keep graph.adjacency")
    # A copy, as csr_matrix: PyGSP multiplies with * and may modify its argument.
    weights = sparse.csr_matrix(graph.adjacency, copy=True)
    made = require("pygsp.graphs", "conversion to PyGSP").Graph(weights)
    if graph.coordinates is not None:
        made.set_coordinates(graph.coordinates.copy())
    for name in graph.nodes.numeric:
        made.set_signal(graph.nodes[name].copy(), name)
    return made
