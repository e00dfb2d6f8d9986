"""Trainings that belong in a report: curves, alphas and channel embeddings, read from run directories."""

from __future__ import annotations

import os
from collections.abc import Iterable, Mapping
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import numpy as np

from .._rundir import METRICS_FILE, run_directories
from .._sidecar import CHECKPOINT_FILE
from ..backend import FloatArray, IntArray
from ..errors import FormatError, GspError
from ..graph import Graph
from .facts import Embedding, RunFacts

__all__ = ["explained_by_classes", "read_runs"]

# A run takes some 80 kB of a page that is to stay below 5 MB.
SHOWN_RUNS = 20
# Points of a curve and of an embedding's picture; more would only be ink.
PLOTTED_EPOCHS = 200
PLOTTED_NODES = 400


def read_runs(
    directories: Iterable[str | os.PathLike[str]], graph: Graph, x: Any, y: Any, notes: dict[str, str]
) -> tuple[RunFacts, ...]:
    """Return the runs found in ``directories``, each a run directory or a directory of them."""
    found = [run for directory in directories for run in run_directories(Path(directory), METRICS_FILE)]
    read = tuple(_read(run, graph, x, y, notes) for run in found[:SHOWN_RUNS])
    if len(found) > SHOWN_RUNS:
        left_out = f"The first {SHOWN_RUNS} of {len(found)} runs are shown, to keep the page small."
        notes["runs"] = " ".join(filter(None, [left_out, notes.get("runs", "")]))
    return read


def _read(run: Path, graph: Graph, x: Any, y: Any, notes: dict[str, str]) -> RunFacts:
    from .. import nn

    rows = [{name: float(entry) for name, entry in row.items()} for row in nn.read_metrics(run)]
    if not rows:
        raise FormatError(f"{run / METRICS_FILE} has no whole row yet")
    facts: Mapping[str, Any] = nn.read_checkpoint(run).facts if (run / CHECKPOINT_FILE).is_file() else {}
    best = facts.get("best_epoch")
    return RunFacts(
        name=run.name,
        model=str(facts["recipe"]["model"]) if facts else "model unknown: no checkpoint",
        epochs=len(rows),
        best_epoch=best,
        best=next((row for row in rows if row["epoch"] == best), {}),
        curves={name: tuple(rows[i][name] for i in _evenly(len(rows), PLOTTED_EPOCHS)) for name in rows[0]},
        embeddings=_embeddings(run, graph, x, y, notes) if facts else (),
    )


def _evenly(length: int, limit: int) -> IntArray:
    return np.unique(np.linspace(0, length - 1, min(length, limit)).round().astype(int))


def _embeddings(run: Path, graph: Graph, x: Any, y: Any, notes: dict[str, str]) -> tuple[Embedding, ...]:
    """Return the last layer's channels; models are trained without self-loops, so those may have to go first."""
    from .. import nn

    if x is None or y is None or np.ndim(y) != 1:
        notes["runs"] = "Embeddings need features and one class a node."
        return ()
    without = Graph.from_adjacency(graph.adjacency, directed=graph.directed, loops="drop") if graph.n_loops else graph
    trained_on = nn.read_checkpoint(run).facts["data"]["graph"]
    data = SimpleNamespace(graph=without if trained_on == without.sha256 else graph, x=x, y=np.asarray(y))
    try:
        if trained_on not in (without.sha256, graph.sha256):
            raise FormatError("it was trained on other data (another graph).")
        parts = nn.embed(run, data)
    except GspError as refused:
        notes["runs"] = f"No embeddings of {run.name}: {refused}"
        return ()
    return tuple(_embedding(name, part, np.asarray(y)) for name, part in parts.items())


def _embedding(channel: str, values: FloatArray, y: IntArray) -> Embedding:
    labelled = np.flatnonzero(y >= 0)
    centred = np.asarray(values, dtype=np.float64)[labelled]
    centred = centred - centred.mean(axis=0)
    _, _, axes = np.linalg.svd(centred, full_matrices=False)
    flat = np.zeros((len(labelled), 2))
    flat[:, : min(2, len(axes))] = centred @ axes[:2].T
    shown = _evenly(len(labelled), PLOTTED_NODES)
    points = tuple((float(a), float(b)) for a, b in flat[shown])
    return Embedding(channel, points, tuple(y[labelled][shown].tolist()), explained_by_classes(centred, y[labelled]))


def explained_by_classes(values: FloatArray, y: IntArray) -> float:
    r"""Return the share of the variance between classes, :math:`\sum_k n_k |m_k - m|^2 / \sum_i |v_i - m|^2`.

    >>> explained_by_classes(np.array([[0.0], [0.0], [2.0], [2.0]]), np.array([0, 0, 1, 1]))
    1.0
    """
    centred = values - values.mean(axis=0)
    total = float((centred**2).sum())
    parts = (centred[y == label] for label in np.unique(y))
    between = sum(len(part) * float((part.mean(axis=0) ** 2).sum()) for part in parts)
    return between / total if total > 0 else float("nan")
