"""What is measured in a cell: a function for each kind of experiment, from a cell to the facts that are stored."""

from __future__ import annotations

import hashlib
import statistics
import tempfile
from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np

from .cells import Cell
from .choice import Choice, choose
from .journal import Journal
from .s_values import s_value_table
from .selection import settings_on_all_splits
from .training import Job

__all__ = ["MEASURES", "measure"]

Facts = dict[str, Any]
# Independent runs behind a curve with a band, and as many nodes as a scatter plot can show.
CURVES, POINTS = 20, 1500


def measure(cell: Cell, journal: Journal) -> Facts:
    """Return what a cell measures; every finished step is kept in the journal."""
    return MEASURES[cell.code](cell, journal)


def _s_values(cell: Cell, journal: Journal) -> Facts:
    return {"values": journal.step("table", lambda: _table_rows(cell))}


def _table_rows(cell: Cell) -> list[Facts]:
    return [asdict(row) for row in s_value_table([cell.dataset]) if row.table == cell.experiment]


def _nodes(cell: Cell, journal: Journal) -> Facts:
    job = Job.of(cell)
    chosen = choose(job, journal)
    return {**_described(job, chosen), **_summary(job.runs(chosen.values, journal))}


def _graphs(cell: Cell, journal: Journal) -> Facts:
    """As nodes; under GIN's protocol the one epoch counts whose mean over the scored folds is best."""
    job = Job.of(cell)
    chosen = choose(job, journal)
    runs = job.runs(chosen.values, journal)
    if cell.protocol == "paper":
        epoch = int(np.argmax(np.mean([run["curve"] for run in runs], axis=0)))
        scored = [run["curve"][epoch] for run in runs]
        runs = [
            {**run, "best_epoch": epoch + 1, "scores": {"test": s, "val": s}}
            for run, s in zip(runs, scored, strict=True)
        ]
    return {**_described(job, chosen), **_summary(runs)}


def _selection(cell: Cell, journal: Journal) -> Facts:
    return settings_on_all_splits(Job.of(cell), journal)


def _described(job: Job, chosen: Choice) -> Facts:
    """Return the facts about what was trained on which data."""
    options, training = job.divided(chosen.values)
    return {
        "options": options,
        "training": training,
        "n_trials": chosen.n_trials,
        "choice": {**asdict(chosen), "space": {key: list(choices) for key, choices in job.cell.space.items()}},
        "data": {
            "graph": job.data.graph.sha256,
            "splits": _digest(job.splits),
            "sizes": [list(split.sizes) for split in job.splits],
        },
        "seeds": job.seeds,
    }


def _digest(splits: Sequence[Any]) -> str:
    total = hashlib.sha256()
    for split in splits:
        for part in (split.train, split.val, split.test):
            total.update(np.ascontiguousarray(part, dtype=np.int64).tobytes())
    return total.hexdigest()


def _summary(runs: Sequence[Mapping[str, Any]]) -> Facts:
    test, val = ([run["scores"][part] for run in runs] for part in ("test", "val"))
    return {
        "mean": statistics.fmean(test),
        "std": statistics.stdev(test) if len(test) > 1 else 0.0,
        "val_mean": statistics.fmean(val),
        "splits": list(range(len(runs))),
        "test": test,
        "validation": val,
        "epochs": [run["epochs"] for run in runs],
        "best_epochs": [run["best_epoch"] for run in runs],
        "s_values": [run["s_value"] for run in runs],
        "s_values_probabilities": [run["s_value_probabilities"] for run in runs],
        "alphas": [run["alphas"] for run in runs],
    }


def _alphas(cell: Cell, journal: Journal) -> Facts:
    """Measure the output layer's alphas epoch by epoch over independent runs, none of them stopped early."""
    job = Job.of(cell)
    chosen = choose(job, journal)
    seeds = list(range(len(job.splits) if cell.quick else CURVES))
    courses = [journal.step(f"course {seed}", partial(_course, job, chosen.values, seed)) for seed in seeds]
    arrays = {name: [course[name] for course in courses] for name in ("low", "high")}
    return {**_described(job, chosen), "seeds": seeds, "arrays": arrays}


def _course(job: Job, values: Mapping[str, Any], seed: int) -> Facts:
    history = job.train(values, job.splits[seed % len(job.splits)], seed).history
    last = max(int(key.rpartition("_")[2]) for key in history[0] if key.startswith("alpha_low"))
    return {name: [row[f"alpha_{name}_{last}"] for row in history] for name in ("low", "high")}


def _tsne(cell: Cell, journal: Journal) -> Facts:
    """Train on the first split and keep where t-SNE puts the last layer's channels."""
    job = Job.of(cell)
    chosen = choose(job, journal)
    arrays = journal.step("embeddings", partial(_embeddings, job, chosen.values))
    return {**_described(job, chosen), "splits": [0], "seeds": [0], "arrays": arrays}


def _embeddings(job: Job, values: Mapping[str, Any]) -> Facts:
    from gsp_fb.nn import embed
    from gsp_fb.plot.networks import in_plane

    with tempfile.TemporaryDirectory() as folder:
        job.train(values, job.splits[0], 0, Path(folder))
        parts = embed(folder, job.data)
    shown = np.sort(np.random.default_rng(0).permutation(job.data.graph.n_nodes)[:POINTS])
    # The points of the plane are kept, not the embeddings: a page is drawn from them in a moment.
    places = in_plane({name: part[shown] for name, part in parts.items()}, len(shown))
    return {"y": job.data.y[shown].tolist(), **{name: points.tolist() for name, points in places.items()}}


MEASURES: Mapping[str, Callable[[Cell, Journal], Facts]] = {
    "s-values": _s_values,
    "nodes": _nodes,
    "graphs": _graphs,
    "alphas": _alphas,
    "tsne": _tsne,
    "selection": _selection,
}
