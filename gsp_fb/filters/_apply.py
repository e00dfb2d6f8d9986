"""The four ways to apply a bank, and their adjoints, as two tables.

On graphs whose edges are on disk or on MPI ranks: Chebyshev polynomials, block of columns by block of columns. A graph
that is small enough for the exact basis is filtered in one memory, as the other methods need all edges there.
"""

from __future__ import annotations

import math
import os
from collections.abc import Callable
from dataclasses import replace
from functools import partial
from typing import TYPE_CHECKING, Any

from .._arguments import Checked
from .._kernels import affine_product, chebyshev_bank
from ..backend import Signal, asarray_like, cast, column, eps, namespace
from ..errors import GraphError
from ..graph import REMEDY
from ..storage import DiskStorage, collect_blocks
from ._arguments import signal_block
from .krylov import lanczos_bank, rational_filter
from .plan import BASIS_NODES, FilterTask, Plan, choose
from .response import Response

if TYPE_CHECKING:
    from .bank import FilterBank

__all__ = ["ADJOINT", "APPLY", "analyze_elsewhere", "plan_elsewhere"]

Method = Callable[[Response, Signal, Plan], Signal]
# Beyond what theory asks of conjugate gradients, rounding costs a few steps more.
CG_MARGIN = 4
# Arrays as large as the block of columns at the peak: those of a product and the recurrence, and twice the outputs.
COPIES, COPIES_PER_FILTER = 9, 2


def _exact(response: Response, x: Signal, plan: Plan) -> Signal:
    coefficients = response.spectrum.gft(x)
    parts = [response.spectrum.igft(gain * coefficients) for gain in _gains(response, x)]
    return cast(namespace(x).stack(parts, axis=-1), x.dtype)


def _exact_adjoint(response: Response, c: Signal, plan: Plan) -> Signal:
    parts = (gain * response.spectrum.gft(c[..., m]) for m, gain in enumerate(_gains(response, c)))
    return cast(response.spectrum.igft(sum(parts)), c.dtype)


def _gains(response: Response, like: Signal) -> list[Any]:
    """Return each kernel's values at the frequencies as a column beside ``like``."""
    return [asarray_like(values[:, None], like) for values in response.values]


def _chebyshev(response: Response, x: Signal, plan: Plan) -> Signal:
    op, coefficients = response.op, response.expansion.truncated(plan.order)
    vectors = op.left, op.right, op.diag
    return chebyshev_bank(op.graph, x, *vectors, coefficients=coefficients, interval=response.interval)


def _chebyshev_adjoint(response: Response, c: Signal, plan: Plan) -> Signal:
    """Sum up the polynomials of all filters by Clenshaw's recurrence: one product per degree, however many filters."""
    xp, op, (low, high) = namespace(c), response.op, response.interval
    weights = asarray_like(response.expansion.truncated(plan.order), c, c.dtype)
    # The eigenvalues of (op - middle I) / half lie in [-1, 1].
    half = (high - low) / 2
    left, diag = op.left / half, (op.diag - (low + high) / 2) / half
    rows = xp.reshape(c, (-1, c.shape[-1]))

    def mixed(k: int) -> Any:
        return xp.reshape(rows @ weights[:, k], c.shape[:-1])

    *others, highest = range(weights.shape[1])
    current = mixed(highest)
    previous = xp.zeros_like(current)
    for k in reversed(others):
        factor = 1 if k == 0 else 2
        following = mixed(k) + affine_product(op.graph, current, factor * left, op.right, factor * diag) - previous
        previous, current = current, following
    return current


def _in_core(method: Method, response: Response, x: Signal, plan: Plan) -> Signal:
    """Apply a method for the symmetric core to the operator itself."""
    scale = response.op.scale
    y = method(response, column(scale, x) * x, plan)
    return cast(y / scale[:, None, None], x.dtype)


def _lanczos(response: Response, z: Signal, plan: Plan) -> Signal:
    return lanczos_bank(response.op.symmetrized, z, response.kernels, plan.order)


def _cg(response: Response, z: Signal, plan: Plan) -> Signal:
    core, steps = response.op.symmetrized, CG_MARGIN * plan.order + z.shape[0]
    solve = partial(rational_filter, core, z, tolerance=plan.error_bound / 2, max_steps=steps)
    return namespace(z).stack([solve(kernel) for kernel in response.kernels], axis=-1)


def _one_by_one(method: Method, response: Response, c: Signal, plan: Plan) -> Signal:
    """Apply the adjoint of a method that has no shorter one: each filter on its own coefficients, summed."""
    single = (Response(response.op, (kernel,), response.tol) for kernel in response.kernels)
    return sum(method(part, c[..., m], plan)[..., 0] for m, part in enumerate(single))


# response, signals (n, f), plan -> (n, f, n_filters).
APPLY: dict[str, Method] = {"exact": _exact, "chebyshev": _chebyshev}
APPLY |= {"lanczos": partial(_in_core, _lanczos), "cg": partial(_in_core, _cg)}
# response, coefficients (n, f, n_filters), plan -> (n, f).
ADJOINT: dict[str, Method] = {"exact": _exact_adjoint, "chebyshev": _chebyshev_adjoint}
ADJOINT |= {name: partial(_one_by_one, APPLY[name]) for name in ("lanczos", "cg")}


def plan_elsewhere(bank: FilterBank, x: Signal) -> Plan:
    """Return how :func:`analyze_elsewhere` filters the local rows ``x``. Collective on MPI ranks."""
    task = FilterTask(bank.response, math.prod(x.shape[1:]), eps(x), bank.order)
    graph, free = bank.op.graph, bank.method == "auto" and bank.order is None
    fits = not isinstance(graph.storage, DiskStorage) or graph.storage.fits_memory
    if free and graph.n_nodes <= BASIS_NODES and fits:
        return choose(replace(task, response=bank.in_memory.response), bank.method)
    if bank.method not in {"auto", "chebyshev"}:
        raise GraphError(f"method={bank.method!r} needs all edges in memory; give method='chebyshev', or {REMEDY}")
    if free and bank.response.order is None:
        raise GraphError(
            f"no polynomial reaches tol={bank.tol:g}, and other methods need all edges in memory: give a wider tol=, a "
            f"smoother kernel, method='chebyshev' to take what order= gives, or {REMEDY}"
        )
    chosen = choose(task, "chebyshev")
    # Its part for rounding follows from vectors of which each rank has a part.
    return replace(chosen, error_bound=float(graph.storage.reduce(chosen.error_bound, "max")))


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
