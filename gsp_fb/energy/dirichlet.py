r"""Signal energy, Dirichlet energy, and their ratio S: the mean graph frequency of a signal.

Energies of an operator are taken in the inner product :math:`\langle x, y\rangle = \sum_i s_i^2 \bar x_i y_i`, ``s =
op.scale``, in which it is self-adjoint: the plain one for combinatorial and symmetric families, degrees as weights for
random-walk ones. A directed operator has none, and the plain one is taken.
"""

from __future__ import annotations

import math
import warnings
from collections.abc import Iterator
from functools import reduce
from operator import add
from typing import Any, NamedTuple

import numpy as np
from scipy.linalg.blas import ddot

from .._arguments import Checked, check_choice, checked_signal, host_array
from .._kernels import quadratic_form
from ..backend import (
    FloatArray,
    abs_squared,
    asarray_like,
    cast,
    column_peaks,
    csr,
    diagonal_times,
    group_sum,
    is_sparse,
    namespace,
    real_dtype,
    to_host,
)
from ..errors import GspWarning, ParameterError, SignalError
from ..operators import Operator, check_operator

__all__ = ["check_high", "dirichlet_energy", "divided", "n_rows", "nonsmooth_energy", "s_value", "safe_factor"]
__all__ += ["signal_energy"]

ENERGIES = "energies belong to"
# Sums of squares in this range have neither overflowed nor lost a term that counts; others are scaled first.
SAFE_SQUARES = (1e-200, 1e200)
# Rows squared at a time: the temporary stays in the cache.
BLOCK_ROWS = 4096


def signal_energy(
    x: Any, op: Operator | None = None, *, per_column: bool = False, inner: str | None = None
) -> float | FloatArray:
    r"""Return E(x) = <x, x>, the amount of content in a signal.

    Parameters
    ----------
    x : array_like, sparse, or path of a ``.npy`` file, shape (n_nodes,) or (n_nodes, n_signals)
    op : Operator, optional
        Take the inner product of this operator, :math:`\sum_i s_i^2 |x_i|^2` with ``s = op.scale``, and on MPI ranks
        the sum over all of them; by default the plain sum of squares of ``x``.
    per_column : bool
        One value per signal instead of their sum.
    inner : {None, 'plain'}
        ``'plain'``: the plain sum of squares, also of a random-walk operator.

    Returns
    -------
    float or ndarray, shape (n_signals,)

    Raises
    ------
    SignalError
        ``x`` has the wrong length, is not finite, or its energy overflows.

    See Also
    --------
    dirichlet_energy : The part of it that varies over the edges.

    Examples
    --------
    >>> from gsp_fb import datasets, operator
    >>> signal_energy([3.0, 4.0]), signal_energy([1.0, 1.0, 1.0], operator(datasets.path(3), "rw"))
    (25.0, 4.0)
    """
    if op is None:
        _check_inner(inner)
        alone = checked_signal(x, n_rows(x))
        parts = [_Part(None, *_scaled_squares(alone, None, per_column)[1:])]
    else:
        parts = list(_parts(op, x, inner, per_column, forms=False))
    return _energy([part.squares for part in parts], parts, per_column)


def dirichlet_energy(op: Operator, x: Any, *, per_column: bool = False, inner: str | None = None) -> float | FloatArray:
    r"""Return E_S(x) = <x, L x>; small means smooth on the graph.

    Parameters
    ----------
    op : Operator
        A high channel L, on any storage.
    x : array_like, sparse, or path of a ``.npy`` file, shape (n_nodes,) or (n_nodes, n_signals)
    per_column : bool
        One value per signal instead of their sum.
    inner : {None, 'plain'}
        By default the inner product in which L is self-adjoint. ``'plain'``: :math:`x^* L x`, for a random-walk
        operator the form of its symmetric part. Directed operators always have the plain one.

    Returns
    -------
    float or ndarray, shape (n_signals,)

    Raises
    ------
    ParameterError
        ``op`` is a low channel.
    SignalError
        ``x`` has the wrong length, is not finite, or its energy overflows.

    See Also
    --------
    s_value : The same relative to the energy of the signal, with the reference.

    Examples
    --------
    >>> from gsp_fb import datasets, operator
    >>> dirichlet_energy(operator(datasets.path(3), "comb", channel="high"), [0.0, 1.0, 3.0])
    5.0
    """
    parts = list(_parts(check_high(op, ENERGIES), x, inner, per_column))
    return _energy([part.forms for part in parts], parts, per_column)


def nonsmooth_energy(op: Operator, x: Any, *, per_column: bool = False, inner: str | None = None) -> float | FloatArray:
    """Return E_NS(x) = E(x) - E_S(x) = <x, (I - L) x>; negative for a signal of mean frequency above 1.

    The name is the paper's; a *small* value means a non-smooth signal.

    Parameters
    ----------
    op, x, per_column, inner
        As in :func:`dirichlet_energy`.

    Returns
    -------
    float or ndarray, shape (n_signals,)

    See Also
    --------
    dirichlet_energy, signal_energy

    Examples
    --------
    >>> from gsp_fb import datasets, operator
    >>> nonsmooth_energy(operator(datasets.path(2), "sym", channel="high"), [1.0, -1.0])
    -2.0
    """
    parts = list(_parts(check_high(op, ENERGIES), x, inner, per_column))
    return _energy([part.squares - part.forms for part in parts], parts, per_column)


def s_value(op: Operator, x: Any, *, per_column: bool = False, inner: str | None = None) -> float | FloatArray:
    r"""Return the smoothness ratio S(x) = <x, L x> / <x, x>, the mean graph frequency of a signal.

    It lies in the operator's bounds and equals the mean of :func:`energy_profile`.

    Parameters
    ----------
    op : Operator
        A high channel, on any storage; ``sym`` and ``renorm_sym`` give the paper's two tables.
    x : array_like, sparse, or path of a ``.npy`` file, shape (n_nodes,) or (n_nodes, n_signals)
    per_column : bool
        One value per signal instead of the ratio of traces; a zero column gives nan and a warning.
    inner : {None, 'plain'}
        As in :func:`dirichlet_energy`; :math:`x^* L x / x^* x` leaves the bounds for random-walk families.

    Returns
    -------
    float or ndarray, shape (n_signals,)
        0 for the smoothest signal of the operator; compare with random placement by :func:`s_value_significance`.

    Raises
    ------
    ParameterError
        ``op`` is a low channel, or not even one column fits the memory limit of a graph on disk.
    SignalError
        ``x`` has the wrong length, is not finite, or is zero everywhere.

    See Also
    --------
    energy_profile : The whole distribution over frequencies.
    s_value_significance : Whether random placement would give the same.

    References
    ----------
    .. [1] S. Luan et al., "Complete the missing half", GLFrontiers workshop at NeurIPS 2022.

    Examples
    --------
    >>> from gsp_fb import datasets, operator
    >>> round(s_value(operator(datasets.path(3), "sym", channel="high"), [1.0, 1.0, 1.0]), 4)
    0.0572
    """
    parts = list(_parts(check_high(op, ENERGIES), x, inner, per_column))
    if per_column:
        return _ratios(parts)
    smooth, total = (parts[0].forms, parts[0].squares) if len(parts) == 1 else _sums(parts)
    _refuse_overflow(smooth)
    if total == 0.0:
        raise SignalError("signal is zero everywhere; S = E_S / E is undefined")
    return float(smooth / total)


class _Part(NamedTuple):
    """The energies of a block of columns divided by ``factor``: of each column, or of all together."""

    forms: Any
    squares: Any
    factor: Any


def _parts(op: Operator, x: Any, inner: str | None, per_column: bool, *, forms: bool = True) -> Iterator[_Part]:
    """Yield the energies of ``x``, a block of columns at a time, summed over all processes."""
    _check_inner(inner)
    storage = op.graph.storage
    # In the coordinates of the symmetrized operator its inner product is the plain one.
    weighted = inner is None and not op.is_symmetric and not storage.directed
    core = op.symmetrized if weighted else op
    for _, given in op.graph.signals(x):
        signal = given._replace(values=diagonal_times(op.scale, given.values)) if weighted else given
        scaled, squares, factor = _scaled_squares(signal, storage, per_column)
        form = _total(storage.reduce(_forms(core, scaled), "sum"), scaled.xp, per_column) if forms else None
        yield _Part(form, squares, factor)


def _scaled_squares(signal: Checked, storage: Any, per_column: bool) -> tuple[Checked, Any, Any]:
    """Return the signal divided by a factor, its squares, and the factor: 1 where no square overflows or vanishes."""
    squares = _reduced(storage, _squares(signal), "sum")
    total = _total(squares, signal.xp, per_column)
    if _are_safe(total, signal.xp):
        return signal, total, 1.0
    peaks = _reduced(storage, _column_peaks(signal), "max")
    factor = _factors(peaks, signal, per_column)
    if factor is None:
        return signal, total, 1.0
    scaled = signal._replace(values=divided(signal.values, factor))
    return scaled, _total(_reduced(storage, _squares(scaled), "sum"), signal.xp, per_column), factor


def _reduced(storage: Any, values: Any, how: str) -> Any:
    return values if storage is None else storage.reduce(values, how)


def _total(columns: Any, xp: Any, per_column: bool) -> Any:
    """Return the values of the columns, or their sum as a number."""
    if isinstance(columns, float):
        return np.array([columns]) if per_column else columns
    return columns if per_column else float(xp.sum(columns))


def _are_safe(squares: Any, xp: Any) -> bool:
    if isinstance(squares, float):
        return SAFE_SQUARES[0] < squares < SAFE_SQUARES[1]
    return bool(xp.all((squares > SAFE_SQUARES[0]) & (squares < SAFE_SQUARES[1])))


def safe_factor(peak: float) -> float:
    """Return the power of two that brings a peak to between 1 and 2; 1 for a peak of 0."""
    return 1.0 if peak == 0.0 else math.ldexp(1.0, math.frexp(peak)[1] - 1)


def _factors(peaks: Any, signal: Checked, per_column: bool) -> Any:
    """Return what to divide a signal by: a number, or one for each column; None where all is zero."""
    host = np.asarray(to_host(peaks))
    if not host.any():
        return None
    if not per_column or signal.values.ndim == 1:
        return safe_factor(float(host.max()))
    numbers = signal.values.data if signal.is_sparse else signal.values
    return asarray_like(np.array([safe_factor(float(peak)) for peak in host]), numbers)


def divided(x: Any, factor: Any) -> Any:
    """Return a signal divided by a number, or each column by its own."""
    if isinstance(factor, float):
        return x / factor
    if is_sparse(x):
        return csr(x.data / namespace(x.data).take(factor, x.indices, axis=0), x.indices, x.indptr, x.shape)
    return x / cast(factor, real_dtype(x.dtype, namespace(x)))


def _column_peaks(signal: Checked) -> Any:
    """Return the largest absolute real or imaginary part of each column, without a temporary of the size of ``x``."""
    x, xp = signal.values, signal.xp
    if signal.is_sparse:
        return column_peaks(x)
    if x.ndim == 1:
        x = x[:, None]
    if 0 in x.shape:
        return asarray_like(np.zeros(x.shape[1]), x)
    parts = (xp.real(x), xp.imag(x)) if xp.isdtype(x.dtype, "complex floating") else (x,)
    return reduce(xp.maximum, (xp.maximum(xp.max(part, axis=0), -xp.min(part, axis=0)) for part in parts))


def _squares(signal: Checked) -> Any:
    """Return x* x for each column in double precision, a block of rows at a time; a number for a single signal."""
    x, xp = signal.values, signal.xp
    if _is_single(signal):
        if len(x) <= BLOCK_ROWS:
            return ddot(x, x)
        blocks = (x[start : start + BLOCK_ROWS] for start in range(0, len(x), BLOCK_ROWS))
        return sum(ddot(block, block) for block in blocks)
    with np.errstate(over="ignore"):
        double = xp.complex128 if xp.isdtype(x.dtype, "complex floating") else xp.float64
        if signal.is_sparse:
            return group_sum(x.indices, abs_squared(cast(x.data, double)), x.shape[1])
        n_rows, n_columns = x.shape[0], math.prod(x.shape[1:])
        if n_rows == 0:
            return asarray_like(np.zeros(n_columns), x)
        columns = xp.reshape(x, (n_rows, n_columns))
        spans = ((start, min(start + BLOCK_ROWS, n_rows)) for start in range(0, n_rows, BLOCK_ROWS))
        blocks = (cast(columns[start:stop, ...], double) for start, stop in spans)
        return reduce(add, (xp.sum(abs_squared(block), axis=0) for block in blocks))


def _is_single(signal: Checked) -> bool:
    """Return whether BLAS adds up this signal by blocks, each in one thread and hence always in the same order."""
    x = signal.values
    return type(x) is np.ndarray and x.ndim == 1 and x.shape[0] > 0 and x.dtype == np.float64


def _forms(op: Operator, signal: Checked) -> Any:
    """Return Re(x* L x) for each column in double precision; a number for a short signal."""
    with np.errstate(over="ignore", invalid="ignore"):  # an overflow is reported by value, not by a warning
        if _is_single(signal) and len(signal.values) <= BLOCK_ROWS:
            return ddot(signal.values, op.apply(signal.values))
        return quadratic_form(op.graph, signal.values, op.left, op.right, op.diag)


def _energy(columns: list[Any], parts: list[_Part], per_column: bool) -> float | FloatArray:
    """Return the energy of the unscaled signal, in total or per column, if a float64 can hold it."""
    with np.errstate(over="ignore", invalid="ignore"):
        unscaled = [values * part.factor * part.factor for values, part in zip(columns, parts, strict=True)]
    xp = namespace(unscaled[0])
    energy = sum(unscaled) if not per_column else unscaled[0] if len(unscaled) == 1 else xp.concat(unscaled)
    if not bool(xp.all(xp.isfinite(energy))):
        raise SignalError("the energy of this signal overflows float64; rescale it")
    return energy if per_column else float(energy)


def _sums(parts: list[_Part]) -> tuple[float, float]:
    """Return forms and squares added over blocks of columns, after bringing the blocks to one unit."""
    largest = max(part.factor for part in parts)
    shares = [(part.factor / largest) ** 2 for part in parts]
    smooth = sum(share * part.forms for share, part in zip(shares, parts, strict=True))
    return smooth, sum(share * part.squares for share, part in zip(shares, parts, strict=True))


def _ratios(parts: list[_Part]) -> FloatArray:
    xp = namespace(parts[0].squares)
    smooth, total = (xp.concat([getattr(part, name) for part in parts]) for name in ("forms", "squares"))
    _refuse_overflow(smooth)
    empty = total == 0
    if bool(xp.any(empty)):
        first = int(xp.nonzero(empty)[0][0])
        warnings.warn(f"signal column {first} is zero everywhere; its S-value is nan", GspWarning, stacklevel=3)
    ratio: FloatArray = xp.where(empty, xp.nan, smooth / xp.where(empty, 1.0, total))
    return ratio


def _refuse_overflow(smooth: Any) -> None:
    if isinstance(smooth, float):
        finite = math.isfinite(smooth)
    else:
        xp = namespace(smooth)
        finite = bool(xp.all(xp.isfinite(smooth)))
    if not finite:
        raise SignalError("the quadratic form overflows float64: the degrees are too large; rescale the weights")


def n_rows(x: Any) -> int:
    """Return the number of rows of a signal that comes without a graph."""
    if is_sparse(x):
        return int(x.shape[0])
    x = host_array(x, SignalError, "signal")
    if x.ndim == 0:
        raise SignalError(f"signal is the single value {x}; it must have one entry a node")
    return int(x.shape[0])


def _check_inner(inner: object) -> None:
    if inner is not None:
        check_choice(inner, ("plain",), "inner product")


def check_high(op: Operator, what: str) -> Operator:
    """Return ``op`` if it is a high channel, whose eigenvalues are frequencies; ``what`` states what needs them."""
    if check_operator(op).channel != "high":
        raise ParameterError(f"{what} a high channel, and {op!r} is a low channel: give op.complement()")
    return op
