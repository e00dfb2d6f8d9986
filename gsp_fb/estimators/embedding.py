"""Spectral embedding of nodes: eigenvectors of lowest or highest frequency."""

from __future__ import annotations

from dataclasses import KW_ONLY, dataclass
from typing import Any

import numpy as np
from sklearn.base import ClassNamePrefixFeaturesOutMixin, TransformerMixin
from sklearn.neighbors import KNeighborsRegressor
from sklearn.utils.validation import check_is_fitted

from .._arguments import check_count
from ..backend import FloatArray
from ..errors import ParameterError
from ..graph import Graph
from ..operators import operator
from ..spectrum import spectrum
from ._rows import GraphEstimator, NodeNumbers, Setting, as_graph, nearest_rows

__all__ = ["GraphSpectralEmbedding"]


@dataclass(eq=False, repr=False)
class GraphSpectralEmbedding(ClassNamePrefixFeaturesOutMixin, TransformerMixin, GraphEstimator):  # type: ignore[misc]  # scikit-learn ships no types
    r"""Embed nodes by eigenvectors of a high channel ``L``: :math:`L u_k = \lambda_k u_k`, one eigenvector per column.

    With ``family='rw'`` and ``which='low'`` these are Laplacian eigenmaps [1]_, :math:`D^{-1/2}` times the eigenvectors
    of :math:`L_{sym}`.

    Parameters
    ----------
    graph : Graph, adjacency matrix or None
        With a graph ``X`` has one row per node and its values are not used. None: the ``n_neighbors`` nearest rows of
        each row, symmetrised by the mean of both directions.
    n_components : int
        Number of eigenvectors.
    family : str
        A row of the table of families, see :func:`gsp_fb.operator`.
    gamma : float > 0, optional
        Weight of the added self-loops.
    which : {'low', 'high'}
        End of the frequency axis.
    drop_first : bool
        Omit the eigenvector of lowest frequency, which is constant for random-walk families; only for ``which='low'``.
    numbered : bool
        With ``graph``: ``X`` is a column of node numbers instead of one row per node.
    n_neighbors : int
        Number of neighbours if the graph is built from ``X``; at most the number of rows.

    Attributes
    ----------
    graph_ : Graph
        The graph of the training rows.
    embedding_, frequencies_ : arrays, shapes (n_nodes, n_components) and (n_components,)
        The eigenvectors and their eigenvalues.

    See Also
    --------
    gsp_fb.spectrum : The eigenvectors without scikit-learn.

    Notes
    -----
    Without a graph, a new row is the mean of the eigenvector entries of its nearest training rows, weighted by the
    inverse distance; a training row has its own entries.

    References
    ----------
    .. [1] M. Belkin, P. Niyogi, "Laplacian eigenmaps for dimensionality reduction and data representation", Neural
       Computation 15(6), 2003.

    Examples
    --------
    >>> from gsp_fb.datasets import path
    >>> GraphSpectralEmbedding(path(3), n_components=1).fit_transform([[0.0], [0.0], [0.0]]).round(4)
    array([[ 0.7071],
           [ 0.    ],
           [-0.7071]])
    """

    graph: Any = None
    _: KW_ONLY
    n_components: int = 2
    family: str = "rw"
    gamma: float | None = None
    which: str = "low"
    drop_first: bool = True
    numbered: bool = False
    n_neighbors: int = 10

    def fit(self, X: Any, y: Any = None) -> GraphSpectralEmbedding:
        """Compute the eigenvectors.

        Parameters
        ----------
        X : array_like or sparse, shape (n_samples, n_features)
            One row per node, a column of node numbers, or points.
        y : ignored

        Returns
        -------
        GraphSpectralEmbedding
        """
        if self.graph is None and self.numbered:
            raise ParameterError("numbered=True means that X holds node numbers; give their graph= with it")
        X = self._checked(X, reset=True, ensure_min_samples=1 if self.numbered else 2)
        self.graph_ = self._neighbour_graph(X) if self.graph is None else as_graph(self.graph)
        self.embedding_, self.frequencies_ = self._modes()
        index = KNeighborsRegressor(n_neighbors=min(self.n_neighbors, X.shape[0]), weights="distance")
        self._extension = index.fit(X, self.embedding_) if self.graph is None else None
        self._coordinates(X)
        return self

    def _neighbour_graph(self, X: Any) -> Graph:
        # kneighbors_graph has a self-loop at every node, which only compresses the spectrum.
        return Graph.from_adjacency(nearest_rows(X, self.n_neighbors)[1], symmetrize="mean", loops="drop")

    def _modes(self) -> tuple[FloatArray, FloatArray]:
        count = check_count(self.n_components, "n_components")
        skipped = int(self.drop_first and self.which == "low")
        if count + skipped > self.graph_.n_nodes:
            after = " after the first" if skipped else ""
            raise ParameterError(f"n_components={count} modes{after} requested of {self.graph_.n_nodes} nodes")
        modes = spectrum(operator(self.graph_, self.family, "high", self.gamma), count + skipped, self.which)
        return modes.basis[:, skipped:], modes.frequencies[skipped:]

    def _coordinates(self, X: Any) -> FloatArray:
        if self._extension is None:
            rows = NodeNumbers(self.graph_) if self.numbered else Setting(self.graph_)
            return self.embedding_[rows.place(X).nodes]
        return np.asarray(self._extension.predict(X))

    def transform(self, X: Any) -> FloatArray:
        """Return the coordinates of every row, shape (n_samples, n_components)."""
        check_is_fitted(self, "embedding_")
        return self._coordinates(self._checked(X))

    @property
    def _n_features_out(self) -> int:
        return int(self.embedding_.shape[1])
