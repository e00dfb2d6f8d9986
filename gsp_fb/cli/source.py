"""What a command works on: a data set by name, or a graph file with optional signal and label files."""

from __future__ import annotations

import argparse
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from .. import datasets, distributed
from .._arguments import check_choice
from ..backend import Signal
from ..energy import one_hot, row_normalized
from ..errors import FormatError, ParameterError
from ..files import read_graph
from ..graph import Graph
from ..opening import n_ranks, open_graph
from ..outofcore import is_folder_name
from .progress import progress

__all__ = [
    "Source",
    "add_memory",
    "add_signal_choice",
    "add_source",
    "chosen_signal",
    "label_columns",
    "read_source",
    "signals_of",
]


@dataclass(frozen=True)
class Source:
    """A graph with whatever signals came with it."""

    name: str
    graph: Graph
    x: Signal | None
    y: Any | None


def add_source(parser: argparse.ArgumentParser) -> None:
    """Add the arguments that name a graph and its signals."""
    what = "a data set (see `gsp-fb datasets`) or a graph file"
    parser.add_argument("source", help=what)
    parser.add_argument("--directed", action="store_true", help="keep arcs as they are listed")
    parser.add_argument("--loops", choices=("keep", "drop"), default="keep", help="what becomes of self-loops")
    parser.add_argument("--signal", type=Path, metavar="FILE", help="signal of a graph file: .npy, .csv or .txt")
    parser.add_argument("--labels", type=Path, metavar="FILE", help="class labels of a graph file, likewise")


def read_source(args: argparse.Namespace) -> Source:
    """Return what the command line names; a file wins over a data set of the same name."""
    path = Path(args.source)
    if is_folder_name(path):
        graph = _stored(path, args)
        return Source(path.name, graph, _rows(graph, args.signal), _rows(graph, args.labels))
    if path.exists() or path.suffix:
        graph = read_graph(path, directed=args.directed or None, loops=args.loops)
        return Source(path.name, graph, _array(args.signal), _array(args.labels))
    row = datasets.info(args.source)
    data = datasets.load(row.name, directed=args.directed, loops=args.loops)
    if isinstance(data, datasets.GraphCollection):  # measured as one graph with a component or more for each
        return Source(row.name, data.graph, None, None)
    return Source(row.name, data.graph, data.x, data.y)


def _stored(path: Path, args: argparse.Namespace) -> Graph:
    """Return the graph in a folder: on disk for the commands that have ``--memory``, others load it."""
    if args.directed or args.loops != "keep":
        raise ParameterError(f"{path} is a finished graph; give --directed and --loops to `gsp-fb convert`")
    if n_ranks() > 1:
        return open_graph(path)
    if not hasattr(args, "memory"):
        return open_graph(path).load()
    return open_graph(path, memory=args.memory, progress=progress)


def _rows(graph: Graph, path: Path | None) -> Any | None:
    """Return what a file has for the nodes of a graph: all of it, or the local rows of an MPI rank."""
    if path is None or graph.storage.kind != "mpi":
        return _array(path)
    return distributed.local_rows(graph, path if path.suffix == ".npy" else _array(path))


def add_memory(parser: argparse.ArgumentParser) -> None:
    """Add ``--memory``: the limit under which a graph on disk is measured without being read whole."""
    parser.add_argument("--memory", default="2GB", help="most memory for a graph on disk, .npyd (default 2GB)")


def signals_of(source: Source) -> dict[str, Signal]:
    """Return what can be measured: features divided by their row sums, labels as one-hot columns."""
    graph, signals = source.graph, {}
    if source.x is not None:
        with graph.storage.agree():
            signals["features"] = row_normalized(source.x) if source.x.ndim == 2 else source.x
    if source.y is not None:
        signals["labels"] = label_columns(graph, source.y)
    if not signals:
        raise ParameterError(f"{source.name} holds a graph but no signal; give --signal FILE or --labels FILE")
    return signals


def label_columns(graph: Graph, y: Any) -> Signal:
    """Return the labels of the local nodes as one-hot columns, one for each class of the whole graph."""
    labels = graph.check_labels(y)
    n_classes = int(graph.storage.reduce(int(labels.max(initial=-1)), "max")) + 1
    return one_hot(labels, n_classes or None)


def add_signal_choice(parser: argparse.ArgumentParser) -> None:
    """Add ``--on``: which of the source's signals."""
    parser.add_argument("--on", choices=("features", "labels"), default="features", help="which signal")


def chosen_signal(source: Source, name: str) -> Signal:
    """Return the signal that ``--on`` names."""
    signals = signals_of(source)
    return signals[check_choice(name, signals, "signal of this source")]


def _array(path: Path | None) -> Any | None:
    if path is None:
        return None
    try:
        if path.suffix == ".npy":
            return np.load(path, allow_pickle=False)
        return np.loadtxt(path, delimiter="," if path.suffix == ".csv" else None)
    except ValueError as bad:
        raise FormatError(f"{path} is not a table of numbers: {bad}") from None
