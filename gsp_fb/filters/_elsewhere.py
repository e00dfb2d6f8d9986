"""Banks on graphs whose edges are on disk or on MPI ranks: Chebyshev polynomials, block of columns by block of columns.

The other methods need all edges in one memory. A graph that is small enough for the exact basis is filtered there.
"""

from __future__ import annotations

import math
import os
from dataclasses import replace
from typing import TYPE_CHECKING, Any

from .._arguments import Checked
from ..backend import Signal, eps
from ..errors import GraphError
from ..graph import REMEDY
from ..storage import DiskStorage, collect_blocks
from ._apply import APPLY
from ._arguments import signal_block
from .plan import BASIS_NODES, FilterTask, Plan, choose

if TYPE_CHECKING:
    from .bank import FilterBank

__all__ = ["analyze_elsewhere", "plan_elsewhere"]

# Arrays as large as the block of columns that are alive at the peak: those of a product, the two last vectors of the
# recurrence, and twice the outputs.
COPIES, COPIES_PER_FILTER = 9, 2


def _is_small(bank: FilterBank) -> bool:
    """Return whether the choice of the method is left to us, and the graph small enough to be filtered in memory."""
    op = bank.op
    fits = not isinstance(op.graph.storage, DiskStorage) or op.graph.storage.fits_memory
    return bank.method == "auto" and bank.order is None and op.graph.n_nodes <= BASIS_NODES and fits


def plan_elsewhere(bank: FilterBank, x: Signal) -> Plan:
    """Return how :func:`analyze_elsewhere` filters the local rows ``x``. Collective on MPI ranks."""
    task = FilterTask(bank.response, math.prod(x.shape[1:]), eps(x), bank.order)
    if _is_small(bank):
        return choose(replace(task, response=bank.in_memory.response), bank.method)
    if bank.method not in {"auto", "chebyshev"}:
        raise GraphError(f"method={bank.method!r} needs all edges in memory; give method='chebyshev', or {REMEDY}")
    if bank.method == "auto" and bank.order is None and bank.response.order is None:
        raise GraphError(
            f"no polynomial reaches tol={bank.tol:g}, and other methods need all edges in memory: give a wider tol=, a "
            f"smoother kernel, method='chebyshev' to take what order= gives, or {REMEDY}"
        )
    chosen = choose(task, "chebyshev")
    # Its part for rounding follows from vectors of which each rank has a part.
    return replace(chosen, error_bound=float(bank.op.graph.storage.reduce(chosen.error_bound, "max")))


def analyze_elsewhere(bank: FilterBank, x: Any, out: str | os.PathLike[str] | None) -> Any:
    """Return the analysis of ``x``, or the StoredArray of it in the file ``out``. Collective on MPI ranks."""
    graph = bank.op.graph

    def filtered(signal: Checked) -> Signal:
        if graph.storage.kind == "memory":
            return bank.analyze(signal.values)
        block = signal_block(signal.values)
        plan = plan_elsewhere(bank, block)
        if plan.method == "chebyshev":
            c = APPLY["chebyshev"](bank.response, block, plan)
        else:
            c = graph.local(bank.in_memory.analyze(graph.storage.gather(block)))
        return c[:, 0, :] if signal.values.ndim == 1 else c

    copies = COPIES + COPIES_PER_FILTER * len(bank)
    return collect_blocks(graph, x, filtered, copies=copies, extra=(len(bank),), out=out)
