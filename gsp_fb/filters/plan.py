"""How a bank will be applied: the method, its order, the error it promises and what it costs."""

from __future__ import annotations

import math
import warnings
from dataclasses import dataclass

import numpy as np

from .._document import facts_html
from .._lambda_max import EXACT_NODES
from ..backend import FloatArray
from ..errors import GspWarning, ParameterError
from .krylov import least_denominator
from .response import FOR_ROUNDING, MAX_ORDER, Response

__all__ = ["METHODS", "FilterTask", "Plan", "choose"]

EPS = float(np.finfo(np.float64).eps)
# Up to this size the basis is worth its cost if no polynomial reaches the tolerance.
BASIS_NODES = 4096
# A series whose tail stays above this share of the kernel belongs to a kernel that jumps.
JUMP = 0.05


@dataclass(frozen=True)
class Plan:
    r"""The method that a bank applies to a signal, its cost and a bound on its error.

    Parameters
    ----------
    method : {'exact', 'chebyshev', 'lanczos', 'cg'}
        A row of ``METHODS``.
    order : int
        Number of modes, degree of the polynomial, or most steps of the iteration.
    error_bound : float
        :math:`\|c_m - g_m(op)x\| \le` ``error_bound`` :math:`\|x\|` for every filter and signal, rounding included;
        for random-walk families in the norm :math:`\|x\|^2 = \sum_i s_i^2 x_i^2`, ``s = op.scale``.
    bound_kind : {'proven', 'sampled'}
        What ``error_bound`` rests on. It is proven for built-in kernels, for kernels that declare ``rational``,
        ``envelope`` or ``variations``, and where every kernel is evaluated at every eigenvalue. For a plain function it
        rests on samples of the function, which a feature between two of them escapes. The part for rounding follows the
        probabilistic model of [1]_, in which errors of a sum of d terms grow with the root of d.
    matvecs : int
        Sparse matrix-vector products with the whole block of signals, at most.

    See Also
    --------
    gsp_fb.FilterBank.plan : The method that returns it.
    AchievedError : The error for one signal, measured after the analysis.

    References
    ----------
    .. [1] N. J. Higham, T. Mary, "A new approach to probabilistic rounding error analysis", SISC 41, 2019.

    Examples
    --------
    >>> from gsp_fb import FilterBank, datasets, filters, operator
    >>> bank = FilterBank(operator(datasets.grid(40, 40), "sym", channel="high"), [filters.heat(2.0)], tol=1e-6)
    >>> plan = bank.plan()
    >>> plan.method, plan.order, plan.matvecs, plan.error_bound <= 1e-6, plan.bound_kind
    ('chebyshev', 9, 9, True, 'proven')
    """

    method: str
    order: int
    error_bound: float
    bound_kind: str
    matvecs: int

    def _repr_html_(self) -> str:
        facts = {"method": self.method, "order": self.order, f"error bound ({self.bound_kind})": self.error_bound}
        return facts_html("Plan", facts | {"matrix-vector products": self.matvecs})


@dataclass(frozen=True, eq=False)
class FilterTask:
    """One job to plan: a response, how many signals, their precision, and the degree if the user fixed it."""

    response: Response
    n_signals: int
    eps: float
    order: int | None


def _rounding(task: FilterTask, coefficients: FloatArray) -> float:
    """Return a bound on the rounding of the recurrence.

    A product with rows of d entries is off by about sqrt(d) eps (in the mean; d eps at worst) of what it adds up, the
    recurrence divides that by the width of the axis, and what enters at one degree grows to at most k^2 / 2 times
    that at degree k, the polynomials of the second kind being its gain.
    """
    degrees = np.arange(coefficients.shape[1])
    gain = float((np.abs(coefficients) @ (4.0 + degrees * (degrees + 1) / 2)).max())
    low, high = task.response.interval
    cancelled = max(1.0, task.response.summands / (high - low))
    return 4 * task.eps * (math.sqrt(task.response.op.graph.longest_row) + 4) * gain * cancelled


def _exact(task: FilterTask) -> Plan:
    """Plan through all modes; the error is rounding, and how much the kernels change within it."""
    frequencies, values = task.response.frequencies, task.response.values
    n_nodes = len(frequencies)
    low, high = task.response.interval
    blur = EPS * max(n_nodes, 8) * task.response.summands
    near = [
        np.abs(k(np.clip(frequencies + side * blur, low, high)) - v).max(initial=0.0)
        for k, v in zip(task.response.kernels, values, strict=True)
        for side in (-1, 1)
    ]
    gaps = np.diff(frequencies)
    slopes = np.abs(np.diff(values, axis=1))[:, gaps > blur] / gaps[gaps > blur]
    mixing = blur * float(slopes.max(initial=0.0)) * (1 + math.log(max(n_nodes, 1)))
    rounding = 8 * task.eps * max(n_nodes, 8) * float(np.abs(values).max(initial=0.0))
    return Plan("exact", n_nodes, float(max(near, default=0.0)) + mixing + rounding, "proven", 0)


def _chebyshev(task: FilterTask) -> Plan:
    series = task.response.expansion
    order = task.order or task.response.order or MAX_ORDER
    # A function that is zero at every sample is narrower than their distance, or nothing: no number bounds its error.
    truncation = series.error(order) if series.vanishing is None else math.inf
    error = truncation + _rounding(task, series.truncated(order))
    return Plan("chebyshev", order, error, task.response.bound_kind, order)


def _lanczos(task: FilterTask) -> Plan:
    """Plan Krylov spaces: at a given degree at most twice as far off as the best polynomial of that degree."""
    series = task.response.expansion
    wanted = task.order or task.response.degree(task.response.allowed * (1 - FOR_ROUNDING) / 2) or MAX_ORDER
    n_nodes = task.response.op.graph.n_nodes
    order = min(wanted, max(n_nodes - 1, 1))
    # A space of all dimensions leaves nothing out; only a jump may still fall between two computed eigenvalues.
    closes = order + 1 >= n_nodes and series.tails[:, -1].max() < JUMP * task.response.largest
    truncation = 2 * series.error(order) if series.vanishing is None else math.inf
    error = 0.0 if closes else truncation
    rounding = 4 * _rounding(task, series.truncated(max(order, MAX_ORDER)))
    return Plan("lanczos", order + 1, error + rounding, task.response.bound_kind, (order + 1) * task.n_signals)


def _cg(task: FilterTask) -> Plan:
    """Plan conjugate gradients: the residual, over the least value of the denominator, bounds the error."""
    ends = [least_denominator(kernel, task.response.interval) for kernel in task.response.kernels]
    condition = max(largest / smallest for smallest, largest in ends)
    # Half of it is for the residual, half for rounding.
    tolerance = max(task.response.tol, 256 * task.eps * condition)
    steps = math.ceil(0.5 * math.sqrt(condition) * math.log(2 * condition / tolerance)) + 1
    degrees = sum(sum(len(part) - 1 for part in kernel.rational or ()) for kernel in task.response.kernels)
    return Plan("cg", steps, tolerance, "proven", steps * max(degrees, 1))


METHODS = {"exact": _exact, "chebyshev": _chebyshev, "lanczos": _lanczos, "cg": _cg}


def choose(task: FilterTask, method: str) -> Plan:
    """Return the plan of the named method, or of the cheapest that keeps the tolerance for ``'auto'``."""
    name = "chebyshev" if method == "auto" and task.order is not None else method
    plan = METHODS[_cheapest(task) if name == "auto" else name](task)
    # Rounding alone is no fault of the plan: float32 signals cannot have eight digits.
    if plan.error_bound > max(task.response.allowed, 1e6 * task.eps):
        warnings.warn(
            f"{plan.method} of order {plan.order} has an error bound of {plan.error_bound:.2g} |x| "
            f"({plan.bound_kind}), more than tol={task.response.tol:g}; {_cause(plan, task)}",
            GspWarning,
            stacklevel=4,
        )
    return plan


def _cheapest(task: FilterTask) -> str:
    """Return the method to prefer; the first rule that holds decides."""
    response, n_nodes = task.response, task.response.op.graph.n_nodes
    if n_nodes <= EXACT_NODES:
        return "exact"
    if response.order is not None:
        return "lanczos" if task.n_signals == 1 and response.order >= n_nodes else "chebyshev"
    if all(kernel.rational is not None for kernel in response.kernels):
        return "cg"
    if n_nodes <= BASIS_NODES:
        return "exact"
    # A plain function may be as rough as it likes; the warning names the error.
    if response.bound_kind == "sampled":
        return "chebyshev"
    within = 1.2 * response.expansion.error(MAX_ORDER) / max(1.0, response.largest)
    raise ParameterError(
        f"kernel {response.expansion.roughest.name!r} is not smooth enough for tol={response.tol:g}, and {n_nodes} "
        f"nodes are too many for the exact basis. Order {MAX_ORDER} is within {within:.2g}: give that as tol=, "
        "method='chebyshev' to take what order= gives, method='exact' to pay for the basis, or a smoother kernel"
    )


def _cause(plan: Plan, task: FilterTask) -> str:
    series, (low, high) = task.response.expansion, task.response.interval
    if series.vanishing is not None and plan.method != "exact":
        return (
            f"kernel {series.vanishing.name!r} is zero at all sampled frequencies: give method='exact', or a Kernel "
            "that declares its variations"
        )
    if plan.method in {"chebyshev", "lanczos"} and 2 * series.error(plan.order) <= task.response.allowed:
        return (
            f"all of it is rounding, as numbers of {task.response.summands:.2g} are subtracted on an axis of "
            f"{high - low:.2g}: give float64 signals, or scale down heavy loops beside light edges"
        )
    return f"the roughest kernel is {series.roughest.name!r}: give a wider tol=, method='exact', or a smoother kernel"
