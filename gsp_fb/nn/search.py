"""Search for hyperparameters over a model's own space, judged by validation alone, shared by workers, resumable."""

from __future__ import annotations

import contextlib
import json
import math
import os
import statistics
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict, dataclass, field, fields
from pathlib import Path
from typing import Any

import numpy as np

from .._arguments import check_choice, check_count
from .._atomic import write_json
from .._extras import require
from .._journal import Journal
from ..datasets import Split
from ..errors import FormatError, ParameterError, TrainingError
from .config import TrainConfig, TrainResult
from .models import MODELS, Model
from .proposals import SAMPLERS, propose, space_size
from .recipes import build
from .rundir import progress_bar
from .splits import BATCHED_NODES, Job, train_jobs
from .tasks import Parts, make_task

__all__ = ["BEST_FILE", "SAMPLERS", "SearchResult", "Trial", "read_best", "search"]

JOURNAL_FILE, BEST_FILE = "journal.jsonl", "best.json"
_OPERATIONS = ("trial", "scores", "stop")
_TRAINING = {entry.name for entry in fields(TrainConfig)}
# Settings that are proposed at once where settings x splits train as one batch.
SETTINGS_PER_BATCH = 4
# Finished trials before a running one is compared with their median.
MEDIAN_FROM = 5
_POLL_SECONDS = 0.2
Values = dict[str, Any]


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


@dataclass
class Trial:
    """One setting and the validation scores that it has reached so far, by split; None where training diverged."""

    number: int
    values: Values
    scores: dict[int, float | None] = field(default_factory=dict)
    stopped: bool = False
    seconds: float = 0.0

    @property
    def score(self) -> float:
        """Mean over the splits seen so far; a training that diverged ranks last."""
        seen = [score for score in self.scores.values() if score is not None]
        return statistics.fmean(seen) if seen and len(seen) == len(self.scores) else -math.inf

    def missing(self, n_splits: int) -> list[int]:
        """Return the first splits that it has not been trained on."""
        over = self.stopped or None in self.scores.values()
        return [] if over else [k for k in range(n_splits) if k not in self.scores]


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
    race = _Race(
        name=name,
        dataset=dataset,
        splits=splits,
        config=TrainConfig(**row.training) if config is None else config,
        options=options,
        sources={"relations": relations, "data_dir": data_dir},
        seeds=[seed] * len(splits) if seeds is None else list(seeds),
        space=chosen,
        sampler=sampler,
        start=[dict(values) for values in start],
        rungs=[(n_trials, len(splits))] if rungs is None else [(int(a), min(int(b), len(splits))) for a, b in rungs],
        seed=seed,
        prunes=rungs is None,
    )
    asked = {"space": chosen, "sampler": sampler, "start": list(start), "rungs": rungs, "seed": seed}
    race.open(Path(directory), json.loads(json.dumps({**race.identity(), **asked})))
    return race.run(callbacks, progress)


def _space(row: Model, space: Mapping[str, Sequence[Any]] | None, also: Sequence[str]) -> dict[str, Sequence[Any]]:
    """Return the choices of a search: the row's own or the given ones, and the extras that were asked for."""
    extra = {key: row.extra[check_choice(key, row.extra, f"extra choice of {row.name}")] for key in also}
    chosen = {**(row.space if space is None else space), **extra}
    for key, values in chosen.items():
        check_choice(key, {**row.options, **dict.fromkeys(_TRAINING)}, "name in the search space")
        if not len(values):
            raise ParameterError(f"the search space has no values for {key}")
    return {key: list(values) for key, values in chosen.items()}


@dataclass(eq=False)
class _Race:
    """What the trials train, and their state over rungs, which is the journal's."""

    name: str
    dataset: Any
    splits: Sequence[Any]
    config: TrainConfig
    options: Mapping[str, Any]
    sources: Mapping[str, Any]
    seeds: Sequence[int]
    space: Mapping[str, Sequence[Any]]
    sampler: str
    start: Sequence[Values]
    rungs: Sequence[tuple[int, int]]
    seed: int
    prunes: bool
    journal: Journal = field(init=False)

    def open(self, directory: Path, identity: Mapping[str, Any]) -> None:
        """Open the journal of a directory, or begin one."""
        directory.mkdir(parents=True, exist_ok=True)
        self.journal = Journal(directory / JOURNAL_FILE, identity, _OPERATIONS)

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
        model = build(self.name, self.dataset, **self.sources, **self.options)
        task = make_task(model, self.dataset, self.config)
        parts = [Parts.of(split, task.targets) for split in self.splits]
        for number, part in enumerate(parts):
            if not part.val.size:
                raise ParameterError(
                    f"split {number} has no validation items to choose by; see gsp_fb.nn.with_validation"
                )
        return {
            "model": self.name,
            "options": dict(self.options),
            "config": self.config.as_dict(),
            "data": task.fingerprint,
            "splits": [Parts(part.train, part.val, part.val[:0]).sha256 for part in parts],
            "seeds": list(self.seeds),
        }

    def validation(self, wanted: Sequence[tuple[Trial, int]]) -> list[float | None]:
        """Return the validation score of each (trial, split); None where training diverges.

        The test items are taken out of the splits before anything is trained, so no choice can depend on them.
        """
        jobs = []
        for trial, number in wanted:
            options, config = self.divided(trial.values)
            split = self.splits[number]
            sealed = Split(np.asarray(split.train), np.asarray(split.val), np.zeros(0, dtype=np.int64))
            jobs.append(Job(sealed, config, self.seeds[number], options))
        results = train_jobs(self.name, self.dataset, jobs, **self.sources)
        return [result.scores["val"] if isinstance(result, TrainResult) else None for result in results]

    def run(self, callbacks: Sequence[Callable[[Sequence[Trial]], Any]], progress: bool) -> SearchResult:
        """Train what is left, together with other workers; return and store the best."""
        with progress_bar(self.rungs[0][0], shown=progress, unit="trial") as bar:
            for position in range(len(self.rungs)):
                self._rung(position, callbacks, bar)
        result = self._best()
        write_json(self.journal.path.with_name(BEST_FILE), result.as_dict())
        return result

    def trials(self) -> list[Trial]:
        """Return all trials as the journal has them."""
        found: dict[int, Trial] = {}
        for line, entry in enumerate(self.journal.entries(), 2):
            try:
                self._apply(found, entry)
            except (KeyError, TypeError, ValueError) as wrong:
                raise FormatError(f"{self.journal.path}, line {line}: {wrong!r} is missing or unknown") from None
        return [found[number] for number in sorted(found)]

    @staticmethod
    def _apply(found: dict[int, Trial], entry: Mapping[str, Any]) -> None:
        number = int(entry["number"])
        if entry["op"] == "trial":
            found[number] = Trial(number, dict(entry["values"]))
        elif entry["op"] == "stop":
            found[number].stopped = True
        else:
            found[number].scores |= dict(zip(entry["splits"], entry["scores"], strict=True))
            found[number].seconds += float(entry["seconds"])

    def _rung(self, position: int, callbacks: Sequence[Any], bar: Any) -> None:
        n_splits = self.rungs[position][1]
        while True:
            with contextlib.ExitStack() as held:
                trials = self.trials() if position else self._proposed()
                racing = self._racing(trials, position)
                open_ = [trial for trial in racing if trial.missing(n_splits)]
                if bar is not None:
                    bar.update(len(trials) - len(open_) - bar.n)
                if not open_:
                    return
                mine = self._claimed(open_, held)
                if mine:
                    for callback in callbacks:
                        callback(trials)
                    self._train(mine, n_splits)
                    continue
            time.sleep(_POLL_SECONDS)  # other workers have what is left of this rung

    def _proposed(self) -> list[Trial]:
        """Return the trials, after proposing the next ones where all of the first rung have been trained."""
        candidates, n_splits = self.rungs[0]
        with self.journal.locked():
            trials = self.trials()
            left = candidates - len(trials)
            if left <= 0 or any(trial.missing(n_splits) for trial in trials):
                return trials
            count = min(left, SETTINGS_PER_BATCH if self._batched else 1)
            fresh: list[Trial] = []
            for number in range(len(trials), len(trials) + count):
                fresh.append(Trial(number, self._next(number, trials, fresh)))
            self.journal.append([{"op": "trial", "number": t.number, "values": t.values} for t in fresh])
            return [*trials, *fresh]

    @property
    def _batched(self) -> bool:
        return bool(self.dataset.graph.n_nodes <= BATCHED_NODES)

    def _next(self, number: int, trials: Sequence[Trial], fresh: Sequence[Trial]) -> Values:
        if number < len(self.start):
            return dict(self.start[number])
        done = [(trial.values, trial.score) for trial in trials]
        tried = [trial.values for trial in (*trials, *fresh)]
        # Through JSON: what is trained must not differ from what is read back.
        found: Values = json.loads(json.dumps(propose(self.sampler, self.space, done, tried, seed=self.seed + number)))
        return found

    def _racing(self, trials: Sequence[Trial], position: int) -> list[Trial]:
        """Return the trials of a rung: the best of those before it, by the scores of the rung before."""
        racing = list(trials)
        for (_, before), (kept, _) in zip(self.rungs[:position], self.rungs[1 : position + 1], strict=True):
            racing = sorted(racing, key=lambda trial: -_mean_of_first(trial, before))[:kept]
        return racing

    def _claimed(self, trials: Sequence[Trial], held: contextlib.ExitStack) -> list[Trial]:
        """Return those trials that no other process trains, held until the stack is closed."""
        filelock = require("filelock", "a search")
        mine = []
        for trial in trials[: SETTINGS_PER_BATCH * 4]:
            lock = filelock.FileLock(self.journal.path.with_name(f".trial-{trial.number}.lock"), timeout=0)
            with contextlib.suppress(filelock.Timeout):
                held.enter_context(lock)
                mine.append(trial)
            if len(mine) == (SETTINGS_PER_BATCH if self._batched else 1):
                break
        # Another worker may have finished it between the reading and the lock.
        now = {trial.number: trial for trial in self.trials()}
        return [now[trial.number] for trial in mine]

    def _train(self, mine: Sequence[Trial], n_splits: int) -> None:
        if self._batched:
            self._score([(trial, k) for trial in mine for k in trial.missing(n_splits)])
            return
        for trial in mine:
            for number in trial.missing(n_splits):
                self._score([(trial, number)])
                if self.prunes and number + 1 < n_splits and self._is_hopeless(trial):
                    self.journal.append([{"op": "stop", "number": trial.number}])
                    break

    def _score(self, wanted: Sequence[tuple[Trial, int]]) -> None:
        """Train and write the scores down, trial by trial."""
        if not wanted:
            return
        started = time.process_time()
        scores = self.validation(wanted)
        seconds = (time.process_time() - started) / len(wanted)
        entries: dict[int, dict[str, Any]] = {}
        for (trial, number), score in zip(wanted, scores, strict=True):
            trial.scores[number] = score if score is None or math.isfinite(score) else None
            entry = entries.setdefault(trial.number, {"op": "scores", "splits": [], "scores": [], "seconds": 0.0})
            entry["splits"].append(number)
            entry["scores"].append(trial.scores[number])
            entry["seconds"] += seconds
        self.journal.append([{**entry, "number": number} for number, entry in entries.items()])

    def _is_hopeless(self, trial: Trial) -> bool:
        seen = len(trial.scores)
        others = [_mean_of_first(t, seen) for t in self.trials() if t.number != trial.number and not t.stopped]
        others = [score for score in others if math.isfinite(score)]
        return len(others) >= MEDIAN_FROM and trial.score < statistics.median(others)

    def _best(self) -> SearchResult:
        trials, n_splits = self.trials(), self.rungs[-1][1]
        racing = [trial for trial in self._racing(trials, len(self.rungs) - 1) if len(trial.scores) >= n_splits]
        best = max(racing, key=lambda trial: trial.score, default=None)
        if best is None or not math.isfinite(best.score):
            raise TrainingError(f"training diverged in all {len(trials)} trials of {self.name}; widen the space")
        options, config = self.divided(best.values)
        failed = sum(None in trial.scores.values() for trial in trials)
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


def _mean_of_first(trial: Trial, n_splits: int) -> float:
    scores = [trial.scores.get(k) for k in range(n_splits)]
    return statistics.fmean(scores) if scores and None not in scores else -math.inf  # type: ignore[arg-type]  # none is None


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
