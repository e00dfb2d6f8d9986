"""Arrays of any kind: the namespace they belong to, and what mathematics needs beside it, solvers included."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, TypeAlias, TypeVar

import numpy as np
import numpy.typing as npt

from . import host
from .table import dispatched, library

__all__ = [
    "FloatArray",
    "IntArray",
    "Signal",
    "abs_squared",
    "asarray_like",
    "cast",
    "column",
    "conj",
    "distances",
    "eigh",
    "empty_like",
    "eps",
    "factor",
    "freeze",
    "is_array",
    "is_complex",
    "is_numpy",
    "linear_operator",
    "namespace",
    "norm",
    "real",
    "real_dtype",
    "vdot",
]

FloatArray: TypeAlias = npt.NDArray[np.floating[Any]]
IntArray: TypeAlias = npt.NDArray[np.integer[Any]]
# A dense array of any supported kind or a sparse one; the mathematics is the same for all of them.
Signal: TypeAlias = Any

_Array = TypeVar("_Array")


def namespace(*arrays: Any) -> Any:
    """Return the array namespace that all ``arrays`` share; plain NumPy where nothing states otherwise."""
    for array in arrays:
        if isinstance(array, np.ndarray):
            continue
        module = library(array)
        if module is not host:
            return module.namespace()
        if hasattr(array, "__array_namespace__"):
            return array.__array_namespace__()
    return host.namespace()


def is_numpy(x: Any) -> bool:
    """Return whether ``x`` lives in host memory as a NumPy array."""
    return isinstance(x, np.ndarray)


def is_array(x: Any) -> bool:
    """Return whether ``x`` is an array of any kind, not something to make one of."""
    return is_numpy(x) or library(x) is not host or hasattr(x, "__array_namespace__")


def asarray_like(values: Any, like: Any, dtype: Any = None) -> Any:
    """Return numbers of the host as an array of the kind of ``like``, beside it; NumPy's own are not copied."""
    return library(like).asarray(values, like, dtype)


def empty_like(shape: tuple[int, ...], like: Any) -> Any:
    """Return room for an array of the given shape and of the kind and dtype of ``like``, beside it."""
    return library(like).empty(shape, like)


def freeze(x: _Array) -> _Array:
    """Return ``x`` read-only where its kind of array knows the notion."""
    if isinstance(x, np.ndarray):
        x.setflags(write=False)
    return x


def cast(x: Any, dtype: Any) -> Any:
    """Return ``x`` in the given dtype; itself if that is its own."""
    return x if x.dtype == dtype else namespace(x).astype(x, dtype)


def is_complex(x: Any) -> bool:
    """Return whether a dense array holds complex numbers."""
    return bool(namespace(x).isdtype(x.dtype, "complex floating"))


def real(x: Any) -> Any:
    """Return the real part; ``x`` itself if it is real."""
    return namespace(x).real(x) if is_complex(x) else x


def conj(x: Any) -> Any:
    """Return the complex conjugate; ``x`` itself if it is real."""
    return namespace(x).conj(x) if is_complex(x) else x


def abs_squared(x: Any) -> Any:
    """Return |x|^2 elementwise, real also for complex ``x``."""
    xp = namespace(x)
    return xp.real(xp.conj(x) * x) if xp.isdtype(x.dtype, "complex floating") else x * x


def vdot(x: Any, y: Any) -> float:
    """Return the real part of the sum of ``conj(x) * y`` over all entries."""
    return float(complex(library(x).vdot(x, y)).real)


def norm(x: Any, axis: int | None = None) -> Any:
    """Return the Euclidean norm: a number of everything, or an array along one axis."""
    size = library(x).norm(x, axis)
    return size if axis is not None else float(size)


def column(vector: Any, like: Any) -> Any:
    """Return ``vector`` shaped so that it scales the rows of ``like``."""
    return vector if like.ndim == 1 else vector[:, None]


def distances(first: Any, second: Any) -> Any:
    """Return the Euclidean distance of every row of ``first`` to every row of ``second``."""
    xp = namespace(first)
    if xp.isdtype(first.dtype, "real floating"):
        return library(first).distances(first, second)
    return xp.sqrt(xp.sum(abs_squared(first[:, None, :] - second[None, :, :]), axis=-1))


def real_dtype(dtype: Any, xp: Any = np) -> Any:
    """Return the real floating dtype of the precision of ``dtype``."""
    single = dtype in (xp.float32, xp.complex64)
    return xp.float32 if single else xp.float64


def eps(x: Any) -> float:
    """Return the rounding unit of the precision of ``x``."""
    xp = namespace(x)
    return float(xp.finfo(real_dtype(x.dtype, xp)).eps)


eigh = dispatched(host.eigh)
factor = dispatched(host.factor)


def linear_operator(like: Any, shape: tuple[int, int], **products: Callable[[Any], Any]) -> Any:
    """Return a matrix-free operator for the solvers of the library of ``like``."""
    return library(like).linear_operator(shape, like.dtype, **products)
