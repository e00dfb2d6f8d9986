"""``gsp-fb demo``: the main job on data that comes with the libraries, without a download."""

from __future__ import annotations

import argparse
import statistics
import sys
import tempfile
from pathlib import Path
from typing import Any

from .._extras import has, require
from ..advice import advise
from ..convert import from_networkx
from ..datasets import contextual_sbm
from ..eigengap import eigengap
from ..energy import edge_homophily, expected_s_value, one_hot, s_value
from ..graph import Graph
from .analyse import energy_rows, graph_facts, high_channels
from .render import emit
from .source import Command, option

__all__ = ["COMMANDS"]

# Edge homophily of the two generated graphs: neighbours mostly alike, and mostly unlike.
REGIMES = {"homophilic": 0.8, "heterophilic": 0.1}
# Three classes whose features alone do not separate them.
BLOCKS: dict[str, Any] = {"n_nodes": 300, "n_classes": 3, "degree": 8, "n_features": 16, "signal": 0.5, "n_splits": 5}
TRAINING: dict[str, Any] = {"lr": 0.02, "weight_decay": 5e-4, "epochs": 100, "patience": 30, "normalize": False}
MODELS = ("mlp", "gcn", "fb-gcn")


def _karate() -> tuple[Graph, list[int]]:
    networkx = require("networkx", "the demo's real graph")
    club = networkx.karate_club_graph()
    factions = [int(club.nodes[node]["club"] == "Officer") for node in club]
    return from_networkx(club), factions


def _half_kept(regimes: dict[str, Any]) -> list[dict[str, Any]]:
    """Return, per regime and family, S of features and labels: the share that a low-pass network throws away."""
    return [
        {
            "graph": name,
            "homophily": edge_homophily(data.graph, data.y),
            "family": family,
            "S features": s_value(op, data.x),
            "E[S]": expected_s_value(op, data.x),
            "S labels": s_value(op, one_hot(data.y)),
            "E[S] labels": expected_s_value(op, one_hot(data.y)),
        }
        for name, data in regimes.items()
        for family, op in high_channels(data.graph)
        if family.endswith("sym")
    ]


def _trained(regimes: dict[str, Any]) -> list[dict[str, Any]]:
    """Return the test accuracy without a graph, with one channel and with two; nothing where torch is absent."""
    if not has("torch"):
        return []
    from .. import nn

    rows = []
    for name, data in regimes.items():
        for model in MODELS:
            runs = nn.train_splits(model, data, data.splits, nn.TrainConfig(**TRAINING))
            rows.append({"graph": name, "model": model, **_over_splits(runs)})
    return rows


def _over_splits(runs: list[Any]) -> dict[str, Any]:
    test = [run.scores["test"] for run in runs]
    last = [run.alphas[-1] for run in runs if run.alphas]
    low, high = map(statistics.fmean, zip(*last, strict=True)) if last else (None, None)
    scores = {"test accuracy": statistics.fmean(test), "std": statistics.stdev(test), "splits": len(test)}
    return {**scores, "alpha low": low, "alpha high": high}


def _demo(args: argparse.Namespace) -> int:
    karate, factions = _karate()
    regimes = {name: contextual_sbm(homophily=share, rng=args.seed, **BLOCKS) for name, share in REGIMES.items()}
    gaps = ((family, eigengap(op)) for family, op in high_channels(karate))
    result = {
        "real graph": "Zachary's karate club, the two factions as labels",
        **{key: value for key, value in graph_facts(karate).items() if key in ("nodes", "edges", "components")},
        "energies of the factions": list(energy_rows(karate, "factions", one_hot(factions))),
        "eigengaps of the karate club": [
            {"family": family, "ratio": gap.ratio, "error": gap.error} for family, gap in gaps
        ],
        "two block models": _half_kept(regimes),
        "no graph, one channel, two: same splits and seeds": _trained(regimes),
    }
    emit(result, as_json=args.json)
    if not args.json:
        sys.stdout.write(_reading(result["two block models"]))
    if args.report is not None:
        sys.stderr.write(f"\nInteractive report: {_report(regimes['heterophilic'], args.report)}\n")
    return 0


def _report(data: Any, path: Path) -> Path:
    """Write the report of the graph where neighbours differ, with a training of both channels on its first split."""
    from ..report import collect, write_report

    with tempfile.TemporaryDirectory() as folder:
        runs = [Path(folder) / MODELS[-1]] if has("torch") else []
        for run in runs:
            from .. import nn

            model, config = nn.build(MODELS[-1], data, seed=0), nn.TrainConfig(**TRAINING)
            nn.train(model, data, data.splits[0], config, directory=run)
        advice = advise(data.graph, data.x, data.y, data.splits[0].train)
        name = "a graph whose neighbours differ"
        found = collect(data.graph, x=data.x, y=data.y, name=name, runs=runs, advice=advice)
    return write_report(found, path)


def _reading(rows: list[dict[str, Any]]) -> str:
    """Return what the last table means, in its own numbers."""
    labels = {row["graph"]: (row["S labels"], row["E[S] labels"]) for row in rows if row["family"] == "sym"}
    alike, differ = (f"{s:.2f} (expected {e:.2f})" for s, e in (labels[name] for name in REGIMES))
    return (
        "\nS is the mean graph frequency of a signal's energy, 0 being smooth; E[S] is its\n"
        "expectation when the values are placed on the nodes at random. Under L_sym the\n"
        f"labels have S = {alike} where neighbours are alike and\n{differ} where they are not: a network that only\n"
        "averages neighbours attenuates these frequencies.\n"
    )


OPTIONS = (
    option("--seed", type=int, default=0, help="Seed the generated graphs (default 0)."),
    option("--report", type=Path, metavar="FILE.html", help="Write an HTML report too."),
)
COMMANDS = (Command("demo", "Run the main job on embedded data, without a download.", _demo, OPTIONS),)
