"""Learnable filters: polynomials of an operator in four bases, all through one Chebyshev recurrence."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import torch
from torch import Tensor, nn

from ..._arguments import check_choice, check_count, check_positive
from ...errors import ParameterError
from ...filters.polynomials import BASES, chebyshev_coefficients
from ..parts import Copies, Dropout
from .base import LinearPropagation, Propagation

__all__ = ["PolynomialFilter", "PolynomialPropagation"]


class PolynomialFilter(nn.Module):
    r"""A learnable filter :math:`\sum_k \theta_k B_k(L)` of a propagation's Laplacian ``L h = h - low(h)``.

    In every basis the filter is evaluated as a combination of Chebyshev polynomials of ``L - I``: one recurrence of
    ``order`` matrix-vector products, whose coefficients are a constant matrix times ``theta``.

    Parameters
    ----------
    basis : {'monomial', 'bernstein', 'chebyshev', 'jacobi'}
        The bases of GPRGNN, BernNet, ChebNetII and JacobiConv; see ``gsp_fb.filters.polynomials``.
    order : int
        Degree of the polynomial.
    width : int
        Columns of the features; used by bases with coefficients per column.
    copies : tuple
        ``(s,)`` for ``s`` independent sets of coefficients.
    rate : float
        Learning rate of the coefficients relative to that of the other parameters, under Adam.
    dropout : Dropout, optional
        Applied to what is filtered.
    scale, **parameters : float
        Of ``jacobi``: bound of the learned ratio of successive coefficients, and ``a`` and ``b``; 1 by default.

    See Also
    --------
    operator_propagation : The propagation whose Laplacian is filtered.
    gsp_fb.FilterBank : Fixed filters, given as kernels of frequency.

    Examples
    --------
    >>> bool(np.allclose(PolynomialFilter("bernstein", 4).response([0.0, 1.0, 2.0]), 1.0))
    True
    """

    to_chebyshev: Tensor

    def __init__(
        self,
        basis: str,
        order: int = 10,
        *,
        width: int = 1,
        copies: Copies = (),
        rate: float = 1.0,
        dropout: Dropout | None = None,
        scale: float = 1.0,
        **parameters: float,
    ) -> None:
        super().__init__()
        self.basis, self.order = check_choice(basis, BASES, "basis"), check_count(order, "order")
        # Steps of Adam do not depend on the scale of a gradient: parameters of 1 / rate the size move rate as fast.
        self.rate, self.dropout = check_positive(rate, "filter_rate"), dropout
        self.scale, self.parameters_of_basis = check_positive(scale, "scale"), parameters
        row, constant = BASES[basis], torch.from_numpy(chebyshev_coefficients(basis, order, **parameters))
        self.register_buffer("to_chebyshev", constant, persistent=False)
        shape = (*copies, order + 1, width if row.columns else 1)
        start = torch.tensor(row.start(order), dtype=torch.float32)[:, None]
        self.theta = nn.Parameter(start.expand(shape) / self.rate)
        self.rates = nn.Parameter(torch.full((*copies, order), min(1.0, 1.0 / scale))) if row.columns else None

    def coefficients(self) -> Tensor:
        """Return the coefficients of the basis functions, shape ``(*copies, order + 1, width or 1)``."""
        theta = self.rate * (torch.relu(self.theta) if BASES[self.basis].positive else self.theta)
        if self.rates is None:
            return theta
        powers = torch.cumprod(self.scale * torch.tanh(self.rates), dim=-1)
        return theta * torch.cat([torch.ones_like(powers[..., :1]), powers], dim=-1).unsqueeze(-1)

    def forward(self, h: Tensor, low: Callable[[Tensor], Tensor]) -> Tensor:
        """Return the filtered ``h``; ``low`` is the low channel of the propagation."""
        h = h if self.dropout is None else self.dropout(h)
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
        values = BASES[self.basis].values(self.order, f.ravel(), **self.parameters_of_basis).T @ theta
        return values if BASES[self.basis].columns else values[..., 0]


def check_polynomial(propagation: Propagation) -> None:
    """Refuse a propagation that a polynomial filter cannot take powers of."""
    if not hasattr(propagation, "synthesize") or getattr(propagation, "expansion", 1) != 1:
        kind = type(propagation).__name__
        raise ParameterError(f"a polynomial filter needs a fixed linear propagation, such as an operator; not {kind}")


class PolynomialPropagation(LinearPropagation):
    """A propagation whose low channel is a learnable filter of another one: ``low = filter(L) h``, high the rest."""

    def __init__(self, base: Propagation, learned: PolynomialFilter) -> None:
        super().__init__()
        check_polynomial(base)
        self.base, self.learned = base, learned

    def product(self, h: Tensor) -> Tensor:
        """Return the filtered ``h``."""
        filtered: Tensor = self.learned(h, self.base.low)
        return filtered
