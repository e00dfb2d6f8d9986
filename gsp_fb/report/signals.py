"""The signals of a report: those that are measured as wholes, and the single columns that are drawn."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from .._arguments import host_array
from ..backend import FloatArray, IntArray, Signal, is_sparse, to_dense
from ..datasets.splits import class_codes
from ..energy import one_hot, row_normalized, signal_energy
from ..errors import SignalError
from ..graph import Graph
from .facts import SignalFacts

__all__ = ["Signals", "make_signals"]

# How many single columns of each signal the page offers, those of most energy first.
DRAWN = {"labels": 8, "features": 5, "columns": 5}


@dataclass(frozen=True, eq=False)
class Signals:
    """``measured``: whole signals by name; ``drawn``: single columns by title; ``features``, ``classes``: as given."""

    measured: dict[str, Signal]
    drawn: dict[str, FloatArray]
    facts: tuple[SignalFacts, ...]
    features: Signal | None
    classes: IntArray | None
    class_names: tuple[str, ...] = ()
    named: Sequence[str] = ()

    def centred(self) -> dict[str, FloatArray]:
        """Return the drawn features that have a name of their own, less their means; constant ones are left out."""
        found = {name: self.drawn[name] - self.drawn[name].mean() for name in self.named if name in self.drawn}
        return {name: x for name, x in found.items() if np.abs(x).max() > 1e-12 * np.abs(self.drawn[name]).max()}


def make_signals(graph: Graph, x: Any, y: Any, notes: dict[str, str]) -> Signals:
    """Return what can be measured on ``graph``: features and labels, or its degrees where it has neither."""
    given: dict[str, tuple[Signal, str]] = {}
    titles: dict[str, Sequence[Any]] = {}
    classes: IntArray | None = None
    names: tuple[str, ...] = ()
    if x is not None:
        x, titles["features"] = _named_features(graph, x)
        x = graph.check_signal(x)
        given["features"] = _features(x, named=bool(titles["features"]))
    if y is not None:
        classes, names, given["labels"] = _labels(graph, graph.nodes[y] if isinstance(y, str) else y)
        titles["labels"] = names
    made = {name: pair for name, pair in given.items() if signal_energy(pair[0]) > 0}
    if len(made) < len(given):
        notes["energies"] = f"Zero everywhere, so not measured: {', '.join(given.keys() - made.keys())}."
    made = made or _structure(graph)
    whole = {name: values for name, (values, _) in made.items()}
    named = titles.get("features", ())
    largest = {name: _largest(x, named if name == "features" else ()) for name, x in whole.items()}
    facts = tuple(SignalFacts(name, _width(x), made[name][1], *largest[name]) for name, x in whole.items())
    rest = {name: values for name, (values, _) in _structure(graph).items()}
    drawn = {**_columns(whole, titles), **_node_columns(graph), **rest}
    return Signals(whole, drawn, facts, x, classes, names, named)


def _named_features(graph: Graph, x: Any) -> tuple[Any, Sequence[Any]]:
    """Return features and the titles of their columns: numeric columns of the node table by name, or a table's own."""
    if isinstance(x, str) or (isinstance(x, list | tuple) and x and all(isinstance(name, str) for name in x)):
        chosen = [x] if isinstance(x, str) else list(x)
        return np.stack([np.asarray(graph.nodes[name], dtype=np.float64) for name in chosen], axis=1), chosen
    return x, [str(name) for name in getattr(x, "columns", ()) if isinstance(name, str)]


def _node_columns(graph: Graph) -> dict[str, FloatArray]:
    """Return the finite numeric columns of the node table as signals."""
    found = {name: np.asarray(graph.nodes[name], dtype=np.float64) for name in graph.nodes.numeric}
    kept = [(name, column) for name, column in found.items() if np.isfinite(column).all() and column.any()]
    return dict(kept[: DRAWN["columns"]])


def _features(x: Signal, *, named: bool) -> tuple[Signal, str]:
    if np.iscomplexobj(x.data if is_sparse(x) else x):
        raise SignalError("a report needs real features; give their real and imaginary parts as columns")
    if x.ndim == 1 or x.shape[1] == 1 or named:
        return x, "as given"
    if float(x.min()) < 0:
        return x, "as given: a row with negative entries is no list of shares"
    return row_normalized(x), "each row divided by its sum"


def _labels(graph: Graph, y: Any) -> tuple[IntArray | None, tuple[str, ...], tuple[Signal, str]]:
    """Return one class a node with the classes' names, and the columns that are measured."""
    y = host_array(graph.nodes.align(y), SignalError, "labels")
    if y.ndim == 2:
        return None, (), (graph.check_signal(y), "one column a label")
    names: tuple[str, ...] = ()
    if y.dtype.kind in "OUS":
        codes = class_codes(y)
        names, y = tuple(np.unique(y[codes >= 0].astype(str)).tolist()), codes
    y = graph.check_labels(y)
    names = names or tuple(str(label) for label in range(int(y.max(initial=-1)) + 1))
    return y, names, (one_hot(y), "one 0/1 column a class")


def _structure(graph: Graph) -> dict[str, tuple[Signal, str]]:
    if graph.degrees.any():
        return {"degree": (graph.degrees, "the degree of each node, as no other signal was given")}
    return {"constant": (np.ones(graph.n_nodes), "1 at every node, as there is nothing else to measure")}


def _largest(x: Signal, titles: Sequence[Any]) -> tuple[str, float]:
    """Return the named column of most energy and its share of all; nothing for a single column or without names."""
    if _width(x) < 2 or len(titles) != _width(x):
        return "", 0.0
    energy = np.asarray(signal_energy(x, per_column=True))
    return str(titles[int(energy.argmax())]), float(energy.max() / energy.sum())


def _width(x: Signal) -> int:
    return int(x.shape[1]) if x.ndim == 2 else 1


def _columns(whole: dict[str, Signal], titles: dict[str, Sequence[Any]]) -> dict[str, FloatArray]:
    """Return the columns of most energy, labels first, in their own order."""
    found: dict[str, FloatArray] = {}
    for name in (name for name in DRAWN if name in whole):
        x = whole[name] if whole[name].ndim == 2 else whole[name][:, None]
        energy = np.asarray(signal_energy(x, per_column=True))
        best = np.sort(np.argsort(-energy, kind="stable")[: DRAWN[name]])
        picked = to_dense(x[:, best])
        own = titles.get(name, ())
        shown = own if len(own) == x.shape[1] else range(x.shape[1])
        # A named feature is titled as its column of the node table, which is then not offered twice.
        title = "{}" if name == "features" and shown is own else f"{name[:-1]} {{}}"
        found |= {
            title.format(shown[column]): np.asarray(picked[:, k], dtype=np.float64)
            for k, column in enumerate(best)
            if energy[column] > 0
        }
    return found
