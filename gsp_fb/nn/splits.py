"""Many runs of one model: splits, seeds and settings, as one batch on a small graph and one by one on a large one."""

from __future__ import annotations

import json
import os
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import Any

import torch
from torch import Tensor, nn

from .._sidecar import stored_epoch
from ..errors import ParameterError, TrainingError
from .config import TrainConfig, TrainResult
from .recipes import build
from .train import Job, fit, reached

__all__ = ["train_jobs", "train_splits"]

# Up to so many nodes a batch of runs is faster than one run after the other.
BATCHED_NODES = 1_000
# Bytes that the copies of one batch may take; more copies make further batches.
BATCH_BYTES = 2**28
# The same for the copies of one weight: glibc returns larger blocks to the system when they are freed, and the page
# faults of a fresh gradient then take five times as long as the product that fills it.
WEIGHT_BYTES = 2**25 - 2**16
# Options and settings in which copies of one batch may differ. All others change shapes or are shared.
COPY_OPTIONS = ("dropout", "input_dropout")
COPY_CONFIG = ("lr", "weight_decay", "epochs", "patience", "monitor", "eval_every", "checkpoint_every")
Builder = Callable[..., nn.Module]


def _group(job: Job) -> str:
    """Return what jobs must have in common to be copies of one model."""
    options = {name: value for name, value in job.options.items() if name not in COPY_OPTIONS}
    config = {name: value for name, value in job.config.as_dict().items() if name not in COPY_CONFIG}
    return json.dumps([options, config], sort_keys=True, default=str)


def train_splits(
    name: str,
    dataset: Any,
    splits: Sequence[Any],
    config: TrainConfig | None = None,
    *,
    seeds: Sequence[int] | None = None,
    directories: Sequence[str | os.PathLike[str]] | None = None,
    progress: bool = False,
    device: torch.device | str = "cpu",
    dtype: torch.dtype = torch.float32,
    **options: Any,
) -> list[TrainResult]:
    """Train one model per split; on a small graph all of them as one batch, with the results of separate runs.

    Every run has weights, random stream, optimiser state, early stopping and files of its own. In a batch its numbers
    are those of a separate run up to rounding. A model whose propagation has parameters or a sampler, and any model on
    a large graph, is trained one run after the other.

    Parameters
    ----------
    name : str
        A row of ``MODELS``.
    dataset : object
        As for :func:`gsp_fb.nn.train`.
    splits : sequence
        A split may come several times, with different seeds.
    config : TrainConfig, optional
        The same for all runs.
    seeds : sequence of int, optional
        One a split; 0 by default.
    directories : sequence of paths, optional
        One a split: metrics and checkpoint, resumable, as :func:`gsp_fb.nn.train` writes them.
    progress : bool
        Show a progress bar.
    device, dtype
        As for :func:`gsp_fb.nn.build`.
    **options
        Options of the model, as for :func:`gsp_fb.nn.build`.

    Returns
    -------
    list of TrainResult
        One a split.

    Raises
    ------
    ParameterError
        Numbers of splits, seeds and directories differ, or a value is refused as by :func:`gsp_fb.nn.train`.
    TrainingError
        A loss is not finite; the message names the split.

    See Also
    --------
    train : One run of a model at hand.

    Examples
    --------
    >>> from gsp_fb.datasets import contextual_sbm
    >>> data = contextual_sbm(30, rng=0)
    >>> runs = train_splits("fb-gcn", data, data.splits[:1] * 3, TrainConfig(epochs=4), seeds=[0, 1, 2])
    >>> [run.epochs for run in runs]
    [4, 4, 4]
    """
    config = TrainConfig() if config is None else config
    seeds = [0] * len(splits) if seeds is None else list(seeds)
    places = [None] * len(splits) if directories is None else [Path(place) for place in directories]
    if not splits or len(seeds) != len(splits) or len(places) != len(splits):
        counts = f"{len(splits)} splits, {len(seeds)} seeds and {len(places)} directories"
        raise ParameterError(f"{counts}; give at least one split, and one seed and directory each")
    place = {key: options.pop(key) for key in ("relations", "data_dir") if key in options}
    jobs = [
        Job(split, config, seed, options, where, f"split {number} seed {seed}")
        for number, (split, seed, where) in enumerate(zip(splits, seeds, places, strict=True))
    ]
    results = train_jobs(name, dataset, jobs, progress=progress, device=device, dtype=dtype, **place)
    return [reached(result) for result in results]


def train_jobs(
    name: str, dataset: Any, jobs: Sequence[Job], *, progress: bool = False, brief: bool = False, **place: Any
) -> list[TrainResult | TrainingError]:
    """Return what every job reaches, or its error; ``brief`` records validation alone, ``place`` goes to ``build``."""

    def make(job: Job, **copies: Any) -> nn.Module:
        return build(name, dataset, seed=job.seed, **copies, **place, **job.options)

    found: dict[int, TrainResult | TrainingError] = {}
    for numbers, batched in _batches(dataset, jobs, make):
        own = [jobs[number] for number in numbers]
        singles = [make(job) for job in own]
        model, copies = (_stacked(singles, own[0], make), singles) if batched else (singles[0], [])
        try:
            results = fit(model, dataset, own, singles=copies, progress=progress, brief=brief)
        except TrainingError as failed:
            if batched:
                raise
            results = [failed]
        found |= dict(zip(numbers, results, strict=True))
    return [found[number] for number in range(len(jobs))]


def _batches(dataset: Any, jobs: Sequence[Job], make: Builder) -> Iterator[tuple[list[int], bool]]:
    """Yield the numbers of the jobs that train together, and whether as copies of one model.

    Copies have equal shapes, stand at the same epoch and are no more than fit. What is left over by itself is a batch
    of one copy: its numbers are then those that it would have in company.
    """
    groups: dict[Any, list[int]] = {}
    small = dataset.graph.n_nodes <= BATCHED_NODES and not hasattr(dataset, "graph_indptr")
    for number, job in enumerate(jobs):
        alone = not small or job.config.compile or job.config.batch != "none"
        groups.setdefault(number if alone else _group(job), []).append(number)
    for numbers in groups.values():
        size = 0 if len(numbers) == 1 else _copies_that_fit(dataset, jobs[numbers[0]], make)
        levels: dict[int, list[int]] = {}
        for number in numbers:
            levels.setdefault(stored_epoch(jobs[number].directory), []).append(number)
        for _, level in sorted(levels.items()):
            for start in range(0, len(level), size or 1):
                yield level[start : start + (size or 1)], bool(size)


def _copies_that_fit(dataset: Any, job: Job, make: Builder) -> int:
    """Return how many copies of a job one batch may hold; 0 where the model cannot hold several."""
    single = make(job)
    try:
        _stacked([single] * 2, job, make)
    except ParameterError:
        return 0
    sizes = [parameter.numel() for parameter in single.parameters()]
    widths = sum(parameter.shape[-1] for parameter in single.parameters())
    inputs = 2 * getattr(dataset.x, "nnz", dataset.graph.n_nodes * dataset.x.shape[1])
    size = next(single.parameters()).element_size()
    # Weights with their gradients, moments, best and next values, and activations forward and backward.
    whole = BATCH_BYTES / (size * (6 * sum(sizes) + inputs + 8 * widths * dataset.graph.n_nodes))
    return max(1, int(min(whole, WEIGHT_BYTES / (size * max(sizes)))))


def _stacked(singles: Sequence[nn.Module], job: Job, make: Builder) -> nn.Module:
    """Return one model that holds the weights of all; ParameterError where the row knows no copies."""
    model = make(job, copies=(len(singles),))
    states: list[dict[str, Tensor]] = [dict(single.state_dict()) for single in singles]
    stacked = {key: torch.stack([state[key] for state in states]) for key in states[0]}
    if any(stacked[key].shape != value.shape for key, value in model.state_dict().items()):
        raise ParameterError(f"this model cannot hold {len(singles)} parameter sets")
    model.load_state_dict(stacked)
    return model
