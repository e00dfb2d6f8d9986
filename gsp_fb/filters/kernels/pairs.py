r"""Tight pairs: a low-pass :math:`\cos\theta(\lambda)` and a high-pass :math:`\sin\theta(\lambda)`.

The angle :math:`\theta` increases from 0 to :math:`\pi/2` over the transition band, so the squares sum to 1: the power
complementary condition of two-channel filter banks on graphs [1]_. Each pair is stored as one angle; computing the
high-pass as a square root of ``1 - low**2`` would lose half of the digits.

.. [1] S. K. Narang, A. Ortega, "Perfect reconstruction two-channel wavelet filter banks for graph structured data",
   IEEE Trans. Signal Process. 60(6), 2012.
"""

from __future__ import annotations

import math
from dataclasses import replace
from functools import partial

import numpy as np

from ..._arguments import check_count, check_positive
from ._kernel import Envelope, Float64, Kernel, Shape, Variations, bound_to, of_angle, scaled_variations

__all__ = ["held", "papadakis", "regular", "simoncelli"]

# Upper bounds on the total variation of a derivative of cosine and sine of each angle along an edge of length 1,
# constant beyond; tests/test_kernels.py differentiates them.
HELD: tuple[Variations, Variations] = (((2, 29.68),), ((2, 29.68),))
SIMONCELLI: tuple[Variations, Variations] = (((1, 2.4907),), ((1, math.pi / math.log(2)),))
PAPADAKIS: tuple[Variations, Variations] = (((1, math.pi),), ((1, math.pi),))


def _pair(
    name: str,
    angle: Shape,
    breakpoints: tuple[float, ...],
    continuity: float,
    lmax: float | None,
    *,
    variations: tuple[Variations, Variations] = ((), ()),
    envelope: Envelope | None = None,
) -> tuple[Kernel, ...]:
    width = breakpoints[1] - breakpoints[0] if breakpoints else 1.0
    shapes = ((np.cos, "low", r"\cos\theta(\lambda)"), (np.sin, "high", r"\sin\theta(\lambda)"))
    kernels = []
    for (shape, label, formula), variation in zip(shapes, variations, strict=True):
        function = partial(of_angle, shape, angle)
        kernel = Kernel(function, f"{name}/{label}", formula, True, 0.0, continuity, breakpoints)
        kernels.append(replace(kernel, envelope=envelope, variations=scaled_variations(variation, width)))
    return tuple(bound_to(lmax, kernel) for kernel in kernels)


def _along(start: float, length: float, t: Float64) -> Float64:
    """Return the position along the transition band, 0 at ``start`` and 1 at its end, on an axis that runs to 2."""
    return np.clip((2 * t / start - 1) / length, 0, 1)


def held(a: float = 2 / 3, *, lmax: float | None = None) -> tuple[Kernel, ...]:
    r"""Return Held's pair, with :math:`\cos\theta = \sin 2\pi\mu(x/8a)`, :math:`\mu(y) = -1 + 24y - 144y^2 + 256y^3`.

    The axis is :math:`x = 2\lambda/\lambda_{max}`; the low-pass is 1 below a and 0 above 2a. Equivalently
    :math:`\theta = \tfrac\pi2 (3s^2 - 2s^3)` with :math:`s = x/a - 1`, the cubic smoothstep. One continuous derivative.

    Parameters
    ----------
    a : float > 0
        Start of the transition band [a, 2a].
    lmax : float, optional
        End of the frequency axis; by default the largest frequency of the bank's operator.

    Returns
    -------
    low, high : Kernel

    Raises
    ------
    ParameterError
        ``a`` is not positive.

    See Also
    --------
    simoncelli, papadakis : Angles that are linear in the octave, and in the frequency.
    regular : A transition over the whole axis.

    References
    ----------
    .. [1] S. Held et al., "Steerable wavelet frames based on the Riesz transform", IEEE TIP 19(3), 2010.

    Examples
    --------
    >>> held(lmax=2.0)[0]([0.5, 1.0, 1.5]).round(4)
    array([1.    , 0.7071, 0.    ])
    """
    a = check_positive(a, "a")
    return _pair("held", partial(_held, a), (a / 2, a), 1, lmax, variations=HELD)


def _held(a: float, t: Float64) -> Float64:
    # With s = 8y - 1 from 0 to 1, pi/2 - 2 pi mu(y) is pi/2 (3 s^2 - 2 s^3): the smooth step.
    s = _along(a, 1.0, t)
    return np.pi / 2 * s**2 * (3 - 2 * s)


def simoncelli(a: float = 2 / 3, *, lmax: float | None = None) -> tuple[Kernel, ...]:
    r"""Return Simoncelli's pair, with :math:`\theta = \tfrac\pi2 \log_2(x/a)` between a and 2a.

    The axis is :math:`x = 2\lambda/\lambda_{max}`; the low-pass is 1 below a and 0 above 2a. The angle is linear on a
    logarithmic axis, as in the steerable pyramid. Kinks at both ends of the transition band.

    Parameters
    ----------
    a, lmax
        As in :func:`held`; the transition band is [a, 2a].

    Returns
    -------
    low, high : Kernel

    Raises
    ------
    ParameterError
        ``a`` is not positive.

    See Also
    --------
    held : The smooth transition of the same width.
    papadakis : An angle that is linear in the frequency.

    References
    ----------
    .. [1] J. Portilla, E. P. Simoncelli, "A parametric texture model based on joint statistics of complex wavelet
       coefficients", Int. J. Comput. Vis. 40(1), 2000.

    Examples
    --------
    >>> simoncelli(0.5, lmax=2.0)[0]([0.5, 2**-0.5, 1.0]).round(4)
    array([1.    , 0.7071, 0.    ])
    """
    a = check_positive(a, "a")
    return _pair("simoncelli", partial(_simoncelli, a), (a / 2, a), 0, lmax, variations=SIMONCELLI)


def _simoncelli(a: float, t: Float64) -> Float64:
    return np.pi / 2 * np.log2(1 + _along(a, 1.0, t))


def papadakis(a: float = 0.75, *, lmax: float | None = None) -> tuple[Kernel, ...]:
    r"""Return Papadakis's pair, with :math:`\cos\theta = \sqrt{(1 - \sin(3\pi x/2a))/2}` between a and 5a/3.

    The axis is :math:`x = 2\lambda/\lambda_{max}`; the low-pass is 1 below a and 0 above 5a/3. By the half-angle
    formula :math:`\theta` is linear in x. Kinks at both ends of the transition band.

    Parameters
    ----------
    a, lmax
        As in :func:`held`; the transition band is [a, 5a/3].

    Returns
    -------
    low, high : Kernel

    Raises
    ------
    ParameterError
        ``a`` is not positive.

    See Also
    --------
    held : A smooth transition.
    simoncelli : An angle that is linear in the octave.

    References
    ----------
    .. [1] J. R. Romero et al., "The geometry and the analytic properties of isotropic multiresolution analysis",
       Adv. Comput. Math. 31, 2009.

    Examples
    --------
    >>> papadakis(0.75, lmax=2.0)[0]([0.75, 1.0, 1.25]).round(4)
    array([1.    , 0.7071, 0.    ])
    """
    a = check_positive(a, "a")
    return _pair("papadakis", partial(_papadakis, a), (a / 2, 5 * a / 6), 0, lmax, variations=PAPADAKIS)


def _papadakis(a: float, t: Float64) -> Float64:
    # The half-angle formula turns the square root into the cosine of a straight line.
    return np.pi / 2 * _along(a, 2 / 3, t)


def regular(degree: int = 2, *, lmax: float | None = None) -> tuple[Kernel, ...]:
    r"""Return the regular pair, with :math:`\theta = \tfrac\pi4(1 + S^d(x - 1))`, :math:`S(y) = \sin\tfrac\pi2 y`.

    The axis is :math:`x = 2\lambda/\lambda_{max}`, and :math:`S^d` nests the sine d times: each nesting flattens both
    ends and steepens the transition at :math:`x = 1`. The pair is analytic, so polynomial approximations converge
    geometrically. PyGSP lists the high-pass first, and its ``degree`` 1 and 2 both have one sine: its pair of degree
    ``d >= 2`` is the reverse of this one with ``degree=d - 1``.

    Parameters
    ----------
    degree : int
        Number d of nested sines, 0 or more.
    lmax : float, optional
        End of the frequency axis; by default the largest frequency of the bank's operator.

    Returns
    -------
    low, high : Kernel

    Raises
    ------
    ParameterError
        ``degree`` is negative or not an integer.

    See Also
    --------
    held : A transition over one octave.
    meyer : A tight frame of several bands.

    References
    ----------
    .. [1] N. Perraudin et al., "GSPBOX: A toolbox for signal processing on graphs", arXiv:1408.5781, 2014.

    Examples
    --------
    >>> regular(lmax=2.0)[0]([0.0, 1.0, 2.0]).round(4)
    array([1.    , 0.7071, 0.    ])
    """
    degree = check_count(degree, "degree", minimum=0)
    return _pair("regular", partial(_regular, degree), (), math.inf, lmax, envelope=partial(_regular_envelope, degree))


def _regular(degree: int, t: Float64) -> Float64:
    y = 2 * t - 1
    for _ in range(degree):
        y = np.sin(np.pi / 2 * y)
    return np.pi / 4 * (1 + y)


def _regular_envelope(degree: int, center: float, real: float, imaginary: float) -> float:
    # |Im sin z| <= sinh |Im z| and |cos z|, |sin z| <= cosh Im z.
    height = 2.0 * imaginary
    with np.errstate(over="ignore"):
        for _ in range(degree):
            height = float(np.sinh(np.pi / 2 * height))
        return float(np.cosh(np.pi / 4 * height))
