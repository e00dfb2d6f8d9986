"""Hyperparameters by validation alone: a race over seeded proposals that is the same however often it is interrupted.

Proposal t comes from optuna's TPE sampler with seed ``seed + t`` and the t finished trials before it, so it depends on
nothing that a restart could change. The first two are the listed hyperparameters with raw and row-normalised features.
"""

from __future__ import annotations

import statistics
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import partial
from typing import Any

import numpy as np

from gsp_fb._extras import require
from gsp_fb.errors import TrainingError

from .journal import Journal
from .training import Job

__all__ = ["Choice", "choose", "proposal"]

# Proposals before the sampler trusts what it has seen.
STARTUP = 8
Values = dict[str, Any]


@dataclass(frozen=True)
class _Trial:
    number: int
    values: Values
    scores: dict[int, float | None] = field(default_factory=dict)

    @property
    def score(self) -> float:
        """The mean over the splits seen so far; a training that diverged ranks last."""
        seen = [score for score in self.scores.values() if score is not None]
        return statistics.fmean(seen) if seen and len(seen) == len(self.scores) else -np.inf


@dataclass(frozen=True)
class Choice:
    """The chosen values, their mean validation score in the last rung, and the trials that stood behind them.

    A trial is its values and the validation score of each split that it was trained on, None where it diverged.
    """

    values: Values
    score: float | None
    n_trials: int
    n_failed: int
    trials: tuple[dict[str, Any], ...] = ()


def choose(job: Job, journal: Journal) -> Choice:
    """Return the hyperparameters of a cell: those listed, or where its plan has a race those that win it.

    Raises
    ------
    TrainingError
        Training diverged in every trial.
    """
    rungs = job.cell.plan.rungs
    if not rungs:
        return Choice(dict(job.cell.preset or {}), None, 0, 0)
    trials: list[_Trial] = []
    for number in range(rungs[0].candidates):
        trials.append(_seen(job, journal, _Trial(number, _next(job, journal, trials)), rungs[0].splits))
    racing = trials
    for rung in rungs[1:]:
        racing = sorted(racing, key=lambda trial: -trial.score)[: rung.candidates]
        racing = [_seen(job, journal, trial, rung.splits) for trial in racing]
    last = {trial.number: trial for trial in [*trials, *racing]}.values()
    best = max(racing, key=lambda trial: trial.score)
    if not np.isfinite(best.score):
        raise TrainingError(f"training diverged in all {len(trials)} trials of {job.cell.path}")
    return Choice(
        best.values,
        best.score,
        len(trials),
        sum(not np.isfinite(trial.score) for trial in trials),
        tuple({"values": trial.values, "scores": list(trial.scores.values())} for trial in last),
    )


def _next(job: Job, journal: Journal, trials: Sequence[_Trial]) -> Values:
    """Return what to try next: the listed values with raw and with normalised features, then proposals."""
    number, space = len(trials), job.cell.space
    flags = space.get("normalize", (None,))
    if number < len(flags):
        listed = {**job.defaults(), **(job.cell.preset or {})}
        return {**listed, "normalize": flags[number]} if "normalize" in space else listed
    done = [(trial.values, trial.score) for trial in trials]
    values: Values = journal.step(
        f"proposal {number}", partial(proposal, space, done, seed=job.cell.plan.seed + number)
    )
    return values


def _seen(job: Job, journal: Journal, trial: _Trial, n_splits: int) -> _Trial:
    """Return a trial after training on those of the first splits that it has not seen."""
    wanted = [k for k in range(min(n_splits, len(job.splits))) if k not in trial.scores]
    batches = [wanted] if job.together and wanted else [[k] for k in wanted]
    scores = dict(trial.scores)
    for batch in batches:
        name = f"trial {trial.number} splits {batch[0]}..{batch[-1]}"
        found = journal.step(name, partial(job.validation, trial.values, batch))
        scores |= dict(zip(batch, found or [None] * len(batch), strict=True))
    return _Trial(trial.number, trial.values, scores)


def proposal(space: Mapping[str, Sequence[Any]], done: Sequence[tuple[Values, float]], *, seed: int) -> Values:
    """Return the next values to try; a function of the finished trials and the seed alone.

    Parameters
    ----------
    space : mapping
        Ordered values for each name.
    done : sequence of (values, score)
    seed : int

    Examples
    --------
    >>> proposal({"lr": (0.01, 0.1)}, [({"lr": 0.01}, 0.5)], seed=0)
    {'lr': 0.1}
    """
    optuna = require("optuna", "a search")
    before = optuna.logging.get_verbosity()
    optuna.logging.set_verbosity(optuna.logging.WARNING)
    try:
        study = _study(optuna, space, done, seed)
        trial = study.ask(_axes(optuna, space))
    finally:
        optuna.logging.set_verbosity(before)
    tried = [values for values, _ in done]
    candidates = (_values(space, at) for at in _first_then_any(trial.params, space, seed))
    return next((values for values in candidates if values not in tried), _values(space, trial.params))


def _axes(optuna: Any, space: Mapping[str, Sequence[Any]]) -> dict[str, Any]:
    # Places in the ordered lists instead of categories, so that the sampler knows what is near to what.
    return {name: optuna.distributions.IntDistribution(0, len(choices) - 1) for name, choices in space.items()}


def _study(optuna: Any, space: Mapping[str, Sequence[Any]], done: Sequence[tuple[Values, float]], seed: int) -> Any:
    sampler = optuna.samplers.TPESampler(seed=seed, n_startup_trials=STARTUP)
    study = optuna.create_study(direction="maximize", sampler=sampler)
    axes = _axes(optuna, space)
    for values, score in done:
        if np.isfinite(score):
            at = {name: _place(choices, values.get(name)) for name, choices in space.items()}
            study.add_trial(optuna.trial.create_trial(params=at, distributions=axes, value=score))
    return study


def _place(choices: Sequence[Any], value: Any) -> int:
    """Return the place of a value, or of the nearest one: listed values need not be on the grid."""
    if value in choices:
        return list(choices).index(value)
    return int(np.argmin([abs(float(choice) - float(value or 0.0)) for choice in choices]))


def _values(space: Mapping[str, Sequence[Any]], at: Mapping[str, int]) -> Values:
    return {name: choices[at[name]] for name, choices in space.items()}


def _first_then_any(
    first: Mapping[str, int], space: Mapping[str, Sequence[Any]], seed: int
) -> Iterator[dict[str, int]]:
    """Yield the sampler's places, then random ones: a value that was tried would teach nothing."""
    yield dict(first)
    rng = np.random.default_rng(seed)
    for _ in range(1000):
        yield {name: int(rng.integers(len(choices))) for name, choices in space.items()}
