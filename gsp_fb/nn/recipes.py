"""Building a model: options checked against its row, weights from a seed, and a recipe to build it again."""

from __future__ import annotations

import os
from collections.abc import Mapping
from dataclasses import asdict, dataclass, replace
from typing import Any

import torch
from torch import nn

from .._arguments import check_choice, check_count, check_number
from .._kernels.torch_device import torch_device
from ..datasets.targets import encode_targets
from ..datasets.unions import node_features
from ..errors import ParameterError
from .builders import BuildContext
from .models import MODELS
from .parts import stream

__all__ = ["ModelSpec", "build"]


@dataclass(frozen=True)
class ModelSpec:
    """All that is needed to build a model again: its row, options, seed and the shape of its data."""

    model: str
    options: Mapping[str, Any]
    seed: int
    n_features: int
    n_classes: int

    def as_dict(self) -> dict[str, Any]:
        """Return the recipe as JSON holds it."""
        return asdict(replace(self, options=dict(self.options)))


def build(
    name: str,
    dataset: Any,
    *,
    seed: int = 0,
    device: torch.device | str = "cpu",
    dtype: torch.dtype = torch.float32,
    copies: tuple[int, ...] = (),
    relations: Any = None,
    data_dir: str | os.PathLike[str] | None = None,
    **options: Any,
) -> nn.Module:
    """Return a model of the table, made for one data set, with weights drawn from ``seed`` alone.

    Parameters
    ----------
    name : str
        A row of ``MODELS``: ``gcn``, ``fb-gcn``, ``mlp``, ...
    dataset : object
        With ``graph``, ``x`` and ``y``; for GIN also ``graph_indptr``.
    seed : int
        Streams for the weights and for dropout follow from it; global random state is neither read nor changed.
    device, dtype
        Where and in which precision the model lives; nothing falls back silently.
    copies : tuple
        ``(s,)`` for ``s`` independent parameter sets (models over fixed matrices, see :func:`gsp_fb.nn.train_splits`).
    relations : object, optional
        For Geom-GCN: ``pairs`` (2, m), ``space`` and ``relation``; by default those that are stored for the data set.
    data_dir : path, optional
        Where stored relations are, as for :func:`gsp_fb.datasets.load`.
    **options
        Options of the row, see ``describe()``.

    Returns
    -------
    Module
        ``model(x)`` returns the logits of all nodes, or of all graphs of a batch.

    Raises
    ------
    ParameterError
        Unknown model or option, a value out of range, or a device that is not there.

    See Also
    --------
    train : Train the model on a split.
    describe : The models and their options.
    register_model : Add a model of your own to the table.

    Examples
    --------
    >>> from gsp_fb.datasets import contextual_sbm
    >>> model = build("fb-gcn", contextual_sbm(30, rng=0), hidden=4, family="lazy_rw")
    >>> model.alphas().tolist()
    [[1.0, 1.0], [1.0, 1.0]]
    """
    row = MODELS[check_choice(name, MODELS, "model")]
    for option in options:
        check_choice(option, row.options, f"option of {name}")
    merged = {**row.options, **options}
    place = torch_device(device)
    seed = check_count(seed, "seed", minimum=0)
    plan = BuildContext(
        graph=dataset.graph,
        n_features=int(node_features(dataset).shape[1]),
        n_classes=encode_targets(dataset.y).n_outputs,
        options=_check_options(merged),
        generator=stream(seed, "weights"),
        noise=stream(seed, "dropout", place),
        relations=relations,
        data_dir=data_dir,
        name=getattr(dataset, "name", None),
        copies=copies,
        dtype=dtype,
        device=place,
    )
    model = row.construct(plan).to(device=place, dtype=dtype)
    model.recipe = ModelSpec(name, merged, seed, plan.n_features, plan.n_classes)  # type: ignore[assignment]  # nn.Module types its attributes as tensors and modules
    model.generator = plan.noise  # type: ignore[assignment]  # as above
    return model


def _check_options(options: dict[str, Any]) -> dict[str, Any]:
    for name in {"hidden", "layers", "depth", "heads", "degree", "n_roots", "coverage"} & options.keys():
        check_count(options[name], name)
    for name in {"dropout", "attention_dropout", "input_dropout", "filter_dropout"} & options.keys():
        # A rate of 1 would leave nothing to learn from.
        if options[name] is not None and not 0.0 <= check_number(options[name], name) < 1.0:
            raise ParameterError(f"{name} must be in [0, 1), not {options[name]!r}")
    if not isinstance(options.get("residual", False), bool):
        raise ParameterError(f"residual must be True or False, not {options['residual']!r}")
    return options
