"""Residuals of the claims in Appendix E: the lazy random walk and Theorem 1.

Each function returns the difference of the two sides of one claim on a case.
"""

from __future__ import annotations

import numpy as np

from ..backend import FloatArray
from .case import Case
from .measure import as_column, largest, violation


def lazy_is_loops(case: Case) -> float:
    """The lazy walk compared with the walk on A with self-loops gamma D_ii added at each node."""
    looped = case.A + np.diag(case.gamma * case.degrees)
    total = np.abs(case.A).sum(axis=1) + case.gamma * case.degrees
    walk = looped / as_column(np.where(total > 0, total, 1.0))
    walk[total == 0, total == 0] = 1.0
    return largest(case.op("lazy_rw").to_scipy().toarray() - walk)


def lazy_range(case: Case) -> float:
    """0 <= lambda of the lazy walk <= 1."""
    return violation(case.lazy_values, 0.0, 1.0)


def lazy_shares_modes(case: Case) -> float:
    """Lazy walk on u_rw against (gamma + lambda(A_rw)) / (1 + gamma) u_rw."""
    u = case.sym_modes.vectors / as_column(np.sqrt(case.safe_degrees))
    u = u / np.linalg.norm(u, axis=0)
    return largest(case.op("lazy_rw") @ u - u * (case.gamma + 1.0 - case.sym_modes.values) / (1.0 + case.gamma))


def lazy_shares_stationary_distribution(case: Case) -> float:
    """The shares d / sum(d) before and after a step of the plain and of the lazy walk."""
    share = case.degrees / max(float(case.degrees.sum()), np.finfo(float).tiny)
    return max(largest(case.op(family).T @ share - share) for family in ("rw", "lazy_rw"))


def lazy_pair_shares_eigenvalues(case: Case) -> float:
    """Eigenvalues of the symmetric lazy walk against those of the lazy walk."""
    walk = case.walk_values(case.kept + np.diag(case.gamma * case.safe_degrees), (1.0 + case.gamma) * case.safe_degrees)
    return largest(case.lazy_values - walk)


def renorm_pair_shares_eigenvalues(case: Case) -> float:
    """Eigenvalues of the renormalised symmetric affinity against those of the renormalised walk."""
    walk = case.walk_values(case.A + np.diag(np.full(case.n, case.gamma)), case.degrees + case.gamma)
    return largest(case.renorm_values - walk)


def top_eigenvalue_is_one(case: Case) -> float:
    """lambda_1 of the lazy and of the renormalised walk against 1."""
    tops = [values[-1:] for values in (case.lazy_values, case.renorm_values)]
    return largest(np.concatenate(tops) - 1.0)


def _top_mode(case: Case, family: str, degrees: FloatArray) -> float:
    u = np.sqrt(degrees)
    u = u / max(float(np.linalg.norm(u)), np.finfo(float).tiny)
    return largest(case.op(family) @ u - u)


def lazy_top_mode(case: Case) -> float:
    """The symmetric lazy walk on D^1/2 1, of unit length."""
    return _top_mode(case, "lazy_sym", case.degrees)


def renorm_top_mode(case: Case) -> float:
    """The renormalised symmetric affinity on (D + gamma)^1/2 1, of unit length."""
    return _top_mode(case, "renorm_sym", case.degrees + case.gamma)


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
