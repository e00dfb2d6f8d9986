"""Search for hyperparameters: optuna over the model's own space, judged by validation alone, resumable."""

from __future__ import annotations

import contextlib
import json
import os
import statistics
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, fields
from pathlib import Path
from typing import Any

import numpy as np

from .._arguments import check_choice, check_count
from .._extras import require
from ..errors import ParameterError, TrainingError
from .config import TrainConfig
from .models import MODELS, Model
from .recipes import build
from .results import TrainResult
from .rundir import locked
from .splits import train_splits
from .train import train

__all__ = ["SAMPLERS", "SearchResult", "search"]

SAMPLERS = ("tpe", "grid", "random")
_JOURNAL = "journal.log"
_TRAINING = {field.name for field in fields(TrainConfig)}


@dataclass(frozen=True)
class SearchResult:
    """What validation chose: model options, training configuration, and the mean validation score they reached.

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
    config: TrainConfig | None = None,
    together: bool = False,
    seed: int = 0,
    progress: bool = False,
    relations: Any = None,
    data_dir: str | os.PathLike[str] | None = None,
    **options: Any,
) -> SearchResult:
    """Search a model's hyperparameters for the best mean validation score over ``splits``.

    The journal in ``directory`` keeps every trial: a search that is started again goes on to ``n_trials`` in all;
    finished trials are not rerun, one that a crash left running counts as failed. Test items are never looked at.

    Parameters
    ----------
    name : str
        A row of ``MODELS``.
    dataset, splits
        As for :func:`gsp_fb.nn.train`.
    directory : path
        Holds the journal and a lock.
    n_trials : int
        Trials in all, earlier ones of the journal included.
    sampler : {'tpe', 'grid', 'random'}
    space : mapping, optional
        Values to try for each name, of options and of :class:`TrainConfig`; by default the row's own space.
    also : sequence of str
        Names of the row's ``extra`` choices to vary as well: ``("family",)`` lets the search choose the filter.
    config : TrainConfig, optional
        What the search does not vary.
    together : bool
        Train all splits as one batch (small graphs); otherwise one by one, hopeless trials being stopped early.
    seed : int
        Of the sampler and of the models.
    relations, data_dir
        As for :func:`gsp_fb.nn.build`.
    **options
        Model options that the search does not vary.

    Raises
    ------
    ParameterError
        An unknown name, or a split without validation items: there would be nothing to choose by.

    Examples
    --------
    >>> from types import SimpleNamespace
    >>> import tempfile
    >>> import numpy as np
    >>> from gsp_fb import Graph
    >>> ring = Graph.from_edges([(i, (i + 1) % 8) for i in range(8)])
    >>> ds = SimpleNamespace(graph=ring, x=np.eye(8), y=np.arange(8) % 2)
    >>> split = SimpleNamespace(train=[0, 1, 2, 3], val=[4, 5], test=[6, 7])
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     few = TrainConfig(epochs=2)
    ...     found = search("gcn", ds, [split], folder, n_trials=2, space={"lr": (0.01, 0.1)}, config=few)
    >>> found.n_finished
    2
    """
    row = MODELS[check_choice(name, MODELS, "model")]
    check_choice(sampler, SAMPLERS, "sampler")
    n_trials = check_count(n_trials, "n_trials")
    _check_splits(splits)
    chosen = _space(row, space, also)
    config = TrainConfig(**row.training) if config is None else config
    sources = {"relations": relations, "data_dir": data_dir}
    job = _Job(name, dataset, splits, config, options, sources, together, seed)
    with locked(Path(directory)), _quiet_optuna() as optuna:
        study = _study(optuna, Path(directory), name, sampler=sampler, space=chosen, seed=seed)
        _fail_abandoned(optuna, study)
        left = n_trials - len(_done(optuna, study))
        if left > 0:
            study.optimize(
                lambda trial: job.objective(optuna, trial, chosen),
                n_trials=left,
                catch=(TrainingError,),
                show_progress_bar=progress,
            )
        return _best(optuna, study, job)


def _check_splits(splits: Sequence[Any]) -> None:
    if not splits:
        raise ParameterError("a search needs at least one split")
    for number, split in enumerate(splits):
        if not np.size(split.val) or not np.any(split.val if np.asarray(split.val).dtype == bool else True):
            raise ParameterError(f"split {number} has no validation items to choose by; see gsp_fb.nn.with_validation")


def _space(row: Model, space: Mapping[str, Sequence[Any]] | None, also: Sequence[str]) -> dict[str, Sequence[Any]]:
    """Return the choices of a search: the row's own or the given ones, and the extras that were asked for."""
    extra = {key: row.extra[check_choice(key, row.extra, f"extra choice of {row.name}")] for key in also}
    chosen = {**(row.space if space is None else space), **extra}
    for key in chosen:
        check_choice(key, {**row.options, **dict.fromkeys(_TRAINING)}, "name in the search space")
    return chosen


@dataclass(frozen=True, eq=False)
class _Job:
    """What one trial trains."""

    name: str
    dataset: Any
    splits: Sequence[Any]
    config: TrainConfig
    options: Mapping[str, Any]
    sources: Mapping[str, Any]
    together: bool
    seed: int

    def divided(self, values: Mapping[str, Any]) -> tuple[dict[str, Any], TrainConfig]:
        """Return a trial's values as model options and training configuration."""
        training = {key: value for key, value in values.items() if key in _TRAINING}
        model = {key: value for key, value in values.items() if key not in _TRAINING}
        return {**self.options, **model}, TrainConfig(**{**self.config.as_dict(), **training})

    def objective(self, optuna: Any, trial: Any, space: Mapping[str, Sequence[Any]]) -> float:
        values = {key: trial.suggest_categorical(key, list(choices)) for key, choices in space.items()}
        options, config = self.divided(values)
        scores: list[float] = []
        for number, result in enumerate(self._results(options, config)):
            scores.append(result.scores["val"])
            trial.report(statistics.fmean(scores), number)
            if number + 1 < len(self.splits) and trial.should_prune():
                raise optuna.TrialPruned
        return statistics.fmean(scores)

    def _results(self, options: dict[str, Any], config: TrainConfig) -> Iterator[TrainResult]:
        options = {**options, **self.sources}
        if self.together:
            seeds = [self.seed] * len(self.splits)
            yield from train_splits(self.name, self.dataset, self.splits, config, seeds=seeds, **options)
            return
        for split in self.splits:
            yield train(build(self.name, self.dataset, seed=self.seed, **options), self.dataset, split, config)


@contextlib.contextmanager
def _quiet_optuna() -> Iterator[Any]:
    """Give optuna with its log at warnings; what it was is put back."""
    optuna = require("optuna", "a search")
    before = optuna.logging.get_verbosity()
    optuna.logging.set_verbosity(optuna.logging.WARNING)
    try:
        yield optuna
    finally:
        optuna.logging.set_verbosity(before)


def _study(optuna: Any, directory: Path, name: str, *, sampler: str, space: Mapping[str, Any], seed: int) -> Any:
    # Left by a killed search, it would hold up the next one for half a minute; the directory itself is locked by us.
    (directory / f"{_JOURNAL}.lock").unlink(missing_ok=True)
    backend = optuna.storages.journal.JournalFileBackend(str(directory / _JOURNAL))
    storage = optuna.storages.JournalStorage(backend)
    pruner = optuna.pruners.MedianPruner(n_startup_trials=5, n_warmup_steps=1)
    # Another space is another study: optuna lets no choice change its values.
    title = f"{name} {json.dumps({key: list(values) for key, values in space.items()}, sort_keys=True)}"
    study = optuna.create_study(
        storage=storage, study_name=title, direction="maximize", load_if_exists=True, pruner=pruner
    )
    # A resumed search must not draw the first trials again, so the seed moves on with the journal.
    start = seed + len(study.trials)
    makers = {
        "tpe": lambda: optuna.samplers.TPESampler(seed=start),
        "random": lambda: optuna.samplers.RandomSampler(seed=start),
        "grid": lambda: optuna.samplers.GridSampler({key: list(values) for key, values in space.items()}, seed=seed),
    }
    study.sampler = makers[sampler]()
    return study


def _fail_abandoned(optuna: Any, study: Any) -> None:
    # The lock is ours, so a trial still marked as running belongs to a process that died.
    for trial in study.get_trials(states=(optuna.trial.TrialState.RUNNING,)):
        study.tell(trial.number, state=optuna.trial.TrialState.FAIL)


def _done(optuna: Any, study: Any) -> list[Any]:
    states = optuna.trial.TrialState
    trials: list[Any] = study.get_trials(states=(states.COMPLETE, states.PRUNED))
    return trials


def _best(optuna: Any, study: Any, job: _Job) -> SearchResult:
    complete = study.get_trials(states=(optuna.trial.TrialState.COMPLETE,))
    if not complete:
        raise TrainingError(f"none of the {len(study.trials)} trials of {job.name} finished; widen the space")
    best = max(complete, key=lambda trial: trial.value)
    options, config = job.divided(best.params)
    return SearchResult(
        model=job.name,
        options=options,
        config=config.as_dict(),
        val_score=float(best.value),
        n_finished=len(_done(optuna, study)),
        n_failed=len(study.get_trials(states=(optuna.trial.TrialState.FAIL,))),
    )
