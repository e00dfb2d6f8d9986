"""The error of coefficients that were computed, for the signal they were computed from."""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import partial
from typing import TYPE_CHECKING, Any

from .._lambda_max import EXACT_NODES
from ..backend import Signal, cast, column, eps, is_complex, namespace, norm
from ._apply import APPLY
from .kernels._kernel import of_affine
from .krylov import lanczos_bank
from .plan import METHODS, FilterTask

if TYPE_CHECKING:
    from .bank import FilterBank

__all__ = ["AchievedError", "achieved_error"]

# Tolerances of a reference, tried in turn; below the first, rounding is larger.
REFERENCE_TOLS = (1e-12, 1e-10, 1e-8)
# Steps of the Lanczos reference, one attempt after the other, and numbers that its basis may hold: half a gigabyte.
STEPS, MOST_NUMBERS = (50, 100, 200, 400), 2**26
# A reference has settled when its last steps changed it by this share of what is measured.
SETTLED = 0.1


@dataclass(frozen=True)
class AchievedError:
    r"""How far coefficients are from the filtered signal.

    Parameters
    ----------
    error : float
        Bound or estimate of the greatest :math:`\|c_m - g_m(op)x\| / \|x\|`, in the norm of :class:`Plan`.
    kind : {'proven', 'estimate'}
        ``'proven'``: the distance to a reference that has a proven bound, and that bound. ``'estimate'``: the distance
        to the result of Lanczos's process, how much its last steps changed it, and what rounded frequencies change.
    matvecs : int
        Matrix-vector products spent.

    See Also
    --------
    gsp_fb.FilterBank.error : The method that returns it.
    Plan : The bound for every signal, known before the analysis.

    Examples
    --------
    >>> from gsp_fb import FilterBank, datasets, filters, operator
    >>> bank = FilterBank(operator(datasets.ring(8), "sym", channel="high"), filters.heat(2.0))
    >>> found = bank.error([1.0] * 8, 1.01 * bank.analyze([1.0] * 8))  # wrong by one per cent
    >>> found.kind, round(found.error, 4)
    ('proven', 0.01)
    """

    error: float
    kind: str
    matvecs: int


def achieved_error(bank: FilterBank, x: Signal, c: Signal) -> AchievedError:
    """Return the error of ``c``, shape (n, f, n_filters), as the analysis of the block ``x``, shape (n, f)."""
    wide = _double(x)
    return _by_reference(bank, wide, c) or _by_lanczos(bank, wide, c)


def _double(x: Signal) -> Any:
    return cast(x, namespace(x).complex128 if is_complex(x) else namespace(x).float64)


def _distance(bank: FilterBank, x: Signal, one: Signal, other: Signal) -> float:
    """Return the greatest distance of two results relative to the signal; a zero signal has none."""
    scale, xp = bank.op.scale, namespace(x)
    sizes = norm(column(scale, x) * x, axis=0)
    apart = norm(scale[:, None, None] * (_double(one) - _double(other)), axis=0)
    return float(xp.max(apart / xp.where(sizes > 0, sizes, 1.0)[:, None])) if 0 not in apart.shape else 0.0


def _by_reference(bank: FilterBank, x: Signal, c: Signal) -> AchievedError | None:
    """Return the distance to a float64 reference and the proven bound of that, None if no reference is affordable."""
    small = bank.op.graph.n_nodes <= EXACT_NODES
    # The smallest tolerance that a polynomial reaches; any on a graph with an exact basis.
    candidates = [bank.response] if small else (replace(bank.response, tol=tol) for tol in REFERENCE_TOLS)
    response = next((one for one in candidates if small or one.order is not None), None)
    if response is None:
        return None
    method = "exact" if small else "chebyshev"
    plan = METHODS[method](FilterTask(response, x.shape[1], eps(x), None))
    if plan.bound_kind != "proven":
        return None
    distance = _distance(bank, x, c, APPLY[method](response, x, plan))
    # A reference that is no better than what it measures proves little.
    return AchievedError(distance + plan.error_bound, "proven", plan.matvecs) if plan.error_bound <= distance else None


def _by_lanczos(bank: FilterBank, x: Signal, c: Signal) -> AchievedError:
    """Return the distance to a Lanczos reference whose steps double until the last of them hardly change it."""
    n_nodes, scale, n_filters = bank.op.graph.n_nodes, bank.op.scale, len(bank.kernels)
    z, spent, before = column(scale, x) * x, 0, c
    # A frequency is known to the rounding of the operator: the same steps give what a shift by it would change.
    rounding = eps(z) * max(abs(end) for end in bank.op.bounds)
    kernels: list[Any] = [*bank.kernels, *(partial(of_affine, kernel, -rounding, 1.0) for kernel in bank.kernels)]
    for count in STEPS:
        steps = max(1, min(count, n_nodes, MOST_NUMBERS // max(n_nodes, 1)))
        both = lanczos_bank(bank.op.symmetrized, z, kernels, steps) / scale[:, None, None]
        after, moved = both[..., :n_filters], both[..., n_filters:]
        spent += steps * x.shape[1]
        distance, change = _distance(bank, x, c, after), _distance(bank, x, before, after)
        settled = change <= SETTLED * distance and distance <= bank.response.allowed
        if settled or steps < count:
            break
        before = after
    error = distance + (0.0 if steps == n_nodes else change) + _distance(bank, x, after, moved)
    return AchievedError(error, "estimate", spent)
