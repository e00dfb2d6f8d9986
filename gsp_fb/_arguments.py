"""Input validation: every value a user gives is checked here once."""

from __future__ import annotations

import math
from collections.abc import Iterable
from difflib import get_close_matches
from numbers import Integral, Real
from typing import Any, NamedTuple

import numpy as np

from .backend import IntArray, Signal, as_csr, cast, csr, device_of, is_array, is_numpy, is_sparse, namespace, to_host
from .backend.numpy1 import NUMPY
from .errors import GraphError, ParameterError, SignalError

__all__ = ["Checked", "check_choice", "check_count", "check_csr", "check_device", "check_host", "check_labels"]
__all__ += ["check_nodes", "check_number", "check_positive", "check_rng", "check_signal", "checked_signal"]
__all__ += ["host_array"]


def check_choice(value: object, choices: Iterable[str], what: str) -> str:
    """Return ``value`` if it is one of ``choices``; otherwise list them and name the nearest."""
    names = list(choices)
    if isinstance(value, str) and value in names:
        return value
    near = get_close_matches(str(value), names, n=1, cutoff=0.5)
    hint = f" (did you mean {near[0]!r}?)" if near else ""
    raise ParameterError(f"unknown {what} {value!r}; choose one of {', '.join(names)}{hint}")


def check_number(value: object, what: str, *, positive: bool = False) -> float:
    """Return ``value`` as a finite float, greater than zero if ``positive``."""
    if isinstance(value, bool | np.bool_) or not isinstance(value, Real):
        raise ParameterError(f"{what} must be a {'positive ' if positive else ''}number, not {value!r}")
    number = float(value)
    if not math.isfinite(number) or (positive and number <= 0):
        raise ParameterError(f"{what} must be finite{' and > 0' if positive else ''}, not {value!r}")
    return number


def check_positive(value: object, what: str) -> float:
    """Return ``value`` as a float that is finite and greater than zero."""
    return check_number(value, what, positive=True)


def check_count(value: object, what: str, *, minimum: int = 1) -> int:
    """Return ``value`` as an int that is at least ``minimum``."""
    if isinstance(value, bool | np.bool_) or not isinstance(value, Integral) or int(value) < minimum:
        raise ParameterError(f"{what} must be an integer >= {minimum}, not {value!r}")
    return int(value)


def check_nodes(nodes: Any, n_nodes: int, what: str, *, remedy: str = "") -> IntArray:
    """Return distinct node numbers, one at least, as an array."""
    found = np.asarray(nodes)
    if found.ndim != 1 or found.dtype.kind not in "iu" or not found.size:
        raise ParameterError(f"{what} must be a list of node numbers, at least one; got {nodes!r}")
    odd = found[(found < 0) | (found >= n_nodes)]
    if odd.size:
        raise ParameterError(f"node {odd[0]} is not in the graph; nodes are 0..{n_nodes - 1}")
    if len(np.unique(found)) < len(found):
        raise ParameterError(f"{what} lists a node twice{remedy}")
    return found.astype(np.int64)


def check_rng(rng: object) -> np.random.Generator:
    """Return a generator from a seed, a generator or None; global random state is never touched."""
    if rng is None or isinstance(rng, Integral | np.random.Generator | np.random.SeedSequence):
        return np.random.default_rng(rng)  # type: ignore[arg-type]  # the check above is the type
    raise ParameterError(f"rng must be None, an integer seed or a numpy Generator, not {rng!r}")


def check_csr(matrix: Any) -> None:
    """Raise GraphError unless the compressed matrix is well formed; malformed ones crash compiled code.

    Reads only the index arrays, so it is safe on input that no sparse routine may touch yet.
    """
    n_major, n_minor = matrix.shape if matrix.format != "csc" else matrix.shape[::-1]
    if matrix.format == "bsr":
        n_major, n_minor = n_major // matrix.blocksize[0], n_minor // matrix.blocksize[1]
    indptr, indices = matrix.indptr, matrix.indices
    if tuple(indptr.shape) != (n_major + 1,) or int(indptr[0]) != 0:
        raise GraphError(
            f"indptr has shape {tuple(indptr.shape)} for {n_major} rows; it must have {n_major + 1} entries from 0"
        )
    drop = _first(indptr[1:] < indptr[:-1])
    if drop is not None:
        raise GraphError(f"indptr decreases at row {drop}; a CSR matrix needs non-decreasing row pointers")
    end = int(indptr[-1])
    if min(indices.shape[0], matrix.data.shape[0]) < end:
        raise GraphError(f"indptr ends at {end} but only {indices.shape[0]} indices are stored")
    used = indices[:end]
    bad = _first((used < 0) | (used >= n_minor))
    if bad is not None:
        raise GraphError(f"column index {int(used[bad])} at position {bad} is outside 0..{n_minor - 1}")


def _first(mask: Any) -> int | None:
    """Return the first place where a 1-D mask is true, if there is one."""
    xp = namespace(mask)
    return int(xp.nonzero(mask)[0][0]) if bool(xp.any(mask)) else None


def check_device(x: Signal, like: Any) -> None:
    """Raise SignalError unless ``x`` lives on the device of ``like``: nothing is moved unasked."""
    here, there = device_of(x), device_of(like)
    if here != there:
        raise SignalError(
            f"the signal is on {here!r} but the graph on {there!r}; call .to({here!r}) on the graph, or move the signal"
        )


def check_host(device: str, what: str) -> None:
    """Raise GraphError unless a graph on ``device`` is on the host, where ``what`` states that something is done."""
    if device != "cpu":
        raise GraphError(f"{what} on the CPU; call .to('cpu') on this graph on {device!r} first")


def host_array(x: Any, error: type[Exception], what: str) -> Any:
    """Return ``x`` as an array of its own kind, or as a NumPy array if it is a list, frame or CPU tensor."""
    if type(x).__module__.partition(".")[0] == "torch":
        if x.device.type != "cpu":
            raise error(f"{what} is a torch tensor on {x.device}; call .cpu() on it first")
        return x.detach().resolve_conj().numpy()
    if not is_numpy(x) and is_array(x):
        return x
    if isinstance(x, np.ma.MaskedArray):
        if np.ma.is_masked(x):
            raise error(f"{what} has masked entries; fill them first")
        x = x.data
    try:
        return np.asarray(x)
    except ValueError as ragged:
        raise error(f"{what} is not a rectangular array: {ragged}") from None


def _floating(x: Any) -> Any:
    xp = namespace(x)
    if x.dtype in (xp.float32, xp.float64, xp.complex64, xp.complex128):
        return x
    if is_numpy(x) and x.dtype.kind not in "biufc":
        raise SignalError(f"signal has dtype {x.dtype}; numbers are needed")
    wide = xp.complex128 if xp.isdtype(x.dtype, "complex floating") else xp.float64
    return cast(x, wide)


class Checked(NamedTuple):
    """A signal after validation, with what every function would otherwise ask of it again."""

    values: Signal  # finite floating numbers, one row a node: an array, or CSR
    xp: Any  # the array namespace of the numbers
    is_sparse: bool
    device: str


def checked_signal(x: Any, n_nodes: int) -> Checked:
    """Return ``x`` as :func:`check_signal` does, together with its namespace, kind and device."""
    if _is_plain(x, n_nodes):
        return Checked(x, NUMPY, False, "cpu")
    values = check_signal(x, n_nodes)
    sparse = is_sparse(values)
    numbers = values.data if sparse else values
    return Checked(values, namespace(numbers), sparse, device_of(numbers))


def _is_plain(x: Any, n_nodes: int) -> bool:
    """Return whether ``x`` is one finite float64 signal on the host: the common case, settled in one look."""
    if type(x) is not np.ndarray or x.ndim != 1 or x.dtype != np.float64 or x.shape[0] != n_nodes:
        return False
    return int(np.count_nonzero(np.isfinite(x))) == n_nodes


def check_signal(x: Any, n_nodes: int) -> Signal:
    """Return ``x`` as a finite floating signal with one row per node: an array, or CSR if it is sparse."""
    if _is_plain(x, n_nodes):
        return x
    if is_sparse(x):
        return _check_sparse_signal(x, n_nodes)
    x = host_array(x, SignalError, "signal")
    if x.ndim not in (1, 2):
        raise SignalError(f"signal has shape {tuple(x.shape)}; it must be (n_nodes,) or (n_nodes, n_signals)")
    if x.shape[0] != n_nodes:
        flip = " (transposed?)" if x.ndim == 2 and x.shape[1] == n_nodes else ""
        raise SignalError(f"signal has {x.shape[0]} rows but the graph has {n_nodes} nodes{flip}")
    x = _floating(x)
    _check_finite(x, lambda at: f"signal is {to_host(x[at])} at index {at if len(at) > 1 else at[0]}")
    return x


def _check_sparse_signal(x: Any, n_nodes: int) -> Signal:
    if x.ndim == 1 and x.shape[0] == n_nodes:
        # One signal is one dense column: nothing is gained by its sparsity.
        return check_signal(x.toarray(), n_nodes)
    if x.ndim != 2 or x.shape[0] != n_nodes:
        raise SignalError(f"signal has shape {x.shape} but the graph has {n_nodes} nodes")
    if x.format in ("csr", "csc", "bsr"):
        try:
            check_csr(x)
        except GraphError as bad:
            raise SignalError(f"sparse signal: {bad}") from None
    x = as_csr(x)
    data = _floating(x.data)
    x = x if data is x.data else csr(data, x.indices, x.indptr, x.shape)
    ends = x.indptr[1:]
    _check_finite(
        data, lambda at: f"signal is {to_host(data[at])} in row {int(namespace(ends).count_nonzero(ends <= at[0]))}"
    )
    return x


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
    """Return class labels as int64, one per node, on their device; a negative one means unlabelled and becomes -1."""
    y = host_array(y, SignalError, "labels")
    if tuple(y.shape) != (n_nodes,):
        raise SignalError(f"labels have shape {tuple(y.shape)} but the graph has {n_nodes} nodes")
    xp = namespace(y)
    is_whole = xp.isdtype(y.dtype, "real floating") and bool(xp.all(y == xp.floor(y)))
    if not is_whole and not xp.isdtype(y.dtype, ("bool", "integral")):
        raise SignalError(f"labels must be integers (negative: unlabelled), not {y.dtype} {to_host(y[:3]).tolist()}...")
    given = cast(y, xp.int64)
    labels: IntArray = xp.where(given < 0, xp.full_like(given, -1), given)
    return labels
