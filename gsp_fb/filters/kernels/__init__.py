"""Kernels: named functions of graph frequency. :data:`KERNELS` is the table of all of them.

Frequency is the eigenvalue of the high channel that a bank is given. Some kernels take it as it is (``heat``, ``ppr``,
``rational``, ``gabor``, any function of the user's); the others divide the axis ``[0, lmax]`` and are *relative*: they
take ``lambda / lmax``. Their ``lmax=`` fixes the end of the axis; without it the bank scales them to
``gsp_fb.lambda_max(op)``, the largest eigenvalue to a relative error of 1e-6 where Lanczos resolves it.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from ._kernel import Kernel, as_kernel
from .bands import exponential_window, gabor, ideal
from .basic import heat, high_pass, low_pass, ppr, rational, wave
from .pairs import held, papadakis, regular, simoncelli
from .tight import half_cosine, itersine, meyer, simple_tight
from .wavelets import abspline, mexican_hat

__all__ = [
    "KERNELS",
    "TIGHT",
    "Kernel",
    "abspline",
    "as_kernel",
    "exponential_window",
    "gabor",
    "half_cosine",
    "heat",
    "held",
    "high_pass",
    "ideal",
    "itersine",
    "low_pass",
    "mexican_hat",
    "meyer",
    "papadakis",
    "ppr",
    "rational",
    "regular",
    "simoncelli",
    "simple_tight",
    "wave",
]

KERNELS: dict[str, Callable[..., Any]] = {
    "heat": heat,
    "wave": wave,
    "ppr": ppr,
    "rational": rational,
    "low_pass": low_pass,
    "high_pass": high_pass,
    "ideal": ideal,
    "exponential_window": exponential_window,
    "gabor": gabor,
    "mexican_hat": mexican_hat,
    "abspline": abspline,
    "meyer": meyer,
    "simple_tight": simple_tight,
    "half_cosine": half_cosine,
    "itersine": itersine,
    "held": held,
    "simoncelli": simoncelli,
    "papadakis": papadakis,
    "regular": regular,
}
# The families whose squares sum to 1.
TIGHT = ("meyer", "simple_tight", "half_cosine", "itersine", "held", "simoncelli", "papadakis", "regular")
