"""The one training loop: a single run is a batch of one copy; splits, seeds and settings are copies too.

Every copy is a ``Run`` with weights, optimiser state, random stream, early stopping and files of its own. The
``Trainer`` computes all of them in one pass. On one thread a copy's numbers do not depend on the copies beside
it, so that a run that was killed in one batch is resumed in another, bit for bit.
"""

from __future__ import annotations

import math
import time
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from types import MappingProxyType
from typing import Any

import torch
from torch import Tensor, nn

from .._cost import peak_memory
from .._rundir import TrainingInterrupted, progress_bar
from ..datasets.splits import PARTS
from ..errors import ParameterError, TrainingError
from .config import TrainResult
from .evaluation import DEFAULTS, Evaluation, Hooks
from .network import parameter_groups
from .parts import Dropout
from .runstate import Row, Run
from .tasks import Task

__all__ = ["Exchange", "Hooks", "TrainState", "Trainer"]


@dataclass(frozen=True, eq=False)
class TrainState:
    """Argument of a callback after an evaluated epoch; a callback that returns True ends the run.

    Parameters
    ----------
    epoch, best_epoch : int
        The epoch just evaluated, and the best one so far; epochs count from 1.
    metrics : dict
        The epoch's row of ``metrics.csv``.
    model : Module
        The model in training.

    See Also
    --------
    train : Takes callbacks.
    watch : Audits of a model during training.

    Examples
    --------
    >>> from gsp_fb.datasets import contextual_sbm
    >>> from gsp_fb.nn import TrainConfig, build, train
    >>> data = contextual_sbm(30, rng=0)
    >>> def is_second(state):
    ...     return state.epoch == 2
    >>> train(build("gcn", data), data, data.splits[0], TrainConfig(epochs=9), callbacks=[is_second]).epochs
    2
    """

    epoch: int
    best_epoch: int
    metrics: Row
    model: nn.Module


class Exchange:
    """How the processes of a group share out a step; this one is a process alone."""

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


ALONE = Exchange()


class Trainer:
    """All copies of a batch, and how they move by one epoch; a copy that has stopped leaves the batch."""

    def __init__(
        self,
        model: nn.Module,
        task: Task,
        runs: Sequence[Run],
        *,
        batched: bool = False,
        hooks: Hooks = DEFAULTS,
        exchange: Exchange = ALONE,
        brief: bool = False,
    ) -> None:
        self.model, self.task, self.batched, self.hooks, self.exchange = model, task, batched, hooks, exchange
        self.brief = brief and all(run.validates for run in runs)
        self.runs, self.active, self.trained = list(runs), list(runs), list(model.parameters())
        self.evaluation = Evaluation(model, task, self.hooks, self.runs, batched=batched)
        self._bind()
        self.optimizer = self._make_optimizer()

    def _bind(self) -> None:
        """Point every active run at its slice of the model."""
        whole = dict(self.model.state_dict())
        trained = {name: parameter for name, parameter in self.model.named_parameters() if parameter.requires_grad}
        for position, run in enumerate(self.active):
            run.state = {name: value[position] if self.batched else value for name, value in whole.items()}
            run.best = run.best or {name: value.detach().clone() for name, value in run.state.items()}
            if not self.batched:
                run.parameters = trained
            elif not run.parameters:
                run.parameters = {name: nn.Parameter(run.state[name]) for name in trained}
            else:
                for name, parameter in run.parameters.items():
                    parameter.data, parameter.grad = run.state[name], None
        self.evaluation.bind(self.active)
        if self.batched and self.active:
            dropouts = [module for module in self.model.modules() if isinstance(module, Dropout)]
            for number, module in enumerate(dropouts):
                module.set_copies([run.rates[number] for run in self.active], [run.generator for run in self.active])

    def _copied(self) -> Iterator[tuple[str, Tensor]]:
        """Yield the parameters and buffers with a copies dimension: those of the state; operators are shared."""
        named = [*self.model.named_parameters(), *self.model.named_buffers()]
        return ((name, tensor) for name, tensor in named if name in self.runs[0].state)

    def _make_optimizer(self) -> torch.optim.Optimizer:
        """Return Adam over the active runs, each with its own rate and decay; fused: one pass over memory."""
        if self.hooks.optimizer is not None:
            made = self.hooks.optimizer(list(self.active[0].parameters.values()))
            if not isinstance(made, torch.optim.Optimizer):
                raise ParameterError(f"optimizer(parameters) must return a torch optimizer, not {type(made).__name__}")
            return made
        groups: dict[tuple[float, float], list[nn.Parameter]] = {}
        for run in self.active:
            for group in parameter_groups(run.parameters, run.config.weight_decay):
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
        for _, tensor in self._copied():
            tensor.data, tensor.grad = tensor.data[keep], None
        state = self.optimizer.state
        self._bind()
        self.optimizer = self._make_optimizer()
        for run in self.active:
            self.optimizer.state.update({p: state[p] for p in run.parameters.values() if p in state})

    def fit(self, asked: Any, *, progress: bool = False) -> None:
        """Resume, then train until every run has stopped or ``asked`` is set; leave the runs in their best states."""
        self.exchange.wait()
        for run in self.runs:
            run.resume(self.optimizer)
        self.exchange.wait()
        for run in self.runs:
            run.directory = run.directory if self.exchange.writes else None
        self._retire([run for run in self.active if run.finished])
        if len({run.epoch for run in self.active}) > 1:
            raise ParameterError("runs of one batch must stand at the same epoch; group them first")
        total = max((run.config.epochs for run in self.runs), default=0)
        done = max((run.epoch for run in self.active), default=0)
        with progress_bar(total, shown=progress, initial=done) as bar:
            while self.active:
                started = time.perf_counter()
                self._epoch()
                for run in self.active:
                    run.epoch += run.error is None
                self._evaluate()
                for run in self.active:
                    run.seconds += (time.perf_counter() - started) / len(self.active)
                self._after_epoch(asked)
                if bar is not None:
                    bar.update()
                    bar.set_postfix(val=f"{min(run.best_value for run in self.runs):.4f}", refresh=False)
        self._restore()

    def _after_epoch(self, asked: Any) -> None:
        over, interrupted = self.exchange.agree(any(run.finished for run in self.active), asked.is_set())
        if over and not self.batched:
            self.active[0].stopped = self.active[0].stopped or not self.active[0].finished
        leaving = [run for run in self.active if run.finished]
        if interrupted or leaving or any(run.epoch % run.config.checkpoint_every == 0 for run in self.active):
            for run in self.active:
                if run.error is None:
                    run.save(self.optimizer)
        if interrupted:
            run = self.active[0]
            self._restore()
            where = f"; resume it from {run.directory}" if run.directory is not None else ""
            raise TrainingInterrupted(f"stopped by Ctrl-C after epoch {run.epoch} (best epoch {run.best_epoch}){where}")
        self._retire(leaving)

    def _epoch(self) -> None:
        if not self.model.training:
            self.model.train()
        own = self.exchange.own
        for number, each in enumerate(self._losses()):
            for run, value in zip(self.active, each.reshape(-1).tolist(), strict=True):
                if not math.isfinite(value) and run.error is None:
                    run.fail(value, run.epoch + 1)
            if not self.batched and self.active[0].error is not None:
                return
            if number % own == 0:
                for parameter in self.trained:
                    parameter.grad = None
            # The mean over processes is taken with the gradients; here it is that over a process's own subgraphs.
            torch.autograd.backward(each, torch.full_like(each, 1.0 / own))
            if (number + 1) % own == 0:
                self._hand_over_gradients()
                self.optimizer.step()

    def _hand_over_gradients(self) -> None:
        for name, parameter in self.model.named_parameters() if self.batched else ():
            if parameter.grad is not None:
                for run, grad in zip(self.active, parameter.grad.unbind(0), strict=True):
                    run.parameters[name].grad = grad

    def _losses(self) -> Iterator[Tensor]:
        """Yield, for every step of an epoch, the training loss of each active run."""
        if self.batched:
            x: Any = self.task.x  # type: ignore[attr-defined]  # only node tasks are batched
            yield self.evaluation.means(self.model(x), "train")
            return
        (run,) = self.active
        for logits, y, weights in self.task.steps(self.exchange.module(self.model), run.index["train"]):
            if weights is None:
                yield self.evaluation.mean(logits, y)
            else:
                each = self.evaluation.each(logits, y)
                yield (each * weights.to(each.dtype)).sum()

    def _evaluate(self) -> None:
        """Record the epoch of every active run whose turn it is."""
        due = [run for run in self.active if run.error is None and run.evaluates]
        if not due:
            return
        # Where there is a validation part to choose by, nothing of the test part is looked at before the end.
        parts = ("val",) if self.brief else PARTS if any(not run.validates for run in self.active) else PARTS[:2]
        names = getattr(self.model, "channel_names", ())
        for run, found in zip(self.active, self.evaluation.measured(parts, brief=self.brief), strict=True):
            loss, score = found["losses"], found["scores"]
            if run not in due:
                continue
            if not math.isfinite(loss.get("train", 0.0)):
                run.fail(loss["train"], run.epoch)
                continue
            row: Row = {"epoch": run.epoch}
            for part in parts[:2] if run.validates else ("train", "test"):
                row |= {f"{part}_loss": loss[part], f"{part}_{self.task.metric}": score[part]}
            if not self.brief:
                row["s_value"] = found["s_value"]
                row |= _columns("alpha", names, found["alphas"]) | _columns("share", names, found["shares"])
            run.record(row)
            state = TrainState(run.epoch, run.best_epoch, run.history[-1], self.model)
            answers = [bool(callback(state)) for callback in self.hooks.callbacks]
            run.stopped = run.stopped or any(answers)

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
        measured = self.evaluation.measured(PARTS, expected=True)
        memory = peak_memory(self.task.device)
        return [
            run.error
            or TrainResult(run.best_epoch, run.epoch, seconds=run.seconds, memory=memory, **found, history=run.history)
            for run, found in zip(self.runs, measured, strict=True)
        ]


def _columns(kind: str, names: Sequence[str], table: Sequence[Sequence[float]]) -> Row:
    """Return one value a layer and channel as columns ``alpha_low_1``, ``alpha_high_1``, ..."""
    rows = [zip(names, row, strict=True) for row in table]
    return {f"{kind}_{name}_{layer}": value for layer, row in enumerate(rows, 1) for name, value in row}
