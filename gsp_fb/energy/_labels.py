"""Quadratic forms of one-hot labels under many permutations: edges between equal classes are counted."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from ..backend import FloatArray, Signal, device_of, is_sparse, to_host
from ..operators import Operator
from ._sums import inner_weights

__all__ = ["label_codes", "label_forms"]

Codes = npt.NDArray[np.int16]
# Pairs of codes compared at a time: as float64, which BLAS sums, they stay in the cache.
BLOCK_CODES = 2**18


def label_codes(x: Signal) -> Codes | None:
    """Return the class of each row, -1 for a zero row, or None if the rows are not one-hot up to a factor."""
    values = x.data if is_sparse(x) else x
    if device_of(values) != "cpu" or x.shape[1] < 2 or x.shape[1] > np.iinfo(np.int16).max:
        return None
    host = to_host(x)
    rows, columns = host.nonzero()
    entries = np.asarray(host[rows, columns]).ravel()
    if len(rows) == 0 or np.any(rows[1:] == rows[:-1]) or np.any(entries != entries[0]):
        return None
    codes = np.full(x.shape[0], -1, dtype=np.int16)
    codes[rows] = columns
    return codes


def label_forms(op: Operator, codes: Codes, permutations: npt.NDArray[np.integer]) -> FloatArray:
    """Return S of the labels placed by each column of ``permutations``, an array of (n_nodes, n_draws)."""
    placed, norm = codes[permutations], inner_weights(op)
    matrix = op.to_scipy().multiply(norm[:, None]).tocoo()
    upper = matrix.row < matrix.col
    rows, columns, weights = matrix.row[upper], matrix.col[upper], 2.0 * matrix.data[upper]
    labelled = (placed >= 0).astype(np.float64)
    above = matrix.diagonal() @ labelled
    step = max(1, BLOCK_CODES // max(placed.shape[1], 1))
    for start in range(0, len(rows), step):
        left, right = (placed[side[start : start + step]] for side in (rows, columns))
        above += weights[start : start + step] @ ((left == right) & (left >= 0)).astype(np.float64)
    return np.asarray(above / (norm @ labelled))
