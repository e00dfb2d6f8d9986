"""The responses that the spectral view offers: their sliders, and the kernels of the library that they are."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from typing import Any

import numpy as np

from ..backend import FloatArray
from ..filters import Kernel
from ..filters.kernels import heat

__all__ = ["RESPONSES", "ViewResponse", "view_end"]

# Standard deviation of the band-pass as a share of the axis.
WIDTH = 0.06


@dataclass(frozen=True)
class ViewResponse:
    """One response: its slider (``log``: the slider holds the decimal logarithm) and its kernel.

    ``slider``: low end, high end, step and start. ``make`` takes the parameter and the end of the frequency axis.
    """

    title: str
    formula: str
    parameter: str
    slider: tuple[float, float, float, float]
    ends: tuple[str, str]
    make: Callable[[float, float], Kernel]
    log: bool = False

    @property
    def value(self) -> float:
        """The parameter at which the slider starts."""
        return 10.0 ** self.slider[3] if self.log else self.slider[3]

    def script(self, name: str) -> dict[str, Any]:
        """Return what the page's script needs."""
        texts = {"name": name, "title": self.title, "formula": self.formula, "parameter": self.parameter}
        slider = dict(zip(("low", "high", "step", "start"), self.slider, strict=True))
        return {**texts, **slider, "ends": self.ends, "log": self.log}


def _pair(t: float, top: float) -> Kernel:
    return Kernel(
        partial(_mixed, t), f"pair({t:g})", r"(1-t)(1-\lambda) + t\lambda", rational=((1 - t, 2 * t - 1), (1.0,))
    )


def _mixed(t: float, frequency: FloatArray) -> FloatArray:
    return (1 - t) * (1 - frequency) + t * frequency


def _band(center: float, top: float) -> Kernel:
    return Kernel(
        partial(_gaussian, center * top, WIDTH * top), f"band({center * top:g})", r"e^{-(\lambda - c)^2/2w^2}"
    )


def _gaussian(center: float, width: float, frequency: FloatArray) -> FloatArray:
    return np.asarray(np.exp(-0.5 * ((frequency - center) / width) ** 2))


def _wavelet(peak: float, top: float) -> Kernel:
    return Kernel(partial(_hat, peak * top), f"wavelet({peak * top:g})", r"s\lambda e^{-s\lambda}")


def _hat(peak: float, frequency: FloatArray) -> FloatArray:
    return np.asarray(frequency / peak * np.exp(-frequency / peak))


RESPONSES = {
    "pair": ViewResponse(
        "low to high pair",
        "h(λ) = (1 − t)(1 − λ) + t λ",
        "low to high, t",
        (0.0, 1.0, 0.01, 0.0),
        ("low", "high"),
        _pair,
    ),
    "heat": ViewResponse(
        "heat diffusion",
        "h(λ) = exp(−τ λ)",
        "diffusion time, τ",
        (-1.0, 2.0, 0.02, 0.5),
        ("0.1", "100"),
        lambda tau, top: heat(tau),
        log=True,
    ),
    "band": ViewResponse(
        "band-pass",
        "h(λ) = exp(−(λ − c)² / 2w²), w = 6 % of the axis",
        "centre c, share of the axis",
        (0.0, 1.0, 0.01, 0.5),
        ("0", "end"),
        _band,
    ),
    "wavelet": ViewResponse(
        "Mexican hat wavelet",
        "h(λ) = s λ exp(−s λ), peak at 1/s",
        "peak 1/s, share of the axis",
        (-1.7, 0.0, 0.02, -0.6),
        ("0.02", "1"),
        _wavelet,
        log=True,
    ),
}


def view_end(norm: str, degrees: FloatArray) -> float:
    """Return the end of the frequency axis of the view: 2 for a normalised family, else twice the largest degree."""
    return 2.0 if norm != "none" else 2.0 * float(degrees.max(initial=0.0)) or 2.0
