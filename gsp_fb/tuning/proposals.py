"""What a search tries next: values of a finite space, by a sampler, as a function of finished trials and a seed."""

from __future__ import annotations

import contextlib
import itertools
import math
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any

import numpy as np

from .._extras import require

__all__ = ["SAMPLERS", "propose", "space_size"]

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
    first = None
    for at in candidates:
        values = {name: choices[at[name]] for name, choices in space.items()}
        first = values if first is None else first
        if values not in tried:
            return values
    return first or {}


def _grid(space: Space, done: Done, seed: int) -> Iterator[dict[str, int]]:
    for places in itertools.product(*(range(len(choices)) for choices in space.values())):
        yield dict(zip(space, places, strict=True))


def _random(space: Space, done: Done, seed: int) -> Iterator[dict[str, int]]:
    rng = np.random.default_rng(seed)
    for _ in range(1000):
        yield {name: int(rng.integers(len(choices))) for name, choices in space.items()}
    yield from _grid(space, done, seed)


def _tpe(space: Space, done: Done, seed: int) -> Iterator[dict[str, int]]:
    """Yield the place that optuna's TPE sampler chooses, then random ones: a repetition would teach nothing."""
    with _quiet_optuna() as optuna:
        # Places in the ordered lists instead of categories, so that the sampler knows what is near to what.
        axes = {name: optuna.distributions.IntDistribution(0, len(choices) - 1) for name, choices in space.items()}
        sampler = optuna.samplers.TPESampler(seed=seed, n_startup_trials=STARTUP)
        study = optuna.create_study(direction="maximize", sampler=sampler)
        for values, score in done:
            if math.isfinite(score):
                at = {name: _place(choices, values.get(name)) for name, choices in space.items()}
                study.add_trial(optuna.trial.create_trial(params=at, distributions=axes, value=score))
        chosen = dict(study.ask(axes).params)
    yield chosen
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


SAMPLERS: dict[str, Callable[[Space, Done, int], Iterator[dict[str, int]]]] = {
    "tpe": _tpe,
    "grid": _grid,
    "random": _random,
}
