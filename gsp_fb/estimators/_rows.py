"""Rows of ``X`` as nodes: all nodes in order, node numbers, or points with nearest neighbours; base classes."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from scipy import sparse
from sklearn.base import BaseEstimator
from sklearn.neighbors import NearestNeighbors
from sklearn.utils import check_array
from sklearn.utils.validation import check_is_fitted, validate_data

from .._arguments import check_count
from ..backend import FloatArray, IntArray, is_sparse
from ..errors import ParameterError, SignalError
from ..graph import Graph

__all__ = ["PRECISIONS", "GraphEstimator", "NodeNumbers", "Rows", "RowsEstimator", "Setting"]
__all__ += ["as_graph", "nearest_rows"]

PRECISIONS = (np.float64, np.float32)


@dataclass(frozen=True, eq=False)
class Rows:
    """Rows of ``X`` as nodes: their graph, the signal on all of its nodes, and the node of each row."""

    graph: Graph
    signal: Any
    nodes: IntArray


@dataclass(frozen=True, eq=False)
class Setting:
    """Meaning of the rows of a validated ``X``: here one row per node of the graph of the training rows, in order."""

    graph: Graph

    def place(self, X: Any) -> Rows:
        """Return rows as nodes."""
        n_nodes = self.graph.n_nodes
        if X.shape[0] != n_nodes:
            raise SignalError(
                f"X has {X.shape[0]} rows but the graph has {n_nodes} nodes; give all nodes in order, "
                "or give features= (all nodes) and a column of node numbers as X"
            )
        return Rows(self.graph, X, np.arange(n_nodes))


@dataclass(frozen=True, eq=False)
class NodeNumbers(Setting):
    """A column of node numbers; the features of all nodes are given, unless none are read."""

    features: Any = None

    def place(self, X: Any) -> Rows:
        """Return the numbered nodes."""
        n_nodes = self.graph.n_nodes
        if X.shape[1] != 1:
            raise SignalError(f"X has {X.shape[1]} columns; where it holds node numbers it has one")
        column: FloatArray = (X.toarray() if is_sparse(X) else X).ravel()
        bad = np.flatnonzero((column != np.floor(column)) | (column < 0) | (column >= n_nodes))
        if bad.size:
            raise SignalError(f"row {bad[0]} of X is {column[bad[0]]:g}; node numbers are 0..{n_nodes - 1}")
        return Rows(self.graph, self.features, column.astype(np.int64))


@dataclass(frozen=True, eq=False)
class NearestRows(Setting):
    """Points; each has an arc to its nearest training rows, including itself if it is one.

    A new row is a node with arcs to training rows and none from them. So it does not change the result of any other
    row, and a training row that is passed again has the result that it had in training.
    """

    index: NearestNeighbors
    points: Any

    def place(self, X: Any) -> Rows:
        """Return the rows as nodes appended to the training rows."""
        n_old, n_all = self.graph.n_nodes, self.graph.n_nodes + X.shape[0]
        arcs = sparse.vstack([self.graph.adjacency, self.index.kneighbors_graph(X)], format="csr")
        A = sparse.csr_array((arcs.data, arcs.indices, arcs.indptr), shape=(n_all, n_all))
        signal = sparse.vstack([self.points, X], format="csr") if is_sparse(X) else np.concatenate([self.points, X])
        return Rows(Graph.from_adjacency(A, directed=True), signal, np.arange(n_old, n_all))


def nearest_rows(X: Any, n_neighbors: int) -> tuple[NearestNeighbors, Any]:
    """Return the search index over the rows of ``X`` and their arcs; the first neighbour of a row is itself."""
    count = min(check_count(n_neighbors, "n_neighbors"), X.shape[0])
    index = NearestNeighbors(n_neighbors=count).fit(X)
    return index, index.kneighbors_graph(X)


def as_graph(graph: Any) -> Graph:
    """Return a ``Graph``, converting an adjacency matrix."""
    return graph if isinstance(graph, Graph) else Graph.from_adjacency(graph)


class GraphEstimator(BaseEstimator):  # type: ignore[misc]  # scikit-learn ships no types
    """An estimator that accepts dense and sparse ``X`` in single and double precision."""

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.sparse = True
        return tags

    def _checked(self, X: Any, *, reset: bool = False, **options: Any) -> Any:
        return validate_data(self, X, accept_sparse="csr", dtype=PRECISIONS, reset=reset, **options)


class RowsEstimator(GraphEstimator):
    """An estimator with the parameters ``graph``, ``features`` and ``n_neighbors``, which define what a row is."""

    graph: Any
    features: Any
    n_neighbors: int
    _setting: Setting

    @property
    def graph_(self) -> Graph:
        """The graph of the training rows."""
        check_is_fitted(self, "_setting")
        return self._setting.graph

    def _train_rows(self, X: Any) -> Rows:
        """Return the rows of a validated ``X``, and store their meaning under the parameters."""
        if self.graph is None:
            if self.features is not None:
                raise ParameterError("features= are those of the nodes of a graph; give graph= with them")
            index, arcs = nearest_rows(X, self.n_neighbors)
            self._setting = NearestRows(Graph.from_adjacency(arcs, directed=True), index, X)
            return Setting(self.graph_).place(X)  # in their own graph
        graph, known = as_graph(self.graph), self.features
        if known is not None:
            known = check_array(known, accept_sparse="csr", dtype=PRECISIONS, input_name="features")
            if known.shape[0] != graph.n_nodes:
                raise SignalError(f"features have {known.shape[0]} rows but the graph has {graph.n_nodes} nodes")
        self._setting = Setting(graph) if known is None else NodeNumbers(graph, known)
        return self._setting.place(X)

    def _rows(self, X: Any) -> Rows:
        check_is_fitted(self, "_setting")
        return self._setting.place(self._checked(X))
