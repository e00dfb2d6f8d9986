"""The compute engine: the products, banks and energies behind every operator, compiled where that is to be had.

Everything is the affine operator ``M = diag(left) A diag(right) + diag(diag)`` over the graph's own CSR arrays.
Two engines give the same results to rounding: compiled loops in threads (the ``fast`` extra), or numpy and scipy.
The environment variable ``GSP_FB_ENGINE`` (``auto``, ``numba``, ``scipy``) forces one.
"""

from __future__ import annotations

from types import ModuleType

from ..backend import FloatArray, IntArray, Signal, is_sparse
from . import plain
from .csr import Csr, Stored
from .engine import chosen_engine, is_compiled
from .rows import take_rows
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
    "take_rows",
]


def _engine(matrix: Csr, x: Signal, **kinds: str) -> ModuleType:
    if not is_compiled(matrix, x, **kinds):
        return plain
    from . import fast

    return fast


def affine_product(graph: Stored, x: Signal, left: FloatArray, right: FloatArray, diag: FloatArray) -> Signal:
    """Return ``left * (A @ (right * x)) + diag * x`` in the precision of ``x``, sparse if ``x`` is."""
    matrix = graph.storage
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
    """Return sum_k c[f, k] T_k(M~) x for each filter f, M~ being M with ``interval`` mapped to [-1, 1].

    Parameters
    ----------
    graph : Graph
    x : array, shape (n_nodes,) or (n_nodes, n_signals)
        Checked, dense, real or complex.
    left, right, diag : float64 arrays, one entry a node
    coefficients : array, shape (n_filters, order + 1)
        In the convention of ``numpy.polynomial.chebyshev``.
    interval : (float, float)
        Holds every eigenvalue of M.

    Returns
    -------
    array, shape (n_nodes, n_filters) or (n_nodes, n_signals, n_filters)
        Not necessarily contiguous.
    """
    low, high = interval
    middle, half = (low + high) / 2.0, (high - low) / 2.0 or 1.0
    left, diag = left / half, (diag - middle) / half
    matrix = graph.storage
    return _engine(matrix, x).chebyshev_bank(matrix, x, left, right, diag, coefficients=coefficients)


def quadratic_form(graph: Stored, x: Signal, left: FloatArray, right: FloatArray, diag: FloatArray) -> FloatArray:
    """Return Re(x* M x) of each column of a dense or CSR signal, summed in double precision.

    The compiled engine stores no product and densifies nothing, and its sums do not depend on the thread count.
    """
    matrix = graph.storage
    form: FloatArray = _engine(matrix, x).quadratic_form(matrix, x, left, right, diag)
    return form


def label_propagation_step(graph: Stored, labels: IntArray) -> IntArray:
    """Return the label, 0..n_nodes-1, of the greatest weight around each node: its own on a tie, else the smallest."""
    matrix = graph.storage
    best: IntArray = _engine(matrix, labels, kinds="ilq").label_propagation_step(matrix, labels)
    return best
