"""A checkpoint on disk: a file of tensors and ``checkpoint.json`` beside it, each replaced whole or not at all.

The JSON sidecar is the checkpoint: it names the tensor file and its SHA-256. A new tensor file is written under a name
of its own first, then the sidecar is replaced in one step, then the old tensor file goes; so whenever the process
dies, the sidecar found points at a whole file. Tensors are bytes here.
"""

from __future__ import annotations

import hashlib
import json
import re
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

from ._atomic import atomic_write, sha256_file, write_json
from ._journal import check_same
from .errors import FormatError, IntegrityError, ParameterError

__all__ = ["CHECKPOINT_FILE", "check_resumable", "read_facts", "read_sidecar", "stored_epoch", "write_sidecar"]

CHECKPOINT_FILE = "checkpoint.json"
_FORMAT = 1
_TENSOR_NAME = re.compile(r"checkpoint-\d+\.safetensors")
# Fields of the configuration that may change when a stored run goes on.
_EXTENDABLE = ("epochs", "patience", "checkpoint_every")
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


def write_sidecar(directory: Path, content: bytes, facts: Mapping[str, Any]) -> None:
    """Replace the checkpoint of ``directory``; ``facts`` hold ``epoch``, ``recipe``, ``config``, ``data`` and more."""
    name = f"checkpoint-{facts['epoch']:08d}.safetensors"
    with atomic_write(directory / name) as file:
        file.write(content)
    stored = {"format": _FORMAT, "tensors": name, "sha256": sha256_file(directory / name), **facts}
    write_json(directory / CHECKPOINT_FILE, stored)
    for old in directory.glob("checkpoint-*.safetensors"):
        if _TENSOR_NAME.fullmatch(old.name) and old.name != name:
            old.unlink(missing_ok=True)


def read_sidecar(path: Path) -> tuple[dict[str, Any], Path, bytes]:
    """Return the facts of a run directory or of its ``checkpoint.json``, and its tensor file with verified content."""
    sidecar = _sidecar(path)
    facts = read_facts(sidecar)
    file = sidecar.parent / facts["tensors"]
    if not file.is_file():
        raise IntegrityError(f"{sidecar} names {file.name}, which is missing")
    content = file.read_bytes()
    actual = hashlib.sha256(content).hexdigest()
    if actual != facts["sha256"]:
        raise IntegrityError(f"{file} has sha256 {actual}, not {facts['sha256']} as recorded; restore or delete it")
    return facts, file, content


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


def stored_epoch(directory: Path | None) -> int:
    """Return the epoch at which the run in a directory stands; 0 without one."""
    sidecar = None if directory is None else directory / CHECKPOINT_FILE
    return int(read_facts(sidecar)["epoch"]) if sidecar is not None and sidecar.exists() else 0


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


def check_resumable(facts: Mapping[str, Any], wanted: Mapping[str, Any], where: object) -> None:
    """Raise unless the run of the facts is the wanted one, apart from how long and how often it is saved."""
    one, other = (
        {**run, "config": {name: value for name, value in run["config"].items() if name not in _EXTENDABLE}}
        for run in (facts, wanted)
    )
    check_same(one, other, where)
    planned, allowed = facts["config"].get("epochs"), wanted["config"]["epochs"]
    if not isinstance(planned, int) or facts["epoch"] > planned:
        raise FormatError(f"{where}: {CHECKPOINT_FILE} has epoch {facts['epoch']} of {planned!r}")
    if facts["epoch"] > allowed:
        held = f"{where} holds a run of {facts['epoch']} epochs, more than epochs={allowed}"
        raise ParameterError(f"{held}; give more epochs or another directory")
