"""What the claims are checked on: one graph, one gamma, and the dense matrices and decompositions they share."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np
from scipy import linalg, sparse

from ..backend import FloatArray
from ..graph import Graph
from ..operators import Operator, operator
from ..variants import VARIANTS
from .dense import paper_dense

__all__ = ["Case", "Modes"]

N_PROBES = 3


@dataclass(frozen=True, eq=False)
class Modes:
    """Eigenvalues, ascending, and orthonormal eigenvectors of one symmetric dense matrix."""

    values: FloatArray
    vectors: FloatArray


def _modes(matrix: FloatArray) -> Modes:
    values, vectors = np.linalg.eigh(matrix)
    return Modes(values, vectors)


@dataclass(frozen=True, eq=False)
class Case:
    """One graph and one gamma.

    Matrices come from two sides: :meth:`op` is the library's operator, :meth:`dense` the paper's formula.
    An isolated node keeps its value, the one policy under which rows sum to 1.
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
        """Return the library's operator."""
        return operator(self.graph, family, channel, self._gamma(family))

    def dense(self, family: str, channel: str = "low") -> FloatArray:
        """Return the paper's matrix."""
        return paper_dense(self.graph, family, channel, self._gamma(family))

    @cached_property
    def A(self) -> FloatArray:  # noqa: N802  # the paper's letter
        """The adjacency, dense."""
        return self.graph.adjacency.toarray()

    @cached_property
    def degrees(self) -> FloatArray:
        """Row sums of the dense adjacency."""
        return np.asarray(self.A.sum(axis=1))

    @cached_property
    def kept(self) -> FloatArray:
        """The adjacency with a loop of 1 at isolated nodes: what lets them keep their value."""
        return np.asarray(self.A + np.diag(np.where(self.degrees > 0, 0.0, 1.0)))

    @property
    def safe_degrees(self) -> FloatArray:
        """Row sums of :attr:`kept`: degrees, and 1 for isolated nodes."""
        return np.where(self.degrees > 0, self.degrees, 1.0)

    @cached_property
    def probes(self) -> FloatArray:
        """Signals to try a claim on: a few fixed random ones, shape (n_nodes, 3)."""
        return np.random.default_rng(0).standard_normal((self.n, N_PROBES))

    @cached_property
    def comb_modes(self) -> Modes:
        """Of L = D - A."""
        return _modes(self.dense("comb", "high"))

    @cached_property
    def sym_modes(self) -> Modes:
        """Of L_sym."""
        return _modes(self.dense("sym", "high"))

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

        They are the roots of ``det(matrix - t diag(degrees))``, found without forming the symmetric matrix
        that the claims compare them with.
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
        """sqrt(d_max / d_min) over the nodes that have edges: how much D^-1/2 magnifies rounding."""
        d = self.safe_degrees
        return float(np.sqrt(d.max(initial=1.0) / d.min(initial=1.0)))

    @cached_property
    def has_bipartite_component(self) -> bool:
        """Whether some component with an edge splits into two sides without an edge inside either.

        A component is bipartite exactly if its double cover, two copies of it joined crosswise, falls apart.
        """
        A = self.graph.adjacency
        doubled = Graph.from_adjacency(sparse.block_array([[None, A], [A, None]])).component_labels
        apart = doubled[: self.n] != doubled[self.n :]
        return bool(np.any(apart & (self.degrees > 0)))
