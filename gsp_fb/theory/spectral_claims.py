"""Residuals of the claims in Section 2.1: matrices and their spectra.

Equalities return the largest absolute difference, inequalities the largest violation; a strict inequality returns the
signed excess, negative where it holds. nan means that the case has nothing to compare.
"""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from .case import Case
from .measure import as_column, largest, violation


def laplacian_is_spsd(case: Case) -> float:
    """The Laplacian of the library against D - A, its asymmetry, and the most negative eigenvalue of D - A."""
    L = case.op("comb", "high").to_scipy().toarray()
    wrong = max(largest(L - case.dense("comb", "high")), largest(L - L.conj().T))
    return max(wrong, violation(case.comb_modes.values, 0.0, np.inf))


def laplacian_range(case: Case) -> float:
    """0 <= lambda(L_sym) <= 2."""
    return violation(case.sym_modes.values, 0.0, 2.0)


def laplacian_below_two(case: Case) -> float:
    """lambda(L_sym) < 2, signed."""
    return float(np.max(case.sym_modes.values, initial=0.0) - 2.0)


def affinity_above_minus_one(case: Case) -> float:
    """lambda(A_rw) > -1, signed."""
    return float(-1.0 - np.min(case.rw_affinity_values, initial=1.0))


def renorm_above_minus_one(case: Case) -> float:
    """Eigenvalues of the renormalised walk > -1, signed."""
    return float(-1.0 - np.min(case.renorm_values, initial=1.0))


def sym_and_rw_share_eigenvalues(case: Case) -> float:
    """lambda(L_sym) against lambda(L_rw)."""
    return largest(case.sym_modes.values - case.rw_laplacian_values)


def rw_modes_from_sym(case: Case) -> float:
    """L_rw u against lambda u for u = D^-1/2 u_sym, each u of unit length."""
    u = case.sym_modes.vectors / as_column(np.sqrt(case.safe_degrees))
    u = u / np.linalg.norm(u, axis=0)
    return largest(case.op("rw", "high") @ u - u * case.sym_modes.values)


def affinity_is_one_minus_laplacian(case: Case) -> float:
    """lambda(A_rw) against 1 - lambda(L_rw)."""
    return largest(case.rw_affinity_values - (1.0 - case.rw_laplacian_values[::-1]))


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
