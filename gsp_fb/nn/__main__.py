"""``torchrun --nproc_per_node 2 -m gsp_fb.nn MODEL DATASET``: training across processes from the command line.

``--over subgraphs`` (the default) trains one model with all processes; ``--over runs`` gives each process its share of
the splits and seeds. The first process prints one JSON object. Without torchrun the same line runs in one process.
"""

from __future__ import annotations

import argparse
import json
import sys
from dataclasses import fields
from itertools import product
from pathlib import Path
from typing import Any

from torch import distributed

from .. import datasets
from ..errors import GspError
from .config import TrainConfig
from .distributed import Group, process_group, train_distributed
from .models import MODELS
from .recipes import build
from .train import train

__all__ = ["main"]

TRAINERS: dict[str, Any] = {"subgraphs": train_distributed, "runs": train}
# Flags and results are exchanged on the host, gradients where the model is.
BACKENDS = {"cpu": "gloo", "cuda": "cpu:gloo,cuda:nccl"}
# The fields of a configuration that are plain numbers, with the type that reads them.
NUMBERS: dict[str, Any] = {
    field.name: type(field.default) for field in fields(TrainConfig) if type(field.default) in (int, float)
}


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(prog="python -m gsp_fb.nn", description="Train a model across processes.")
    parser.add_argument("model", choices=tuple(MODELS), metavar="MODEL")
    parser.add_argument("dataset", metavar="DATASET", help="a data set with splits")
    parser.add_argument("--over", choices=tuple(TRAINERS), default="subgraphs", help="unit of work of a process")
    parser.add_argument("--per-step", type=int, default=2, help="subgraphs a step in all (default 2)")
    parser.add_argument("--splits", type=int, nargs="+", default=[0], help="numbers of splits (default 0)")
    parser.add_argument("--seeds", type=int, nargs="+", default=[0], help="seeds (default 0)")
    parser.add_argument("--set", action="append", default=[], metavar="OPTION=VALUE", help="any option of the model")
    parser.add_argument("--device", choices=tuple(BACKENDS), default="cpu")
    parser.add_argument("-o", "--output", type=Path, metavar="DIR", help="keep metrics and checkpoints; resumes there")
    for name, kind in NUMBERS.items():
        parser.add_argument(f"--{name.replace('_', '-')}", type=kind)
    return parser


def _option(text: str) -> tuple[str, Any]:
    name, _, value = text.partition("=")
    try:
        return name, json.loads(value)
    except ValueError:
        return name, value


def _trained(args: argparse.Namespace, group: Group) -> list[dict[str, Any]]:
    """Return a row for every run of this process: all of them, or its share."""
    data = datasets.load(args.dataset, loops="drop")
    given = {name: getattr(args, name) for name in NUMBERS if getattr(args, name) is not None}
    config = TrainConfig(**{**MODELS[args.model].training, **given})
    runs = list(product(args.splits, args.seeds))
    rows = []
    for split, seed in runs[group.rank :: group.size] if args.over == "runs" else runs:
        model = build(args.model, data, seed=seed, device=args.device, **dict(map(_option, args.set)))
        directory = None if args.output is None else args.output / f"split-{split}-seed-{seed}"
        options = {} if args.over == "runs" else {"per_step": args.per_step}
        result = TRAINERS[args.over](model, data, data.splits[split], config, directory=directory, **options)
        rows.append({"split": split, "seed": seed, **result.as_dict()})
    return rows


def _gathered(rows: list[dict[str, Any]], group: Group) -> list[dict[str, Any]]:
    """Return the rows of all processes in order of split and seed."""
    shares: list[Any] = [rows]
    if group.size > 1:
        shares = [None] * group.size
        distributed.all_gather_object(shares, rows)
    return sorted((row for share in shares for row in share), key=lambda row: (row["split"], row["seed"]))


def main(argv: list[str] | None = None) -> int:
    """Train by the arguments and return the exit code."""
    args = _parser().parse_args(argv)
    try:
        with process_group(BACKENDS[args.device]) as group:
            rows = _trained(args, group)
            if args.over == "runs":
                rows = _gathered(rows, group)
            if group.rank == 0:
                facts = {"model": args.model, "data set": args.dataset, "processes": group.size, "runs": rows}
                sys.stdout.write(json.dumps(facts) + "\n")
    except (GspError, OSError, ImportError) as wrong:
        sys.stderr.write(f"gsp_fb.nn: {wrong}\n")
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main())
