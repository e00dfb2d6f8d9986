"""Base classes of the estimators: input validation, tags, and rows as nodes."""

from __future__ import annotations

from typing import Any

from sklearn.base import BaseEstimator
from sklearn.utils.validation import check_is_fitted, validate_data

from ..graph import Graph
from ._rows import PRECISIONS, Rows, Setting, make_setting

__all__ = ["GraphEstimator", "RowsEstimator"]


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
        """Return the rows of a validated ``X``, and store the setting."""
        self._setting = make_setting(X, self.graph, self.features, self.n_neighbors)
        return self._setting.train(X)

    def _rows(self, X: Any) -> Rows:
        check_is_fitted(self, "_setting")
        return self._setting.place(self._checked(X))
