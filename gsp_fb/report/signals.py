"""The signals of a report: those that are measured as wholes, and the single columns that are drawn."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from .._arguments import host_array
from ..backend import FloatArray, IntArray, Signal, is_sparse
from ..energy import one_hot, row_normalized, signal_energy
from ..errors import SignalError
from ..graph import Graph
from .facts import SignalFacts

__all__ = ["Signals", "make_signals"]

# How many single columns of each signal the page offers, those of most energy first.
DRAWN = {"labels": 8, "features": 5}


@dataclass(frozen=True, eq=False)
class Signals:
    """``measured``: whole signals by name; ``drawn``: single columns by title; ``classes``: labels, one a node."""

    measured: dict[str, Signal]
    drawn: dict[str, FloatArray]
    facts: tuple[SignalFacts, ...]
    classes: IntArray | None


def make_signals(graph: Graph, x: Any, y: Any, notes: dict[str, str]) -> Signals:
    """Return what can be measured on ``graph``: features and labels, or its degrees where it has neither.

    Examples
    --------
    >>> found = make_signals(Graph.from_edges([(0, 1), (1, 2)]), None, [0, 0, 1], {})
    >>> list(found.measured), list(found.drawn)
    (['labels'], ['label 0', 'label 1', 'degree'])
    """
    given: dict[str, tuple[Signal, str]] = {}
    classes = None
    if x is not None:
        given["features"] = _features(graph.check_signal(x))
    if y is not None:
        classes, given["labels"] = _labels(graph, y)
    made = {name: pair for name, pair in given.items() if signal_energy(pair[0]) > 0}
    if len(made) < len(given):
        notes["energies"] = f"Zero everywhere, so not measured: {', '.join(given.keys() - made.keys())}."
    made = made or _structure(graph)
    whole = {name: values for name, (values, _) in made.items()}
    facts = tuple(SignalFacts(name, _width(values), how) for name, (values, how) in made.items())
    rest = {"degree": graph.degrees} if graph.degrees.any() else {"constant": np.ones(graph.n_nodes)}
    return Signals(whole, {**_columns(whole), **rest}, facts, classes)


def _features(x: Signal) -> tuple[Signal, str]:
    if np.iscomplexobj(x.data if is_sparse(x) else x):
        raise SignalError("a report needs real features; give their real and imaginary parts as columns")
    if x.ndim == 1:
        return x, "as given"
    if float(x.min()) < 0:
        return x, "as given: a row with negative entries is no list of shares"
    return row_normalized(x), "each row divided by its sum"


def _labels(graph: Graph, y: Any) -> tuple[IntArray | None, tuple[Signal, str]]:
    y = host_array(graph.nodes.align(y), SignalError, "labels")
    if y.ndim == 2:
        return None, (graph.check_signal(y), "one column a label")
    y = graph.check_labels(y)
    return y, (one_hot(y), "one 0/1 column a class")


def _structure(graph: Graph) -> dict[str, tuple[Signal, str]]:
    if graph.degrees.any():
        return {"degree": (graph.degrees, "the degree of each node, as no other signal was given")}
    return {"constant": (np.ones(graph.n_nodes), "1 at every node, as there is nothing else to measure")}


def _width(x: Signal) -> int:
    return int(x.shape[1]) if x.ndim == 2 else 1


def _columns(whole: dict[str, Signal]) -> dict[str, FloatArray]:
    """Return the columns of most energy, labels first, in their own order."""
    found: dict[str, FloatArray] = {}
    for name in (name for name in DRAWN if name in whole):
        x = whole[name] if whole[name].ndim == 2 else whole[name][:, None]
        energy = np.asarray(signal_energy(x, per_column=True))
        best = np.sort(np.argsort(-energy, kind="stable")[: DRAWN[name]])
        picked = x[:, best].toarray() if is_sparse(x) else x[:, best]
        titles = [f"{name[:-1]} {column}" for column in best]
        found |= {
            title: np.asarray(picked[:, k], dtype=np.float64) for k, title in enumerate(titles) if energy[best[k]] > 0
        }
    return found
