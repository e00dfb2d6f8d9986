"""The two protocols and what they may cost: trials, splits and epochs for the size of a data set.

``paper``: the listed hyperparameters. ``tuned``: hyperparameters chosen by validation alone, over the paper's grid
extended by the hidden width. Both: raw or row-normalised features by validation, the ten splits, the undirected graph,
early stopping on the validation loss. Their cells never mix.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict, dataclass, replace
from typing import Any

import numpy as np
from scipy.stats import qmc

from gsp_fb._arguments import check_choice

__all__ = ["PROTOCOLS", "QUICK", "Plan", "Rung", "plan", "settings", "space"]

PROTOCOLS = ("paper", "tuned")
QUICK = "quick"


@dataclass(frozen=True)
class Rung:
    """So many candidates are compared by their mean validation score over the first so many splits."""

    candidates: int
    splits: int


@dataclass(frozen=True)
class Plan:
    """What one cell may spend.

    Attributes
    ----------
    epochs, patience : int
    splits : int
        How many the chosen hyperparameters are trained and tested on.
    rungs : tuple of Rung
        The race that chooses: each rung keeps the best candidates of the one before. Empty: nothing is chosen.
    seed : int
        Of the proposals; models have the number of their split as seed.
    common : bool
        The candidates are one list of settings for every model of the data set, drawn before any is trained.
    """

    epochs: int
    patience: int
    splits: int = 10
    rungs: tuple[Rung, ...] = ()
    seed: int = 0
    common: bool = False

    @property
    def trainings(self) -> int:
        """How many models it trains: those of the race and those that are tested.

        Examples
        --------
        >>> Plan(500, 100, 10, (Rung(16, 2), Rung(4, 5))).trainings
        54
        """
        seen = [0, *(rung.splits for rung in self.rungs)]
        raced = sum(rung.candidates * (rung.splits - before) for rung, before in zip(self.rungs, seen, strict=False))
        return raced + self.splits

    def as_dict(self) -> dict[str, Any]:
        """Return the plan as JSON holds it."""
        return {**asdict(self), "rungs": [asdict(rung) for rung in self.rungs]}


@dataclass(frozen=True)
class _Tier:
    """What data sets of a size are given, up to ``nodes``."""

    nodes: float
    race: tuple[Rung, ...]


# A small set has few validation nodes, so that the choice needs all ten splits; a large one has thousands, and one
# split separates candidates. Early stopping ends a training long before the limit of epochs.
EPOCHS = 2_000
_TIERS = (
    _Tier(1_000, (Rung(64, 3), Rung(16, 10))),
    _Tier(4_000, (Rung(32, 1), Rung(8, 3), Rung(2, 10))),
    _Tier(12_000, (Rung(16, 1), Rung(4, 3))),
    _Tier(float("inf"), (Rung(16, 1), Rung(2, 2))),
)
PATIENCE = 100
# A course of alphas must not stop early. GIN's folds have no validation part to stop by under its own protocol.
_COURSE_EPOCHS, _GRAPH_EPOCHS = 200, 100
_GRAPH_RACE = (Rung(8, 1), Rung(3, 3))
_QUICK_RACE = (Rung(3, 1), Rung(2, 2))


def plan(
    protocol: str,
    *,
    n_nodes: int,
    kind: str = "nodes",
    quick: bool = False,
    candidates: int = 0,
    common: bool = False,
    seed: int = 0,
) -> Plan:
    """Return what a cell may spend under a protocol; ``candidates`` are compared on all splits instead of in a race.

    Examples
    --------
    >>> plan("paper", n_nodes=183).rungs  # raw and row-normalised features
    (Rung(candidates=2, splits=10),)
    >>> plan("tuned", n_nodes=5201).rungs
    (Rung(candidates=16, splits=1), Rung(candidates=4, splits=3))
    """
    check_choice(protocol, PROTOCOLS, "protocol")
    tier = next(tier for tier in _TIERS if n_nodes <= tier.nodes)
    kinds = {
        "graphs": Plan(_GRAPH_EPOCHS, PATIENCE, rungs=_GRAPH_RACE),
        "alphas": Plan(_COURSE_EPOCHS, _COURSE_EPOCHS),
    }
    race = (Rung(candidates, Plan.splits),) if candidates else tier.race
    chosen = Plan(20, 20, 3, _QUICK_RACE) if quick else kinds.get(kind, Plan(EPOCHS, PATIENCE, rungs=race))
    if protocol == "paper":
        return replace(chosen, rungs=(Rung(2, chosen.splits),) if kind == "nodes" else ())
    return replace(chosen, seed=seed, common=common)


Space = Mapping[str, tuple[Any, ...]]
# The grid of the paper's section on experiments, and what it leaves open.
_GRID: Space = {
    "lr": (0.01, 0.05, 0.1),
    "weight_decay": (0.0, 5e-6, 1e-5, 5e-5, 1e-4, 5e-4, 1e-3, 5e-3, 1e-2),
    "dropout": tuple(k / 10 for k in range(10)),
    "normalize": (False, True),
}
_SCALING: Space = {"normalize": (False, True)}
_WIDE: Space = {**_GRID, "hidden": (32, 64)}
_ATTENTION: Space = {**_GRID, "lr": (0.005, 0.01, 0.05), "hidden": (8, 16)}
_DEEP: Space = {**_GRID, "lr": (0.005, 0.01, 0.05), "alpha": (0.1, 0.2, 0.5), "lambda_": (0.5, 1.0, 1.5)}
_GIN: Space = {
    "lr": (1e-4, 3e-4, 1e-3, 3e-3, 1e-2, 3e-2),
    "weight_decay": (0.0, 1e-4, 1e-3, 1e-2, 5e-2),
    "dropout": (0.0, 0.25, 0.5, 0.75, 0.9),
    "hidden": (8, 16, 32, 64, 128),
    "batch_size": (32, 128),
    "concat": (False, True),
}
_SPACES: Mapping[str, Space] = {
    "gat": _ATTENTION,
    "graphsaint": _GRID,
    "gwnn": _GRID,
    "gcnii": _DEEP,
    "gcnii*": _DEEP,
    "gin-0": {**_GIN, "gamma": (-0.5, 0.0, 0.5, 1.0, 1.5)},
    "gin-eps": _GIN,
}


# Smaller steps than the paper's: stacks of normalised residual layers need them.
_CONTROL: Space = {**_GRID, "lr": (0.002, 0.01, 0.05), "hidden": (32, 64)}


def space(model: str, protocol: str = "tuned", *, common: bool = False) -> Space:
    """Return the values that a protocol chooses among; a filterbank has those of its baseline.

    Examples
    --------
    >>> space("fb-gcn")["hidden"]
    (32, 64)
    >>> space("fb-gcn", "paper")
    {'normalize': (False, True)}
    """
    if protocol == "paper":
        return _SCALING
    return _CONTROL if common else _SPACES.get(model.removeprefix("fb-"), _WIDE)


def settings(choices: Space, count: int, seed: int = 0) -> list[dict[str, Any]]:
    """Return so many different points of a grid, spread evenly over every axis by a Latin hypercube.

    Points of equal width and scaling are neighbours in the list: they train as one batch.

    Examples
    --------
    >>> drawn = settings(space("gcn", common=True), 64)
    >>> len(drawn), sum(values["normalize"] for values in drawn)
    (64, 32)
    """
    sampler = qmc.LatinHypercube(len(choices), rng=np.random.default_rng(seed))
    found: dict[tuple[Any, ...], dict[str, Any]] = {}
    while len(found) < count:
        for point in sampler.random(count):
            values = {name: list(c)[int(u * len(c))] for (name, c), u in zip(choices.items(), point, strict=True)}
            if len(found) < count:
                found[tuple(values.values())] = values
    return sorted(found.values(), key=lambda values: (values.get("hidden", 0), values.get("normalize", False)))
