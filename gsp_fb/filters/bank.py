"""The filter bank: kernels on an operator, analysis and synthesis to a promised error."""

from __future__ import annotations

import math
import os
from collections.abc import Callable, Iterable
from dataclasses import dataclass, fields, replace
from functools import cached_property
from typing import Any

import numpy as np

from .._arguments import check_choice, check_count, check_positive
from .._cost import state_cost
from .._document import facts_html
from ..backend import Signal, asarray_like, eps, to_host
from ..energy.dirichlet import check_high
from ..errors import ParameterError, SignalError
from ..graph import Graph
from ..operators import Operator
from ._apply import ADJOINT, APPLY, analyze_elsewhere, plan_elsewhere
from ._arguments import bound_kernels, check_order, coefficient_block, default_tol, signal_block
from .achieved import AchievedError, achieved_error
from .kernels import Kernel
from .plan import METHODS, FilterTask, Plan, choose
from .response import Response, complement_kernel, dual_kernels, frame_kernel, sampled_frequencies, solve_frame
from .two_channel import TwoChannelBank, two_channel

__all__ = ["FilterBank"]

# A frame whose bounds differ by less than this is tight.
TIGHT = 1e-10
# What lowers the cost of an analysis.
CHEAPER = "give a larger tol= or fewer signals; plan() returns the number of products"


@dataclass(frozen=True, repr=False, init=False)
class FilterBank:
    r"""Kernels :math:`g_m` applied to signals through an operator: :math:`c_m = g_m(op)\, x`.

    Kernels are functions of frequency, the eigenvalues of the high channel: 0 is smooth. Random-walk families are
    filtered exactly as they are: :math:`g(op)` of a matrix that is similar to a symmetric one.

    Parameters
    ----------
    op : Operator
        The high channel of an undirected graph.
    kernels : Kernel, callable, or a sequence of them
        Relative ones are scaled to ``lmax``. The error bound of a plain function is sampled, see :class:`Plan`.
    tol : float > 0, optional
        Largest error, relative to the norm of the signal (and to the largest kernel value if that exceeds 1). By
        default 1e-8; 1e-4 if a kernel has k = 1 to 3 continuous derivatives, as ``meyer`` and ``itersine``, and 1e-2 if
        it has a kink, as ``simple_tight``: the order of a polynomial grows as ``tol**(-1/(k + 1))``.
    method : {'auto', 'exact', 'chebyshev', 'lanczos', 'cg'}
        By default the cheapest that keeps ``tol``. If a named one cannot, a warning states what error it promises.
    order : int, optional
        Fix the degree of the polynomial instead of deriving it from ``tol``.
    lmax : float, optional
        Largest eigenvalue of ``op``, where it is known. By default :func:`gsp_fb.lambda_max` if a kernel is relative.

    Raises
    ------
    GraphError
        The graph is directed.
    ParameterError
        ``op`` is a low channel; a kernel is not finite somewhere on the axis, or does not work on arrays.

    See Also
    --------
    two_channel : Low and ``I - low``, the pair of the paper.

    Examples
    --------
    >>> from gsp_fb import FilterBank, datasets, filters, operator
    >>> bank = FilterBank(operator(datasets.path(3), "sym", channel="high"), [filters.heat(1.0), filters.heat(5.0)])
    >>> bank.analyze([1.0, 0.0, 0.0]).shape, bank.plan().method
    ((3, 2), 'exact')
    """

    op: Operator
    kernels: tuple[Kernel, ...]
    tol: float = 1e-8
    method: str = "auto"
    order: int | None = None
    lmax: float | None = None

    def __init__(
        self,
        op: Operator,
        kernels: Kernel | Callable[..., Any] | Iterable[Kernel | Callable[..., Any]],
        tol: float | None = None,
        *,
        method: str = "auto",
        order: int | None = None,
        lmax: float | None = None,
    ) -> None:
        given = None if lmax is None else check_positive(lmax, "lmax")
        check_high(op, "a kernel is a function of frequency, the eigenvalue of")
        bound, end = bound_kernels(kernels, op, given)
        tol = default_tol(bound) if tol is None else check_positive(tol, "tol")
        method = check_choice(method, ("auto", *METHODS), "method")
        for field, value in zip(fields(self), (op, bound, tol, method, check_order(order), end), strict=True):
            object.__setattr__(self, field.name, value)

    @staticmethod
    def two_channel(
        graph: Graph, family: str = "lazy_rw", *, gamma: float | None = None, levels: int = 1, isolated: str = "self"
    ) -> TwoChannelBank:
        """Return the paper's pair, low and ``I - low``: see :func:`gsp_fb.filters.two_channel`.

        Examples
        --------
        >>> FilterBank.two_channel(Graph.from_edges([(0, 1), (1, 2)]), "rw").analyze([1.0, 5.0, 3.0])
        (array([5., 2., 5.]), array([-4.,  3., -2.]))
        """
        return two_channel(graph, family, gamma=gamma, levels=levels, isolated=isolated)

    @cached_property
    def response(self) -> Response:
        """The kernels as seen by the operator: their series, and their values at its frequencies."""
        return Response(self.op, self.kernels, self.tol)

    @cached_property
    def in_memory(self) -> FilterBank:
        """The bank on the graph in the memory of this process; itself if it is there."""
        return self if self.op.graph.storage.kind == "memory" else replace(self, op=self.op.in_memory())

    @property
    def axis(self) -> tuple[float, float]:
        """The frequencies that the bank is about: up to ``lmax``, or all of ``op.bounds`` where that is not known."""
        low, high = self.response.interval
        return low, high if self.lmax is None else min(self.lmax, high)

    def __len__(self) -> int:
        return len(self.kernels)

    def __getitem__(self, index: int | slice) -> FilterBank:
        part = self.kernels[index]
        return replace(self, kernels=part if isinstance(part, tuple) else (part,))

    def __add__(self, other: FilterBank) -> FilterBank:
        if not isinstance(other, FilterBank):
            return NotImplemented
        if other.op is not self.op:
            raise ParameterError(f"banks of two operators do not add: {self.op!r} and {other.op!r}; make both on one")
        return replace(self, kernels=self.kernels + other.kernels, tol=min(self.tol, other.tol))

    def __repr__(self) -> str:
        names = ", ".join(kernel.name for kernel in self.kernels)
        return f"FilterBank({self.op!r}, [{names}], tol={self.tol:g})"

    def _repr_html_(self) -> str:
        names = ", ".join(kernel.name for kernel in self.kernels)
        facts = {"kernels": names, "operator": repr(self.op), "tol": self.tol, "method": self.method}
        return facts_html("FilterBank", facts)

    def plan(self, x: Any = None) -> Plan:
        """Return how :meth:`analyze` would filter ``x`` (one float64 signal by default), without doing it.

        Examples
        --------
        >>> from gsp_fb import FilterBank, datasets, filters, operator
        >>> plan = FilterBank(operator(datasets.ring(1000), "sym", channel="high"), filters.heat(5.0)).plan()
        >>> plan.method, plan.order, plan.matvecs, plan.error_bound < 1e-8
        ('chebyshev', 15, 15, True)
        """
        graph = self.op.graph
        block = np.zeros((len(graph.local_rows), 1)) if x is None else signal_block(graph.check_signal(x))
        return self._plan(block) if graph.storage.kind == "memory" else plan_elsewhere(self, block)

    def _plan(self, block: Signal) -> Plan:
        return choose(FilterTask(self.response, math.prod(block.shape[1:]), eps(block), self.order), self.method)

    def analyze(self, x: Any, *, out: str | os.PathLike[str] | None = None) -> Signal:
        r"""Return :math:`c_m = g_m(op)\,x` for every kernel: the filters are the last axis.

        In memory a warning states how long it takes before it starts, where that is more than about five seconds.

        Parameters
        ----------
        x : array_like, sparse, or path of a ``.npy`` file, shape (n_nodes,) or (n_nodes, n_signals)
            On disk, columns are filtered in blocks that fit the memory limit of the graph. Of a torch tensor that
            requires a gradient the result is a tensor, with gradients to ``x``.
        out : path_like, optional
            A ``.npy`` file to write instead of returning an array.

        Returns
        -------
        array, shape (n_nodes, n_filters) or (n_nodes, n_signals, n_filters)
            Dense, in the precision of ``x``; a StoredArray if ``out`` is given.

        Examples
        --------
        >>> from gsp_fb import FilterBank, datasets, filters, operator
        >>> bank = FilterBank(operator(datasets.path(2), "sym", channel="high"), filters.low_pass())
        >>> bank.analyze([1.0, 3.0]).round(6).tolist()
        [[2.0], [2.0]]
        """
        if out is not None or self.op.graph.storage.kind != "memory":
            return analyze_elsewhere(self, x, out)
        if getattr(x, "requires_grad", False):
            from .differentiable import filter_signal

            return filter_signal(self, x)
        graph = self.op.graph
        x = graph.check_signal(x)
        block = signal_block(x)
        plan, n_signals = self._plan(block), block.shape[1]
        # Krylov spaces are planned for all signals, recurrences for a block of them.
        matvecs = plan.matvecs * (1 if plan.method == "lanczos" else n_signals)
        if plan.method == "cg":  # the plan has a bound from the condition; n steps end it all the same
            matvecs = min(matvecs, graph.n_nodes * n_signals)
        state_cost(float(graph.n_entries) * matvecs, f"filtering {n_signals} signals", CHEAPER)
        c = APPLY[plan.method](self.response, block, plan)
        return c[:, 0, :] if x.ndim == 1 else c

    def error(self, x: Any, c: Any) -> AchievedError:
        r"""Return the error of computed coefficients for this signal; :meth:`plan` bounds it for every signal.

        ``c`` is compared with a float64 reference of a smaller tolerance where a polynomial has a proven one, at about
        the price of a second analysis; otherwise with Lanczos's process from each signal.

        Parameters
        ----------
        x : array_like or sparse, shape (n_nodes,) or (n_nodes, n_signals)
        c : array_like
            As :meth:`analyze` returned it for ``x``.

        Returns
        -------
        AchievedError
            With ``error``, and ``kind`` in {'proven', 'estimate'}.

        See Also
        --------
        plan : The bound that is known beforehand.

        Examples
        --------
        >>> from gsp_fb import FilterBank, datasets, filters, operator
        >>> bank = FilterBank(operator(datasets.grid(40, 40), "sym", channel="high"), filters.heat(5.0))
        >>> x = np.arange(1600.0).astype(np.float32)
        >>> bank.plan(x).error_bound > 1e-6, bank.error(x, bank.analyze(x)).error < 1e-6
        (True, True)
        """
        self.op.graph.in_one_process()
        signal = self.op.graph.check_signal(x)
        coefficients, flat = coefficient_block(c, self.op.graph.n_nodes, len(self))
        block = signal_block(signal)
        if flat != (signal.ndim == 1) or coefficients.shape[1] != block.shape[1]:
            raise SignalError(f"coefficients have shape {tuple(np.shape(c))}, which is no analysis of {signal.shape}")
        return achieved_error(self, block, coefficients)

    def synthesize(self, c: Any) -> Signal:
        r"""Return the adjoint of analysis, :math:`\sum_m g_m(op)\,c_m`; for a tight frame with bound 1, its inverse.

        It is the adjoint in the inner product in which the operator is symmetric: the plain one, and for random-walk
        families :math:`\langle x, y\rangle = \sum_i s_i^2 x_i y_i` with ``s = op.scale``.

        Parameters
        ----------
        c : array_like, shape (n_nodes, n_filters) or (n_nodes, n_signals, n_filters)
            Of a torch tensor that requires a gradient the result is a tensor, too.

        Examples
        --------
        >>> from gsp_fb import FilterBank, datasets, filters, operator
        >>> bank = FilterBank(operator(datasets.path(2), "sym", channel="high"), filters.regular())
        >>> bank.synthesize(bank.analyze([1.0, 3.0])).round(6)
        array([1., 3.])
        """
        self.op.graph.in_one_process()
        if getattr(c, "requires_grad", False):
            from .differentiable import synthesize_signal

            return synthesize_signal(self, c)
        c, flat = coefficient_block(c, self.op.graph.n_nodes, len(self))
        plan = self._plan(c)
        x = ADJOINT[plan.method](self.response, c, plan)
        return x[:, 0] if flat else x

    def frame_bounds(self, frequencies: Any = None) -> tuple[float, float]:
        r"""Return A and B with :math:`A\|x\|^2 \le \sum_m\|c_m\|^2 \le B\|x\|^2`.

        Parameters
        ----------
        frequencies : array_like, optional
            Eigenvalues of the operator, for the best A and B on this graph. By default the whole of ``axis`` is
            covered by samples, so that the bounds hold for every graph with this axis.

        Examples
        --------
        >>> from gsp_fb import FilterBank, datasets, filters, operator
        >>> bank = FilterBank(operator(datasets.path(2), "sym", channel="high"), filters.meyer(4))
        >>> [round(bound, 12) for bound in bank.frame_bounds()]
        [1.0, 1.0]
        """
        at = sampled_frequencies(self.kernels, self.axis) if frequencies is None else to_host(frequencies)
        gain = frame_kernel(self.kernels)(at)
        return float(gain.min()), float(gain.max())

    @cached_property
    def is_tight(self) -> bool:
        """Whether the frame bounds agree, so that synthesis inverts analysis up to a factor."""
        least, greatest = self.frame_bounds()
        return greatest - least <= TIGHT * greatest

    def complement(self, bound: float | None = None) -> FilterBank:
        r"""Return the one filter :math:`\sqrt{B - \sum_m g_m^2}`; ``bank + bank.complement()`` is tight.

        Parameters
        ----------
        bound : float, optional
            The frame bound B to reach; by default the least possible, the bank's own upper one.

        Examples
        --------
        >>> from gsp_fb import FilterBank, datasets, filters, operator
        >>> bank = FilterBank(operator(datasets.ring(8), "sym", channel="high"), filters.heat(1.0))
        >>> (bank + bank.complement()).is_tight
        True
        """
        _, greatest = self.frame_bounds()
        wanted = greatest if bound is None else check_positive(bound, "bound")
        if wanted < greatest * (1 - TIGHT):
            raise ParameterError(f"bound must be at least {greatest:.6g}, the bank's upper frame bound, not {bound!r}")
        return replace(self, kernels=(complement_kernel(self.kernels, wanted),))

    def dual(self) -> FilterBank:
        r"""Return the bank of :math:`g_m / \sum_k g_k^2`, whose synthesis undoes this bank's analysis.

        Examples
        --------
        >>> from gsp_fb import FilterBank, datasets, filters, operator
        >>> bank = FilterBank(operator(datasets.ring(8), "sym", channel="high"), filters.mexican_hat(3))
        >>> bool(np.allclose(bank.dual().synthesize(bank.analyze(np.arange(8.0))), np.arange(8.0)))
        True
        """
        return replace(self, kernels=dual_kernels(self.kernels))

    def reconstruct(self, c: Any) -> Signal:
        r"""Return the signal whose analysis comes nearest to ``c``: :math:`(\sum_m g_m(op)^2)^{-1}` times synthesis.

        A tight bank needs a factor, one with all modes a division; else conjugate gradients run to ``tol``.

        Examples
        --------
        >>> from gsp_fb import FilterBank, datasets, filters, operator
        >>> bank = FilterBank(operator(datasets.path(2), "sym", channel="high"), filters.mexican_hat(4))
        >>> bank.reconstruct(bank.analyze([1.0, 3.0])).round(6)
        array([1., 3.])
        """
        self.op.graph.in_one_process()
        block, flat = coefficient_block(c, self.op.graph.n_nodes, len(self))
        if self.is_tight:
            x = self.synthesize(block) / self.frame_bounds()[1]
        elif self._plan(block).method == "exact":
            x = self.dual().synthesize(block)
        else:
            x = solve_frame(self, block)
        return x[:, 0] if flat else x

    def localize(self, node: int) -> Signal:
        r"""Return :math:`g_m(op)\,\delta_i`, each kernel seen from one node, shape (n_nodes, n_filters).

        PyGSP's ``localize`` multiplies this by the root of the number of nodes.

        Examples
        --------
        >>> from gsp_fb import FilterBank, datasets, filters, operator
        >>> bank = FilterBank(operator(datasets.ring(5), "sym", channel="high"), filters.heat(1.0))
        >>> bank.localize(0).shape, int(bank.localize(2).argmax())
        ((5, 1), 2)
        """
        self.op.graph.in_one_process()
        node = check_count(node, "node", minimum=0)
        if node >= self.op.graph.n_nodes:
            raise ParameterError(f"node {node} is not in the graph; nodes are 0..{self.op.graph.n_nodes - 1}")
        delta = np.zeros(self.op.graph.n_nodes)
        delta[node] = 1.0
        return self.analyze(asarray_like(delta, self.op.diag))

    def plot(self, ax: Any = None) -> Any:
        """Draw the kernels and the sum of their squares over the frequency axis; return the axes.

        Parameters
        ----------
        ax : matplotlib Axes, optional
            A new figure's by default.

        Examples
        --------
        >>> from gsp_fb import FilterBank, datasets, filters, operator
        >>> len(FilterBank(operator(datasets.ring(8), "sym", channel="high"), filters.meyer(3)).plot().lines)
        4
        """
        # Pictures are a layer above; a method is only a shorthand for them.
        from ..plot import response

        return response(self, ax=ax)
