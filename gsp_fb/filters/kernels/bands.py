"""Band-pass kernels: with sharp edges, with smooth edges, and translates of one prototype."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import replace
from functools import partial
from typing import Any

import numpy as np

from ..._arguments import check_positive
from ...errors import ParameterError
from ._kernel import Float64, Kernel, Variations, affine_envelope, as_kernel, bound_to, of_affine

__all__ = ["exponential_window", "gabor", "ideal"]

# Derivatives of the exponential window that are bounded: the higher, the sharper the bound on distant coefficients.
HIGHEST_DERIVATIVE = 12


def _band(band_min: float | None, band_max: float | None) -> tuple[float, float]:
    low = -math.inf if band_min is None else float(band_min)
    high = math.inf if band_max is None else float(band_max)
    if not low < high:
        raise ParameterError(f"the band ({band_min!r}, {band_max!r}) is empty; band_min must be below band_max")
    return low, high


def ideal(band_min: float | None = None, band_max: float | None = 0.2, *, lmax: float | None = None) -> Kernel:
    """Return the ideal band-pass: 1 where ``band_min <= lambda/lmax <= band_max``, else 0.

    The filter is the orthogonal projection onto the eigenvectors in the band; with ``band_min=None`` its output is
    bandlimited. The kernel jumps at the band edges, so every polynomial is off by at least 1/2 near them: a bank
    applies it in the exact eigenbasis where that is affordable. :func:`exponential_window` is the smooth substitute.

    Parameters
    ----------
    band_min, band_max : float or None
        Ends of the pass band as fractions of ``lmax``; None leaves that side open.
    lmax : float, optional
        End of the frequency axis; by default the largest frequency of the bank's operator.

    Returns
    -------
    Kernel
        With ``continuity=-1``.

    Raises
    ------
    ParameterError
        The band is empty.

    See Also
    --------
    exponential_window : The same band with infinitely differentiable edges.

    References
    ----------
    .. [1] D. I. Shuman et al., "The emerging field of signal processing on graphs", IEEE SPM 30(3), 2013.

    Examples
    --------
    >>> ideal(0.25, 0.5, lmax=2.0)([0.0, 0.5, 1.0, 1.5])
    array([0., 1., 1., 0.])
    """
    low, high = _band(band_min, band_max)
    breakpoints = tuple(end for end in (low, high) if math.isfinite(end))
    formula = rf"1_{{[{low:g}, {high:g}]}}(\lambda/\lambda_{{max}})"
    # One jump at each finite end of the band.
    jumps, shape = ((0, float(len(breakpoints))),), partial(_inside, low, high)
    kernel = Kernel(shape, "ideal", formula, True, continuity=-1, breakpoints=breakpoints, variations=jumps)
    return bound_to(lmax, kernel)


def _inside(low: float, high: float, t: Float64) -> Float64:
    return ((t >= low) & (t <= high)).astype(np.float64)


def exponential_window(
    band_min: float | None = None, band_max: float | None = 0.2, *, slope: float = 1.0, lmax: float | None = None
) -> Kernel:
    r"""Return a band-pass with smooth edges: infinitely often differentiable, 1/2 at the ends of the band.

    Each edge is :math:`h(x) = e(x) / (e(x) + e(1-x))` with :math:`e(x) = \exp(-s/x)` for :math:`x > 0`, else 0: the
    standard smooth step from 0 to 1, one unit of ``lambda/lmax`` wide. The kernel is infinitely often differentiable
    but not analytic, so polynomial approximations converge faster than any power of the order, not geometrically.

    Parameters
    ----------
    band_min, band_max : float or None
        Ends of the pass band as fractions of ``lmax``; None leaves that side open.
    slope : float > 0
        The parameter s; larger values give steeper edges.
    lmax : float, optional
        End of the frequency axis; by default the largest frequency of the bank's operator.

    Returns
    -------
    Kernel
        Values in [0, 1].

    Raises
    ------
    ParameterError
        The band is empty, or ``slope`` is not positive.

    See Also
    --------
    ideal : The rectangular band.

    References
    ----------
    .. [1] N. Perraudin et al., "GSPBOX: A toolbox for signal processing on graphs", arXiv:1408.5781, 2014 (``expwin``).

    Examples
    --------
    >>> exponential_window(band_max=0.5, lmax=1.0)([0.0, 0.5, 1.0])
    array([1. , 0.5, 0. ])
    """
    low, high = _band(band_min, band_max)
    slope = check_positive(slope, "slope")
    breakpoints = tuple(end + side for end in (low, high) for side in (-0.5, 0.5) if 0 < end + side < 2)
    formula = r"h(\tfrac12 + b_{max} - \lambda/\lambda_{max})\,h(\tfrac12 - b_{min} + \lambda/\lambda_{max})"
    shape, variations = partial(_window, low, high, slope), _window_variations(slope)
    kernel = Kernel(shape, "exponential_window", formula, True, -math.inf, math.inf, breakpoints, variations=variations)
    return bound_to(lmax, kernel)


def _window(low: float, high: float, slope: float, t: Float64) -> Float64:
    return _edge(0.5 + high - t, slope) * _edge(0.5 - low + t, slope)


def _edge(x: Float64, slope: float) -> Float64:
    x = np.clip(x, 0.0, 1.0)
    # e(x) / (e(x) + e(1 - x)) as a logistic function: at x = 0 and 1 its exponent is infinite, and the value 0 or 1.
    return 1.0 / (1.0 + np.exp(slope / x - slope / (1.0 - x)))


def _window_variations(slope: float) -> Variations:
    """Return bounds for the product of two edges, by Leibniz's rule; each edge varies on an interval of length 1."""
    sups = _edge_derivatives(slope, HIGHEST_DERIVATIVE)
    products = (
        (nu, 2.0 * sum(math.comb(nu + 1, k) * sups[k] * sups[nu + 1 - k] for k in range(nu + 2)))
        for nu in range(1, HIGHEST_DERIVATIVE)
    )
    return tuple((nu, variation) for nu, variation in products if math.isfinite(variation))


def _edge_derivatives(slope: float, highest: int) -> list[float]:
    r"""Return bounds on the derivatives of the edge, by Cauchy's estimate on discs.

    :math:`h = 1/(1 + e^E)`, :math:`E(x) = s/x - s/(1 - x)`. In a disc around x of a radius r on which E changes by at
    most :math:`\pi/2`, :math:`|h| \le \min(1, e^{\pi/2 - E(x)})`, hence :math:`|h^{(k)}(x)| \le k!\,r^{-k}` times that.
    On (0, 1/2] r grows and E falls with x, so the ends of a cell bound what is between; the other half is its mirror.
    """
    sups = [1.0]
    with np.errstate(over="ignore"):
        for k in range(1, highest + 1):
            # Below this point x^-2k exp(-s/x) still rises.
            first = min(slope / (2 * k), 0.25)
            cells = np.geomspace(first, 0.5, 512)
            radii = np.minimum(cells / 2, np.pi / (8 * slope * (cells**-2 + (1 - cells) ** -2)))
            damping = np.minimum(1.0, np.exp(np.pi / 2 - slope / cells[1:] + slope / (1 - cells[1:])))
            inner = float((radii[:-1] ** -k * damping).max())
            smallest = min(first / 2, np.pi * first**2 / (16 * slope))
            outer = smallest**-k * float(np.exp(np.pi / 2 + 2 * slope - slope / first))
            sups.append(math.factorial(k) * max(inner, outer))
    return sups


def gabor(mother: Kernel | Callable[[Float64], Any], centers: Sequence[float] | Float64) -> tuple[Kernel, ...]:
    r"""Return translates of a prototype kernel along the frequency axis: :math:`g_k(\lambda) = g(\lambda - c_k)`.

    The filtered signals are the windowed graph Fourier (vertex-frequency) transform: entry (i, k) measures frequency
    :math:`c_k` around node i. With all eigenvalues as centres it equals PyGSP's ``Gabor``.

    Parameters
    ----------
    mother : Kernel or callable
        Prototype :math:`g`, a function of absolute frequency. A relative kernel needs its ``lmax`` first.
    centers : array_like of float
        Frequencies :math:`c_k`.

    Returns
    -------
    tuple of Kernel
        One kernel per centre, named ``<prototype>@<centre>``.

    Raises
    ------
    ParameterError
        ``mother`` is relative to ``lmax`` and not bound.

    See Also
    --------
    itersine, half_cosine : Equally spaced translates that form a tight frame.

    References
    ----------
    .. [1] D. I. Shuman et al., "Vertex-frequency analysis on graphs", Appl. Comput. Harmon. Anal. 40(2), 2016.

    Examples
    --------
    >>> import numpy as np
    >>> [kernel.name for kernel in gabor(lambda f: np.exp(-f**2), [0.0, 1.0])]
    ['<lambda>@0', '<lambda>@1']
    """
    kernel = as_kernel(mother)
    if kernel.relative:
        raise ParameterError(f"kernel {kernel.name!r} is relative to lmax; give it lmax= before shifting it")
    return tuple(_shifted(kernel, float(center)) for center in np.asarray(centers, dtype=np.float64).ravel())


def _shifted(kernel: Kernel, center: float) -> Kernel:
    shift = np.polynomial.Polynomial([-center, 1.0])
    ratio = [tuple(np.polynomial.Polynomial(part)(shift).coef.tolist()) for part in kernel.rational or ()]
    envelope = None if kernel.envelope is None else partial(affine_envelope, kernel.envelope, shift=center, scale=1.0)
    return replace(
        kernel,
        function=partial(of_affine, kernel, center, 1.0),
        name=f"{kernel.name}@{center:g}",
        formula=kernel.formula.replace(r"\lambda", rf"(\lambda - {center:g})"),
        lower_bound=-math.inf,
        breakpoints=tuple(at + center for at in kernel.breakpoints),
        rational=(ratio[0], ratio[1]) if ratio else None,
        envelope=envelope,
    )
