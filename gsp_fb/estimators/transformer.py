"""Features filtered on the graph: the low and the high channel of every column."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import KW_ONLY, dataclass
from typing import Any

import numpy as np
from scipy import sparse
from sklearn.base import TransformerMixin
from sklearn.utils.validation import _check_feature_names_in, check_is_fitted

from .._arguments import check_choice
from ..backend import is_sparse
from ..filters import FilterBank, two_channel
from ..filters.kernels import as_kernel
from ..graph import Graph
from ..operators import operator
from ._rows import RowsEstimator

__all__ = ["FilterBankTransformer"]

# The bands to return: the low one is first.
CHANNELS = {"both": slice(None), "low": slice(0, 1), "high": slice(1, None)}


@dataclass(eq=False, repr=False)
class FilterBankTransformer(TransformerMixin, RowsEstimator):  # type: ignore[misc]  # scikit-learn ships no types
    """Replace each column by its bands on the graph: ``[low(x) | high(x)]`` with ``low(x) + high(x) = x``.

    Parameters
    ----------
    graph : Graph, adjacency matrix or None
        With a graph ``X`` has one row per node. None: each row has arcs to its ``n_neighbors`` nearest training rows.
    family : str
        A row of the table of families, see :func:`gsp_fb.operator`.
    gamma : float > 0, optional
        Weight of the added self-loops.
    isolated : {'self', 'zero', 'error'}
        Policy for isolated nodes.
    channels : {'both', 'low', 'high'}
        Bands to return.
    levels : int
        Number of times the low band is split.
    kernels : sequence of Kernel, optional
        Kernels over the frequencies of the high channel of the family, instead of the two channels; the graph must then
        be given and undirected.
    features : array_like or sparse, shape (n_nodes, n_features), optional
        With ``graph``: features of all nodes; ``X`` is then a column of node numbers.
    n_neighbors : int
        Number of neighbours if the graph is built from ``X``; at most the number of rows.

    Attributes
    ----------
    graph_ : Graph
        The graph of the training rows.
    bands_ : tuple of str
        Names of the bands, in the order of the output.

    See Also
    --------
    FilterBankClassifier : A network that learns the mixing of the channels.
    gsp_fb.FilterBank : The bank without scikit-learn.

    Notes
    -----
    Filtering uses the features of all nodes and no label. Only the graph is stored by ``fit``, so a given graph with
    ``X`` of all nodes is transductive: fit and transform the same nodes.

    References
    ----------
    .. [1] S. Luan et al., "Complete the missing half: Augmenting aggregation filtering with diversification for graph
       convolutional networks", GLFrontiers 2022, Section 3.1.

    Examples
    --------
    >>> from gsp_fb.datasets import path
    >>> bank = FilterBankTransformer(path(3), family="rw")
    >>> bank.fit_transform([[1.0], [5.0], [3.0]])
    array([[ 5., -4.],
           [ 2.,  3.],
           [ 5., -2.]])
    >>> bank.get_feature_names_out().tolist()
    ['low_x0', 'high_x0']
    """

    graph: Any = None
    _: KW_ONLY
    family: str = "lazy_rw"
    gamma: float | None = None
    isolated: str = "self"
    channels: str = "both"
    levels: int = 1
    kernels: Sequence[Any] | None = None
    features: Any = None
    n_neighbors: int = 10

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.transformer_tags.preserves_dtype = ["float64", "float32"]
        return tags

    def fit(self, X: Any, y: Any = None) -> FilterBankTransformer:
        """Validate ``X`` and the parameters, and build the graph if none is given.

        Parameters
        ----------
        X : array_like or sparse, shape (n_samples, n_features)
            Features, or a column of node numbers.
        y : ignored

        Returns
        -------
        FilterBankTransformer
        """
        rows = self._train_rows(self._checked(X, reset=True))
        self.bands_ = self._bands()
        self._bank(rows.graph)
        return self

    def _bands(self) -> tuple[str, ...]:
        if self.kernels is not None:
            return tuple(as_kernel(kernel).name for kernel in self.kernels)
        details = ["high"] if self.levels == 1 else [f"high{level}" for level in range(self.levels, 0, -1)]
        names = ("low", *details)
        return tuple(names[self._selected()])

    def _selected(self) -> slice:
        return CHANNELS[check_choice(self.channels, CHANNELS, "channels")]

    def _bank(self, graph: Graph) -> Any:
        if self.kernels is not None:
            high = operator(graph, self.family, "high", self.gamma, self.isolated)
            return FilterBank(high, self.kernels)
        return two_channel(graph, self.family, gamma=self.gamma, levels=self.levels, isolated=self.isolated)

    def transform(self, X: Any) -> Any:
        """Return the bands of every column, band by band, shape (n_samples, n_bands * n_features).

        Sparse input gives sparse output, except with ``kernels``, whose output is dense.
        """
        rows = self._rows(X)
        found = self._bank(rows.graph).analyze(rows.signal)
        bands = np.moveaxis(found, -1, 0) if self.kernels is not None else found[self._selected()]
        chosen = [band[rows.nodes] for band in bands]
        return sparse.hstack(chosen, format="csr") if is_sparse(chosen[0]) else np.concatenate(chosen, axis=1)

    def get_feature_names_out(self, input_features: Any = None) -> Any:
        """Return the names ``band_column`` of the output columns; ``input_features`` name the columns of ``X``."""
        check_is_fitted(self, "bands_")
        if self.features is None:
            names = _check_feature_names_in(self, input_features)
        else:  # X holds node numbers only
            names = getattr(self.features, "columns", [f"x{column}" for column in range(np.shape(self.features)[1])])
        return np.array([f"{band}_{name}" for band in self.bands_ for name in names], dtype=object)
