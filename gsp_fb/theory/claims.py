"""The table of claims: the statements of the paper with their place, side condition and residual."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from . import _sides as sides
from .case import Case, largest, violation

__all__ = ["CLAIMS", "Claim"]

Measure = Callable[[Case], float]


@dataclass(frozen=True)
class Condition:
    """A side condition in words and as a predicate."""

    text: str
    holds: Callable[[Case], bool]

    def __and__(self, other: Condition) -> Condition:
        return Condition(f"{self.text}; {other.text}", lambda case: self.holds(case) and other.holds(case))


ALWAYS = Condition("none", lambda case: True)
SOME_EDGE = Condition("at least one edge", lambda case: case.graph.n_edges > 0)
NO_ISOLATED = Condition("no isolated node", lambda case: not case.graph.n_isolated)
NOT_BIPARTITE = Condition(
    "no bipartite (of signed weights: antibalanced) component", lambda case: not case.has_antibalanced_component
)
UNSIGNED = Condition("weights >= 0", lambda case: not case.graph.is_signed)
BALANCED = Condition(
    "weights >= 0, or a balanced component", lambda case: not case.graph.is_signed or case.has_balanced_component
)
PLAIN = Condition("unit weights and no self-loop", lambda case: not case.graph.is_weighted and not case.graph.n_loops)
GAMMA_FROM_ONE = Condition("gamma >= 1 (the paper has gamma = 1)", lambda case: case.gamma >= 1.0)
DEGREES_FROM_ONE = Condition(
    "every degree >= 1 (the paper: > 0), two nodes or more",
    lambda case: case.n > 1 and float(case.degrees.min()) >= 1.0,
)


def _largest_entry(case: Case) -> float:
    """Return the scale of the subtraction D - A: at least half of any frequency, more beside heavy self-loops."""
    return 1.0 + 2.0 * largest(case.degrees)


def _probe_size(case: Case) -> float:
    return 1.0 + largest(case.probes)


@dataclass(frozen=True)
class Claim:
    """One statement of the paper.

    Parameters
    ----------
    statement, reference : str
        The statement in the notation of the paper, and its place there.
    residual : callable
        Maps a case to the difference of the two sides.
    condition : Condition
        Side condition under which the statement is a theorem.
    scale : callable
        Maps a case to the size of the summed numbers, which multiplies the tolerance.
    strict : bool
        Strict inequality: the residual is the signed excess and must be negative.
    note : str
        Difference to the text of the paper.

    See Also
    --------
    gsp_fb.verify : Check all claims on a graph.

    Examples
    --------
    >>> CLAIMS["theorem_1"].condition.text
    'every degree >= 1 (the paper: > 0), two nodes or more; weights >= 0'
    """

    statement: str
    reference: str
    residual: Measure
    condition: Condition = ALWAYS
    scale: Measure = lambda case: 1.0
    strict: bool = False
    note: str = ""


SPECTRA, ENERGY, FILTERS, LAZY, PROOF = "Section 2.1", "Section 2.2", "Section 3.1", "Appendix E.1", "Appendix E.2"

CLAIMS: dict[str, Claim] = {
    "laplacian_spsd": Claim(
        "L = D - A is symmetric and positive semi-definite", SPECTRA, sides.laplacian_is_spsd, scale=_largest_entry
    ),
    "laplacian_range": Claim(
        "0 <= lambda(L_sym) <= 2", SPECTRA, lambda case: violation(case.sym_modes.values, 0.0, 2.0)
    ),
    "laplacian_below_2": Claim(
        "lambda(L_sym), lambda(L_rw) < 2",
        SPECTRA,
        lambda case: float(np.max(case.sym_modes.values, initial=0.0) - 2.0),
        NOT_BIPARTITE,
        strict=True,
    ),
    "affinity_above_-1": Claim(
        "lambda(A_rw), lambda(A_sym) > -1",
        SPECTRA,
        lambda case: float(-1.0 - np.min(case.rw_affinity_values, initial=1.0)),
        NOT_BIPARTITE,
        strict=True,
    ),
    "renorm_above_-1": Claim(
        "lambda(A^_rw) > -1", SPECTRA, lambda case: float(-1.0 - np.min(case.renorm_values, initial=1.0)), strict=True
    ),
    "shared_eigenvalues": Claim(
        "L_sym and L_rw have the same eigenvalues",
        SPECTRA,
        lambda case: largest(case.sym_modes.values - case.rw_laplacian_values),
        NO_ISOLATED,
    ),
    "rw_modes": Claim(
        "u_rw = D^-1/2 u_sym", SPECTRA, sides.rw_modes_from_sym, NO_ISOLATED, scale=lambda case: case.stretch
    ),
    "affinity_spectrum": Claim(
        "lambda(A_rw) = 1 - lambda(L_rw)",
        SPECTRA,
        lambda case: largest(case.rw_affinity_values - (1.0 - case.rw_laplacian_values[::-1])),
        NO_ISOLATED,
    ),
    "mean_aggregation": Claim(
        "(A^_rw x)_i = sum of x_j over i and its neighbours / (D_ii + 1)",
        SPECTRA,
        sides.mean_aggregation,
        PLAIN,
        scale=_probe_size,
    ),
    "stochastic": Claim(
        "A_rw and A^_rw are transition matrices: entries >= 0, rows sum to 1",
        SPECTRA,
        sides.walks_are_stochastic,
        NO_ISOLATED & UNSIGNED,
    ),
    "dirichlet_sum": Claim("x'Lx = sum_i lambda_i (u_i'x)^2", ENERGY, sides.dirichlet_over_modes, scale=_largest_entry),
    "parseval": Claim("x'x = sum_i (u_i'x)^2", ENERGY, sides.parseval),
    "nonsmooth_sum": Claim(
        "E_NS(x) = x'(I - L)x = sum_i (1 - lambda_i) (u_i'x)^2",
        ENERGY,
        sides.nonsmooth_over_modes,
        scale=_largest_entry,
        note="the paper prints |u_i'x| without its square",
    ),
    "rayleigh": Claim("lambda_1 <= S(x) <= lambda_N", f"{ENERGY}, Eq. 4", sides.rayleigh_bounds),
    "filtering": Claim(
        "Lx = sum_i lambda_i u_i u_i'x",
        f"{FILTERS}, Eq. 5",
        sides.filtering_scales_modes,
        scale=lambda case: _largest_entry(case) * _probe_size(case),
    ),
    "node_level_low": Claim(
        "(A_rw x)_i = sum_j w_ij x_j / D_ii",
        f"{FILTERS}, Eq. 6",
        lambda case: sides.node_level(case, "low"),
        NO_ISOLATED,
        scale=_probe_size,
    ),
    "node_level_high": Claim(
        "(L_rw x)_i = sum_j w_ij (x_i - x_j) / D_ii",
        f"{FILTERS}, Eq. 6",
        lambda case: sides.node_level(case, "high"),
        NO_ISOLATED & UNSIGNED,
        scale=_probe_size,
    ),
    "reconstruction": Claim(
        "L_LP + L_HP = I for every pair of filters",
        FILTERS,
        sides.perfect_reconstruction,
        scale=lambda case: _probe_size(case) * case.stretch,
    ),
    "lazy_loops": Claim(
        "A_lrw adds gamma D_ii self-loops to node i and normalises", LAZY, sides.lazy_is_loops, NO_ISOLATED
    ),
    "lazy_range": Claim(
        "0 <= lambda(A_lrw) <= 1", LAZY, lambda case: violation(case.lazy_values, 0.0, 1.0), GAMMA_FROM_ONE
    ),
    "lazy_modes": Claim(
        "A_lrw has the eigenvectors of A_rw",
        LAZY,
        sides.lazy_shares_modes,
        NO_ISOLATED,
        scale=lambda case: case.stretch,
    ),
    "lazy_stationary": Claim(
        "A_lrw has the stationary distribution of A_rw",
        LAZY,
        sides.lazy_shares_stationary_distribution,
        NO_ISOLATED & UNSIGNED,
    ),
    "lazy_pair": Claim("lambda(A_slrw) = lambda(A_lrw)", PROOF, sides.lazy_pair_shares_eigenvalues, NO_ISOLATED),
    "renorm_pair": Claim(
        "lambda(A^_sym) = lambda(A^_rw)",
        PROOF,
        sides.renorm_pair_shares_eigenvalues,
        note="the paper omits the gamma of A^_sym",
    ),
    "top_eigenvalues": Claim("lambda_1(A_lrw) = lambda_1(A^_rw) = 1", PROOF, sides.top_eigenvalue_is_one, BALANCED),
    "lazy_top_mode": Claim(
        "A_slrw D^1/2 1 = D^1/2 1",
        PROOF,
        lambda case: sides.top_mode(case, "lazy_sym", case.degrees),
        NO_ISOLATED & UNSIGNED,
    ),
    "renorm_top_mode": Claim(
        "A^_sym (D + gamma)^1/2 1 = (D + gamma)^1/2 1",
        PROOF,
        lambda case: sides.top_mode(case, "renorm_sym", case.degrees + case.gamma),
        UNSIGNED,
    ),
    "proof_identity": Claim(
        "the two Rayleigh quotients differ by g/(1+g) (1-a)(1-b)/(1+gb), a = y'Ay/y'Dy, b = y'y/y'Dy",
        PROOF,
        sides.proof_identity,
        SOME_EDGE,
        scale=lambda case: 1.0 + case.stretch,
    ),
    "theorem_1": Claim(
        "lambda_2/lambda_1 of A_lrw >= lambda_2/lambda_1 of A^_rw",
        "Theorem 1",
        sides.theorem_1,
        DEGREES_FROM_ONE & UNSIGNED,
        note="the proof needs 1 - y'y/y'Dy >= 0",
    ),
}
