"""Frequency response of a differentiable map: gain per band and mixing between bands, from random probes."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np
import torch
from torch import Tensor

from ...backend import FloatArray, freeze
from ...energy import signal_energy
from .bands import Bands, n_low, weighted
from .linearize import Function, Linearization, linearize
from .nodes import to_numpy

__all__ = ["FrequencyResponse", "measure_response"]

# Independent node signals in one probe. With as many as there are features a probe is white; fewer cost less filtering.
PROBE_COLUMNS = 8
# Columns of an output whose band energies are computed; a wider output is projected onto random orthonormal directions.
OUTPUT_COLUMNS = 8
# A band with less energy a probe column than this share of one mode is empty: what is there is leakage of the filter.
EMPTY = 0.05


@dataclass(frozen=True, eq=False)
class FrequencyResponse:
    """Gain of a map per band of input frequencies.

    Attributes
    ----------
    edges : float64 array, shape (n_bands + 1,)
        Band ``b`` is ``[edges[b], edges[b + 1])``.
    gain : float64 array, shape (n_bands,)
        Root mean square of ``|J v| / |v|`` over signals of the band; nan where the graph has no frequency there.
    error : float64 array, shape (n_bands,)
        Standard error of the gain.
    mixing : float64 array, shape (n_bands, n_bands)
        Row ``b``: shares of the output energy by output band for input in band ``b``; nan where the output is zero or
        not a signal on the nodes.
    low, high : float
        Gain on the lower and on the upper half of the axis, bands weighted by their number of modes.
    low_error, high_error : float
        Their standard errors.
    method : str
        How directional derivatives were computed.
    """

    edges: FloatArray
    gain: FloatArray
    error: FloatArray
    mixing: FloatArray
    low: float
    high: float
    low_error: float
    high_error: float
    method: str

    def __post_init__(self) -> None:
        for array in (self.edges, self.gain, self.error, self.mixing):
            freeze(array)


def _probe(bands: Bands, x: Tensor, rng: np.random.Generator) -> Iterator[tuple[int, Tensor]]:
    """Yield a random signal of every band that holds a frequency.

    A probe is ``signals @ directions``: few node signals, which cost the filtering, spread over all features. Its
    covariance is that of white noise in the band whatever the number of columns, as the directions are a random
    orthonormal frame, scaled so that its mean outer product is the identity.
    """
    n_nodes, n_features = x.shape
    n_columns = min(n_features, PROBE_COLUMNS)
    kind: Any = np.float32 if x.dtype == torch.float32 else np.float64
    white = rng.standard_normal((n_nodes, n_columns)) / np.asarray(bands.op.scale)[:, None]
    directions = _frame(n_features, n_columns, rng).T.astype(kind)
    for band, signals in enumerate(bands.split(white.astype(kind))):
        if float(signal_energy(weighted(bands.op, signals))) > EMPTY * n_columns:
            yield band, torch.from_numpy(signals @ directions).to(device=x.device, dtype=x.dtype)


def _frame(size: int, columns: int, rng: np.random.Generator) -> FloatArray:
    """Return random orthonormal columns whose outer product is the identity on average."""
    frame: FloatArray = np.linalg.qr(rng.standard_normal((size, columns)))[0] * np.sqrt(size / columns)
    return frame


def _rms(out: FloatArray, into: FloatArray) -> tuple[float, float]:
    """Return the root of a ratio of sums over probes, and its standard error (delta method)."""
    total = float(into.sum())
    if total == 0.0:
        return np.nan, np.nan
    square = float(out.sum()) / total
    n_probes, residual = len(out), out - square * into
    spread = np.sqrt(np.square(residual).sum() * n_probes / (n_probes - 1)) / total
    return float(np.sqrt(square)), float(spread / (2 * np.sqrt(square))) if square > 0 else 0.0


@dataclass(eq=False)
class _Tally:
    """Energies of the probes before and after the map, and of their images by output band."""

    bands: Bands
    into: FloatArray
    out: FloatArray
    images: FloatArray

    @classmethod
    def empty(cls, bands: Bands, probes: int) -> _Tally:
        count = len(bands.edges) - 1
        return cls(bands, np.zeros((probes, count)), np.zeros((probes, count)), np.zeros((count, count)))

    def add(self, probe: int, band: int, v: Tensor, image: Tensor, rng: np.random.Generator) -> None:
        self.into[probe, band] = signal_energy(weighted(self.bands.op, to_numpy(v)))
        values = to_numpy(image)
        if values.shape[0] != v.shape[0]:  # a readout of whole graphs: its output has no frequencies
            self.out[probe, band] = signal_energy(values)
            return
        self.out[probe, band] = signal_energy(weighted(self.bands.op, values))
        if values.shape[1] > OUTPUT_COLUMNS:
            values = values @ _frame(values.shape[1], OUTPUT_COLUMNS, rng).astype(values.dtype)
        self.images[band] += self.bands.energies(values)

    def response(self, line: Linearization | None) -> FrequencyResponse:
        half = n_low(self.bands.edges)
        each = [_rms(self.out[:, b], self.into[:, b]) for b in range(self.out.shape[1])]
        low, high = (_rms(self.out[:, s].sum(1), self.into[:, s].sum(1)) for s in (slice(half), slice(half, None)))
        gain, error = np.array(each).T
        sums = self.images.sum(axis=1, keepdims=True)
        method, extra = ("none", 0.0) if line is None else (line.method, line.error)
        return FrequencyResponse(
            edges=self.bands.edges.copy(),
            gain=gain,
            error=np.hypot(error, extra * gain),
            mixing=np.divide(self.images, sums, out=np.full_like(self.images, np.nan), where=sums > 0),
            low=low[0],
            high=high[0],
            low_error=float(np.hypot(low[1], extra * low[0])),
            high_error=float(np.hypot(high[1], extra * high[0])),
            method=method,
        )


def measure_response(
    function: Function,
    x: Tensor,
    bands: Bands,
    *,
    probes: int,
    rng: np.random.Generator,
    tick: Callable[[], object] = lambda: None,
) -> FrequencyResponse:
    """Return the frequency response of ``function`` at ``x``.

    All bands of one probe are parts of one white signal, so one analysis serves all of them.

    Parameters
    ----------
    function : callable
        Matrix of shape (n_nodes, n_features) to matrix, one row a node or an item.
    x : Tensor, shape (n_nodes, n_features)
    bands : Bands
    probes : int
        At least 2; the standard errors fall with its square root.
    rng : numpy Generator
    tick : callable
        Called after every probe.
    """
    tally, line = _Tally.empty(bands, probes), None
    for number in range(probes):
        for band, v in _probe(bands, x, rng):
            line = linearize(function, x, v) if line is None else line
            tally.add(number, band, v, line.jvp(v), rng)
        tick()
    return tally.response(line)
