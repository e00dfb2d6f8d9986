"""The door: every value a user gives is checked here once; behind it, code trusts what it gets."""

from __future__ import annotations

import math
from collections.abc import Iterable
from difflib import get_close_matches
from numbers import Integral, Real
from typing import Any

import numpy as np
from scipy import sparse

from .backend import IntArray, Signal, is_numpy, is_sparse, namespace
from .errors import GraphError, ParameterError, SignalError

__all__ = [
    "check_choice",
    "check_count",
    "check_csr",
    "check_labels",
    "check_positive",
    "check_rng",
    "check_signal",
    "host_array",
]


def check_choice(value: object, choices: Iterable[str], what: str) -> str:
    """Return ``value`` if it is one of ``choices``; otherwise list them and name the nearest.

    Examples
    --------
    >>> check_choice("hgih", ["low", "high"], "channel")
    Traceback (most recent call last):
    ...
    gsp_fb.errors.ParameterError: unknown channel 'hgih'; choose one of low, high (did you mean 'high'?)
    """
    names = list(choices)
    if isinstance(value, str) and value in names:
        return value
    near = get_close_matches(str(value), names, n=1, cutoff=0.5)
    hint = f" (did you mean {near[0]!r}?)" if near else ""
    raise ParameterError(f"unknown {what} {value!r}; choose one of {', '.join(names)}{hint}")


def check_positive(value: object, what: str) -> float:
    """Return ``value`` as a float that is finite and greater than zero."""
    if isinstance(value, bool | np.bool_) or not isinstance(value, Real):
        raise ParameterError(f"{what} must be a positive number, not {value!r}")
    number = float(value)
    if not (math.isfinite(number) and number > 0):
        raise ParameterError(f"{what} must be finite and > 0, not {value!r}")
    return number


def check_count(value: object, what: str, *, least: int = 1) -> int:
    """Return ``value`` as an int that is at least ``least``."""
    if isinstance(value, bool | np.bool_) or not isinstance(value, Integral) or int(value) < least:
        raise ParameterError(f"{what} must be an integer >= {least}, not {value!r}")
    return int(value)


def check_rng(rng: object) -> np.random.Generator:
    """Return a generator from a seed, a generator or None; global random state is never touched."""
    if rng is None or isinstance(rng, Integral | np.random.Generator | np.random.SeedSequence):
        return np.random.default_rng(rng)  # type: ignore[arg-type]  # the check above is the type
    raise ParameterError(f"rng must be None, an integer seed or a numpy Generator, not {rng!r}")


def check_csr(matrix: Any) -> None:
    """Raise GraphError unless the compressed matrix is well formed; malformed ones crash compiled code.

    Reads only the index arrays, so it is safe on input that no sparse routine may touch yet.
    """
    n_major = matrix.shape[0] if matrix.format != "csc" else matrix.shape[1]
    n_minor = matrix.shape[1] if matrix.format != "csc" else matrix.shape[0]
    if matrix.format == "bsr":
        n_major, n_minor = n_major // matrix.blocksize[0], n_minor // matrix.blocksize[1]
    indptr, indices = np.asarray(matrix.indptr), np.asarray(matrix.indices)
    if indptr.shape != (n_major + 1,) or indptr[0] != 0:
        raise GraphError(
            f"indptr has shape {indptr.shape} for {n_major} rows; it must have {n_major + 1} entries from 0"
        )
    drop = np.flatnonzero(np.diff(indptr) < 0)
    if drop.size:
        raise GraphError(f"indptr decreases at row {drop[0]}; a CSR matrix needs non-decreasing row pointers")
    if len(indices) < indptr[-1] or len(matrix.data) < indptr[-1]:
        raise GraphError(f"indptr ends at {indptr[-1]} but only {len(indices)} indices are stored")
    used = indices[: indptr[-1]]
    bad = np.flatnonzero((used < 0) | (used >= n_minor))
    if bad.size:
        raise GraphError(f"column index {used[bad[0]]} at position {bad[0]} is outside 0..{n_minor - 1}")


def host_array(x: Any, error: type[Exception], what: str) -> Any:
    """Return ``x`` as an array of its own kind, or as a NumPy array if it is a list, frame or CPU tensor."""
    if type(x).__module__.partition(".")[0] == "torch":
        if x.device.type != "cpu":
            raise error(f"{what} is a torch tensor on {x.device}; call .cpu() on it first")
        return x.detach().resolve_conj().numpy()
    if not is_numpy(x) and hasattr(x, "__array_namespace__"):
        return x
    if isinstance(x, np.ma.MaskedArray):
        if np.ma.is_masked(x):
            raise error(f"{what} has masked entries; fill them first")
        x = x.data
    try:
        return np.asarray(x)
    except ValueError as ragged:
        raise error(f"{what} is not a rectangular array: {ragged}") from None


def _floating(x: Any, error: type[Exception], what: str) -> Any:
    xp = namespace(x)
    if x.dtype in (xp.float32, xp.float64, xp.complex64, xp.complex128):
        return x
    if xp is np and x.dtype.kind not in "biufc":
        raise error(f"{what} has dtype {x.dtype}; numbers are needed")
    wide = xp.complex128 if xp.isdtype(x.dtype, "complex floating") else xp.float64
    return xp.astype(x, wide) if xp is not np else x.astype(wide)


def check_signal(x: Any, n_nodes: int) -> Signal:
    """Return ``x`` as a finite floating signal with one row per node: an array, or CSR if it is sparse.

    Raises
    ------
    SignalError
        Wrong length or number of axes, not numbers, NaN or infinite.
    """
    if is_sparse(x):
        return _check_sparse_signal(x, n_nodes)
    x = host_array(x, SignalError, "signal")
    if x.ndim not in (1, 2):
        raise SignalError(f"signal has shape {tuple(x.shape)}; it must be (n_nodes,) or (n_nodes, n_signals)")
    if x.shape[0] != n_nodes:
        flip = " (transposed?)" if x.ndim == 2 and x.shape[1] == n_nodes else ""
        raise SignalError(f"signal has {x.shape[0]} rows but the graph has {n_nodes} nodes{flip}")
    x = _floating(x, SignalError, "signal")
    _check_finite(x, lambda at: f"signal is {x[at]} at index {at if len(at) > 1 else at[0]}")
    return x


def _check_sparse_signal(x: Any, n_nodes: int) -> Signal:
    if x.ndim != 2 or x.shape[0] != n_nodes:
        raise SignalError(f"signal has shape {x.shape} but the graph has {n_nodes} nodes")
    if x.format in ("csr", "csc", "bsr"):
        try:
            check_csr(x)
        except GraphError as bad:
            raise SignalError(f"sparse signal: {bad}") from None
    x = sparse.csr_array(x)
    x = x if x.dtype.kind == "f" and x.dtype.itemsize in (4, 8) else _sparse_floating(x)
    _check_finite(x.data, lambda at: f"signal is {x.data[at]} in row {np.searchsorted(x.indptr, at[0], 'right') - 1}")
    return x


def _sparse_floating(x: Any) -> Any:
    if x.dtype.kind not in "biufc":
        raise SignalError(f"signal has dtype {x.dtype}; numbers are needed")
    return x.astype(np.complex128 if x.dtype.kind == "c" else np.float64)


def _check_finite(x: Any, describe: Any) -> None:
    xp = namespace(x)
    with np.errstate(over="ignore", invalid="ignore"):
        if bool(xp.isfinite(xp.sum(x))):  # no temporary; a finite sum has only finite terms
            return
    finite = xp.isfinite(x)
    if not bool(xp.all(finite)):
        at = tuple(int(i[0]) for i in xp.nonzero(~finite))
        raise SignalError(f"{describe(at)}; signals must be finite")


def check_labels(y: Any, n_nodes: int) -> IntArray:
    """Return class labels as int64, one per node; a negative label means unlabelled."""
    y = host_array(y, SignalError, "labels")
    if y.shape != (n_nodes,):
        raise SignalError(f"labels have shape {tuple(y.shape)} but the graph has {n_nodes} nodes")
    if y.dtype.kind not in "biuf" or not np.all(y == np.floor(y)):
        raise SignalError(f"labels must be integers (negative: unlabelled), not {y.dtype} {y[:3].tolist()}...")
    return np.asarray(y, dtype=np.int64)
