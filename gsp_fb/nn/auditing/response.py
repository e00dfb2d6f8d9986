"""Frequency response of a differentiable map: gain per band and mixing between bands, from random probes."""

from __future__ import annotations

import zlib
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import torch
from torch import Tensor

from ...backend import FloatArray, freeze
from ...energy import signal_energy
from .bands import Bands, n_low
from .linearize import Function, Linearization, linearize
from .subject import to_numpy

__all__ = ["FrequencyResponse", "Target", "measure_responses", "named_stream"]

# Independent node signals in one probe: with as many as there are features a probe is white; fewer cost less filtering.
PROBE_COLUMNS = 8
# A band with less energy a probe column than this share of one mode is empty: what is there is leakage of the filter.
EMPTY = 0.05


@dataclass(frozen=True, eq=False)
class FrequencyResponse:
    """Gain of a map per band of input frequencies.

    ``gain`` (n_bands,) is the root mean square of ``|J v| / |v|`` over signals of the band ``[edges[b], edges[b +
    1])``, nan where the graph has no frequency there; ``error`` is its standard error. Row ``b`` of ``mixing`` holds
    the shares of the output energy by output band for input in band ``b``, nan where the output is zero or not a signal
    on the nodes. ``low`` and ``high`` are the gains on the lower and on the upper half of the axis, bands weighted by
    their number of modes, with standard errors. ``method`` is how directional derivatives were computed.
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


def named_stream(seed: int, name: str) -> np.random.Generator:
    """Return the random stream of one name; streams of different names are independent."""
    return np.random.default_rng([seed, zlib.crc32(name.encode())])


def _signals(bands: Bands, dtype: Any, rng: np.random.Generator) -> list[tuple[int, FloatArray]]:
    """Return white noise, split into the bands that hold a frequency."""
    white = rng.standard_normal((bands.op.graph.n_nodes, PROBE_COLUMNS)) / np.asarray(bands.op.scale)[:, None]
    parts = enumerate(bands.split(white.astype(dtype)))
    return [(band, part) for band, part in parts if _energy(bands, part) > EMPTY * PROBE_COLUMNS]


def _energy(bands: Bands, x: FloatArray) -> float:
    return float(signal_energy(x, bands.op))


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


@dataclass(frozen=True, eq=False)
class Target:
    """A map between matrices and the input where it is measured; the name selects the random stream."""

    name: str
    function: Function
    x: Tensor


class _Tally:
    """Energies of the probes of one target before and after the map, and of their images by output band."""

    def __init__(self, target: Target, bands: Bands, probes: int, seed: int) -> None:
        count = len(bands.edges) - 1
        self.target, self.bands = target, bands
        # Two streams: the probes of a map do not depend on the width of its output.
        self.directions, self.sketches = (named_stream(seed, f"{target.name} {use}") for use in ("probes", "sketches"))
        self.into, self.out = np.zeros((probes, count)), np.zeros((probes, count))
        self.images = np.zeros((count, count))
        self.line: Linearization | None = None

    def probe(self, number: int, signals: Sequence[tuple[int, FloatArray]]) -> Iterator[tuple[int, FloatArray]]:
        """Add one probe of every band; yield the band and a sketch of the image, where that has frequencies.

        A probe is ``signals @ directions``: few node signals, which cost the filtering, spread over all features. Its
        covariance is that of white noise in the band whatever the number of columns, as the directions are a random
        orthonormal frame, scaled so that its mean outer product is the identity.
        """
        x = self.target.x
        n_columns = min(x.shape[1], PROBE_COLUMNS)
        directions = _frame(x.shape[1], n_columns, self.directions).T
        frame: FloatArray | None = None
        for band, signal in signals:
            probe = signal[:, :n_columns] @ directions.astype(signal.dtype)
            values = self._image(torch.from_numpy(probe).to(x))
            # The directions are orthogonal, of squared norm n_features / n_columns.
            self.into[number, band] = _energy(self.bands, signal[:, :n_columns]) * x.shape[1] / n_columns
            if values.shape[0] != x.shape[0]:  # a readout of whole graphs: its output has no frequencies
                self.out[number, band] = signal_energy(values)
                continue
            self.out[number, band] = _energy(self.bands, values)
            if frame is None:
                frame = _frame(values.shape[1], min(values.shape[1], self.bands.sketch), self.sketches)
            yield band, values @ frame.astype(values.dtype)

    def _image(self, v: Tensor) -> FloatArray:
        if self.line is None:
            self.line = linearize(self.target.function, self.target.x, v)
        return to_numpy(self.line.jvp(v))

    def response(self) -> FrequencyResponse:
        """Return gains, errors and mixing."""
        half = n_low(self.bands.edges)
        each = [_rms(self.out[:, b], self.into[:, b]) for b in range(self.out.shape[1])]
        low, high = (_rms(self.out[:, s].sum(1), self.into[:, s].sum(1)) for s in (slice(half), slice(half, None)))
        gain, error = np.array(each).T
        sums = self.images.sum(axis=1, keepdims=True)
        method, extra = ("none", 0.0) if self.line is None else (self.line.method, self.line.error)
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


def measure_responses(
    targets: Sequence[Target],
    bands: Bands,
    *,
    probes: int,
    rng: np.random.Generator,
    tick: Callable[[], object] = lambda: None,
) -> list[FrequencyResponse]:
    """Return the frequency response of every target; none depends on which others are measured."""
    # One analysis of white noise serves all bands and targets, and one analysis of all images gives their mixing: on a
    # large graph the filters cost as much as the derivatives.
    seed = int(rng.integers(2**63))
    shared = named_stream(seed, "")
    tallies = [_Tally(target, bands, probes, seed) for target in targets]
    dtype = np.float32 if all(target.x.dtype == torch.float32 for target in targets) else np.float64
    for number in range(probes):
        signals = _signals(bands, dtype, shared)
        images: list[tuple[_Tally, int, FloatArray]] = []
        for tally in tallies:
            images += [(tally, band, image) for band, image in tally.probe(number, signals)]
            tick()
        _add_images(bands, images)
    return [tally.response() for tally in tallies]


def _add_images(bands: Bands, images: Sequence[tuple[_Tally, int, FloatArray]]) -> None:
    if not images:
        return
    ends = np.cumsum([image.shape[1] for _, _, image in images])[:-1]
    energies = bands.energies(np.concatenate([image for _, _, image in images], axis=1))
    for (tally, band, _), part in zip(images, np.split(energies, ends, axis=1), strict=True):
        tally.images[band] += part.sum(axis=1)
