"""A row of the table of commands, the arguments that several have, and what they name: a graph with its signals."""

from __future__ import annotations

import argparse
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from .. import datasets, distributed
from .._arguments import check_choice
from .._build import DUPLICATES, LOOP_RULES, SYMMETRIZE
from ..backend import Signal
from ..datasets.reading import dataset_of, read_table
from ..datasets.splits import class_codes
from ..energy import one_hot, row_normalized
from ..errors import FormatError, ParameterError
from ..files import read_graph
from ..graph import Graph
from ..opening import n_ranks, open_graph
from ..outofcore import is_folder_name
from ..variants import CHANNELS, VARIANTS
from .render import progress

__all__ = ["Command", "Source", "add_data_options", "add_source", "chosen_signal", "read_dataset", "read_source"]


@dataclass(frozen=True)
class Command:
    """One subcommand of ``gsp-fb``: what adds its arguments, and what runs it; a ``parallel`` one runs on MPI ranks.

    ``run`` returns the facts to print, or the exit code where it has printed them.
    """

    name: str
    help: str
    run: Callable[[argparse.Namespace], Mapping[str, Any] | int]
    arguments: tuple[Callable[[argparse.ArgumentParser], None], ...] = ()
    parallel: bool = False


def option(*names: str, **settings: Any) -> Callable[[argparse.ArgumentParser], None]:
    """Return what adds one option to a command."""

    def add(parser: argparse.ArgumentParser) -> None:
        parser.add_argument(*names, **settings)

    return add


LOOPS = "Set the weight of the added self-loops, for families that have them (default 1)."
add_gamma = option("--gamma", type=float, help=LOOPS)
# The limit under which a graph on disk is measured without being read whole.
add_memory = option("--memory", default="2GB", help="Limit the memory for a graph on disk, .npyd (default 2GB).")


def add_family(parser: argparse.ArgumentParser, what: str, *, default: str | None = "sym") -> None:
    """Add ``--family``, with ``what`` it is for as its help."""
    text = f"{what}: {', '.join(VARIANTS)}{'.' if default is None else f' (default {default}).'}"
    parser.add_argument("--family", type=_family, default=default, metavar="FAMILY", help=text)


def _family(text: str) -> str:
    """Return the family that an option names; the message of an unknown one names the nearest."""
    try:
        return check_choice(text, VARIANTS, "family")
    except ParameterError as unknown:
        raise argparse.ArgumentTypeError(str(unknown)) from None


def add_operator(parser: argparse.ArgumentParser) -> None:
    """Add the three arguments that choose one operator."""
    add_family(parser, "Choose the family")
    parser.add_argument("--channel", choices=CHANNELS, default="high", help="Choose the channel (default high).")
    add_gamma(parser)


@dataclass(frozen=True)
class Source:
    """A graph with whatever signals came with it."""

    name: str
    graph: Graph
    x: Signal | None
    y: Any | None
    feature_names: tuple[str, ...] = ()


def add_source(parser: argparse.ArgumentParser) -> None:
    """Add the arguments that name a graph and its signals."""
    add = parser.add_argument
    add("source", help="Name a data set (see `gsp-fb datasets`) or a graph file.")
    add("--signal", type=Path, metavar="FILE", help="Read the signal of a graph file: .npy, .csv, .txt.")
    add("--labels", type=Path, metavar="FILE", help="Read the classes of a graph file likewise.")
    add_data_options(parser)


def add_data_options(parser: argparse.ArgumentParser, loops: str = "keep") -> None:
    """Add the options of a graph file and of a table of its nodes."""
    add = parser.add_argument_group("data files").add_argument
    add("--nodes", type=Path, metavar="FILE", help="Read a table of the nodes: .csv, .tsv or .parquet.")
    add("--node-names", dest="names", metavar="COLUMN", help="Name the column of --nodes with the names.")
    add("--features", metavar="A,B,...", help="Choose columns of the nodes, or all (numeric ones; the default).")
    add("--label", metavar="COLUMN", help="Choose the column of the nodes with the classes.")
    add("--split", metavar="COLUMN", help="Choose the column with train, val and test; or K, a number of a split.")
    add("--source", dest="source_column", metavar="COLUMN", help="Name the column of the first end of an edge.")
    add("--target", dest="target_column", metavar="COLUMN", help="Name the column of the second end of an edge.")
    add("--weight", default="weight", metavar="COLUMN", help="Choose the edge weights (default weight); none: all 1.")
    add("--header", action=argparse.BooleanOptionalAction, help="State whether the first line names the columns.")
    add("--directed", action="store_true", help="Keep arcs as they are listed.")
    add("--signed", action="store_true", help="Allow negative weights.")
    add("--symmetrize", choices=tuple(SYMMETRIZE), help="Combine opposite arcs into undirected edges by this rule.")
    add("--duplicates", choices=DUPLICATES, help="Combine repeated edges by this rule.")
    add("--loops", choices=LOOP_RULES, default=loops, help=f"Keep or drop self-loops (default {loops}).")


def is_file(text: str) -> bool:
    """Return whether an argument names a file; a file wins over a data set of the same name."""
    path = Path(text)
    return path.exists() or bool(path.suffix)


def read_file(path: str, args: argparse.Namespace) -> Graph:
    """Return the graph of a file with the table of ``--nodes``."""
    columns = {"source": args.source_column, "target": args.target_column, "header": args.header}
    weight = None if args.weight == "none" else args.weight
    rules = {"symmetrize": args.symmetrize, "duplicates": args.duplicates, "loops": args.loops, "signed": args.signed}
    graph = read_graph(path, directed=args.directed or None, weight=weight, **columns, **rules)
    if args.nodes is None:
        return graph
    table, names = read_table(args.nodes, args.names)
    return graph.with_nodes(table, names)


def read_dataset(name: str, args: argparse.Namespace) -> Any:
    """Return the data set of a name, or of a graph file and its table of nodes."""
    if not is_file(name):
        return datasets.load(datasets.info(name).name, loops=args.loops, directed=args.directed)
    split = None if args.split is None or args.split.isdigit() else args.split
    return dataset_of(read_file(name, args), Path(name).name, features=_features(args), label=args.label, split=split)


def _features(args: argparse.Namespace) -> Any:
    return "all" if args.features in (None, "all") else args.features.split(",")


def read_source(args: argparse.Namespace) -> Source:
    """Return what the command line names; a file wins over a data set of the same name."""
    path = Path(args.source)
    if is_folder_name(path):
        graph = _stored(path, args)
        return Source(path.name, graph, _rows(graph, args.signal), _rows(graph, args.labels))
    if is_file(args.source):
        graph = read_file(args.source, args)
        x, titles = (_array(args.signal), ()) if args.signal is not None else _node_signal(graph, args)
        y = _array(args.labels) if args.labels is not None else _node_labels(graph, args.label)
        return Source(path.name, graph, x, y, titles)
    row = datasets.info(args.source)
    data = datasets.load(row.name, directed=args.directed, loops=args.loops)
    if isinstance(data, datasets.GraphCollection):  # measured as one graph with a component or more for each
        return Source(row.name, data.graph, None, None)
    return Source(row.name, data.graph, data.x, data.y)


def _node_signal(graph: Graph, args: argparse.Namespace) -> tuple[Any | None, tuple[str, ...]]:
    """Return features from the node table and their names; without a choice the numeric columns without a gap."""
    whole = [name for name in graph.nodes.numeric if np.isfinite(graph.nodes[name]).all()]
    found = [name for name in whole if name not in (args.label, args.split)]
    if args.features is None and not found:
        return None, ()
    chosen = found if args.features is None else _features(args)
    data = dataset_of(graph, "", features=chosen, label=args.label)
    return data.x, data.feature_names or ()


def _node_labels(graph: Graph, label: str | None) -> Any | None:
    if label is None:
        return None
    column = graph.nodes[label]
    return column if column.dtype.kind == "f" else class_codes(column)


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


def signals_of(source: Source) -> dict[str, Signal]:
    """Return what can be measured: several features divided by their row sums, labels as one-hot columns."""
    graph, signals = source.graph, {}
    if source.x is not None:
        with graph.storage.agree():
            # One column divided by itself is constant.
            signals["features"] = row_normalized(source.x) if source.x.ndim == 2 and source.x.shape[1] > 1 else source.x
    if source.y is not None:
        signals["labels"] = label_columns(graph, source.y)
    if not signals:
        raise ParameterError(
            f"{source.name} holds a graph but no signal; give --features, --label, --signal FILE or --labels FILE"
        )
    return signals


def label_columns(graph: Graph, y: Any) -> Signal:
    """Return the labels of the local nodes as one-hot columns, one for each class of the whole graph."""
    labels = graph.check_labels(y)
    if graph.storage.kind == "memory":
        labels = class_codes(labels)
    n_classes = int(graph.storage.reduce(int(labels.max(initial=-1)), "max")) + 1
    return one_hot(labels, n_classes or None)


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
