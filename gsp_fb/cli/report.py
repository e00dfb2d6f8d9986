"""``gsp-fb report``: a report on one graph."""

from __future__ import annotations

import argparse
import shlex
import sys
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import numpy as np

from .. import report as reports
from ..advice import Advice, advise
from ..errors import ParameterError
from ..graph import Graph
from .advise import training_nodes
from .audit import audit_run
from .command import Command, add_family, add_gamma
from .render import emit
from .source import Source, add_source, is_file, read_dataset, read_source

__all__ = ["COMMANDS"]

# Options of files that `gsp-fb train` has too, and their values.
DATA_OPTIONS = {
    "--nodes": "nodes",
    "--node-names": "names",
    "--features": "features",
    "--label": "label",
    "--split": "split",
    "--source": "source_column",
    "--target": "target_column",
    "--weight": "weight",
    "--symmetrize": "symmetrize",
    "--duplicates": "duplicates",
}
CLEAR_LINE = "\r\x1b[K"


def _show(step: str) -> None:
    """Show a person at a terminal what is being computed; nothing goes to a pipe."""
    if sys.stderr.isatty():
        sys.stderr.write(f"{CLEAR_LINE}{step + ' ...' if step else ''}")
        sys.stderr.flush()


def _report(args: argparse.Namespace) -> int:
    chosen = _chosen_format(args)
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
            audit=_audit(args, source),
            advice_nodes=nodes,
            source=_data_words(args),
            on_step=_show,
        )
    finally:
        _show("")
    if args.output is not None:
        reports.write_report(found, args.output, format=chosen)
    if args.json or args.output is None:
        sys.stdout.write(reports.FORMATS["json" if args.json else "markdown"](found))
    else:
        emit({"written": str(args.output), "bytes": args.output.stat().st_size}, as_json=False)
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
    chosen = [(option, getattr(args, name)) for option, name in DATA_OPTIONS.items()]
    words = [str(word) for option, value in chosen if value not in (None, "weight") for word in (option, value)]
    return shlex.join([args.source, *words])


def _audit(args: argparse.Namespace, source: Source) -> Any:
    """Return the audit of ``--audit RUN`` on the graph of the report, without self-loops as networks are trained."""
    if args.audit is None:
        return None
    _show("audit")
    if args.label is not None or not is_file(args.source):  # with splits: the accuracy is that of the test nodes
        data = read_dataset(args.source, argparse.Namespace(**{**vars(args), "loops": "drop"}))
        return audit_run(args.audit, data, family=args.family)
    graph = Graph.from_adjacency(source.graph.adjacency, loops="drop") if source.graph.n_loops else source.graph
    return audit_run(args.audit, SimpleNamespace(graph=graph, x=source.x, y=source.y), family=args.family)


def _chosen_format(args: argparse.Namespace) -> str | None:
    """Return the format of the file, refusing an unknown ending before anything is computed."""
    if args.output is None:
        return None
    return reports.format_of(args.output, "markdown" if args.markdown else None)


def _arguments(parser: argparse.ArgumentParser) -> None:
    add = parser.add_argument
    add_source(parser)
    add("-o", "--output", type=Path, metavar="FILE", help="Write .html, .md or .json; an existing file is replaced.")
    add(
        "--markdown", action="store_true", help="Write Markdown whatever the suffix of the file; the default on stdout."
    )
    add(
        "--runs",
        type=Path,
        action="append",
        metavar="DIR",
        help="Add the runs in a folder of `gsp-fb train -o`; repeatable.",
    )
    add("--audit", type=Path, metavar="RUN", help="Add the audit of a network that was trained on this graph.")
    add_family(parser, "Use the frequencies of this family")
    add_gamma(parser)


COMMANDS = (
    Command("report", "Write a report on one graph: figures, tables and an interactive filter.", _arguments, _report),
)
