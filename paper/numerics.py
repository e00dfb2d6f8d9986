"""Whether other code still computes a cell's figures: a rehearsal of the cell on generated data, compared by value.

A cell whose code changed stands where the rehearsal gives the numbers that it gave when the cell was measured:
a module that moved or a faster kernel leaves the figures as they are, another initialisation or another race does not.
"""

from __future__ import annotations

import json
import tempfile
from collections.abc import Callable, Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
from scipy import sparse

from gsp_fb import Graph
from gsp_fb._atomic import write_json
from gsp_fb.datasets import cache_dir, contextual_sbm

from .cells import Cell
from .choice import choose
from .fingerprint import fingerprint
from .journal import Journal
from .selection import settings_on_all_splits
from .training import Job, one_thread

__all__ = ["rehearsed", "stands"]

# Relative difference of an output S-value after a few epochs: sums in another order give 1e-5, another formula 1e-1.
TOLERANCE = 5e-3
# The set whose listed hyperparameters a rehearsal begins with: one rehearsal serves all data sets of a row.
_LISTED = "texas"


def stands(cell: Cell, facts: Mapping[str, Any]) -> bool:
    """Return whether the present code gives the figures of a stored cell.

    True for a cell of the present code. For one of other code the same work must be specified, and the rehearsal must
    give the stored numbers; a cell without a rehearsal does not stand.
    """
    if facts.get("fingerprint") == fingerprint(cell.code):
        return True
    stored = facts.get("rehearsal")
    if not stored or facts.get("digest") != cell.digest:
        return False
    return bool(np.allclose(rehearsed(cell) or np.nan, stored, rtol=TOLERANCE, atol=TOLERANCE))


def rehearsed(cell: Cell) -> list[float] | None:
    """Return the output S-values and validation scores (of a selection all scores) of a quick run on generated data.

    None where a cell trains no network on nodes, or needs more than a graph, features and labels.
    """
    if cell.code not in _REHEARSALS or cell.row.beside:
        return None
    quick = replace(cell, quick=True, dataset=_LISTED)
    path = cache_dir() / "reproduce" / f"rehearsal-{quick.digest}-{fingerprint(cell.code)}.json"
    if not path.exists():
        path.parent.mkdir(parents=True, exist_ok=True)
        write_json(path, {"numbers": _run(quick)})
    found: list[float] = json.loads(path.read_text(encoding="utf-8"))["numbers"]
    return found


def _run(cell: Cell) -> list[float]:
    data = contextual_sbm(60, 3, n_features=8, rng=0)
    if cell.row.directed:
        arcs = sparse.triu(data.graph.adjacency)
        data = replace(data, graph=Graph.from_adjacency(arcs, directed=True))
    job = Job(cell, data, tuple(data.splits[: cell.plan.splits]))
    with one_thread(), tempfile.TemporaryDirectory() as folder:
        return _REHEARSALS[cell.code](job, Journal(Path(folder, "steps.jsonl"), {}))


def _of_the_chosen(job: Job, journal: Journal) -> list[float]:
    runs = job.runs(choose(job, journal).values, journal)
    return [float(run["s_value"]) for run in runs] + [float(run["scores"]["val"]) for run in runs]


def _of_all_settings(job: Job, journal: Journal) -> list[float]:
    trials = settings_on_all_splits(job, journal)["trials"]
    return [float(score) for trial in trials for part in ("validation", "test") for score in trial[part]]


# Kind of cell -> the numbers of its rehearsal.
_REHEARSALS: Mapping[str, Callable[[Job, Journal], list[float]]] = {
    **dict.fromkeys(("nodes", "alphas", "tsne"), _of_the_chosen),
    "selection": _of_all_settings,
}
