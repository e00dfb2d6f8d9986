"""The compute engine: matrix-vector products, Chebyshev banks and quadratic forms of the affine operator.

The affine operator is ``M = diag(left) A diag(right) + diag(diag)`` over the CSR arrays of the graph. Two engines give
the same results up to rounding: multithreaded compiled loops (the ``fast`` extra), and numpy with scipy. The
environment variable ``GSP_FB_ENGINE`` (``auto``, ``numba``, ``scipy``) selects one.
"""

from __future__ import annotations

from types import ModuleType

from ..backend import FloatArray, IntArray, Signal, as_complex, is_sparse
from . import plain
from .engine import Csr, Stored, chosen_engine, is_compiled
from .threads import set_threads

__all__ = [
    "Csr",
    "Stored",
    "affine_product",
    "chebyshev_bank",
    "chosen_engine",
    "label_propagation_step",
    "quadratic_form",
    "set_threads",
]


def _engine(matrix: Csr, x: Signal, **kinds: str) -> ModuleType:
    if not is_compiled(matrix, x, **kinds):
        return plain
    from . import fast

    return fast


def _promoted(matrix: Csr, x: Signal) -> Signal:
    """Return the signal in complex numbers of its precision where the weights are complex."""
    return as_complex(x) if matrix.is_complex else x


def affine_product(graph: Stored, x: Signal, left: FloatArray, right: FloatArray, diag: FloatArray) -> Signal:
    """Return ``left * (A @ (right * x)) + diag * x`` in the precision of ``x``; sparse if ``x`` is sparse."""
    matrix = graph.storage
    x = _promoted(matrix, x)
    engine = plain if is_sparse(x) else _engine(matrix, x)
    return engine.affine_product(matrix, x, left, right, diag)


def chebyshev_bank(
    graph: Stored,
    x: Signal,
    left: FloatArray,
    right: FloatArray,
    diag: FloatArray,
    *,
    coefficients: FloatArray,
    interval: tuple[float, float],
) -> Signal:
    """Return sum_k c[f, k] T_k(M~) x for each filter f, where M~ is M with ``interval`` mapped to [-1, 1].

    ``coefficients`` (n_filters, order + 1) are in the convention of ``numpy.polynomial.chebyshev``; the interval holds
    every eigenvalue of M. The filters are the last axis of the result, which need not be contiguous.
    """
    low, high = interval
    middle, half = (low + high) / 2.0, (high - low) / 2.0 or 1.0
    left, diag = left / half, (diag - middle) / half
    matrix = graph.storage
    x = _promoted(matrix, x)
    return _engine(matrix, x).chebyshev_bank(matrix, x, left, right, diag, coefficients=coefficients)


def quadratic_form(graph: Stored, x: Signal, left: FloatArray, right: FloatArray, diag: FloatArray) -> FloatArray:
    """Return Re(x* M x) of each column of a dense or CSR signal, accumulated in double precision.

    The compiled engine stores ``M x`` of a single signal alone, does not densify ``x``, and its sums do not depend on
    the number of threads.
    """
    matrix = graph.storage
    x = _promoted(matrix, x)
    form: FloatArray = _engine(matrix, x).quadratic_form(matrix, x, left, right, diag)
    return form


def label_propagation_step(graph: Stored, labels: IntArray) -> IntArray:
    """Return for each node the label with the largest total weight among its neighbours.

    Ties are resolved in favour of the current label, then of the smallest one. Labels are in 0..n_nodes-1.
    """
    matrix = graph.storage
    best: IntArray = _engine(matrix, labels, kinds="ilq").label_propagation_step(matrix, labels)
    return best
