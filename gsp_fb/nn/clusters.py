"""Cluster batches: training steps on groups of close nodes, with the operator of the whole graph."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np
import torch
from torch import Tensor, nn

from .._arguments import check_count, check_host
from ..backend import IntArray
from ..errors import ParameterError
from ..graph import Graph
from ..reorder import community_labels
from .propagation.base import Batch

__all__ = ["ClusterSampler", "clusters", "restrict"]

# Clusters a batch. A cluster often has few classes, and a step on few classes is a poor sample of all: random unions of
# many small clusters even that out and keep edges between clusters in play (Cluster-GCN, section 3.2).
CLUSTERS_PER_BATCH = 16


def clusters(graph: Graph, size: int) -> list[IntArray]:
    """Return the nodes in groups of about ``size``, communities kept together."""
    check_host(graph.device, "clusters are made")
    order = np.argsort(community_labels(graph), kind="stable")
    n_groups = max(1, round(graph.n_nodes / check_count(size, "size")))
    return [np.sort(group) for group in np.array_split(order, n_groups)]


def restrict(propagation: Any, nodes: IntArray) -> Any:
    """Return a propagation on some nodes: its matrix with their rows and columns, weights as on the whole graph."""
    if not hasattr(propagation, "restrict"):
        raise ParameterError(
            f"cluster batches need a propagation by a square matrix, not {type(propagation).__name__}; train with "
            "batch='none', or give it a method restrict(nodes)"
        )
    return propagation.restrict(nodes)


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
                place = train.device
                yield Batch(
                    torch.from_numpy(targets).to(place),
                    torch.from_numpy(nodes).to(place),
                    restrict(self.propagation, nodes),
                    weight.to(place),
                )
