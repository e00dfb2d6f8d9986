"""Analytic kernels: heat diffusion, wave propagation, ratios of polynomials, the affine pair."""

from __future__ import annotations

import math
from collections.abc import Sequence
from functools import partial
from typing import Any

import numpy as np

from ..._arguments import check_choice, check_positive
from ...errors import ParameterError
from ._kernel import Float64, Kernel, bound_to

__all__ = ["heat", "high_pass", "low_pass", "ppr", "rational", "wave"]


def heat(tau: float, *, normalize: str = "none", lmax: float | None = None) -> Kernel:
    r"""Return the heat kernel :math:`g(\lambda) = e^{-\tau\lambda}`.

    It solves the heat equation :math:`\dot x = -Lx` for the time :math:`\tau`: a low-pass that keeps frequency 0.

    Parameters
    ----------
    tau : float > 0
        Diffusion time.
    normalize : {'none', 'lmax'}
        ``'lmax'`` is PyGSP's convention :math:`e^{-\tau\lambda/\lambda_{max}}`.
    lmax : float, optional
        End of the frequency axis for ``normalize='lmax'``; by default the largest frequency of the bank's operator.

    Returns
    -------
    Kernel
        1 at frequency 0, decreasing.

    Raises
    ------
    ParameterError
        ``tau`` is not positive, or ``normalize`` is unknown.

    See Also
    --------
    ppr : The rational low-pass of personalised PageRank.
    wave : Propagation without damping.

    References
    ----------
    .. [1] R. I. Kondor, J. Lafferty, "Diffusion kernels on graphs and other discrete input spaces", ICML 2002.
    .. [2] F. Chung, "The heat kernel as the pagerank of a graph", PNAS 104(50), 2007.

    Examples
    --------
    >>> heat(2.0)([0.0, 1.0]).round(4)
    array([1.    , 0.1353])
    """
    tau = check_positive(tau, "tau")
    relative = check_choice(normalize, ("none", "lmax"), "normalize") == "lmax"
    formula = rf"e^{{-{tau:g}\lambda" + r"/\lambda_{max}" * relative + "}"
    shape, envelope = partial(_heat, tau), partial(_heat_envelope, tau)
    return bound_to(lmax, Kernel(shape, f"heat({tau:g})", formula, relative, continuity=math.inf, envelope=envelope))


def _heat(tau: float, frequencies: Float64) -> Float64:
    return np.exp(-tau * frequencies)


def _heat_envelope(tau: float, center: float, real: float, imaginary: float) -> float:
    return float(np.exp(tau * (real - center)))


def wave(time: float, *, speed: float = 1.0, lmax: float | None = None) -> Kernel:
    r"""Return the wave kernel :math:`\cos(t \arccos(1 - s^2 \lambda / 2\lambda_{max}))`.

    It is the solution at step t of the discretised wave equation :math:`x_{t+1} - 2x_t + x_{t-1} = -s^2 L x_t /
    \lambda_{max}` that starts at rest. For integer t it is the Chebyshev polynomial :math:`T_t(1 - s^2 \lambda /
    2\lambda_{max})`, hence applied exactly in t matrix-vector products.

    Parameters
    ----------
    time : float > 0
        Number of steps t.
    speed : float
        Propagation speed s, with 0 < s < 2 (stability).
    lmax : float, optional
        End of the frequency axis; by default the largest frequency of the bank's operator.

    Returns
    -------
    Kernel
        Values in [-1, 1], 1 at frequency 0.

    Raises
    ------
    ParameterError
        ``time`` is not positive, or ``speed`` is outside (0, 2).

    See Also
    --------
    heat : Diffusion.

    References
    ----------
    .. [1] F. Grassi et al., "Tracking time-vertex propagation using dynamic graph wavelets", GlobalSIP 2016.

    Examples
    --------
    >>> wave(2, lmax=1.0)([0.0, 1.0])
    array([ 1. , -0.5])
    """
    time, speed = check_positive(time, "time"), check_positive(speed, "speed")
    if speed >= 2:
        raise ParameterError(f"speed must be < 2, not {speed!r}; faster waves are not stable")
    formula = rf"\cos({time:g}\arccos(1 - {speed**2 / 2:g}\lambda/\lambda_{{max}}))"
    shape, envelope = partial(_wave, time, speed), partial(_wave_envelope, time, speed)
    return bound_to(lmax, Kernel(shape, f"wave({time:g})", formula, True, 0.0, math.inf, envelope=envelope))


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
    r"""Return a ratio of polynomials :math:`p(\lambda)/q(\lambda)`: the frequency response of an ARMA graph filter.

    A bank evaluates it as the solution of ``q(op) y = p(op) x``. The denominator must not vanish on the spectrum.

    Parameters
    ----------
    numerator, denominator : sequence of float
        Coefficients of p and q in ascending powers of :math:`\lambda`.
    name : str
        Name in legends and messages.

    Returns
    -------
    Kernel
        With its coefficients in ``rational``.

    Raises
    ------
    ParameterError
        Coefficients are not finite, or all of them are zero.

    See Also
    --------
    ppr : The first-order ratio of personalised PageRank.
    tikhonov : The first-order ratio :math:`1/(1 + \tau\lambda)` as a denoiser.

    References
    ----------
    .. [1] E. Isufi et al., "Autoregressive moving average graph filtering", IEEE Trans. Signal Process. 65(2), 2017.

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
    r"""Return the kernel of personalised PageRank, :math:`\alpha / (\alpha + (1 - \alpha)\lambda)`.

    On a high channel ``I - P`` the filter is :math:`\alpha (I - (1 - \alpha) P)^{-1}`: the limit distribution of a
    random walk that restarts with probability :math:`\alpha` at each step. APPNP [2]_ propagates with it.

    Parameters
    ----------
    alpha : float
        Restart probability in (0, 1]; 1 is the identity.

    Returns
    -------
    Kernel
        Rational of first order, 1 at frequency 0, decreasing.

    Raises
    ------
    ParameterError
        ``alpha`` is outside (0, 1].

    See Also
    --------
    heat : The low-pass with exponential decay.
    rational : Any ratio of polynomials.

    References
    ----------
    .. [1] L. Page et al., "The PageRank citation ranking: Bringing order to the Web", Stanford InfoLab 1999-66, 1999.
    .. [2] J. Gasteiger et al., "Predict then propagate: Graph neural networks meet personalized PageRank", ICLR 2019.

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
    r"""Return the affine low-pass :math:`1 - \lambda/\lambda_{max}`.

    With ``lmax=1`` on a high channel ``L`` it is ``I - L``, the low channel: GCN's aggregation on ``renorm_sym``.

    Parameters
    ----------
    lmax : float, optional
        End of the frequency axis; by default the largest frequency of the bank's operator.

    Returns
    -------
    Kernel
        1 at frequency 0 and 0 at ``lmax``.

    Raises
    ------
    ParameterError
        ``lmax`` is not a finite positive number.

    See Also
    --------
    high_pass : The complement to 1.
    two_channel : The pair applied without a kernel.

    References
    ----------
    .. [1] S. Luan et al., "Complete the missing half", GLFrontiers 2022, Section 3.1.

    Examples
    --------
    >>> low_pass(lmax=2.0)([0.0, 2.0])
    array([1., 0.])
    """
    falling, envelope = partial(np.subtract, 1.0), partial(_distance_envelope, 1.0)
    formula = r"1 - \lambda/\lambda_{max}"
    return bound_to(lmax, Kernel(falling, "low_pass", formula, True, continuity=math.inf, envelope=envelope))


def high_pass(*, lmax: float | None = None) -> Kernel:
    r"""Return the affine high-pass :math:`\lambda/\lambda_{max}`, the complement of :func:`low_pass` to 1.

    With ``lmax=1`` on a high channel ``L`` the filter is ``L`` itself: differences to the neighbours.

    Parameters
    ----------
    lmax : float, optional
        End of the frequency axis; by default the largest frequency of the bank's operator.

    Returns
    -------
    Kernel
        0 at frequency 0 and 1 at ``lmax``.

    Raises
    ------
    ParameterError
        ``lmax`` is not a finite positive number.

    See Also
    --------
    low_pass : The complement to 1.
    two_channel : The pair applied without a kernel.

    Examples
    --------
    >>> high_pass(lmax=2.0)([0.0, 2.0])
    array([0., 1.])
    """
    formula, envelope = r"\lambda/\lambda_{max}", partial(_distance_envelope, 0.0)
    return bound_to(lmax, Kernel(np.positive, "high_pass", formula, True, continuity=math.inf, envelope=envelope))


def _distance_envelope(zero: float, center: float, real: float, imaginary: float) -> float:
    return abs(zero - center) + real
