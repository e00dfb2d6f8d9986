"""Signals made from data: class labels as one-hot columns, features as shares of their row."""

from __future__ import annotations

from typing import Any

from .._arguments import check_count, check_labels, check_signal
from .._build import INT32_LIMIT
from ..backend import Signal, asarray_like, cast, csr, diagonal_times, is_sparse, namespace, product
from ..errors import ParameterError

__all__ = ["one_hot", "row_normalized"]


def one_hot(y: Any, n_classes: int | None = None) -> Signal:
    """Return labels as a sparse signal on their device, one column a class; an unlabelled node is a zero row.

    Parameters
    ----------
    y : array_like of int, shape (n_nodes,)
        A negative label means unlabelled.
    n_classes : int, optional
        By default the largest label plus one.

    Returns
    -------
    sparse array, shape (n_nodes, n_classes)
        Entry ``(i, y[i])`` is 1, all others are 0.

    Raises
    ------
    ParameterError
        A label is ``n_classes`` or larger.

    See Also
    --------
    row_normalized : Divide each row of a signal by its sum.
    s_value : Smoothness of a signal, also of labels in this form.

    Examples
    --------
    >>> one_hot([1, 0, -1]).toarray().tolist()
    [[0.0, 1.0], [1.0, 0.0], [0.0, 0.0]]
    """
    y = check_labels(y, y.shape[0] if hasattr(y, "shape") else len(y))
    xp = namespace(y)
    found = max(int(xp.max(y)), -1) + 1 if y.shape[0] else 0
    width = found if n_classes is None else check_count(n_classes, "n_classes")
    if found > width:
        raise ParameterError(f"label {found - 1} does not fit n_classes={width}")
    labelled = y >= 0
    index = xp.int32 if max(y.shape[0], width) <= INT32_LIMIT else xp.int64
    classes = cast(y[labelled], index)
    ends = cast(xp.cumulative_sum(cast(labelled, xp.int64), include_initial=True), index)
    return csr(xp.ones_like(classes, dtype=xp.float64), classes, ends, (y.shape[0], width))


def row_normalized(x: Any) -> Signal:
    """Return ``x`` with each row divided by its sum; a row that sums to zero stays as it is.

    Parameters
    ----------
    x : array_like or sparse, shape (n_nodes, n_signals)
        A signal, one row a node.

    Returns
    -------
    array or sparse array, shape (n_nodes, n_signals)

    See Also
    --------
    one_hot : Labels as a signal.
    gsp_fb.nn.features : Features as tensors, divided by the sum of magnitudes.

    Examples
    --------
    >>> row_normalized([[1.0, 3.0], [0.0, 0.0]]).tolist()
    [[0.25, 0.75], [0.0, 0.0]]
    """
    x = check_signal(x, x.shape[0] if hasattr(x, "shape") else len(x))
    xp = namespace(x.data if is_sparse(x) else x)
    totals = product(x, asarray_like([1.0] * x.shape[1], x.data)) if is_sparse(x) else xp.sum(x, axis=1)
    return diagonal_times(xp.where(totals == 0, 1.0, 1.0 / xp.where(totals == 0, 1.0, totals)), x)
