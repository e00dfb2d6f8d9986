"""What the copies of a batch reach on the parts of their splits: losses, scores, channel weights and shares."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import torch
from torch import Tensor, nn
from torch.nn import functional

from ..datasets.splits import PARTS
from ..errors import ParameterError
from .runstate import Run
from .targets import METRICS, losses
from .tasks import Task

__all__ = ["Evaluation", "Hooks"]


@dataclass(frozen=True, eq=False)
class Hooks:
    """What a user puts in place of the defaults: loss, optimiser, class weights and callbacks."""

    loss: Callable[[Tensor, Tensor], Tensor] | None = None
    optimizer: Callable[[Any], torch.optim.Optimizer] | None = None
    class_weights: Any = None
    callbacks: Sequence[Callable[[Any], Any]] = ()

    def __post_init__(self) -> None:
        given = [("loss", self.loss), ("optimizer", self.optimizer), *(("callback", each) for each in self.callbacks)]
        for name, function in given:
            if not callable(function) and (function is not None or name == "callback"):
                raise ParameterError(f"{name} must be a function, not {type(function).__name__}")

    @property
    def names(self) -> dict[str, Any]:
        """The class weights, and the user's functions by name: all that a file can hold of them."""
        weights = self.class_weights
        named = weights if weights is None or isinstance(weights, str) else [float(w) for w in weights]
        functions: dict[str, Any] = {"loss": self.loss, "optimizer": self.optimizer}
        called = {kind: one and getattr(one, "__qualname__", type(one).__name__) for kind, one in functions.items()}
        return {"class_weights": named, **called}


DEFAULTS = Hooks()


class Evaluation:
    """Losses, scores, channel weights and shares of the active runs, one pass for all copies."""

    def __init__(self, model: nn.Module, task: Task, hooks: Hooks, runs: Sequence[Run], *, batched: bool) -> None:
        self.model, self.task, self.hooks, self.batched = model, task, hooks, batched
        self.weight = class_weight(hooks, task, runs[0].index["train"])

    def bind(self, active: Sequence[Run]) -> None:
        """Mark the items of every part, (copies, n): one sum then serves all copies."""
        self.active, self.marks = list(active), {}  # type: tuple[list[Run], dict[str, tuple[Tensor, Tensor]]]
        for part in PARTS if self.batched else ():
            mark = torch.zeros(len(active), len(self.task.y), dtype=torch.bool, device=self.task.device)
            for row, run in zip(mark, active, strict=True):
                row[run.index[part]] = True
            self.marks[part] = mark, mark.sum(-1)

    def each(self, logits: Tensor, y: Tensor) -> Tensor:
        """Return the loss of every item, or of all of them where the user's loss is a mean already."""
        if self.hooks.loss is None:
            return losses(logits, y, weight=self.weight)
        value = self.hooks.loss(logits, y)
        if not isinstance(value, Tensor):
            raise ParameterError(f"loss(logits, targets) must return a tensor, not {type(value).__name__}")
        return value

    def mean(self, logits: Tensor, y: Tensor) -> Tensor:
        """Return the mean loss of some items."""
        if self.hooks.loss is None and self.weight is None and y.ndim == 1:
            return functional.cross_entropy(logits.mT[None], y[None])
        return self.each(logits, y).mean()

    def means(self, logits: Tensor, part: str) -> Tensor:
        """Return the mean loss of every active run over a part, from outputs of shape (copies, n, k)."""
        y = self.task.y
        if self.batched and y.ndim == 1:
            # Classes before nodes: a softmax over a handful of neighbouring numbers is slow.
            each = functional.cross_entropy(logits.mT, y.expand(len(logits), -1), reduction="none")
            mark, count = self.marks[part]
            return torch.where(mark, each, 0.0).sum(-1) / count
        return torch.stack([self._mean(copy, run.index[part]) for copy, run in zip(logits, self.active, strict=True)])

    def _mean(self, logits: Tensor, index: Tensor) -> Tensor:
        if not index.numel():
            return torch.full((), math.nan, dtype=logits.dtype, device=logits.device)
        return self.mean(logits[index], self.task.y[index])

    def _scores(self, logits: Tensor, part: str) -> list[float]:
        metric, y = METRICS[self.task.metric].function, self.task.y
        if self.batched and self.task.metric == "accuracy":
            mark, count = self.marks[part]
            return [*(((logits.argmax(-1) == y) & mark).sum(-1).double() / count).tolist()]
        pairs = ((copy, run.index[part]) for copy, run in zip(logits, self.active, strict=True))
        return [metric(copy[index], y[index]) if index.numel() else math.nan for copy, index in pairs]

    def _table(self, found: Tensor | None) -> list[list[list[float]]]:
        """Return numbers of shape (*copies, layers, k) by copy; empty lists where there are none."""
        if found is None or not found.numel():
            return [[] for _ in self.active]
        return [*found.tolist()] if self.batched else [found.tolist()]

    def measured(self, parts: Sequence[str], *, expected: bool = False, brief: bool = False) -> list[dict[str, Any]]:
        """Return, for every active run, losses and scores by part, S-value, channel weights and shares by layer.

        ``expected`` adds the expectation of the S-value under random permutation: for results, not at every epoch.
        ``brief`` leaves all but losses and scores out.
        """
        logits, layers = self.task.logits(self.model, shares=not brief)
        logits = logits if self.batched else logits.unsqueeze(0)
        with torch.no_grad():
            means = {part: self.means(logits, part).double().tolist() for part in parts}
        scores = {part: self._scores(logits, part) for part in parts}
        columns: dict[str, Any] = {}
        if not brief:
            columns["s_value"] = self.task.s_values(logits)
            columns["alphas"] = self._table(getattr(self.model, "alphas", lambda: None)())
            columns["shares"] = self._table(torch.stack(layers, dim=-2) if layers else None)
        if expected:
            columns["expected_s_value"] = self.task.s_values(logits, expected=True)
            classes = self.task.targets.kind == "classes"
            shares = logits.softmax(-1) if classes else torch.full_like(logits, math.nan)
            columns["s_value_probabilities"] = self.task.s_values(shares)
        by_part: dict[str, Any] = {"losses": means, "scores": scores}
        return [
            {kind: {part: values[part][k] for part in parts} for kind, values in by_part.items()}
            | {name: values[k] for name, values in columns.items()}
            for k in range(len(self.active))
        ]


def class_weight(hooks: Hooks, task: Task, train: Tensor) -> Tensor | None:
    """Return the factors of the losses of each class (or column); None where none are given."""
    given = hooks.class_weights
    if given is None:
        return None
    y, n_outputs = task.y[train], task.targets.n_outputs
    if not isinstance(given, str):
        weight = torch.as_tensor(given, dtype=torch.float64, device=task.device)
    elif given == "balanced" and y.ndim == 1:
        weight = 1.0 / torch.bincount(y, minlength=n_outputs).clamp(min=1).double()
    else:
        raise ParameterError(f"class_weights must be 'balanced' (classes) or one number a class, not {given!r}")
    if weight.shape != (n_outputs,) or not bool((torch.isfinite(weight) & (weight >= 0)).all()):
        raise ParameterError(f"class_weights must be {n_outputs} finite numbers >= 0, not {given!r}")
    # Their mean over the training items is 1: a mean of weighted losses is then torch's weighted mean.
    return (weight / (weight[y].mean() if y.ndim == 1 else weight.mean())).to(task.dtype)
