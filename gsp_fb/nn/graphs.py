"""GIN on batches of whole graphs: sums over neighbours, sums over graphs, in one channel or two."""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Callable
from dataclasses import dataclass
from itertools import pairwise
from typing import Any

import numpy as np
import torch
from torch import Tensor, nn

from .._kernels.torch_matrix import SparseMatrix
from ..backend import is_sparse
from ..datasets.unions import chosen_graphs
from ..graph import Graph
from .channels import ChannelLayer, Channels
from .network import GraphNetwork, Record
from .parts import Dropout, Linear
from .propagation.base import Propagation

__all__ = ["GinLayer", "GinNetwork", "GraphBatch"]


@dataclass(frozen=True, eq=False)
class GraphBatch:
    """Several graphs as one: block-diagonal adjacency, features, and the matrix that sums nodes into graphs.

    Parameters
    ----------
    x : Tensor, shape (n_nodes, n_features)
        Features of all nodes, graph after graph.
    adjacency : SparseMatrix, shape (n_nodes, n_nodes)
        Block-diagonal, one block a graph.
    readout : SparseMatrix, shape (n_graphs, n_nodes)
        Sums the rows of each graph.

    See Also
    --------
    GinNetwork : A network that takes batches.
    cross_validate : Train and evaluate a graph classifier over folds.

    Examples
    --------
    >>> both = Graph.from_edges([(0, 1), (2, 3), (3, 4), (4, 2)])
    >>> batch = GraphBatch.of(both, [0, 2, 5], np.ones((5, 1)))
    >>> (batch.readout @ batch.x).ravel().tolist()
    [2.0, 3.0]
    """

    x: Tensor
    adjacency: SparseMatrix
    readout: SparseMatrix

    @classmethod
    def of(
        cls,
        graph: Graph,
        graph_indptr: Any,
        x: Any,
        index: Any = None,
        *,
        dtype: torch.dtype = torch.float32,
        device: torch.device | str = "cpu",
    ) -> GraphBatch:
        """Return the graphs ``index`` (all by default) of a disjoint union; ``graph_indptr`` are their first nodes."""
        nodes, adjacency, sums = chosen_graphs(graph, graph_indptr, index)
        rows = x[nodes].toarray() if is_sparse(x) else np.asarray(x)[nodes]
        return cls(
            torch.tensor(rows, dtype=dtype, device=device),
            SparseMatrix.from_scipy(adjacency, symmetric=not graph.directed, dtype=dtype, device=device),
            SparseMatrix.from_scipy(sums, dtype=dtype, device=device),
        )


@dataclass(frozen=True, eq=False)
class NeighbourSum:
    """low = ``(1 + eps) h + A h``, high = ``(1 + gamma) h - A h``: GIN's sum and the matching difference."""

    matrix: Callable[[Tensor], Tensor]
    eps: float | Tensor = 0.0
    gamma: float | Tensor = 0.0

    def low(self, h: Tensor) -> Tensor:
        """Return ``(1 + eps) h + A h``."""
        return (1.0 + self.eps) * h + self.matrix(h)

    def high(self, h: Tensor) -> Tensor:
        """Return ``(1 + gamma) h - A h``."""
        return (1.0 + self.gamma) * h - self.matrix(h)

    def both(self, h_low: Tensor, h_high: Tensor) -> tuple[Tensor, Tensor]:
        """Return both channels; of one and the same ``h`` they share the product."""
        sums = self.matrix(h_low)
        other = sums if h_low is h_high else self.matrix(h_high)
        return (1.0 + self.eps) * h_low + sums, (1.0 + self.gamma) * h_high - other


def _perceptron(n_in: int, n_out: int, generator: torch.Generator | None) -> nn.Module:
    """Return GIN's inner map: two linear maps with a batch normalisation and a ReLU between."""
    first, second = Linear(n_in, n_out, generator), Linear(n_out, n_out, generator, bias=True)
    return nn.Sequential(OrderedDict(first=first, norm=nn.BatchNorm1d(n_out), relu=nn.ReLU(), second=second))


class GinLayer(ChannelLayer):
    """``sum_c a_c MLP_c(channel_c(h))``, normalised, then ReLU; low is ``(1 + eps) h + A h``, high the difference."""

    def __init__(
        self,
        n_in: int,
        n_out: int,
        generator: torch.Generator | None = None,
        *,
        channels: Any = "low",
        mixing: Any = "scalar",
        learned: bool = False,
        gamma: float = 0.0,
    ) -> None:
        super().__init__()
        self.bank = Channels(channels, mixing, n_out, generator)
        self.bank.check(NeighbourSum(torch.neg))
        self.maps = nn.ModuleList(_perceptron(n_in, n_out, generator) for _ in self.bank.names)
        self.eps = nn.Parameter(torch.zeros(()), requires_grad=learned)
        self.gamma = nn.Parameter(torch.tensor(float(gamma)), requires_grad=learned)
        self.norm = nn.BatchNorm1d(n_out)

    def parts(self, h: Tensor, adjacency: Any, propagation: Propagation | None = None) -> list[Tensor]:
        """Return the mapped channels."""
        chosen = NeighbourSum(adjacency, self.eps, self.gamma) if propagation is None else propagation
        filtered = self.bank.filter(chosen, [h] * len(self.maps))
        return [map_(part) for map_, part in zip(self.maps, filtered, strict=True)]

    def finish(self, mixed: Tensor, *inputs: Any, **named: Any) -> Tensor:
        """Return the normalised and rectified mixture."""
        return torch.relu(self.norm(mixed))


class GinNetwork(GraphNetwork):
    """GIN layers, a sum over each graph's nodes, a linear map to the classes.

    Parameters
    ----------
    n_in, n_out : int
        Features of a node, and classes.
    dropout : Dropout
        Applied to the sums over each graph.
    generator : torch.Generator, optional
        Draws the weights.
    hidden : int
        Width of every layer.
    layers : int
        Number of layers.
    concat : bool
        Jumping concatenation: the map sees the input's and every layer's sums instead of the last layer's alone.
    **options
        Of every layer: ``channels`` and ``mixing`` as for :class:`gsp_fb.nn.FilterBankLayer`; ``learned`` and
        ``gamma`` for GIN-eps.

    See Also
    --------
    build : Makes it by name: ``gin-0``, ``gin-eps``, ``fb-gin-0``, ...
    GraphBatch : Its input.

    References
    ----------
    .. [1] K. Xu, W. Hu, J. Leskovec and S. Jegelka, "How powerful are graph neural networks?", ICLR 2019.

    Examples
    --------
    >>> from types import SimpleNamespace
    >>> from gsp_fb.nn import build
    >>> both = Graph.from_edges([(0, 1), (2, 3), (3, 4), (4, 2)])
    >>> data = SimpleNamespace(graph=both, graph_indptr=[0, 2, 5], node_label=[0, 1, 0, 0, 1], y=np.array([0, 1]))
    >>> model = build("fb-gin-0", data, hidden=4, layers=2)
    >>> model(GraphBatch.of(both, [0, 2, 5], np.eye(2)[data.node_label])).shape
    torch.Size([2, 2])
    """

    def __init__(
        self,
        n_in: int,
        n_out: int,
        dropout: Dropout,
        generator: torch.Generator | None = None,
        *,
        hidden: int = 32,
        layers: int = 4,
        concat: bool = True,
        **options: Any,
    ) -> None:
        super().__init__()
        widths = [n_in] + [hidden] * layers
        self.layers = nn.ModuleList(GinLayer(a, b, generator, **options) for a, b in pairwise(widths))
        self.concat, self.dropout = concat, dropout
        self.head = Linear(sum(widths) if concat else hidden, n_out, generator, bias=True)

    def forward(self, batch: Any, propagation: Propagation | None = None, record: Record = None) -> Tensor:
        """Return the logits of every graph; ``propagation`` replaces the sums over the batch's neighbours."""
        outputs = [batch.x]
        for layer in self.layers:
            outputs.append(layer.run(record, outputs[-1], batch.adjacency, propagation))
        embedded = torch.cat(outputs, dim=1) if self.concat else outputs[-1]
        logits: Tensor = self.head(self.dropout(batch.readout(embedded)))
        return logits
