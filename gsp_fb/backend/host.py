"""The row of NumPy and SciPy: what the array API standard lacks, in host memory."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Literal

import numpy as np
from scipy import linalg, sparse
from scipy.sparse import csgraph
from scipy.sparse.linalg import LinearOperator, splu

from .numpy1 import NUMPY

__all__ = [
    "DEVICE",
    "add_diagonal",
    "as_csr",
    "asarray",
    "column_peaks",
    "column_products",
    "components",
    "csr",
    "dense",
    "distances",
    "eigh",
    "empty",
    "factor",
    "from_host",
    "group_sum",
    "is_sparse",
    "linear_operator",
    "namespace",
    "norm",
    "repeat_rows",
    "take_csr",
    "to_host",
    "transposed",
    "vdot",
]

DEVICE = "cpu"


def namespace() -> Any:
    """Return NumPy."""
    return NUMPY


def asarray(values: Any, like: Any, dtype: Any = None) -> Any:
    """Return host numbers as an array beside ``like``."""
    return np.asarray(values, dtype=dtype)


def empty(shape: tuple[int, ...], like: Any) -> Any:
    """Return room for an array of the dtype of ``like``, beside it."""
    return np.empty(shape, dtype=like.dtype)


def from_host(x: Any) -> Any:
    """Return ``x`` itself: it is here."""
    return x


def to_host(x: Any) -> Any:
    """Return ``x`` itself if it is an array, else as an array."""
    return x if is_sparse(x) else np.asarray(x)


def csr(data: Any, indices: Any, indptr: Any, shape: tuple[int, int]) -> sparse.csr_array:
    """Return a CSR array over the three given arrays, without a copy."""
    return sparse.csr_array((data, indices, indptr), shape=shape, copy=False)


def is_sparse(x: Any) -> bool:
    """Return whether ``x`` is a sparse array or matrix of any format."""
    return bool(sparse.issparse(x))


def as_csr(x: Any) -> Any:
    """Return a sparse array of any format as CSR."""
    return sparse.csr_array(x)


def dense(matrix: Any) -> Any:
    """Return a sparse matrix as an array."""
    return matrix.toarray()


def transposed(matrix: Any) -> Any:
    """Return the transpose as CSR with sorted indices."""
    result = matrix.T.tocsr()
    result.sort_indices()
    return result


def add_diagonal(matrix: Any, diagonal: Any) -> Any:
    """Return ``matrix + diag(diagonal)`` as CSR."""
    return sparse.csr_array(matrix + sparse.dia_array((diagonal[None, :], [0]), shape=matrix.shape))


def column_peaks(x: Any) -> Any:
    """Return the largest absolute value of each column of a sparse array."""
    return abs(x).max(axis=0).toarray().ravel()


def column_products(x: Any, y: Any) -> Any:
    """Return ``x_c* y_c`` of each column of two sparse arrays."""
    return np.asarray(x.conj().multiply(y).sum(axis=0)).ravel()


def take_csr(x: Any, rows: Any) -> Any:
    """Return the given rows of a CSR array."""
    return x[rows]


def repeat_rows(values: Any, indptr: Any) -> Any:
    """Return ``values[i]`` for every entry of row ``i``."""
    return np.repeat(values, np.diff(indptr))


def group_sum(groups: Any, values: Any, n_groups: int) -> Any:
    """Return the sum of ``values`` (one row a member) within each group."""
    if values.ndim == 1 and not np.iscomplexobj(values):
        # Of no members at all bincount would return integers.
        return np.bincount(groups, weights=values, minlength=n_groups).astype(np.float64, copy=False)
    n_members = groups.shape[0]
    return csr(np.ones(n_members), groups, np.arange(n_members + 1), (n_members, n_groups)).T @ values


def components(matrix: Any, *, directed: bool) -> Any:
    """Return the number of each node's (weakly) connected component."""
    return csgraph.connected_components(matrix, directed=directed, connection="weak")[1]


def vdot(x: Any, y: Any) -> Any:
    """Return the sum of ``conj(x) * y`` over all entries."""
    return np.vdot(x, y)


def norm(x: Any, axis: int | None = None) -> Any:
    """Return the Euclidean norm, of everything or along one axis."""
    return np.linalg.norm(x, axis=axis)


def distances(first: Any, second: Any) -> Any:
    """Return the Euclidean distance of every row of ``first`` to every row of ``second``, both real."""
    # Costs a quarter of a second to import, which only this function should pay.
    from scipy.spatial.distance import cdist

    return cdist(np.asarray(first, dtype=np.float64), np.asarray(second, dtype=np.float64))


def eigh(matrix: Any) -> tuple[Any, Any]:
    """Return all eigenvalues, ascending, and eigenvectors of a symmetric array, which may be overwritten."""
    # The default driver (evr) loses orthogonality within clusters of eigenvalues; divide and conquer keeps it.
    # SciPy 1.10 gives it too little room for a single row, which needs no orthogonality.
    driver: Literal["evd", "ev"] = "evd" if matrix.shape[0] > 1 else "ev"
    return linalg.eigh(matrix, driver=driver, overwrite_a=True, check_finite=False)


def factor(matrix: Any) -> tuple[Any, Any]:
    """Return ``solve(right, 'N' or 'T')`` of a square sparse matrix, and its pivots; RuntimeError if it is singular."""
    factors = splu(sparse.csc_array(matrix))
    return factors.solve, factors.U.diagonal()


def linear_operator(shape: tuple[int, int], dtype: Any = np.float64, **products: Callable[[Any], Any]) -> Any:
    """Return a matrix-free operator for the library's own solvers."""
    return LinearOperator(shape, dtype=dtype, **products)
