"""Commands about data: datasets and convert."""

from __future__ import annotations

import argparse
from dataclasses import asdict
from typing import Any

from .. import datasets, outofcore
from .._build import DUPLICATES, LOOP_RULES, SYMMETRIZE
from ..files import read_graph, write_graph
from ..graph import Graph
from ..opening import open_graph
from ..outofcore import is_edge_list, is_folder_name
from .command import Command, no_arguments
from .progress import progress
from .render import emit

__all__ = ["COMMANDS"]

COLUMNS = ("name", "kind", "nodes", "edges", "features", "classes")


def _facts(row: datasets.DatasetInfo) -> dict[str, Any]:
    return {**asdict(row), "sources": [asdict(source) for source in row.sources]}


def _datasets(args: argparse.Namespace) -> int:
    rows = [_facts(row) for row in datasets.REGISTRY.values()]
    shown = rows if args.json else [{name: row[name] for name in COLUMNS} for row in rows]
    emit({"datasets": shown}, as_json=args.json)
    return 0


def _convert(args: argparse.Namespace) -> int:
    rules = {"symmetrize": args.symmetrize, "loops": args.loops, "directed": args.directed or None}
    if is_folder_name(args.output) and is_edge_list(args.input):
        graph: Any = outofcore.build_folder(
            args.input,
            args.output,
            duplicates=args.duplicates or "error",
            memory=args.memory,
            progress=progress,
            **rules,
        )
    else:
        graph = _loaded(args, rules)
        write = outofcore.write_folder if is_folder_name(args.output) else write_graph
        write(graph, args.output)
    emit({"written": str(args.output), "nodes": graph.n_nodes, "edges": graph.n_edges}, as_json=args.json)
    return 0


def _loaded(args: argparse.Namespace, rules: dict[str, Any]) -> Graph:
    """Return the whole graph in memory, from a folder as it is or from a file by the rules."""
    if is_folder_name(args.input):
        return open_graph(args.input, memory=args.memory).load()
    return read_graph(args.input, duplicates=args.duplicates, **rules)


def _convert_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("input", help="Read this graph file.")
    parser.add_argument(
        "output", help="Write this file; its suffix names the format, .npyd a folder for graphs larger than memory."
    )
    parser.add_argument("--memory", default="2GB", help="Limit the memory of a conversion to .npyd (default 2GB).")
    parser.add_argument("--directed", action="store_true", help="Keep arcs as they are listed.")
    parser.add_argument(
        "--symmetrize", choices=tuple(SYMMETRIZE), help="Combine opposite arcs into undirected edges by this rule."
    )
    parser.add_argument("--duplicates", choices=DUPLICATES, help="Combine repeated edges by this rule.")
    parser.add_argument("--loops", choices=LOOP_RULES, default="keep", help="Keep or drop self-loops.")


COMMANDS = (
    Command(
        "datasets",
        "List the data sets that can be loaded by name; with --json also their sources.",
        no_arguments,
        _datasets,
    ),
    Command("convert", "Read a graph file and write it in another format.", _convert_arguments, _convert),
)
