"""The figures of a run as ``RESULTS.md``."""

from __future__ import annotations

import platform
from collections.abc import Mapping, Sequence
from datetime import UTC, datetime
from importlib.metadata import version

from chaos.killing import Tally

__all__ = ["markdown"]

LIBRARIES = ("gsp-fb", "numpy", "torch", "safetensors", "optuna", "filelock")
# Of each kind of fault: how its first column is called.
KINDS = {"kill -9": "kills", "Ctrl-C": "interrupts", "full disk": "refused saves"}


def markdown(tallies: Mapping[str, Sequence[Tally]], command: str, seconds: float) -> str:
    """Return the page: the sums, how they came about, and one row a job."""
    kills = sum(row.kills for row in tallies["kill -9"])
    rows = [row for kind in tallies.values() for row in kind]
    versions = ", ".join([f"Python {platform.python_version()}", *(f"{name} {version(name)}" for name in LIBRARIES)])
    lines = [
        "# Chaos: the figures of the last run",
        "",
        f"{kills:,} processes killed by signal 9 at random moments, {sum(row.hit for row in tallies['kill -9']):,} of",
        f"them in the middle of a save. Lost or torn: {sum(row.lost for row in rows)}. Temporary files that were still",
        f"there after the next start (a day later, as the rule is): {sum(row.stale for row in rows)}.",
        "",
        f"Written by `{command}` on {datetime.now(UTC).date()} (UTC) in {seconds:.0f} s. {versions}.",
    ]
    for kind, title in KINDS.items():
        lines += ["", f"## {kind}", "", f"| job | {title} | in a save | saves | lost or torn | left over | |"]
        lines += ["|---|---|---|---|---|---|---|", *(_row(row) for row in tallies[kind])]
    return "\n".join(lines) + "\n"


def _row(row: Tally) -> str:
    return f"| {row.title} | {row.kills} | {row.hit} | {row.saves} | {row.lost} | {row.stale} | {row.note} |"
