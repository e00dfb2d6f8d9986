"""The state of one run: what it is trained on, how far it is, its files, and how it is saved and resumed."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import torch
from torch import Tensor, nn

from .._atomic import finite
from .._rundir import MetricsFile, read_history
from .._sidecar import CHECKPOINT_FILE, check_resumable
from ..errors import ParameterError, TrainingError
from .checkpoint import check_tensors, read_checkpoint, write_checkpoint
from .config import TrainConfig

__all__ = ["Row", "Run"]

Row = dict[str, Any]


@dataclass(eq=False)
class Run:
    """The state of one copy: what it is trained on, how far it is, and its files."""

    index: dict[str, Tensor]
    config: TrainConfig
    identity: Mapping[str, Any]
    generator: torch.Generator
    rates: Sequence[float]
    metric: str
    directory: Path | None = None
    label: str = ""
    epoch: int = 0
    best_epoch: int = 0
    best_value: float = math.inf
    stopped: bool = False
    seconds: float = 0.0
    error: TrainingError | None = None
    history: list[Row] = field(default_factory=list)
    state: dict[str, Tensor] = field(default_factory=dict)
    best: dict[str, Tensor] = field(default_factory=dict)
    parameters: dict[str, nn.Parameter] = field(default_factory=dict)
    file: MetricsFile | None = None

    @property
    def validates(self) -> bool:
        """Whether there are validation items to choose by."""
        return bool(self.index["val"].numel())

    @property
    def finished(self) -> bool:
        """Whether epochs, patience, an error or a callback ended it."""
        waited = self.epoch - self.best_epoch
        over = self.epoch >= self.config.epochs or (bool(self.best_epoch) and waited >= self.config.patience)
        return over or self.stopped or self.error is not None

    @property
    def evaluates(self) -> bool:
        """Whether the epoch it has just finished is one to evaluate."""
        return self.epoch % self.config.eval_every == 0 or self.epoch >= self.config.epochs

    def record(self, row: Row) -> None:
        """Add an epoch's row to history and file, and keep the state if validation likes it best so far."""
        self.history.append(row)
        by_loss = self.config.monitor == "loss"
        value = row.get("val_loss", math.inf) if by_loss else -row.get(f"val_{self.metric}", math.inf)
        # Without a validation part nothing can be compared, and the latest epoch is the chosen one.
        if not self.validates or value < self.best_value:
            self.best_value, self.best_epoch = value, self.epoch
            for name, tensor in self.state.items():
                self.best[name].copy_(tensor)
        if self.directory is not None:
            self.file = self.file or MetricsFile(self.directory, list(row), self.epoch - 1)
            self.file.append([row])

    def fail(self, loss: float, epoch: int) -> None:
        """Keep the error of a loss that is not finite; the run ends with its best state."""
        grads = [float(p.grad.abs().max()) for p in self.parameters.values() if p.grad is not None and p.grad.numel()]
        kept = f"the best state (epoch {self.best_epoch}) is kept" if self.best_epoch else "no epoch was finished"
        self.error = TrainingError(
            f"{self.label}{': ' if self.label else ''}loss is {loss} in epoch {epoch} (lr {self.config.lr:g}, largest "
            f"gradient {max(grads, default=math.nan):.3g}); {kept}; try a smaller lr or normalize=True"
        )

    def save(self, optimizer: torch.optim.Optimizer) -> None:
        """Write the checkpoint of the run, after its metrics are on disk."""
        if self.directory is None or self.file is None:
            return
        self.file.sync()
        tensors = {"generator": self.generator.get_state()}
        tensors |= {f"model.{name}": value for name, value in self.state.items()}
        tensors |= {f"best.{name}": value for name, value in self.best.items()}
        for name, parameter in self.parameters.items():
            entries = optimizer.state.get(parameter, {}).items()
            tensors |= {f"optimizer.{name}.{key}": value for key, value in entries if isinstance(value, Tensor)}
        facts = {"epoch": self.epoch, "best_epoch": self.best_epoch, "best_value": finite(self.best_value)}
        facts |= {"finished": self.finished, "seconds": round(self.seconds, 3), **self.identity}
        write_checkpoint(self.directory, tensors, facts)

    def resume(self, optimizer: torch.optim.Optimizer) -> None:
        """Take up the run of the directory where its checkpoint stands; without one, start."""
        if self.directory is None or not (self.directory / CHECKPOINT_FILE).exists():
            return
        stored = read_checkpoint(self.directory)
        facts, groups = stored.facts, {"model": self.state, "best": self.best}
        check_resumable(facts, self.identity, self.directory)
        for group, into in groups.items():
            check_tensors(stored.group(group), into, f"{self.directory} ({group})")
        self._load_optimizer(optimizer, stored.group("optimizer"))
        for group, into in groups.items():
            for name, value in stored.group(group).items():
                into[name].detach().copy_(value)
        try:
            self.generator.set_state(stored.tensors.get("generator"))  # type: ignore[arg-type]  # the except is for it
        except (RuntimeError, TypeError) as wrong:
            raise ParameterError(f"{self.directory}: tensor generator is no random state ({wrong})") from None
        self.epoch, self.best_epoch, self.seconds = facts["epoch"], facts["best_epoch"], facts.get("seconds") or 0.0
        self.best_value = math.inf if facts["best_value"] is None else facts["best_value"]
        self.history = read_history(self.directory, self.epoch, self.config.eval_every)

    def _load_optimizer(self, optimizer: torch.optim.Optimizer, tensors: Mapping[str, Tensor]) -> None:
        for key, value in tensors.items():
            name, _, entry = key.rpartition(".")
            if name not in self.parameters:
                raise ParameterError(f"{self.directory}: tensor optimizer.{key} is unknown to the model")
            parameter = self.parameters[name]
            if value.ndim:
                check_tensors({f"optimizer.{key}": value}, {f"optimizer.{key}": parameter}, self.directory)
            # A step counter stays where the optimiser wants it, a moment goes where the weights are.
            optimizer.state[parameter][entry] = value.to(parameter.device) if value.ndim else value
