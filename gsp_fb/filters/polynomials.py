"""Bases of the polynomials on the frequencies [0, 2], in which graph networks learn their filters.

.. [1] E. Chien et al., "Adaptive universal generalized PageRank graph neural network", ICLR 2021.
.. [2] M. He et al., "BernNet: Learning arbitrary graph spectral filters via Bernstein approximation", NeurIPS 2021.
.. [3] M. He et al., "Convolutional neural networks on graphs with Chebyshev approximation, revisited", NeurIPS 2022.
.. [4] X. Wang and M. Zhang, "How powerful are spectral graph neural networks", ICML 2022.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.polynomial import chebyshev
from scipy import special

__all__ = ["BASES", "chebyshev_coefficients"]


@dataclass(frozen=True)
class Basis:
    """A basis of the polynomials of degree K on the frequencies [0, 2]."""

    values: Callable[..., Any]
    start: Callable[[int], Any]
    positive: bool = False
    columns: bool = False


def _pagerank(order: int, teleport: float = 0.1) -> Any:
    weights = teleport * (1.0 - teleport) ** np.arange(order + 1)
    weights[-1] = (1.0 - teleport) ** order
    return weights


def _bernstein(order: int, f: Any) -> Any:
    k = np.arange(order + 1)[:, None]
    return special.comb(order, k) * (f / 2) ** k * (1 - f / 2) ** (order - k)


def _interpolating(order: int, f: Any) -> Any:
    """Return the polynomials that are 1 at one of the Chebyshev points and 0 at the others."""
    points = chebyshev.chebpts1(order + 1)
    k = np.arange(order + 1)[:, None]
    weights = np.where(k == 0, 1.0, 2.0) / (order + 1) * np.cos(k * np.arccos(points))
    return weights.T @ chebyshev.chebvander(f - 1.0, order).T


def _jacobi(order: int, f: Any, a: float = 1.0, b: float = 1.0) -> Any:
    return special.eval_jacobi(np.arange(order + 1)[:, None], a, b, 1.0 - f)


def _ones(order: int) -> Any:
    return np.ones(order + 1)


BASES: dict[str, Basis] = {
    # GPRGNN [1]: powers of the low channel, started at personalised PageRank.
    "monomial": Basis(lambda order, f: (1.0 - f) ** np.arange(order + 1)[:, None], _pagerank),
    "bernstein": Basis(_bernstein, _ones, positive=True),  # BernNet [2]
    # ChebNetII [3]: the coefficients are the response at the Chebyshev points.
    "chebyshev": Basis(_interpolating, _ones, positive=True),
    "jacobi": Basis(_jacobi, _ones, columns=True),  # JacobiConv [4]
}


def chebyshev_coefficients(basis: str, order: int, **parameters: float) -> Any:
    """Return the matrix from the coefficients in a basis to those in the Chebyshev polynomials of ``f - 1``.

    ``parameters`` are those of the basis: ``a`` and ``b`` of Jacobi's.

    Examples
    --------
    >>> (chebyshev_coefficients("monomial", 1).round(12) + 0.0).tolist()
    [[1.0, 0.0], [0.0, -1.0]]
    """
    points = chebyshev.chebpts1(order + 1)
    # Values at the Chebyshev points determine the Chebyshev coefficients of every basis function.
    values = BASES[basis].values(order, points + 1.0, **parameters)
    return np.linalg.solve(chebyshev.chebvander(points, order), values.T)
