"""Cells: one model on one data set under one protocol, and which of them a user asks for."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any

from gsp_fb._arguments import check_choice
from gsp_fb.datasets import info

from .catalogue import EXPERIMENTS, METRICS, PAPER_NAMES, Experiment
from .presets import preset
from .protocols import PROTOCOLS, Plan, plan, space
from .rows import Row

__all__ = ["Cell", "cells", "select"]

# How the names of experiments begin whose rows all choose among one list of settings.
COMMON = ("control", "directed")


@dataclass(frozen=True)
class Cell:
    """One figure of a table.

    Attributes
    ----------
    experiment : str
    protocol : {'paper', 'tuned'}
    dataset : str
    row : Row
    quick : bool
        A rehearsal with three splits and few epochs, kept apart from real results.

    Examples
    --------
    >>> cell = next(cells(EXPERIMENTS["table9"], "tuned"))
    >>> cell.path
    'table9/tuned/cornell--MLP.json'
    >>> cell.command
    "python -m paper table9 --protocol tuned --datasets cornell --models 'MLP'"
    """

    experiment: str
    protocol: str
    dataset: str
    row: Row
    quick: bool = False

    @property
    def kind(self) -> str:
        """How it is measured."""
        return EXPERIMENTS[self.experiment].kind

    @property
    def code(self) -> str:
        """Which code decides its figures; a row of ``paper.fingerprint``."""
        return self.kind if self.row.model else "s-values"

    @property
    def metric(self) -> str:
        """What scores it."""
        return METRICS.get(self.dataset, "accuracy")

    @property
    def path(self) -> str:
        """Where it is kept inside the directory of results."""
        label = self.row.label.replace("*", "-star")
        return f"{self.experiment}/{self.protocol}/{self.dataset}--{label}.json"

    @property
    def command(self) -> str:
        """The command that measures it."""
        quick = " --quick" if self.quick else ""
        target = f"--datasets {self.dataset} --models '{self.row.label}'"
        return f"python -m paper {self.experiment} --protocol {self.protocol} {target}{quick}"

    @property
    def plan(self) -> Plan:
        """What it may spend."""
        return plan(
            self.protocol,
            n_nodes=info(self.dataset).nodes or 0,
            kind=self.kind,
            quick=self.quick,
            candidates=self.row.candidates,
            common=self.experiment.startswith(COMMON),
            seed=self.row.seed,
        )

    @property
    def absent_data(self) -> tuple[str, ...]:
        """What it reads and is not at hand as a file."""
        read = (self.dataset, self.dataset + self.row.beside)
        return tuple(name for name in dict.fromkeys(read) if not info(name).available_offline)

    @property
    def preset(self) -> dict[str, Any] | None:
        """The listed hyperparameters; nothing chosen where the paper lists none for the model anywhere."""
        model, filter = self.row.listed
        return preset(PAPER_NAMES.get(self.dataset, self.dataset), model, filter) if model else {}

    @property
    def spec(self) -> dict[str, Any]:
        """All that decides the outcome; two cells of equal spec are the same work."""
        return {
            "kind": self.kind,
            "dataset": self.dataset,
            "metric": self.metric,
            # A cell without a model is a row of its own table: Tables 1 and 3 measure the same data.
            "model": self.row.model or self.experiment,
            "options": dict(self.row.options),
            **({"directed": True} if self.row.directed else {}),
            **({"splits": self.row.splits} if self.row.splits != "public" else {}),
            "protocol": self.protocol,
            "plan": self.plan.as_dict(),
            "preset": self.preset,
            "space": {key: list(values) for key, values in self.space.items()},
        }

    @property
    def space(self) -> dict[str, tuple[Any, ...]]:
        """What a search chooses among; under protocol ``paper`` the scaling of the features alone."""
        chosen = space(self.row.model, self.protocol, common=self.plan.common)
        return {**chosen, **self.row.choices} if self.plan.rungs and self.row.model else {}

    @property
    def digest(self) -> str:
        """A name for the spec."""
        return hashlib.sha256(json.dumps(self.spec, sort_keys=True).encode()).hexdigest()[:24]


def cells(experiment: Experiment, protocol: str, *, quick: bool = False) -> Iterator[Cell]:
    """Yield the cells of an experiment under a protocol, data set by data set; shared ones under their home.

    Examples
    --------
    >>> [cell.path for cell in cells(EXPERIMENTS["table7"], "tuned")][0]
    'table2/tuned/cornell--FB-GraphSAINT.json'
    """
    for dataset in experiment.datasets:
        for row in experiment.rows:
            if protocol not in experiment.protocols or (not row.model and protocol != "paper"):
                continue
            cell = Cell(experiment.name, protocol, dataset, row, quick)
            if row.home:
                yield _at_home(cell)
            elif protocol == "tuned" or cell.preset is not None:
                yield cell


def _at_home(cell: Cell) -> Cell:
    rows = {row.label: row for row in EXPERIMENTS[cell.row.home].rows}
    return Cell(cell.row.home, cell.protocol, cell.dataset, rows[cell.row.label], cell.quick)


def select(
    experiments: Sequence[str] = (),
    *,
    protocols: Iterable[str] = PROTOCOLS,
    datasets: Sequence[str] = (),
    models: Sequence[str] = (),
    quick: bool = False,
) -> list[Cell]:
    """Return the cells that are asked for, each once; an empty choice means all.

    Parameters
    ----------
    experiments : sequence of str
        Rows of ``EXPERIMENTS``.
    protocols : iterable of {'paper', 'tuned'}
    datasets : sequence of str
    models : sequence of str
        Labels of rows (``FB-GCN-lazy``) or names of models (``fb-gcn``), in any case.
    quick : bool

    Raises
    ------
    ParameterError
        No such experiment, data set or model.

    Examples
    --------
    >>> [cell.row.label for cell in select(["table9"], protocols=["tuned"], datasets=["texas"], models=["fb-gcn"])]
    ['FB-GCN-sym', 'FB-GCN-lazy']
    """
    chosen = [EXPERIMENTS[check_choice(name, EXPERIMENTS, "experiment")] for name in experiments or EXPERIMENTS]
    wanted = [check_choice(protocol, PROTOCOLS, "protocol") for protocol in protocols]
    found = [cell for row in chosen for protocol in wanted for cell in cells(row, protocol, quick=quick)]
    known = {name: name for cell in found for name in (cell.row.label.lower(), cell.row.model)}
    names = {check_choice(model.lower(), known, "model") for model in models}
    sets = {check_choice(name, {cell.dataset: 0 for cell in found}, "data set") for name in datasets}
    kept = (cell for cell in found if not names or names & {cell.row.label.lower(), cell.row.model})
    return list({cell.path: cell for cell in kept if not sets or cell.dataset in sets}.values())
