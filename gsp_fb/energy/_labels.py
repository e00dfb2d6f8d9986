"""Quadratic forms of one-hot labels under many permutations: edges between equal classes are counted."""

from __future__ import annotations

from collections.abc import Iterable

import numpy as np
import numpy.typing as npt
from scipy import sparse

from ..backend import FloatArray, Signal, device_of, is_sparse, to_host
from ..operators import Operator
from ._sums import inner_weights

__all__ = ["label_codes", "label_forms"]

Codes = npt.NDArray[np.int16]


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


def label_forms(op: Operator, codes: Codes, permutations: Iterable[npt.NDArray[np.integer]]) -> FloatArray:
    """Return S of the labels placed by each of ``permutations``: one pass over the edges for each, nothing stored."""
    norm = inner_weights(op)
    matrix = sparse.triu(op.to_scipy().multiply(norm[:, None]), k=1, format="csr")
    diagonal, weights, columns = norm * op.to_scipy().diagonal(), 2.0 * matrix.data, matrix.indices.astype(np.intp)
    counts = np.diff(matrix.indptr)
    # Classes as bytes stay in the cache for a hundred thousand nodes.
    small = codes.astype(np.int8) if codes.max() <= np.iinfo(np.int8).max else codes
    found, products = [], np.empty_like(weights)
    for permutation in permutations:
        placed = small[permutation]
        labelled = placed >= 0
        # An unlabelled node has no class in common with another.
        other = np.where(labelled, placed, -2).astype(placed.dtype)
        same = np.repeat(placed, counts) == other.take(columns)
        # Not by BLAS, whose threads wait for each other longer than a sum of this length takes.
        pairs = np.multiply(weights, same, out=products).sum()
        found.append((np.sum(diagonal[labelled]) + pairs) / np.sum(norm[labelled]))
    return np.array(found)
