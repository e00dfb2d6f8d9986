"""What is trained on: the nodes of one graph, or many graphs. Checked once, before the first epoch."""

from __future__ import annotations

import hashlib
import math
import warnings
from abc import ABC, abstractmethod
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np
import torch
from torch import Tensor, nn

from .._arguments import check_signal
from ..backend import IntArray, is_sparse
from ..energy import s_value
from ..errors import GspWarning, ParameterError, SignalError
from ..operators import operator
from .builders import node_features
from .config import TrainConfig
from .graphs import GraphBatch
from .inputs import SparseFeatures, features
from .metrics import losses

__all__ = ["PARTS", "GraphTask", "NodeTask", "Parts", "Task", "check_split", "make_task"]

PARTS = ("train", "val", "test")
SMOOTHNESS_FAMILY = "renorm_sym"


@dataclass(frozen=True, eq=False)
class Parts:
    """Training, validation and test items as int64 indices."""

    train: IntArray
    val: IntArray
    test: IntArray

    def on(self, device: torch.device) -> dict[str, Tensor]:
        """Return the three as tensors, by name."""
        return {part: torch.from_numpy(getattr(self, part)).to(device) for part in PARTS}


def check_split(split: Any, y: Any, n_classes: int) -> Parts:
    """Return a split as disjoint index arrays of labelled items; masks and indices are both understood.

    Raises
    ------
    ParameterError
        Empty training set, overlap, an index out of range, an unlabelled item, or a label without a class.

    Warns
    -----
    GspWarning
        A class has no training item.

    Examples
    --------
    >>> from types import SimpleNamespace
    >>> split = SimpleNamespace(train=[True, True, False], val=[2], test=[])
    >>> check_split(split, np.array([0, 1, 1]), 2).train
    array([0, 1])
    """
    y = np.asarray(y)
    arrays = {part: _indices(getattr(split, part), len(y), part) for part in PARTS}
    if arrays["train"].size == 0:
        raise ParameterError("the split has no training items")
    for first, second in (("train", "val"), ("train", "test"), ("val", "test")):
        shared = np.intersect1d(arrays[first], arrays[second])
        if shared.size:
            raise ParameterError(f"item {shared[0]} is in {first} and in {second}; {shared.size} items overlap")
    if y.ndim == 1:
        _check_classes(y, arrays, n_classes)
    return Parts(**arrays)


def _indices(given: Any, n_items: int, part: str) -> IntArray:
    array = np.asarray(given)
    if array.dtype == bool:
        if array.shape != (n_items,):
            raise ParameterError(f"the {part} mask has shape {array.shape}; there are {n_items} items")
        return np.flatnonzero(array)
    index = array.astype(np.int64).ravel()
    bad = np.flatnonzero((index < 0) | (index >= n_items))
    if bad.size:
        raise ParameterError(f"{part} names item {index[bad[0]]}; there are items 0..{n_items - 1}")
    return index


def _check_classes(y: IntArray, arrays: dict[str, IntArray], n_classes: int) -> None:
    for part, index in arrays.items():
        bad = index[(y[index] < 0) | (y[index] >= n_classes)]
        if bad.size:
            raise ParameterError(f"{part} item {bad[0]} has label {y[bad[0]]}; the model knows 0..{n_classes - 1}")
    absent = np.setdiff1d(np.unique(np.concatenate([y[index] for index in arrays.values()])), y[arrays["train"]])
    if absent.size:
        names = ", ".join(map(str, absent))
        warnings.warn(f"class {names} has no training item; the model cannot learn it", GspWarning, stacklevel=4)


def _digest(*arrays: Any) -> str:
    total = hashlib.sha256()
    for array in arrays:
        parts = (array.data, array.indices, array.indptr) if is_sparse(array) else (np.asarray(array),)
        for part in parts:
            total.update(np.ascontiguousarray(part).tobytes())
    return total.hexdigest()


class Task(ABC):
    """Labels, parts and fingerprints that both kinds of task share.

    Attributes
    ----------
    y : Tensor
    index : dict of Tensor
        ``train``, ``val`` and ``test``.
    fingerprint : dict of str
        SHA-256 of graph, features, labels and split: what a checkpoint must agree with.
    """

    def __init__(self, model: nn.Module, dataset: Any, split: Any, config: TrainConfig) -> None:
        parameter = next(model.parameters())
        recipe: Any = model.recipe
        self.device, self.dtype, self.config, self.graph = parameter.device, parameter.dtype, config, dataset.graph
        y = np.asarray(dataset.y)
        parts = check_split(split, y, recipe.n_classes)
        self.y = torch.from_numpy(y.astype(np.int64)).to(self.device)
        self.index = parts.on(self.device)
        raw = node_features(dataset)
        x = check_signal(raw, self.graph.n_nodes)
        if x.shape[1] != recipe.n_features:
            raise ParameterError(f"the model was made for {recipe.n_features} features; the data has {x.shape[1]}")
        self.raw = x
        self.fingerprint = {
            "graph": self.graph.sha256,
            "features": _digest(x),
            "labels": _digest(y),
            "split": _digest(parts.train, parts.val, parts.test),
        }

    @abstractmethod
    def steps(self, model: nn.Module) -> Iterator[Tensor]:
        """Yield the loss of every step of one epoch."""

    @abstractmethod
    def logits(self, model: nn.Module) -> Tensor:
        """Return the logits of all items, without gradients or dropout."""

    def smoothness(self, logits: Tensor) -> float:
        """Return the S-value of the output on the graph; nan where it has none."""
        return math.nan


class NodeTask(Task):
    """Classify the nodes of one graph."""

    def __init__(self, model: nn.Module, dataset: Any, split: Any, config: TrainConfig) -> None:
        super().__init__(model, dataset, split, config)
        self.x = features(self.raw, normalize=config.normalize, dtype=self.dtype, device=self.device)
        self.laplacian = operator(self.graph, SMOOTHNESS_FAMILY, channel="high")

    def steps(self, model: nn.Module) -> Iterator[Tensor]:
        """Yield the loss of every step of one epoch."""
        batches: Any = model.batches
        for batch in batches(self.index["train"]):
            x, y = self.x, self.y
            if batch.nodes is not None:
                x = x.rows(batch.nodes) if isinstance(x, SparseFeatures) else x[batch.nodes]
                y = y[batch.nodes]
            each = losses(model(x, batch.propagation)[batch.targets], y[batch.targets])
            yield each.mean() if batch.weights is None else (each * batch.weights).sum()

    def logits(self, model: nn.Module) -> Tensor:
        """Return the logits of all items, without gradients or dropout."""
        model.eval()
        with torch.no_grad():
            result: Tensor = model(self.x)
        return result

    def smoothness(self, logits: Tensor) -> float:
        """Return the S-value of the output; nan where the output is zero or has overflown."""
        try:
            return float(s_value(self.laplacian, logits.cpu()))
        except SignalError:  # all-zero or overflown logits: training itself reports what matters about them
            return math.nan


class GraphTask(Task):
    """Classify whole graphs, in random batches."""

    def __init__(self, model: nn.Module, dataset: Any, split: Any, config: TrainConfig) -> None:
        super().__init__(model, dataset, split, config)
        self.graph_indptr = np.asarray(dataset.graph_indptr)

    def _batch(self, index: Any) -> GraphBatch:
        return GraphBatch.of(self.graph, self.graph_indptr, self.raw, index, dtype=self.dtype, device=self.device)

    def steps(self, model: nn.Module) -> Iterator[Tensor]:
        """Yield the loss of every step of one epoch."""
        train, generator = self.index["train"], model.generator
        order = torch.randperm(train.numel(), generator=generator, device=self.device)  # type: ignore[call-overload]  # the attribute is the model's generator
        for chosen in torch.split(train[order], self.config.batch_size):
            if chosen.numel() > 1 or train.numel() == 1:  # batch normalisation has no statistics of one graph alone
                yield losses(model(self._batch(chosen.cpu().numpy())), self.y[chosen]).mean()

    def logits(self, model: nn.Module) -> Tensor:
        """Return the logits of all items, without gradients or dropout."""
        model.eval()
        blocks = torch.split(torch.arange(self.y.shape[0]), max(self.config.batch_size, 256))
        with torch.no_grad():
            return torch.cat([model(self._batch(block.numpy())) for block in blocks])


def make_task(model: nn.Module, dataset: Any, split: Any, config: TrainConfig) -> Task:
    """Return the task that fits the data: whole graphs where it has ``graph_indptr``, nodes otherwise."""
    kind = GraphTask if hasattr(dataset, "graph_indptr") and not hasattr(model, "batches") else NodeTask
    return kind(model, dataset, split, config)
