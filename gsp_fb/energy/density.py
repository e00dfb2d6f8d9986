"""The density of the eigenvalues of an operator, and the largest one, without computing them all."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any

import numpy as np

from .._arguments import check_count, check_rng
from .._cost import state_cost
from .._document import facts_html
from .._lambda_max import largest_eigenvalue
from .._lanczos import gauss_rule
from ..backend import FloatArray, asarray_like, freeze, to_host
from ..operators import Operator
from ..spectrum import spectrum
from .profile import EXACT_NODES, Measure, check_edges, krylov_spaces, rounding

__all__ = ["SpectralDensity", "lambda_max", "lambda_max_bounds", "spectral_density"]


@dataclass(frozen=True, eq=False, repr=False)
class SpectralDensity:
    """The share of an operator's eigenvalues in each band of the frequency axis.

    Parameters
    ----------
    edges : float64 array, shape (n_bands + 1,)
        Band ``b`` is ``[edges[b], edges[b + 1])``, closed where it reaches the end of the axis.
    fraction : float64 array, shape (n_bands,)
        Share of the eigenvalues in each band.
    error : float64 array, shape (n_bands,)
        Standard error of ``fraction`` over the random vectors; 0 where all eigenvalues were computed.
    doubt : float64 array, shape (n_bands,)
        How far the quadrature itself may be off, proven: what it may have counted in a neighbouring band. It is large
        where an edge lies on an eigenvalue of high multiplicity, as 1 is in graphs with many leaves.
    matvecs : int
        Matrix-vector products that were spent.

    See Also
    --------
    spectral_density : The function that returns it.
    EnergyProfile : The distribution of a signal's energy over the same bands.

    Examples
    --------
    >>> from gsp_fb import datasets, operator
    >>> found = spectral_density(operator(datasets.ring(6), "sym", channel="high"), bins=2)
    >>> found.fraction.round(3), found.error
    (array([0.5, 0.5]), array([0., 0.]))
    """

    edges: FloatArray
    fraction: FloatArray
    error: FloatArray
    doubt: FloatArray
    matvecs: int

    def __post_init__(self) -> None:
        for array in (self.edges, self.fraction, self.error, self.doubt):
            freeze(array)

    @property
    def density(self) -> FloatArray:
        """``fraction`` per unit of frequency: a curve that integrates to 1 over the axis."""
        return self.fraction / (self.edges[1:] - self.edges[:-1])

    def __repr__(self) -> str:
        return f"SpectralDensity({self.fraction.shape[0]} bands, matvecs={self.matvecs})"

    def _repr_html_(self) -> str:
        facts = {"bands": self.fraction.shape[0], "greatest standard error": float(self.error.max())}
        facts |= {"greatest doubt": float(self.doubt.max()), "matrix-vector products": self.matvecs}
        return facts_html("SpectralDensity", facts)


def spectral_density(
    op: Operator, bins: Any = None, *, n_vectors: int = 20, matvecs: int = 80, rng: Any = None
) -> SpectralDensity:
    """Return a histogram of the eigenvalues of ``op`` by stochastic Lanczos quadrature.

    The spectral measure of a random vector with independent signs has the eigenvalues' distribution as its mean. Each
    of ``n_vectors`` gives a quadrature rule; their mean is the estimate, their spread its error. A rule knows the share
    below an edge up to the weight that it has there, ``doubt``: choose edges away from eigenvalues of high
    multiplicity. Small graphs are decomposed. Time grows with ``matvecs * n_vectors`` times the entries of the graph;
    above 3e9 of such reads, five seconds, a warning states how long before it starts.

    Parameters
    ----------
    op : Operator
        Of an undirected graph.
    bins : int or array_like, optional
        Number of equal bands over ``op.bounds``, or the edges of the bands; 10 by default.
    n_vectors : int
        At least 2; the error falls with its root, and with that of the number of nodes.
    matvecs : int
        Products with each vector: the resolution. Three blocks of ``n_vectors`` columns are in memory.
    rng : None, int or numpy Generator

    Returns
    -------
    SpectralDensity

    Raises
    ------
    ParameterError
        ``bins`` do not ascend, or a count is too small.

    See Also
    --------
    lambda_max : The end of the axis.
    energy_profile : The same for the energy of a signal.

    References
    ----------
    .. [1] L. Lin, Y. Saad and C. Yang, "Approximating spectral densities of large matrices", SIAM Review 58, 2016.

    Examples
    --------
    >>> from gsp_fb import datasets, operator
    >>> spectral_density(operator(datasets.ring(4), "sym", channel="high"), bins=[0.0, 0.5, 1.5, 2.0]).fraction
    array([0.25, 0.5 , 0.25])
    """
    edges = check_edges(bins, op.bounds)
    n_vectors, matvecs = check_count(n_vectors, "n_vectors", minimum=2), check_count(matvecs, "matvecs")
    rng, n_nodes = check_rng(rng), op.graph.n_nodes
    if n_nodes <= EXACT_NODES:
        counted = Measure(to_host(spectrum(op).frequencies), np.ones(n_nodes), rounding(op))
        fraction, doubt = _fractions(counted, edges, op)
        error, spent = np.zeros_like(fraction), 0
    else:
        reads = float(op.graph.n_entries) * matvecs * n_vectors
        state_cost(reads, f"a spectral density of {n_nodes} nodes", "give fewer n_vectors= or matvecs=")
        signs = np.stack([op.graph.local(rng.choice([-1.0, 1.0], n_nodes)) for _ in range(n_vectors)], axis=1)
        spaces = krylov_spaces(op, asarray_like(signs, op.diag), matvecs)
        measures = [Measure(*gauss_rule(space), rounding(op), (space,)) for space in spaces]
        draws, doubts = np.array([_fractions(measure, edges, op) for measure in measures]).swapaxes(0, 1)
        fraction, doubt = draws.mean(axis=0), doubts.mean(axis=0)
        error, spent = draws.std(axis=0, ddof=1) / math.sqrt(n_vectors), sum(space.n_steps for space in spaces)
    edges, fraction, error, doubt = (asarray_like(array, op.diag) for array in (edges, fraction, error, doubt))
    return SpectralDensity(edges, fraction, error, doubt, spent)


def _fractions(measure: Measure, edges: FloatArray, op: Operator) -> tuple[FloatArray, FloatArray]:
    """Return the share of each band, and half the width of what is left open at its two edges."""
    lower, upper = measure.cumulative(edges, op.bounds, float(op.graph.n_nodes)) / max(op.graph.n_nodes, 1)
    half = (upper - lower) / 2
    return np.diff((lower + upper) / 2), half[:-1] + half[1:]


def lambda_max(op: Operator, *, rtol: float = 1e-6, rng: Any = None) -> float:
    r"""Return the largest eigenvalue of ``op``, the end of its frequency axis.

    All eigenvalues of a small graph are computed. For a large one Lanczos's process from a random vector runs until
    its error, estimated from the residual and the distance of the next Ritz value, is within ``rtol``, for at most 832
    matrix-vector products. Eigenvalues that crowd at the end, as on a long ring, leave an error of some 1e-6 to 1e-5.

    Parameters
    ----------
    op : Operator
        Of an undirected graph.
    rtol : float
        Wanted error, relative to the length of the axis below the eigenvalue.
    rng : None, int or numpy Generator
        By default a fixed seed, so that the value is the same on every call.

    Returns
    -------
    float

    Raises
    ------
    ParameterError
        ``rtol`` is not between 0 and 1.

    See Also
    --------
    lambda_max_bounds : An interval that holds the eigenvalue.
    gsp_fb.FilterBank : Scales relative kernels to this value.

    Examples
    --------
    >>> from gsp_fb import datasets, operator
    >>> round(lambda_max(operator(datasets.star(10), "comb", channel="high")), 6)
    10.0
    """
    return largest_eigenvalue(op, rtol=rtol, rng=rng).value


def lambda_max_bounds(
    op: Operator, *, rtol: float = 1e-6, failure: float = 1e-10, rng: Any = None
) -> tuple[float, float]:
    r"""Return two numbers between which the largest eigenvalue of ``op`` lies.

    The lower one is a Rayleigh quotient. The upper one is the end of ``op.bounds`` or, if it is less,
    :math:`\theta / (1 - \epsilon)` with the largest Ritz value :math:`\theta` after k matrix-vector products and the
    :math:`\epsilon` for which :math:`1.648\sqrt n\,e^{-\sqrt\epsilon(2k - 1)}` is ``failure`` [1]_.

    Parameters
    ----------
    op, rtol
        As in :func:`lambda_max`; ``rtol`` decides how many matrix-vector products are spent.
    failure : float
        Probability, over the random start, that the upper bound is too small.
    rng : None, int or numpy Generator
        By default a fixed seed, so that the values are the same on every call.

    Returns
    -------
    lower, upper : float

    Raises
    ------
    ParameterError
        ``rtol`` or ``failure`` is not between 0 and 1.

    See Also
    --------
    lambda_max : The eigenvalue itself.

    References
    ----------
    .. [1] J. Kuczynski and H. Wozniakowski, "Estimating the largest eigenvalue by the power and Lanczos algorithms
       with a random start", SIMAX 13, 1992.

    Examples
    --------
    >>> from gsp_fb import datasets, operator
    >>> lower, upper = lambda_max_bounds(operator(datasets.grid(40, 40), "comb", channel="high"))
    >>> bool(lower <= 4 - 4 * np.cos(np.pi * 39 / 40) <= upper)
    True
    """
    found = largest_eigenvalue(op, rtol=rtol, failure=failure, rng=rng)
    return found.lower, found.upper
