"""Samplers: what makes the training steps of an epoch. Drawn neighbours, random-walk subgraphs, clusters of nodes."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np
import torch
from scipy import sparse
from torch import Tensor, nn

from .._arguments import check_count, check_host
from ..backend import IntArray
from ..errors import ParameterError
from ..graph import Graph
from ..reorder import community_labels
from .propagation.base import Batch
from .propagation.operators import Complement, mean_matrix
from .sparse import SparseMatrix

__all__ = ["ClusterSampler", "NeighbourSampler", "SaintSampler"]


def sampled_mean(graph: Graph, fanout: int, generator: torch.Generator) -> SparseMatrix:
    """Return the mean over at most ``fanout`` random neighbours of every node, drawn without replacement."""
    rows = np.repeat(np.arange(graph.n_nodes), np.diff(graph.indptr))
    keys = torch.rand(rows.size, generator=generator, device=generator.device).cpu().numpy()
    # Sorted by row, then by key, entry k of a row is its k-th draw.
    order = np.lexsort((keys, rows))
    kept = np.empty(rows.size, dtype=bool)
    kept[order] = np.arange(rows.size) - np.repeat(graph.indptr[:-1], np.diff(graph.indptr)) < fanout
    return SparseMatrix.from_scipy(mean_matrix(graph, kept), dtype=torch.float64)


@dataclass(frozen=True, eq=False)
class NeighbourSampler:
    """One step an epoch over the whole graph, with at most ``fanout`` freshly drawn neighbours a node."""

    graph: Graph
    fanout: int
    generator: torch.Generator
    pair: type[Complement] = Complement

    def __post_init__(self) -> None:
        check_count(self.fanout, "fanout")

    def batches(self, train: Tensor) -> Iterator[Batch]:
        """Yield the epoch's one step."""
        yield Batch(train, propagation=self.pair(sampled_mean(self.graph, self.fanout, self.generator)))


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


# Clusters a batch. A cluster often has few classes, and a step on few classes is a poor sample of all: random unions of
# many small clusters even that out and keep edges between clusters in play (Cluster-GCN, section 3.2).
CLUSTERS_PER_BATCH = 16


def clusters(graph: Graph, size: int) -> list[IntArray]:
    """Return the nodes in groups of about ``size``, communities kept together."""
    check_host(graph.device, "clusters are made")
    order = np.argsort(community_labels(graph), kind="stable")
    n_groups = max(1, round(graph.n_nodes / check_count(size, "size")))
    return [np.sort(group) for group in np.array_split(order, n_groups)]


class ClusterSampler:
    """Batches of random unions of clusters (Chiang et al., "Cluster-GCN", KDD 2019).

    The operator of a batch is the block of the whole graph's operator, so degrees are those of the whole graph and
    only edges that leave the batch are missing.
    """

    def __init__(self, model: nn.Module, graph: Graph, batch_size: int) -> None:
        found = {id(p): p for module in model.modules() if (p := getattr(module, "propagation", None)) is not None}
        if len(found) != 1:
            raise ParameterError(
                f"cluster batches need one propagation that all layers share; the model has {len(found)}; train with "
                "batch='none'"
            )
        self.propagation, self.generator = next(iter(found.values())), model.generator
        if not hasattr(self.propagation, "restrict"):
            raise ParameterError(
                f"cluster batches need a propagation by a square matrix, not {type(self.propagation).__name__}; train "
                "with batch='none', or give it a method restrict(nodes)"
            )
        self.groups = clusters(graph, max(1, batch_size // CLUSTERS_PER_BATCH))

    def batches(self, train: Tensor) -> Iterator[Batch]:
        """Yield every node once an epoch, in random unions of clusters; unions without training nodes are left out."""
        generator: Any = self.generator
        order = torch.randperm(len(self.groups), generator=generator, device=generator.device).tolist()
        wanted = np.zeros(sum(map(len, self.groups)), dtype=bool)
        wanted[train.cpu().numpy()] = True
        for start in range(0, len(order), CLUSTERS_PER_BATCH):
            chosen = order[start : start + CLUSTERS_PER_BATCH]
            nodes = np.sort(np.concatenate([self.groups[k] for k in chosen]))
            targets = np.flatnonzero(wanted[nodes])
            if targets.size:
                # Means of unequal batches are weighted so that an epoch adds up to the mean over the training nodes.
                weight = torch.full((targets.size,), 1.0 / wanted.sum() * (-(-len(order) // CLUSTERS_PER_BATCH)))
                arrays = [part.to(train.device) for part in (*map(torch.from_numpy, (targets, nodes)), weight)]
                yield Batch(arrays[0], arrays[1], self.propagation.restrict(nodes), arrays[2])
