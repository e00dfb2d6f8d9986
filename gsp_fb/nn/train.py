"""Training: Adam, early stopping on validation, and a state that is killed at any moment and resumed bit for bit."""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping, Sequence
from contextlib import ExitStack
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

import torch
from torch import Tensor, nn

from .._kernels.torch_resources import compiled_model, memory_reported, threads_for
from .._rundir import deferred_interrupt, locked
from ..backend import is_sparse
from ..datasets.splits import PARTS
from ..datasets.targets import array_sha256, check_split
from ..errors import TrainingError
from .config import TrainConfig, TrainResult
from .evaluation import DEFAULTS, Hooks
from .parts import Dropout
from .runstate import Run
from .tasks import GraphTask, Task, make_task
from .trainer import ALONE, Exchange, Trainer, TrainState

__all__ = ["Job", "fit", "make_run", "reached", "train"]


@dataclass(frozen=True, eq=False)
class Job:
    """One run: a split with its seed, configuration, model options and directory."""

    split: Any
    config: TrainConfig
    seed: int = 0
    options: Mapping[str, Any] = field(default_factory=dict)
    directory: Path | None = None
    label: str = ""


def train(
    model: nn.Module,
    dataset: Any,
    split: Any,
    config: TrainConfig | None = None,
    *,
    loss: Callable[[Tensor, Tensor], Tensor] | None = None,
    optimizer: Callable[[Any], torch.optim.Optimizer] | None = None,
    callbacks: Sequence[Callable[[TrainState], Any]] | Callable[[TrainState], Any] = (),
    class_weights: Any = None,
    eval_every: int | None = None,
    directory: str | os.PathLike[str] | None = None,
    progress: bool = False,
) -> TrainResult:
    """Train ``model`` on one split and leave it in the state that validation chose.

    Parameters
    ----------
    model : Module
        From :func:`gsp_fb.nn.build`; its seed decides everything random.
    dataset : object
        With ``graph``, ``x``, ``y`` (nodes) or ``graph``, ``graph_indptr``, ``y`` (graphs). Integers and strings in
        ``y`` are classes, 0/1 columns are several labels, floats are numbers to regress on.
    split : object
        ``train``, ``val``, ``test``: masks or indices. Without validation items the last epoch is chosen.
    config : TrainConfig, optional
    loss : callable, optional
        ``loss(logits, targets)`` returns a tensor, of which the mean is taken. By default cross-entropy, binary
        cross-entropy or the squared error, as the targets are.
    optimizer : callable, optional
        ``optimizer(parameters)`` returns a torch optimiser; by default Adam with the configuration's values.
    callbacks : sequence of callables, or one
        Called with a ``TrainState`` after every evaluated epoch; one that returns True ends the run.
    class_weights : 'balanced' or sequence of float, optional
        A factor for the loss of each class (or column).
    eval_every : int, optional
        Overrides that of the configuration.
    directory : path, optional
        Keeps ``metrics.csv`` and a checkpoint there, under a lock. A run found there is resumed, and extended where
        the configuration now allows more epochs; the metrics are then those of an unbroken run, to the bit on one
        thread.
    progress : bool
        Show a progress bar.

    Returns
    -------
    TrainResult
        Scores and losses at the chosen epoch.

    Raises
    ------
    ParameterError
        The split or labels do not fit, or ``directory`` holds another run.
    FormatError
        Files in ``directory`` are damaged.
    TrainingError
        The loss is not finite (the model then holds its best state), the directory is in use, or the model was to
        be compiled and cannot be.
    MemoryError
        The host has no memory left; files are as the last checkpoint left them.
    TrainingInterrupted
        Ctrl-C: the epoch was finished, the checkpoint written. A KeyboardInterrupt with a summary as its message.

    See Also
    --------
    train_splits : Many splits, seeds and settings of one model.
    search : Choose hyperparameters by validation.

    Examples
    --------
    >>> from gsp_fb.datasets import contextual_sbm
    >>> from gsp_fb.nn import build
    >>> data = contextual_sbm(30, rng=0)
    >>> result = train(build("fb-gcn", data), data, data.splits[0], TrainConfig(epochs=5))
    >>> result.epochs
    5
    """
    config = TrainConfig() if config is None else config
    config = config if eval_every is None else replace(config, eval_every=eval_every)
    called = (callbacks,) if callable(callbacks) else tuple(callbacks)
    hooks = Hooks(loss, optimizer, class_weights, called)
    job = Job(split, config, directory=None if directory is None else Path(directory))
    (result,) = fit(model, dataset, [job], hooks=hooks, progress=progress)
    return reached(result)


def fit(
    model: nn.Module,
    dataset: Any,
    jobs: Sequence[Job],
    *,
    singles: Sequence[nn.Module] = (),
    hooks: Hooks = DEFAULTS,
    exchange: Exchange = ALONE,
    progress: bool = False,
    brief: bool = False,
) -> list[TrainResult | TrainingError]:
    """Train a model on one job, or as the copies ``singles`` of it on several; return results or what ended a run.

    Directories are locked, and as many threads compute as pay. ``brief`` records the validation part of an epoch alone.
    """
    task = make_task(model, dataset, jobs[0].config)
    task.fingerprint |= exchange.facts
    runs = [make_run(one, task, job, hooks) for one, job in zip(singles or [model], jobs, strict=True)]
    with ExitStack() as stack:
        for run in runs:
            if run.directory is not None and exchange.writes:
                stack.enter_context(locked(run.directory))
        stack.enter_context(memory_reported())
        stack.enter_context(threads_for(work_of(model, task)))
        if runs[0].config.compile:
            stack.enter_context(compiled_model(model))
        trainer = Trainer(model, task, runs, batched=bool(singles), hooks=hooks, exchange=exchange, brief=brief)
        trainer.fit(stack.enter_context(deferred_interrupt()), progress=progress)
        return trainer.results()


def reached(result: TrainResult | TrainingError) -> TrainResult:
    """Return a result, or raise the error that ended the run."""
    if isinstance(result, TrainingError):
        raise result
    return result


def make_run(model: nn.Module, task: Task, job: Job, hooks: Hooks = DEFAULTS) -> Run:
    """Return the run of one model on one split, with the fingerprint that its directory is checked against."""
    recipe, generator = model.recipe, model.generator  # type: tuple[Any, Any]
    split = check_split(job.split, task.targets)
    identity = {
        "recipe": recipe.as_dict(),
        "config": job.config.as_dict(),
        "data": {**task.fingerprint, "split": array_sha256(split.train, split.val, split.test)},
        "hooks": hooks.names,
    }
    index = {part: torch.from_numpy(getattr(split, part)).to(task.device) for part in PARTS}
    rates: Any = [part.rate for part in model.modules() if isinstance(part, Dropout)]
    return Run(index, job.config, identity, generator, rates, task.metric, job.directory, job.label)


def work_of(model: nn.Module, task: Task) -> float:
    """Return about how many multiplications a forward pass takes."""
    shapes = [parameter.shape for parameter in model.parameters() if parameter.ndim >= 2]
    (rows, features), entries = task.raw.shape, task.raw.nnz if is_sparse(task.raw) else task.raw.size
    dense = sum(float(shape.numel()) for shape in shapes)
    # Maps of the features; biases and mixing weights of several copies have two axes as well.
    first = sum(shape.numel() for shape in shapes if features in shape[-2:]) / max(1, features)
    total = entries * first + rows * (dense - first * features) + task.graph.indices.size * first
    if isinstance(task, GraphTask):
        return float(total * min(1.0, task.config.batch_size / max(1, len(task.graph_indptr) - 1)))
    return float(total)
