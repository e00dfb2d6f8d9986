"""All splits at once: on a small graph, many independent parameter sets train as one batch."""

from __future__ import annotations

import math
import time
from collections.abc import Sequence
from typing import Any

import torch
from torch import Tensor, nn
from torch.nn import functional

from ..errors import ParameterError, TrainingError
from .config import TrainConfig
from .metrics import METRICS, losses
from .network import adam, alpha_table
from .parts import Dropout
from .recipes import build
from .results import TrainResult
from .tasks import PARTS, NodeTask

__all__ = ["train_splits"]

# Numbers of one copy below which a call costs more than moving them twice.
MOVED_AT_ONCE = 2**14


def train_splits(
    name: str,
    dataset: Any,
    splits: Sequence[Any],
    config: TrainConfig | None = None,
    *,
    seeds: Sequence[int] | None = None,
    device: torch.device | str = "cpu",
    dtype: torch.dtype = torch.float32,
    **options: Any,
) -> list[TrainResult]:
    """Train one model per split, all in one batch; the results are those of separate runs up to rounding.

    Every split has weights, dropout, optimiser state and early stopping of its own; with dropout the random streams
    differ from those of separate runs. Pays off where a graph is too small to keep the machine busy.

    Parameters
    ----------
    name : str
        A model over fixed matrices: ``mlp``, ``gcn``, ``graphsage`` (not sampled), ``geom-gcn-*``, ``gwnn``, ``gcnii``,
        ``gcnii*`` and their filterbanks.
    dataset, config, device, dtype, **options
        As for :func:`gsp_fb.nn.build` and :func:`gsp_fb.nn.train`.
    splits : sequence
        A split may come several times, with different seeds.
    seeds : sequence of int, optional
        One a split; 0 by default.

    Examples
    --------
    >>> from types import SimpleNamespace
    >>> import numpy as np
    >>> from gsp_fb import Graph
    >>> ring = Graph.from_edges([(i, (i + 1) % 8) for i in range(8)])
    >>> ds = SimpleNamespace(graph=ring, x=np.eye(8), y=np.arange(8) % 2)
    >>> split = SimpleNamespace(train=[0, 1, 2, 3], val=[4, 5], test=[6, 7])
    >>> [run.epochs for run in train_splits("fb-gcn", ds, [split] * 3, TrainConfig(epochs=4), seeds=[0, 1, 2])]
    [4, 4, 4]
    """
    config = TrainConfig() if config is None else config
    seeds = [0] * len(splits) if seeds is None else list(seeds)
    if not splits or len(seeds) != len(splits):
        raise ParameterError(f"{len(splits)} splits and {len(seeds)} seeds; give at least one split and one seed each")
    if config.compile:
        raise ParameterError(
            "splits that train as one batch run uncompiled; give compile=False or train them one by one"
        )
    place: dict[str, Any] = {"device": device, "dtype": dtype, **options}
    singles = [build(name, dataset, seed=seed, **place) for seed in seeds]
    model = build(name, dataset, seed=seeds[0], copies=(len(splits),), **place)
    model.load_state_dict(_stacked(singles))
    tasks = [NodeTask(model, dataset, split, config) for split in splits]
    return _Batched(model, tasks, config).run()


def _stacked(models: Sequence[nn.Module]) -> dict[str, Tensor]:
    states = [model.state_dict() for model in models]
    return {key: torch.stack([state[key] for state in states]) for key in states[0]}


def _members(tasks: Sequence[NodeTask], part: str) -> Tensor:
    """Return, for every copy, whether a node is in its part."""
    first = tasks[0]
    members = torch.zeros(len(tasks), first.y.shape[0], dtype=torch.bool, device=first.device)
    for row, task in zip(members, tasks, strict=True):
        row[task.index[part]] = True
    return members


class _Batched:
    """The state of all copies, and how it moves by one epoch; a copy that has stopped leaves the batch.

    Everything ``best_*`` is kept for all copies; the model, the optimiser and what they return are those of the
    ``active`` ones alone.
    """

    def __init__(self, model: nn.Module, tasks: Sequence[NodeTask], config: TrainConfig) -> None:
        self.model, self.tasks, self.config, self.x = model, tasks, config, tasks[0].x
        self.y = tasks[0].y.clamp(min=0)
        self.members = {part: _members(tasks, part) for part in PARTS}
        # A weighted sum over all nodes is then the mean over a part.
        sizes = {part: inside.sum(1, keepdim=True).clamp(min=1) for part, inside in self.members.items()}
        self.weights = {part: inside.to(tasks[0].dtype) / sizes[part] for part, inside in self.members.items()}
        self.optimizer = adam(model, config.lr, config.weight_decay)
        self.best = {name: value.detach().clone() for name, value in model.named_parameters()}
        self.active = torch.arange(len(tasks))
        self.best_value = torch.full((len(tasks),), math.inf, dtype=torch.float64)
        self.best_epoch = torch.zeros(len(tasks), dtype=torch.int64)
        self.last_epoch = torch.full((len(tasks),), config.epochs)
        # Without a validation part nothing can be compared, and the latest epoch is the chosen one.
        self.blind = torch.tensor([task.index["val"].numel() == 0 for task in tasks])
        # Rows of numbers are made of it at the end: an epoch has no time for it.
        self.log: list[tuple[Any, ...]] = []
        # Without dropout the losses that judge one epoch are those that the next one learns from.
        self.reuses = not any(part.rate for part in model.modules() if isinstance(part, Dropout))
        self.ready: Tensor | None = None

    def run(self) -> list[TrainResult]:
        """Train until every copy has stopped; return what each reached."""
        started = time.perf_counter()
        for epoch in range(1, self.config.epochs + 1):
            self._step(epoch)
            self._choose(epoch)
            if not self.active.numel():
                break
        self.active, self.ready = torch.arange(len(self.tasks)), None
        for name, parameter in self.model.named_parameters():
            parameter.data = self.best[name]
        return self._results((time.perf_counter() - started) / len(self.tasks))

    def _losses(self, logits: Tensor) -> Tensor:
        """Return the loss of every active copy at every node."""
        if self.y.ndim == 2:
            return torch.stack([losses(copy, self.y) for copy in logits])
        # Classes before nodes: a softmax over a handful of neighbouring numbers is slow.
        return functional.cross_entropy(logits.mT, self.y.expand(len(logits), -1), reduction="none")

    def _means(self, each: Tensor, part: str) -> Tensor:
        """Return the mean over a part of what every active copy has for every node."""
        return (each * self._active(self.weights[part])).sum(1)

    def _active(self, rows: Tensor) -> Tensor:
        """Return the rows of the active copies; usually all of them, and no copy is made."""
        return rows if self.active.numel() == len(self.tasks) else rows[self.active]

    def _step(self, epoch: int) -> None:
        each = self._means(self._learnable(), "train")
        bad = torch.nonzero(~torch.isfinite(each.detach()))
        if bad.numel():
            position = int(bad[0])
            raise TrainingError(
                f"loss of split {int(self.active[position])} is {float(each.detach()[position])} in epoch {epoch} "
                f"(lr {self.config.lr:g}); try a smaller lr or normalize=True"
            )
        self.optimizer.zero_grad(set_to_none=True)
        torch.autograd.backward(each.sum())
        self.optimizer.step()

    def _learnable(self) -> Tensor:
        """Return the losses of training, with gradients; those that judged the last epoch where they are the same."""
        if self.ready is not None:
            each, self.ready = self.ready, None
            return each
        self.model.train()
        return self._losses(self.model(self.x))

    def _judged(self) -> tuple[Tensor, Tensor]:
        """Return logits and losses of evaluation, without gradients."""
        self.model.eval()
        with torch.set_grad_enabled(self.reuses):
            logits = self.model(self.x)
            each = self._losses(logits)
        self.ready = each if self.reuses else None
        return logits.detach(), each.detach()

    def _scores(self, logits: Tensor, part: str) -> Tensor:
        if self.config.metric == "accuracy" and self.y.ndim == 1:
            inside = self._active(self.members[part])
            # Counted in integers: a share of nodes is then the same number as that of a separate run.
            return (inside & (logits.argmax(-1) == self.y)).sum(1).double() / inside.sum(1)
        metric = METRICS[self.config.metric]
        indices = [self.tasks[k].index[part] for k in self.active.tolist()]
        pairs = [(copy[index], self.y[index]) for copy, index in zip(logits, indices, strict=True)]
        return torch.tensor([metric(*pair) if pair[1].numel() else math.nan for pair in pairs], dtype=torch.float64)

    def _choose(self, epoch: int) -> None:
        (logits, each), active = self._judged(), self.active
        loss = self._means(each, "val").double().cpu()
        score = self._scores(logits, "val").cpu()
        value = loss if self.config.monitor == "loss" else -score
        self._record(epoch, loss, score)
        better = self.blind[active] | (value < self.best_value[active])
        chosen = active[better]
        self.best_value[chosen], self.best_epoch[chosen] = value[better], epoch
        self._keep(chosen, better)
        stopping = epoch - self.best_epoch[active] >= self.config.patience
        self.last_epoch[active[stopping]] = epoch
        if bool(stopping.any()):
            self._shrink(~stopping)

    def _keep(self, chosen: Tensor, better: Tensor) -> None:
        """Store the state of the copies that validation likes best so far."""
        positions = torch.nonzero(better).ravel()
        pairs = list(zip(chosen.tolist(), positions.tolist(), strict=True))
        for name, parameter in self.model.named_parameters():
            best, now = self.best[name], parameter.detach()
            if len(pairs) == len(self.tasks):
                best.copy_(now)
            elif now[0].numel() < MOVED_AT_ONCE:
                best[chosen] = now[positions]
            else:  # one move of memory instead of two
                for copy, position in pairs:
                    best[copy].copy_(now[position])

    def _record(self, epoch: int, loss: Tensor, score: Tensor) -> None:
        self.log.append((epoch, self.active, loss, score, alpha_table(self.model)))

    def _histories(self) -> list[list[dict[str, Any]]]:
        """Return the rows of every copy, an epoch each."""
        histories: list[list[dict[str, Any]]] = [[] for _ in self.tasks]
        for epoch, active, *measured in self.log:
            loss, score, alphas = (values.tolist() for values in measured)
            for position, copy in enumerate(active.tolist()):
                row = {"epoch": epoch, "val_loss": loss[position], f"val_{self.config.metric}": score[position]}
                for number, weights in enumerate(alphas[position] if alphas else [], 1):
                    names: Any = self.model.channel_names
                    row |= {f"alpha_{name}_{number}": value for name, value in zip(names, weights, strict=True)}
                histories[copy].append(row)
        return histories

    def _shrink(self, keep: Tensor) -> None:
        """Take the copies that have stopped out of the model and the optimiser."""
        self.active, self.ready = self.active[keep], None
        self.optimizer.zero_grad(set_to_none=True)
        for parameter in self.model.parameters():
            state = self.optimizer.state[parameter]
            parameter.data = parameter.data[keep]
            state["exp_avg"], state["exp_avg_sq"] = state["exp_avg"][keep], state["exp_avg_sq"][keep]
        for module in self.model.modules():
            if isinstance(module, Dropout):
                module.copies = (self.active.numel(),)

    def _results(self, seconds: float) -> list[TrainResult]:
        logits, each = self._judged()
        loss = {part: self._means(each, part).tolist() for part in PARTS}
        score = {part: self._scores(logits, part).tolist() for part in PARTS}
        alphas = alpha_table(self.model).tolist() or [[] for _ in self.tasks]
        return [
            TrainResult(
                best_epoch=int(self.best_epoch[k]),
                epochs=int(self.last_epoch[k]),
                scores={part: score[part][k] if task.index[part].numel() else math.nan for part in PARTS},
                losses={part: loss[part][k] if task.index[part].numel() else math.nan for part in PARTS},
                s_value=task.smoothness(logits[k]),
                alphas=alphas[k],
                seconds=seconds,
                history=history,
            )
            for k, (task, history) in enumerate(zip(self.tasks, self._histories(), strict=True))
        ]
