"""The four ways to apply a bank, and their adjoints, as two tables."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from .._kernels import chebyshev_bank
from ..backend import Signal, asarray_like, cast, column, namespace
from .chebyshev import chebyshev_adjoint
from .krylov import lanczos_bank, rational_bank
from .plan import Plan
from .response import Response

__all__ = ["ADJOINT", "APPLY"]

# Beyond what theory asks of conjugate gradients, rounding costs a few steps more.
CG_MARGIN = 4


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


def _series(response: Response, plan: Plan) -> dict[str, Any]:
    op = response.op
    coefficients = response.expansion.truncated(plan.order)
    return {
        "left": op.left,
        "right": op.right,
        "diag": op.diag,
        "coefficients": coefficients,
        "interval": response.interval,
    }


def _chebyshev(response: Response, x: Signal, plan: Plan) -> Signal:
    return chebyshev_bank(response.op.graph, x, **_series(response, plan))


def _chebyshev_adjoint(response: Response, c: Signal, plan: Plan) -> Signal:
    return chebyshev_adjoint(response.op.graph, c, **_series(response, plan))


def _in_core(method: Callable[[Response, Signal, Plan], Signal]) -> Callable[[Response, Signal, Plan], Signal]:
    """Return a method for the operator itself from one for its symmetric core."""

    def applied(response: Response, x: Signal, plan: Plan) -> Signal:
        scale = response.op.scale
        y = method(response, column(scale, x) * x, plan)
        return cast(y / scale[:, None, None], x.dtype)

    return applied


def _lanczos(response: Response, z: Signal, plan: Plan) -> Signal:
    return lanczos_bank(response.op.symmetrized, z, response.kernels, plan.order)


def _cg(response: Response, z: Signal, plan: Plan) -> Signal:
    steps = CG_MARGIN * plan.order + z.shape[0]
    return rational_bank(response.op.symmetrized, z, response.kernels, tolerance=plan.error_bound / 2, max_steps=steps)


def _one_by_one(method: Callable[[Response, Signal, Plan], Signal]) -> Callable[[Response, Signal, Plan], Signal]:
    """Return the adjoint of a method that has no shorter one: each filter on its own coefficients, summed."""

    def applied(response: Response, c: Signal, plan: Plan) -> Signal:
        single = (Response(response.op, (kernel,), response.tol) for kernel in response.kernels)
        return sum(method(part, c[..., m], plan)[..., 0] for m, part in enumerate(single))

    return applied


# response, signals (n, f), plan -> (n, f, n_filters).
APPLY: dict[str, Callable[[Response, Signal, Plan], Signal]] = {
    "exact": _exact,
    "chebyshev": _chebyshev,
    "lanczos": _in_core(_lanczos),
    "cg": _in_core(_cg),
}
# response, coefficients (n, f, n_filters), plan -> (n, f).
ADJOINT: dict[str, Callable[[Response, Signal, Plan], Signal]] = {
    "exact": _exact_adjoint,
    "chebyshev": _chebyshev_adjoint,
    "lanczos": _one_by_one(APPLY["lanczos"]),
    "cg": _one_by_one(APPLY["cg"]),
}
