"""How the model of a cell is trained with given hyperparameters: all splits in one batch where that pays."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, fields
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np

from gsp_fb.datasets import Split, load
from gsp_fb.errors import TrainingError

from .cells import Cell
from .journal import Journal

__all__ = ["Job"]

# Models that train as one batch, with one channel or two, and up to how many nodes that is faster than one by one.
_GEOMETRIC = ("geom-gcn-p", "geom-gcn-s", "geom-gcn-i")
TOGETHER = ("mlp", "gcn", "graphsage", *_GEOMETRIC, "gwnn", "gcnii", "gcnii*")
TOGETHER_NODES = 1_000

Facts = dict[str, Any]


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
        """Return the job of a cell: its data undirected, the source's self-loops dropped, as models are trained."""
        data = load(cell.dataset, loops="drop")
        splits = _fold_splits(data, cell.protocol) if cell.kind == "graphs" else data.splits
        return cls(cell, data, tuple(splits[: cell.plan.splits]))

    @property
    def together(self) -> bool:
        """Whether several splits train as one batch."""
        return self.cell.row.model.removeprefix("fb-") in TOGETHER and self.data.graph.n_nodes <= TOGETHER_NODES

    def defaults(self) -> Facts:
        """Return the model's own values of what a search varies."""
        from gsp_fb.nn import MODELS, TrainConfig

        row = MODELS[self.cell.row.model]
        known = {**TrainConfig().as_dict(), **row.training, **row.options}
        return {name: known[name] for name in self.cell.space}

    def divided(self, values: Mapping[str, Any]) -> tuple[Facts, Facts]:
        """Return hyperparameters as all options of the model and as its training configuration."""
        from gsp_fb.nn import MODELS, TrainConfig

        plan, row = self.cell.plan, MODELS[self.cell.row.model]
        fixed = {"epochs": plan.epochs, "patience": plan.patience, "metric": self.cell.metric}
        training = {**TrainConfig().as_dict(), **row.training, **values, **self.cell.row.options, **fixed}
        options = {**row.options, **values, **self.cell.row.options}
        names = {entry.name for entry in fields(TrainConfig)}
        return (
            {key: value for key, value in options.items() if key not in names},
            {key: value for key, value in training.items() if key in names},
        )

    def validation(self, values: Mapping[str, Any], numbers: Sequence[int]) -> list[float] | None:
        """Return the validation scores on splits that have no test part; None where training diverges.

        The test items are taken out of the splits before anything is trained, so no choice can depend on them.
        """
        nobody = np.zeros(0, dtype=np.int64)
        blind = [Split(self.splits[k].train, self.splits[k].val, nobody) for k in numbers]
        try:
            return [facts["scores"]["val"] for facts in self._trained(values, blind, numbers)]
        except TrainingError:
            return None

    def runs(self, values: Mapping[str, Any], journal: Journal) -> list[Facts]:
        """Return what training reaches on every split, test included; finished splits come from the journal."""
        numbers = range(len(self.splits))
        if self.together:
            whole: list[Facts] = journal.step("runs", lambda: self._trained(values, self.splits, numbers))
            return whole
        return [journal.step(f"run {k}", partial(self._trained, values, [self.splits[k]], [k]))[0] for k in numbers]

    def _trained(self, values: Mapping[str, Any], splits: Sequence[Split], seeds: Iterable[int]) -> list[Facts]:
        """Return what each split reaches, its number being the seed of its model."""
        from gsp_fb.nn import TrainConfig, train_splits

        options, training = self.divided(values)
        if self.together:
            config = TrainConfig(**training)
            found = train_splits(self.cell.row.model, self.data, splits, config, seeds=list(seeds), **options)
            return [_facts(result) for result in found]
        pairs = zip(splits, seeds, strict=True)
        return [_facts(self.train(values, split, seed), curve=self.cell.kind == "graphs") for split, seed in pairs]

    def train(self, values: Mapping[str, Any], split: Split, seed: int, directory: Path | None = None) -> Any:
        """Return the result of one training, with its history."""
        from gsp_fb.nn import TrainConfig, build, train

        options, training = self.divided(values)
        model = build(self.cell.row.model, self.data, seed=seed, **options)
        return train(model, self.data, split, TrainConfig(**training), directory=directory)


def _facts(result: Any, *, curve: bool = False) -> Facts:
    """Return a result as the journal holds it; its time is the journal's to measure."""
    facts: Facts = {key: value for key, value in result.as_dict().items() if key != "seconds"}
    return {**facts, "curve": [row["val_accuracy"] for row in result.history]} if curve else facts


def _fold_splits(data: Any, protocol: str) -> tuple[Split, ...]:
    """Return a split for every fold of a collection of graphs.

    ``tuned`` sets part of the training graphs aside for validation. ``paper`` is GIN's protocol, where the scored
    fold also chooses the epoch: it stands as validation, and there is no test part left.
    """
    from gsp_fb.nn.protocols import with_validation

    if protocol == "tuned":
        return with_validation(data.splits, data.y)
    return tuple(Split(split.train, split.test, split.val) for split in data.splits)
