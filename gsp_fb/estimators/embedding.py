"""Coordinates of nodes: the smoothest, or the roughest, modes of the graph."""

from __future__ import annotations

from typing import Any

from sklearn.base import ClassNamePrefixFeaturesOutMixin, TransformerMixin
from sklearn.neighbors import KNeighborsRegressor
from sklearn.utils.validation import check_is_fitted

from .._arguments import check_count
from ..backend import FloatArray
from ..errors import ParameterError
from ..graph import Graph
from ..operators import operator
from ..spectrum import spectrum
from ._base import GraphEstimator
from ._rows import as_graph, nearest_rows, row_numbers

__all__ = ["GraphSpectralEmbedding"]


class GraphSpectralEmbedding(ClassNamePrefixFeaturesOutMixin, TransformerMixin, GraphEstimator):  # type: ignore[misc]  # scikit-learn ships no types
    r"""Embed nodes by eigenvectors of a high channel ``L``: :math:`L u_k = \lambda_k u_k`, one mode a column.

    With ``family='rw'`` and the low end these are Laplacian eigenmaps, :math:`D^{-1/2}` times the modes of
    :math:`L_{sym}`.

    Parameters
    ----------
    graph : Graph, adjacency matrix or None
        ``X`` then has one row a node; its values are not used. None: the ``n_neighbors`` nearest rows of each row,
        made symmetric by the mean of both directions.
    n_components : int
        Number of modes.
    family : str
        A row of the table of variants, see :func:`gsp_fb.operator`.
    gamma : float > 0, optional
    which : {'low', 'high'}
        The smooth end of the frequency axis, or the rough one.
    drop_first : bool
        Leave out the smoothest mode, which is constant for random-walk families; only at the low end.
    numbered : bool
        With ``graph``: ``X`` is a column of node numbers instead of one row a node.
    n_neighbors : int
        Where the graph is made from ``X``; at most all rows are used.

    Attributes
    ----------
    graph_ : Graph
    embedding_ : array, shape (n_nodes, n_components)
    frequencies_ : array, shape (n_components,)

    Notes
    -----
    Without a graph, a row that was not seen in fit gets the mean of the modes of its nearest training rows, weighted
    by one over the distance; a row that was seen gets its own.

    Examples
    --------
    >>> import gsp_fb as gf
    >>> path = gf.Graph.from_edges([(0, 1), (1, 2)])
    >>> GraphSpectralEmbedding(path, n_components=1).fit_transform([[0.0], [0.0], [0.0]]).round(4)
    array([[ 0.7071],
           [ 0.    ],
           [-0.7071]])
    """

    def __init__(
        self,
        graph: Any = None,
        *,
        n_components: int = 2,
        family: str = "rw",
        gamma: float | None = None,
        which: str = "low",
        drop_first: bool = True,
        numbered: bool = False,
        n_neighbors: int = 10,
    ) -> None:
        self.graph = graph
        self.n_components = n_components
        self.family = family
        self.gamma = gamma
        self.which = which
        self.drop_first = drop_first
        self.numbered = numbered
        self.n_neighbors = n_neighbors

    def fit(self, X: Any, y: Any = None) -> GraphSpectralEmbedding:
        """Compute the modes.

        Parameters
        ----------
        X : array_like or sparse, shape (n_samples, n_features)
        y : ignored
        """
        if self.graph is None and self.numbered:
            raise ParameterError("numbered=True says that X holds numbers of nodes; give their graph= with it")
        X = self._checked(X, reset=True, ensure_min_samples=1 if self.numbered else 2)
        self.graph_ = self._neighbour_graph(X) if self.graph is None else as_graph(self.graph)
        self.embedding_, self.frequencies_ = self._modes()
        self._extension = self._interpolation(X) if self.graph is None else None
        self._coordinates(X)
        return self

    def _neighbour_graph(self, X: Any) -> Graph:
        _, arcs = nearest_rows(X, self.n_neighbors)
        # A loop at every node would only pull the frequencies together.
        return Graph.from_adjacency(arcs, symmetrize="mean", loops="drop")

    def _modes(self) -> tuple[FloatArray, FloatArray]:
        count = check_count(self.n_components, "n_components")
        skipped = int(self.drop_first and self.which == "low")
        if count + skipped > self.graph_.n_nodes:
            after = " after the first" if skipped else ""
            raise ParameterError(f"n_components={count} modes{after} asked of {self.graph_.n_nodes} nodes")
        modes = spectrum(operator(self.graph_, self.family, "high", self.gamma), count + skipped, self.which)
        return modes.basis[:, skipped:], modes.frequencies[skipped:]

    def _interpolation(self, X: Any) -> KNeighborsRegressor:
        count = min(self.n_neighbors, X.shape[0])
        return KNeighborsRegressor(n_neighbors=count, weights="distance").fit(X, self.embedding_)

    def _coordinates(self, X: Any) -> FloatArray:
        if self._extension is None:
            return self.embedding_[row_numbers(X, self.graph_, numbered=self.numbered)]
        found: FloatArray = self._extension.predict(X)
        return found

    def transform(self, X: Any) -> FloatArray:
        """Return the coordinates of every row, shape (n_samples, n_components).

        Parameters
        ----------
        X : array_like or sparse, shape (n_samples, n_features)
        """
        check_is_fitted(self, "embedding_")
        return self._coordinates(self._checked(X))

    @property
    def _n_features_out(self) -> int:
        return int(self.embedding_.shape[1])
