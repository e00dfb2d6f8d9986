"""``gsp-fb audit``: what a trained network does to each half of its input."""

from __future__ import annotations

import argparse
import json
import re
import sys
import textwrap
from pathlib import Path
from typing import Any

from .._atomic import atomic_write
from .._rundir import run_directories
from .._sidecar import CHECKPOINT_FILE
from ..errors import ParameterError
from .command import Command, add_family
from .render import WIDTH, emit
from .source import add_data_options, read_dataset

__all__ = ["COMMANDS", "audit_run"]

SUMMARY = "summary.json"


def audit_run(path: Path, data: Any, *, progress: bool = False, **options: Any) -> Any:
    """Return the audit of a stored run; the accuracy is that of the test nodes of its split, where they are known."""
    from .. import nn

    run = _run_directory(path)
    return nn.audit(run, data, nodes=_test_nodes(run, data), progress=progress and sys.stderr.isatty(), **options)


def _audit(args: argparse.Namespace) -> int:
    if args.output is not None and args.output.suffix != ".html":
        raise ParameterError(f"-o writes a page: give a name that ends in .html, not {args.output}")
    run = _run_directory(args.run)
    name = args.dataset or _dataset_name(run)
    data = read_dataset(name, args)
    options = {"family": args.family, "bands": args.bands, "probes": args.probes, "rng": args.seed}
    found = audit_run(run, data, progress=not args.json, **options)
    if args.output is not None:
        from ..nn.auditing.page import audit_page

        with atomic_write(args.output, mode="w") as file:
            file.write(audit_page(found, f"{run.name} on {name}"))
    _print(args, {"run": str(run), "data set": name, "model": found.model}, found)
    return 0


def _print(args: argparse.Namespace, facts: dict[str, Any], found: Any) -> None:
    from ..nn.auditing.page import TABLES

    if args.json:
        emit({**facts, "verdict": found.verdict, "audit": found.to_dict()}, as_json=True)
        return
    emit({**facts, **{name.lower(): list(rows(found)) for name, (rows, _) in TABLES.items()}}, as_json=False)
    sys.stdout.write(f"\n{textwrap.fill(found.verdict, WIDTH)}\n")


def _run_directory(path: Path) -> Path:
    """Return the directory of a checkpoint: the given one, that of its file, or the first run of a training."""
    return run_directories(path.parent if path.name == CHECKPOINT_FILE else path, CHECKPOINT_FILE)[0]


def _dataset_name(run: Path) -> str:
    """Return the data set that the summary of ``gsp-fb train -o`` beside the run names."""
    for directory in (run, run.parent):
        if (directory / SUMMARY).is_file():
            return str(json.loads((directory / SUMMARY).read_text(encoding="utf-8"))["data set"])
    raise ParameterError(f"{run} does not name the data set it was trained on; give --dataset NAME")


def _test_nodes(run: Path, data: Any) -> Any:
    """Return the test nodes of the split that the directory is named after; None for all labelled nodes."""
    split, splits = re.fullmatch(r"split-(\d+)-seed-\d+", run.resolve().name), getattr(data, "splits", ())
    if split is None or hasattr(data, "graph_indptr") or int(split[1]) >= len(splits):
        return None
    return splits[int(split[1])].test


def _arguments(parser: argparse.ArgumentParser) -> None:
    add = parser.add_argument
    add("run", type=Path, help="Name a run of `gsp-fb train -o`, or its checkpoint.json.")
    add(
        "--dataset",
        metavar="NAME",
        help="Name the data set or graph file of the run (default: as in its summary.json).",
    )
    add_data_options(parser, loops="drop")
    add_family(parser, "Use the frequencies of this family")
    add("--bands", type=int, default=8, help="Divide the frequencies into so many bands (default 8).")
    add("--probes", type=int, default=16, help="Draw so many random signals a band (default 16).")
    add("--seed", type=int, default=0, help="Set the seed of the probes (default 0).")
    add("-o", "--output", type=Path, metavar="FILE", help="Write a page, .html; replaces the file.")


COMMANDS = (Command("audit", "Measure which half of its input a trained network keeps.", _arguments, _audit),)
