"""GIN on batches of whole graphs: sums over neighbours, sums over graphs, in one channel or two."""

from __future__ import annotations

from dataclasses import dataclass
from itertools import pairwise
from typing import Any

import numpy as np
import torch
from scipy import sparse
from torch import Tensor, nn

from .._arguments import check_choice
from ..backend import is_sparse
from ..errors import GraphError
from ..graph import Graph
from .layer import CHANNELS, Mixing
from .network import alpha_table
from .parts import Dropout, Linear
from .propagation.neighbours import NeighbourSum
from .sparse import SparseMatrix

__all__ = ["GinLayer", "GinNetwork", "GraphBatch"]


@dataclass(frozen=True, eq=False)
class GraphBatch:
    """Several graphs as one: block-diagonal adjacency, features, and the matrix that sums nodes into graphs.

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
        """Return the graphs ``index`` (all by default) of a disjoint union.

        Parameters
        ----------
        graph : Graph
            The disjoint union of all graphs.
        graph_indptr : int array
            Graph ``g`` owns the nodes ``graph_indptr[g]:graph_indptr[g + 1]``.
        x : array or sparse, one row a node
        """
        starts = np.asarray(graph_indptr, dtype=np.int64)
        sizes = np.diff(starts)
        chosen = np.arange(sizes.size) if index is None else np.asarray(index)
        ends = np.cumsum(sizes[chosen])
        begins = ends - sizes[chosen]
        # What is added to a node's place in the batch to get its number in the union; one value a graph.
        shift = np.repeat(starts[chosen] - begins, sizes[chosen])
        nodes = np.arange(shift.size) + shift
        sums = sparse.csr_array((np.ones(nodes.size), np.arange(nodes.size), np.r_[0, ends]), (chosen.size, nodes.size))
        rows = x[nodes].toarray() if is_sparse(x) else np.asarray(x)[nodes]
        bounds = (np.repeat(side, sizes[chosen]) for side in (begins, ends))
        adjacency = _blocks(graph.adjacency[nodes], shift, *bounds)
        return cls(
            torch.tensor(rows, dtype=dtype, device=device),
            SparseMatrix.from_scipy(adjacency, symmetric=not graph.directed, dtype=dtype, device=device),
            SparseMatrix.from_scipy(sums, dtype=dtype, device=device),
        )


def _blocks(rows: Any, shift: Any, begins: Any, ends: Any) -> sparse.csr_array:
    """Return the square matrix of the given rows of a disjoint union, its columns renumbered.

    An edge stays within its graph, so its column moves as far as its row did; no column is looked up.

    Raises
    ------
    GraphError
        An edge leaves its graph.
    """
    counts = np.diff(rows.indptr)
    columns = rows.indices - np.repeat(shift, counts)
    away = np.flatnonzero((columns < np.repeat(begins, counts)) | (columns >= np.repeat(ends, counts)))
    if away.size:
        place = int(np.searchsorted(rows.indptr, away[0], "right")) - 1
        edge = f"({place + int(shift[place])}, {int(rows.indices[away[0]])})"
        raise GraphError(f"edge {edge} joins two graphs; graph_indptr must part the nodes into separate graphs")
    return sparse.csr_array((rows.data, columns, rows.indptr), shape=(shift.size, shift.size))


class _Perceptron(nn.Module):
    """GIN's inner map: two linear maps with a batch normalisation and a ReLU between."""

    def __init__(self, n_in: int, n_out: int, generator: torch.Generator) -> None:
        super().__init__()
        self.first = Linear(n_in, n_out, generator)
        self.norm = nn.BatchNorm1d(n_out)
        self.second = Linear(n_out, n_out, generator)
        self.bias = nn.Parameter(torch.zeros(n_out))

    def forward(self, x: Tensor) -> Tensor:
        mapped: Tensor = self.second(torch.relu(self.norm(self.first(x))))
        return mapped + self.bias


class GinLayer(nn.Module):
    """``a_low MLP_low((1 + eps) h + A h) + a_high MLP_high((1 + gamma) h - A h)``, normalised, then ReLU.

    Parameters
    ----------
    learned : bool
        GIN-eps: eps and gamma are trained; GIN-0 keeps them.
    gamma : float
        The node's own weight beyond 1 in the high channel.
    """

    def __init__(
        self,
        n_in: int,
        n_out: int,
        generator: torch.Generator,
        *,
        channels: str = "low",
        alphas: str | tuple[float, float] = "learned",
        learned: bool = False,
        gamma: float = 0.0,
    ) -> None:
        super().__init__()
        self.selected = check_choice(channels, CHANNELS, "channels")
        names = ("low", "high") if channels == "both" else (channels,)
        self.maps = nn.ModuleDict({name: _Perceptron(n_in, n_out, generator) for name in names})
        self.eps = nn.Parameter(torch.zeros(()), requires_grad=learned)
        self.gamma = nn.Parameter(torch.tensor(float(gamma)), requires_grad=learned)
        self.norm = nn.BatchNorm1d(n_out)
        self.mixing = Mixing(alphas) if channels == "both" else None

    def split(self, h: Tensor, adjacency: SparseMatrix) -> dict[str, Tensor]:
        """Return the mapped channels and their mixture, by name."""
        propagation = NeighbourSum(adjacency, self.eps, self.gamma)
        if self.mixing is None:
            single = propagation.low(h) if self.selected == "low" else propagation.high(h)
            parts = {self.selected: self.maps[self.selected](single)}
            mixed = parts[self.selected]
        else:
            low, rest = propagation.both(h, h)
            parts = {"low": self.maps["low"](low), "high": self.maps["high"](rest)}
            a_low, a_high = self.mixing()
            mixed = a_low * parts["low"] + a_high * parts["high"]
        return {**parts, "combined": torch.relu(self.norm(mixed))}

    def forward(self, h: Tensor, adjacency: SparseMatrix) -> Tensor:
        """Return the mixture of the channels."""
        return self.split(h, adjacency)["combined"]


class GinNetwork(nn.Module):
    """GIN layers, a sum over each graph's nodes, a linear map to the classes.

    Parameters
    ----------
    concat : bool
        Jumping concatenation: the map sees the input's and every layer's sums instead of the last layer's alone.

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
        generator: torch.Generator,
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
        self.head = Linear(sum(widths) if concat else hidden, n_out, generator)
        self.head_bias = nn.Parameter(torch.zeros(n_out))

    def forward(self, batch: GraphBatch) -> Tensor:
        """Return the logits of every graph."""
        outputs = [batch.x]
        for layer in self.layers:
            outputs.append(layer(outputs[-1], batch.adjacency))
        embedded = torch.cat(outputs, dim=1) if self.concat else outputs[-1]
        logits: Tensor = self.head(self.dropout(batch.readout @ embedded))
        return logits + self.head_bias

    def channels(self, batch: GraphBatch) -> list[dict[str, Tensor]]:
        """Return, for every layer, the node embeddings ``low``, ``high`` (where there are both) and ``combined``."""
        was_training = self.training
        self.eval()
        splits, h = [], batch.x
        with torch.no_grad():
            for layer in self.layers:
                if isinstance(layer, GinLayer):
                    splits.append(layer.split(h, batch.adjacency))
                    h = splits[-1]["combined"]
        self.train(was_training)
        return splits

    def alphas(self) -> Tensor:
        """Return the mixing weights, shape (n_layers, 2); no rows where there is one channel."""
        return alpha_table(self)
