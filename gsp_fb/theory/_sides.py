"""The two sides of those claims that take more than an expression: their difference on a case.

Equalities return the largest absolute difference, inequalities the largest violation; a strict inequality returns the
signed excess, negative where it holds. nan means that the case has nothing to compare.
"""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from ..backend import FloatArray
from ..energy import dirichlet_energy, nonsmooth_energy, s_value, signal_energy
from ..variants import VARIANTS
from .case import Case, as_column, largest, violation


def laplacian_is_spsd(case: Case) -> float:
    """The Laplacian of the library against D - A, its asymmetry, and the most negative eigenvalue of D - A."""
    L = case.op("comb", "high").to_scipy().toarray()
    wrong = max(largest(L - case.dense("comb", "high")), largest(L - L.conj().T))
    return max(wrong, violation(case.comb_modes.values, 0.0, np.inf))


def _rw_modes(case: Case) -> FloatArray:
    """Return u = D^-1/2 u_sym, each u of unit length."""
    u = case.sym_modes.vectors / as_column(np.sqrt(case.safe_degrees))
    return np.asarray(u / np.linalg.norm(u, axis=0))


def rw_modes_from_sym(case: Case) -> float:
    """L_rw u against lambda u."""
    u = _rw_modes(case)
    return largest(case.op("rw", "high") @ u - u * case.sym_modes.values)


def lazy_shares_modes(case: Case) -> float:
    """Lazy walk on u against (gamma + lambda(A_rw)) / (1 + gamma) u."""
    u = _rw_modes(case)
    return largest(case.op("lazy_rw") @ u - u * (case.gamma + 1.0 - case.sym_modes.values) / (1.0 + case.gamma))


def mean_aggregation(case: Case) -> float:
    """The renormalised walk with gamma = 1 against the mean over each node and its neighbours."""
    case = replace(case, gamma=1.0)
    rows, columns = np.nonzero(case.A)
    sums = case.probes.copy()
    np.add.at(sums, rows, case.probes[columns])
    return largest(case.op("renorm_rw") @ case.probes - sums / as_column(case.degrees + 1.0))


def walks_are_stochastic(case: Case) -> float:
    """Row sums and signs of the plain and the renormalised walk."""
    walks = [case.op(family).to_scipy().toarray() for family in ("rw", "renorm_rw")]
    return max(max(largest(P.sum(axis=1) - 1.0), largest(P - np.abs(P))) for P in walks)


def _against_modes(case: Case, form: FloatArray, weights: FloatArray) -> float:
    """A form of the probes against the sum of weight_i (u_i'x)^2, relative to x'x."""
    sums = weights @ np.abs(case.comb_modes.vectors.conj().T @ case.probes) ** 2
    return largest((form - sums) / np.sum(case.probes**2, axis=0)) if case.n else 0.0


def dirichlet_over_modes(case: Case) -> float:
    form = dirichlet_energy(case.op("comb", "high"), case.probes, per_column=True)
    return _against_modes(case, np.asarray(form), case.comb_modes.values)


def parseval(case: Case) -> float:
    return _against_modes(case, np.asarray(signal_energy(case.probes, per_column=True)), np.ones(case.n))


def nonsmooth_over_modes(case: Case) -> float:
    form = nonsmooth_energy(case.op("comb", "high"), case.probes, per_column=True)
    return _against_modes(case, np.asarray(form), 1.0 - case.comb_modes.values)


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
    modes = case.comb_modes
    filtered = modes.vectors @ (as_column(modes.values) * (modes.vectors.conj().T @ case.probes))
    return largest(case.op("comb", "high") @ case.probes - filtered)


def node_level(case: Case, channel: str) -> float:
    """A_rw x against sum_j w_ij x_j / d_i, or L_rw x against sum_j w_ij (x_i - x_j) / d_i, summed edge by edge."""
    rows, columns = np.nonzero(case.A)
    terms = case.probes[columns] if channel == "low" else case.probes[rows] - case.probes[columns]
    sums = np.zeros(case.probes.shape, dtype=case.A.dtype)
    np.add.at(sums, rows, as_column(case.A[rows, columns]) * terms)
    return largest(case.op("rw", channel) @ case.probes - sums / as_column(case.safe_degrees))


def perfect_reconstruction(case: Case) -> float:
    """Low from the library plus high from the paper's formula against the signal, for every normalised family."""
    families = [name for name, row in VARIANTS.items() if row.norm != "none"]
    x = case.probes
    return max(largest(case.op(name) @ x + case.dense(name, "high") @ x - x) for name in families)


def lazy_is_loops(case: Case) -> float:
    """The lazy walk compared with the walk on A with self-loops gamma D_ii added at each node."""
    looped = case.A + np.diag(case.gamma * case.degrees)
    total = np.abs(case.A).sum(axis=1) + case.gamma * case.degrees
    walk = looped / as_column(np.where(total > 0, total, 1.0))
    walk[total == 0, total == 0] = 1.0
    return largest(case.op("lazy_rw").to_scipy().toarray() - walk)


def lazy_shares_stationary_distribution(case: Case) -> float:
    """The shares d / sum(d) before and after a step of the plain and of the lazy walk."""
    share = case.degrees / max(float(case.degrees.sum()), np.finfo(float).tiny)
    return max(largest(case.op(family).T @ share - share) for family in ("rw", "lazy_rw"))


def lazy_pair_shares_eigenvalues(case: Case) -> float:
    walk = case.walk_values(case.kept + np.diag(case.gamma * case.safe_degrees), (1.0 + case.gamma) * case.safe_degrees)
    return largest(case.lazy_values - walk)


def renorm_pair_shares_eigenvalues(case: Case) -> float:
    walk = case.walk_values(case.A + np.diag(np.full(case.n, case.gamma)), case.degrees + case.gamma)
    return largest(case.renorm_values - walk)


def top_eigenvalue_is_one(case: Case) -> float:
    return largest(np.concatenate([case.lazy_values[-1:], case.renorm_values[-1:]]) - 1.0)


def top_mode(case: Case, family: str, degrees: FloatArray) -> float:
    """An operator on the root of the degrees, of unit length."""
    u = np.sqrt(degrees)
    u = u / max(float(np.linalg.norm(u)), np.finfo(float).tiny)
    return largest(case.op(family) @ u - u)


def theorem_1(case: Case) -> float:
    """lambda_2 / lambda_1 of the renormalised walk minus that of the lazy walk, where positive."""
    if case.n < 2:
        return float("nan")
    ratios = [values[-2] / values[-1] for values in (case.renorm_values, case.lazy_values)]
    return max(0.0, float(ratios[0] - ratios[1]))


def proof_identity(case: Case) -> float:
    """The two Rayleigh quotients of the proof, subtracted, against the product form of their difference."""
    y, g = case.probes, case.gamma
    yy, y_A_y = np.sum(y * y, axis=0), np.real(np.sum(y * (case.A @ y), axis=0))
    y_D_y = np.sum(as_column(case.degrees) * y * y, axis=0)
    if not np.all(y_D_y > 0):
        return float("nan")
    a, b = y_A_y / y_D_y, yy / y_D_y
    lazy = (g * y_D_y + y_A_y) / ((1.0 + g) * y_D_y)
    renormalised = (g * yy + y_A_y) / (g * yy + y_D_y)
    return largest(lazy - renormalised - g / (1.0 + g) * (1.0 - a) * (1.0 - b) / (1.0 + g * b))
