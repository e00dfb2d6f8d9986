"""The one training loop: a single run is a batch of one copy; splits, seeds and settings are copies too.

Every copy is a :class:`Run` with weights, optimiser state, random stream, early stopping and files of its own. The
:class:`Trainer` computes all of them in one pass. On one thread a copy's numbers do not depend on the copies beside
it, so that a run that was killed in one batch is resumed in another, bit for bit.
"""

from __future__ import annotations

import math
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from types import MappingProxyType
from typing import Any

import torch
from torch import Tensor, nn
from torch.nn import functional

from .._extras import require
from ..errors import FormatError, ParameterError, TrainingError
from .checkpoint import CHECKPOINT_FILE, check_same, check_tensors, read_checkpoint, write_checkpoint
from .config import TrainConfig
from .metrics import METRICS, losses
from .network import parameter_groups
from .parts import Dropout
from .results import TrainResult, finite
from .rundir import METRICS_FILE, MetricsFile, TrainingInterrupted, parse_metrics, peak_memory, read_metrics
from .tasks import PARTS, Parts, Task

__all__ = ["Exchange", "Hooks", "Run", "TrainState", "Trainer"]

# Fields of the configuration that may change when a stored run goes on.
EXTENDABLE = ("epochs", "patience", "checkpoint_every")
Row = dict[str, Any]


@dataclass(frozen=True, eq=False)
class TrainState:
    """What a callback sees after an evaluated epoch; returning True from the callback ends the run.

    Attributes
    ----------
    epoch, best_epoch : int
    metrics : dict
        The epoch's row of ``metrics.csv``.
    model : Module
    """

    epoch: int
    best_epoch: int
    metrics: Row
    model: nn.Module


@dataclass(frozen=True, eq=False)
class Hooks:
    """What a user puts in place of the defaults: loss, optimiser, class weights and callbacks."""

    loss: Callable[[Tensor, Tensor], Tensor] | None = None
    optimizer: Callable[[Any], torch.optim.Optimizer] | None = None
    class_weights: Any = None
    callbacks: Sequence[Callable[[TrainState], Any]] = ()


@dataclass(eq=False)
class Run:
    """The state of one copy: what it is trained on, how far it is, and its files.

    Attributes
    ----------
    label : str
        Names the run in messages; empty for a run by itself.
    state : dict of Tensor
        Live views of the copy's weights and buffers in the model.
    parameters : dict of Parameter
        The trained ones among them, as the optimiser sees them.
    """

    parts: Parts
    config: TrainConfig
    identity: Mapping[str, Any]
    generator: torch.Generator
    directory: Path | None = None
    label: str = ""
    metric: str = "accuracy"
    epoch: int = 0
    best_epoch: int = 0
    best_value: float = math.inf
    stopped: bool = False
    seconds: float = 0.0
    error: TrainingError | None = None
    history: list[Row] = field(default_factory=list)
    index: dict[str, Tensor] = field(default_factory=dict)
    state: dict[str, Tensor] = field(default_factory=dict)
    best: dict[str, Tensor] = field(default_factory=dict)
    parameters: dict[str, nn.Parameter] = field(default_factory=dict)
    file: MetricsFile | None = None

    @property
    def validates(self) -> bool:
        """Whether there are validation items to choose by."""
        return bool(self.parts.val.size)

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
        value = row.get(f"val_{'loss' if self.config.monitor == 'loss' else self.metric}", math.inf)
        value = value if self.config.monitor == "loss" else -value
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
        facts = {
            "epoch": self.epoch,
            "best_epoch": self.best_epoch,
            "best_value": finite(self.best_value),
            "finished": self.finished,
            "seconds": round(self.seconds, 3),
            **self.identity,
        }
        write_checkpoint(self.directory, tensors, facts)

    def resume(self, optimizer: torch.optim.Optimizer) -> None:
        """Take up the run of the directory where its checkpoint stands; without one, start.

        Raises
        ------
        ParameterError
            The directory holds another run, or its tensors are not those of the model.
        FormatError
            Its files are damaged.
        """
        if self.directory is None or not (self.directory / CHECKPOINT_FILE).exists():
            return
        stored = read_checkpoint(self.directory)
        facts = stored.facts
        self._check_facts(facts)
        for group, into in (("model", self.state), ("best", self.best)):
            check_tensors(stored.group(group), into, f"{self.directory} ({group})")
        self._load_optimizer(optimizer, stored.group("optimizer"))
        with torch.no_grad():
            for group, into in (("model", self.state), ("best", self.best)):
                for name, value in stored.group(group).items():
                    into[name].copy_(value)
        self._load_generator(stored.tensors.get("generator"))
        self.epoch, self.best_epoch, self.seconds = facts["epoch"], facts["best_epoch"], facts.get("seconds") or 0.0
        self.best_value = math.inf if facts["best_value"] is None else facts["best_value"]
        self._load_history()

    def _check_facts(self, facts: Mapping[str, Any]) -> None:
        wanted = {**self.identity, "config": {**self.identity["config"]}}
        stored = {**facts, "config": {**facts["config"]}}
        for name in EXTENDABLE:
            wanted["config"].pop(name, None)
            stored["config"].pop(name, None)
        check_same(stored, wanted, self.directory)
        planned = facts["config"].get("epochs")
        if not isinstance(planned, int) or facts["epoch"] > planned:
            raise FormatError(f"{self.directory}: checkpoint.json has epoch {facts['epoch']} of {planned!r}")
        if facts["epoch"] > self.config.epochs:
            raise ParameterError(
                f"{self.directory} holds a run of {facts['epoch']} epochs, more than epochs={self.config.epochs}; give "
                "more epochs or another directory"
            )

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

    def _load_generator(self, state: Tensor | None) -> None:
        try:
            self.generator.set_state(state)  # type: ignore[arg-type]  # a missing or foreign state is what the except is for
        except (RuntimeError, TypeError) as wrong:
            raise ParameterError(f"{self.directory}: tensor generator is no random state ({wrong})") from None

    def _load_history(self) -> None:
        directory = self.directory or Path()
        rows = [row for row in read_metrics(directory) if int(row["epoch"]) <= self.epoch]
        expected = [e for e in range(1, self.epoch + 1) if e % self.config.eval_every == 0]
        lacking = sorted(set(expected) - {int(row["epoch"]) for row in rows})
        if lacking:
            raise FormatError(
                f"{directory / METRICS_FILE} lacks {len(lacking)} epochs of the checkpoint, the first {lacking[0]}; "
                "restore the file or move the directory away"
            )
        self.history = [parse_metrics(row, directory / METRICS_FILE) for row in rows]


class Exchange:
    """How the processes of a group share out a step; this one is a process alone.

    Attributes
    ----------
    own : int
        Batches of a step that this process computes.
    facts : dict
        What belongs to the fingerprint of the data.
    writes : bool
        Whether this process locks and writes the run directory.
    """

    own = 1
    writes = True
    facts: Mapping[str, Any] = MappingProxyType({})

    def module(self, model: nn.Module) -> Any:
        """Return what computes a step's outputs."""
        return model

    def agree(self, *flags: bool) -> list[bool]:
        """Return for each flag whether it is set in any process."""
        return list(flags)

    def wait(self) -> None:
        """Return when every process has come here."""


class Trainer:
    """All copies of a batch, and how they move by one epoch; a copy that has stopped leaves the batch.

    Parameters
    ----------
    model : Module
        With a leading copies dimension in every parameter if ``batched``, an ordinary model of one copy otherwise.
    task : Task
    runs : sequence of Run
        One for each copy.
    rates : sequence
        If ``batched``: for every run, the rates of the model's dropouts in order.
    """

    def __init__(
        self,
        model: nn.Module,
        task: Task,
        runs: Sequence[Run],
        *,
        batched: bool = False,
        rates: Sequence[Sequence[float]] = (),
        hooks: Hooks | None = None,
        exchange: Exchange | None = None,
    ) -> None:
        self.model, self.task, self.batched = model, task, batched
        self.hooks, self.exchange = hooks or Hooks(), exchange or Exchange()
        self.rates = {id(run): run_rates for run, run_rates in zip(runs, rates, strict=False)}
        self.runs, self.active = list(runs), list(runs)
        for run in self.runs:
            run.index, run.metric = run.parts.on(task.device), task.metric
        self.weight = self._class_weight()
        self._bind()
        for run in self.runs:
            run.best = {name: value.detach().clone() for name, value in run.state.items()}
        self.optimizer = self._make_optimizer()

    def _class_weight(self) -> Tensor | None:
        given = self.hooks.class_weights
        if given is None:
            return None
        y = self.task.y[self.runs[0].index["train"]]
        if isinstance(given, str):
            if given != "balanced" or y.ndim != 1:
                raise ParameterError(f"class_weights must be 'balanced' (classes) or one number a class, not {given!r}")
            counts = torch.bincount(y, minlength=self.task.targets.n_outputs)
            weight = 1.0 / counts.clamp(min=1).double()
        else:
            weight = torch.as_tensor(given, dtype=torch.float64, device=self.task.device)
        n_outputs = self.task.targets.n_outputs
        if weight.shape != (n_outputs,) or not bool((torch.isfinite(weight) & (weight >= 0)).all()):
            raise ParameterError(f"class_weights must be {n_outputs} finite numbers >= 0, not {given!r}")
        # Their mean over the training items is 1: a mean of weighted losses is then torch's weighted mean.
        return (weight / (weight[y].mean() if y.ndim == 1 else weight.mean())).to(self.task.dtype)

    # Copies and their views -------------------------------------------------------------------------------------------

    def _bind(self) -> None:
        """Point every active run at its slice of the model."""
        whole = dict(self.model.state_dict())
        trained = {name: parameter for name, parameter in self.model.named_parameters() if parameter.requires_grad}
        for position, run in enumerate(self.active):
            run.state = {name: value[position] if self.batched else value for name, value in whole.items()}
            if not self.batched:
                run.parameters = trained
            elif not run.parameters:
                run.parameters = {name: nn.Parameter(run.state[name]) for name in trained}
            else:
                for name, parameter in run.parameters.items():
                    parameter.data, parameter.grad = run.state[name], None
        if self.batched and self.active:
            dropouts = [module for module in self.model.modules() if isinstance(module, Dropout)]
            for number, module in enumerate(dropouts):
                rates = [self.rates[id(run)][number] for run in self.active]
                module.set_copies(rates, [run.generator for run in self.active])

    def _copied(self) -> Iterator[tuple[str, Tensor]]:
        """Yield the parameters and buffers with a copies dimension: those of the state; operators are shared."""
        named = [*self.model.named_parameters(), *self.model.named_buffers()]
        return ((name, tensor) for name, tensor in named if name in self.runs[0].state)

    def _make_optimizer(self) -> torch.optim.Optimizer:
        """Return Adam over the active runs, each with its own rate and decay; fused: one pass over memory."""
        if self.hooks.optimizer is not None:
            return self.hooks.optimizer(list(self.active[0].parameters.values()))
        groups: dict[tuple[float, float], list[nn.Parameter]] = {}
        for run in self.active:
            named: Any = _Named(run.parameters)
            for group in parameter_groups(named, run.config.weight_decay):
                groups.setdefault((run.config.lr, group["weight_decay"]), []).extend(group["params"])
        rows = [{"params": params, "lr": lr, "weight_decay": decay} for (lr, decay), params in groups.items()]
        return torch.optim.Adam(rows, fused=True)

    def _retire(self, leaving: Sequence[Run]) -> None:
        """Take runs out of the model and the optimiser."""
        if not leaving:
            return
        keep = [position for position, run in enumerate(self.active) if run not in leaving]
        self.active = [self.active[position] for position in keep]
        if not self.batched or not self.active:
            return
        for name, tensor in self._copied():
            tensor.data, tensor.grad = tensor.data[keep], None
        state = self.optimizer.state
        self._bind()
        self.optimizer = self._make_optimizer()
        for run in self.active:
            self.optimizer.state.update({p: state[p] for p in run.parameters.values() if p in state})

    # Training ---------------------------------------------------------------------------------------------------------

    def fit(self, asked: Any, *, progress: bool = False) -> None:
        """Resume, then train until every run has stopped or ``asked`` is set; leave the runs in their best states."""
        self.exchange.wait()
        for run in self.runs:
            run.resume(self.optimizer)
        self.exchange.wait()
        for run in self.runs:
            run.directory = run.directory if self.exchange.writes else None
        self._retire([run for run in self.active if run.finished])
        self._check_epochs()
        for _ in self._counted(progress):
            started = time.perf_counter()
            self._advance()
            for run in self.active:
                run.seconds += (time.perf_counter() - started) / len(self.active)
            self._after_epoch(asked)
        self._restore()

    def _check_epochs(self) -> None:
        if len({run.epoch for run in self.active}) > 1:
            raise ParameterError("runs of one batch must stand at the same epoch; group them first")

    def _counted(self, progress: bool) -> Iterator[int]:
        total = max((run.config.epochs for run in self.runs), default=0)
        start = max((run.epoch for run in self.active), default=0)
        bar = require("tqdm", "a progress bar").tqdm(total=total, initial=start) if progress else None
        try:
            while self.active:
                yield self.active[0].epoch
                if bar is not None:
                    bar.update()
                    bar.set_postfix(val=f"{min(run.best_value for run in self.runs):.4f}", refresh=False)
        finally:
            if bar is not None:
                bar.close()

    def _advance(self) -> None:
        """Train every active run for one epoch, and evaluate those whose turn it is."""
        self._epoch()
        for run in self.active:
            run.epoch += run.error is None
        evaluated = [run for run in self.active if run.error is None and run.evaluates]
        if evaluated:
            self._evaluate(evaluated)

    def _after_epoch(self, asked: Any) -> None:
        over, interrupted = self.exchange.agree(any(run.finished for run in self.active), asked.is_set())
        if over and not self.batched:
            self.active[0].stopped = self.active[0].stopped or not self.active[0].finished
        leaving = [run for run in self.active if run.finished]
        for run in self.active:
            due = run.epoch % run.config.checkpoint_every == 0 or interrupted or run.finished
            if due and run.error is None:
                run.save(self.optimizer)
        if interrupted:
            run = self.active[0]
            self._restore()
            where = f"; resume it from {run.directory}" if run.directory is not None else ""
            raise TrainingInterrupted(f"stopped by Ctrl-C after epoch {run.epoch} (best epoch {run.best_epoch}){where}")
        self._retire(leaving)

    def _epoch(self) -> None:
        self.model.train()
        own = self.exchange.own
        for number, each in enumerate(self._losses()):
            values = each.detach()
            if not bool(torch.isfinite(values).all()):
                self._fail(values)
                if not self.batched:
                    return
            if number % own == 0:
                self.model.zero_grad(set_to_none=True)
            # The mean over processes is taken with the gradients; here it is that over a process's own subgraphs.
            torch.autograd.backward(each.sum() / own)
            if (number + 1) % own == 0:
                self._hand_over_gradients()
                self.optimizer.step()

    def _fail(self, values: Tensor) -> None:
        for run, value in zip(self.active, values.tolist(), strict=True):
            if not math.isfinite(value) and run.error is None:
                run.fail(value, run.epoch + 1)

    def _hand_over_gradients(self) -> None:
        if not self.batched:
            return
        for name, parameter in self.model.named_parameters():
            if parameter.grad is not None:
                for run, grad in zip(self.active, parameter.grad.unbind(0), strict=True):
                    run.parameters[name].grad = grad

    def _losses(self) -> Iterator[Tensor]:
        """Yield, for every step of an epoch, the training loss of each active run."""
        if self.batched:
            x: Any = self.task.x  # type: ignore[attr-defined]  # only node tasks are batched
            yield self._means(self.model(x), "train")
            return
        (run,) = self.active
        for logits, y, weights in self.task.steps(self.exchange.module(self.model), run.index["train"]):
            each = self._each(logits, y)
            total = each.mean() if weights is None else (each * weights.to(each.dtype)).sum()
            yield total.reshape(1)

    def _each(self, logits: Tensor, y: Tensor) -> Tensor:
        """Return the loss of every item, or of all of them where the user's loss is a mean already."""
        if self.hooks.loss is None:
            return losses(logits, y, weight=self.weight)
        value = self.hooks.loss(logits, y)
        if not isinstance(value, Tensor):
            raise ParameterError(f"loss(logits, targets) must return a tensor, not {type(value).__name__}")
        return value

    # Evaluation -------------------------------------------------------------------------------------------------------

    def _means(self, logits: Tensor, part: str) -> Tensor:
        """Return the mean loss of every active run over a part, from outputs of shape (copies, n, k)."""
        y = self.task.y
        if self.hooks.loss is None and self.weight is None and y.ndim == 1 and self.batched:
            # Classes before nodes: a softmax over a handful of neighbouring numbers is slow.
            each = functional.cross_entropy(logits.mT, y.expand(len(logits), -1), reduction="none")
        else:
            each = None
        means = [self._mean(logits, each, k, run.index[part]) for k, run in enumerate(self.active)]
        return torch.stack(means)

    def _mean(self, logits: Tensor, each: Tensor | None, position: int, index: Tensor) -> Tensor:
        if not index.numel():
            return torch.full((), math.nan, dtype=logits.dtype, device=logits.device)
        if each is not None:
            return each[position][index].mean()
        return self._each(logits[position][index], self.task.y[index]).mean()

    def _outputs(self) -> Tensor:
        logits = self.task.logits(self.model)
        return logits if self.batched else logits.unsqueeze(0)

    def _scores(self, logits: Tensor, part: str) -> list[float]:
        metric, y = METRICS[self.task.metric].function, self.task.y
        pairs = ((copy, run.index[part]) for copy, run in zip(logits, self.active, strict=True))
        return [metric(copy[index], y[index]) if index.numel() else math.nan for copy, index in pairs]

    def _evaluate(self, runs: Sequence[Run]) -> None:
        logits = self._outputs()
        with torch.no_grad():
            means = {part: self._means(logits, part).double().tolist() for part in PARTS[: 2 + self._blind]}
        scores = {part: self._scores(logits, part) for part in means}
        shares, s_values = mixing_rows(self.model, len(self.active), batched=self.batched), self.task.s_values(logits)
        for k, run in enumerate(self.active):
            if run not in runs:
                continue
            if not math.isfinite(means["train"][k]):
                run.fail(means["train"][k], run.epoch)
                continue
            row: Row = {"epoch": run.epoch}
            # Where there is a validation part to choose by, nothing of the test part is looked at before the end.
            for part in ("train", "val") if run.validates else ("train", "test"):
                row |= {f"{part}_loss": means[part][k], f"{part}_{self.task.metric}": scores[part][k]}
            run.record({**row, "s_value": s_values[k], **shares[k]})
            state = TrainState(run.epoch, run.best_epoch, run.history[-1], self.model)
            answers = [bool(callback(state)) for callback in self.hooks.callbacks]
            run.stopped = run.stopped or any(answers)

    @property
    def _blind(self) -> bool:
        return any(not run.validates for run in self.active)

    def _restore(self) -> None:
        """Put every run's best state into the model."""
        if self.batched:
            for name, tensor in self._copied():
                tensor.data, tensor.grad = torch.stack([run.best[name] for run in self.runs]), None
        else:
            self.model.load_state_dict(self.runs[0].best)
        self.active = list(self.runs)
        self._bind()

    def results(self) -> list[TrainResult | TrainingError]:
        """Return what the model, as it stands, reaches on every part, or the error that ended a run."""
        logits = self._outputs()
        with torch.no_grad():
            means = {part: self._means(logits, part).double().tolist() for part in PARTS}
        scores = {part: self._scores(logits, part) for part in PARTS}
        alphas, s_values = mixing_weights(self.model, len(self.runs), batched=self.batched), self.task.s_values(logits)
        memory = peak_memory(self.task.device)
        return [
            run.error
            or TrainResult(
                best_epoch=run.best_epoch,
                epochs=run.epoch,
                scores={part: scores[part][k] for part in PARTS},
                losses={part: means[part][k] for part in PARTS},
                s_value=s_values[k],
                alphas=alphas[k],
                seconds=run.seconds,
                memory=memory,
                history=run.history,
            )
            for k, run in enumerate(self.runs)
        ]


@dataclass(frozen=True)
class _Named:
    """The parameters of one copy, as :func:`parameter_groups` asks a module for them."""

    parameters: Mapping[str, nn.Parameter]

    def named_parameters(self) -> Iterator[tuple[str, nn.Parameter]]:
        return iter(self.parameters.items())


def mixing_weights(model: Any, n_copies: int, *, batched: bool) -> list[list[list[float]]]:
    """Return the channel weights of every copy, one row a layer; empty lists where the model has none."""
    table = model.alphas() if hasattr(model, "alphas") else None
    if table is None or not table.numel():
        return [[] for _ in range(n_copies)]
    rows: list[list[list[float]]] = table.tolist() if batched else [table.tolist()]
    return rows


def mixing_rows(model: Any, n_copies: int, *, batched: bool) -> list[Row]:
    """Return the channel weights of every copy as columns ``alpha_low_1``, ``alpha_high_1``, ..."""
    names = getattr(model, "channel_names", ("low", "high"))
    return [
        {
            f"alpha_{channel}_{layer}": value
            for layer, weights in enumerate(rows, 1)
            for channel, value in zip(names, weights, strict=True)
        }
        for rows in mixing_weights(model, n_copies, batched=batched)
    ]
