"""PyGSP graphs: a weight matrix."""

from __future__ import annotations

from typing import Any

from scipy import sparse

from .._extras import require
from ..graph import Graph
from ._common import check_direction

__all__ = ["from_pygsp", "to_pygsp"]


def from_pygsp(G: Any, *, directed: bool = False, symmetrize: str | None = None, loops: str = "keep") -> Graph:
    """Return the graph of a PyGSP one.

    Parameters
    ----------
    G : pygsp.graphs.Graph
        Its weight matrix ``W`` is copied; coordinates and signals stay behind.
    directed, symmetrize, loops
        As in :meth:`Graph.from_adjacency`.

    Raises
    ------
    GraphError
        ``G`` is directed and neither option says what that means, or has a weight that is negative (PyGSP only
        logs those) or not finite.

    Examples
    --------
    >>> from types import SimpleNamespace
    >>> from_pygsp(SimpleNamespace(W=sparse.csr_array([[0, 2], [2, 0]]), is_directed=lambda: False)).degrees
    array([2., 2.])
    """
    check_direction(G.is_directed(), directed, symmetrize)
    return Graph.from_adjacency(G.W, directed=directed, symmetrize=symmetrize if G.is_directed() else None, loops=loops)


def to_pygsp(graph: Graph) -> Any:
    """Return a ``pygsp.graphs.Graph`` with the adjacency as its weight matrix.

    Examples
    --------
    >>> to_pygsp(Graph.from_edges([(0, 1), (1, 2)])).W.toarray().tolist()
    [[0.0, 1.0, 0.0], [1.0, 0.0, 1.0], [0.0, 1.0, 0.0]]
    """
    # A copy, and of the older matrix kind: PyGSP multiplies with * and may change what it is given.
    weights = sparse.csr_matrix(graph.adjacency, copy=True)
    return require("pygsp.graphs", "conversion to PyGSP").Graph(weights)
