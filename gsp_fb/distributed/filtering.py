"""Banks over the ranks: the plan and the Chebyshev recurrence of :mod:`gsp_fb.filters` on distributed vectors."""

from __future__ import annotations

import math
from dataclasses import replace
from functools import partial
from typing import Any

import numpy as np

from .._arguments import check_count
from ..backend import Signal, eps
from ..energy import EnergyProfile
from ..energy import energy_profile as serial_profile
from ..energy.profile import EXACT_NODES, check_edges, quadrature
from ..errors import ParameterError, SignalError
from ..filters import FilterBank, Plan
from ..filters._apply import APPLY
from ..filters.plan import BASIS_NODES, Task, choose
from ..operators import Operator
from ._mpi import allreduce_max, allreduce_sum
from .graph import distributed_graph
from .signals import check_rows

__all__ = ["analyze", "energy_profile", "plan", "whole_operator"]


def whole_operator(op: Operator) -> Operator:
    """Return the operator on the whole graph, in the memory of this process; for graphs that are small. Collective."""
    graph = distributed_graph(op)
    left, right, diag, scale = map(graph.layout.gather, (op.left, op.right, op.diag, op.scale))
    return replace(op, graph=graph.whole(), left=left, right=right, diag=diag, scale=scale)


def _is_small(bank: FilterBank) -> bool:
    """Return whether the graph is small enough for the basis, and the choice of the method left to us."""
    return bank.method == "auto" and bank.order is None and bank.op.graph.n_nodes <= BASIS_NODES


def _whole_bank(bank: FilterBank) -> FilterBank:
    return FilterBank(whole_operator(bank.op), bank.kernels, bank.tol)


def _plan(bank: FilterBank, n_signals: int, rounding: float) -> Plan:
    if bank.method not in ("auto", "chebyshev"):
        raise ParameterError(f"method={bank.method!r} runs in one process; several have 'chebyshev' (or 'auto')")
    chosen = choose(Task(bank.response, n_signals, rounding, bank.order), bank.method)
    if chosen.method != "chebyshev":
        raise ParameterError(
            f"no polynomial reaches tol={bank.tol:g}, and method {chosen.method!r} runs in one process; "
            "give a wider tol=, a smoother kernel, or method='chebyshev' to take what order= gives"
        )
    # Its part for rounding follows from the longest row, which one of the ranks has.
    return replace(chosen, error_bound=allreduce_max(distributed_graph(bank.op).comm, chosen.error_bound))


def plan(bank: FilterBank, x: Any) -> Plan:
    """Return how :func:`analyze` filters ``x``, as :meth:`gsp_fb.FilterBank.plan`. Collective.

    Examples
    --------
    On one rank, which has all rows:

    >>> from gsp_fb.distributed import open_graph, operator
    >>> from gsp_fb.filters import heat
    >>> import tempfile
    >>> from gsp_fb import Graph
    >>> from gsp_fb.outofcore import write_folder
    >>> folder = tempfile.mkdtemp()
    >>> write_folder(Graph.from_edges([(0, 1), (1, 2)]), f"{folder}/path.npyd")
    >>> graph = open_graph(f"{folder}/path.npyd")
    >>> plan(FilterBank(operator(graph, "sym", "high"), heat(1.0)), [1.0, 0.0, 0.0]).method
    'exact'
    """
    rows = check_rows(distributed_graph(bank.op), x)
    if _is_small(bank):
        return _whole_bank(bank).plan(np.zeros((bank.op.graph.n_nodes, *rows.shape[1:]), dtype=rows.dtype))
    return _plan(bank, math.prod(rows.shape[1:]), eps(rows))


def analyze(bank: FilterBank, x: Any) -> Signal:
    r"""Return the own rows of :math:`c_m = g_m(op)\,x` for every kernel of a bank. Collective.

    The degree follows from the bank's ``tol`` as it does in one process. A graph of at most 4096 nodes for which the
    plan is not a polynomial is filtered whole on every rank.

    Parameters
    ----------
    bank : FilterBank
        On an operator of a distributed graph, by method ``'auto'`` or ``'chebyshev'``.
    x : array_like, shape (n_local,) or (n_local, n_signals)
        The rows of this rank.

    Returns
    -------
    array, shape (n_local, n_filters) or (n_local, n_signals, n_filters)

    Examples
    --------
    On one rank, which has all rows:

    >>> from gsp_fb.distributed import open_graph, operator
    >>> from gsp_fb.filters import heat
    >>> import tempfile
    >>> from gsp_fb import Graph
    >>> from gsp_fb.outofcore import write_folder
    >>> folder = tempfile.mkdtemp()
    >>> write_folder(Graph.from_edges([(0, 1), (1, 2)]), f"{folder}/path.npyd")
    >>> graph = open_graph(f"{folder}/path.npyd")
    >>> bank = FilterBank(operator(graph, "sym", "high"), heat(0.0001), method="chebyshev")
    >>> analyze(bank, [1.0, 3.0, 2.0]).round(3).ravel()
    array([1., 3., 2.])
    """
    graph = distributed_graph(bank.op)
    rows = check_rows(graph, x)
    chosen = plan(bank, rows)
    if chosen.method != "chebyshev":
        everything: Signal = _whole_bank(bank).analyze(graph.layout.gather(rows))
        return everything[graph.first : graph.last]
    c = APPLY["chebyshev"](bank.response, rows[:, None] if rows.ndim == 1 else rows, chosen)
    return c[:, 0, :] if rows.ndim == 1 else c


def energy_profile(op: Operator, x: Any, bins: Any = None, *, matvecs: int = 80) -> EnergyProfile:
    """Return how the energy of ``x`` is spread over the frequencies, as :func:`gsp_fb.energy_profile`. Collective.

    Parameters
    ----------
    op : Operator
        Of an undirected distributed graph.
    x : array_like, shape (n_local,) or (n_local, n_signals)
        The rows of this rank.
    bins, products
        As in the serial function.

    Examples
    --------
    On one rank, which has all rows:

    >>> from gsp_fb.distributed import open_graph, operator
    >>> import tempfile
    >>> from gsp_fb import Graph
    >>> from gsp_fb.outofcore import write_folder
    >>> folder = tempfile.mkdtemp()
    >>> write_folder(Graph.from_edges([(0, 1), (1, 2)]), f"{folder}/path.npyd")
    >>> graph = open_graph(f"{folder}/path.npyd")
    >>> energy_profile(operator(graph, "comb", "high"), [1.0, 0.0, 0.0], bins=[0.0, 0.5, 2.0, 3.0]).energy.round(4)
    array([0.3333, 0.5   , 0.1667])
    """
    graph = distributed_graph(op)
    rows = check_rows(graph, x)
    if graph.n_nodes <= EXACT_NODES:
        return serial_profile(whole_operator(op), graph.layout.gather(rows), bins, matvecs=matvecs)
    add = partial(allreduce_sum, graph.comm)
    z = (op.scale * rows.T).T.reshape(graph.n_local, math.prod(rows.shape[1:]))
    image = op.symmetrized.apply(z)
    moments = add([np.vdot(a, b).real for a, b in ((z, z), (z, image), (image, image))])
    if moments[0] == 0:
        raise SignalError("signal is zero everywhere; its energy lies nowhere")
    edges = check_edges(bins, op.bounds)
    measure = quadrature(op, z, check_count(matvecs, "matvecs"), total=add)
    lower, upper = measure.cumulative(edges, op.bounds, moments[0])
    energy = np.maximum(np.diff((lower + upper) / 2), 0.0)
    spent = sum(space.n_steps for space in measure.spaces)
    return EnergyProfile(edges, energy, lower, upper, float(moments[0]), moments, spent)
