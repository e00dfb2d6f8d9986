"""Where on the frequency axis the energy of a signal lies, from a few matrix-vector products and with bounds."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np

from .._arguments import check_count, check_device, host_array
from .._cost import state_cost
from .._document import facts_html
from .._lambda_max import EXACT_NODES
from .._lanczos import Krylov, Total, alone, cumulative_bounds, gauss_rule, lanczos_columns
from ..backend import (
    FloatArray,
    Signal,
    abs_squared,
    asarray_like,
    diagonal_times,
    freeze,
    is_sparse,
    namespace,
    product,
    to_host,
    vdot,
)
from ..errors import ParameterError, SignalError
from ..operators import Operator
from ..spectrum import spectrum

__all__ = ["EXACT_NODES", "EnergyProfile", "Measure", "check_edges", "energy_profile", "krylov_spaces", "quadrature"]
__all__ += ["rounding"]

# Signals that the recurrence takes at a time: wide enough for the compiled product, and three such blocks are small.
BLOCK_COLUMNS = 16


@dataclass(frozen=True, eq=False, repr=False)
class EnergyProfile:
    r"""The energy of signals, by frequency.

    Parameters
    ----------
    edges : float64 array, shape (n_bands + 1,)
        Band ``b`` is ``[edges[b], edges[b + 1])``, closed where it reaches the end of the axis.
    energy : float64 array, shape (n_bands,)
        Energy in each band; bands that cover the axis sum to ``total``.
    lower, upper : float64 arrays, shape (n_bands + 1,)
        Proven bounds on the energy below each edge.
    total : float
        :math:`\sum |x|^2`, exact.
    moments : float64 array, shape (3,)
        :math:`\sum_i \lambda_i^k |\hat x_i|^2` for k = 0, 1, 2, exact; ``moments[1] / moments[0]`` is the S-value.
    matvecs : int
        Matrix-vector products spent; 0 where all modes were computed.

    See Also
    --------
    energy_profile : The function that returns it.
    SpectralDensity : The distribution of the eigenvalues over the same bands.

    Examples
    --------
    >>> from gsp_fb import datasets, operator
    >>> profile = energy_profile(operator(datasets.ring(4), "sym", channel="high"), [1.0, -1.0, 1.0, 0.0], bins=2)
    >>> profile, profile.fraction.round(3)
    (EnergyProfile(2 bands, total=3, matvecs=0), array([0.083, 0.917]))
    """

    edges: FloatArray
    energy: FloatArray
    lower: FloatArray
    upper: FloatArray
    total: float
    moments: FloatArray
    matvecs: int

    def __post_init__(self) -> None:
        for array in (self.edges, self.energy, self.lower, self.upper, self.moments):
            freeze(array)

    @cached_property
    def fraction(self) -> FloatArray:
        """The share of each band in the energy."""
        return self.energy / self.total

    def __repr__(self) -> str:
        return f"EnergyProfile({self.energy.shape[0]} bands, total={self.total:.6g}, matvecs={self.matvecs})"

    def _repr_html_(self) -> str:
        facts = {"bands": len(self.energy), "energy": self.total}
        facts |= {"mean frequency": float(self.moments[1] / self.moments[0]), "matrix-vector products": self.matvecs}
        return facts_html("EnergyProfile", facts)


@dataclass(frozen=True, eq=False)
class Measure:
    """Atoms on the frequency axis that stand for the energy, on the host, and how sure the cumulative energy is."""

    nodes: FloatArray
    weights: FloatArray
    blur: float
    spaces: tuple[Krylov, ...] = ()

    def below(self, at: float) -> tuple[float, float]:
        """Return bounds on the energy at frequencies less than ``at``, an atom on the edge being above it.

        An atom within rounding of the edge may be computed on either side: the bounds are those of both ends of that.
        """
        if not self.spaces:
            exact = float(self.weights[self.nodes < at - self.blur].sum())
            return exact, exact
        low = sum(space.norm**2 * cumulative_bounds(space, at - self.blur)[0] for space in self.spaces)
        high = sum(space.norm**2 * cumulative_bounds(space, at + self.blur)[1] for space in self.spaces)
        return low, high

    def cumulative(self, edges: FloatArray, bounds: tuple[float, float], total: float) -> FloatArray:
        """Return bounds on the energy below each edge, shape (2, n_edges).

        The axis holds all of the energy, whatever the outermost node of a rule states.
        """
        low, high = bounds
        sides = np.array([self.below(at) for at in edges]).T
        return np.where(edges <= low, 0.0, np.where(edges >= high, total, sides))


def energy_profile(
    op: Operator, x: Any, bins: Any = None, *, quantiles: Any = None, matvecs: int = 80
) -> EnergyProfile:
    r"""Return how the energy of ``x`` is spread over the frequencies of ``op``.

    Small graphs are decomposed. For large ones Lanczos's process runs from each signal: its tridiagonal matrix is a
    quadrature rule for the energy's distribution, and the rule with a node at an edge bounds the energy below that edge
    on both sides; the value given is the middle. No eigenvector is computed, and no basis is kept: time grows with
    ``matvecs`` times the entries of the graph times the signals, memory with the nodes (some 60 vectors) alone. Above
    3e9 such reads, about five seconds, a warning states how long it takes before it starts.

    Random-walk families have the energy :math:`\sum_i s_i^2 |x_i|^2`, ``s = op.scale``, in which they are symmetric.

    Parameters
    ----------
    op : Operator
        Of an undirected graph.
    x : array_like or sparse, shape (n_nodes,) or (n_nodes, n_signals)
        The energies of several signals are added.
    bins : int or array_like, optional
        Number of equal bands over ``op.bounds``, or the edges of the bands; 10 by default.
    quantiles : array_like, optional
        Instead of ``bins``: shares between 0 and 1; the edges are the frequencies below which they lie.
    matvecs : int
        Matrix-vector products spent on each signal.

    Returns
    -------
    EnergyProfile
        Energy in each band, with proven bounds at the edges.

    Raises
    ------
    ParameterError
        Both ``bins`` and ``quantiles`` are given, or a value is out of range.
    SignalError
        ``x`` has the wrong length, is not finite, or is zero everywhere.

    See Also
    --------
    s_value : The mean of the distribution.
    spectral_density : The distribution of the eigenvalues themselves.

    References
    ----------
    .. [1] G. H. Golub, G. Meurant, "Matrices, Moments and Quadrature with Applications", Princeton 2010.

    Examples
    --------
    >>> from gsp_fb import datasets, operator
    >>> path = operator(datasets.path(3), "comb", channel="high")
    >>> energy_profile(path, [1.0, 0.0, 0.0], bins=[0.0, 0.5, 2.0, 3.0]).energy.round(4)
    array([0.3333, 0.5   , 0.1667])
    """
    x = op.graph.check_signal(x)
    matvecs = check_count(matvecs, "matvecs")
    if bins is not None and quantiles is not None:
        raise ParameterError("give bins= or quantiles=, not both")
    check_device(x, op.scale)
    # In the coordinates of the symmetric core; sparse signals stay sparse.
    z = diagonal_times(op.scale, x)
    z = z[:, None] if z.ndim == 1 else z
    moments = _moments(op, z)
    total = float(moments[0])
    if total == 0:
        raise SignalError("signal is zero everywhere; its energy lies nowhere")
    if op.graph.n_nodes > EXACT_NODES:
        what, remedy = f"an energy profile of {z.shape[1]} signals", "give fewer matvecs= or a sample of the signals"
        state_cost(float(op.graph.n_entries) * matvecs * z.shape[1], what, remedy)
        measure = quadrature(op, z, matvecs)
    else:
        measure = _exact(op, z)
    edges = check_edges(bins, op.bounds) if quantiles is None else _quantiles(measure, quantiles, op.bounds, total)
    spent = sum(space.n_steps for space in measure.spaces)
    lower, upper = measure.cumulative(edges, op.bounds, total)
    energy = np.maximum(np.diff((lower + upper) / 2), 0.0)
    found = (edges, energy, lower, upper, moments)
    edges, energy, lower, upper, moments = (asarray_like(array, op.diag) for array in found)
    return EnergyProfile(edges, energy, lower, upper, total, moments, spent)


def _dense_blocks(z: Signal) -> Iterator[Signal]:
    """Yield a few dense columns at a time: memory is that of a few vectors, however many signals there are."""
    for start in range(0, z.shape[1], BLOCK_COLUMNS):
        width = min(BLOCK_COLUMNS, z.shape[1] - start)
        # Columns of a CSR array are taken by a product: not every library slices them.
        chosen = asarray_like(np.eye(z.shape[1], width, k=-start), z.data) if is_sparse(z) else None
        yield z[:, start : start + width] if chosen is None else product(z, chosen)


def check_edges(bins: Any, bounds: tuple[float, float]) -> FloatArray:
    """Return the edges of the bands: equal ones over ``bounds``, or the given ones, checked to ascend."""
    if bins is None or np.ndim(bins) == 0:
        count = check_count(10 if bins is None else bins, "bins")
        low, high = bounds
        return np.linspace(low, high if high > low else low + 1.0, count + 1)
    edges = np.array(to_host(host_array(bins, ParameterError, "bins")), dtype=np.float64)
    if edges.ndim != 1 or len(edges) < 2 or not np.all(np.diff(edges) > 0):
        raise ParameterError(f"bins must be a count or ascending edges, not {bins!r}")
    return edges


def _exact(op: Operator, z: Signal) -> Measure:
    modes = spectrum(op.symmetrized)
    energies = sum(namespace(block).sum(abs_squared(modes.gft(block)), axis=1) for block in _dense_blocks(z))
    return Measure(to_host(modes.frequencies), to_host(energies), rounding(op))


def quadrature(op: Operator, z: Signal, matvecs: int) -> Measure:
    """Return the pooled Gauss rules of all columns that are not zero; only tridiagonal matrices are kept."""
    spaces = tuple(space for block in _dense_blocks(z) for space in krylov_spaces(op, block, matvecs))
    rules = [gauss_rule(space) for space in spaces]
    nodes = np.concatenate([nodes for nodes, _ in rules])
    weights = np.concatenate([space.norm**2 * weights for space, (_, weights) in zip(spaces, rules, strict=True)])
    order = np.argsort(nodes)
    return Measure(nodes[order], weights[order], rounding(op), spaces)


def krylov_spaces(op: Operator, block: Signal, matvecs: int) -> tuple[Krylov, ...]:
    """Return the tridiagonal matrices of Lanczos's process from each column that is not zero."""
    xp, storage = namespace(block), op.graph.storage
    # Sums over local parts of vectors: complete in one process, reduced on MPI ranks.
    total: Total = alone if storage.kind != "mpi" else lambda part: storage.reduce(part, "sum")
    filled = xp.nonzero(total(xp.sum(abs_squared(block), axis=0)) > 0)[0]
    if filled.shape[0] == 0:
        return ()
    start, size = xp.take(block, filled, axis=1), max(map(abs, op.bounds))
    return lanczos_columns(op.symmetrized.apply, start, matvecs, size=size, total=total)


def rounding(op: Operator) -> float:
    """Return how far a computed eigenvalue may be from the true one."""
    return 1e-13 * max(abs(end) for end in op.bounds)


def _quantiles(measure: Measure, quantiles: Any, bounds: tuple[float, float], total: float) -> FloatArray:
    """Return the frequencies at which the cumulative energy, half of each atom counted, reaches the shares."""
    shares = np.array(to_host(host_array(quantiles, ParameterError, "quantiles")), dtype=np.float64).ravel()
    if not (np.all(np.diff(shares) > 0) and shares.size and shares[0] > 0 and shares[-1] < 1):
        raise ParameterError(f"quantiles must ascend strictly between 0 and 1, not {quantiles!r}")
    reached = np.cumsum(measure.weights) - measure.weights / 2
    inner = np.interp(shares * total, reached, measure.nodes)
    return np.concatenate([[bounds[0]], inner, [bounds[1]]])


def _moments(op: Operator, z: Signal) -> FloatArray:
    local = np.zeros(3)
    for block in _dense_blocks(z):
        image = op.symmetrized.apply(block)
        local += [vdot(block, block), vdot(block, image), vdot(image, image)]
    return np.asarray(op.graph.storage.reduce(local, "sum"))
