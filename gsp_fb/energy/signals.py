"""Signals made from data: class labels as one-hot columns, features as shares of their row."""

from __future__ import annotations

from typing import Any

import numpy as np
from scipy import sparse

from .._validate import check_count, check_labels, check_signal
from ..backend import Signal, diagonal_times, is_sparse, namespace
from ..errors import ParameterError

__all__ = ["one_hot", "row_normalized"]


def one_hot(y: Any, n_classes: int | None = None) -> sparse.csr_array:
    """Return labels as a sparse signal, one column a class; an unlabelled node (negative) is a zero row.

    Parameters
    ----------
    y : array_like of int, shape (n_nodes,)
    n_classes : int, optional
        By default the largest label plus one.

    Examples
    --------
    >>> one_hot([1, 0, -1]).toarray()
    array([[0., 1.],
           [1., 0.],
           [0., 0.]])
    """
    y = check_labels(y, len(y))
    found = int(y.max(initial=-1)) + 1
    width = found if n_classes is None else check_count(n_classes, "n_classes")
    if found > width:
        raise ParameterError(f"label {found - 1} does not fit n_classes={width}")
    rows = np.flatnonzero(y >= 0)
    return sparse.csr_array((np.ones(rows.size), (rows, y[rows])), shape=(len(y), width))


def row_normalized(x: Any) -> Signal:
    """Return ``x`` with each row divided by its sum; a row that sums to zero stays as it is.

    Examples
    --------
    >>> row_normalized([[1.0, 3.0], [0.0, 0.0]])
    array([[0.25, 0.75],
           [0.  , 0.  ]])
    """
    x = check_signal(x, x.shape[0] if hasattr(x, "shape") else len(x))
    totals = np.asarray(x.sum(axis=1)).ravel() if is_sparse(x) else namespace(x).sum(x, axis=1)
    xp = namespace(totals)
    return diagonal_times(xp.where(totals == 0, 1.0, 1.0 / xp.where(totals == 0, 1.0, totals)), x)
