"""Frames: what a bank does to energy, the filter that makes it tight, the bank that undoes it."""

from __future__ import annotations

import math
from functools import partial

import numpy as np

from ..errors import ParameterError
from ._points import Interval, chebyshev_points
from .kernels import Kernel
from .kernels._kernel import Float64

__all__ = ["complement_kernel", "dual_kernels", "frame_kernel", "sampled_frequencies"]

SAMPLES = 4096


def _energy(kernels: tuple[Kernel, ...], frequencies: Float64) -> Float64:
    return np.asarray(np.sum([kernel(frequencies) ** 2 for kernel in kernels], axis=0))


def frame_kernel(kernels: tuple[Kernel, ...]) -> Kernel:
    r"""Return :math:`\sum_m g_m(\lambda)^2`, the gain in energy at each frequency."""
    breakpoints = tuple(sorted({at for kernel in kernels for at in kernel.breakpoints}))
    return Kernel(partial(_energy, kernels), "frame", r"\sum_m g_m(\lambda)^2", breakpoints=breakpoints)


def sampled_frequencies(kernels: tuple[Kernel, ...], interval: Interval) -> Float64:
    """Return frequencies that cover ``interval``, its ends and both sides of every break."""
    breakpoints = np.array(frame_kernel(kernels).breakpoints)
    sides = np.concatenate([np.nextafter(breakpoints, -np.inf), breakpoints, np.nextafter(breakpoints, np.inf)])
    points = np.concatenate([chebyshev_points(interval, SAMPLES), np.linspace(*interval, SAMPLES), sides])
    return np.unique(np.clip(points, *interval))


def _missing(kernels: tuple[Kernel, ...], bound: float, frequencies: Float64) -> Float64:
    return np.sqrt(np.maximum(bound - _energy(kernels, frequencies), 0.0))


def complement_kernel(kernels: tuple[Kernel, ...], bound: float) -> Kernel:
    r"""Return :math:`\sqrt{B - \sum_m g_m^2}`, which makes a tight frame of the bank it joins."""
    formula = rf"\sqrt{{{bound:g} - \sum_m g_m(\lambda)^2}}"
    return Kernel(
        partial(_missing, kernels, bound), "complement", formula, breakpoints=frame_kernel(kernels).breakpoints
    )


def _dual(kernels: tuple[Kernel, ...], index: int, frequencies: Float64) -> Float64:
    energy = _energy(kernels, frequencies)
    if not energy.all():
        at = float(frequencies[energy == 0][0])
        raise ParameterError(f"no filter of the bank passes frequency {at:.6g}; what lies there cannot be restored")
    return kernels[index](frequencies) / energy


def dual_kernels(kernels: tuple[Kernel, ...]) -> tuple[Kernel, ...]:
    r"""Return :math:`g_m / \sum_k g_k^2`: synthesis with them undoes analysis with ``kernels``."""
    breakpoints = frame_kernel(kernels).breakpoints
    return tuple(
        Kernel(
            partial(_dual, kernels, m),
            f"dual of {kernel.name}",
            r"g(\lambda) / \sum_m g_m(\lambda)^2",
            lower_bound=kernel.lower_bound,
            continuity=math.nan,
            breakpoints=breakpoints,
        )
        for m, kernel in enumerate(kernels)
    )
