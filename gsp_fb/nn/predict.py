"""A trained checkpoint put to use: class probabilities and embeddings."""

from __future__ import annotations

import os
from typing import Any

import numpy.typing as npt
import torch
from torch import Tensor, nn

from ..errors import ParameterError
from .builders import class_count, node_features
from .checkpoint import read_checkpoint
from .graphs import GraphBatch
from .inputs import features
from .recipes import build

__all__ = ["embed", "load_model", "predict"]


def load_model(
    checkpoint: str | os.PathLike[str],
    dataset: Any,
    *,
    same_graph: bool = True,
    device: torch.device | str = "cpu",
    relations: Any = None,
    data_dir: str | os.PathLike[str] | None = None,
) -> nn.Module:
    """Return the model of a run in the state that validation chose.

    Parameters
    ----------
    checkpoint : path
        A run directory, or its ``checkpoint.json``.
    dataset : object
        What the model shall work on.
    same_graph : bool
        Insist on the graph it was trained on; False applies it to another one.
    device, relations, data_dir
        As for :func:`gsp_fb.nn.build`.

    Raises
    ------
    ParameterError
        The data has another shape or graph than the model was trained on.
    """
    stored = read_checkpoint(checkpoint)
    recipe = stored.facts["recipe"]
    found = {"n_features": int(node_features(dataset).shape[1]), "n_classes": class_count(dataset)}
    if same_graph:
        found["graph"] = dataset.graph.sha256
    made = {**recipe, "graph": stored.facts["data"]["graph"]}
    lines = [f"{name}: {made[name]} stored, {value} given" for name, value in found.items() if made[name] != value]
    if lines:
        raise ParameterError(f"{checkpoint} was trained on other data ({'; '.join(lines)})")
    weights = stored.group("best")
    dtype = next(value.dtype for value in weights.values() if value.is_floating_point())
    options = {**recipe["options"], "relations": relations, "data_dir": data_dir}
    model = build(recipe["model"], dataset, seed=recipe["seed"], device=device, dtype=dtype, **options)
    model.load_state_dict(weights)
    normalize: Any = stored.facts["config"]["normalize"]
    model.normalize = normalize
    return model.eval()


def _inputs(model: nn.Module, dataset: Any) -> Any:
    parameter = next(model.parameters())
    place: dict[str, Any] = {"dtype": parameter.dtype, "device": parameter.device}
    if not hasattr(model, "batches"):
        return GraphBatch.of(dataset.graph, dataset.graph_indptr, node_features(dataset), **place)
    return features(node_features(dataset), normalize=bool(model.normalize), **place)


def predict(checkpoint: str | os.PathLike[str], dataset: Any, **options: Any) -> npt.NDArray[Any]:
    """Return the class probabilities of every node (or graph) from a trained checkpoint.

    Parameters
    ----------
    checkpoint : path
    dataset : object
    **options
        As for ``gsp_fb.nn.predict.load_model``.

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
    several = dataset.y.ndim == 2
    return (torch.sigmoid(logits) if several else torch.softmax(logits, dim=-1)).cpu().numpy()


def embed(checkpoint: str | os.PathLike[str], dataset: Any, *, layer: int = -1, **options: Any) -> dict[str, Any]:
    """Return the embeddings ``low``, ``high`` (where there are both) and ``combined`` of one layer, as arrays.

    Parameters
    ----------
    checkpoint : path
    dataset : object
    layer : int
        Position of the layer; the last one by default.
    **options
        As for ``gsp_fb.nn.predict.load_model``.

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
    channels = model.channels(_inputs(model, dataset))
    if not -len(channels) <= layer < len(channels):
        raise ParameterError(f"layer {layer} does not exist; the model has {len(channels)}")
    parts = {name: part for name, part in channels[layer].items() if name != "shares"}
    return {name: part.cpu().numpy() for name, part in parts.items()}
