"""Spectral graph wavelets that form a frame, not a tight one: a low-pass and band-passes at logarithmic scales."""

from __future__ import annotations

import math
from functools import partial

import numpy as np

from ..._arguments import check_count, check_positive
from ._kernel import Float64, Kernel, Shape, bound_to, scaled_variations

__all__ = ["abspline", "mexican_hat"]

# Ascending coefficients of the cubic that joins x^2 at 1 and 4 x^-2 at 2 with equal values and slopes.
SPLINE = (-5.0, 11.0, -6.0, 1.0)
# Total variation of the second derivative: from 2 it jumps to -6, rises to 0, jumps to 3/2 and falls to 0.
SPLINE_VARIATION = 8.0 + 6.0 + 1.5 + 1.5
# Maximum of that cubic, at the smaller root 2 - 1/sqrt(3) of its derivative.
SPLINE_PEAK = float(np.polynomial.polynomial.polyval(2.0 - 1.0 / math.sqrt(3.0), SPLINE))


def _scales(n_filters: int, low_pass_factor: float) -> Float64:
    """Return scales from ``2 factor`` down to 1 in equal ratios, in units of 1 / lmax."""
    n_bands = check_count(n_filters, "n_filters", minimum=2) - 1
    return np.geomspace(2.0 * check_positive(low_pass_factor, "factor"), 1.0, n_bands)


def _low_pass(height: float, width: float, t: Float64) -> Float64:
    return height * np.exp(-((t / width) ** 4))


def _low_pass_envelope(height: float, width: float, center: float, real: float, imaginary: float) -> float:
    # Re z^4 = x^4 - 6 x^2 y^2 + y^4 >= -8 y^4.
    return float(height * np.exp(8.0 * (imaginary / width) ** 4))


def _band_pass(shape: Shape, scale: float, height: float, t: Float64) -> Float64:
    return height * shape(scale * t)


def mexican_hat(
    n_filters: int = 6, *, low_pass_factor: float = 20.0, normalize: bool = False, lmax: float | None = None
) -> tuple[Kernel, ...]:
    r"""Return Mexican hat wavelets: a low-pass and band-passes :math:`g_j(\lambda) = s_j\lambda e^{-s_j\lambda}`.

    The scales :math:`s_j` decrease geometrically from :math:`2/\lambda_{min}` to :math:`1/\lambda_{max}`, with
    :math:`\lambda_{min} = \lambda_{max}` / ``low_pass_factor``; wavelet j peaks at :math:`\lambda = 1/s_j`. The
    low-pass :math:`1.2 e^{-1} \exp(-(\lambda / 0.4\lambda_{min})^4)` covers the frequencies below them. Wavelets at
    large scales spread over many edges, at small scales over few.

    Parameters
    ----------
    n_filters : int
        Number of kernels, the low-pass included.
    low_pass_factor : float > 0
        :math:`\lambda_{max} / \lambda_{min}`.
    normalize : bool
        Multiply each wavelet by the root of its scale, in units of 1/``lmax`` if that is not given: give it to compare.
    lmax : float, optional
        End of the frequency axis; by default the largest frequency of the bank's operator.

    Returns
    -------
    tuple of Kernel
        The low-pass, then the wavelets from the coarsest to the finest scale.

    Raises
    ------
    ParameterError
        ``n_filters`` is below 2, or ``low_pass_factor`` is not positive.

    See Also
    --------
    abspline : Wavelets with a power-law decay at both ends.
    meyer : A tight frame.

    References
    ----------
    .. [1] D. K. Hammond et al., "Wavelets on graphs via spectral graph theory", ACHA 30(2), 2011.

    Examples
    --------
    >>> [kernel.name for kernel in mexican_hat(3)]
    ['mexican_hat/low', 'mexican_hat/1', 'mexican_hat/2']
    """
    scales = _scales(n_filters, low_pass_factor)
    unit = 1.0 if lmax is None else check_positive(lmax, "lmax")
    heights = np.sqrt(scales / unit) if normalize else np.ones_like(scales)
    kernels, formula = [_low("mexican_hat", 1.2 / math.e, 0.4 / low_pass_factor)], r"s\lambda e^{-s\lambda}"
    for j, (scale, height) in enumerate(zip(scales.tolist(), heights.tolist(), strict=True), start=1):
        shape, envelope = partial(_band_pass, _hat, scale, height), partial(_hat_envelope, scale, height)
        kernels.append(Kernel(shape, f"mexican_hat/{j}", formula, True, 0.0, math.inf, envelope=envelope))
    return tuple(bound_to(lmax, kernel) for kernel in kernels)


def _hat(x: Float64) -> Float64:
    return x * np.exp(-x)


def _hat_envelope(scale: float, height: float, center: float, real: float, imaginary: float) -> float:
    return float(height * scale * (abs(center) + real) * np.exp(scale * (real - center)))


def abspline(n_filters: int = 6, *, low_pass_factor: float = 20.0, lmax: float | None = None) -> tuple[Kernel, ...]:
    r"""Return the spline wavelets of Hammond et al.: :math:`x^2`, a cubic on [1, 2], then :math:`4x^{-2}`.

    The argument is :math:`x = s_j\lambda` with the scales of :func:`mexican_hat`. The cubic joins the two powers with
    a continuous first derivative. The wavelets vanish as :math:`\lambda^2` at 0, hence they annihilate the signals of
    frequency 0 and localise at small scales. The low-pass :math:`h e^{-(\lambda / 0.6\lambda_{min})^4}` is as high.

    Parameters
    ----------
    n_filters, low_pass_factor, lmax
        As in :func:`mexican_hat`.

    Returns
    -------
    tuple of Kernel
        As :func:`mexican_hat`.

    Raises
    ------
    ParameterError
        ``n_filters`` is below 2, or ``low_pass_factor`` is not positive.

    See Also
    --------
    mexican_hat : Wavelets from an analytic prototype.
    meyer : A tight frame.

    References
    ----------
    .. [1] D. K. Hammond et al., "Wavelets on graphs via spectral graph theory", ACHA 30(2), 2011.

    Examples
    --------
    >>> abspline(3, lmax=2.0)[2]([1.0, 2.0])
    array([0.25, 1.  ])
    """
    scales = _scales(n_filters, low_pass_factor).tolist()
    kernels, formula = [_low("abspline", SPLINE_PEAK, 0.6 / low_pass_factor)], r"\mathrm{spline}(s\lambda)"
    for j, scale in enumerate(scales, start=1):
        shape, ends = partial(_band_pass, _spline, scale, 1.0), (1.0 / scale, 2.0 / scale)
        variations = scaled_variations(((2, SPLINE_VARIATION),), 1.0 / scale)
        kernels.append(Kernel(shape, f"abspline/{j}", formula, True, 0.0, 1, ends, variations=variations))
    return tuple(bound_to(lmax, kernel) for kernel in kernels)


def _spline(x: Float64) -> Float64:
    middle = np.polynomial.polynomial.polyval(x, SPLINE)
    return np.where(x <= 1.0, x**2, np.where(x < 2.0, middle, 4.0 / np.maximum(x, 2.0) ** 2))


def _low(name: str, height: float, width: float) -> Kernel:
    shape, envelope = partial(_low_pass, height, width), partial(_low_pass_envelope, height, width)
    return Kernel(shape, f"{name}/low", r"h e^{-(\lambda/w)^4}", True, 0.0, math.inf, envelope=envelope)
