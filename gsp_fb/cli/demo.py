"""``gsp-fb demo``: the main job on data that comes with the libraries, without a download."""

from __future__ import annotations

import argparse
import sys
from typing import Any

from .._extras import require
from ..convert import from_networkx
from ..datasets import contextual_sbm
from ..eigengap import eigengap
from ..energy import edge_homophily, one_hot, s_value
from ..graph import Graph
from .analyse import energy_rows, graph_facts, high_channels
from .command import Command
from .render import emit

__all__ = ["COMMANDS"]

# Edge homophily of the two generated graphs: neighbours mostly alike, and mostly unlike.
REGIMES = {"homophilic": 0.9, "heterophilic": 0.1}
BLOCK_NODES, BLOCK_DEGREE = 600, 10


def _karate() -> tuple[Graph, list[int]]:
    networkx = require("networkx", "the demo's real graph")
    club = networkx.karate_club_graph()
    factions = [int(club.nodes[node]["club"] == "Officer") for node in club]
    return from_networkx(club), factions


def _regimes(seed: int) -> dict[str, Any]:
    return {
        name: contextual_sbm(BLOCK_NODES, homophily=homophily, degree=BLOCK_DEGREE, rng=seed)
        for name, homophily in REGIMES.items()
    }


def _half_kept(regimes: dict[str, Any]) -> list[dict[str, Any]]:
    """Return, per regime and family, S of features and labels: the share that a low-pass network throws away."""
    return [
        {
            "graph": name,
            "homophily": edge_homophily(data.graph, data.y),
            "family": family,
            "S features": s_value(op, data.x),
            "S labels": s_value(op, one_hot(data.y)),
        }
        for name, data in regimes.items()
        for family, op in high_channels(data.graph)
        if family.endswith("sym")
    ]


def _eigengaps(graph: Graph) -> list[dict[str, Any]]:
    gaps = ((family, eigengap(op)) for family, op in high_channels(graph))
    return [{"family": family, "ratio": gap.ratio, "error": gap.error} for family, gap in gaps]


def _demo(args: argparse.Namespace) -> int:
    karate, factions = _karate()
    regimes = _regimes(args.seed)
    result = {
        "real graph": "Zachary's karate club, the two factions as labels",
        **{key: value for key, value in graph_facts(karate).items() if key in ("nodes", "edges", "components")},
        "energies of the factions": list(energy_rows(karate, "factions", one_hot(factions))),
        "eigengaps of the karate club": _eigengaps(karate),
        f"two block models of {BLOCK_NODES} nodes": _half_kept(regimes),
    }
    emit(result, as_json=args.json)
    if not args.json:
        sys.stdout.write(_reading(result[f"two block models of {BLOCK_NODES} nodes"]))
    return 0


def _reading(rows: list[dict[str, Any]]) -> str:
    """Return what the last table means, in its own numbers."""
    labels = {row["graph"]: row["S labels"] for row in rows if row["family"] == "sym"}
    return (
        f"\nS is the share of a signal's energy that the high channel holds: under L_sym the labels have "
        f"S = {labels['homophilic']:.2f}\nwhere neighbours are alike and {labels['heterophilic']:.2f} where they are "
        "not. A network that only averages neighbours keeps the rest.\n"
    )


def _arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--seed", type=int, default=0, help="of the generated graphs (default 0)")


COMMANDS = (Command("demo", "the main job on embedded data, without a download", _arguments, _demo),)
