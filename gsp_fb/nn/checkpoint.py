"""Checkpoints: tensors as safetensors, everything else as JSON beside them, see :mod:`gsp_fb._sidecar`."""

from __future__ import annotations

import os
import platform
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import scipy
import torch
from torch import Tensor

from .._extras import require
from .._sidecar import read_sidecar, write_sidecar
from .._version import __version__
from ..errors import FormatError, ParameterError

__all__ = ["Checkpoint", "read_checkpoint", "write_checkpoint"]


@dataclass(frozen=True, eq=False)
class Checkpoint:
    """The tensors of a run and the facts beside them.

    Parameters
    ----------
    tensors : mapping of str to Tensor
        Named ``group.name``; the groups ``best`` and ``last`` are the chosen and the last state.
    facts : mapping
        Content of ``checkpoint.json``: model, configuration, data and epoch.

    See Also
    --------
    read_checkpoint : Read one from a run directory.
    predict : Predictions of a stored model.

    Examples
    --------
    >>> stored = Checkpoint({"best.weight": torch.zeros(2), "last.weight": torch.ones(2)}, {"epoch": 3})
    >>> stored.group("best")
    {'weight': tensor([0., 0.])}
    """

    tensors: Mapping[str, Tensor]
    facts: Mapping[str, Any]

    def group(self, prefix: str) -> dict[str, Tensor]:
        """Return the tensors under ``prefix.``, without it."""
        start = f"{prefix}."
        return {name.removeprefix(start): value for name, value in self.tensors.items() if name.startswith(start)}


def write_checkpoint(directory: Path, tensors: Mapping[str, Tensor], facts: Mapping[str, Any]) -> None:
    """Replace the checkpoint of ``directory``; ``facts`` hold ``epoch``, ``recipe``, ``config``, ``data`` and more."""
    plain = {key: value.detach().cpu().contiguous() for key, value in tensors.items()}
    content = require("safetensors.torch", "a checkpoint").save(plain)
    # The versions that numbers depend on.
    versions = {library.__name__: library.__version__ for library in (np, scipy, torch)}
    versions |= {"gsp_fb": __version__, "python": platform.python_version(), "threads": str(torch.get_num_threads())}
    write_sidecar(directory, content, {**facts, "versions": versions})


def read_checkpoint(path: str | os.PathLike[str]) -> Checkpoint:
    """Return the checkpoint of a run directory (or of its ``checkpoint.json``), its content verified.

    Parameters
    ----------
    path : path_like
        A run directory, or its ``checkpoint.json``.

    Returns
    -------
    Checkpoint
        The tensors, on the CPU, and the facts beside them.

    Raises
    ------
    FormatError
        Not a checkpoint of this library. Pickled ``.pt`` files are refused unread: loading one may run code.
    IntegrityError
        The tensors are not those that were written.

    See Also
    --------
    train : Writes checkpoints where ``directory=`` is given.
    predict, embed : Predictions and embeddings of a stored model.
    read_metrics : The losses and scores of a run.

    Examples
    --------
    >>> import tempfile
    >>> from gsp_fb.datasets import contextual_sbm
    >>> from gsp_fb.nn import TrainConfig, build, train
    >>> data = contextual_sbm(30, rng=0)
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     result = train(build("fb-gcn", data), data, data.splits[0], TrainConfig(epochs=3), directory=folder)
    ...     read_checkpoint(folder).facts["recipe"]["model"]
    'fb-gcn'
    """
    facts, file, content = read_sidecar(Path(path))
    # A hash only states that the file is the one the sidecar names; who wrote both may have written anything.
    trouble = require("safetensors", "a checkpoint").SafetensorError
    try:
        return Checkpoint(require("safetensors.torch", "a checkpoint").load(content), facts)
    except (trouble, ValueError, LookupError, RuntimeError) as broken:
        raise FormatError(f"{file} holds no tensors: {broken}") from broken


def check_tensors(found: Mapping[str, Tensor], expected: Mapping[str, Tensor], where: object) -> None:
    """Compare stored tensors with those that a model has, by name, shape, type and finiteness."""
    for name in expected.keys() ^ found.keys():
        raise ParameterError(f"{where}: tensor {name} is {'missing' if name in expected else 'unknown to the model'}")
    for name, value in found.items():
        like = expected[name]
        shapes, types = (tuple(value.shape), tuple(like.shape)), (value.dtype, like.dtype)
        for what, (stored, wanted) in {"shape": shapes, "type": types}.items():
            if stored != wanted:
                raise ParameterError(f"{where}: tensor {name} has {what} {stored}; the model has {wanted}")
        if value.is_floating_point() and not bool(torch.isfinite(value).all()):
            raise ParameterError(f"{where}: tensor {name} holds values that are not finite")
