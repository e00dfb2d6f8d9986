"""How the eigenvalues of an operator are spread, and where they end, without computing them all."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any

import numpy as np

from .._arguments import check_count, check_positive, check_rng
from .._html import table
from .._lanczos import gauss_rule, lanczos
from ..backend import FloatArray, asarray_like, freeze, to_host
from ..errors import ParameterError
from ..operators import Operator
from ..spectrum import spectrum
from .profile import EXACT_NODES, Measure, check_edges, quadrature, rounding, summed_over

__all__ = ["SpectralDensity", "lambda_max", "spectral_density"]


@dataclass(frozen=True, eq=False, repr=False)
class SpectralDensity:
    """The share of an operator's eigenvalues in each band of the frequency axis.

    Attributes
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
        Products that were spent.

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
        facts = {
            "bands": self.fraction.shape[0],
            "greatest standard error": float(self.error.max()),
            "greatest doubt": float(self.doubt.max()),
            "products": self.matvecs,
        }
        return table("SpectralDensity", facts)


def spectral_density(
    op: Operator, bins: Any = None, *, n_vectors: int = 20, matvecs: int = 80, rng: Any = None
) -> SpectralDensity:
    """Return a histogram of the eigenvalues of ``op`` by stochastic Lanczos quadrature.

    The spectral measure of a random vector with independent signs has the eigenvalues' distribution as its mean. Each
    of ``n_vectors`` of them gives a quadrature rule; their mean is the estimate and their spread its error. A rule
    knows the share below an edge up to the weight that it has there, ``doubt``: choose edges away from eigenvalues of
    high multiplicity. Small graphs are decomposed instead.

    Parameters
    ----------
    op : Operator
        Of an undirected graph.
    bins : int or array_like, optional
        Number of equal bands over ``op.bounds``, or the edges of the bands; 10 by default.
    n_vectors : int
        At least 2; the error falls with its root, and with that of the number of nodes.
    matvecs : int
        Products with each vector: the resolution.
    rng : None, int or numpy Generator

    Examples
    --------
    >>> from gsp_fb import Graph, operator
    >>> ring = operator(Graph.from_edges([(0, 1), (1, 2), (2, 3), (3, 0)]), "sym", channel="high")
    >>> spectral_density(ring, bins=[0.0, 0.5, 1.5, 2.0]).fraction
    array([0.25, 0.5 , 0.25])
    """
    edges = check_edges(bins, op.bounds)
    n_vectors, matvecs = check_count(n_vectors, "n_vectors", minimum=2), check_count(matvecs, "matvecs")
    rng, n_nodes = check_rng(rng), op.graph.n_nodes
    if n_nodes <= EXACT_NODES:
        counted = Measure(to_host(spectrum(op).frequencies), np.ones(n_nodes), rounding(op))
        fraction, doubt = _fractions(counted, edges, op, n_nodes)
        return _result(op, (edges, fraction, np.zeros_like(fraction), doubt), 0)
    signs = (asarray_like(op.graph.local(rng.choice([-1.0, 1.0], (n_nodes, 1))), op.diag) for _ in range(n_vectors))
    measures = [quadrature(op, vector, matvecs) for vector in signs]
    draws, doubts = np.array([_fractions(measure, edges, op, n_nodes) for measure in measures]).swapaxes(0, 1)
    error = draws.std(axis=0, ddof=1) / math.sqrt(n_vectors)
    spent = sum(measure.spaces[0].n_steps for measure in measures)
    return _result(op, (edges, draws.mean(axis=0), error, doubts.mean(axis=0)), spent)


def _result(op: Operator, found: tuple[FloatArray, ...], spent: int) -> SpectralDensity:
    edges, fraction, error, doubt = (asarray_like(array, op.diag) for array in found)
    return SpectralDensity(edges, fraction, error, doubt, spent)


def _fractions(measure: Measure, edges: FloatArray, op: Operator, n_nodes: int) -> tuple[FloatArray, FloatArray]:
    """Return the share of each band, and half the width of what is left open at its two edges."""
    lower, upper = measure.cumulative(edges, op.bounds, float(n_nodes)) / max(n_nodes, 1)
    half = (upper - lower) / 2
    return np.diff((lower + upper) / 2), half[:-1] + half[1:]


def lambda_max(op: Operator, *, rtol: float = 0.01, failure: float = 1e-10, rng: Any = None) -> float:
    r"""Return an upper bound on the largest eigenvalue of ``op``, within ``rtol`` of it.

    Lanczos's process from a random vector approaches the largest eigenvalue from below. Kuczynski and Wozniakowski
    proved how far it may still be off after k products: :math:`\lambda - \theta > \epsilon\lambda` has a probability of
    at most :math:`1.648\sqrt n\, e^{-\sqrt\epsilon(2k - 1)}` over the choice of the vector, for every matrix. The
    bound returned is :math:`\theta / (1 - \epsilon)` with the :math:`\epsilon` that makes this ``failure``, or the
    end of ``op.bounds`` where that formula is already as close, or the eigenvalue itself for small graphs.

    Parameters
    ----------
    op : Operator
        Of an undirected graph.
    rtol : float
        How far above the largest eigenvalue the bound may lie, relative to the length of the axis below it.
    failure : float
        Probability that the bound is too small.
    rng : None, int or numpy Generator
        By default a fixed seed, so that the value is the same on every call.

    Examples
    --------
    >>> from gsp_fb import Graph, operator
    >>> star = operator(Graph.from_edges([(0, i) for i in range(1, 10)]), "comb", channel="high")
    >>> round(lambda_max(star), 6)
    10.0
    """
    rtol, failure = check_positive(rtol, "rtol"), check_positive(failure, "failure")
    if rtol >= 1 or failure >= 1:
        raise ParameterError(f"rtol and failure must be < 1, not {rtol!r} and {failure!r}")
    low, high = op.bounds
    n_nodes = op.graph.n_nodes
    if n_nodes <= EXACT_NODES:
        return min(high, float(spectrum(op).frequencies[-1]) + 1e-13 * n_nodes * max(abs(low), abs(high)))
    # theta / (1 - eps) <= (1 + rtol) lambda needs an eps below rtol / (1 + rtol), and that so many products.
    eps = rtol / (1 + 2 * rtol)
    matvecs = math.ceil((math.log(1.648 * math.sqrt(n_nodes) / failure) / math.sqrt(eps) + 1) / 2)
    start = asarray_like(op.graph.local(check_rng(0 if rng is None else rng).standard_normal(n_nodes)), op.diag)
    total = summed_over(op.graph)
    shifted = lanczos(lambda v: op.symmetrized.apply(v) - low * v, start, matvecs, orthogonalize=False, total=total)
    reached = float(gauss_rule(shifted)[0][-1])
    return min(high, low + reached / (1 - eps))
