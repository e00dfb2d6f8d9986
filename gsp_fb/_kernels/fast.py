"""The engine with numba: each thread runs a compiled loop over a block of rows."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from functools import partial
from itertools import pairwise
from threading import get_ident
from typing import Any

import numpy as np

from ..backend import FloatArray, IntArray, Signal, freeze, is_sparse, real_dtype
from . import loops, packed
from .engine import Csr, cost
from .gather import tiled_sums
from .threads import THREADS_FROM, each_block, n_threads, row_blocks
from .tiles import CACHE_LINE, column_blocks, packing_pays, tile_width

__all__ = ["affine_product", "chebyshev_bank", "label_propagation_step", "quadratic_form"]

# Blocks of rows per thread: enough to balance the threads where others use the machine too.
BLOCKS_PER_THREAD = 8
# Signals up to this size are in the second-level cache of the core that reads them.
CORE_BYTES = 2**20
# Maximal size of the block sums of a wide sparse signal; wider signals use fewer blocks.
SUMS = 2**23


def affine_product(graph: Csr, x: Signal, left: FloatArray, right: FloatArray, diag: FloatArray) -> Signal:
    """Return ``left * (A @ (right * x)) + diag * x`` in the precision of ``x``.

    Beside the result one vector ``right * x`` is allocated, or one block of packed rows. A single signal larger than
    the cache is read in tiles.
    """
    signal = _as_real(x)
    out = _aligned(signal.shape, signal.dtype, np.empty)  # the loops set every row
    if signal.shape[1] == 1:
        _single_product(graph, signal[:, 0], left, right, diag, out=out[:, 0])
    elif packing_pays(graph, signal):
        for start, n_columns, width in column_blocks(signal):
            block = _pack(signal, right, start, n_columns, width)
            _run(packed.packed_product, graph, block, *_inputs(block, signal, left, diag), out, (start, n_columns))
    else:
        _run(loops.product_2d, graph, x, *_inputs(signal, left, right, diag), out)
    return out.view(x.dtype).reshape(x.shape)


def _single_product(
    graph: Csr, x: FloatArray, left: FloatArray, right: FloatArray, diag: FloatArray, *, out: FloatArray
) -> None:
    """Set ``out`` to the product of one signal."""
    signal, own_left, own_diag = _inputs(x, left, diag)
    scaled, width = _scaled(x, right, _threads(cost(graph, x))), tile_width(graph, x)

    def on_rows(first: int, last: int, csr: Any, weights: Any) -> None:
        own = scaled()
        sums = tiled_sums(first, last, csr, weights, own, None, width)
        loops.product_1d(first, last, csr, weights, signal, own, own_left, own_diag, out, sums)

    _run(on_rows, graph, x)


def _pack(signal: FloatArray, scale: FloatArray, start: int, n_columns: int, width: int) -> FloatArray:
    """Return ``scale * signal`` of some columns as aligned rows of ``width`` numbers, the rest of them zero."""
    block = _aligned((len(signal), width), signal.dtype, np.empty if n_columns == width else np.zeros)
    x, own = _inputs(signal, scale)
    threads = _threads(block.size)
    cuts = np.linspace(0, len(signal), threads + 1).astype(int).tolist()
    each_block(
        lambda first, last: packed.pack_rows(first, last, x, own, start, n_columns, block),
        list(pairwise(cuts)),
        threads,
    )
    return block


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
    factors = scale * left, diag, 1.0 / scale
    for start, n_columns, width in column_blocks(signal):
        begin = _pack(signal, scale, start, n_columns, width)
        if signal.shape[1] == 1:
            begin = np.ascontiguousarray(begin[:, 0])
        _recurrence(graph, begin, rest, factors, terms=terms, out=out, columns=(start, signal.shape[1], n_columns))
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


def _recurrence(
    graph: Csr,
    now: FloatArray,
    right: FloatArray | None,
    factors: tuple[FloatArray, ...],
    *,
    terms: FloatArray,
    out: FloatArray,
    columns: tuple[int, int, int],
) -> None:
    """Add the bank of a few columns to ``out``; each new vector overwrites the older of the two that it is made of."""
    before, (left, diag, share) = _aligned(now.shape, now.dtype), factors
    flat_out = out.reshape(len(out), out.shape[1] * out.shape[2])
    loop: Callable[..., None] = packed.bank_step if now.ndim > 1 else partial(_single_step, tile_width(graph, now))
    for order, added in _steps(terms):
        vectors, step = (left, diag, before, share), (min(order, 2), added)
        _run(loop, graph, now, now, right, vectors, step, flat_out, columns)
        before, now = now, before


def _single_step(width: int, *arguments: Any) -> None:
    """Do what ``packed.bank_step`` does for a single signal, read in tiles of ``width`` nodes."""
    first, last, csr, weights, x, right, vectors, step, out, _ = arguments
    sums = tiled_sums(first, last, csr, weights, x, right, width)
    loops.bank_step_1d(first, last, csr, weights, x, right, sums, vectors, step, out)


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
    """Return Re(x* M x) of each column in double precision, where M is the affine operator."""
    if is_sparse(x):
        return _sparse_quadratic_form(graph, x, left, right, diag)
    signal = _as_real(x)
    if signal.shape[1] == 1:
        one = signal[:, 0].astype(np.float64, copy=False)
        # The order of np.sum does not depend on the number of threads; that of a BLAS dot product does.
        form: FloatArray = np.sum(one * affine_product(graph, one, left, right, diag), keepdims=True)
        return form
    blocks = list(enumerate(row_blocks(graph.indptr, cost(graph, x))))
    sums = np.zeros((len(blocks), signal.shape[1]))
    _run(loops.quadratic, graph, x, *_inputs(signal, left, right, diag), sums, blocks=blocks)
    # A real operator does not mix real and imaginary parts: their forms add.
    form = sums.sum(axis=0).reshape(-1, _n_parts(x)).sum(axis=1)
    return form


def _sparse_quadratic_form(graph: Csr, x: Any, *operator: FloatArray) -> FloatArray:
    blocks = list(enumerate(row_blocks(graph.indptr, cost(graph, x), max_blocks=SUMS // max(x.shape[1], 1))))
    sums = np.zeros((len(blocks), x.shape[1]))
    parts = np.ascontiguousarray(x.data).view(real_dtype(x.dtype)).reshape(-1, _n_parts(x))
    for part in parts.T:
        signal = tuple(_inputs(x.indptr, _unsigned(x.indices), np.ascontiguousarray(part)))
        _run(loops.sparse_quadratic, graph, x, graph.directed, signal, tuple(_inputs(*operator)), sums, blocks=blocks)
    form: FloatArray = sums.sum(axis=0)
    return form


def label_propagation_step(graph: Csr, labels: IntArray) -> IntArray:
    """Return for each node the label with the largest total weight among its neighbours; ties as in ``_kernels``."""
    out = np.empty_like(labels)
    _run(loops.label_propagation_rows, graph, labels, *_inputs(labels), out)
    return out


def _run(loop: Callable[..., None], graph: Csr, x: Any, *arguments: Any, blocks: list[Any] | None = None) -> None:
    """Run ``loop`` over the rows of a product with ``x``, in threads if the work exceeds THREADS_FROM.

    By default the blocks are row ranges, as few as keep the threads busy, for loops whose rows do not depend on them.
    """
    work, weights = cost(graph, x), graph.weights
    threads = _threads(work)
    if blocks is None:
        blocks = row_blocks(graph.indptr, work, max_blocks=BLOCKS_PER_THREAD * threads if threads > 1 else 1)
    csr = tuple(_inputs(graph.indptr, _unsigned(graph.indices)))
    each_block(lambda *block: loop(*block, csr, weights, *arguments), blocks, threads)


def _scaled(x: FloatArray, right: FloatArray, threads: int) -> Callable[[], FloatArray]:
    """Return a function that returns ``right * x`` in the precision of ``x``, in each of several threads its own.

    Every thread reads all of it at random. Lines that another core has just written come slower than the
    multiplication, as long as the copy fits the cache of the core.
    """
    made: dict[int, FloatArray] = {}
    shared = threads == 1 or x.nbytes > CORE_BYTES

    def own() -> FloatArray:
        key = 0 if shared else get_ident()
        if key not in made:
            made[key] = freeze(np.multiply(right, x, dtype=x.dtype, casting="same_kind"))
        return made[key]

    if shared:
        own()  # before the threads start
    return own


def _threads(work: int) -> int:
    return n_threads() if work >= THREADS_FROM else 1


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


def _n_parts(x: Any) -> int:
    return 2 if x.dtype.kind == "c" else 1


def _as_real(x: Signal) -> FloatArray:
    """Return a signal as contiguous real columns, two per complex column; without a copy where possible."""
    n_columns = (1 if x.ndim == 1 else x.shape[1]) * _n_parts(x)
    columns: FloatArray = np.ascontiguousarray(x).view(real_dtype(x.dtype)).reshape(x.shape[0], n_columns)
    return columns
