"""Commands that measure: info, energy, spectrum, verify, eigengap."""

from __future__ import annotations

import argparse
from collections.abc import Iterator
from dataclasses import astuple
from typing import Any

from .._document import records
from ..eigengap import eigengap
from ..energy import class_homophily, edge_homophily, node_homophily
from ..graph import Graph
from ..operators import Operator, operator
from ..report.spectral import energy_facts, high_channel
from ..spectrum import spectrum
from ..theory import CLAIMS, verify_each
from ..variants import VARIANTS
from .command import Command, add_gamma, add_operator
from .render import emit, progress
from .source import Source, add_memory, add_source, label_columns, read_source, signals_of

__all__ = ["COMMANDS"]

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


def _spectrum_arguments(parser: argparse.ArgumentParser) -> None:
    add = parser.add_argument
    add("-k", type=int, default=10, help="Print so many modes (default 10).")
    add("--all", action="store_true", help="Print every mode.")
    add("--which", choices=("low", "high"), default="low", help="Choose the smooth or the rough end (default low).")


COMMANDS = (
    Command("info", "Print size, degrees, components and homophily of a graph.", _info, (add_source, add_memory)),
    Command(
        "energy",
        "Print S, its expectation E[S] under random permutation, and energies, under every family.",
        _energy,
        (add_source, add_memory, add_gamma),
        parallel=True,
    ),
    Command(
        "spectrum",
        "Print graph frequencies at one end of the axis, or all.",
        _spectrum,
        (add_source, add_operator, _spectrum_arguments),
        parallel=True,
    ),
    Command("verify", "Check every claim of the paper on a graph.", _verify, (add_source, add_gamma)),
    Command(
        "eigengap",
        "Print lambda_2 / lambda_1 of every family, with an error bound.",
        _eigengap,
        (add_source, add_gamma),
        parallel=True,
    ),
)
