"""How the model of a cell is trained with given hyperparameters."""

from __future__ import annotations

import contextlib
import warnings
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, fields, replace
from functools import partial
from pathlib import Path
from typing import Any

from gsp_fb._extras import require
from gsp_fb.datasets import Split, load
from gsp_fb.errors import GspWarning
from gsp_fb.nn.splits import BATCHED_NODES

from .cells import Cell
from .journal import Journal
from .published import balanced_splits, seeded_splits

__all__ = ["Job", "one_thread"]

Facts = dict[str, Any]
# How the splits of a row are called -> those of a data set.
_SPLITS: Mapping[str, Callable[[Any], tuple[Split, ...]]] = {
    "public": lambda data: data.splits,
    "balanced": lambda data: balanced_splits(data.y),
    "seeded": lambda data: seeded_splits(data.y),
}


def _model(name: str) -> Any:
    """Return a row of the table of models; where the paper lists nothing, its FB-GCN has the settings of GCN."""
    from gsp_fb.nn import MODELS

    if name != "fb-gcn":
        return MODELS[name]
    return replace(MODELS["gcn"], options={**MODELS["gcn"].options, "channels": "both"})


@dataclass(frozen=True, eq=False)
class Job:
    """A cell with its data at hand.

    Attributes
    ----------
    cell : Cell
    data : Dataset or GraphCollection
    splits : tuple of Split
        Those of the plan.
    """

    cell: Cell
    data: Any
    splits: tuple[Split, ...]

    @classmethod
    def of(cls, cell: Cell) -> Job:
        """Return the job of a cell: the source's self-loops dropped, undirected unless its row is on arcs."""
        data = load(cell.dataset, loops="drop", directed=cell.row.directed)
        splits = _fold_splits(data, cell.protocol) if cell.kind == "graphs" else _SPLITS[cell.row.splits](data)
        return cls(cell, data, tuple(splits[: cell.plan.splits]))

    @property
    def seeds(self) -> list[int]:
        """Seed of the model on each split: its number, apart from those of a repeated search."""
        return [100 * self.cell.row.seed + number for number in range(len(self.splits))]

    def defaults(self) -> Facts:
        """Return the model's own values of what a search varies."""
        from gsp_fb.nn import TrainConfig

        row = _model(self.cell.row.model)
        known = {**TrainConfig().as_dict(), **row.training, **row.options}
        return {name: known[name] for name in self.cell.space}

    def divided(self, values: Mapping[str, Any]) -> tuple[Facts, Facts]:
        """Return hyperparameters as all options of the model and as its training configuration."""
        from gsp_fb.nn import TrainConfig

        plan, row = self.cell.plan, _model(self.cell.row.model)
        patience = self.cell.row.options.get("patience", plan.patience)
        fixed = {"epochs": plan.epochs, "patience": patience, "metric": self.cell.metric}
        training = {**TrainConfig().as_dict(), **row.training, **values, **self.cell.row.options, **fixed}
        options = {**row.options, **values, **self.cell.row.options}
        names = {entry.name for entry in fields(TrainConfig)}
        return (
            {key: value for key, value in options.items() if key not in names},
            {key: value for key, value in training.items() if key in names},
        )

    def runs(self, values: Mapping[str, Any], journal: Journal) -> list[Facts]:
        """Return what training reaches on every split, test included; finished splits come from the journal."""
        numbers = list(range(len(self.splits)))
        at_once = self.data.graph.n_nodes <= BATCHED_NODES and self.cell.kind != "graphs"
        found: list[Facts] = []
        for batch in [numbers] if at_once else [[number] for number in numbers]:
            found += journal.step(f"runs {batch[0]}..{batch[-1]}", partial(self._trained, values, batch))
        return found

    def _trained(self, values: Mapping[str, Any], numbers: Sequence[int]) -> list[Facts]:
        """Return what each split reaches."""
        from gsp_fb.nn import TrainConfig, train_splits

        options, training = self.divided(values)
        splits = [self.splits[number] for number in numbers]
        config, seeds = TrainConfig(**training), [self.seeds[number] for number in numbers]
        found = train_splits(self.cell.row.model, self.data, splits, config, seeds=seeds, **options)
        return [_facts(result, curve=self.cell.kind == "graphs") for result in found]

    def train(self, values: Mapping[str, Any], split: Split, seed: int, directory: Path | None = None) -> Any:
        """Return the result of one training, with its history."""
        from gsp_fb.nn import TrainConfig, build, train

        options, training = self.divided(values)
        model = build(self.cell.row.model, self.data, seed=seed, **options)
        return train(model, self.data, split, TrainConfig(**training), directory=directory)


def _facts(result: Any, *, curve: bool = False) -> Facts:
    """Return a result as the journal holds it; its time is the journal's to measure."""
    facts: Facts = {key: value for key, value in result.as_dict().items() if key not in ("seconds", "memory")}
    return {**facts, "curve": [row["val_accuracy"] for row in result.history]} if curve else facts


def _fold_splits(data: Any, protocol: str) -> tuple[Split, ...]:
    """Return a split for every fold of a collection of graphs.

    ``tuned`` sets part of the training graphs aside for validation. ``paper`` is GIN's protocol, where the scored
    fold also chooses the epoch: it stands as validation, and there is no test part left.
    """
    from gsp_fb.nn import with_validation

    if protocol == "tuned":
        return with_validation(data.splits, data.y)
    return tuple(Split(split.train, split.test, split.val) for split in data.splits)


@contextlib.contextmanager
def one_thread() -> Iterator[None]:
    """Compute on one thread, where results repeat to the bit; two processes share two cores better than threads do."""
    torch = require("torch", "reproducing the paper")
    before = torch.get_num_threads()
    torch.set_num_threads(1)
    try:
        with warnings.catch_warnings():
            # Several splits lack a class in training; that is the data's, and stated once in the documentation.
            warnings.simplefilter("ignore", GspWarning)
            yield
    finally:
        torch.set_num_threads(before)
