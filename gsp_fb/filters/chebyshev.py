"""The adjoint of a bank of Chebyshev polynomials; the bank itself is the engine's :func:`chebyshev_bank`."""

from __future__ import annotations

from typing import Any

from .._kernels import Stored, affine_product
from ..backend import FloatArray, Signal, asarray_like, namespace
from ._points import Interval

__all__ = ["chebyshev_adjoint"]


def _scaled(left: FloatArray, diag: FloatArray, interval: Interval) -> tuple[FloatArray, FloatArray]:
    """Return the vectors of ``(op - middle I) / half``, whose eigenvalues lie in [-1, 1]."""
    low, high = interval
    half = (high - low) / 2
    return left / half, (diag - (low + high) / 2) / half


def chebyshev_adjoint(
    graph: Stored,
    c: Signal,
    left: FloatArray,
    right: FloatArray,
    diag: FloatArray,
    *,
    coefficients: FloatArray,
    interval: Interval,
) -> Signal:
    r"""Return :math:`\sum_m \sum_k c_{mk} T_k(M) c_m` for coefficients of shape (n, f, n_filters), shape (n, f).

    Clenshaw's recurrence: one product per degree on the signal's own columns, however many filters there are.

    Examples
    --------
    >>> import numpy as np
    >>> from gsp_fb import Graph, operator
    >>> op = operator(Graph.from_edges([(0, 1)]), "sym", channel="high")
    >>> c = np.eye(2)[:, :, None]
    >>> chebyshev_adjoint(op.graph, c, op.left, op.right, op.diag, coefficients=[[1.0, 1.0]], interval=(0.0, 2.0))
    array([[ 1., -1.],
           [-1.,  1.]])
    """
    xp = namespace(c)
    weights = asarray_like(coefficients, c, c.dtype)
    left, diag = _scaled(left, diag, interval)
    rows = xp.reshape(c, (-1, c.shape[-1]))

    def mixed(k: int) -> Any:
        return xp.reshape(rows @ weights[:, k], c.shape[:-1])

    current = mixed(weights.shape[1] - 1)
    previous = xp.zeros_like(current)
    for k in range(weights.shape[1] - 2, -1, -1):
        factor = 1 if k == 0 else 2
        following = mixed(k) + affine_product(graph, current, factor * left, right, factor * diag) - previous
        previous, current = current, following
    return current
