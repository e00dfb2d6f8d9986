"""Bands of the frequency axis: projections, energies and halves, from all modes or from Chebyshev filters."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import Any, ClassVar, TypeAlias

import numpy as np

from ..._arguments import check_count
from ...backend import FloatArray
from ...energy import signal_energy
from ...energy.profile import rounding
from ...filters import FilterBank, Kernel
from ...operators import Operator
from ...spectrum import Spectrum, spectrum

__all__ = ["EXACT_NODES", "Bands", "ChebyshevBands", "ExactBands", "make_bands"]

# Up to this size a dense eigendecomposition takes seconds, and the edges of the bands are sharp.
EXACT_NODES = 3000
# Half the width of a transition between two bands, relative to a band: the Chebyshev order is inversely proportional.
TRANSITION = 0.3
# Leakage of a band; relative to the norm of the signal.
TOLERANCE = 1e-3


def n_low(edges: FloatArray) -> int:
    """Return how many bands form the low half; the middle one of an odd number belongs to it."""
    return len(edges) // 2


@dataclass(frozen=True, eq=False)
class ExactBands:
    """Sharp bands from all modes of a small graph."""

    op: Operator
    edges: FloatArray
    modes: Spectrum
    # Columns of an output whose band energies are worth their cost.
    sketch: ClassVar[int] = 8

    @property
    def slices(self) -> list[slice]:
        """The modes of every band; a mode on an edge belongs to the band above."""
        starts = np.searchsorted(self.modes.frequencies, self.edges[1:-1] - rounding(self.op))
        ends = [0, *(int(start) for start in starts), len(self.modes)]
        return [slice(a, b) for a, b in pairwise(ends)]

    def split(self, x: FloatArray) -> Sequence[FloatArray]:
        """Return the part of a block of signals in every band; squared norms add up to that of ``x``."""
        c = self.modes.gft(x)
        return [self._part(c, chosen) for chosen in self.slices]

    def energies(self, x: FloatArray) -> FloatArray:
        """Return the energy of every signal in every band, shape (n_bands, n_signals)."""
        squares = np.square(self.modes.gft(x), dtype=np.float64)
        return np.array([squares[chosen].sum(axis=0) for chosen in self.slices])

    def low(self, x: FloatArray) -> FloatArray:
        """Return the part of ``x`` below the middle edge."""
        last = self.slices[n_low(self.edges) - 1].stop
        return self._part(self.modes.gft(x), slice(0, last))

    def _part(self, c: Any, chosen: slice) -> FloatArray:
        part: FloatArray = self.modes.symmetrized_basis[:, chosen] @ c[chosen] / self.op.scale[:, None]
        return part.astype(c.dtype, copy=False)


@dataclass(frozen=True, eq=False)
class ChebyshevBands:
    """Bands with narrow transitions, whose squares sum to 1, from matrix-vector products alone."""

    op: Operator
    edges: FloatArray
    bank: FilterBank
    halves: FilterBank
    sketch: ClassVar[int] = 1

    def split(self, x: FloatArray) -> Sequence[FloatArray]:
        """Return the part of a block of signals in every band; squared norms add up to that of ``x``."""
        return list(np.moveaxis(self.bank.analyze(x), -1, 0))

    def energies(self, x: FloatArray) -> FloatArray:
        """Return the energy of every signal in every band, shape (n_bands, n_signals)."""
        return np.array([signal_energy(part, self.op, per_column=True) for part in self.split(x)])

    def low(self, x: FloatArray) -> FloatArray:
        """Return the part of ``x`` below the middle edge, up to the transition."""
        part: FloatArray = self.halves.analyze(x)[..., 0]
        return part


Bands: TypeAlias = ExactBands | ChebyshevBands


def _angle(at: FloatArray, edge: float, width: float) -> FloatArray:
    """Rise from 0 to pi/2 over ``edge +- width`` as Meyer's wavelets do, with three continuous derivatives."""
    t: FloatArray = np.clip((at - edge + width) / (2 * width), 0, 1)
    return np.pi / 2 * t**4 * (35 - 84 * t + 70 * t**2 - 20 * t**3)


def _band(name: str, low: float | None, high: float | None, width: float, power: int = 1) -> Kernel:
    """Return the kernel of a band that rises at ``low`` and falls at ``high``, where they are given."""

    def response(at: FloatArray) -> FloatArray:
        rise = np.ones_like(at) if low is None else np.sin(_angle(at, low, width))
        fall = np.ones_like(at) if high is None else np.cos(_angle(at, high, width))
        return (rise * fall) ** power

    breakpoints = tuple(at for edge in (low, high) if edge is not None for at in (edge - width, edge + width))
    return Kernel(response, name, continuity=3, breakpoints=breakpoints)


def make_bands(op: Operator, bands: int) -> Bands:
    """Return ``bands`` equal bands over ``op.bounds``: sharp ones up to ``EXACT_NODES``, Chebyshev filters beyond."""
    low, high = op.bounds
    # A graph without edges has the single frequency 0.
    edges = np.linspace(low, high if high > low else low + 1.0, check_count(bands, "bands", minimum=2) + 1)
    if op.graph.n_nodes <= EXACT_NODES:
        return ExactBands(op, edges, spectrum(op))
    cut, width = float(edges[n_low(edges)]), TRANSITION * float(edges[1] - edges[0])
    inner = [None, *edges[1:-1].tolist(), None]
    kernels = [_band(f"band {number}", *ends, width) for number, ends in enumerate(pairwise(inner))]
    bank = FilterBank(op, kernels, tol=TOLERANCE, method="chebyshev")
    half = _band("low half", None, cut, width, power=2)
    # The half has the transition of a band, so about the same order serves. Chosen by its tolerance alone it is the
    # largest one (2000) where the margin of a sampled bound misses the tolerance by a tenth.
    order = bank.plan(np.zeros((op.graph.n_nodes, 1))).order
    halves = FilterBank(op, half, TOLERANCE, method="chebyshev", order=None if order is None else order * 5 // 4)
    return ChebyshevBands(op, edges, bank, halves)
