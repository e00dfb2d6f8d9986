"""A race of settings over rungs of splits, with samplers that propose them from finished trials and a seed.

Its state is a journal: processes share it, and a killed one resumes.
"""

from __future__ import annotations

import contextlib
import itertools
import json
import math
import statistics
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from .._extras import require
from .._journal import Journal
from ..errors import FormatError

__all__ = ["OPERATIONS", "SAMPLERS", "Race", "Trial", "propose", "space_size"]

# Proposals before the sampler trusts what it has seen.
STARTUP = 8
Values = dict[str, Any]
Space = Mapping[str, Sequence[Any]]
Done = Sequence[tuple[Values, float]]


def space_size(space: Space) -> int:
    """Return the number of combinations of a space."""
    return math.prod(len(choices) for choices in space.values())


def propose(sampler: str, space: Space, done: Done, tried: Sequence[Values], *, seed: int) -> Values:
    """Return the next values to try; a function of what was tried and the seed alone."""
    candidates = SAMPLERS[sampler](space, done, seed)
    first = next(candidates, {})
    return next((values for values in itertools.chain([first], candidates) if values not in tried), first)


def _grid(space: Space, done: Done, seed: int) -> Iterator[Values]:
    return (dict(zip(space, values, strict=True)) for values in itertools.product(*space.values()))


def _random(space: Space, done: Done, seed: int) -> Iterator[Values]:
    rng = np.random.default_rng(seed)
    for _ in range(1000):
        yield {name: choices[int(rng.integers(len(choices)))] for name, choices in space.items()}
    yield from _grid(space, done, seed)


def _tpe(space: Space, done: Done, seed: int) -> Iterator[Values]:
    """Yield the values that optuna's TPE sampler chooses, then random ones: a repetition would teach nothing."""
    with _quiet_optuna() as optuna:
        # Places in the ordered lists instead of categories, so that the sampler knows what is near to what.
        axes = {name: optuna.distributions.IntDistribution(0, len(choices) - 1) for name, choices in space.items()}
        sampler = optuna.samplers.TPESampler(seed=seed, n_startup_trials=STARTUP)
        study = optuna.create_study(direction="maximize", sampler=sampler)
        for values, score in done:
            if math.isfinite(score):
                at = {name: _place(choices, values.get(name)) for name, choices in space.items()}
                study.add_trial(optuna.trial.create_trial(params=at, distributions=axes, value=score))
        places = study.ask(axes).params
    yield {name: choices[places[name]] for name, choices in space.items()}
    yield from _random(space, done, seed)


def _place(choices: Sequence[Any], value: Any) -> int:
    """Return the place of a value, or of the nearest one: values given to start with need not be on the grid."""
    if value in choices:
        return list(choices).index(value)
    try:
        return int(np.argmin([abs(float(choice) - float(value or 0.0)) for choice in choices]))
    except (TypeError, ValueError):
        return 0


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


Sampler = Callable[[Space, Done, int], Iterator[Values]]
SAMPLERS: dict[str, Sampler] = {"tpe": _tpe, "grid": _grid, "random": _random}


OPERATIONS = ("trial", "scores", "stop")
# Finished trials before a running one is compared with their median.
MEDIAN_FROM = 5
_POLL_SECONDS = 0.2


@dataclass
class Trial:
    """One setting and the scores that it has reached so far, by split; None where training diverged."""

    number: int
    values: Values
    scores: dict[int, float | None] = field(default_factory=dict)
    stopped: bool = False
    seconds: float = 0.0

    @property
    def score(self) -> float:
        """Mean over the splits seen so far; a training that diverged ranks last."""
        return _mean(list(self.scores.values()))

    @property
    def failed(self) -> bool:
        """Whether training diverged on a split."""
        return None in self.scores.values()

    def first(self, n_splits: int) -> float:
        """Return the mean over the first splits; -inf where one is missing or training diverged."""
        return _mean([self.scores.get(k) for k in range(n_splits)])

    def missing(self, n_splits: int) -> list[int]:
        """Return the first splits that it has not been trained on."""
        return [] if self.stopped or self.failed else [k for k in range(n_splits) if k not in self.scores]


def _mean(scores: Sequence[float | None]) -> float:
    known = [score for score in scores if score is not None]
    return statistics.fmean(known) if known and len(known) == len(scores) else -math.inf


@dataclass(eq=False)
class Race:
    """Trials in a space, the best of a rung of (trials, splits) going on to the next.

    ``validate`` returns the scores of (trial, split) pairs. With ``width > 1`` so many trials and all their splits are
    given to it at once; else one by one, and with ``prunes`` a trial below the median of the finished ones is stopped.
    """

    journal: Journal
    space: Mapping[str, Sequence[Any]]
    validate: Callable[[Sequence[tuple[Trial, int]]], list[float | None]]
    rungs: Sequence[tuple[int, int]]
    sampler: str = "tpe"
    start: Sequence[Mapping[str, Any]] = ()
    seed: int = 0
    width: int = 1
    prunes: bool = False

    def run(self, callbacks: Sequence[Callable[[Sequence[Trial]], Any]] = (), bar: Any = None) -> None:
        """Train what is left, together with other processes."""
        for position in range(len(self.rungs)):
            self._rung(position, callbacks, bar)

    def trials(self) -> list[Trial]:
        """Return all trials as the journal has them."""
        found: dict[int, Trial] = {}
        for line, entry in enumerate(self.journal.entries(), 2):
            try:
                number = int(entry["number"])
                if entry["op"] == "trial":
                    found[number] = Trial(number, dict(entry["values"]))
                elif entry["op"] == "stop":
                    found[number].stopped = True
                else:
                    found[number].scores |= dict(zip(entry["splits"], entry["scores"], strict=True))
                    found[number].seconds += float(entry["seconds"])
            except (KeyError, TypeError, ValueError) as wrong:
                raise FormatError(f"{self.journal.path}, line {line}: {wrong!r} is missing or unknown") from None
        return [found[number] for number in sorted(found)]

    def best(self) -> Trial | None:
        """Return the winner of the last rung; None where training diverged in all."""
        last, n_splits = len(self.rungs) - 1, self.rungs[-1][1]
        racing = [trial for trial in self._racing(self.trials(), last) if len(trial.scores) >= n_splits]
        found = max(racing, key=lambda trial: trial.score, default=None)
        return found if found is not None and math.isfinite(found.score) else None

    def _rung(self, position: int, callbacks: Sequence[Any], bar: Any) -> None:
        n_splits = self.rungs[position][1]
        while True:
            with contextlib.ExitStack() as held:
                trials = self.trials() if position else self._proposed()
                unfinished = [trial for trial in self._racing(trials, position) if trial.missing(n_splits)]
                if bar is not None:
                    bar.update(len(trials) - len(unfinished) - bar.n)
                if not unfinished:
                    return
                mine = self._claimed(unfinished, held)
                if mine:
                    for callback in callbacks:
                        callback(trials)
                    self._train(mine, n_splits)
                    continue
            time.sleep(_POLL_SECONDS)  # other processes have what is left of this rung

    def _proposed(self) -> list[Trial]:
        """Return the trials, after proposing the next ones where all of the first rung have been trained."""
        candidates, n_splits = self.rungs[0]
        with self.journal.locked():
            trials = self.trials()
            if len(trials) >= candidates or any(trial.missing(n_splits) for trial in trials):
                return trials
            fresh: list[Trial] = []
            for number in range(len(trials), min(candidates, len(trials) + self.width)):
                fresh.append(Trial(number, self._next(number, trials, fresh)))
            self.journal.append([{"op": "trial", "number": t.number, "values": t.values} for t in fresh])
            return [*trials, *fresh]

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
            racing = sorted(racing, key=lambda trial: -trial.first(before))[:kept]
        return racing

    def _claimed(self, trials: Sequence[Trial], held: contextlib.ExitStack) -> list[Trial]:
        """Return those trials that no other process trains, held until the stack is closed."""
        filelock = require("filelock", "a search")
        mine: list[Trial] = []
        for trial in trials:
            if len(mine) == self.width:
                break
            lock = filelock.FileLock(self.journal.path.with_name(f".trial-{trial.number}.lock"), timeout=0)
            with contextlib.suppress(filelock.Timeout):
                held.enter_context(lock)
                mine.append(trial)
        # Another process may have finished it between the reading and the lock.
        now = {trial.number: trial for trial in self.trials()}
        return [now[trial.number] for trial in mine]

    def _train(self, mine: Sequence[Trial], n_splits: int) -> None:
        if self.width > 1:
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
        scores = self.validate(wanted)
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
        others = [t.first(len(trial.scores)) for t in self.trials() if t.number != trial.number and not t.stopped]
        others = [score for score in others if math.isfinite(score)]
        return len(others) >= MEDIAN_FROM and trial.score < statistics.median(others)
