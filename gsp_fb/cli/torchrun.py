"""``torchrun --nproc_per_node 2 -m gsp_fb.nn MODEL DATASET``: training across processes from the command line.

``--over subgraphs`` (the default) trains one model with all processes; ``--over runs`` gives each process its share of
the splits and seeds. The first process prints one JSON object. Without torchrun the same line runs in one process.
"""

from __future__ import annotations

import argparse
import json
import sys
from itertools import product
from pathlib import Path
from typing import Any

from .. import datasets, nn
from ..errors import GspError
from ..nn.distributed import gathered, process_group, train_distributed
from .learning import add_training
from .training import model_options

__all__ = ["main"]

# Flags and results are exchanged on the host, gradients where the model is.
BACKENDS = {"cpu": "gloo", "cuda": "cpu:gloo,cuda:nccl"}


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(prog="python -m gsp_fb.nn", description="Train a model across processes.")
    parser.add_argument("model", choices=tuple(nn.MODELS), metavar="MODEL")
    parser.add_argument("dataset", metavar="DATASET", help="a data set with splits")
    parser.add_argument("--over", choices=("subgraphs", "runs"), default="subgraphs", help="unit of work of a process")
    parser.add_argument("--per-step", type=int, default=2, help="subgraphs a step in all (default 2)")
    parser.add_argument("--splits", type=int, nargs="+", default=[0], help="numbers of splits (default 0)")
    parser.add_argument("--seeds", type=int, nargs="+", default=[0], help="seeds (default 0)")
    parser.add_argument("--set", action="append", default=[], metavar="OPTION=VALUE", help="any option of the model")
    parser.add_argument("--device", choices=tuple(BACKENDS), default="cpu")
    parser.add_argument("-o", "--output", type=Path, metavar="DIR", help="keep metrics and checkpoints; resumes there")
    add_training(parser)
    parser.add_argument("--checkpoint-every", type=int)
    return parser


def _trained(args: argparse.Namespace, group: Any) -> list[dict[str, Any]]:
    """Return a row for every run of this process: all of them, or its share."""
    data = datasets.load(args.dataset, loops="drop")
    fields = nn.TrainConfig().as_dict()
    given = {name: value for name, value in vars(args).items() if name in fields and value is not None}
    config = nn.TrainConfig(**{**nn.MODELS[args.model].training, **given})
    chosen = model_options(args.set)
    runs, rows = list(product(args.splits, args.seeds)), []
    for split, seed in runs[group.rank :: group.size] if args.over == "runs" else runs:
        model = nn.build(args.model, data, seed=seed, device=args.device, **chosen)
        options: dict[str, Any] = {} if args.over == "runs" else {"per_step": args.per_step}
        if args.output is not None:
            options["directory"] = args.output / f"split-{split}-seed-{seed}"
        function: Any = nn.train if args.over == "runs" else train_distributed
        result = function(model, data, data.splits[split], config, **options)
        rows.append({"split": split, "seed": seed, **result.as_dict()})
    return rows


def main(argv: list[str] | None = None) -> int:
    """Train by the arguments and return the exit code."""
    args = _parser().parse_args(argv)
    try:
        with process_group(BACKENDS[args.device]) as group:
            rows = _trained(args, group)
            if args.over == "runs":
                rows = sorted(gathered(rows, group), key=lambda row: (row["split"], row["seed"]))
            if group.rank == 0:
                facts = {"model": args.model, "data set": args.dataset, "processes": group.size, "runs": rows}
                sys.stdout.write(json.dumps(facts) + "\n")
    except (GspError, OSError, ImportError) as wrong:
        sys.stderr.write(f"gsp_fb.nn: {wrong}\n")
        return 1
    return 0
