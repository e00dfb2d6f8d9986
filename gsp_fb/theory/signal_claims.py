"""Residuals of the claims in Sections 2.2 and 3.1: energies and filters.

Each function returns the difference of the two sides of one claim on a case.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from ..backend import FloatArray
from ..energy import dirichlet_energy, nonsmooth_energy, s_value, signal_energy
from ..variants import VARIANTS
from .case import Case, Modes
from .measure import as_column, largest, violation


def _weighted_squares(modes: Modes, weights: FloatArray, x: FloatArray) -> FloatArray:
    return np.asarray(weights @ np.abs(modes.vectors.conj().T @ x) ** 2)


def _relative(case: Case, difference: Any) -> float:
    return largest(difference / np.sum(case.probes**2, axis=0)) if case.n else 0.0


def dirichlet_over_modes(case: Case) -> float:
    """The form x'Lx against the sum of lambda_i (u_i'x)^2."""
    form = dirichlet_energy(case.op("comb", "high"), case.probes, per_column=True)
    return _relative(case, form - _weighted_squares(case.comb_modes, case.comb_modes.values, case.probes))


def parseval(case: Case) -> float:
    """The energy x'x against the sum of (u_i'x)^2."""
    energy = signal_energy(case.probes, per_column=True)
    return _relative(case, energy - _weighted_squares(case.comb_modes, np.ones(case.n), case.probes))


def nonsmooth_over_modes(case: Case) -> float:
    """x'(I - L)x against the sum of (1 - lambda_i) (u_i'x)^2."""
    form = nonsmooth_energy(case.op("comb", "high"), case.probes, per_column=True)
    return _relative(case, form - _weighted_squares(case.comb_modes, 1.0 - case.comb_modes.values, case.probes))


def rayleigh_bounds(case: Case) -> float:
    """S of random signals and of the extreme modes against [lambda_1, lambda_N] of L_sym."""
    if not case.n:
        return 0.0
    modes = case.sym_modes
    signals = np.hstack([case.probes, modes.vectors[:, [0, -1]]])
    values = np.asarray(s_value(case.op("sym", "high"), signals, per_column=True))
    ends = largest(values[-2:] - modes.values[[0, -1]])
    return max(ends, violation(values, float(modes.values[0]), float(modes.values[-1])))


def filtering_scales_modes(case: Case) -> float:
    """Lx against the sum of lambda_i u_i u_i'x."""
    modes = case.comb_modes
    filtered = modes.vectors @ (as_column(modes.values) * (modes.vectors.conj().T @ case.probes))
    return largest(case.op("comb", "high") @ case.probes - filtered)


def _neighbour_sums(case: Case, *, differences: bool) -> FloatArray:
    """Return sum_j w_ij x_j / d_i, or sum_j w_ij (x_i - x_j) / d_i, edge by edge."""
    rows, columns = np.nonzero(case.A)
    terms = case.probes[rows] - case.probes[columns] if differences else case.probes[columns]
    sums = np.zeros(case.probes.shape, dtype=case.A.dtype)
    np.add.at(sums, rows, as_column(case.A[rows, columns]) * terms)
    return np.asarray(sums / as_column(case.safe_degrees))


def node_level_low(case: Case) -> float:
    """A_rw x against the weighted mean over neighbours."""
    return largest(case.op("rw") @ case.probes - _neighbour_sums(case, differences=False))


def node_level_high(case: Case) -> float:
    """L_rw x against the weighted mean difference to neighbours."""
    return largest(case.op("rw", "high") @ case.probes - _neighbour_sums(case, differences=True))


def perfect_reconstruction(case: Case) -> float:
    """Low from the library plus high from the paper's formula against the signal, for every normalised family."""
    families = [name for name, row in VARIANTS.items() if row.norm != "none"]
    x = case.probes
    return max(largest(case.op(name) @ x + case.dense(name, "high") @ x - x) for name in families)
