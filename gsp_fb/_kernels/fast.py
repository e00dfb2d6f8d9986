"""The engine with numba: each thread runs a compiled loop over a block of rows."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from itertools import pairwise
from typing import Any

import numpy as np

from ..backend import FloatArray, IntArray, Signal, freeze, is_sparse, real_dtype
from . import forms, loops
from .compiling import CACHE_LINE
from .csr import Csr
from .engine import cost
from .threads import THREADS_FROM, each_block, n_threads, row_blocks
from .tiles import single_blocks

__all__ = ["affine_product", "chebyshev_bank", "label_propagation_step", "quadratic_form"]

# Bytes of each row per pass of the recurrence: the randomly accessed vectors then stay in the cache.
COLUMN_BYTES = 128
# Maximal size of the block sums of a wide sparse signal; wider signals use fewer blocks.
SUMS = 2**23


def affine_product(graph: Csr, x: Signal, left: FloatArray, right: FloatArray, diag: FloatArray) -> Signal:
    """Return ``left * (A @ (right * x)) + diag * x`` in the precision of ``x``; only the result is allocated.

    For a single signal ``right * x`` is computed first, which halves the data gathered at random. A signal larger than
    the cache is read in tiles.
    """
    signal = _as_real(x)
    out = _aligned(signal.shape, signal.dtype, np.empty)  # the loops set every row
    work = cost(graph, x)
    if signal.shape[1] == 1:
        inputs = _inputs(signal[:, 0], _times(right, signal)[:, 0], left, diag)
        width, blocks = single_blocks(graph, signal[:, 0], work)
        _run(loops.product_1d, graph, work, blocks, *inputs, out[:, 0], width)
    else:
        _run(loops.product_2d, graph, work, row_blocks(graph.indptr, work), *_inputs(signal, left, right, diag), out)
    return out.view(x.dtype).reshape(x.shape)


def chebyshev_bank(
    graph: Csr, x: Signal, left: FloatArray, right: FloatArray, diag: FloatArray, *, coefficients: FloatArray
) -> Signal:
    """Return sum_k c[f, k] T_k(M) x for each filter f on a new last axis, where M is the affine operator.

    In memory the signal axis is last, so that each step writes contiguous vectors, filter by filter.
    """
    signal = _as_real(x)
    terms = np.asarray(coefficients, dtype=signal.dtype)
    out = _aligned((signal.shape[0], len(terms), signal.shape[1]), signal.dtype)
    if terms.shape[1] == 1:
        out += signal[:, None, :] * terms
    scale, rest = _folded(graph, right)
    for start, stop in _column_blocks(signal):
        begin = _times(scale, signal[:, start:stop])
        _recurrence(graph, begin, (scale * left, rest, diag), terms=terms, share=1.0 / scale, out=out, start=start)
    bank = np.swapaxes(out.view(x.dtype), 1, 2)
    return bank if x.ndim > 1 else bank[:, 0]


def _folded(graph: Csr, right: FloatArray) -> tuple[FloatArray, FloatArray | None]:
    """Split ``right`` into a scale of the signal and a remaining factor; None for ones, which are not gathered.

    The recurrence for ``scale * x`` does not read ``right``, but its result is divided by the scale at the end. The
    factor stays in the operator only if it is zero at a node that some row reads.
    """
    unread = (np.diff(graph.indptr) == 0) & (not graph.directed)
    scale = np.where(unread, 1.0, right)
    return (scale, None) if np.all(scale) else (np.ones_like(right), right)


def _column_blocks(signal: FloatArray) -> Iterator[tuple[int, int]]:
    """Return even blocks of columns that fit the cache; the recurrence runs over one block at a time."""
    width = COLUMN_BYTES // signal.itemsize
    n_columns = signal.shape[1]
    cuts = np.linspace(0, n_columns, -(-n_columns // width) + 1).astype(int).tolist()
    return pairwise(cuts)


def _recurrence(
    graph: Csr,
    begin: Signal,
    operator: tuple[FloatArray | None, ...],
    *,
    terms: FloatArray,
    share: FloatArray,
    out: FloatArray,
    start: int,
) -> None:
    """Add the bank of a few columns to ``out``; each new vector overwrites the oldest of the three."""
    before, now = _aligned(begin.shape, begin.dtype), _aligned(begin.shape, begin.dtype)
    now[:] = begin
    before, now = _flat(before), _flat(now)
    work = cost(graph, now)
    loop: Callable[..., None] = loops.bank_step
    blocks, last = row_blocks(graph.indptr, work), [start, out.shape[2]]
    if now.ndim == 1:
        loop = loops.bank_step_1d
        width, blocks = single_blocks(graph, now, work)
        last.append(width)
    flat_out = out.reshape(len(out), out.shape[1] * out.shape[2])
    for order, added in _steps(terms):
        _run(loop, graph, work, blocks, now, *operator, before, min(order, 2), added, share, flat_out, *last)
        before, now = now, before


def _steps(terms: FloatArray) -> Iterator[tuple[int, FloatArray]]:
    """Yield each order with the coefficients of its step: three orders at every third step, the rest at the last."""
    n_filters, n_terms = terms.shape
    done = 0
    for order in range(1, n_terms):
        added = np.zeros((3, 0), dtype=terms.dtype)
        if order - done == 2 or order == n_terms - 1:
            added = np.zeros((3, n_filters), dtype=terms.dtype)
            added[2 - order + done :] = terms[:, done : order + 1].T
            done = order + 1
        yield order, added


def quadratic_form(graph: Csr, x: Signal, left: FloatArray, right: FloatArray, diag: FloatArray) -> FloatArray:
    """Return Re(x* M x) of each column in double precision, where M is the affine operator; ``M x`` is not stored."""
    if is_sparse(x):
        return _sparse_quadratic_form(graph, x, left, right, diag)
    signal = _as_real(x)
    if signal.shape[1] == 1:
        return _single_form(graph, signal[:, 0].astype(np.float64), left, right, diag)
    work = cost(graph, x)
    blocks = list(enumerate(row_blocks(graph.indptr, work)))
    sums = np.zeros((len(blocks), signal.shape[1]))
    _run(forms.quadratic, graph, work, blocks, graph.directed, *_inputs(signal, left, right, diag), sums)
    # A real operator does not mix real and imaginary parts: their forms add.
    form: FloatArray = sums.sum(axis=0).reshape(-1, _n_parts(x)).sum(axis=1)
    return form


def _single_form(graph: Csr, x: FloatArray, *operator: FloatArray) -> FloatArray:
    """Return the form of one signal through its product, a single vector, which is faster than summing over pairs."""
    # The order of np.sum does not depend on the number of threads; that of a BLAS dot product does.
    form: FloatArray = np.sum(x * affine_product(graph, x, *operator), keepdims=True)
    return form


def _sparse_quadratic_form(graph: Csr, x: Any, *operator: FloatArray) -> FloatArray:
    work = cost(graph, x)
    max_blocks = SUMS // max(x.shape[1], 1)
    blocks = list(enumerate(row_blocks(graph.indptr, work, max_blocks=max_blocks)))
    sums = np.zeros((len(blocks), x.shape[1]))
    parts = np.ascontiguousarray(x.data).view(real_dtype(x.dtype)).reshape(-1, _n_parts(x))
    for part in parts.T:
        inputs = _inputs(x.indptr, _unsigned(x.indices), np.ascontiguousarray(part), *operator)
        _run(forms.sparse_quadratic, graph, work, blocks, graph.directed, *inputs, sums)
    form: FloatArray = sums.sum(axis=0)
    return form


def label_propagation_step(graph: Csr, labels: IntArray) -> IntArray:
    """Return for each node the label with the largest total weight among its neighbours; ties as in ``_kernels``."""
    out = np.empty_like(labels)
    work = cost(graph, labels)
    _run(loops.label_propagation_rows, graph, work, row_blocks(graph.indptr, work), *_inputs(labels), out)
    return out


def _run(loop: Callable[..., None], graph: Csr, work: int, blocks: list[Any], *arguments: Any) -> None:
    """Run ``loop`` over all blocks of rows, multithreaded if the work exceeds THREADS_FROM."""
    indptr, indices = _inputs(graph.indptr, _unsigned(graph.indices))
    weights = graph.weights
    each_block(
        lambda *block: loop(*block, indptr, indices, weights, *arguments),
        blocks,
        n_threads() if work >= THREADS_FROM else 1,
    )


def _inputs(*arrays: Any) -> list[Any]:
    """Return read-only views: numba compiles read-only and writable arrays separately, and this leaves one type."""
    return [freeze(array.view()) for array in arrays]


def _unsigned(indices: IntArray) -> IntArray:
    """Return the indices as unsigned integers, for which numba emits no wrap-around check of negative indices."""
    return indices.view(f"u{indices.itemsize}")


def _aligned(shape: tuple[int, ...], dtype: Any, make: Callable[..., Any] = np.zeros) -> FloatArray:
    """Return an array aligned to a cache line, so that a gathered row touches the minimal number of lines."""
    n_bytes = int(np.prod(shape)) * np.dtype(dtype).itemsize
    raw = make(n_bytes + CACHE_LINE, dtype=np.uint8)
    start = -raw.ctypes.data % CACHE_LINE
    aligned: FloatArray = raw[start : start + n_bytes].view(dtype).reshape(shape)
    return aligned


def _times(vector: FloatArray, columns: FloatArray) -> FloatArray:
    """Return ``diag(vector) @ columns`` in the precision of the columns."""
    scaled: FloatArray = np.multiply(vector[:, None], columns, dtype=columns.dtype, casting="same_kind")
    return scaled


def _flat(columns: FloatArray) -> FloatArray:
    """Return a single column as a vector, several columns unchanged."""
    return columns[:, 0] if columns.shape[1] == 1 else columns


def _n_parts(x: Any) -> int:
    return 2 if x.dtype.kind == "c" else 1


def _as_real(x: Signal) -> FloatArray:
    """Return a signal as contiguous real columns, two per complex column; without a copy where possible."""
    n_columns = (1 if x.ndim == 1 else x.shape[1]) * _n_parts(x)
    columns: FloatArray = np.ascontiguousarray(x).view(real_dtype(x.dtype)).reshape(x.shape[0], n_columns)
    return columns
