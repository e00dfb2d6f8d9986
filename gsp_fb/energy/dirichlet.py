"""Signal energy, Dirichlet energy, and their ratio S: the paper's measure of smoothness."""

from __future__ import annotations

import math
import warnings
from functools import reduce
from operator import add
from typing import Any

import numpy as np

from .._arguments import check_signal, host_array
from .._kernels import quadratic_form
from ..backend import (
    FloatArray,
    Signal,
    abs_squared,
    asarray_like,
    cast,
    column_peaks,
    csr,
    group_sum,
    is_sparse,
    namespace,
    real_dtype,
    to_host,
)
from ..errors import GspWarning, ParameterError, SignalError
from ..operators import Operator

__all__ = ["dirichlet_energy", "nonsmooth_energy", "s_value", "signal_energy"]

# Peaks outside this range are scaled by a power of two first, so that no square overflows or vanishes.
SAFE_PEAK = (1e-100, 1e100)
# Rows squared at a time: the temporary stays in the cache.
BLOCK_ROWS = 4096


def signal_energy(x: Any, *, per_column: bool = False) -> float | FloatArray:
    """Return E(x) = tr(x* x), the amount of content in a signal.

    Parameters
    ----------
    x : array_like or sparse, shape (n_nodes,) or (n_nodes, n_signals)
    per_column : bool
        One value per signal instead of their sum.

    Examples
    --------
    >>> signal_energy([3.0, 4.0])
    25.0
    """
    x, factor = _scaled(check_signal(x, _length(x)), per_column)
    return _energy(_squares(x), factor, per_column)


def dirichlet_energy(laplacian: Operator, x: Any, *, per_column: bool = False) -> float | FloatArray:
    """Return E_S(x) = tr(x* L x); small means smooth on the graph.

    It is the plain quadratic form of the high channel that is given. For a random-walk or directed one that is the
    form of its symmetric part.

    Parameters
    ----------
    laplacian : Operator
        A high channel.
    x : array_like or sparse, shape (n_nodes,) or (n_nodes, n_signals)
    per_column : bool
        One value per signal instead of their sum.

    Examples
    --------
    >>> from gsp_fb import Graph, operator
    >>> path = Graph.from_edges([(0, 1), (1, 2)])
    >>> dirichlet_energy(operator(path, "comb", channel="high"), [0.0, 1.0, 3.0])
    5.0
    """
    x, factor = _scaled(check_signal(x, _high(laplacian).graph.n_nodes), per_column)
    return _energy(_forms(laplacian, x), factor, per_column)


def nonsmooth_energy(laplacian: Operator, x: Any, *, per_column: bool = False) -> float | FloatArray:
    """Return E_NS(x) = E(x) - E_S(x) = tr(x* (I - L) x); negative for a signal rougher than L_ii = 1.

    The name is the paper's; a *small* value means a non-smooth signal.

    Examples
    --------
    >>> from gsp_fb import Graph, operator
    >>> edge = Graph.from_edges([(0, 1)])
    >>> nonsmooth_energy(operator(edge, "sym", channel="high"), [1.0, -1.0])
    -2.0
    """
    x, factor = _scaled(check_signal(x, _high(laplacian).graph.n_nodes), per_column)
    return _energy(_squares(x) - _forms(laplacian, x), factor, per_column)


def s_value(laplacian: Operator, x: Any, *, per_column: bool = False) -> float | FloatArray:
    """Return the smoothness ratio S(x) = tr(x* L x) / tr(x* x); small means smooth on the graph.

    Parameters
    ----------
    laplacian : Operator
        A high channel; ``sym`` and ``renorm_sym`` give the paper's two tables.
    x : array_like or sparse, shape (n_nodes,) or (n_nodes, n_signals)
    per_column : bool
        One value per signal instead of the ratio of traces; a zero column gives nan and a warning.

    Raises
    ------
    SignalError
        ``x`` has the wrong length, is not finite, or is zero everywhere.

    Examples
    --------
    >>> from gsp_fb import Graph, operator
    >>> path = Graph.from_edges([(0, 1), (1, 2)])
    >>> round(s_value(operator(path, "sym", channel="high"), [1.0, 1.0, 1.0]), 4)
    0.0572
    """
    x, _ = _scaled(check_signal(x, _high(laplacian).graph.n_nodes), per_column)
    smooth, total = _forms(laplacian, x), _squares(x)
    _refuse_overflow(smooth)
    xp = namespace(total)
    if not per_column:
        _refuse_zero(total)
        return float(xp.sum(smooth) / xp.sum(total))
    empty = total == 0
    if bool(xp.any(empty)):
        first = int(xp.nonzero(empty)[0][0])
        warnings.warn(f"signal column {first} is zero everywhere; its S-value is nan", GspWarning, stacklevel=2)
    ratio: FloatArray = xp.where(empty, xp.nan, smooth / xp.where(empty, 1.0, total))
    return ratio


def _refuse_zero(total: FloatArray) -> None:
    if float(namespace(total).sum(total)) == 0.0:
        raise SignalError("signal is zero everywhere; S = E_S / E is undefined")


def _refuse_overflow(smooth: FloatArray) -> None:
    xp = namespace(smooth)
    if not bool(xp.all(xp.isfinite(smooth))):
        raise SignalError("the quadratic form overflows float64: the degrees are too large; rescale the weights")


def _length(x: Any) -> int:
    if is_sparse(x):
        return int(x.shape[0])
    x = host_array(x, SignalError, "signal")
    if x.ndim == 0:
        raise SignalError(f"signal is the single value {x}; it must have one entry a node")
    return int(x.shape[0])


def _high(laplacian: Operator) -> Operator:
    if laplacian.channel != "high":
        raise ParameterError(
            f"energies are those of a high channel, not of {laplacian!r}; use operator(..., channel='high')"
        )
    return laplacian


def _peak(values: Any) -> float:
    """Return the largest absolute real or imaginary part, without a temporary."""
    xp = namespace(values)
    if 0 in values.shape:
        return 0.0
    if xp.isdtype(values.dtype, "complex floating"):
        return max(_peak(xp.real(values)), _peak(xp.imag(values)))
    return max(float(xp.max(values)), -float(xp.min(values)))


def _scaled(x: Signal, per_column: bool = False) -> tuple[Signal, Any]:
    """Return ``x / f`` and ``f``: a power of two where the squares would overflow or vanish, else 1."""
    if per_column and x.ndim == 2:
        return _scaled_columns(x)
    factor = safe_factor(_peak(x.data if is_sparse(x) else x))
    return (x, 1.0) if factor == 1.0 else (x / factor, factor)


def safe_factor(peak: float) -> float:
    """Return the power of two by which to divide a signal with this peak: 1 where no square overflows or vanishes."""
    if peak == 0.0 or SAFE_PEAK[0] < peak < SAFE_PEAK[1]:
        return 1.0
    return math.ldexp(1.0, math.frexp(peak)[1] - 1)


def _scaled_columns(x: Signal) -> tuple[Signal, Any]:
    """Scale each column by a factor of its own, so that a large one does not make a small one vanish."""
    factors = np.array([safe_factor(float(peak)) for peak in to_host(_column_peaks(x))])
    if np.all(factors == 1.0):
        return x, 1.0
    values = x.data if is_sparse(x) else x
    here = asarray_like(factors, values)
    if not is_sparse(x):
        return x / cast(here, real_dtype(x.dtype, namespace(x))), here
    return csr(x.data / namespace(values).take(here, x.indices, axis=0), x.indices, x.indptr, x.shape), here


def _column_peaks(x: Signal) -> Any:
    """Return the largest absolute real or imaginary part of each column, without a temporary of the size of ``x``."""
    if is_sparse(x):
        return column_peaks(x)
    xp = namespace(x)
    if 0 in x.shape:
        return asarray_like(np.zeros(x.shape[1]), x)
    parts = (xp.real(x), xp.imag(x)) if xp.isdtype(x.dtype, "complex floating") else (x,)
    return reduce(xp.maximum, (xp.maximum(xp.max(part, axis=0), -xp.min(part, axis=0)) for part in parts))


def _squares(x: Signal) -> FloatArray:
    """Return x* x for each column in double precision, a block of rows at a time."""
    xp = namespace(x.data if is_sparse(x) else x)
    double = xp.complex128 if xp.isdtype(x.dtype, "complex floating") else xp.float64
    if is_sparse(x):
        sums: FloatArray = group_sum(x.indices, abs_squared(cast(x.data, double)), x.shape[1])
        return sums
    n_rows, n_columns = x.shape[0], math.prod(x.shape[1:])
    if n_rows == 0:
        nothing: FloatArray = asarray_like(np.zeros(n_columns), x)
        return nothing
    columns = xp.reshape(x, (n_rows, n_columns))
    spans = ((start, min(start + BLOCK_ROWS, n_rows)) for start in range(0, n_rows, BLOCK_ROWS))
    blocks = (cast(columns[start:stop, ...], double) for start, stop in spans)
    return reduce(add, (xp.sum(abs_squared(block), axis=0) for block in blocks))


def _forms(laplacian: Operator, x: Signal) -> FloatArray:
    """Return Re(x* L x) for each column in double precision."""
    with np.errstate(over="ignore", invalid="ignore"):  # an overflow is reported by value, not by a warning
        return quadratic_form(laplacian.graph, x, laplacian.left, laplacian.right, laplacian.diag)


def _energy(columns: FloatArray, factor: Any, per_column: bool) -> float | FloatArray:
    """Return the energy of the unscaled signal, in total or per column, if a float64 can hold it."""
    xp = namespace(columns)
    with np.errstate(over="ignore", invalid="ignore"):
        energy = (columns if per_column else xp.sum(columns)) * factor * factor
    if not bool(xp.all(xp.isfinite(energy))):
        raise SignalError("the energy of this signal overflows float64; rescale it")
    return energy if per_column else float(energy)
