"""Re-run the paper: ``python -m paper [EXPERIMENT ...]``."""

from __future__ import annotations

import argparse
import sys
from collections import Counter
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from gsp_fb._extras import has, require
from gsp_fb.cli.exits import exit_code
from gsp_fb.cli.render import emit, progress
from gsp_fb.errors import ParameterError

from .catalogue import EXPERIMENTS
from .cells import Cell, select
from .checking import Check, check, drawn
from .protocols import PROTOCOLS
from .runner import Outcome, reproduce
from .s_values import s_value_table
from .store import Store

__all__ = ["main"]

PROGRAM = "python -m paper"
DESCRIPTION = "Re-run the tables and figures of the paper on the real data; resumable."
RESULTS, REHEARSALS = Path("paper/results"), Path("paper/results-quick")
# How far an S-value may lie from the printed one: the paper rounds to three digits.
PAPER_TOLERANCE = 0.002


class _Progress:
    """A bar with the time left for a person at a terminal; otherwise a line for every cell that ends. On stderr."""

    def __init__(self, cells: list[Cell], store: Store) -> None:
        self.cells, self.store = {cell.path: cell for cell in cells}, store
        self.bar: Any = None
        if sys.stderr.isatty() and has("tqdm"):
            tqdm = require("tqdm", "a progress bar").tqdm
            self.bar = tqdm(total=len(cells), initial=sum(map(store.is_current, cells)), unit="cell", file=sys.stderr)

    def __call__(self, outcome: Outcome) -> None:
        line = f"{outcome.state:<12}{outcome.cell.path.removesuffix('.json')}{_format(outcome)}"
        if self.bar is None:
            sys.stderr.write(f"{line}; {self._left()}\n")
            sys.stderr.flush()
            return
        self.bar.write(line, file=sys.stderr)
        self.bar.set_postfix_str(self._left())
        self.bar.update(outcome.state == "done")

    def _left(self) -> str:
        left = self.store.estimates(self.cells.values())
        known = [seconds for seconds in left.values() if seconds is not None]
        return f"{len(left)} left, about {_duration(sum(known))}"


def _format(outcome: Outcome) -> str:
    facts = outcome.facts or {}
    score = f"  {facts['mean']:.4f} +- {facts['std']:.4f}, val {facts['val_mean']:.4f}" if "mean" in facts else ""
    spent = f"  {facts['seconds']:.0f} s" if facts else ""
    return f"{score}{spent}{'  ' + outcome.reason if outcome.reason else ''}"


def _duration(seconds: float) -> str:
    hours, rest = divmod(round(seconds), 3600)
    return f"{hours} h {rest // 60:02d} min" if hours else f"{rest // 60} min {rest % 60:02d} s"


def _reproduce(args: argparse.Namespace) -> int:
    if args.s_values:
        return _s_values(args)
    store = Store(args.results or (REHEARSALS if args.quick else RESULTS), quick=args.quick)
    protocols = PROTOCOLS if args.protocol is None else (args.protocol,)
    cells = select(args.experiments, protocols=protocols, datasets=args.datasets, models=args.models, quick=args.quick)
    if args.list:
        return _list(cells, store, as_json=args.json)
    if args.check is not None:
        return _check(args, cells, store)
    if args.report:
        return _report(args, store)
    outcomes = reproduce(
        cells, store, seconds=None if args.budget is None else 60 * args.budget, report=_Progress(cells, store)
    )
    states = Counter(outcome.state for outcome in outcomes)
    stored = sum(map(store.is_current, cells))
    emit({"results": str(store.directory), "cells": len(cells), "stored": stored, **states}, as_json=args.json)
    return 1 if states["failed"] else 0


def _list(cells: list[Cell], store: Store, *, as_json: bool) -> int:
    spent, left = store.seconds(cells), store.estimates(cells)
    rows = [
        {
            "cell": cell.path.removesuffix(".json"),
            "state": "stale"
            if cell.path in spent and cell.path in left
            else "done"
            if cell.path in spent
            else "missing",
            "trainings": cell.plan.trainings,
            "core-minutes": _minutes(left.get(cell.path, spent.get(cell.path))),
        }
        for cell in cells
    ]
    known = [seconds for seconds in left.values() if seconds is not None]
    states = Counter(row["state"] for row in rows)
    facts = {state: states[state] for state in ("done", "stale", "missing")}
    spent_now = sum(seconds for path, seconds in spent.items() if path not in left)
    unknown = {"without estimate": len(left) - len(known)}
    times = {"spent": _duration(spent_now), "left": _duration(sum(known))}
    emit({**facts, **times, **unknown, "cells": rows}, as_json=as_json)
    return 0


def _minutes(seconds: float | None) -> float | None:
    return None if seconds is None else round(seconds / 60, 2)


def _write_check(found: Check) -> None:
    sys.stderr.write(f"{found.state:<8}{found.cell.path}\n")


def _check(args: argparse.Namespace, cells: list[Cell], store: Store) -> int:
    chosen = drawn(store, cells, args.check, within=args.within, rng=args.seed)
    found = check(store, chosen, report=_write_check)
    rows = [{"cell": one.cell.path, "state": one.state, "largest difference": one.difference} for one in found]
    states = Counter(one.state for one in found)
    emit({"checked": len(found), **states, "cells": rows}, as_json=args.json)
    return 0 if found and all(one.passed for one in found) else 1


def _report(args: argparse.Namespace, store: Store) -> int:
    from .report import write_report

    output = args.output or store.directory / "report.md"
    written = [str(path) for path in write_report(store, output, experiments=args.experiments)]
    emit({"written": written if args.json else ", ".join(written)}, as_json=args.json)
    return 0


def _s_values(args: argparse.Namespace) -> int:
    names = list(args.datasets) or None
    cells = list(progress(s_value_table(names), "S-values", total=None if names else 36))
    if not cells:
        raise ParameterError(f"Tables 1 and 3 have no data set {names!r}")
    rows = [
        {
            "table": cell.table,
            "data set": cell.dataset,
            "signal": cell.signal,
            "paper": cell.paper,
            "as printed": cell.as_printed,
            "differs by": cell.difference,
            "as defined": cell.as_defined,
        }
        for cell in cells
    ]
    worst = max(abs(cell.difference) for cell in cells)
    emit({"cells": len(cells), "largest difference": worst, "S-values": rows}, as_json=args.json)
    return 0 if worst <= PAPER_TOLERANCE else 1


def _arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument(
        "experiments", nargs="*", metavar="EXPERIMENT", help=f"of {', '.join(EXPERIMENTS)} (default all)"
    )
    parser.add_argument("--json", action="store_true", help="print one JSON object and nothing else")
    parser.add_argument("--s-values", action="store_true", help="Tables 1 and 3 beside ours, under both conventions")
    parser.add_argument("--protocol", choices=PROTOCOLS, help="listed or validated hyperparameters (default both)")
    parser.add_argument("--datasets", nargs="+", default=(), metavar="NAME")
    parser.add_argument("--models", nargs="+", default=(), metavar="NAME", help="rows or models, as FB-GCN-lazy or gat")
    parser.add_argument("--results", type=Path, metavar="DIR", help=f"default {RESULTS}/, with --quick {REHEARSALS}/")
    parser.add_argument("--budget", type=float, metavar="MINUTES", help="stop after so long; a later run goes on")
    parser.add_argument("--quick", action="store_true", help="a rehearsal: three splits and few epochs, kept apart")
    parser.add_argument(
        "--list", action="store_true", help="which cells are stored, stale or missing, and their price in core-minutes"
    )
    parser.add_argument("--check", type=int, metavar="N", help="measure N stored cells again, at random, and compare")
    parser.add_argument("--within", type=float, metavar="SECONDS", help="of --check: cells that fit this time together")
    parser.add_argument("--seed", type=int, default=0, help="of --check: which cells are drawn")
    parser.add_argument("--report", action="store_true", help="write the stored results beside the paper's")
    parser.add_argument("--output", type=Path, metavar="FILE", help="of --report (default: in DIR)")


def main(argv: Sequence[str] | None = None) -> int:
    """Run the command and return its exit code."""
    parser = argparse.ArgumentParser(prog=PROGRAM, description=DESCRIPTION, allow_abbrev=False)
    _arguments(parser)
    args = parser.parse_args(argv)
    return exit_code(lambda: _reproduce(args), PROGRAM)


if __name__ == "__main__":
    sys.exit(main())
