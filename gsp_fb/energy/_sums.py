"""Sums over a symmetric matrix and over the Gram matrix of a signal's rows, on every storage and over all processes.

Moments under random placement need them, see :mod:`gsp_fb.energy.permutation`.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from functools import partial
from typing import Any, NamedTuple

import numpy as np
from scipy import sparse

from ..backend import FloatArray, column_peaks, is_sparse, to_dense, to_host
from ..graph import Graph
from ..operators import Operator
from .dirichlet import check_high, divided, safe_factor

__all__ = ["Gram", "Weights", "gram", "inner_weights", "weights_of"]


@dataclass(frozen=True, eq=False)
class Weights:
    """The symmetric matrix M of the form ``<x, L x>``, and the weights of the norm, both in units of ``unit``.

    ``diagonal``, ``row_sums`` (off the diagonal) and ``norm`` have the local rows. ``squares`` is the sum of squares
    off the diagonal, nan where a mean needs none. ``varies``: the norm of a signal depends on its placement.
    """

    graph: Graph
    diagonal: FloatArray
    row_sums: FloatArray
    norm: FloatArray
    squares: float
    unit: float = 1.0
    varies: bool = False

    def sums(self, *values: Any) -> list[float]:
        """Return the sums of vectors over the nodes of all processes."""
        local = np.array([float(np.sum(one)) for one in values])
        return [float(total) for total in self.graph.storage.reduce(local, "sum")]


class Gram(NamedTuple):
    """Sums over the Gram matrix B of the rows of a signal, each an array over the signals that are looked at.

    ``trace`` is the sum of its diagonal b, ``fourth`` that of b^2; off the diagonal, with row sums r, ``total`` is the
    sum of all entries, ``squares`` of their squares (nan where only the mean is wanted), ``rows`` of r^2 and ``mixed``
    of b r.
    """

    trace: FloatArray
    fourth: FloatArray
    total: FloatArray
    squares: FloatArray
    rows: FloatArray
    mixed: FloatArray


def inner_weights(op: Operator) -> FloatArray:
    """Return the weights of the inner product in which ``op`` is self-adjoint, on the host; ones if it is directed."""
    scale = np.asarray(to_host(op.scale))
    return np.ones_like(scale) if op.graph.directed else scale**2


def weights_of(op: Operator, *, mean_only: bool = False) -> Weights:
    """Return the sums over the symmetric matrix of the form ``<x, L x>``, on the host. Collective on MPI ranks."""
    check_high(op, "S is that of")
    op.graph.check_real("a random placement of values")
    directed = op.graph.directed
    norm = inner_weights(op)
    diagonal = norm * to_host(op.diagonal)
    row_sums = norm * to_host(op.apply(op.diag * 0.0 + 1.0)) - diagonal
    ends = np.array([norm.max(initial=-np.inf), -norm.min(initial=np.inf)])
    largest, least = op.graph.storage.reduce(ends, "max")
    varies = bool(-least < largest)
    mean_only = mean_only and not varies
    if directed and not mean_only:
        row_sums = (row_sums + to_host(op.T.apply(op.diag * 0.0 + 1.0)) - diagonal) / 2
    # Degrees from 1e-150 to 1e150 are squared below.
    peak = op.graph.storage.reduce(np.array([np.abs(diagonal).max(initial=0.0)]), "max")
    unit = safe_factor(float(peak[0]))
    squares = np.nan if mean_only else _directed_squares(op, unit) if directed else _squares(op, norm / unit)
    return Weights(op.graph, diagonal / unit, row_sums / unit, norm / unit, squares, unit, varies)


def _squares(op: Operator, norm: FloatArray) -> float:
    """Return the sum of squares off the diagonal of a symmetric matrix."""
    storage, rows = op.graph.storage, op.graph.local_rows
    left, right, found = norm * to_host(op.left), to_host(op.right), 0.0
    for block in storage.entries("squares"):
        at, to = to_host(block.rows), to_host(block.columns)
        entries = left[at] * to_host(storage.take(right, to))
        entries = entries if block.weights is None else entries * to_host(block.weights)
        found += float(np.sum(np.where(at + rows.start == to, 0.0, entries) ** 2))
    return float(storage.reduce(np.array([found]), "sum")[0])


def _directed_squares(op: Operator, unit: float) -> float:
    matrix = to_host(op.to_sparse()) / (2 * unit)
    symmetric = matrix + matrix.T
    return float((symmetric.data**2).sum() - (symmetric.diagonal() ** 2).sum())


def gram(graph: Graph, x: Any, per_column: bool, *, mean_only: bool = False) -> Gram:
    """Return the sums over the Gram matrix of all columns together, or of each column alone, in units of their peak.

    Collective on MPI ranks.
    """
    if not per_column:
        peak = max(float(_peaks(graph, columns).max(initial=0.0)) for columns in _blocks(graph, x)) or 1.0
        return _of_blocks(graph, lambda: (_real(columns / peak) for columns in _blocks(graph, x)), mean_only)
    scaled = ((columns, _peaks(graph, columns)) for columns in _blocks(graph, x))
    return _joined(_each(graph, divided(columns, np.where(peaks > 0, peaks, 1.0))) for columns, peaks in scaled)


def _joined(parts: Iterable[Gram]) -> Gram:
    columns = [*zip(*parts, strict=True)] or [(np.zeros(0),)] * len(Gram._fields)  # of a signal without columns
    return Gram(*map(np.concatenate, columns))


def _blocks(graph: Graph, x: Any) -> Iterator[Any]:
    """Yield the columns of a signal in double precision on the host, as many at a time as memory allows."""
    for _, given in graph.signals(x):
        values = to_host(given.values)
        columns = values if values.ndim == 2 else values[:, None]
        yield columns.astype(np.complex128 if np.iscomplexobj(columns) else np.float64)


def _peaks(graph: Graph, columns: Any) -> FloatArray:
    """Return the largest absolute value of each column: in units of it no fourth power overflows or vanishes."""
    known = is_sparse(columns) and 0 not in columns.shape
    peaks = column_peaks(columns) if known else np.abs(to_dense(columns)).max(axis=0, initial=0.0)
    return np.asarray(graph.storage.reduce(peaks, "max"))


def _each(graph: Graph, columns: Any) -> Gram:
    if np.iscomplexobj(columns):
        alone = (partial(iter, [_real(columns[:, [j]])]) for j in range(columns.shape[1]))
        return _joined(_of_blocks(graph, one, False) for one in alone)
    sums, second, third, fourth = (_column_sums(graph, columns, power) for power in (1, 2, 3, 4))
    rows = sums**2 * second - 2 * sums * third + fourth
    return Gram(second, fourth, sums**2 - second, second**2 - fourth, rows, sums * third - fourth)


def _column_sums(graph: Graph, columns: Any, power: int) -> FloatArray:
    powers = columns.power(power) if is_sparse(columns) else columns**power
    local = np.asarray(powers.sum(axis=0), dtype=np.float64).ravel()
    return np.asarray(graph.storage.reduce(local, "sum"))


def _of_blocks(graph: Graph, blocks: Callable[[], Iterator[Any]], mean_only: bool) -> Gram:
    """Return the sums for all columns together; the blocks of columns are read again for the products of two blocks."""
    norms: Any = 0.0
    rows: Any = 0.0
    square_of_sums, n_blocks = 0.0, 0
    for columns in blocks():
        n_blocks += 1
        sums = _column_sums(graph, columns, 1)
        norms = norms + np.asarray((columns * columns).sum(axis=1), dtype=np.float64).ravel()
        rows = rows + columns @ sums
        square_of_sums += float((sums**2).sum())
    rows = rows - norms
    inner = np.nan if mean_only else _inner_squares(graph, blocks, n_blocks)
    local = np.array([np.sum(one) for one in (norms, norms**2, rows**2, norms * rows)])
    trace, fourth, squared_rows, mixed = graph.storage.reduce(local, "sum")
    values = (trace, fourth, square_of_sums - trace, inner - fourth, squared_rows, mixed)
    return Gram(*(np.array([float(value)]) for value in values))


def _inner_squares(graph: Graph, blocks: Callable[[], Iterator[Any]], n_blocks: int) -> float:
    """Return the squared Frobenius norm of ``x' x``, which is that of ``x x'``."""
    found = 0.0
    for i, one in enumerate(blocks()):
        for j, other in enumerate([one] if n_blocks == 1 else blocks()):
            if j <= i:
                # Entries of sparse products stay few; ranks add up dense blocks.
                inner = to_dense(one.T @ other) if graph.storage.kind == "mpi" else one.T @ other
                total = graph.storage.reduce(inner, "sum")
                part = float(((total.data if is_sparse(total) else total) ** 2).sum())
                found += part if i == j else 2 * part
    return found


def _real(columns: Any) -> Any:
    """Return real columns with the same Gram matrix: real and imaginary parts side by side."""
    if not np.iscomplexobj(columns):
        return columns
    parts = (columns.real, columns.imag)
    # The stack of old versions of SciPy is a matrix, whose ``*`` is another product.
    return sparse.csr_array(sparse.hstack(parts)) if is_sparse(columns) else np.concatenate(parts, axis=1)
