"""GraphSAINT: every step trains on a subgraph of short random walks, its bias undone by counted frequencies."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np
import torch
from scipy import sparse
from torch import Tensor

from ..._arguments import check_count
from ...graph import Graph
from ..sparse import SparseMatrix
from .base import Batch
from .operators import Complement, mean_matrix

__all__ = ["SaintSampler", "random_walks"]


def random_walks(graph: Graph, roots: Any, length: int, rng: np.random.Generator) -> Any:
    """Return the nodes of one uniform walk from each root, shape (n_roots, length + 1); a dead end stays put."""
    steps = [np.asarray(roots)]
    counts = np.diff(graph.indptr)
    for _ in range(length):
        here = steps[-1]
        choice = (rng.random(here.size) * counts[here]).astype(np.int64)
        at = np.minimum(graph.indptr[here] + choice, graph.indices.size - 1)
        steps.append(np.where(counts[here] > 0, graph.indices[at], here) if graph.indices.size else here)
    return np.stack(steps, axis=1)


class SaintSampler:
    """Random-walk subgraphs with GraphSAINT's two normalisations.

    With ``C_v`` and ``C_uv`` the numbers of pre-sampled subgraphs that hold a node and an edge, a target's loss counts
    ``N / C_v`` and the entry ``(v, u)`` of the neighbour mean is multiplied by ``C_v / C_uv``: both sums are then
    unbiased estimates of those of the whole graph.
    """

    def __init__(
        self,
        graph: Graph,
        generator: torch.Generator,
        *,
        n_roots: int = 3000,
        length: int = 2,
        coverage: int = 50,
    ) -> None:
        self.graph, self.generator = graph, generator
        self.n_roots = min(check_count(n_roots, "n_roots"), graph.n_nodes)
        self.length = check_count(length, "length", minimum=0)
        self.mean = mean_matrix(graph)
        self.rows = np.repeat(np.arange(graph.n_nodes), np.diff(self.mean.indptr))
        self._count(check_count(coverage, "coverage"))

    def _draw(self, rng: np.random.Generator) -> Any:
        """Return a subgraph as a mark on every node."""
        roots = rng.integers(self.graph.n_nodes, size=self.n_roots)
        marks = np.zeros(self.graph.n_nodes, dtype=bool)
        marks[random_walks(self.graph, roots, self.length, rng).ravel()] = True
        return marks

    def _count(self, coverage: int) -> None:
        rng = self._rng()
        node_counts = np.zeros(self.graph.n_nodes)
        edge_counts = np.zeros(self.mean.nnz)
        self.n_subgraphs = 0
        while node_counts.sum() < coverage * self.graph.n_nodes:
            marks = self._draw(rng)
            node_counts += marks
            edge_counts += marks[self.rows] & marks[self.mean.indices]
            self.n_subgraphs += 1
        # What pre-sampling never met gets the count of one visit instead of an infinite weight.
        self.node_counts, edge_counts = np.maximum(node_counts, 1.0), np.maximum(edge_counts, 1.0)
        weights = self.mean.data * self.node_counts[self.rows] / edge_counts
        self.matrix = sparse.csr_array((weights, self.mean.indices, self.mean.indptr), shape=self.mean.shape)

    def _rng(self) -> np.random.Generator:
        seed = torch.randint(2**62, (1,), generator=self.generator, device=self.generator.device)
        return np.random.default_rng(int(seed))

    def batches(self, train: Tensor) -> Iterator[Batch]:
        """Yield subgraphs until, on average, an epoch has met every node once."""
        rng = self._rng()
        wanted = np.zeros(self.graph.n_nodes, dtype=bool)
        wanted[train.cpu().numpy()] = True
        met = 0
        while met < self.graph.n_nodes:
            marks = self._draw(rng)
            met += int(marks.sum())
            if np.any(marks & wanted):
                yield self._batch(marks, wanted)

    def _batch(self, marks: Any, wanted: Any) -> Batch:
        nodes = np.flatnonzero(marks)
        inside = SparseMatrix.from_scipy(self.matrix[nodes][:, nodes], dtype=torch.float64)
        targets = np.flatnonzero(wanted[nodes])
        # The mean over the training nodes, estimated: sum over the targets of N / C_v / n_train.
        weights = self.n_subgraphs / self.node_counts[nodes[targets]] / wanted.sum()
        arrays = [torch.from_numpy(array) for array in (targets, nodes, weights)]
        return Batch(arrays[0], arrays[1], Complement(inside), arrays[2])
