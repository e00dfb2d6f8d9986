"""Commands about data: datasets and convert."""

from __future__ import annotations

import argparse
from dataclasses import asdict
from typing import Any

from .. import datasets, outofcore
from ..files import write_graph
from ..graph import Graph
from ..opening import open_graph
from ..outofcore import is_edge_list, is_folder_name
from .command import Command
from .render import progress
from .source import add_data_options, read_file

__all__ = ["COMMANDS"]

COLUMNS = {name: name for name in ("name", "kind", "nodes", "edges", "features", "classes")} | {"edges": "listed edges"}


def _facts(row: datasets.DatasetInfo) -> dict[str, Any]:
    return {**asdict(row), "sources": [asdict(source) for source in row.sources]}


def _datasets(args: argparse.Namespace) -> dict[str, Any]:
    rows = [_facts(row) for row in datasets.REGISTRY.values()]
    # Edges as the source lists them, repeats, loops and both directions included; `gsp-fb info` counts edges.
    shown = rows if args.json else [{COLUMNS[name]: row[name] for name in COLUMNS} for row in rows]
    return {"datasets": shown}


def _convert(args: argparse.Namespace) -> dict[str, Any]:
    rules = {"symmetrize": args.symmetrize, "loops": args.loops, "directed": args.directed or None}
    rules["signed"] = args.signed
    plain = args.nodes is None and args.source_column is None and args.weight == "weight"
    if is_folder_name(args.output) and is_edge_list(args.input) and plain:
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
    return {"written": str(args.output), "nodes": graph.n_nodes, "arcs" if graph.directed else "edges": graph.n_edges}


def _loaded(args: argparse.Namespace, rules: dict[str, Any]) -> Graph:
    """Return the whole graph in memory, from a folder as it is or from a file by the rules."""
    if is_folder_name(args.input):
        return open_graph(args.input, memory=args.memory).load()
    return read_file(args.input, args)


def _convert_arguments(parser: argparse.ArgumentParser) -> None:
    add = parser.add_argument
    add("input", help="Read this graph file.")
    add("output", help="Write this file; its suffix names the format, .npyd a folder for graphs larger than memory.")
    add("--memory", default="2GB", help="Limit the memory of a conversion to .npyd (default 2GB).")
    add_data_options(parser)


COMMANDS = (
    Command("datasets", "List the data sets that can be loaded by name; with --json also their sources.", _datasets),
    Command("convert", "Read a graph file and write it in another format.", _convert, (_convert_arguments,)),
)
