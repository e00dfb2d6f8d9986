"""Learnable filters: polynomials of an operator in four bases, all through one Chebyshev recurrence."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
import torch
from numpy.polynomial import chebyshev
from scipy import special
from torch import Tensor, nn

from ..._arguments import check_choice, check_count
from ...errors import ParameterError
from ..parts import Copies
from .base import Propagation, is_linear

__all__ = ["BASES", "PolynomialFilter", "PolynomialPropagation"]


@dataclass(frozen=True)
class Basis:
    """A basis of the polynomials of degree K on the frequencies [0, 2]."""

    values: Callable[[int, Any], Any]
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


def _ones(order: int) -> Any:
    return np.ones(order + 1)


BASES: dict[str, Basis] = {
    # GPRGNN (Chien et al., ICLR 2021): powers of the low channel, started at personalised PageRank.
    "monomial": Basis(lambda order, f: (1.0 - f) ** np.arange(order + 1)[:, None], _pagerank),
    # BernNet (He et al., NeurIPS 2021).
    "bernstein": Basis(_bernstein, _ones, positive=True),
    # ChebNetII (He et al., NeurIPS 2022): the coefficients are the response at the Chebyshev points.
    "chebyshev": Basis(_interpolating, _ones, positive=True),
    # JacobiConv (Wang and Zhang, ICML 2022), with a = b = 1.
    "jacobi": Basis(
        lambda order, f: special.eval_jacobi(np.arange(order + 1)[:, None], 1.0, 1.0, 1.0 - f), _ones, columns=True
    ),
}


class PolynomialFilter(nn.Module):
    r"""A learnable filter :math:`\sum_k \theta_k B_k(L)` of a propagation's Laplacian ``L h = h - low(h)``.

    In every basis the filter is evaluated as a combination of Chebyshev polynomials of ``L - I``: one recurrence of
    ``order`` matrix-vector products, whose coefficients are a constant matrix times ``theta``.

    Parameters
    ----------
    basis : {'monomial', 'bernstein', 'chebyshev', 'jacobi'}
        The bases of GPRGNN [1]_, BernNet [2]_, ChebNetII [3]_ and JacobiConv [4]_.
    order : int
        Degree of the polynomial.
    width : int
        Columns of the features; used by bases with coefficients per column.
    copies : tuple
        ``(s,)`` for ``s`` independent sets of coefficients.

    See Also
    --------
    operator_propagation : The propagation whose Laplacian is filtered.
    gsp_fb.FilterBank : Fixed filters, given as kernels of frequency.

    References
    ----------
    .. [1] E. Chien, J. Peng, P. Li and O. Milenkovic, "Adaptive universal generalized PageRank graph neural network",
       ICLR 2021.
    .. [2] M. He, Z. Wei, Z. Huang and H. Xu, "BernNet: Learning arbitrary graph spectral filters via Bernstein
       approximation", NeurIPS 2021.
    .. [3] M. He, Z. Wei and J.-R. Wen, "Convolutional neural networks on graphs with Chebyshev approximation,
       revisited", NeurIPS 2022.
    .. [4] X. Wang and M. Zhang, "How powerful are spectral graph neural networks", ICML 2022.

    Examples
    --------
    >>> bool(np.allclose(PolynomialFilter("bernstein", 4).response([0.0, 1.0, 2.0]), 1.0))
    True
    """

    to_chebyshev: Tensor

    def __init__(self, basis: str, order: int = 10, *, width: int = 1, copies: Copies = ()) -> None:
        super().__init__()
        self.basis, self.order = check_choice(basis, BASES, "basis"), check_count(order, "order")
        row = BASES[basis]
        points = chebyshev.chebpts1(order + 1)
        # Values at the Chebyshev points determine the Chebyshev coefficients of every basis function.
        to_chebyshev = np.linalg.solve(chebyshev.chebvander(points, order), row.values(order, points + 1.0).T)
        self.register_buffer("to_chebyshev", torch.from_numpy(to_chebyshev), persistent=False)
        shape = (*copies, order + 1, width if row.columns else 1)
        start = torch.tensor(row.start(order), dtype=torch.float32)[:, None]
        self.theta = nn.Parameter(start.expand(shape).clone())
        self.rates = nn.Parameter(torch.ones(*copies, order)) if row.columns else None

    def coefficients(self) -> Tensor:
        """Return the coefficients of the basis functions, shape ``(*copies, order + 1, width or 1)``."""
        theta = torch.relu(self.theta) if BASES[self.basis].positive else self.theta
        if self.rates is None:
            return theta
        powers = torch.cumprod(torch.tanh(self.rates), dim=-1)
        return theta * torch.cat([torch.ones_like(powers[..., :1]), powers], dim=-1).unsqueeze(-1)

    def forward(self, h: Tensor, low: Callable[[Tensor], Tensor]) -> Tensor:
        """Return the filtered ``h``; ``low`` is the low channel of the propagation."""
        theta = self.coefficients()
        weights = (self.to_chebyshev.to(theta.dtype) @ theta).unsqueeze(-2).unbind(-3)
        # T_k of L - I = -low.
        before, now = h, -low(h)
        total = weights[0] * before + weights[1] * now
        for weight in weights[2:]:
            before, now = now, -2.0 * low(now) - before
            total = total + weight * now
        return total

    def response(self, frequencies: Any) -> Any:
        """Return the learned response at the frequencies, shape ``(*copies, n)`` or ``(*copies, n, width)``."""
        f = np.asarray(frequencies, dtype=np.float64)
        theta = self.coefficients().detach().double().cpu().numpy()
        values = BASES[self.basis].values(self.order, f.ravel()).T @ theta
        return values if BASES[self.basis].columns else values[..., 0]


def check_polynomial(propagation: Propagation) -> None:
    """Refuse a propagation that a polynomial filter cannot take powers of."""
    if not is_linear(propagation) or getattr(propagation, "expansion", 1) != 1:
        kind = type(propagation).__name__
        raise ParameterError(f"a polynomial filter needs a fixed linear propagation, such as an operator; not {kind}")


class PolynomialPropagation(nn.Module):
    """A propagation whose low channel is a learnable filter of another one: ``low = filter(L) h``, high the rest."""

    def __init__(self, base: Propagation, learned: PolynomialFilter) -> None:
        super().__init__()
        check_polynomial(base)
        self.base, self.learned = base, learned

    def low(self, h: Tensor) -> Tensor:
        """Return the filtered ``h``."""
        filtered: Tensor = self.learned(h, self.base.low)
        return filtered

    def synthesize(self, h_low: Tensor, h_high: Tensor) -> Tensor:
        """Return ``low(h_low) + h_high - low(h_high)`` in one pass."""
        return h_high + self.low(h_low - h_high)
