"""A trained checkpoint put to use: class probabilities and embeddings."""

from __future__ import annotations

import os
from collections.abc import Callable
from types import SimpleNamespace
from typing import Any

import numpy as np
import numpy.typing as npt
import torch
from torch import Tensor, nn

from ..datasets.unions import check_graph_indptr, node_features
from ..errors import FormatError, ParameterError, TrainingError
from .checkpoint import check_tensors, read_checkpoint
from .graphs import GraphBatch
from .models import MODELS
from .recipes import build
from .tasks import node_inputs

__all__ = ["embed", "load_model", "predict"]


def load_model(checkpoint: str | os.PathLike[str], dataset: Any, **place: Any) -> nn.Module:
    """Return the model of a run in the state that validation chose, over the graph of ``dataset``.

    ``device``, ``relations`` and ``data_dir`` are as for :func:`gsp_fb.nn.build`.
    """
    stored = read_checkpoint(checkpoint)
    recipe = stored.facts["recipe"]
    for name, kind in {"model": str, "options": dict, "seed": int, "n_features": int, "n_classes": int}.items():
        if not isinstance(recipe.get(name), kind):
            raise FormatError(f"{checkpoint} has recipe.{name} {recipe.get(name)!r}; expected {kind.__name__}")
    n_features = int(node_features(dataset).shape[1])
    if n_features != recipe["n_features"]:
        raise ParameterError(f"{checkpoint} was trained on {recipe['n_features']} features; the data has {n_features}")
    weights = stored.group("best")
    dtype = torch.float64 if any(value.dtype == torch.float64 for value in weights.values()) else torch.float32
    # The data as ``build`` looks at it, with the model's number of outputs whatever labels there are.
    names = ("graph", "x", "graph_indptr", "node_label", "name")
    known = {name: getattr(dataset, name) for name in names if getattr(dataset, name, None) is not None}
    shape = SimpleNamespace(**known, y=np.arange(recipe["n_classes"]))
    model: Any = build(recipe["model"], shape, seed=recipe["seed"], dtype=dtype, **place, **recipe["options"])
    check_tensors(weights, dict(model.state_dict()), checkpoint)
    model.load_state_dict(weights)
    model.normalize = bool(stored.facts["config"].get("normalize", True))
    model.task = str(stored.facts["data"].get("task", "classes"))
    loaded: nn.Module = model.eval()
    return loaded


def _inputs(model: nn.Module, dataset: Any) -> Any:
    x, like, recipe = node_features(dataset), next(model.parameters()), model.recipe  # type: tuple[Any, Tensor, Any]
    if MODELS[recipe.model].task == "graph":
        starts = check_graph_indptr(dataset.graph_indptr, dataset.graph.n_nodes, len(dataset.graph_indptr) - 1)
        return GraphBatch.of(dataset.graph, starts, x, dtype=like.dtype, device=like.device)
    return node_inputs(model, x, normalize=bool(model.normalize))


# What turns the outputs of a task into predictions.
_LINKS: dict[str, Callable[[Tensor], Tensor]] = {
    "classes": lambda logits: torch.softmax(logits, dim=-1),
    "labels": torch.sigmoid,
    "values": lambda outputs: outputs,
}


def predict(checkpoint: str | os.PathLike[str], dataset: Any, **options: Any) -> npt.NDArray[Any]:
    """Return the predictions for every node (or graph) from a trained checkpoint.

    Probabilities of the classes, or of each label, or the regressed numbers. The data may be another graph than the
    one trained on, and needs no labels.

    Parameters
    ----------
    checkpoint : path
    dataset : object
    **options
        As for ``gsp_fb.nn.predict.load_model``.

    Returns
    -------
    ndarray, shape (n_items, n_outputs)
        Columns in the order of ``read_checkpoint(checkpoint).facts["data"]["classes"]``.

    Examples
    --------
    >>> import tempfile
    >>> from gsp_fb.datasets import contextual_sbm
    >>> from gsp_fb.nn import TrainConfig, build, train
    >>> data = contextual_sbm(30, rng=0)
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     result = train(build("gcn", data), data, data.splits[0], TrainConfig(epochs=3), directory=folder)
    ...     predict(folder, data).shape
    (30, 2)
    """
    model = load_model(checkpoint, dataset, **options)
    with torch.no_grad():
        logits: Tensor = model(_inputs(model, dataset))
    found = _LINKS[str(model.task)](logits).cpu().numpy()
    if not np.isfinite(found).all():
        raise TrainingError(f"{checkpoint}: the model's output is not finite on these data; are the features scaled?")
    return found


def embed(checkpoint: str | os.PathLike[str], dataset: Any, *, layer: int = -1, **options: Any) -> dict[str, Any]:
    """Return the embeddings ``low``, ``high`` (where there are both) and ``combined`` of one layer, as arrays.

    Parameters
    ----------
    checkpoint : path
        A run directory, or its ``checkpoint.json``.
    dataset : object
        With ``graph`` and ``x``; labels are not read.
    layer : int
        Position of the layer; the last one by default.
    **options
        As for ``gsp_fb.nn.predict.load_model``.

    Returns
    -------
    dict of array, shape (n_nodes, width)
        By name: ``low``, ``high``, ``combined``.

    Raises
    ------
    ParameterError
        The model has no channels or no such layer, or the data does not fit it.

    See Also
    --------
    predict : The classes instead of the embeddings.
    read_checkpoint : The stored tensors themselves.

    Examples
    --------
    >>> import tempfile
    >>> from gsp_fb.datasets import contextual_sbm
    >>> from gsp_fb.nn import TrainConfig, build, train
    >>> data = contextual_sbm(30, rng=0)
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     result = train(build("fb-gcn", data), data, data.splits[0], TrainConfig(epochs=3), directory=folder)
    ...     {name: part.shape for name, part in embed(folder, data, layer=0).items()}
    {'low': (30, 32), 'high': (30, 32), 'combined': (30, 32)}
    """
    model: Any = load_model(checkpoint, dataset, **options)
    if not hasattr(model, "channels"):
        raise ParameterError(f"model {model.recipe.model!r} has no method channels(x); it has no embeddings to return")
    channels = model.channels(_inputs(model, dataset))
    if not -len(channels) <= layer < len(channels):
        raise ParameterError(f"layer {layer} does not exist; the model has {len(channels)}")
    return {name: part.cpu().numpy() for name, part in channels[layer].items() if name != "shares"}
