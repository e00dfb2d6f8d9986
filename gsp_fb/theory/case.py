"""One test case of the claims: a graph, a gamma, and the dense matrices and decompositions that the claims share."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
from scipy import linalg
from scipy.sparse import csgraph

from ..backend import FloatArray
from ..graph import Graph
from ..operators import Operator, operator
from ..variants import VARIANTS
from .dense import paper_dense

__all__ = ["Case", "Modes", "as_column", "largest", "violation"]


def largest(difference: Any) -> float:
    """Return the largest absolute entry, 0 for an empty array."""
    return float(np.max(np.abs(difference), initial=0.0))


def violation(values: FloatArray, low: float, high: float) -> float:
    """Return the largest distance of ``values`` from [low, high]; 0 if all lie inside."""
    return float(max(np.max(values - high, initial=0.0), np.max(low - values, initial=0.0)))


def as_column(vector: FloatArray) -> FloatArray:
    """Return ``vector`` with shape (n, 1), which scales rows."""
    return np.asarray(vector[:, None])


@dataclass(frozen=True, eq=False)
class Modes:
    """Eigenvalues, ascending, and orthonormal eigenvectors of one symmetric (or Hermitian) dense matrix."""

    values: FloatArray
    vectors: FloatArray


@dataclass(frozen=True, eq=False)
class Case:
    """One graph and one gamma.

    Matrices come from two independent sources: :meth:`op` is the operator of the library, :meth:`dense` the formula of
    the paper. An isolated node keeps its value (policy ``self``), the only policy under which rows sum to 1.
    """

    graph: Graph
    gamma: float

    @property
    def n(self) -> int:
        """Number of nodes."""
        return self.graph.n_nodes

    def _gamma(self, family: str) -> float | None:
        return self.gamma if VARIANTS[family].has_gamma else None

    def op(self, family: str, channel: str = "low") -> Operator:
        """Return the operator of the library."""
        return operator(self.graph, family, channel, self._gamma(family))

    def dense(self, family: str, channel: str = "low") -> FloatArray:
        """Return the matrix of the paper."""
        return paper_dense(self.graph, family, channel, self._gamma(family))

    @cached_property
    def A(self) -> FloatArray:  # noqa: N802  # the paper's letter
        """The dense adjacency."""
        return self.graph.adjacency.toarray()

    @cached_property
    def degrees(self) -> FloatArray:
        """Row sums of absolute values of the dense adjacency."""
        return np.asarray(np.abs(self.A).sum(axis=1))

    @cached_property
    def kept(self) -> FloatArray:
        """The adjacency with a self-loop of weight 1 at isolated nodes, which keeps their value under averaging."""
        return np.asarray(self.A + np.diag(np.where(self.degrees > 0, 0.0, 1.0)))

    @property
    def safe_degrees(self) -> FloatArray:
        """Row sums of :attr:`kept`: degrees, and 1 for isolated nodes."""
        return np.where(self.degrees > 0, self.degrees, 1.0)

    @cached_property
    def probes(self) -> FloatArray:
        """Fixed random test signals, shape (n_nodes, 3)."""
        return np.random.default_rng(0).standard_normal((self.n, 3))

    @cached_property
    def comb_modes(self) -> Modes:
        """Eigenpairs of L = D - A."""
        return Modes(*np.linalg.eigh(self.dense("comb", "high")))

    @cached_property
    def sym_modes(self) -> Modes:
        """Eigenpairs of L_sym."""
        return Modes(*np.linalg.eigh(self.dense("sym", "high")))

    @cached_property
    def renorm_values(self) -> FloatArray:
        """Eigenvalues of the renormalised symmetric affinity, ascending."""
        return np.asarray(np.linalg.eigvalsh(self.dense("renorm_sym")))

    @cached_property
    def lazy_values(self) -> FloatArray:
        """Eigenvalues of the symmetric lazy walk, ascending."""
        return np.asarray(np.linalg.eigvalsh(self.dense("lazy_sym")))

    def walk_values(self, matrix: FloatArray, degrees: FloatArray) -> FloatArray:
        """Return the eigenvalues of ``diag(degrees)^-1 @ matrix``, ascending.

        They are computed as the generalised eigenvalues of the pencil ``(matrix, diag(degrees))``, without forming the
        symmetric matrix that the claims compare them with.
        """
        if not self.n:
            return np.empty(0)
        return np.asarray(linalg.eigh(matrix, np.diag(degrees), eigvals_only=True))

    @cached_property
    def rw_laplacian_values(self) -> FloatArray:
        """Eigenvalues of L_rw, ascending."""
        return self.walk_values(self.dense("comb", "high"), self.safe_degrees)

    @cached_property
    def rw_affinity_values(self) -> FloatArray:
        """Eigenvalues of A_rw, ascending."""
        return self.walk_values(self.kept, self.safe_degrees)

    @property
    def stretch(self) -> float:
        """sqrt(d_max / d_min) over the nodes with edges: the factor by which D^-1/2 amplifies rounding errors."""
        d = self.safe_degrees
        return float(np.sqrt(d.max(initial=1.0) / d.min(initial=1.0)))

    @property
    def has_balanced_component(self) -> bool:
        """Whether the adjacency of some component is similar to that of its absolute weights, by unit numbers."""
        return bool(np.any(self._switched(1.0)))

    @property
    def has_antibalanced_component(self) -> bool:
        """Whether ``-A`` is balanced on some component with an edge; for weights >= 0, whether that is bipartite."""
        return bool(np.any(self._switched(-1.0) & (self.degrees > 0)))

    def _switched(self, sign: float) -> Any:
        """Return whether each node's component has unit numbers u with ``u_i A_ij conj(u_j) = sign |A_ij|``.

        They follow from each other along a spanning forest; every other entry has to agree.
        """
        size = np.abs(self.A)
        phase = np.divide(self.A, size, out=np.zeros_like(self.A), where=size > 0)
        labels, u = self.graph.component_labels, np.ones(self.n, dtype=phase.dtype)
        for root in np.unique(labels, return_index=True)[1]:
            order, before = csgraph.breadth_first_order(size, int(root), directed=False)
            for node in order[1:]:
                u[node] = sign * u[before[node]] * phase[before[node], node]
        wrong = np.abs(as_column(u) * phase * u.conj() - sign * (size > 0)) > 1e-9
        return ~np.isin(labels, labels[wrong.any(axis=1)])
