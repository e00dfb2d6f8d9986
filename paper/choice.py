"""Hyperparameters of a cell: those that win the race of its plan, by validation alone.

The race is :func:`gsp_fb.nn.search`, which takes the test nodes out of the splits before anything is trained; its first
trials are the listed hyperparameters with raw and with row-normalised features, or a list of settings that all models
of a data set share.
"""

from __future__ import annotations

import warnings
from dataclasses import dataclass
from typing import Any

from gsp_fb.errors import FormatError, GspWarning, ParameterError

from .journal import Journal, set_aside
from .protocols import settings
from .training import Job

__all__ = ["Choice", "choose"]

Values = dict[str, Any]


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
    """Return the hyperparameters of a cell: where its plan has a race those that win it, else those listed.

    Raises
    ------
    TrainingError
        Training diverged in every trial.
    OutOfTimeError
        The time is over; finished trials are kept.
    """
    if not job.cell.plan.rungs:
        return Choice(dict(job.cell.preset or {}), None, 0, 0)
    try:
        return _searched(job, journal)
    except (FormatError, ParameterError) as damaged:
        if not journal.search_directory.exists():
            raise
        warnings.warn(f"{damaged}; set aside, and chosen again", GspWarning, stacklevel=2)
        set_aside(journal.search_directory)
        return _searched(job, journal)


def _searched(job: Job, journal: Journal) -> Choice:
    from gsp_fb.nn import TrainConfig, search

    cell = job.cell
    options, training = job.divided({})
    fixed = set(cell.row.options)
    space = {name: values for name, values in cell.space.items() if name not in fixed}
    found = search(
        cell.row.model,
        job.data,
        job.splits,
        journal.search_directory,
        space=space,
        start=_starts(job, space),
        n_trials=cell.plan.rungs[0].candidates,
        rungs=[(rung.candidates, rung.splits) for rung in cell.plan.rungs],
        config=TrainConfig(**training),
        seed=cell.plan.seed,
        seeds=job.seeds,
        callbacks=[lambda trials: journal.check_time()],
        **options,
    )
    journal.search_seconds = found.seconds
    return Choice(found.values, found.val_score, found.n_finished + found.n_failed, found.n_failed, found.trials)


def _starts(job: Job, space: dict[str, tuple[Any, ...]]) -> list[Values]:
    """Return the common settings of the data set, or the listed values with raw and with normalised features."""
    plan = job.cell.plan
    if plan.common:
        choices = job.cell.row.choices
        shared = {name: values for name, values in space.items() if name not in choices}
        drawn = settings(shared, plan.rungs[0].candidates, plan.seed)
        turns = [{name: values[k % len(values)] for name, values in choices.items()} for k in range(len(drawn))]
        return [values | turn for values, turn in zip(drawn, turns, strict=True)]
    known = {**job.defaults(), **(job.cell.preset or {})}
    listed = {name: value for name, value in known.items() if name not in job.cell.row.options}
    flags = space.get("normalize", ())
    starts = [{**listed, "normalize": flag} for flag in flags] or [listed]
    return starts[: plan.rungs[0].candidates]
