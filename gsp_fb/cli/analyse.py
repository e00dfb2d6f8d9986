"""Commands that measure or convert: info, energy, spectrum, verify, eigengap, datasets, convert."""

from __future__ import annotations

import argparse
from collections.abc import Iterator
from dataclasses import asdict, astuple
from typing import Any

from .. import datasets, outofcore
from .._document import records
from ..eigengap import eigengap
from ..energy import class_homophily, edge_homophily, node_homophily
from ..files import write_graph
from ..graph import Graph
from ..opening import open_graph
from ..operators import Operator, operator
from ..outofcore import is_edge_list, is_folder_name
from ..report.spectral import energy_facts, high_channel
from ..spectrum import spectrum
from ..theory import CLAIMS, verify_each
from ..variants import VARIANTS
from .render import emit, progress
from .source import (
    Command,
    Source,
    add_data_options,
    add_gamma,
    add_memory,
    add_operator,
    add_source,
    label_columns,
    option,
    read_file,
    read_source,
    signals_of,
)

__all__ = ["CATALOGUE", "COMMANDS"]

COLUMNS = {name: name for name in ("name", "kind", "nodes", "edges", "features", "classes")} | {"edges": "listed edges"}
# Titles of the fields of an EnergyRow, in their order.
ENERGIES = ("signal", "family", "S", "E[S]", "energy", "Dirichlet energy", "nonsmooth energy")


def high_channels(graph: Graph, gamma: float | None = None) -> Iterator[tuple[str, Operator]]:
    """Yield every family's high channel on ``graph``; ``gamma`` goes to the families that have one."""
    return ((family, high_channel(graph, family, gamma)) for family in VARIANTS)


def _info(args: argparse.Namespace) -> dict[str, Any]:
    source = read_source(args)
    return {**graph_facts(source.graph), **_signal_facts(source)}


def graph_facts(graph: Graph) -> dict[str, Any]:
    """Return what there is to know about a graph before any operator."""
    degrees = graph.degrees
    return {
        "nodes": graph.n_nodes,
        "arcs" if graph.directed else "edges": graph.n_edges,
        "directed": graph.directed,
        "weighted": graph.is_weighted,
        "self-loops": graph.n_loops,
        "isolated nodes": graph.n_isolated,
        "components": graph.n_components,
        "least degree": float(degrees.min(initial=float("inf"))) if graph.n_nodes else None,
        "mean degree": float(degrees.mean()) if graph.n_nodes else None,
        "greatest degree": float(degrees.max(initial=0.0)),
        "sha256": graph.sha256,
    }


def _signal_facts(source: Source) -> dict[str, Any]:
    facts: dict[str, Any] = {}
    if source.x is not None:
        facts["features"] = int(source.x.shape[1]) if source.x.ndim == 2 else 1
    if source.y is not None:
        facts["classes"] = label_columns(source.graph, source.y).shape[1]
        facts["edge homophily"] = edge_homophily(source.graph, source.y)
        facts["node homophily"] = node_homophily(source.graph, source.y)
        facts["class homophily"] = class_homophily(source.graph, source.y)
    return facts


def _energy(args: argparse.Namespace) -> dict[str, Any]:
    source = read_source(args)
    rows = [row for name, x in signals_of(source).items() for row in energy_rows(source.graph, name, x, args.gamma)]
    return {"source": source.name, "energies": rows}


def energy_rows(graph: Graph, name: str, x: Any, gamma: float | None = None) -> Iterator[dict[str, Any]]:
    """Yield S of one signal beside its expectation under random permutation, and its energies, under every family."""
    for row in energy_facts(graph, name, x, gamma):
        yield dict(zip(ENERGIES, astuple(row), strict=True))


def _spectrum(args: argparse.Namespace) -> dict[str, Any]:
    source = read_source(args)
    op = operator(source.graph, args.family, channel=args.channel, gamma=args.gamma)
    modes = spectrum(op, k=None if args.all else min(args.k, source.graph.n_nodes) or None, which=args.which)
    rows = [{"mode": i, "frequency": float(value)} for i, value in enumerate(modes.frequencies)]
    facts = {"source": source.name, "family": args.family, "channel": args.channel}
    facts |= {"method": modes.method, "proof": modes.proof}
    return {**facts, "lower bound": op.bounds[0], "upper bound": op.bounds[1], "frequencies": rows}


def _verify(args: argparse.Namespace) -> int:
    source = read_source(args)
    each = verify_each(source.graph, gamma=1.0 if args.gamma is None else args.gamma)
    results = list(progress(each, "claims", total=len(CLAIMS)))
    titles = {"claim": "claim", "holds": "holds", "applies": "applicable", "residual": "residual"}
    rows = records(results, {**titles, "condition": "condition"})
    emit({"source": source.name, "claims": rows}, as_json=args.json)
    return 0 if all(row.holds for row in results if row.applicable) else 1


def _eigengap(args: argparse.Namespace) -> dict[str, Any]:
    source = read_source(args)
    gaps = {family: eigengap(op) for family, op in high_channels(source.graph, args.gamma)}
    titles = {name: name for name in ("ratio", "error", "method", "proof")}
    rows = [{"family": family, **row} for family, row in zip(gaps, records(gaps.values(), titles), strict=True)]
    return {"source": source.name, "eigengaps": rows}


def _datasets(args: argparse.Namespace) -> dict[str, Any]:
    rows = [asdict(row) for row in datasets.REGISTRY.values()]
    # Edges as the source lists them, repeats, loops and both directions included; `gsp-fb info` counts edges.
    shown = rows if args.json else [{COLUMNS[name]: row[name] for name in COLUMNS} for row in rows]
    return {"datasets": shown}


def _convert(args: argparse.Namespace) -> dict[str, Any]:
    rules: dict[str, Any] = {"symmetrize": args.symmetrize, "loops": args.loops, "signed": args.signed}
    rules["directed"] = args.directed or None
    plain = args.nodes is None and args.source_column is None and args.weight == "weight"
    if is_folder_name(args.output) and is_edge_list(args.input) and plain:
        how: dict[str, Any] = {"duplicates": args.duplicates or "error", "memory": args.memory, "progress": progress}
        graph: Any = outofcore.build_folder(args.input, args.output, **how, **rules)
    else:
        stored = is_folder_name(args.input)
        graph = open_graph(args.input, memory=args.memory).load() if stored else read_file(args.input, args)
        write = outofcore.write_folder if is_folder_name(args.output) else write_graph
        write(graph, args.output)
    return {"written": str(args.output), "nodes": graph.n_nodes, "arcs" if graph.directed else "edges": graph.n_edges}


CONVERT = (
    option("input", help="Read this graph file."),
    option(
        "output", help="Write this file; its suffix names the format, .npyd a folder for graphs larger than memory."
    ),
    option("--memory", default="2GB", help="Limit the memory of a conversion to .npyd (default 2GB)."),
    add_data_options,
)
CATALOGUE = (
    Command("datasets", "List the data sets that can be loaded by name; with --json also their sources.", _datasets),
    Command("convert", "Read a graph file and write it in another format.", _convert, CONVERT),
)
ENERGY = "Print S, its expectation E[S] under random permutation, and energies, under every family."
SPECTRUM = "Print graph frequencies at one end of the axis, or all."
MODES = (
    option("-k", type=int, default=10, help="Print so many modes (default 10)."),
    option("--all", action="store_true", help="Print every mode."),
    option("--which", choices=("low", "high"), default="low", help="Choose the smooth or the rough end (default low)."),
)
EIGENGAP = "Print lambda_2 / lambda_1 of every family, with an error bound."
COMMANDS = (
    Command("info", "Print size, degrees, components and homophily of a graph.", _info, (add_source, add_memory)),
    Command("energy", ENERGY, _energy, (add_source, add_memory, add_gamma), parallel=True),
    Command("spectrum", SPECTRUM, _spectrum, (add_source, add_operator, *MODES), parallel=True),
    Command("verify", "Check every claim of the paper on a graph.", _verify, (add_source, add_gamma)),
    Command("eigengap", EIGENGAP, _eigengap, (add_source, add_gamma), parallel=True),
)
