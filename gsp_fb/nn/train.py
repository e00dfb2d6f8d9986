"""Training: Adam, early stopping on validation, and a state that is killed at any moment and resumed bit for bit."""

from __future__ import annotations

import os
from contextlib import ExitStack
from pathlib import Path
from typing import Any

from torch import nn

from .compiling import compiled
from .config import TrainConfig
from .results import TrainResult
from .run import Run
from .rundir import deferred_interrupt, locked, memory_reported
from .tasks import make_task

__all__ = ["train"]


def train(
    model: nn.Module,
    dataset: Any,
    split: Any,
    config: TrainConfig | None = None,
    *,
    directory: str | os.PathLike[str] | None = None,
    progress: bool = False,
) -> TrainResult:
    """Train ``model`` on one split and leave it in the state that validation chose.

    Parameters
    ----------
    model : Module
        From :func:`gsp_fb.nn.build`; its seed decides everything random.
    dataset : object
        With ``graph``, ``x``, ``y`` (nodes) or ``graph``, ``graph_indptr``, ``y`` (graphs).
    split : object
        ``train``, ``val``, ``test``: masks or indices. Without validation items the last epoch is chosen.
    config : TrainConfig, optional
    directory : path, optional
        Keeps ``metrics.csv`` and a checkpoint there, under a lock. A run found there is resumed; the metrics are then
        those of an unbroken run, to the bit on one thread.
    progress : bool
        Show a progress bar.

    Raises
    ------
    ParameterError
        The split or labels do not fit, or ``directory`` holds another run.
    TrainingError
        The loss is not finite (the model then holds its best state), the directory is in use, or the model was to
        be compiled and cannot be.
    MemoryError
        The host has no memory left; files are as the last checkpoint left them.
    TrainingInterrupted
        Ctrl-C: the epoch was finished, the checkpoint written. A KeyboardInterrupt with a summary as its message.

    Examples
    --------
    >>> from types import SimpleNamespace
    >>> import numpy as np
    >>> from gsp_fb import Graph
    >>> from gsp_fb.nn import build
    >>> ring = Graph.from_edges([(i, (i + 1) % 8) for i in range(8)])
    >>> ds = SimpleNamespace(graph=ring, x=np.eye(8), y=np.arange(8) % 2)
    >>> split = SimpleNamespace(train=[0, 1, 2, 3], val=[4, 5], test=[6, 7])
    >>> result = train(build("fb-gcn", ds), ds, split, TrainConfig(epochs=5))
    >>> result.epochs
    5
    """
    config = TrainConfig() if config is None else config
    run = Run(model, make_task(model, dataset, split, config), config, None if directory is None else Path(directory))
    with ExitStack() as stack:
        if run.directory is not None:
            stack.enter_context(locked(run.directory))
        stack.enter_context(memory_reported())
        if config.compile:
            stack.enter_context(compiled(model))
        run.resume()
        run.fit(stack.enter_context(deferred_interrupt()), progress)
        return run.result()
