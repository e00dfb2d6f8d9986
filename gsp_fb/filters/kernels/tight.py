"""Tight frames of several bands: the squares of the kernels sum to 1 at every frequency of [0, lmax].

Analysis with a tight frame preserves the energy of a signal, and the adjoint of the analysis is its inverse.
"""

from __future__ import annotations

import math
from functools import partial
from typing import Any

import numpy as np

from ..._arguments import check_count
from ...errors import ParameterError
from ._kernel import Float64, Kernel, Shape, Variations, bound_to, of_angle, scaled_variations

__all__ = ["half_cosine", "itersine", "meyer", "simple_tight"]

OfEdges = tuple[Variations, Variations]
# Upper bounds on the total variation of a derivative of the shapes on the real line, constant beyond [0, 1]: the rise
# and the fall of an octave, and the windows. tests/test_kernels.py differentiates them.
MEYER: OfEdges = (((4, 7716.0),), ((4, 7716.0),))
SIMPLE: OfEdges = (((1, math.pi),), ((1, math.sqrt(2) * math.pi),))
RAISED_COSINE: Variations = ((2, 8 * math.sqrt(2) * math.pi**2),)
SINE_WINDOW = 219.9


def _meyer_angle(t: Float64) -> Float64:
    return np.pi / 2 * t**4 * (35 - 84 * t + 70 * t**2 - 20 * t**3)


def _simple_rise(t: Float64) -> Float64:
    return np.sin(np.pi / 2 * t) ** 2


def _simple_fall(t: Float64) -> Float64:
    # sqrt(1 - sin^4) factored, so that nothing cancels where it is small.
    return np.cos(np.pi / 2 * t) * np.sqrt(1 + _simple_rise(t))


def _below(fall: Shape, start: float, t: Float64) -> Float64:
    return fall(np.clip(t / start - 1, 0, 1))


def _octave(rise: Shape, fall: Shape, start: float, t: Float64) -> Float64:
    """Rise over [start, 2 start] and fall over [2 start, 4 start]."""
    return rise(np.clip(t / start - 1, 0, 1)) * fall(np.clip(t / (2 * start) - 1, 0, 1))


def _dyadic(
    name: str, n_filters: int, rise: Shape, fall: Shape, *, variations: OfEdges, continuity: float, lmax: float | None
) -> tuple[Kernel, ...]:
    """Return a scaling function and octave bands that end at lmax; ``rise^2 + fall^2 = 1`` makes them tight."""
    starts = [2.0**-j for j in range(check_count(n_filters, "n_filters", minimum=2) - 1, 0, -1)]
    (rises, falls), first, formula = variations, starts[0], r"\{}({:g}\lambda/\lambda_{{max}})"
    shape, varied = partial(_below, fall, first), scaled_variations(falls, first)
    low = formula.format("phi", 1 / first)
    kernels = [Kernel(shape, f"{name}/low", low, True, 0.0, continuity, (first, 2 * first), variations=varied)]
    for j, start in enumerate(starts, start=1):
        octave, ends = partial(_octave, rise, fall, start), (start, 2 * start, 4 * start)
        # Of the sum of two shapes that declare derivatives of the same order.
        edges = zip(scaled_variations(rises, start), scaled_variations(falls, 2 * start), strict=True)
        varied = tuple((nu, left + right) for (nu, left), (_, right) in edges)
        band = formula.format("psi", 1 / start)
        kernels.append(Kernel(octave, f"{name}/{j}", band, True, 0.0, continuity, ends, variations=varied))
    return tuple(bound_to(lmax, kernel) for kernel in kernels)


def meyer(n_filters: int = 6, *, lmax: float | None = None) -> tuple[Kernel, ...]:
    r"""Return Meyer wavelets: a low-pass and one band-pass per octave, a tight frame.

    Each edge is :math:`\sin` or :math:`\cos` of :math:`\tfrac\pi2 \nu(t)`, where :math:`\nu(t) = t^4(35 - 84t + 70t^2 -
    20t^3)` is the auxiliary function of Meyer's wavelet and t runs from 0 to 1 along the edge. Neighbouring edges share
    :math:`\nu`, so their squares sum to 1. Three continuous derivatives.

    Parameters
    ----------
    n_filters : int
        Number of kernels, the low-pass included.
    lmax : float, optional
        End of the frequency axis; by default the largest frequency of the bank's operator.

    Returns
    -------
    tuple of Kernel
        The low-pass, then the band-passes in ascending frequency.

    Raises
    ------
    ParameterError
        ``n_filters`` is below 2.

    See Also
    --------
    simple_tight : The same bands with simpler edges.
    abspline : Wavelets that are not tight.

    References
    ----------
    .. [1] N. Leonardi, D. Van De Ville, "Tight wavelet frames on multislice graphs", IEEE TSP 61(13), 2013.
    .. [2] I. Daubechies, "Ten lectures on wavelets", SIAM 1992, Section 4.2.

    Examples
    --------
    >>> sum(kernel([0.3, 1.0]) ** 2 for kernel in meyer(4, lmax=2.0)).round(12)
    array([1., 1.])
    """
    rise, fall = (partial(of_angle, shape, _meyer_angle) for shape in (np.sin, np.cos))
    return _dyadic("meyer", n_filters, rise, fall, variations=MEYER, continuity=3, lmax=lmax)


def simple_tight(n_filters: int = 6, *, lmax: float | None = None) -> tuple[Kernel, ...]:
    r"""Return a low-pass and one band-pass per octave that rise as :math:`\sin^2(\pi t/2)`, a tight frame.

    They fall as :math:`\sqrt{1 - \sin^4(\pi t/2)}`, which ends with a kink: polynomial approximations converge slowly.
    :func:`meyer` has the same bands with three continuous derivatives.

    Parameters
    ----------
    n_filters, lmax
        As in :func:`meyer`.

    Returns
    -------
    tuple of Kernel
        The low-pass, then the band-passes in ascending frequency.

    Raises
    ------
    ParameterError
        ``n_filters`` is below 2.

    See Also
    --------
    meyer : The same bands with smoother edges.

    References
    ----------
    .. [1] N. Perraudin et al., "GSPBOX: A toolbox for signal processing on graphs", arXiv:1408.5781, 2014.

    Examples
    --------
    >>> sum(kernel([0.3, 1.0]) ** 2 for kernel in simple_tight(4, lmax=2.0)).round(12)
    array([1., 1.])
    """
    return _dyadic("simple_tight", n_filters, _simple_rise, _simple_fall, variations=SIMPLE, continuity=0, lmax=lmax)


def _translates(
    name: str, window: Shape, width: float, starts: list[float], *, formula: str, variations: Variations, lmax: Any
) -> tuple[Kernel, ...]:
    kernels, scaled = [], scaled_variations(variations, width)
    for j, start in enumerate(starts):
        shape, ends = partial(_placed, window, width, start), tuple(at for at in (start, start + width) if at >= 0)
        kernels.append(Kernel(shape, f"{name}/{j}", formula, True, 0.0, 1, ends, variations=scaled))
    return tuple(bound_to(lmax, kernel) for kernel in kernels)


def _placed(window: Shape, width: float, start: float, t: Float64) -> Float64:
    return window(np.clip((t - start) / width, 0, 1))


def half_cosine(n_filters: int = 6, *, lmax: float | None = None) -> tuple[Kernel, ...]:
    r"""Return equally spaced raised cosines, three of which overlap at each frequency, a tight frame.

    :math:`g(u) = \tfrac{\sqrt{2}}{3}(1 - \cos 2\pi u)`, with u from 0 to 1 along the window. All bands are translates
    of one window. PyGSP's ``HalfCosine`` has the factor :math:`\tfrac{1}{2}`, and so the frame bound 9/8.

    Parameters
    ----------
    n_filters, lmax
        As in :func:`meyer`, but at least 3 kernels.

    Returns
    -------
    tuple of Kernel
        In ascending frequency.

    Raises
    ------
    ParameterError
        ``n_filters`` is below 3.

    See Also
    --------
    itersine : Uniform translates with an adjustable overlap.
    gabor : Translates of any prototype.

    References
    ----------
    .. [1] D. I. Shuman et al., "Spectrum-adapted tight graph wavelet and vertex-frequency frames", IEEE TSP 63, 2015.

    Examples
    --------
    >>> sum(kernel([0.3, 1.0]) ** 2 for kernel in half_cosine(5, lmax=2.0)).round(12)
    array([1., 1.])
    """
    step = 1.0 / (check_count(n_filters, "n_filters", minimum=3) - 2)
    starts, formula = [step * (j - 2) for j in range(n_filters)], r"\tfrac{\sqrt{2}}{3} (1 - \cos 2\pi u)"
    return _translates(
        "half_cosine", _raised_cosine, 3 * step, starts, formula=formula, variations=RAISED_COSINE, lmax=lmax
    )


def _raised_cosine(u: Float64) -> Float64:
    return math.sqrt(2) / 3 * (1 - np.cos(2 * np.pi * u))


def itersine(n_filters: int = 6, *, overlap: int = 2, lmax: float | None = None) -> tuple[Kernel, ...]:
    r"""Return equally spaced iterated-sine windows :math:`\sqrt{2/o}\,\sin(\tfrac\pi2 \sin^2 \pi u)`, a tight frame.

    u runs from 0 to 1 along the window, and o windows overlap at each frequency. Windows half a length apart are sine
    and cosine of one angle, so their squares sum to 1; an even overlap has o/2 such pairs.

    Parameters
    ----------
    n_filters : int
        Number of kernels, at least ``overlap``.
    overlap : int
        Number o of windows over each frequency, even.
    lmax : float, optional
        End of the frequency axis; by default the largest frequency of the bank's operator.

    Returns
    -------
    tuple of Kernel
        In ascending frequency.

    Raises
    ------
    ParameterError
        ``overlap`` is odd or below 2, or ``n_filters`` is below ``overlap``.

    See Also
    --------
    half_cosine : Uniform raised cosines.
    gabor : Translates of any prototype.

    References
    ----------
    .. [1] E. Wesfreid, M. V. Wickerhauser, "Adapted local trigonometric transforms and speech processing", IEEE TSP
       41(12), 1993.
    .. [2] N. Perraudin et al., "GSPBOX: A toolbox for signal processing on graphs", arXiv:1408.5781, 2014.

    Examples
    --------
    >>> sum(kernel([0.3, 1.0]) ** 2 for kernel in itersine(5, lmax=2.0)).round(12)
    array([1., 1.])
    """
    overlap = check_count(overlap, "overlap", minimum=2)
    n_filters = check_count(n_filters, "n_filters", minimum=overlap)
    if overlap % 2:
        raise ParameterError(f"overlap must be even for a tight family, not {overlap!r}")
    step = 1.0 / (n_filters - overlap + 1)
    starts = [step * (j - overlap + 1) for j in range(n_filters)]
    formula = rf"\sqrt{{2/{overlap}}} \sin(\tfrac\pi2 \sin^2 \pi u)"
    window, variations = partial(_sine_window, overlap), ((2, math.sqrt(2 / overlap) * SINE_WINDOW),)
    return _translates("itersine", window, step * overlap, starts, formula=formula, variations=variations, lmax=lmax)


def _sine_window(overlap: int, u: Float64) -> Float64:
    return math.sqrt(2 / overlap) * np.sin(np.pi / 2 * np.sin(np.pi * u) ** 2)
