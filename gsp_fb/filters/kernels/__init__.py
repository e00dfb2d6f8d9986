"""Kernels: named functions of graph frequency. ``KERNELS`` is the table of all of them.

A kernel is the frequency response of a filter: a bank multiplies each spectral component of a signal by the value of
the kernel at its frequency, the eigenvalue of the high channel. Two kinds exist. *Absolute* kernels (``heat``, ``ppr``,
``rational``, ``gabor``, any user function) take the eigenvalue ``lambda`` itself. *Relative* kernels partition the axis
``[0, lmax]`` and take ``lambda / lmax``. Their argument ``lmax=`` fixes the end of the axis; without it the filter bank
binds them to ``gsp_fb.lambda_max(op)``, the largest frequency of its operator.
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

__all__ = ["KERNELS", "TIGHT", "Kernel", "as_kernel"]
__all__ += ["abspline", "exponential_window", "gabor", "half_cosine", "heat", "held", "high_pass", "ideal", "itersine"]
__all__ += ["low_pass", "mexican_hat", "meyer", "papadakis", "ppr", "rational", "regular", "simoncelli", "simple_tight"]
__all__ += ["wave"]

_OTHERS = (heat, wave, ppr, rational, low_pass, high_pass, ideal, exponential_window, gabor, mexican_hat, abspline)
# The families that form a tight frame with bound 1: their squares sum to 1 at every frequency.
_TIGHT = (meyer, simple_tight, half_cosine, itersine, held, simoncelli, papadakis, regular)
TIGHT = tuple(kernel.__name__ for kernel in _TIGHT)
KERNELS: dict[str, Callable[..., Any]] = {kernel.__name__: kernel for kernel in (*_OTHERS, *_TIGHT)}
