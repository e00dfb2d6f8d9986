"""The state of one training: moved by one epoch, saved whole, resumed bit for bit."""

from __future__ import annotations

import math
import time
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

import torch
from torch import Tensor, nn

from .._extras import require
from ..errors import TrainingError
from .checkpoint import CHECKPOINT_FILE, check_same, read_checkpoint, write_checkpoint
from .config import TrainConfig
from .metrics import METRICS, losses
from .network import adam, alpha_table
from .results import TrainResult, finite
from .rundir import MetricsFile, TrainingInterrupted, read_metrics
from .tasks import PARTS, Task

__all__ = ["Run"]


class Run:
    """The state of one training, and how it moves by one epoch."""

    def __init__(self, model: nn.Module, task: Task, config: TrainConfig, directory: Path | None) -> None:
        self.model, self.task, self.config, self.directory = model, task, config, directory
        self.optimizer = adam(model, config.lr, config.weight_decay)
        self.metric = METRICS[config.metric]
        self.epoch = self.best_epoch = 0
        self.best_value = math.inf
        self.best = self._snapshot()
        self.finished = False
        self.history: list[dict[str, Any]] = []
        self.file: MetricsFile | None = None
        self.started = time.perf_counter()

    def _snapshot(self) -> dict[str, Tensor]:
        return {name: value.detach().clone() for name, value in self.model.state_dict().items()}

    def fit(self, asked: Any, progress: bool) -> None:
        """Train until validation or the number of epochs says stop, or until ``asked`` is set; then save."""
        for _ in self._counted(progress):
            self._step()
            self._record()
            if asked.is_set():
                self._save()
                self.model.load_state_dict(self.best)
                raise TrainingInterrupted(self._summary())
            if self.directory is not None and self.epoch % self.config.checkpoint_every == 0 and not self.finished:
                self._save()
        if self.file is not None:
            self._save()
        self.model.load_state_dict(self.best)

    def _counted(self, progress: bool) -> Iterator[int]:
        bar = require("tqdm", "a progress bar").tqdm(total=self.config.epochs, initial=self.epoch) if progress else None
        try:
            while not self.finished:
                yield self.epoch
                if bar is not None:
                    bar.update()
                    bar.set_postfix(val=f"{self.best_value:.4f}", refresh=False)
        finally:
            if bar is not None:
                bar.close()

    def _step(self) -> None:
        self.model.train()
        for loss in self.task.steps(self.model):
            if not torch.isfinite(loss):
                raise self._failure(float(loss.detach()), self.epoch + 1)
            self.optimizer.zero_grad(set_to_none=True)
            torch.autograd.backward(loss)
            self.optimizer.step()
        self.epoch += 1

    def _failure(self, loss: float, epoch: int) -> TrainingError:
        grads = [float(p.grad.abs().max()) for p in self.model.parameters() if p.grad is not None and p.grad.numel()]
        steepest = max(grads, default=math.nan)
        self.model.load_state_dict(self.best)
        kept = f"the best state (epoch {self.best_epoch}) is kept" if self.best_epoch else "no epoch was finished"
        return TrainingError(
            f"loss is {loss} in epoch {epoch} (lr {self.config.lr:g}, largest gradient {steepest:.3g}); "
            f"{kept}; try a smaller lr or normalize=True"
        )

    def _measure(self, logits: Tensor, parts: Sequence[str] = PARTS) -> dict[str, dict[str, float]]:
        measured: dict[str, dict[str, float]] = {"loss": {}, "score": {}}
        for part in parts:
            index = self.task.index[part]
            y, chosen = self.task.y[index], logits[index]
            empty = index.numel() == 0
            measured["loss"][part] = math.nan if empty else float(losses(chosen, y).mean())
            measured["score"][part] = math.nan if empty else self.metric(chosen, y)
        return measured

    def _record(self) -> None:
        logits = self.task.logits(self.model)
        # Where there is a validation part to choose by, nothing of the test part is looked at before the end.
        parts = ("train", "val") if self.task.index["val"].numel() else ("train", "test")
        measured = self._measure(logits, parts)
        if not math.isfinite(measured["loss"]["train"]):
            raise self._failure(measured["loss"]["train"], self.epoch)
        row: dict[str, Any] = {"epoch": self.epoch}
        for part in parts:
            row[f"{part}_loss"] = measured["loss"][part]
            row[f"{part}_{self.config.metric}"] = measured["score"][part]
        row["s_value"] = self.task.smoothness(logits)
        for position, weights in enumerate(alpha_table(self.model).tolist(), 1):
            names: Any = self.model.channel_names
            row |= {f"alpha_{name}_{position}": value for name, value in zip(names, weights, strict=True)}
        self.history.append(row)
        self._choose(measured)
        if self.directory is not None:
            self.file = self.file or MetricsFile(self.directory, list(row), self.epoch - 1)
            self.file.append([row])

    def _choose(self, measured: dict[str, dict[str, float]]) -> None:
        sign = 1.0 if self.config.monitor == "loss" else -1.0
        # Without a validation part nothing can be compared, and the latest epoch is the chosen one.
        value = sign * measured[self.config.monitor].get("val", -sign * math.inf)
        if value < self.best_value or "val" not in measured["loss"]:
            self.best_value, self.best_epoch, self.best = value, self.epoch, self._snapshot()
        waited = self.epoch - self.best_epoch
        self.finished = self.epoch >= self.config.epochs or waited >= self.config.patience

    def _summary(self) -> str:
        where = f"; resume it from {self.directory}" if self.directory is not None else ""
        return f"stopped by Ctrl-C after epoch {self.epoch} (best epoch {self.best_epoch}){where}"

    def _identity(self) -> dict[str, Any]:
        recipe: Any = self.model.recipe
        return {"recipe": recipe.as_dict(), "config": self.config.as_dict(), "data": self.task.fingerprint}

    def _save(self) -> None:
        if self.directory is None:
            return
        generator: Any = self.model.generator
        tensors = {"generator": generator.get_state()}
        tensors |= {f"model.{name}": value for name, value in self.model.state_dict().items()}
        tensors |= {f"best.{name}": value for name, value in self.best.items()}
        for number, entry in self.optimizer.state_dict()["state"].items():
            tensors |= {f"optimizer.{number}.{name}": value for name, value in entry.items()}
        facts = {
            "epoch": self.epoch,
            "best_epoch": self.best_epoch,
            "best_value": finite(self.best_value),
            "finished": self.finished,
            **self._identity(),
        }
        write_checkpoint(self.directory, tensors, facts)

    def resume(self) -> None:
        """Take up the run of the directory where its checkpoint stands; without one, start."""
        if self.directory is None or not (self.directory / CHECKPOINT_FILE).exists():
            return
        stored = read_checkpoint(self.directory)
        check_same(stored.facts, self._identity(), self.directory)
        self.model.load_state_dict(stored.group("model"))
        self.best = {name: value.to(self.task.device) for name, value in stored.group("best").items()}
        self._load_optimizer(stored.group("optimizer"))
        generator: Any = self.model.generator
        generator.set_state(stored.tensors["generator"])
        facts = stored.facts
        self.epoch, self.best_epoch, self.finished = facts["epoch"], facts["best_epoch"], facts["finished"]
        self.best_value = math.inf if facts["best_value"] is None else facts["best_value"]
        self.history = [_parsed(row) for row in read_metrics(self.directory) if int(row["epoch"]) <= self.epoch]

    def _load_optimizer(self, tensors: dict[str, Tensor]) -> None:
        state: dict[int, dict[str, Tensor]] = {}
        for key, value in tensors.items():
            number, name = key.split(".", 1)
            state.setdefault(int(number), {})[name] = value
        self.optimizer.load_state_dict({**self.optimizer.state_dict(), "state": state})

    def result(self) -> TrainResult:
        """Return what the model, as it stands, reaches on every part."""
        logits = self.task.logits(self.model)
        measured = self._measure(logits)
        return TrainResult(
            best_epoch=self.best_epoch,
            epochs=self.epoch,
            scores=measured["score"],
            losses=measured["loss"],
            s_value=self.task.smoothness(logits),
            alphas=alpha_table(self.model).tolist(),
            seconds=time.perf_counter() - self.started,
            history=self.history,
        )


def _parsed(row: dict[str, str]) -> dict[str, Any]:
    return {name: int(value) if name == "epoch" else float(value) for name, value in row.items()}
