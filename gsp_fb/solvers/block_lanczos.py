"""Block Lanczos with thick restarts and full orthogonalisation: Ritz pairs at the upper end of a symmetric map.

A single-vector Krylov space holds one copy of a repeated eigenvalue, a block of ``b`` random vectors ``b`` of them; a
block that loses rank (an invariant subspace) is filled up with new random vectors, which bring in further copies.
References: C. C. Paige, 1972; K. Wu and H. Simon, SIAM J. Matrix Anal. Appl. 22 (2000) 602; Y. Zhou and Y. Saad, Numer.
Algorithms 47 (2008) 341.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np

from ..backend import FloatArray, asarray_like, conj, empty_like, namespace, to_host

__all__ = ["Ritz", "Space", "ritz_cycles"]

Product = Callable[[Any], Any]
# Columns whose norm falls by this factor when the known directions are taken out hold rounding errors alone.
RANK = 1e-11
# Columns that lose this much are orthogonalised once more.
LOSS = 1e-6


@dataclass(frozen=True, eq=False)
class Ritz:
    """Ritz pairs after one cycle, the largest value first."""

    values: FloatArray  # on the host
    vectors: Any  # orthonormal rows
    exhausted: bool  # the space is invariant and no direction is left outside it: every pair is exact
    n_products: int  # products with a block in this cycle


@dataclass(frozen=True, eq=False)
class Space:
    """The vectors in which a search runs; of vectors over several processes each holds its own entries."""

    n_rows: int  # length of a whole vector
    project: Product  # orthogonal projector out of everything already known
    draw: Callable[[int], Any]  # number of columns to a random block
    total: Product  # adds up a host array over the processes


def ritz_cycles(product: Product, start: Any, space: Space, *, dimension: int, keep: int) -> Iterator[Ritz]:
    """Yield the ``keep`` largest Ritz pairs of a symmetric map after each cycle, for as long as the caller asks.

    ``product`` applies the map to a block; its image lies in the range of ``space.project``. The width of ``start`` is
    the block size, ``dimension`` the largest of the Krylov space, and ``keep`` at most that minus the block size.
    """
    width = int(start.shape[1])
    rows = empty_like((dimension + width, start.shape[0]), start)
    kind = np.complex128 if namespace(start).isdtype(start.dtype, "complex floating") else np.float64
    small = np.zeros((dimension + width, dimension + width), dtype=kind)
    block = _orthonormal(start, rows[:0, :], space, width)[0]
    filled = 0
    while True:
        n_products = 0
        while block.shape[1] and filled + block.shape[1] <= dimension:
            last = filled + block.shape[1]
            rows[filled:last, :] = block.T
            block, coefficients = _orthonormal(product(block), rows[:last, :], space, width)
            small[:last, filled:last] = coefficients
            small[filled:last, :last] = coefficients.conj().T
            filled, n_products = last, n_products + 1
        values, vectors = np.linalg.eigh(small[:filled, :filled])
        kept = min(keep, filled)
        values, vectors = values[::-1][:kept], vectors[:, ::-1][:, :kept]
        ritz = asarray_like(np.ascontiguousarray(vectors.T), rows) @ rows[:filled, :]
        yield Ritz(values, ritz, block.shape[1] == 0, n_products)
        rows[:kept, :] = ritz
        small[:] = 0.0
        small[range(kept), range(kept)] = values
        filled = kept


def _orthonormal(block: Any, rows: Any, space: Space, width: int) -> tuple[Any, FloatArray]:
    """Return an orthonormal block orthogonal to ``rows``, and the coefficients of ``block`` in them.

    Lost rank is filled up with random vectors; the block is narrower only where no direction is left.
    """
    xp, size = namespace(block), _column_norms(block, space)
    block, coefficients = _remainder(block, rows, space)
    found = _basis(block, size, space)
    small = found.shape[1] < block.shape[1] or bool(np.any(_column_norms(block, space) < LOSS * size))
    for _ in range(2):
        lost = min(width, space.n_rows - rows.shape[0]) - found.shape[1]
        if lost <= 0:
            break
        fresh = space.draw(lost)
        rest = _remainder(fresh, xp.concat((rows, found.T), axis=0), space)[0]
        found = xp.concat((found, _basis(rest, _column_norms(fresh, space), space)), axis=1)
        small = True
    if small:
        # Scaling to unit norm enlarges what rounding left along the rows.
        found = _basis(_remainder(found, rows, space)[0], np.ones(found.shape[1]), space)
    return found, coefficients


def _remainder(block: Any, rows: Any, space: Space) -> tuple[Any, FloatArray]:
    """Return ``block`` without its part along ``rows``, and that part; taking it out once leaves rounding."""
    whole: Any = 0.0
    for _ in range(2):
        block = space.project(block)
        part = space.total(to_host(conj(rows) @ block))
        block = block - rows.T @ asarray_like(part, rows)
        whole = whole + part
    return block, whole


def _basis(block: Any, size: FloatArray, space: Space) -> Any:
    """Return an orthonormal basis of the columns, those dropped whose norm is rounding of ``size``."""
    if not block.shape[1]:
        return block
    scale = _column_norms(block, space)
    kept = np.flatnonzero(scale > RANK * np.maximum(size, np.finfo(float).tiny))
    block = namespace(block).take(block, asarray_like(kept, block), axis=1) / asarray_like(scale[kept], block)
    # The Gram matrix squares the condition: a second pass restores orthogonality.
    for _ in range(2):
        values, vectors = np.linalg.eigh(space.total(to_host(conj(block).T @ block)))
        large = values > (RANK if _ == 0 else 0.5)
        block = block @ asarray_like(vectors[:, large] / np.sqrt(values[large]), block)
    return block


def _column_norms(block: Any, space: Space) -> FloatArray:
    xp = namespace(block)
    norms: FloatArray = np.sqrt(space.total(to_host(xp.sum(xp.abs(block) ** 2, axis=0))))
    return norms
