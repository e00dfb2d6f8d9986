"""Checkpoints: tensors as safetensors, everything else as JSON beside them, each replaced whole or not at all.

The JSON sidecar is the checkpoint: it names the tensor file and its SHA-256. A new tensor file is written under a name
of its own first, then the sidecar is replaced in one step, then the old tensor file goes; so whenever the process
dies, the sidecar found points at a whole file.
"""

from __future__ import annotations

import hashlib
import json
import os
import platform
import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import scipy
import torch
from torch import Tensor

from .._atomic import atomic_write, sha256_file, write_json
from .._extras import require
from .._version import __version__
from ..errors import FormatError, IntegrityError, ParameterError

__all__ = ["CHECKPOINT_FILE", "Checkpoint", "read_checkpoint", "write_checkpoint"]

CHECKPOINT_FILE = "checkpoint.json"
_FORMAT = 1
_TENSOR_NAME = re.compile(r"checkpoint-\d+\.safetensors")
_REQUIRED = ("format", "tensors", "sha256", "epoch", "best_epoch", "recipe", "config", "data")


_COUNT = (lambda value: type(value) is int and value >= 0, "an integer >= 0")
_NUMBER = (lambda value: value is None or type(value) in (int, float), "a number or null")
_OBJECT = (lambda value: isinstance(value, dict), "an object")
# What the entries of a sidecar must be: whoever can write the file can write anything into it.
_VALUES: dict[str, tuple[Callable[[Any], bool], str]] = {
    **dict.fromkeys(("epoch", "best_epoch"), _COUNT),
    **dict.fromkeys(("best_value", "seconds"), _NUMBER),
    **dict.fromkeys(("recipe", "config", "data"), _OBJECT),
}


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


def versions() -> dict[str, str]:
    """Return the versions that numbers depend on."""
    return {
        "gsp_fb": __version__,
        "python": platform.python_version(),
        "numpy": np.__version__,
        "scipy": scipy.__version__,
        "torch": torch.__version__,
        "threads": str(torch.get_num_threads()),
    }


def write_checkpoint(directory: Path, tensors: Mapping[str, Tensor], facts: Mapping[str, Any]) -> None:
    """Replace the checkpoint of ``directory``; ``facts`` hold ``epoch``, ``recipe``, ``config``, ``data`` and more."""
    safetensors = require("safetensors.torch", "a checkpoint")
    name = f"checkpoint-{facts['epoch']:08d}.safetensors"
    plain = {key: value.detach().cpu().contiguous() for key, value in tensors.items()}
    with atomic_write(directory / name) as file:
        file.write(safetensors.save(plain))
    facts = {"format": _FORMAT, "tensors": name, "sha256": sha256_file(directory / name), **facts}
    write_json(directory / CHECKPOINT_FILE, {**facts, "versions": versions()})
    for old in directory.glob("checkpoint-*.safetensors"):
        if _TENSOR_NAME.fullmatch(old.name) and old.name != name:
            old.unlink(missing_ok=True)


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
    sidecar = _sidecar(Path(path))
    facts = read_facts(sidecar)
    file = sidecar.parent / facts["tensors"]
    if not file.is_file():
        raise IntegrityError(f"{sidecar} names {file.name}, which is missing")
    content = file.read_bytes()
    actual = hashlib.sha256(content).hexdigest()
    if actual != facts["sha256"]:
        raise IntegrityError(f"{file} has sha256 {actual}, not {facts['sha256']} as recorded; restore or delete it")
    return Checkpoint(_tensors(content, file), facts)


def _tensors(content: bytes, file: Path) -> dict[str, Tensor]:
    # A hash only states that the file is the one the sidecar names; who wrote both may have written anything.
    trouble = require("safetensors", "a checkpoint").SafetensorError
    try:
        tensors: dict[str, Tensor] = require("safetensors.torch", "a checkpoint").load(content)
    except (trouble, ValueError, LookupError, RuntimeError) as broken:
        raise FormatError(f"{file} holds no tensors: {broken}") from broken
    return tensors


def _sidecar(path: Path) -> Path:
    if path.is_dir():
        path = path / CHECKPOINT_FILE
    if path.suffix != ".json":
        raise FormatError(
            f"{path} is no checkpoint of gsp_fb: give the run directory or its {CHECKPOINT_FILE}. Pickled weights "
            "(.pt, .pth) can run code and are not read; convert them with safetensors.torch.save_file first"
        )
    if not path.exists():
        raise FormatError(f"{path} does not exist; there is no checkpoint to read")
    return path


def read_facts(sidecar: Path) -> dict[str, Any]:
    """Return the facts of a ``checkpoint.json``, checked."""
    try:
        facts = json.loads(sidecar.read_text(encoding="utf-8"))
    except (ValueError, RecursionError) as broken:
        raise FormatError(f"{sidecar} is not JSON: {broken}") from None
    missing = [name for name in _REQUIRED if not isinstance(facts, dict) or name not in facts]
    if missing:
        raise FormatError(f"{sidecar} lacks {', '.join(missing)}; it is no checkpoint of gsp_fb")
    if facts["format"] != _FORMAT or not _TENSOR_NAME.fullmatch(str(facts["tensors"])):
        raise FormatError(f"{sidecar} has format {facts['format']!r} and tensors {facts['tensors']!r}; cannot read it")
    for name, (test, wanted) in _VALUES.items():
        if name in facts and not test(facts[name]):
            raise FormatError(f"{sidecar} has {name} {facts[name]!r}; expected {wanted}")
    if facts.get("best_epoch", 0) > facts["epoch"]:
        raise FormatError(f"{sidecar} has best_epoch {facts['best_epoch']} after epoch {facts['epoch']}")
    return dict(facts)


def check_tensors(found: Mapping[str, Tensor], expected: Mapping[str, Tensor], where: object) -> None:
    """Compare stored tensors with those that a model has, by name, shape, type and finiteness."""
    for name in expected.keys() - found.keys():
        raise ParameterError(f"{where}: tensor {name} is missing")
    for name, value in found.items():
        if name not in expected:
            raise ParameterError(f"{where}: tensor {name} is unknown to the model")
        like = expected[name]
        if value.shape != like.shape:
            raise ParameterError(
                f"{where}: tensor {name} has shape {tuple(value.shape)}; the model has {tuple(like.shape)}"
            )
        if value.dtype != like.dtype:
            raise ParameterError(f"{where}: tensor {name} has type {value.dtype}; the model has {like.dtype}")
        if value.is_floating_point() and not bool(torch.isfinite(value).all()):
            raise ParameterError(f"{where}: tensor {name} holds values that are not finite")
