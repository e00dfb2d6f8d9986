"""The figures of the runs: kept as JSON, a row of which a later run may renew, and shown as ``RESULTS.md``."""

from __future__ import annotations

import json
import platform
from collections.abc import Mapping, Sequence
from dataclasses import asdict
from datetime import UTC, datetime
from importlib.metadata import version
from pathlib import Path
from typing import Any

from tools.chaos.killing import Tally

__all__ = ["FIGURES", "markdown", "record"]

FIGURES = Path(__file__).parent / "figures.json"
LIBRARIES = ("gsp-fb", "numpy", "torch", "safetensors", "optuna", "filelock")
# Of each kind of fault: how its first column is called.
KINDS = {"kill -9": "kills", "Ctrl-C": "interrupts", "full disk": "refused saves"}


def record(tallies: Mapping[str, Sequence[Tally]], command: str, seconds: float, *, whole: bool) -> dict[str, Any]:
    """Store the figures and return them; a run of a few jobs renews their rows, a whole run all."""
    figures = {"runs": [], "rows": {}} if whole else json.loads(FIGURES.read_text("utf-8"))
    versions = ", ".join([f"Python {platform.python_version()}", *(f"{name} {version(name)}" for name in LIBRARIES)])
    date = str(datetime.now(UTC).date())
    figures["runs"].append({"command": command, "date": date, "seconds": round(seconds), "versions": versions})
    for kind, rows in tallies.items():
        kept = {row["title"]: row for row in figures["rows"].get(kind, [])} | {row.title: asdict(row) for row in rows}
        figures["rows"][kind] = list(kept.values())
    FIGURES.write_text(json.dumps(figures, indent=1) + "\n", encoding="utf-8")
    return figures


def markdown(figures: Mapping[str, Any]) -> str:
    """Return the page: the sums, how they came about, and one row a job."""
    killed = figures["rows"]["kill -9"]
    rows = [row for kind in figures["rows"].values() for row in kind]
    runs = [f"`{run['command']}` on {run['date']} (UTC) in {run['seconds']} s" for run in figures["runs"]]
    lines = [
        "# Chaos: the figures of the last run",
        "",
        f"{_sum(killed, 'kills'):,} processes killed by signal 9 at random moments, {_sum(killed, 'hit'):,} of",
        f"them in the middle of a save. Lost or torn: {_sum(rows, 'lost')}. Temporary files that were still",
        f"there after the next start (a day later, as the rule is): {_sum(rows, 'stale')}.",
        "",
        f"Run by {'; then '.join(runs)}. {figures['runs'][-1]['versions']}.",
    ]
    for kind, title in KINDS.items():
        lines += ["", f"## {kind}", "", f"| job | {title} | in a save | saves | lost or torn | left over | |"]
        lines += ["|---|---|---|---|---|---|---|", *(_row(row) for row in figures["rows"][kind])]
    return "\n".join(lines) + "\n"


def _sum(rows: Sequence[Mapping[str, Any]], name: str) -> int:
    return sum(row[name] for row in rows)


def _row(row: Mapping[str, Any]) -> str:
    names = ("title", "kills", "hit", "saves", "lost", "stale", "note")
    return f"| {' | '.join(str(row[name]) for name in names)} |"
