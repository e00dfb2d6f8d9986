"""Commands that report: advise, audit and report."""

from __future__ import annotations

import argparse
import json
import re
import shlex
import sys
import textwrap
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import numpy as np

from .. import datasets
from .. import report as reports
from .._arguments import check_rng
from .._atomic import atomic_write
from .._rundir import run_directories
from .._sidecar import CHECKPOINT_FILE
from ..advice import Advice, Evidence, advise
from ..backend import IntArray
from ..datasets.splits import split_from_column
from ..errors import ParameterError
from ..graph import Graph
from .render import WIDTH, emit
from .source import (
    Command,
    Source,
    add_data_options,
    add_family,
    add_gamma,
    add_source,
    is_file,
    read_dataset,
    read_source,
)

__all__ = ["AUDIT", "COMMANDS"]

TRAIN_SHARE = 0.5


def _advise(args: argparse.Namespace) -> dict[str, Any] | int:
    source = read_source(args)
    if source.y is None:
        raise ParameterError(f"{source.name} has no labels; give --label COLUMN or --labels FILE")
    nodes = training_nodes(args.source, source, split=args.split, train=args.train, seed=args.seed)
    found = advise(source.graph, source.x, source.y, nodes, rng=args.seed)
    if args.json:
        return {"source": source.name, **found.as_dict()}
    emit({"source": source.name, "answer": found.answer, "filter": found.family}, as_json=False)
    sys.stdout.write(f"\n{textwrap.fill(found.text, WIDTH)}\n\n{found.command(args.source)}\n\n")
    emit({"answers": list(found.rows), "evidence (training labels only)": _evidence(found.evidence)}, as_json=False)
    return 0


def _evidence(evidence: Evidence) -> list[dict[str, Any]]:
    rows = []
    for family, value in evidence.s_labels.items():
        accuracy = evidence.readout.get(family, {})
        x = {"S features": evidence.s_features.get(family), "E[S]": evidence.expected_features.get(family)}
        y = {"S labels": value, "E[S] labels": evidence.expected_labels[family]}
        probe = {"acc low": accuracy.get("low"), "both": accuracy.get("both")}
        rows.append({"filter": family, **x, **y, "lambda_2": evidence.eigengap.get(family), **probe})
    return rows


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


def _advise_arguments(parser: argparse.ArgumentParser) -> None:
    add = parser.add_argument
    nodes = "Read the training nodes, one number a line (default: split 0 of a data set, a random half of a file)."
    add("--train", type=Path, metavar="FILE", help=nodes)
    add("--seed", type=int, default=0, help="Seed the random half and the probes (default 0).")


SUMMARY = "summary.json"


def audit_run(path: Path, data: Any, *, progress: bool = False, **options: Any) -> Any:
    """Return the audit of a stored run; the accuracy is that of the test nodes of its split, where they are known."""
    from .. import nn

    run = _run_directory(path)
    return nn.audit(run, data, nodes=_test_nodes(run, data), progress=progress and sys.stderr.isatty(), **options)


def _audit(args: argparse.Namespace) -> dict[str, Any] | int:
    from ..nn.auditing import page

    if args.output is not None and args.output.suffix != ".html":
        raise ParameterError(f"-o writes a page: give a name that ends in .html, not {args.output}")
    run = _run_directory(args.run)
    name = args.dataset or _dataset_name(run)
    data = read_dataset(name, args)
    options = {"family": args.family, "bands": args.bands, "probes": args.probes, "rng": args.seed}
    found = audit_run(run, data, progress=not args.json, **options)
    if args.output is not None:
        with atomic_write(args.output, mode="w") as file:
            file.write(page.audit_page(found, f"{run.name} on {name}"))
    facts = {"run": str(run), "data set": name, "model": found.model}
    if args.json:
        return {**facts, "verdict": found.verdict, "audit": found.to_dict()}
    emit({**facts, **{name.lower(): list(rows(found)) for name, (rows, _) in page.TABLES.items()}}, as_json=False)
    sys.stdout.write(f"\n{textwrap.fill(found.verdict, WIDTH)}\n")
    return 0


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


def _audit_arguments(parser: argparse.ArgumentParser) -> None:
    add = parser.add_argument
    add("run", type=Path, help="Name a run of `gsp-fb train -o`, or its checkpoint.json.")
    data = "Name the data set or graph file of the run (default: as in its summary.json)."
    add("--dataset", metavar="NAME", help=data)
    add_data_options(parser, loops="drop")
    add_family(parser, "Use the frequencies of this family")
    add("--bands", type=int, default=8, help="Divide the frequencies into so many bands (default 8).")
    add("--probes", type=int, default=16, help="Draw so many random signals a band (default 16).")
    add("--seed", type=int, default=0, help="Set the seed of the probes (default 0).")
    add("-o", "--output", type=Path, metavar="FILE", help="Write a page, .html; replaces the file.")


# Options of files that `gsp-fb train` has too, and where their values have another name.
DATA_OPTIONS = ["nodes", "node-names", "features", "label", "split", "source", "target", "weight"]
DATA_OPTIONS += ["symmetrize", "duplicates"]
VALUES = {"node-names": "names", "source": "source_column", "target": "target_column"}
CLEAR_LINE = "\r\x1b[K"


def _show(step: str) -> None:
    """Show a person at a terminal what is being computed; nothing goes to a pipe."""
    if sys.stderr.isatty():
        sys.stderr.write(f"{CLEAR_LINE}{step + ' ...' if step else ''}")
        sys.stderr.flush()


def _report(args: argparse.Namespace) -> dict[str, Any] | int:
    # An unknown ending is refused before anything is computed.
    wanted = "markdown" if args.markdown else None
    chosen = None if args.output is None else reports.format_of(args.output, wanted)
    try:
        _show("reading")
        source = read_source(args)
        _show("advice")
        advice, nodes = _advice(args.source, source, args.split)
        found = reports.collect(
            source.graph,
            x=list(source.feature_names) or source.x,
            y=_named_classes(args, source),
            name=source.name,
            family=args.family,
            gamma=1.0 if args.gamma is None else args.gamma,
            runs=args.runs or (),
            advice=advice,
            audit=_audited(args, source),
            advice_nodes=nodes,
            source=_data_words(args),
            on_step=_show,
        )
    finally:
        _show("")
    if args.output is not None:
        reports.write_report(found, args.output, format=chosen)
    if not args.json and args.output is not None:
        return {"written": str(args.output), "bytes": args.output.stat().st_size}
    sys.stdout.write(reports.FORMATS["json" if args.json else "markdown"](found))
    return 0


def _advice(name: str, source: Source, split: str | None) -> tuple[Advice | None, str]:
    """Return the advice of ``gsp-fb advise`` on the same split, and what it read; None without labels to decide."""
    if source.y is None or np.ndim(source.y) != 1 or source.graph.directed:
        return None, ""
    try:
        found = advise(source.graph, source.x, source.y, training_nodes(name, source, split=split))
    except (ParameterError, IndexError):  # too few labelled neighbours to advise on, or a data set without splits
        return None, ""
    named = f"the training nodes of {f'column {split}' if is_file(name) else f'split {split or 0}'}"
    whose = "a random half of the nodes" if is_file(name) and split is None else named
    return found, f"{whose} ({found.evidence.n_train} labelled nodes)"


def _named_classes(args: argparse.Namespace, source: Source) -> Any:
    """Return the labels, by name where they come from a column of text."""
    column = None if args.label is None or args.labels is not None else source.graph.nodes[args.label]
    return source.y if column is None or column.dtype.kind not in "OUS" else column


def _data_words(args: argparse.Namespace) -> str:
    """Return how a command that trains names the same data."""
    if args.signal is not None or args.labels is not None:  # files that only the measuring commands read
        return "DATA"
    chosen = [(f"--{option}", getattr(args, VALUES.get(option, option))) for option in DATA_OPTIONS]
    words = [str(word) for option, value in chosen if value not in (None, "weight") for word in (option, value)]
    return shlex.join([args.source, *words])


def _audited(args: argparse.Namespace, source: Source) -> Any:
    """Return the audit of ``--audit RUN`` on the graph of the report, without self-loops as networks are trained."""
    if args.audit is None:
        return None
    _show("audit")
    if args.label is not None or not is_file(args.source):  # with splits: the accuracy is that of the test nodes
        data = read_dataset(args.source, argparse.Namespace(**{**vars(args), "loops": "drop"}))
        return audit_run(args.audit, data, family=args.family)
    graph = Graph.from_adjacency(source.graph.adjacency, loops="drop") if source.graph.n_loops else source.graph
    return audit_run(args.audit, SimpleNamespace(graph=graph, x=source.x, y=source.y), family=args.family)


def _report_arguments(parser: argparse.ArgumentParser) -> None:
    add = parser.add_argument
    add("-o", "--output", type=Path, metavar="FILE", help="Write .html, .md or .json; an existing file is replaced.")
    add(
        "--markdown", action="store_true", help="Write Markdown whatever the suffix of the file; the default on stdout."
    )
    runs = "Add the runs in a folder of `gsp-fb train -o`; repeatable."
    add("--runs", type=Path, action="append", metavar="DIR", help=runs)
    add("--audit", type=Path, metavar="RUN", help="Add the audit of a network that was trained on this graph.")
    add_family(parser, "Use the frequencies of this family")


ADVISE = "Recommend a high channel, an identity path or no graph, and a filter."
REPORT = "Write a report on one graph: figures, tables and an interactive filter."
COMMANDS = (
    Command("report", REPORT, _report, (add_source, _report_arguments, add_gamma)),
    Command("advise", ADVISE, _advise, (add_source, _advise_arguments)),
)
AUDIT = Command("audit", "Measure which half of its input a trained network keeps.", _audit, (_audit_arguments,))
