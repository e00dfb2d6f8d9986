"""``gsp-fb advise``: recommend channels and filter from training labels."""

from __future__ import annotations

import argparse
import sys
from pathlib import Path
from typing import Any

import numpy as np

from .. import advice, datasets
from .._arguments import check_rng
from ..backend import IntArray
from ..datasets.splits import split_from_column
from ..errors import ParameterError
from .command import Command
from .render import emit
from .source import Source, add_source, is_file, read_source

__all__ = ["COMMANDS", "training_nodes"]

TRAIN_SHARE = 0.5


def _advise(args: argparse.Namespace) -> int:
    source = read_source(args)
    if source.y is None:
        raise ParameterError(f"{source.name} has no labels; give --label COLUMN or --labels FILE")
    nodes = training_nodes(args.source, source, split=args.split, train=args.train, seed=args.seed)
    found = advice.advise(source.graph, source.x, source.y, nodes, rng=args.seed)
    if args.json:
        emit({"source": source.name, **found.as_dict()}, as_json=True)
        return 0
    emit({"source": source.name, "high channel": _yes(found), "filter": found.family}, as_json=False)
    sys.stdout.write("\n")
    emit({"evidence (training labels only)": _evidence(found.evidence), "rules": list(found.rows)}, as_json=False)
    return 0


def _yes(found: advice.Advice) -> str:
    return "recommended" if found.channels == "both" else "not needed"


def _evidence(evidence: advice.Evidence) -> list[dict[str, Any]]:
    return [
        {
            "filter": family,
            "S features": evidence.s_features.get(family),
            "E[S]": evidence.expected_features.get(family),
            "S labels": s_labels,
            "E[S] labels": evidence.expected_labels[family],
            "lambda_2": evidence.eigengap.get(family),
            "acc low": evidence.readout.get(family, {}).get("low"),
            "both": evidence.readout.get(family, {}).get("both"),
        }
        for family, s_labels in evidence.s_labels.items()
    ]


def training_nodes(
    name: str, source: Source, *, split: str | None = None, train: Path | None = None, seed: int = 0
) -> IntArray:
    """Return the training nodes: of a data set's split, of a column of the node table, of a file, or a random half."""
    if train is not None:
        return np.loadtxt(train, dtype=np.int64, ndmin=1)
    if not is_file(name):
        return np.asarray(datasets.load(name).splits[int(split or 0)].train)
    if split is not None:
        return np.asarray(split_from_column(source.graph.nodes[split]).train)
    n = source.graph.n_nodes
    return check_rng(seed).permutation(n)[: max(2, int(TRAIN_SHARE * n))]


def _arguments(parser: argparse.ArgumentParser) -> None:
    add = parser.add_argument
    add_source(parser)
    add(
        "--train",
        type=Path,
        metavar="FILE",
        help="Read the training nodes, one number a line (default: split 0 of a data set, a random half of a file).",
    )
    add("--seed", type=int, default=0, help="Seed the random half and the probes (default 0).")


COMMANDS = (
    Command("advise", "Recommend whether to use the high channel, and with which filter.", _arguments, _advise),
)
