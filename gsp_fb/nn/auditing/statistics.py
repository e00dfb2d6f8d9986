"""Smoothness, rank and distances of the signals inside a network."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

import numpy as np
from scipy import sparse

from ...backend import FloatArray
from ...energy import EnergyProfile, effective_rank, energy_profile, expected_s_value, s_value, signal_energy
from ...operators import Operator
from ...variants import VARIANTS
from .bands import EXACT_NODES
from .response import FrequencyResponse

__all__ = ["LayerAudit", "block_rank", "difference", "mean_average_distance", "null_vectors", "profile"]

# Columns whose energy profile is computed, on small and on large graphs; Lanczos's process runs for each of them.
PROFILE_COLUMNS, LARGE_PROFILE_COLUMNS = 64, 4
PROFILE_MATVECS = 40
# Variation of a column below this share of the peak is rounding of float32.
CONSTANT = 64 * float(np.finfo(np.float32).eps)


@dataclass(frozen=True, eq=False)
class LayerAudit:
    """One layer (or the input): its output as a signal on the graph, and what it does to each half of its input.

    ``s_value`` is the mean frequency, ``expected_s_value`` its expectation under random permutation of the nodes,
    ``s_value_centred`` that after the mean of every column is subtracted, nan where the columns are constant.
    ``mean_average_distance`` is the mean cosine distance of two nodes, ``difference`` the norm outside the space of
    frequency 0, relative to the whole: 0 is complete over-smoothing. All numbers of a zero signal are nan.

    ``width`` are the columns of the output, ``profile`` its energy over the bands; of at most 64 random orthonormal
    combinations of its columns (4 beyond 3000 nodes), None where the output is zero. ``response`` is that of this layer
    alone, from its input to its output; None where ``note`` states why there is none.
    """

    s_value: float = np.nan
    expected_s_value: float = np.nan
    s_value_centred: float = np.nan
    effective_rank: float = np.nan
    mean_average_distance: float = np.nan
    difference: float = np.nan
    name: str = field(kw_only=True)
    width: int = field(kw_only=True)
    profile: EnergyProfile | None = field(default=None, kw_only=True)
    response: FrequencyResponse | None = field(default=None, kw_only=True)
    note: str = field(default="", kw_only=True)

    @classmethod
    def of(cls, name: str, h: FloatArray, op: Operator, smooth: Any = None, **fields: Any) -> LayerAudit:
        """Return the row of the output ``h``; ``smooth`` are the :func:`null_vectors`, ``fields`` are not of ``h``."""
        fields |= {"name": name, "width": h.shape[1]}
        peak = _peak(h)
        if peak == 0.0:
            return cls(**fields)
        centred = h - h.mean(axis=0)
        # What is left of a constant column is rounding, and its smoothness would be that of noise.
        varies = _peak(centred) > CONSTANT * peak
        return cls(
            s_value=float(s_value(op, h)),
            expected_s_value=float(expected_s_value(op, h)),
            s_value_centred=float(s_value(op, centred)) if varies else np.nan,
            effective_rank=block_rank(h),
            mean_average_distance=mean_average_distance(h),
            difference=difference(op, h, smooth),
            **fields,
        )

    @property
    def gain_low(self) -> float:
        """Gain of the layer on the lower half of the axis."""
        return np.nan if self.response is None else self.response.low

    @property
    def gain_high(self) -> float:
        """Gain of the layer on the upper half of the axis."""
        return np.nan if self.response is None else self.response.high


def _peak(h: FloatArray) -> float:
    """Return the largest magnitude without a temporary."""
    return max(float(h.max(initial=0.0)), -float(h.min(initial=0.0)))


def mean_average_distance(h: FloatArray) -> float:
    r"""Return the mean of :math:`1 - \cos(h_i, h_j)` over pairs of nodes whose rows are not zero.

    The sum over pairs follows from the sum of the unit rows, so no pair is formed (D. Chen et al., "Measuring and
    relieving the over-smoothing problem for graph neural networks from the topological view", AAAI 2020).

    >>> mean_average_distance(np.array([[1.0, 0.0], [0.0, 2.0], [0.0, 0.0]]))
    1.0
    """
    norms = np.sqrt(np.einsum("ij,ij->i", h, h))
    count = int(np.count_nonzero(norms))
    if count < 2:
        return float("nan")
    sums = np.divide(1.0, norms, out=np.zeros_like(norms), where=norms > 0) @ h  # of the unit rows
    cosines = (float(np.square(sums).sum()) - count) / (count * (count - 1))
    return 1.0 - cosines


def block_rank(h: FloatArray) -> float:
    """Return the effective rank; nan for a zero block.

    The singular values are those of the smaller Gram matrix, in double precision: below 1e-8 of the largest they are
    rounding, and add 1e-6 to the rank. A decomposition of the block takes five times as long.
    """
    block = h.astype(np.float64, copy=False)
    gram = block.T @ block if h.shape[1] <= h.shape[0] else block @ block.T
    squares = np.linalg.eigvalsh(gram)
    return effective_rank(np.diag(np.sqrt(np.maximum(squares, 0.0)))) if squares[-1] > 0 else float("nan")


def difference(op: Operator, h: FloatArray, smooth: sparse.csr_array | None = None) -> float:
    """Return the share of the norm of ``h`` outside the space of frequency 0; within a component nothing varies there.

    That space has one vector a component: constant, or the square root of the degrees for symmetric families.
    """
    total = float(signal_energy(h, op))
    if total == 0.0:
        return float("nan")
    vectors = null_vectors(op) if smooth is None else smooth
    # In the coordinates in which the operator is symmetric plain energies are its own.
    symmetric = h if op.is_symmetric else h * np.asarray(op.scale, dtype=h.dtype)[:, None]
    below = float(signal_energy(vectors @ symmetric))
    # The two are orthogonal. Rounding leaves 1e-8 of a signal that is all smooth (1e-4 in float32).
    return float(np.sqrt(max(0.0, 1.0 - below / total)))


def null_vectors(op: Operator) -> sparse.csr_array:
    """Return an orthonormal basis of frequency 0 in the coordinates of the symmetric operator, one row a component."""
    left = np.abs(np.asarray(op.left))
    symmetric = VARIANTS[op.family].norm == "sym"
    vector = np.where(left == 0, 1.0, 1.0 / np.where(left == 0, 1.0, left)) if symmetric else np.asarray(op.scale)
    labels = np.asarray(op.graph.component_labels)
    norms = np.sqrt(np.bincount(labels, vector**2))
    shape = (len(norms), len(labels))
    return sparse.csr_array((vector / norms[labels], (labels, np.arange(len(labels)))), shape=shape)


def profile(op: Operator, h: FloatArray, edges: FloatArray, rng: np.random.Generator) -> EnergyProfile | None:
    """Return the energy over the bands; of random combinations of the columns where there are many."""
    if not h.any():
        return None
    limit = PROFILE_COLUMNS if op.graph.n_nodes <= EXACT_NODES else LARGE_PROFILE_COLUMNS
    if h.shape[1] > limit:
        h = h @ np.linalg.qr(rng.standard_normal((h.shape[1], limit)))[0]
    return energy_profile(op, h, bins=edges, matvecs=PROFILE_MATVECS)
