"""Single kernels that are analytic: diffusion, waves, ratios of polynomials, the affine pair."""

from __future__ import annotations

import math
from collections.abc import Sequence
from functools import partial
from typing import Any

import numpy as np

from ..._arguments import check_choice, check_positive
from ...errors import ParameterError
from ._kernel import Float64, Kernel, bound_to

__all__ = [
    "heat",
    "high_pass",
    "low_pass",
    "ppr",
    "rational",
    "wave",
]

NORMALIZE = ("none", "lmax")


def heat(tau: float, *, normalize: str = "none", lmax: float | None = None) -> Kernel:
    r"""Return the heat kernel :math:`g(\lambda) = e^{-\tau\lambda}`: diffusion for the time ``tau``.

    Parameters
    ----------
    tau : float > 0
    normalize : {'none', 'lmax'}
        ``'lmax'`` is PyGSP's convention :math:`e^{-\tau\lambda/\lambda_{max}}`.
    lmax : float, optional
        End of the frequency axis for ``normalize='lmax'``; by default the bank's own.

    Examples
    --------
    >>> heat(2.0)([0.0, 1.0]).round(4)
    array([1.    , 0.1353])
    """
    tau = check_positive(tau, "tau")
    relative = check_choice(normalize, NORMALIZE, "normalize") == "lmax"
    formula = rf"e^{{-{tau:g}\lambda" + r"/\lambda_{max}" * relative + "}"
    kernel = Kernel(
        partial(_heat, tau),
        f"heat({tau:g})",
        formula,
        relative,
        continuity=math.inf,
        envelope=partial(_heat_envelope, tau),
    )
    return bound_to(lmax, (kernel,))[0]


def _heat(tau: float, frequencies: Float64) -> Float64:
    return np.exp(-tau * frequencies)


def _heat_envelope(tau: float, center: float, real: float, imaginary: float) -> float:
    return float(np.exp(tau * (real - center)))


def wave(time: float, *, speed: float = 1.0, lmax: float | None = None) -> Kernel:
    r"""Return :math:`\cos(t \arccos(1 - s^2 \lambda / 2\lambda_{max}))`: a wave of ``speed`` s at ``time`` t.

    For a whole ``time`` it is a Chebyshev polynomial of that degree, hence applied in as many products.

    Parameters
    ----------
    time : float > 0
    speed : float
        Between 0 and 2.
    lmax : float, optional
        End of the frequency axis; by default the bank's own.

    Examples
    --------
    >>> wave(2, lmax=1.0)([0.0, 1.0])
    array([ 1. , -0.5])
    """
    time, speed = check_positive(time, "time"), check_positive(speed, "speed")
    if speed >= 2:
        raise ParameterError(f"speed must be < 2, not {speed!r}; faster waves are not stable")
    formula = rf"\cos({time:g}\arccos(1 - {speed**2 / 2:g}\lambda/\lambda_{{max}}))"
    kernel = Kernel(
        partial(_wave, time, speed),
        f"wave({time:g})",
        formula,
        True,
        0.0,
        math.inf,
        envelope=partial(_wave_envelope, time, speed),
    )
    return bound_to(lmax, (kernel,))[0]


def _wave(time: float, speed: float, t: Float64) -> Float64:
    return np.cos(time * np.arccos(np.clip(1.0 - speed**2 * t / 2.0, -1.0, 1.0)))


def _wave_envelope(time: float, speed: float, center: float, real: float, imaginary: float) -> float:
    """Bound ``cosh(time v)``, ``v`` the imaginary part of the arccosine: ``2 cosh v = |y - 1| + |y + 1|``.

    That sum is convex, hence greatest at a corner of the box around the ellipse. At y = -1 the kernel branches.
    """
    factor = speed**2 / 2.0
    left, right, height = 1.0 - factor * (center + real), 1.0 - factor * (center - real), factor * imaginary
    if left <= -1.0:
        return math.inf
    sums = [math.hypot(end - 1.0, height) + math.hypot(end + 1.0, height) for end in (left, right)]
    return float(np.cosh(time * np.arccosh(max(*sums, 2.0) / 2.0)))


def rational(numerator: Sequence[float], denominator: Sequence[float], *, name: str = "rational") -> Kernel:
    r"""Return the ratio :math:`p(\lambda)/q(\lambda)` of two polynomials with ascending coefficients.

    The denominator must not vanish on the spectrum; a bank can then solve ``q(op) y = p(op) x``.

    Examples
    --------
    >>> rational([1.0], [1.0, 2.0])([0.0, 0.5])
    array([1. , 0.5])
    """
    p, q = _coefficients(numerator, "numerator"), _coefficients(denominator, "denominator")
    formula = rf"({_polynomial(p)}) / ({_polynomial(q)})"
    return Kernel(partial(_ratio, p, q), name, formula, continuity=math.inf, rational=(p, q))


def _coefficients(values: Sequence[float], what: str) -> tuple[float, ...]:
    array = np.asarray(values, dtype=np.float64)
    if array.ndim != 1 or not np.isfinite(array).all() or not array.any():
        raise ParameterError(f"{what} must be finite coefficients, ascending and not all zero, not {values!r}")
    return tuple(np.trim_zeros(array, "b").tolist())


def _polynomial(coefficients: tuple[float, ...]) -> str:
    return " + ".join(f"{c:g}" + rf"\lambda^{{{k}}}" * bool(k) for k, c in enumerate(coefficients) if c)


def _ratio(numerator: tuple[float, ...], denominator: tuple[float, ...], frequencies: Float64) -> Any:
    evaluate = np.polynomial.polynomial.polyval
    return evaluate(frequencies, numerator) / evaluate(frequencies, denominator)


def ppr(alpha: float) -> Kernel:
    r"""Return personalised PageRank's kernel :math:`\alpha / (\alpha + (1 - \alpha)\lambda)`.

    On a high channel ``I - P`` it is :math:`\alpha (I - (1 - \alpha) P)^{-1}`, restart probability ``alpha``.

    Examples
    --------
    >>> ppr(0.5)([0.0, 1.0])
    array([1. , 0.5])
    """
    alpha = check_positive(alpha, "alpha")
    if alpha > 1:
        raise ParameterError(f"alpha is a probability; it must be <= 1, not {alpha!r}")
    return rational([alpha], [alpha, 1.0 - alpha], name=f"ppr({alpha:g})")


def low_pass(*, lmax: float | None = None) -> Kernel:
    r"""Return the affine low-pass :math:`1 - \lambda/\lambda_{max}`; with ``lmax=1`` the two-channel low filter.

    Examples
    --------
    >>> low_pass(lmax=2.0)([0.0, 2.0])
    array([1., 0.])
    """
    formula = r"1 - \lambda/\lambda_{max}"
    kernel = Kernel(_falling, "low_pass", formula, True, continuity=math.inf, envelope=_falling_envelope)
    return bound_to(lmax, (kernel,))[0]


def high_pass(*, lmax: float | None = None) -> Kernel:
    r"""Return the affine high-pass :math:`\lambda/\lambda_{max}`, the complement of :func:`low_pass` to 1.

    Examples
    --------
    >>> high_pass(lmax=2.0)([0.0, 2.0])
    array([0., 1.])
    """
    formula = r"\lambda/\lambda_{max}"
    kernel = Kernel(np.positive, "high_pass", formula, True, continuity=math.inf, envelope=_rising_envelope)
    return bound_to(lmax, (kernel,))[0]


def _falling(t: Float64) -> Float64:
    return 1.0 - t


def _falling_envelope(center: float, real: float, imaginary: float) -> float:
    return abs(1.0 - center) + real


def _rising_envelope(center: float, real: float, imaginary: float) -> float:
    return abs(center) + real
