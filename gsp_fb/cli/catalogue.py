"""Commands about data: datasets and convert."""

from __future__ import annotations

import argparse
from dataclasses import asdict
from typing import Any

from .. import datasets
from .._build import DUPLICATES, LOOP_RULES, SYMMETRIZE
from ..files import read_graph, write_graph
from .command import Command, no_arguments
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
    graph = read_graph(
        args.input,
        directed=args.directed or None,
        symmetrize=args.symmetrize,
        duplicates=args.duplicates,
        loops=args.loops,
    )
    write_graph(graph, args.output)
    emit({"written": str(args.output), "nodes": graph.n_nodes, "edges": graph.n_edges}, as_json=args.json)
    return 0


def _convert_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("input", help="a graph file")
    parser.add_argument("output", help="the file to write; its ending names the format")
    parser.add_argument("--directed", action="store_true", help="keep arcs as they are listed")
    parser.add_argument("--symmetrize", choices=tuple(SYMMETRIZE), help="make an undirected graph of arcs")
    parser.add_argument("--duplicates", choices=DUPLICATES, help="what a repeated edge means")
    parser.add_argument("--loops", choices=LOOP_RULES, default="keep", help="what becomes of self-loops")


COMMANDS = (
    Command(
        "datasets", "the data sets that can be named; with --json also where they come from", no_arguments, _datasets
    ),
    Command("convert", "read a graph file and write it in another format", _convert_arguments, _convert),
)
