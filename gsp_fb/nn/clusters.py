"""Cluster batches: training steps on groups of close nodes, with the operator of the whole graph."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import is_dataclass, replace
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
from .sparse import SparseMatrix

__all__ = ["ClusterSampler", "clusters", "restrict"]

# Clusters a batch. A cluster often has few classes, and a step on few classes is a poor sample of all: random unions of
# many small clusters even that out and keep edges between clusters in play (Cluster-GCN, section 3.2).
CLUSTERS_PER_BATCH = 16


def clusters(graph: Graph, size: int) -> list[IntArray]:
    """Return the nodes in groups of about ``size``, communities kept together.

    Examples
    --------
    >>> two = Graph.from_edges([(0, 2), (2, 4), (4, 0), (1, 3), (3, 5), (5, 1)])
    >>> [group.tolist() for group in clusters(two, 3)]
    [[0, 2, 4], [1, 3, 5]]
    """
    check_host(graph.device, "clusters are made")
    order = np.argsort(community_labels(graph), kind="stable")
    n_groups = max(1, round(graph.n_nodes / check_count(size, "size")))
    return [np.sort(group) for group in np.array_split(order, n_groups)]


def restrict(propagation: Any, nodes: IntArray) -> Any:
    """Return a propagation on some nodes: its matrix with their rows and columns, weights as on the whole graph.

    Raises
    ------
    ParameterError
        The propagation is no fixed matrix and has no method ``restrict(nodes)`` of its own.
    """
    own = getattr(propagation, "restrict", None)
    if own is not None:
        return own(nodes)
    matrix = getattr(propagation, "matrix", None)
    if not isinstance(matrix, SparseMatrix) or not is_dataclass(propagation) or matrix.shape[0] != matrix.shape[1]:
        raise ParameterError(
            f"cluster batches need a propagation by a square matrix, not {type(propagation).__name__}; train with "
            "batch='none', or give it a method restrict(nodes)"
        )
    stored = matrix.csr
    parts = (part.cpu().numpy() for part in (stored.values(), stored.col_indices(), stored.crow_indices()))
    block = sparse.csr_array(tuple(parts), shape=matrix.shape)[nodes][:, nodes]
    symmetric = matrix.transposed is stored
    inner = SparseMatrix.from_scipy(block, symmetric=symmetric, dtype=stored.dtype, device=stored.device)
    return replace(propagation, matrix=inner)  # type: ignore[type-var]  # is_dataclass does not tell mypy that it is no class


class ClusterSampler:
    """Batches of random unions of clusters (Chiang et al., "Cluster-GCN", KDD 2019).

    The operator of a batch is the block of the whole graph's operator, so degrees are those of the whole graph and
    only edges that leave the batch are missing.

    Parameters
    ----------
    model : Module
        Its layers share one propagation.
    graph : Graph
    batch_size : int
        Nodes a batch, about.
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
