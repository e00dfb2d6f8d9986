"""Search for hyperparameters over a model's own space, judged by validation alone, shared by workers, resumable."""

from __future__ import annotations

import json
import os
from collections.abc import Callable, Mapping, Sequence
from dataclasses import fields, replace
from pathlib import Path
from typing import Any

from .._arguments import check_choice, check_count
from .._atomic import write_json
from .._journal import Journal
from .._rundir import progress_bar
from ..datasets import Split
from ..datasets.targets import array_sha256, check_split
from ..errors import ParameterError, TrainingError
from ..tuning import BEST_FILE, SAMPLERS, Race, SearchResult, Trial, space_size
from ..tuning.race import OPERATIONS
from .config import TrainConfig, TrainResult
from .models import MODELS, Model
from .recipes import build
from .splits import BATCHED_NODES, train_jobs
from .tasks import make_task
from .train import Job

__all__ = ["search"]

JOURNAL_FILE = "journal.jsonl"
_TRAINING = {entry.name for entry in fields(TrainConfig)}
# Settings that train as one batch with their splits: a sampler learns between batches, a list of settings does not.
SETTINGS_PER_BATCH = {"sampled": 4, "listed": 16}


def search(
    name: str,
    dataset: Any,
    splits: Sequence[Any],
    directory: str | os.PathLike[str],
    *,
    n_trials: int = 50,
    sampler: str = "tpe",
    space: Mapping[str, Sequence[Any]] | None = None,
    also: Sequence[str] = (),
    start: Sequence[Mapping[str, Any]] = (),
    rungs: Sequence[tuple[int, int]] | None = None,
    config: TrainConfig | None = None,
    seed: int = 0,
    seeds: Sequence[int] | None = None,
    callbacks: Sequence[Callable[[Sequence[Trial]], Any]] = (),
    progress: bool = False,
    relations: Any = None,
    data_dir: str | os.PathLike[str] | None = None,
    **options: Any,
) -> SearchResult:
    """Search a model's hyperparameters for the best mean validation score over ``splits``.

    The journal in ``directory`` keeps every trial. A search that is started again goes on to ``n_trials`` in all, and
    several processes that run the same call share the trials. Test items are taken out of the splits before anything
    is trained. On a small graph settings and splits train as one batch.

    Parameters
    ----------
    name : str
        A row of ``MODELS``.
    dataset, splits
        As for :func:`gsp_fb.nn.train`.
    directory : path
        Holds the journal and, in the end, ``best.json``.
    n_trials : int
        Trials in all, earlier ones of the journal included; no more than the space has combinations.
    sampler : {'tpe', 'grid', 'random'}
    space : mapping, optional
        Values to try for each name, of options and of :class:`TrainConfig`; by default the row's own space.
    also : sequence of str
        Names of the row's ``extra`` choices to vary as well: ``("family",)`` lets the search choose the filter.
    start : sequence of mappings
        Values that are tried before the sampler proposes any.
    rungs : sequence of (trials, splits), optional
        A race: all trials on the first few splits, the best of them on more. By default every trial meets every split,
        and where splits are trained one by one a trial below the median of the finished ones is stopped.
    config : TrainConfig, optional
        What the search does not vary.
    seed : int
        Of the sampler and, unless ``seeds`` are given, of the models.
    seeds : sequence of int, optional
        Seed of the model on each split.
    callbacks : sequence of callables
        Called with the trials so far before each batch of trials; an exception ends the search, which can go on later.
    progress : bool
    relations, data_dir
        As for :func:`gsp_fb.nn.build`.
    **options
        Model options that the search does not vary.

    Returns
    -------
    SearchResult
        Also written to ``best.json``.

    Raises
    ------
    ParameterError
        An unknown name, a split without validation items, or a directory that holds a search of other data, splits,
        model, options, space or configuration; the message names what differs.
    FormatError
        The journal is damaged other than in its last line.
    TrainingError
        Training diverged in every trial.
    OSError
        The disk is full; finished trials stay, and the search goes on when there is room.

    See Also
    --------
    train : Train the chosen configuration.

    Examples
    --------
    >>> import tempfile
    >>> from gsp_fb.datasets import contextual_sbm
    >>> data, few = contextual_sbm(30, rng=0), TrainConfig(epochs=2)
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     found = search("gcn", data, data.splits[:1], folder, space={"lr": (0.01, 0.1)}, config=few)
    >>> found.n_finished
    2
    """
    row = MODELS[check_choice(name, MODELS, "model")]
    check_choice(sampler, SAMPLERS, "sampler")
    chosen = _space(row, space, also)
    n_trials = min(check_count(n_trials, "n_trials"), max(space_size(chosen), len(start)))
    sources = {"relations": relations, "data_dir": data_dir}
    seeds = [seed] * len(splits) if seeds is None else list(seeds)
    config = TrainConfig(**row.training) if config is None else config
    if not splits or len(seeds) != len(splits):
        counts = f"{len(splits)} splits and {len(seeds)} seeds"
        raise ParameterError(f"{counts}; a search needs at least one split, and a seed each")
    task = make_task(build(name, dataset, **sources, **options), dataset, config)
    sealed = [_sealed(check_split(split, task.targets), number) for number, split in enumerate(splits)]
    identity = {
        **{"model": name, "options": options, "config": config.as_dict(), "data": task.fingerprint},
        **{"splits": [array_sha256(part.train, part.val, part.test) for part in sealed], "seeds": seeds},
        **{"space": chosen, "sampler": sampler, "start": list(start), "rungs": rungs, "seed": seed},
    }

    def validation(wanted: Sequence[tuple[Trial, int]]) -> list[float | None]:
        """Return the validation score of each (trial, split); None where training diverges."""
        settings = [(_divided(trial.values, options, config), number) for trial, number in wanted]
        jobs = [Job(sealed[number], setting, seeds[number], own) for (own, setting), number in settings]
        results = train_jobs(name, dataset, jobs, brief=True, **sources)
        return [result.scores["val"] if isinstance(result, TrainResult) else None for result in results]

    width = SETTINGS_PER_BATCH["listed" if len(start) >= n_trials else "sampled"]
    Path(directory).mkdir(parents=True, exist_ok=True)
    race = Race(
        Journal(Path(directory, JOURNAL_FILE), json.loads(json.dumps(identity)), OPERATIONS),
        chosen,
        validation,
        [(n_trials, len(splits))] if rungs is None else [(int(a), min(int(b), len(splits))) for a, b in rungs],
        sampler=sampler,
        start=start,
        seed=seed,
        width=width if dataset.graph.n_nodes <= BATCHED_NODES else 1,
        prunes=rungs is None,
    )
    with progress_bar(race.rungs[0][0], shown=progress, unit="trial") as bar:
        race.run(callbacks, bar)
    best, trials = race.best(), race.trials()
    if best is None:
        raise TrainingError(f"training diverged in all {len(trials)} trials of {name}; widen the space")
    best_options, best_config = _divided(best.values, options, config)
    result = SearchResult.of(name, best_options, best_config.as_dict(), best, trials)
    write_json(Path(directory, BEST_FILE), result.as_dict())
    return result


def _space(row: Model, space: Mapping[str, Sequence[Any]] | None, also: Sequence[str]) -> dict[str, Sequence[Any]]:
    """Return the choices of a search: the row's own or the given ones, and the extras that were asked for."""
    extra = {key: row.extra[check_choice(key, row.extra, f"extra choice of {row.name}")] for key in also}
    chosen = {**(row.space if space is None else space), **extra}
    for key, values in chosen.items():
        check_choice(key, {**row.options, **dict.fromkeys(_TRAINING)}, "name in the search space")
        if not len(values):
            raise ParameterError(f"the search space has no values for {key}")
    return {key: list(values) for key, values in chosen.items()}


def _divided(
    values: Mapping[str, Any], options: Mapping[str, Any], config: TrainConfig
) -> tuple[dict[str, Any], TrainConfig]:
    """Return a trial's values as model options and training configuration."""
    training = {key: value for key, value in values.items() if key in _TRAINING}
    model = {key: value for key, value in values.items() if key not in _TRAINING}
    return {**options, **model}, replace(config, **training)


def _sealed(split: Split, number: int) -> Split:
    """Return a split without its test items, so that no choice can depend on them."""
    if not split.val.size:
        raise ParameterError(f"split {number} has no validation items to choose by; see gsp_fb.nn.with_validation")
    return replace(split, test=split.test[:0])
