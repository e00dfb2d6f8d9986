"""The facts that come from operators: energies, profiles, the density of frequencies, eigengaps."""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import replace

import numpy as np

from ..backend import FloatArray, Signal
from ..eigengap import eigengap
from ..energy import (
    dirichlet_energy,
    energy_profile,
    expected_s_value,
    nonsmooth_energy,
    s_value,
    s_value_significance,
    signal_energy,
    spectral_density,
)
from ..energy.profile import EXACT_NODES
from ..errors import ConvergenceError
from ..graph import Graph
from ..operators import Operator, operator
from ..spectrum import spectrum
from ..variants import VARIANTS
from .facts import Density, EnergyRow, Gap, Profile, SignificanceRow

__all__ = ["eigengaps", "energy_facts", "frequency_density", "high_channel", "profiles", "significance"]

# Odd, so that frequency 1, of which many graphs have a great many, is the middle of a band and not an edge, where an
# estimate cannot decide on which side it lies; and prime, so that no other simple fraction is an edge.
BANDS = 19
# Least and most mixtures that the columns of a wide signal become on a large graph, and random vectors of the density.
MIXTURES = (8, 12)
VECTORS = (2, 12)
# Nodes times vectors: large graphs average over their nodes, so few vectors do.
WORK = 100_000
# Up to this size permutations are drawn; beyond it their distribution is taken as normal, with exact moments.
PERMUTED_NODES = 1000
SURROGATES = 199
# Half-width of the band around frequency 1 that is counted.
NEAR_ONE = 0.05


def high_channel(graph: Graph, family: str, gamma: float | None) -> Operator:
    """Return the high channel; ``gamma`` goes to the families that have one."""
    return operator(graph, family, "high", gamma if VARIANTS[family].has_gamma else None)


def energy_facts(graph: Graph, name: str, x: Signal, gamma: float | None) -> Iterator[EnergyRow]:
    """Yield S, its expected value under random permutation, and the energies of one signal under every family."""
    for family in VARIANTS:
        op = high_channel(graph, family, gamma)
        energies = (signal_energy(x, op), dirichlet_energy(op, x), nonsmooth_energy(op, x))
        yield EnergyRow(name, family, *map(float, (s_value(op, x), expected_s_value(op, x), *energies)))


def significance(
    graph: Graph, signals: dict[str, Signal], family: str, gamma: float, rng: np.random.Generator
) -> tuple[SignificanceRow, ...]:
    """Return S of every signal beside its distribution under random permutation; nothing without an edge."""
    op = high_channel(graph, family, gamma)
    method = "permutation" if graph.n_nodes <= PERMUTED_NODES else "analytic"
    rows = []
    for name, x in signals.items() if graph.n_edges > graph.n_loops and graph.n_nodes > 3 else ():
        found = s_value_significance(op, x, method=method, n_surrogates=SURROGATES, rng=rng)
        p_value = min(1.0, 2 * float(found.p_smooth), 2 * float(found.p_rough))
        value, expected, std, z = map(float, (found.s_value, found.expected, found.std, found.z_score))
        rows.append(SignificanceRow(name, value, expected, std, z, p_value, method, len(found.surrogates)))
    return tuple(rows)


def _edges(op: Operator) -> FloatArray:
    """Return the bands: over [0, 2] for normalised families, so that graphs compare, else up to the bound."""
    top = 2.0 if VARIANTS[op.family].norm != "none" else max(op.bounds[1], 1.0)
    return np.linspace(0.0, top, BANDS + 1)


def _affordable(graph: Graph, limits: tuple[int, int]) -> int:
    return int(np.clip(WORK // graph.n_nodes, *limits))


def profiles(
    graph: Graph, signals: dict[str, Signal], family: str, gamma: float, rng: np.random.Generator
) -> tuple[Profile, ...]:
    """Return the energy profile of every signal; wide signals on large graphs through random mixtures."""
    op = high_channel(graph, family, gamma)
    count, middle = _affordable(graph, MIXTURES) // 2 * 2, slice(BANDS // 2, BANDS // 2 + 2)
    rows = []
    for name, x in signals.items():
        wide = graph.n_nodes > EXACT_NODES and x.ndim == 2 and x.shape[1] > count
        found = energy_profile(op, mixtures(x, count, rng) if wide else x, bins=_edges(op))
        lower, upper = (side[middle] / found.total for side in (found.lower, found.upper))
        below, within = (lower + upper) / 2
        edges, shares = tuple(found.edges.tolist()), tuple(found.fraction.tolist())
        doubt = float((upper - lower).max() / 2)
        rows.append(Profile(name, edges, shares, float(below), float(1.0 - within), doubt, count if wide else 0))
    return tuple(rows)


def mixtures(x: Signal, count: int, rng: np.random.Generator) -> Signal:
    r"""Return ``count`` mixtures ``x R`` of the columns that keep every energy of ``x`` in the mean.

    :math:`E[R R^T] = I`: half of the mixtures lie along an orthonormal basis V of the strongest directions of ``x``,
    where the energies are exact; the others are random signs in what is left (Meyer et al. 2021, Hutch++).
    """
    half = count // 2
    probes, signs = (rng.choice([-1.0, 1.0], (x.shape[1], half)) for _ in range(2))
    strongest = np.linalg.qr(x.T @ (x @ probes))[0]
    rest = (signs - strongest @ (strongest.T @ signs)) / np.sqrt(half)
    return x @ np.concatenate([strongest, rest], axis=1)


def frequency_density(graph: Graph, family: str, gamma: float, rng: np.random.Generator) -> Density:
    """Return how the frequencies are spread: counted on small graphs, estimated on large ones."""
    op = high_channel(graph, family, gamma)
    found = spectral_density(op, bins=_edges(op), n_vectors=_affordable(graph, VECTORS), rng=rng)
    edges, shares = tuple(map(float, found.edges)), tuple(map(float, found.fraction))
    exact = graph.n_nodes <= EXACT_NODES
    near = float((abs(spectrum(op).frequencies - 1.0) <= NEAR_ONE).mean()) if exact else None
    return Density(edges, shares, float(found.error.max()), float(found.doubt.max()), exact, near)


def eigengaps(graph: Graph, gamma: float, notes: dict[str, str]) -> tuple[Gap, ...]:
    """Return every family's eigengap; families that are similar matrices share one solve."""
    if graph.n_nodes < 2:
        notes["gaps"] = "An eigengap needs at least two nodes."
        return ()
    solved: dict[tuple[str, bool], Gap] = {}
    for family, variant in VARIANTS.items():
        kind = (variant.loops, variant.norm == "none")
        if kind not in solved:
            solved[kind] = _solve(high_channel(graph, family, gamma), notes)
    return tuple(replace(solved[row.loops, row.norm == "none"], family=name) for name, row in VARIANTS.items())


def _solve(op: Operator, notes: dict[str, str]) -> Gap:
    try:
        found = eigengap(op)
    except ConvergenceError as stuck:
        notes["gaps"] = f"The solver gave up on {op.family}: {stuck}"
        return Gap(op.family, math.nan, math.nan, "not resolved", "")
    return Gap(op.family, found.ratio, found.error, found.method, found.proof)
