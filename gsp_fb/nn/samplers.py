"""Samplers: what makes the training steps of an epoch. Drawn neighbours, random-walk subgraphs, clusters of nodes."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np
import torch
from torch import Tensor, nn

from .._kernels.torch_matrix import SparseMatrix
from ..errors import ParameterError
from ..graph import Graph
from ..sampling.subgraphs import WalkSubgraphs, clusters, drawn_neighbours, mean_matrix
from .propagation.base import Batch
from .propagation.operators import Complement

__all__ = ["ClusterSampler", "NeighbourSampler", "SaintSampler"]


def sampled_mean(graph: Graph, fanout: int, generator: torch.Generator) -> SparseMatrix:
    """Return the mean over at most ``fanout`` random neighbours of every node, drawn without replacement."""
    keys = torch.rand(graph.indices.size, generator=generator, device=generator.device).cpu().numpy()
    return SparseMatrix.from_scipy(mean_matrix(graph, drawn_neighbours(graph, fanout, keys)), dtype=torch.float64)


@dataclass(frozen=True, eq=False)
class NeighbourSampler:
    """One step an epoch over the whole graph, with at most ``fanout`` freshly drawn neighbours a node."""

    graph: Graph
    fanout: int
    generator: torch.Generator
    pair: type[Complement] = Complement

    def batches(self, train: Tensor) -> Iterator[Batch]:
        """Yield the epoch's one step."""
        yield Batch(train, propagation=self.pair(sampled_mean(self.graph, self.fanout, self.generator)))


class SaintSampler:
    """Steps on random-walk subgraphs, normalised as :class:`gsp_fb.sampling.subgraphs.WalkSubgraphs` counts them."""

    def __init__(self, graph: Graph, generator: torch.Generator, **options: int) -> None:
        self.generator = generator
        self.subgraphs = WalkSubgraphs(graph, self._rng(), **options)

    def _rng(self) -> np.random.Generator:
        seed = torch.randint(2**62, (1,), generator=self.generator, device=self.generator.device)
        return np.random.default_rng(int(seed))

    def batches(self, train: Tensor) -> Iterator[Batch]:
        """Yield subgraphs until, on average, an epoch has met every node once."""
        drawn, rng, met = self.subgraphs, self._rng(), 0
        while met < drawn.graph.n_nodes:
            nodes = np.flatnonzero(drawn.draw(rng))
            met += nodes.size
            targets = np.flatnonzero(np.isin(nodes, train.cpu().numpy()))
            if targets.size:
                inside = SparseMatrix.from_scipy(drawn.matrix[nodes][:, nodes], dtype=torch.float64)
                # The mean over the training nodes, estimated: sum over the targets of N / C_v / n_train.
                weights = drawn.n_subgraphs / drawn.node_counts[nodes[targets]] / len(train)
                indices = torch.from_numpy(targets), torch.from_numpy(nodes)
                yield Batch(*indices, Complement(inside), torch.from_numpy(weights))


# Clusters a batch. A cluster often has few classes, and a step on few classes is a poor sample of all: random unions of
# many small clusters even that out and keep edges between clusters in play (Cluster-GCN, section 3.2).
CLUSTERS_PER_BATCH = 16


class ClusterSampler:
    """Batches of random unions of clusters (Chiang et al., "Cluster-GCN", KDD 2019).

    The operator of a batch is the block of the whole graph's operator, so degrees are those of the whole graph and
    only edges that leave the batch are missing. Attention is taken over the neighbours in the batch; of a wavelet
    basis, which has no local form, the block is ``psi_s diag(g) psi_-s`` at the nodes of the batch.
    """

    def __init__(self, model: nn.Module, graph: Graph, batch_size: int) -> None:
        filtering: Any = getattr(model, "filtering", None)
        holders = model.modules() if filtering is None else ()
        found = {id(p): p for module in holders if (p := getattr(module, "propagation", None)) is not None}
        # A decoupled network propagates its outputs alone, by a filter of one operator.
        found |= {} if filtering is None else {id(filtering.base): filtering.base}
        if not found:
            raise ParameterError("cluster batches need layers with a propagation; train with batch='none'")
        self.propagations, self.generator = found, model.generator
        for propagation in found.values():
            if not hasattr(propagation, "restrict"):
                cut = f"cluster batches cut propagations to some nodes, and {type(propagation).__name__} cannot be"
                raise ParameterError(f"{cut}; train with batch='none', or give it a method restrict(nodes)")
        self.groups = clusters(graph, max(1, batch_size // CLUSTERS_PER_BATCH))

    def batches(self, train: Tensor) -> Iterator[Batch]:
        """Yield every node once an epoch, in random unions of clusters; unions without training nodes are left out."""
        generator: Any = self.generator
        order = torch.randperm(len(self.groups), generator=generator, device=generator.device)
        for chosen in torch.split(order, CLUSTERS_PER_BATCH):
            nodes = np.sort(np.concatenate([self.groups[k] for k in chosen.tolist()]))
            targets = np.flatnonzero(np.isin(nodes, train.cpu().numpy()))
            if targets.size:
                # Means of unequal batches are weighted so that an epoch adds up to the mean over the training nodes.
                weight = torch.full((targets.size,), 1.0 / len(train) * (-(-len(order) // CLUSTERS_PER_BATCH)))
                parts = {str(key): propagation.restrict(nodes) for key, propagation in self.propagations.items()}
                inside: Any = nn.ModuleDict(parts) if len(parts) > 1 else next(iter(parts.values()))
                yield Batch(torch.from_numpy(targets), torch.from_numpy(nodes), inside, weight)
