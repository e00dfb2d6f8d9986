"""The compiled loops; imported only when numba is there and the problem is large enough to gain from it.

Each loop works on the rows ``first <= i < last`` of a CSR structure, so that threads can share a graph, and
allocates nothing but one short accumulator, or two numbers a row where it reads a signal in tiles. ``weights`` is
None for an unweighted graph: numba compiles that case on its own and no weight is ever read.
"""

# ruff: noqa: PLR0917  # compiled code takes plain arrays, one argument each; objects that hold them it does not know

from __future__ import annotations

from collections.abc import Callable
from typing import Any, TypeVar, cast

import numpy as np

from .._extras import require
from .prefetch import prefetch

__all__ = ["bank_step", "bank_step_1d", "heaviest_label", "product", "product_1d", "quadratic", "sparse_quadratic"]

numba = require("numba", "the compiled engine")

_Loop = TypeVar("_Loop", bound=Callable[..., Any])

CACHE_LINE = 64
# Neighbours between the one that is read and the one that is asked for: long enough to hide the memory's latency.
AHEAD = 16
# So many lines of a row are asked for.
LINES = 8


def compiled(loop: _Loop) -> _Loop:
    """Compile at the first call, for each kind of arrays; kept on disk where a directory for it can be written."""
    options: dict[str, Any] = {"nogil": True, "error_model": "numpy"}
    try:
        return cast("_Loop", numba.njit(loop, cache=True, **options))
    except RuntimeError:
        return cast("_Loop", numba.njit(loop, **options))


def inlined(part: _Loop) -> _Loop:
    """Make a part of the loops; a call for each entry of a row would cost as much as the entry."""
    return cast("_Loop", numba.njit(part, error_model="numpy", inline="always"))


@inlined
def _ask(x: Any, row: int, line: int) -> None:
    """Ask the memory for the beginning of a row of ``x``; the rest of a long one it brings by itself."""
    stop = min(x.shape[1], LINES * line)
    c = 0
    # Not a range: its length would need a division at every entry.
    while c < stop:
        prefetch(x, row, c)
        c += line
    # A row that does not begin with a line ends in one more.
    prefetch(x, row, stop - 1)


@inlined
def _factor(right: Any, weights: Any, p: Any, j: Any) -> float:
    """Return w_p r_j; what is None stands for ones."""
    factor = 1.0 if right is None else right[j]
    return factor if weights is None else factor * weights[p]


@inlined
def _gather(total: Any, indices: Any, weights: Any, x: Any, right: Any, start: int, stop: int) -> None:
    """Set ``total`` to sum_p w_p r_j x[j] over start <= p < stop, j = indices[p]."""
    total[:] = 0
    line = CACHE_LINE // x.itemsize
    end = len(indices) - 1
    for p in range(start, stop):
        _ask(x, indices[min(p + AHEAD, end)], line)
        j = indices[p]
        factor = x.dtype.type(_factor(right, weights, p, j))
        for c in range(x.shape[1]):
            total[c] += factor * x[j, c]


@inlined
def _gather_1d(indices: Any, weights: Any, x: Any, right: Any, start: int, stop: int) -> Any:
    """Return sum_p w_p r_j x[j] over start <= p < stop; a single signal mostly fits the cache and is not asked for."""
    kind = x.dtype.type
    # Two sums, as an addition has to wait for the one before it.
    one, other = kind(0), kind(0)
    for p in range(start, stop - 1, 2):
        j, k = indices[p], indices[p + 1]
        one += kind(_factor(right, weights, p, j)) * x[j]
        other += kind(_factor(right, weights, p + 1, k)) * x[k]
    if (stop - start) % 2:
        j = indices[stop - 1]
        one += kind(_factor(right, weights, stop - 1, j)) * x[j]
    return one + other


@compiled
def _tiled_sums(first: int, last: int, indptr: Any, indices: Any, weights: Any, x: Any, right: Any, width: int) -> Any:
    """Return what ``_gather_1d`` returns for each of the rows, reading ``width`` nodes of ``x`` at a time.

    Neighbours are sorted: those of the next tile begin where a row's cursor stopped. No rows if one tile holds all.
    """
    n_rows = last - first if width < len(x) else 0
    sums, cursors = np.zeros(n_rows, x.dtype), indptr[first : first + n_rows].copy()
    for end in range(width, len(x) + width, width):
        for r in range(n_rows):
            p, stop, total = np.int64(cursors[r]), indptr[first + r + 1], sums[r]
            while p < stop:
                j = indices[p]
                if j >= end:
                    break
                total += x.dtype.type(_factor(right, weights, p, j)) * x[j]
                p += 1
            cursors[r], sums[r] = p, total
    return sums


@compiled
def product_1d(
    first: int,
    last: int,
    indptr: Any,
    indices: Any,
    weights: Any,
    x: Any,
    scaled: Any,
    left: Any,
    diag: Any,
    out: Any,
    width: int,
) -> None:
    """Set rows of ``out`` to ``left * (A @ scaled) + diag * x`` for a single signal, read in tiles of ``width``."""
    sums = _tiled_sums(first, last, indptr, indices, weights, scaled, None, width)
    for i in range(first, last):
        total = sums[i - first] if len(sums) else _gather_1d(indices, weights, scaled, None, indptr[i], indptr[i + 1])
        out[i] = x.dtype.type(left[i]) * total + x.dtype.type(diag[i]) * x[i]


@compiled
def product(
    first: int, last: int, indptr: Any, indices: Any, weights: Any, x: Any, left: Any, right: Any, diag: Any, out: Any
) -> None:
    """Set rows of ``out`` to ``left * (A @ (right * x)) + diag * x`` for a block of signals."""
    total = np.empty(x.shape[1], x.dtype)
    for i in range(first, last):
        _gather(total, indices, weights, x, right, indptr[i], indptr[i + 1])
        own_left, own_diag = x.dtype.type(left[i]), x.dtype.type(diag[i])
        for c in range(x.shape[1]):
            out[i, c] = own_left * total[c] + own_diag * x[i, c]


@compiled
def bank_step(
    first: int,
    last: int,
    indptr: Any,
    indices: Any,
    weights: Any,
    current: Any,
    left: Any,
    right: Any,
    diag: Any,
    previous: Any,
    scale: float,
    terms: Any,
    share: Any,
    out: Any,
    start: int,
) -> None:
    """Do one step of Chebyshev's recurrence in place of ``previous``, and add three terms to every filter.

    ``previous <- scale * (left * (A @ (right * current)) + diag * current) - (scale - 1) * previous``. With the two
    before it at hand, the new vector needs to be added to the outputs only at every third step: ``terms`` holds the
    coefficients of previous, current and new one for each filter, or of no filter; row i is added ``share[i]`` times.
    """
    n_columns = current.shape[1]
    total = np.empty(n_columns, current.dtype)
    twice, once = current.dtype.type(scale), current.dtype.type(scale - 1)
    for i in range(first, last):
        _gather(total, indices, weights, current, right, indptr[i], indptr[i + 1])
        own_left, own_diag = current.dtype.type(left[i]), current.dtype.type(diag[i])
        for c in range(n_columns):
            total[c] = twice * (own_left * total[c] + own_diag * current[i, c]) - once * previous[i, c]
        own_share = current.dtype.type(share[i])
        for f in range(terms.shape[1]):
            before, now, new = own_share * terms[0, f], own_share * terms[1, f], own_share * terms[2, f]
            for c in range(n_columns):
                out[i, f, start + c] += before * previous[i, c] + now * current[i, c] + new * total[c]
        for c in range(n_columns):
            previous[i, c] = total[c]


@compiled
def bank_step_1d(
    first: int,
    last: int,
    indptr: Any,
    indices: Any,
    weights: Any,
    current: Any,
    left: Any,
    right: Any,
    diag: Any,
    previous: Any,
    scale: float,
    terms: Any,
    share: Any,
    out: Any,
    start: int,
    width: int,
) -> None:
    """Do what ``bank_step`` does for a single signal, read in tiles of ``width`` nodes."""
    kind = current.dtype.type
    twice, once = kind(scale), kind(scale - 1)
    sums = _tiled_sums(first, last, indptr, indices, weights, current, right, width)
    for i in range(first, last):
        total = sums[i - first] if len(sums) else _gather_1d(indices, weights, current, right, indptr[i], indptr[i + 1])
        new = twice * (kind(left[i]) * total + kind(diag[i]) * current[i]) - once * previous[i]
        for f in range(terms.shape[1]):
            sum_of_three = terms[0, f] * previous[i] + terms[1, f] * current[i] + terms[2, f] * new
            out[i, f, start] += kind(share[i]) * sum_of_three
        previous[i] = new


@inlined
def _pair(i: Any, j: Any, left: Any, right: Any, directed: bool) -> Any:
    """Return the factor of x_i x_j in the form: that of both entries, (i, j) and (j, i), if only one is visited."""
    one_way = left[i] * right[j]
    return one_way if directed or i == j else one_way + left[j] * right[i]


@compiled
def quadratic(
    block: int,
    rows: tuple[int, int],
    indptr: Any,
    indices: Any,
    weights: Any,
    directed: bool,
    x: Any,
    left: Any,
    right: Any,
    diag: Any,
    out: Any,
) -> None:
    """Add the rows' part of ``x_c' (diag(left) A diag(right) + diag(diag)) x_c`` to ``out[block, c]``.

    Of an undirected graph only the entries j <= i are read: the pair (i, j) counts for both directions.
    """
    total = np.empty(x.shape[1], np.float64)
    line = CACHE_LINE // x.itemsize
    end = len(indices) - 1
    for i in range(rows[0], rows[1]):
        total[:] = 0
        for p in range(indptr[i], indptr[i + 1]):
            j = np.int64(indices[p])
            if not directed and j > i:
                break
            _ask(x, indices[min(p + AHEAD, end)], line)
            factor = _pair(i, j, left, right, directed) * (1.0 if weights is None else weights[p])
            for c in range(x.shape[1]):
                total[c] += factor * x[j, c]
        for c in range(x.shape[1]):
            own = np.float64(x[i, c])
            out[block, c] += own * (total[c] + diag[i] * own)


@compiled
def sparse_quadratic(
    block: int,
    rows: tuple[int, int],
    indptr: Any,
    indices: Any,
    weights: Any,
    directed: bool,
    x_indptr: Any,
    x_indices: Any,
    x_data: Any,
    left: Any,
    right: Any,
    diag: Any,
    out: Any,
) -> None:
    """Do what ``quadratic`` does for a CSR signal: row i is spread out once, then met by each neighbour's entries."""
    own = np.zeros(out.shape[1])
    for i in range(rows[0], rows[1]):
        if x_indptr[i] == x_indptr[i + 1]:
            continue
        for q in range(x_indptr[i], x_indptr[i + 1]):
            own[x_indices[q]] += x_data[q]
        for q in range(x_indptr[i], x_indptr[i + 1]):
            out[block, x_indices[q]] += diag[i] * x_data[q] * own[x_indices[q]]
        for p in range(indptr[i], indptr[i + 1]):
            j = np.int64(indices[p])
            if not directed and j > i:
                break
            factor = _pair(i, j, left, right, directed) * (1.0 if weights is None else weights[p])
            for q in range(x_indptr[j], x_indptr[j + 1]):
                out[block, x_indices[q]] += factor * x_data[q] * own[x_indices[q]]
        for q in range(x_indptr[i], x_indptr[i + 1]):
            own[x_indices[q]] = 0


@compiled
def heaviest_label(first: int, last: int, indptr: Any, indices: Any, weights: Any, labels: Any, out: Any) -> None:
    """Set ``out[i]`` to the label of the greatest weight around node i: its own if that ties, else the smallest."""
    weight_of = np.zeros(len(labels))
    for i in range(first, last):
        for p in range(indptr[i], indptr[i + 1]):
            weight_of[labels[indices[p]]] += 1.0 if weights is None else weights[p]
        best = labels[i]
        for p in range(indptr[i], indptr[i + 1]):
            label = labels[indices[p]]
            gain = weight_of[label] - weight_of[best]
            if gain > 0 or (gain == 0 and label < best and best != labels[i]):
                best = label
        out[i] = best
        for p in range(indptr[i], indptr[i + 1]):
            weight_of[labels[indices[p]]] = 0
