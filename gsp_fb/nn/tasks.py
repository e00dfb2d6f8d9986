"""What is trained on: the nodes of one graph, or many graphs. Checked once, before the first epoch."""

from __future__ import annotations

import contextlib
import math
from abc import ABC, abstractmethod
from collections.abc import Iterator
from typing import Any

import numpy as np
import torch
from torch import Tensor, nn

from .._arguments import check_signal
from .._kernels.torch_features import SparseFeatures
from ..backend import is_sparse
from ..datasets.targets import array_sha256, encode_targets
from ..datasets.unions import check_graph_indptr, node_features
from ..energy import expected_s_value, s_value
from ..errors import GraphError, ParameterError, SignalError
from ..operators import operator
from .config import TrainConfig
from .graphs import GraphBatch
from .inputs import Features, features
from .models import MODELS, takes_dense
from .propagation.base import Batch
from .samplers import ClusterSampler
from .targets import METRICS

__all__ = ["GraphTask", "NodeTask", "Task"]


def node_inputs(model: Any, x: Any, *, normalize: bool) -> Features:
    """Return node features as a model of :func:`build` takes them, in its precision and on its device."""
    parameter = next(model.parameters())
    given = x.toarray() if is_sparse(x) and takes_dense(model.recipe.model) else x
    return features(given, normalize=normalize, dtype=parameter.dtype, device=parameter.device)


class Task(ABC):
    """Data that all copies of a model share, on the model's device: features, targets and what identifies them."""

    laplacian: Any = None  # of the nodes that the outputs belong to

    def __init__(self, model: nn.Module, dataset: Any, config: TrainConfig) -> None:
        parameter = next(model.parameters())
        recipe: Any = model.recipe
        self.device, self.dtype, self.config, self.graph = parameter.device, parameter.dtype, config, dataset.graph
        if getattr(dataset, "y", None) is None:
            raise ParameterError("the data set has no labels (y is None); there is nothing to train towards")
        self.targets = encode_targets(dataset.y, recipe.n_classes)
        if self.targets.n_outputs != recipe.n_classes:
            raise ParameterError(f"the model has {recipe.n_classes} outputs; the targets {self.targets.n_outputs}")
        kind = self.targets.kind
        fitting = [name for name, row in METRICS.items() if kind in row.kinds]
        self.metric = fitting[0] if config.metric == "auto" else config.metric
        if self.metric not in fitting:
            named = ", ".join(fitting)
            raise ParameterError(f"metric {self.metric!r} is not defined for {kind}; choose one of {named}")
        # The index of an unlabelled item is never read; 0 keeps it a valid class number.
        values = self.targets.values
        self.y = torch.from_numpy(np.maximum(values, 0) if kind == "classes" else np.nan_to_num(values)).to(self.device)
        self.raw = check_signal(node_features(dataset), self.graph.n_nodes)
        n_features = self.raw.shape[1]
        if n_features != recipe.n_features:
            raise ParameterError(f"the model was made for {recipe.n_features} features; the data has {n_features}")
        if not n_features:
            raise ParameterError("the data set has no features: x has 0 columns; give at least one")
        self.fingerprint = {
            "graph": self.graph.sha256,
            "features": array_sha256(self.raw),
            "labels": array_sha256(dataset.y),
            "task": kind,
            "classes": [str(name) for name in self.targets.names],
        }

    @abstractmethod
    def steps(self, model: Any, train: Tensor) -> Iterator[tuple[Tensor, Tensor, Tensor | None]]:
        """Yield, for every step of one epoch, the outputs and targets of its items and their weights in the loss."""

    @abstractmethod
    def logits(self, model: nn.Module, *, shares: bool = True) -> tuple[Tensor, list[Tensor]]:
        """Return the outputs of all items without dropout, and the channels' mean shares of each layer."""

    def s_values(self, logits: Tensor, *, expected: bool = False) -> list[float]:
        """Return S of every copy's output, shape (copies, n, k), or its expectation at random; nan if there is none."""
        measure, found = expected_s_value if expected else s_value, [math.nan] * len(logits)
        # Copy by copy: the rounding of a wide block depends on its width, and a run on the runs beside it.
        for k, copy in enumerate(() if self.laplacian is None else logits.detach().cpu()):
            # All-zero or overflown logits: training itself reports what matters. Complex weights have no expectation.
            with contextlib.suppress(SignalError, GraphError):
                found[k] = float(measure(self.laplacian, copy))
        return found


class NodeTask(Task):
    """Predict targets of the nodes of one graph."""

    def __init__(self, model: nn.Module, dataset: Any, config: TrainConfig) -> None:
        super().__init__(model, dataset, config)
        self.x = node_inputs(model, self.raw, normalize=config.normalize)
        self.laplacian = operator(self.graph, "renorm_sym", channel="high")
        self.sampler: Any = getattr(model, "sampler", None)
        if config.batch == "cluster" and self.sampler is None:
            self.sampler = ClusterSampler(model, self.graph, config.batch_size)

    def steps(self, model: Any, train: Tensor) -> Iterator[tuple[Tensor, Tensor, Tensor | None]]:
        """Yield outputs, targets and weights of every step; an epoch without a sampler is one step on all nodes."""
        source = model if hasattr(model, "batches") else self.sampler
        for drawn in [Batch(train)] if source is None else source.batches(train):
            x, y, batch = self.x, self.y, drawn.to(self.device, self.dtype)
            if batch.nodes is not None:
                x = x.rows(batch.nodes) if isinstance(x, SparseFeatures) else x[batch.nodes]
                y = y[batch.nodes]
            logits = model(x) if batch.propagation is None else model(x, batch.propagation)
            yield logits[batch.targets], y[batch.targets], batch.weights

    def logits(self, model: nn.Module, *, shares: bool = True) -> tuple[Tensor, list[Tensor]]:
        """Return the outputs of all items, and the channels' mean shares of each layer."""
        return _evaluated(model, self.x, shares)


class GraphTask(Task):
    """Predict targets of whole graphs, in random batches."""

    def __init__(self, model: nn.Module, dataset: Any, config: TrainConfig) -> None:
        super().__init__(model, dataset, config)
        self.graph_indptr = check_graph_indptr(dataset.graph_indptr, self.graph.n_nodes, len(self.targets.known))

    def _batch(self, index: Any) -> GraphBatch:
        return GraphBatch.of(self.graph, self.graph_indptr, self.raw, index, dtype=self.dtype, device=self.device)

    def steps(self, model: Any, train: Tensor) -> Iterator[tuple[Tensor, Tensor, Tensor | None]]:
        """Yield outputs, targets and weights of every step."""
        order = torch.randperm(train.numel(), generator=model.generator, device=self.device)
        sizes = np.diff(self.graph_indptr)
        for chosen in torch.split(train[order], self.config.batch_size):
            # Batch normalisation has no statistics of a single node.
            if sizes[chosen.cpu().numpy()].sum() > 1:
                yield model(self._batch(chosen.cpu().numpy())), self.y[chosen], None

    def logits(self, model: nn.Module, *, shares: bool = True) -> tuple[Tensor, list[Tensor]]:
        """Return the outputs of all items, and the channels' mean shares of each layer."""
        blocks = torch.split(torch.arange(self.y.shape[0]), max(self.config.batch_size, 256))
        batches = [self._batch(block.numpy()) for block in blocks]
        outputs, found = zip(*(_evaluated(model, batch, shares) for batch in batches), strict=True)
        # Shares are means over nodes; blocks of graphs have different numbers of them.
        weights = [len(batch.x) / self.graph.n_nodes for batch in batches]
        means = [sum(w * part for w, part in zip(weights, layer, strict=True)) for layer in zip(*found, strict=True)]
        return torch.cat(outputs), means


def _evaluated(model: Any, x: Any, asked: bool) -> tuple[Tensor, list[Tensor]]:
    """Return the outputs and, if asked, of a network with several channels their mean shares, layer by layer."""
    model.eval()
    shares: list[Tensor] = []
    several = asked and len(getattr(model, "channel_names", ())) > 1
    with torch.no_grad():
        if not several:
            return model(x), shares
        # Of the channels only the shares are kept: on a large graph those of all layers do not fit beside each other.
        return model.forward(x, None, lambda part: shares.append(model.mean_shares(part))), shares


def make_task(model: nn.Module, dataset: Any, config: TrainConfig) -> Task:
    """Return the task of the model's row: whole graphs or nodes."""
    recipe: Any = getattr(model, "recipe", None)
    if recipe is None:
        given = f"the name {model!r}" if isinstance(model, str) else type(model).__name__
        raise ParameterError(f"train takes a network made by gsp_fb.nn.build(name, dataset), not {given}")
    return {"graph": GraphTask, "node": NodeTask}[MODELS[recipe.model].task](model, dataset, config)
