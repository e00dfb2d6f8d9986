"""Energies of data and counts of eigenvalues over bands of the frequency axis: what strength and noise follow from."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from typing import Any

import numpy as np

from ..backend import FloatArray
from ..energy import energy_profile, spectral_density
from ..operators import Operator

__all__ = ["SpectralModel", "risk", "spectral_model"]

# Bands in equal steps of the logarithm below this share of the axis, in equal steps above it.
LINEAR_FROM, N_LOGARITHMIC, N_LINEAR = 0.1, 24, 40
SMALLEST = 1e-6


@dataclass(frozen=True, eq=False)
class SpectralModel:
    """Bands of the axis, by their centres, with the energy of the data and the number of eigenvalues in each."""

    frequencies: FloatArray
    energy: FloatArray
    count: FloatArray  # times the number of columns of the data, as the energy is that of all of them
    n_columns: int

    @property
    def mean_frequency(self) -> float:
        """Mean of the eigenvalues."""
        return float(self.frequencies @ self.count / max(self.count.sum(), 1.0))

    @property
    def noise(self) -> float:
        """Standard deviation of white noise, from the upper half of the modes: unbiased where the signal has none."""
        upper = np.cumsum(self.count) > self.count.sum() / 2
        return float(np.sqrt(self.energy[upper].sum() / max(self.count[upper].sum(), 1e-300)))

    def trace(self, gains: FloatArray) -> float:
        """Return the trace of the filter with these gains at the frequencies."""
        return float(gains @ self.count) / max(self.n_columns, 1)

    def score(self, gains: FloatArray, rule: str, sigma: float) -> float:
        """Return the :func:`risk` of a linear filter with these gains at the frequencies."""
        residual, freedom = float((1 - gains) ** 2 @ self.energy), float(gains @ self.count)
        return risk(residual, freedom, float(self.count.sum()), rule, sigma)

    def wiener_gain(self, sigma: float) -> Callable[[Any], Any]:
        """Return max(p - sigma^2, 0) / p, with the power p of the data averaged over neighbouring bands."""
        window = np.array([0.25, 0.5, 0.25])
        energy, count = (np.convolve(part, window, mode="same") for part in (self.energy, self.count))
        power = energy / np.maximum(count, 1e-300)
        gains = np.where(count > 0, np.maximum(power - sigma**2, 0.0) / np.maximum(power, 1e-300), 0.0)
        return partial(np.interp, xp=self.frequencies, fp=gains)


def risk(residual: float, freedom: float, n: float, rule: str, sigma: float) -> float:
    """Return Stein's risk, or the cross-validation score, of an estimate with this squared residual and freedom."""
    if rule == "sure":
        return residual + 2.0 * sigma**2 * freedom - n * sigma**2
    return n * residual / max(n - freedom, np.finfo(float).tiny) ** 2 if freedom < n else math.inf


def spectral_model(op: Operator, y: Any, rng: np.random.Generator) -> SpectralModel:
    """Return the model of the columns ``y``: exact on small graphs, by Lanczos quadrature on large ones."""
    top = max(op.bounds[1], np.finfo(float).tiny)
    low = np.geomspace(SMALLEST, LINEAR_FROM, N_LOGARITHMIC, endpoint=False)
    edges = top * np.concatenate([[0.0], low, np.linspace(LINEAR_FROM, 1.0, N_LINEAR + 1)])
    energy = np.asarray(energy_profile(op, y, bins=edges).energy)
    share = np.asarray(spectral_density(op, bins=edges, rng=rng).fraction)
    count = share * op.graph.n_nodes * y.shape[1]
    return SpectralModel((edges[1:] + edges[:-1]) / 2, energy, count, int(y.shape[1]))
