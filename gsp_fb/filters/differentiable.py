"""Filter banks as differentiable functions of torch signals; importing this needs torch."""

from __future__ import annotations

from typing import Any, cast

import torch
from torch import Tensor

from ..errors import ParameterError
from .bank import FilterBank

__all__ = ["filter_signal", "synthesize_signal"]


def filter_signal(bank: FilterBank, x: Tensor) -> Tensor:
    r"""Return :math:`g_m(op)\,x` for every kernel of a filter bank, with gradients to ``x``.

    ``bank.analyze`` does the same with a tensor that requires a gradient; of other tensors it returns NumPy arrays. The
    gradient is the adjoint in the plain inner product, :math:`S\,g_m(op)\,S^{-1}` with ``S = diag(op.scale ** 2)``, and
    is exact to the bank's tolerance. Gradients of any order, ``jvp`` and ``vmap`` work; the core computes, on the CPU.

    Parameters
    ----------
    bank : FilterBank
    x : Tensor, shape (n_nodes,) or (n_nodes, n_signals)

    Returns
    -------
    Tensor, shape (n_nodes, n_filters) or (n_nodes, n_signals, n_filters)
        Complex where the weights of the graph are.

    Raises
    ------
    ParameterError
        ``x`` is no tensor on the CPU, or ``bank`` is no filter bank.

    See Also
    --------
    gsp_fb.FilterBank.analyze : The same on arrays.
    gsp_fb.nn.PolynomialFilter : A filter whose coefficients are learned.

    Examples
    --------
    >>> import gsp_fb as gf
    >>> edge = gf.operator(gf.Graph.from_edges([(0, 1)]), "sym", channel="high")
    >>> x = torch.tensor([1.0, 3.0], dtype=torch.float64, requires_grad=True)
    >>> filter_signal(gf.FilterBank(edge, gf.filters.low_pass()), x).sum().backward()
    >>> x.grad
    tensor([1.0000, 1.0000], dtype=torch.float64)
    """
    if not isinstance(bank, FilterBank):
        raise ParameterError(f"filter_signal takes a FilterBank, not {type(bank).__name__}")
    if not isinstance(x, Tensor) or x.device.type != "cpu":
        found = f"a tensor on {x.device}" if isinstance(x, Tensor) else type(x).__name__
        raise ParameterError(f"filter_signal takes a torch tensor on the CPU, not {found}")
    return _apply(_as_complex(x, bank), bank, False)


def synthesize_signal(bank: FilterBank, c: Tensor) -> Tensor:
    """Return ``bank.synthesize`` of coefficients in a tensor, with gradients to them."""
    result = _apply(_as_complex(_weights(bank, c.dtype, c.ndim) * c, bank), bank, True)
    return result / _weights(bank, c.dtype, result.ndim)


def _weights(bank: FilterBank, dtype: torch.dtype, ndim: int) -> Tensor:
    """Return the weights of the inner product beside an array of ``ndim`` axes."""
    return torch.tensor(bank.op.scale, dtype=dtype).square().reshape(-1, *[1] * (ndim - 1))


def _as_complex(x: Tensor, bank: FilterBank) -> Tensor:
    """Return ``x``, complex where the filtered signal is: a real result would lose its imaginary part."""
    return torch.complex(x, torch.zeros_like(x)) if bank.op.graph.is_complex and not x.is_complex() else x


def _apply(x: Tensor, bank: FilterBank, adjoint: bool) -> Tensor:
    return cast(Tensor, _Filtering.apply(x, bank, adjoint))  # type: ignore[no-untyped-call]  # torch leaves it untyped


class _Filtering(torch.autograd.Function):
    """The analysis of a bank, or its adjoint: each is the other's backward pass."""

    @staticmethod
    def forward(x: Tensor, bank: FilterBank, adjoint: bool) -> Tensor:
        if not adjoint:
            return torch.as_tensor(bank.analyze(x.detach()), dtype=x.dtype)
        inner = x.detach() / _weights(bank, x.dtype, x.ndim)
        result = torch.as_tensor(bank.synthesize(inner), dtype=x.dtype)
        return result * _weights(bank, x.dtype, result.ndim)

    @staticmethod
    def setup_context(ctx: Any, inputs: tuple[Any, ...], output: Tensor) -> None:
        _, ctx.bank, ctx.adjoint = inputs

    @staticmethod
    def backward(ctx: Any, *grads: Tensor) -> tuple[Tensor, None, None]:
        return _apply(grads[0], ctx.bank, not ctx.adjoint), None, None

    @staticmethod
    def jvp(ctx: Any, *tangents: Any) -> Tensor:
        return _apply(tangents[0], ctx.bank, ctx.adjoint)

    @staticmethod
    def vmap(info: Any, in_dims: tuple[Any, ...], x: Tensor, bank: FilterBank, adjoint: bool) -> tuple[Tensor, int]:
        # The batch becomes further signals; coefficients have the filters as their last axis.
        wide = x.movedim(in_dims[0], 1)
        signals = wide.shape[1:-1] if adjoint else wide.shape[1:]
        columns = wide.flatten(1, -2) if adjoint else wide.flatten(1)
        result = _apply(columns, bank, adjoint)
        return result.reshape(len(result), *signals, *result.shape[2:]), 1
