r"""The largest eigenvalue of an operator: a value, and an interval that holds it.

Lanczos's process from a random vector approaches the largest eigenvalue from below. The largest Ritz value
:math:`\theta` is a lower bound; it is off by about :math:`r^2/\delta`, ``r`` the norm of its residual and
:math:`\delta` the distance of the next Ritz value. That no eigenvalue lies far above follows from the random
start: after k matrix-vector products :math:`\lambda - \theta > \epsilon\lambda` has a probability of at most
:math:`1.648\sqrt n\,e^{-\sqrt\epsilon(2k - 1)}` for every positive semi-definite matrix: J. Kuczynski and H.
Wozniakowski, "Estimating the largest eigenvalue by the power and Lanczos algorithms with a random start", SIAM J.
Matrix Anal. Appl. 13, 1992.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from functools import partial
from typing import Any

from scipy.linalg import eigh_tridiagonal

from ._arguments import check_positive, check_rng
from ._lanczos import EPS, Krylov, lanczos
from .backend import asarray_like
from .errors import ParameterError
from .operators import Operator
from .spectrum import spectrum

__all__ = ["EXACT_NODES", "LargestEigenvalue", "largest_eigenvalue", "random_start_error"]

# Up to this size all modes cost less than a second.
EXACT_NODES = 512
# Products of one attempt after the other, each from the start; most graphs need the first two.
ATTEMPTS = (64, 192, 576)


@dataclass(frozen=True)
class LargestEigenvalue:
    """What Lanczos's process found at the upper end of a spectrum."""

    value: float  # the largest Ritz value
    error: float  # estimate of its distance to the largest eigenvalue
    lower: float  # a bound on the largest eigenvalue, proven up to rounding
    upper: float  # the same from above, except with the given probability
    matvecs: int  # matrix-vector products spent; 0 where all eigenvalues were computed


def largest_eigenvalue(op: Operator, *, rtol: float, failure: float = 1e-10, rng: Any = None) -> LargestEigenvalue:
    """Return the largest eigenvalue of ``op`` to about ``rtol`` of the axis below it, where Lanczos resolves it."""
    rtol, failure = check_positive(rtol, "rtol"), check_positive(failure, "failure")
    if rtol >= 1 or failure >= 1:
        raise ParameterError(f"rtol and failure must be < 1, not {rtol!r} and {failure!r}")
    low, high = op.bounds
    n_nodes, total = op.graph.n_nodes, partial(op.graph.storage.reduce, how="sum")
    if n_nodes <= EXACT_NODES:
        return _dense(op)
    generator = check_rng(0 if rng is None else rng)
    start = asarray_like(op.graph.local(generator.standard_normal(n_nodes)), op.diag)
    spent = 0
    for steps in ATTEMPTS:
        space = lanczos(lambda v: op.symmetrized.apply(v) - low * v, start, steps, orthogonalize=False, total=total)
        spent += space.n_steps
        value, error = _top(space)
        if error <= rtol * value or space.is_exact:
            break
    relative = random_start_error(n_nodes, space.n_steps, failure)
    upper = low + value / (1 - relative) if relative < 1 and not space.is_exact else high
    rounding = 4 * EPS * math.sqrt(n_nodes) * max(abs(low), abs(high))
    # The end of the axis is attained by bipartite graphs and stars: within the error it is the better value.
    best = high if high - low - value <= error else min(low + value, high)
    return LargestEigenvalue(best, error, low + value - rounding, min(high, upper + rounding), spent)


def random_start_error(n: int, n_steps: int, failure: float) -> float:
    """Return the relative error that the largest Ritz value exceeds with probability ``failure`` at most."""
    return (math.log(1.648 * math.sqrt(n) / failure) / (2 * n_steps - 1)) ** 2


def _dense(op: Operator) -> LargestEigenvalue:
    low, high = op.bounds
    n_nodes = op.graph.n_nodes
    if n_nodes == 0:
        return LargestEigenvalue(high, 0.0, low, high, 0)
    value, rounding = float(spectrum(op).frequencies[-1]), EPS * max(n_nodes, 8) * max(abs(low), abs(high))
    best = high if high - value <= rounding else value
    return LargestEigenvalue(best, rounding, value - rounding, min(high, value + rounding), 0)


def _top(space: Krylov) -> tuple[float, float]:
    """Return the largest Ritz value and an estimate of its error: the residual, or its square over the gap."""
    if space.n_steps == 1:
        return float(space.diagonal[0]), space.residual
    nodes, vectors = eigh_tridiagonal(space.diagonal, space.off_diagonal)
    value, residual = float(nodes[-1]), space.residual * abs(float(vectors[-1, -1]))
    # Without orthogonalisation a value that has converged comes again: the gap is that to the next distinct one.
    others = nodes[nodes < value - 2 * max(residual, 1e-10 * abs(value))]
    gap = value - float(others[-1]) - residual if len(others) else 0.0
    return value, residual**2 / gap if gap > residual else residual
