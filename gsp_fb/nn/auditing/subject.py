"""What is audited: a model, its input on a graph, and the call between them; tensors as signals, one row a node."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, replace
from types import SimpleNamespace
from typing import Any, TypeAlias

import numpy as np
import torch
from torch import Tensor, nn

from ..._arguments import check_labels, check_signal
from ...backend import FloatArray, IntArray, to_dense
from ...convert import from_pyg
from ...datasets.unions import node_features
from ...errors import GraphError, ParameterError
from ...graph import Graph
from ..config import TrainConfig
from ..graphs import GraphBatch
from ..inputs import features
from ..models import MODELS
from ..patch import is_message_passing
from ..predict import load_model

__all__ = ["Call", "Subject", "evaluating", "first_tensor", "from_matrix", "make_subject", "node_axis", "to_matrix"]
__all__ += ["to_numpy"]

Call: TypeAlias = Callable[[nn.Module, Tensor], Any]


def node_axis(t: Tensor, n_nodes: int) -> int | None:
    """Return the axis that runs over the nodes: the first, or the last but one behind batch axes; None without one."""
    if t.ndim >= 1 and t.shape[0] == n_nodes:
        return 0
    return t.ndim - 2 if t.ndim >= 3 and t.shape[-2] == n_nodes else None


def to_matrix(t: Tensor, n_nodes: int) -> Tensor:
    """Return ``t`` with the nodes first and all other axes as columns; without node axis, one row an item."""
    axis = node_axis(t, n_nodes)
    moved = t.reshape(1, -1) if t.ndim == 0 else t.movedim(axis or 0, 0)
    return moved.reshape(moved.shape[0], -1)


def from_matrix(matrix: Tensor, like: Tensor, n_nodes: int) -> Tensor:
    """Return the tensor of the shape of ``like`` whose :func:`to_matrix` is ``matrix``."""
    axis = node_axis(like, n_nodes) or 0
    moved = like.movedim(axis, 0).shape
    return matrix.reshape(moved).movedim(0, axis)


def first_tensor(output: Any) -> Tensor | None:
    """Return the tensor itself, or the first one of a tuple or list (PyG layers also return attention weights)."""
    if isinstance(output, Tensor):
        return output
    found = output[0] if isinstance(output, tuple | list) and len(output) else None
    return found if isinstance(found, Tensor) else None


def to_numpy(t: Tensor) -> FloatArray:
    """Return a tensor as an array on the host, float32 or float64."""
    host = t.detach().cpu()
    values: FloatArray = (host if host.dtype in (torch.float32, torch.float64) else host.float()).numpy()
    return values


@dataclass(frozen=True, eq=False)
class Subject:
    """A model with its input: ``subject(x)`` is the output as a matrix, one row a node (or a graph)."""

    model: nn.Module
    graph: Graph
    x: Tensor
    y: IntArray | None
    call: Call

    @property
    def name(self) -> str:
        """Name of the model in the table of this library, or its class."""
        return str(getattr(getattr(self.model, "recipe", None), "model", type(self.model).__name__))

    def output(self, x: Tensor) -> Tensor:
        """Return the output as the model shapes it."""
        output = first_tensor(self.call(self.model, x))
        if output is None:
            raise ParameterError("the model returns no tensor; give call= that picks one out of its output")
        return output

    def __call__(self, x: Tensor) -> Tensor:
        """Return the output as a matrix, nodes first."""
        return to_matrix(self.output(x), self.graph.n_nodes)


@contextmanager
def evaluating(model: nn.Module) -> Iterator[None]:
    """Set every module to evaluation mode without compiled code, and restore each one's own mode."""
    modes = {module: module.training for module in model.modules()}
    try:
        model.eval()
        # Hooks do not fire within compiled graphs, and forward mode does not pass through them.
        with torch.compiler.set_stance("force_eager"):
            yield
    finally:
        for module, training in modes.items():
            module.training = training


def make_subject(
    model: nn.Module | str | os.PathLike[str],
    data: Any,
    call: Call | None,
    normalize: bool | None,
    *,
    keep_sparse: bool = False,
) -> Subject:
    """Return the model with features and call; ``keep_sparse`` features are cheaper, and without derivatives."""
    data = _as_dataset(data)
    if isinstance(model, str | os.PathLike):
        model = load_model(model, data)
    if not isinstance(model, nn.Module):
        raise ParameterError(f"cannot audit {type(model).__name__}: give a torch.nn.Module or the path of a run")
    model = getattr(model, "_orig_mod", model)  # of a compiled one
    if data.graph.directed:
        raise GraphError("an audit needs real frequencies: the graph is directed; give symmetrize= when making it")
    sparse = keep_sparse and call is None and hasattr(model, "recipe") and not hasattr(data, "graph_indptr")
    x = _features(model, data, normalize, keep_sparse=sparse)
    subject = Subject(model, data.graph, x, _labels(data), call or _default_call(model, data, x))
    _check_output(subject)
    return subject


def _as_dataset(data: Any) -> Any:
    """Return data with ``graph``, ``x`` and ``y``: as given, from PyG's ``Data``, or from a tuple."""
    if isinstance(data, tuple):
        if len(data) not in (2, 3) or not isinstance(data[0], Graph):
            raise ParameterError("data as a tuple is (graph, x) or (graph, x, y)")
        return SimpleNamespace(graph=data[0], x=data[1], y=data[2] if len(data) == 3 else None)
    if hasattr(data, "graph"):
        return data
    if hasattr(data, "edge_index"):
        # The labels of a batch of graphs are those of the graphs.
        y = None if getattr(data, "batch", None) is not None else getattr(data, "y", None)
        return SimpleNamespace(graph=from_pyg(data), x=data.x, y=y, edge_index=data.edge_index)
    raise ParameterError(f"cannot audit on {type(data).__name__}: give a Dataset, PyG's Data, or (graph, x[, y])")


def _features(model: nn.Module, data: Any, normalize: bool | None, *, keep_sparse: bool) -> Any:
    """Return the features in the model's precision and place; probes are dense, so dense ones by default."""
    raw = node_features(data) if getattr(data, "x", None) is None else data.x
    x = check_signal(raw, data.graph.n_nodes)
    # A module without numbers of its own works in the precision of the features.
    fallback = torch.empty(0, dtype=torch.float32 if x.dtype == np.float32 else torch.float64)
    like = next((t for t in (*model.parameters(), *model.buffers()) if t.is_floating_point()), fallback)
    x = x if keep_sparse else to_dense(x)
    wanted = _trained_normalized(model, data) if normalize is None else bool(normalize)
    x = x[:, None] if x.ndim == 1 else x
    return features(x, normalize=wanted, dtype=like.dtype, device=like.device)


def _trained_normalized(model: nn.Module, data: Any) -> bool:
    """Return whether the trainer feeds this model rows divided by their sum; False for models from elsewhere."""
    if hasattr(data, "graph_indptr"):
        return False  # whole graphs are fed as they are
    if hasattr(model, "normalize"):
        return bool(model.normalize)
    row = MODELS.get(getattr(getattr(model, "recipe", None), "model", ""))
    return row is not None and bool({"normalize": TrainConfig().normalize, **row.training}["normalize"])


def _labels(data: Any) -> IntArray | None:
    y = getattr(data, "y", None)
    if y is None or hasattr(data, "graph_indptr"):
        return None
    y = y.cpu().numpy() if isinstance(y, Tensor) else np.asarray(y)
    if y.ndim != 1 or y.dtype.kind not in "iub":
        return None  # several labels a node, or a regression: outputs are compared instead of classes
    return np.asarray(check_labels(y, data.graph.n_nodes))


def _default_call(model: nn.Module, data: Any, x: Tensor) -> Call:
    if hasattr(data, "graph_indptr"):
        batch = GraphBatch.of(data.graph, data.graph_indptr, x.cpu().numpy(), dtype=x.dtype, device=x.device)
        return lambda model, x: model(replace(batch, x=x))
    if any(is_message_passing(module) for module in model.modules()):
        index = getattr(data, "edge_index", None)
        if index is None:
            index = torch.from_numpy(np.stack(data.graph.adjacency.nonzero()).astype(np.int64)).to(x.device)
        return lambda model, x: model(x, index)
    return lambda model, x: model(x)


def _check_output(subject: Subject) -> None:
    try:
        with evaluating(subject.model), torch.no_grad():
            y = subject(subject.x)
    except ParameterError:
        raise
    except Exception as error:  # whatever the model raises, the user learns how it was called
        raise ParameterError(
            f"the model fails on features of shape {tuple(subject.x.shape)} ({type(error).__name__}: {error}); "
            "give call=lambda model, x: ... with everything else it needs"
        ) from error
    if not y.is_floating_point():
        raise ParameterError(
            f"the model returns {y.dtype}, which has no derivative; give call= that returns its scores"
        )
    if not bool(torch.isfinite(y).all()):
        raise ParameterError("the model returns values that are not finite; there is nothing to measure")
