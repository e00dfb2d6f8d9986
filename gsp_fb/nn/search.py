"""Search for hyperparameters over a model's own space, judged by validation alone, shared by workers, resumable."""

from __future__ import annotations

import json
import os
from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict, dataclass, field, fields
from pathlib import Path
from typing import Any

import numpy as np

from .._arguments import check_choice, check_count
from .._atomic import write_json
from .._journal import Journal
from ..datasets import Split
from ..datasets.targets import array_sha256, check_split
from ..errors import FormatError, ParameterError, TrainingError
from ..tuning import SAMPLERS, Race, Trial, space_size
from ..tuning.race import OPERATIONS
from .config import TrainConfig, TrainResult
from .models import MODELS, Model
from .recipes import build
from .resources import progress_bar
from .splits import BATCHED_NODES, Job, train_jobs
from .tasks import make_task

__all__ = ["BEST_FILE", "SearchResult", "read_best", "search"]

JOURNAL_FILE, BEST_FILE = "journal.jsonl", "best.json"
_TRAINING = {entry.name for entry in fields(TrainConfig)}
# Settings that are proposed at once where settings x splits train as one batch.
SETTINGS_PER_BATCH = 4


@dataclass(frozen=True)
class SearchResult:
    """The model options and training configuration that validation chose, and their mean validation score.

    Parameters
    ----------
    model : str
        A row of ``MODELS``.
    options, config : dict
        Arguments of :func:`gsp_fb.nn.build` and of :class:`TrainConfig`; ``gsp-fb train --from best.json`` reads them.
    val_score : float
        Mean over the splits of the last rung.
    n_finished, n_failed : int
        Trials with a score, and those whose training diverged.
    seconds : float
        Processor time of all trials, those of other workers and earlier sessions included.
    values : dict
        The chosen point of the search space: the values of ``options`` and ``config`` that were searched.
    trials : tuple of dict
        Values and validation scores (by split, None where training diverged) of every trial.

    See Also
    --------
    search : The function that returns it.
    read_best : Read the result of a stored search.

    Examples
    --------
    >>> found = SearchResult("gcn", {"hidden": 64}, {"lr": 0.01}, val_score=0.8, n_finished=20, n_failed=0)
    >>> found.as_dict()["options"]
    {'hidden': 64}
    """

    model: str
    options: dict[str, Any]
    config: dict[str, Any]
    val_score: float
    n_finished: int
    n_failed: int
    seconds: float = field(default=0.0, compare=False)
    values: dict[str, Any] = field(default_factory=dict)
    trials: tuple[dict[str, Any], ...] = field(default=(), repr=False)

    def as_dict(self) -> dict[str, Any]:
        """Return the result as JSON holds it."""
        return asdict(self)


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
    work = _Work(name, dataset, splits, seeds, config, options, sources)
    asked = {"space": chosen, "sampler": sampler, "start": list(start), "rungs": rungs, "seed": seed}
    identity = json.loads(json.dumps({**work.identity(), **asked}))
    Path(directory).mkdir(parents=True, exist_ok=True)
    race = Race(
        Journal(Path(directory, JOURNAL_FILE), identity, OPERATIONS),
        chosen,
        work.validation,
        [(n_trials, len(splits))] if rungs is None else [(int(a), min(int(b), len(splits))) for a, b in rungs],
        sampler=sampler,
        start=start,
        seed=seed,
        width=SETTINGS_PER_BATCH if dataset.graph.n_nodes <= BATCHED_NODES else 1,
        prunes=rungs is None,
    )
    with progress_bar(race.rungs[0][0], shown=progress, unit="trial") as bar:
        race.run(callbacks, bar)
    result = work.result(race)
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


@dataclass(frozen=True, eq=False)
class _Work:
    """What a trial trains, and how a trial's values become model options and training configuration."""

    name: str
    dataset: Any
    splits: Sequence[Any]
    seeds: Sequence[int]
    config: TrainConfig
    options: Mapping[str, Any]
    sources: Mapping[str, Any]

    def divided(self, values: Mapping[str, Any]) -> tuple[dict[str, Any], TrainConfig]:
        """Return a trial's values as model options and training configuration."""
        training = {key: value for key, value in values.items() if key in _TRAINING}
        model = {key: value for key, value in values.items() if key not in _TRAINING}
        return {**self.options, **model}, TrainConfig(**{**self.config.as_dict(), **training})

    def identity(self) -> dict[str, Any]:
        """Return the fingerprint of data, splits, model, options and configuration."""
        if not self.splits or len(self.seeds) != len(self.splits):
            counts = f"{len(self.splits)} splits and {len(self.seeds)} seeds"
            raise ParameterError(f"{counts}; a search needs at least one split, and a seed each")
        task = make_task(build(self.name, self.dataset, **self.sources, **self.options), self.dataset, self.config)
        parts = [check_split(split, task.targets) for split in self.splits]
        lacking = next((number for number, part in enumerate(parts) if not part.val.size), None)
        if lacking is not None:
            raise ParameterError(f"split {lacking} has no validation items to choose by; see gsp_fb.nn.with_validation")
        return {
            "model": self.name,
            "options": dict(self.options),
            "config": self.config.as_dict(),
            "data": task.fingerprint,
            "splits": [array_sha256(part.train, part.val, part.val[:0]) for part in parts],
            "seeds": list(self.seeds),
        }

    def validation(self, wanted: Sequence[tuple[Trial, int]]) -> list[float | None]:
        """Return the validation score of each (trial, split); None where training diverges.

        The test items are taken out of the splits before anything is trained, so no choice can depend on them.
        """
        jobs = []
        for trial, number in wanted:
            options, config = self.divided(trial.values)
            train, val = (np.asarray(getattr(self.splits[number], part)) for part in ("train", "val"))
            sealed = Split(train, val, np.zeros(0, dtype=np.int64))
            jobs.append(Job(sealed, config, self.seeds[number], options))
        results = train_jobs(self.name, self.dataset, jobs, **self.sources)
        return [result.scores["val"] if isinstance(result, TrainResult) else None for result in results]

    def result(self, race: Race) -> SearchResult:
        """Return the winner of a race and all its trials."""
        best, trials = race.best(), race.trials()
        if best is None:
            raise TrainingError(f"training diverged in all {len(trials)} trials of {self.name}; widen the space")
        options, config = self.divided(best.values)
        failed = sum(trial.failed for trial in trials)
        return SearchResult(
            model=self.name,
            options=options,
            config=config.as_dict(),
            val_score=best.score,
            n_finished=len(trials) - failed,
            n_failed=failed,
            seconds=sum(trial.seconds for trial in trials),
            values=best.values,
            trials=tuple({"values": t.values, "scores": list(t.scores.values())} for t in trials),
        )


def read_best(path: str | os.PathLike[str]) -> SearchResult:
    """Return the result of a search from its ``best.json`` or its directory.

    Parameters
    ----------
    path : path_like
        The directory of a search, or its ``best.json``.

    Returns
    -------
    SearchResult
        The chosen values and all trials.

    Raises
    ------
    FormatError
        The file does not exist or holds no result of a search.

    See Also
    --------
    search : Run a search, which writes the file.

    Examples
    --------
    >>> import tempfile
    >>> found = SearchResult("gcn", {"hidden": 64}, {"lr": 0.01}, val_score=0.8, n_finished=20, n_failed=0)
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     write_json(Path(folder, "best.json"), found.as_dict())
    ...     read_best(folder) == found
    True
    """
    file = Path(path) / BEST_FILE if Path(path).is_dir() else Path(path)
    try:
        facts = json.loads(file.read_text(encoding="utf-8"))
        return SearchResult(**{**facts, "trials": tuple(facts.get("trials", ()))})
    except (OSError, ValueError, TypeError, AttributeError) as wrong:
        raise FormatError(f"{file} holds no result of a search: {wrong}") from None
