"""The arrays underneath: which namespace an array belongs to, and the few sparse operations the core needs.

The mathematics above this module is written against the Python array API standard, so it follows the arrays
it is given. What the standard lacks, sparse matrices and grouped sums, is here and nowhere else.
"""

from __future__ import annotations

from typing import Any, TypeAlias, TypeVar

import numpy as np
import numpy.typing as npt
from scipy import sparse

__all__ = [
    "FloatArray",
    "IntArray",
    "Signal",
    "abs_squared",
    "column",
    "csr",
    "diagonal_times",
    "distances",
    "freeze",
    "group_sum",
    "is_numpy",
    "is_sparse",
    "namespace",
    "product",
    "real_dtype",
    "row_degrees",
]

FloatArray: TypeAlias = npt.NDArray[np.floating[Any]]
IntArray: TypeAlias = npt.NDArray[np.integer[Any]]
# A dense array of any supported kind or a sparse one; the mathematics is the same for all of them.
Signal: TypeAlias = Any

_Array = TypeVar("_Array")


def namespace(*arrays: Any) -> Any:
    """Return the array namespace that all ``arrays`` share; plain NumPy where nothing says otherwise.

    Examples
    --------
    >>> namespace([1, 2]).__name__
    'numpy'
    """
    for array in arrays:
        if not isinstance(array, np.ndarray) and hasattr(array, "__array_namespace__"):
            return array.__array_namespace__()
    return np


def is_numpy(x: Any) -> bool:
    """Return whether ``x`` lives in host memory as a NumPy array."""
    return isinstance(x, np.ndarray)


def is_sparse(x: Any) -> bool:
    """Return whether ``x`` is a sparse array or matrix of any format."""
    return bool(sparse.issparse(x))


def freeze(x: _Array) -> _Array:
    """Return ``x`` read-only where its kind of array knows the notion."""
    if isinstance(x, np.ndarray):
        x.setflags(write=False)
    return x


def csr(data: Any, indices: Any, indptr: Any, shape: tuple[int, int]) -> Any:
    """Return a CSR array over the three given arrays, without a copy."""
    return sparse.csr_array((data, indices, indptr), shape=shape, copy=False)


def product(matrix: Any, x: Signal) -> Signal:
    """Return ``matrix @ x``."""
    return matrix @ x


def column(vector: Any, like: Any) -> Any:
    """Return ``vector`` shaped so that it scales the rows of ``like``."""
    return vector if like.ndim == 1 else vector[:, None]


def diagonal_times(vector: Any, x: Signal) -> Signal:
    """Return ``diag(vector) @ x`` for a dense or a CSR ``x``, keeping its kind."""
    if not is_sparse(x):
        return column(vector, x) * x
    return csr(x.data * np.repeat(vector, np.diff(x.indptr)), x.indices, x.indptr, x.shape)


def row_degrees(indptr: Any, weights: Any | None, matrix: Any) -> Any:
    """Return the row sums; counts, hence exact, where there are no weights."""
    xp = namespace(indptr)
    if weights is None:
        return xp.astype(indptr[1:] - indptr[:-1], xp.float64)
    return product(matrix, xp.ones(indptr.shape[0] - 1, dtype=xp.float64))


def group_sum(groups: Any, values: Any, n_groups: int) -> Any:
    """Return the sum of ``values`` (one row a member) within each of ``n_groups`` groups."""
    if values.ndim == 1 and not np.iscomplexobj(values):
        return np.bincount(groups, weights=values, minlength=n_groups)
    members = csr(np.ones(groups.shape[0]), groups, np.arange(groups.shape[0] + 1), (groups.shape[0], n_groups))
    return product(members.T, values)


def abs_squared(x: Any) -> Any:
    """Return |x|^2 elementwise, real also for complex ``x``."""
    xp = namespace(x)
    return xp.real(xp.conj(x) * x) if xp.isdtype(x.dtype, "complex floating") else x * x


def distances(first: Any, second: Any) -> Any:
    """Return the Euclidean distance of every row of ``first`` to every row of ``second``."""
    if is_numpy(first) and first.dtype.kind == "f":
        # Costs a quarter of a second to import, which only this function should pay.
        from scipy.spatial.distance import cdist

        return cdist(np.asarray(first, dtype=np.float64), np.asarray(second, dtype=np.float64))
    xp = namespace(first)
    return xp.sqrt(xp.sum(abs_squared(first[:, None, :] - second[None, :, :]), axis=-1))


def real_dtype(dtype: Any, xp: Any = np) -> Any:
    """Return the real floating dtype of the precision of ``dtype``."""
    single = dtype in (xp.float32, xp.complex64)
    return xp.float32 if single else xp.float64
