"""A device that NumPy cannot read: a double of a GPU for machines without one.

Its arrays are those of array-api-strict on a device of its own: they refuse every NumPy function and every implicit
copy to the host, and know nothing beyond the standard. Its sparse matrices know a product, a sum and their own three
arrays. Code that runs here assumes nothing about a user's arrays that a GPU does not have.

>>> from gsp_fb import Graph, operator
>>> from tests.support import device
>>> graph = Graph.from_edges([(0, 1), (1, 2)]).to(device.DEVICE)
>>> y = operator(graph, "rw") @ device.from_host([1.0, 5.0, 3.0])
>>> device.to_host(y)
array([5., 2., 5.])
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np

from gsp_fb._extras import require
from gsp_fb.backend import Row, host, register

__all__ = ["DEVICE", "Csr", "from_host", "to_host"]

xp = require("array_api_strict", "the double of a device")

DEVICE = "double"
PLACE = xp.Device("device1")
HOST = xp.Device("CPU_DEVICE")


def namespace() -> Any:
    """Return array-api-strict."""
    return xp


def asarray(values: Any, like: Any, dtype: Any = None) -> Any:
    """Return host numbers as an array on the device."""
    return xp.asarray(np.asarray(values), dtype=dtype, device=PLACE)


def empty(shape: tuple[int, ...], like: Any) -> Any:
    """Return room for an array of the dtype of ``like``, beside it."""
    return xp.empty(shape, dtype=like.dtype, device=PLACE)


def from_host(x: Any) -> Any:
    """Return a NumPy array, or a SciPy sparse one as CSR, copied to the device."""
    if not host.is_sparse(x):
        return asarray(x, None)
    x = host.as_csr(x)
    return Csr(asarray(x.data, None), asarray(x.indices, None), asarray(x.indptr, None), x.shape)


def to_host(x: Any) -> Any:
    """Return ``x`` copied to the host."""
    if is_sparse(x):
        return host.csr(to_host(x.data), to_host(x.indices), to_host(x.indptr), x.shape)
    return np.asarray(x.to_device(HOST))


def _on_device(function: Callable[..., Any]) -> Callable[..., Any]:
    """Return a function of the host as one of the device; the transfers are those that a kernel would not need."""

    def on_device(*arrays: Any, **options: Any) -> Any:
        result = function(*(to_host(x) if is_array(x) else x for x in arrays), **options)
        return from_host(result)

    return on_device


def is_array(x: Any) -> bool:
    """Return whether ``x`` lives on the device."""
    return is_sparse(x) or type(x).__module__.partition(".")[0] == xp.__name__


@dataclass(frozen=True, eq=False)
class Csr:
    """A sparse matrix on the device; it refuses to become a NumPy array."""

    data: Any
    indices: Any
    indptr: Any
    shape: tuple[int, int]

    ndim = 2
    format = "csr"

    @property
    def dtype(self) -> Any:
        """The dtype of the entries."""
        return self.data.dtype

    @property
    def nnz(self) -> int:
        """Number of stored entries."""
        return int(self.data.shape[0])

    def __matmul__(self, x: Any) -> Any:
        _refuse_host(x)
        return _on_device(lambda matrix, y: matrix @ y)(self, x)

    def __add__(self, other: Any) -> Any:
        _refuse_host(other)
        return _on_device(lambda one, two: one + two)(self, other)

    def __sub__(self, other: Any) -> Any:
        _refuse_host(other)
        return _on_device(lambda one, two: one - two)(self, other)

    def __array__(self, *args: Any, **kwargs: Any) -> Any:
        raise RuntimeError("implicit copy of a sparse matrix to the host")


def _refuse_host(x: Any) -> None:
    if not is_array(x):
        raise RuntimeError(f"a matrix on {DEVICE!r} met {type(x).__name__}, which is not there")


def csr(data: Any, indices: Any, indptr: Any, shape: tuple[int, int]) -> Any:
    """Return a CSR matrix over the three given arrays, without a copy."""
    for array in (data, indices, indptr):
        _refuse_host(array)
    return Csr(data, indices, indptr, (int(shape[0]), int(shape[1])))


def is_sparse(x: Any) -> bool:
    """Return whether ``x`` is a sparse matrix on the device."""
    return isinstance(x, Csr)


def as_csr(x: Any) -> Any:
    """Return ``x`` itself: there is no other format."""
    return x


dense = _on_device(host.dense)
transposed = _on_device(host.transposed)
add_diagonal = _on_device(host.add_diagonal)
column_peaks = _on_device(host.column_peaks)
column_products = _on_device(host.column_products)
take_csr = _on_device(host.take_csr)
repeat_rows = _on_device(host.repeat_rows)
group_sum = _on_device(host.group_sum)
components = _on_device(host.components)
distances = _on_device(host.distances)


def vdot(x: Any, y: Any) -> Any:
    """Return the sum of ``conj(x) * y`` over all entries."""
    return xp.vecdot(xp.reshape(x, (-1,)), xp.reshape(y, (-1,)))


def norm(x: Any, axis: int | None = None) -> Any:
    """Return the Euclidean norm, of everything or along one axis."""
    return xp.linalg.vector_norm(x, axis=axis)


def eigh(matrix: Any) -> tuple[Any, Any]:
    """Return all eigenvalues, ascending, and eigenvectors of a symmetric array."""
    values, vectors = xp.linalg.eigh(matrix)
    return values, vectors


SWAPPED = {"matvec": "rmatvec", "rmatvec": "matvec", "matmat": "rmatmat", "rmatmat": "matmat"}


@dataclass(frozen=True)
class _LinearOperator:
    shape: tuple[int, int]
    matvecs: dict[str, Callable[[Any], Any]]

    @property
    def T(self) -> _LinearOperator:  # the name every array library gives the transpose
        """The transpose."""
        swapped = {SWAPPED[name]: product for name, product in self.matvecs.items()}
        return _LinearOperator(self.shape[::-1], swapped)

    H = T  # what is given is real

    def matvec(self, x: Any) -> Any:
        """Return the product with a vector."""
        _refuse_host(x)
        return self.matvecs["matvec"](x)

    def rmatvec(self, x: Any) -> Any:
        """Return the product of the transpose with a vector."""
        return self.T.matvec(x)

    def matmat(self, x: Any) -> Any:
        """Return the product with a matrix."""
        _refuse_host(x)
        return self.matvecs["matmat"](x)

    def rmatmat(self, x: Any) -> Any:
        """Return the product of the transpose with a matrix."""
        return self.T.matmat(x)

    def __matmul__(self, x: Any) -> Any:
        return self.matvec(x) if x.ndim == 1 else self.matmat(x)


def linear_operator(shape: tuple[int, int], dtype: Any = None, **matvecs: Callable[[Any], Any]) -> Any:
    """Return a matrix-free operator on the device."""
    return _LinearOperator(shape, matvecs)


def factor(matrix: Any) -> tuple[Callable[..., Any], Any]:
    """Return ``solve(right, 'N' or 'T')`` of a square sparse matrix, and the pivots of its factors."""
    solve, pivots = host.factor(to_host(matrix))
    return _on_device(solve), from_host(pivots)


register(Row(DEVICE, (xp.__name__, __name__), __name__))
