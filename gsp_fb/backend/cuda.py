"""The row of CuPy: what the array API standard lacks, on a CUDA device.

This is the only module that calls cupy, which is imported with the first call. Nothing in it copies to the host but
:func:`to_host` and what is documented to. :mod:`gsp_fb.backend.host` documents the functions.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import cache
from typing import Any

from .._extras import require
from . import host

__all__ = host.__all__

DEVICE = "cuda"


@cache
def _imported(name: str) -> Any:
    return require(name, "an array on a GPU")


class _Library:
    """A library that is imported when something of it is first used."""

    def __init__(self, name: str) -> None:
        self._name = name

    def __getattr__(self, attribute: str) -> Any:
        # Tools that look into modules ask every object for names of Python's own.
        if attribute.startswith("__"):
            raise AttributeError(attribute)
        return getattr(_imported(self._name), attribute)


cupy = _Library("cupy")
sparse = _Library("cupyx.scipy.sparse")
linalg = _Library("cupyx.scipy.sparse.linalg")

# CuPy's matrices have the methods of SciPy's.
dense, take_csr, transposed = host.dense, host.take_csr, host.transposed


def namespace() -> Any:
    """Return CuPy; its arrays do not name their namespace themselves."""
    return _imported("cupy")


def asarray(values: Any, like: Any, dtype: Any = None) -> Any:
    return cupy.asarray(values, dtype=dtype)


def empty(shape: tuple[int, ...], like: Any) -> Any:
    return cupy.empty(shape, dtype=like.dtype)


def from_host(x: Any) -> Any:
    """Return a NumPy array, or a SciPy sparse one as CSR, copied to the device."""
    return sparse.csr_matrix(x) if host.is_sparse(x) else cupy.asarray(x)


def to_host(x: Any) -> Any:
    """Return ``x`` copied to the host."""
    return host.as_csr(x.get()) if is_sparse(x) else cupy.asnumpy(x)


def csr(data: Any, indices: Any, indptr: Any, shape: tuple[int, int]) -> Any:
    return sparse.csr_matrix((data, indices, indptr), shape=shape, copy=False)


def is_sparse(x: Any) -> bool:
    return bool(sparse.issparse(x))


def as_csr(x: Any) -> Any:
    return x.tocsr()


def add_diagonal(matrix: Any, diagonal: Any) -> Any:
    return (matrix + sparse.diags(diagonal, format="csr")).tocsr()


def column_peaks(x: Any) -> Any:
    return cupy.ravel(abs(x).max(axis=0).toarray())


def column_products(x: Any, y: Any) -> Any:
    return cupy.ravel(cupy.asarray(x.conj().multiply(y).sum(axis=0)))


def repeat_rows(values: Any, indptr: Any) -> Any:
    # cupy.repeat takes its counts from the host.
    entries = cupy.arange(int(indptr[-1]), dtype=indptr.dtype)
    return cupy.take(values, cupy.searchsorted(indptr[1:], entries, side="right"), axis=0)


def group_sum(groups: Any, values: Any, n_groups: int) -> Any:
    if values.ndim == 1 and values.dtype == cupy.float64:
        return cupy.bincount(groups, weights=values, minlength=n_groups)
    n_members = groups.shape[0]
    entries = cupy.arange(n_members + 1, dtype=cupy.int32)
    return csr(cupy.ones(n_members), groups, entries, (n_members, n_groups)).T @ values


def components(matrix: Any, *, directed: bool) -> Any:
    """Return the number of each node's component: found on the host, as CuPy has no such search of its own."""
    return cupy.asarray(host.components(to_host(matrix), directed=directed))


def vdot(x: Any, y: Any) -> Any:
    return cupy.vdot(x, y)


def norm(x: Any, axis: int | None = None) -> Any:
    return cupy.linalg.norm(x, axis=axis) if axis is not None else cupy.linalg.norm(cupy.ravel(x))


def distances(first: Any, second: Any) -> Any:
    gaps = first[:, None, :] - second[None, :, :]
    return cupy.sqrt(cupy.sum(gaps * gaps, axis=-1))


def eigh(matrix: Any) -> Any:
    return cupy.linalg.eigh(matrix)


def factor(matrix: Any) -> tuple[Any, Any]:
    """Return ``solve(right, 'N' or 'T')`` and the pivots: CuPy factorises on the host and solves on the device."""
    factors = linalg.splu(matrix.tocsc())
    return factors.solve, factors.U.diagonal()


def linear_operator(shape: tuple[int, int], dtype: Any, **products: Callable[[Any], Any]) -> Any:
    return linalg.LinearOperator(shape, dtype=dtype, **products)
