"""Floors of branch coverage: 95 % of everything, all of the core: ``python -m tools.reliability.floors [--record]``.

Reads what ``pytest --cov`` measured, subprocesses and workers included, and returns 1 if a module is below its floor.
"""

from __future__ import annotations

import argparse
import json
import sys
import tempfile
from collections.abc import Mapping
from datetime import UTC, datetime
from fnmatch import fnmatch
from pathlib import Path
from typing import Any

import coverage

ROOT = Path(__file__).parents[2]
FIGURES = ROOT / "tools" / "reliability" / "figures" / "coverage.json"
OVERALL = 95.0
# The core is covered line by line and branch by branch.
CORE = [
    "gsp_fb/graph.py",
    "gsp_fb/variants.py",
    "gsp_fb/operators.py",
    "gsp_fb/spectrum.py",
    "gsp_fb/energy/*.py",
    "gsp_fb/_arguments.py",
    "gsp_fb/_atomic.py",
]


def measured() -> dict[str, Any]:
    """Return coverage's own report of the last run, as it writes it in JSON."""
    data = coverage.Coverage(config_file=str(ROOT / "setup.cfg"))
    data.load()
    with tempfile.TemporaryDirectory() as scratch:
        data.json_report(outfile=f"{scratch}/coverage.json")
        found: dict[str, Any] = json.loads(Path(scratch, "coverage.json").read_text("utf-8"))
    return found


def is_core(path: str) -> bool:
    """Return whether a file belongs to the core."""
    return any(fnmatch(path, pattern) for pattern in CORE)


def below(report: Mapping[str, Any]) -> list[str]:
    """Return one sentence for each floor that is not reached, and for each of the core's files that was not seen."""
    percent, files = report["totals"]["percent_covered"], report["files"]
    output = [f"all of gsp_fb: {percent:.2f} % is below {OVERALL:.0f} %"] if percent < OVERALL else []
    output += [f"{pattern}: not measured" for pattern in CORE if not any(fnmatch(path, pattern) for path in files)]
    for path, found in files.items():
        missing = [f"line {line}" for line in found["missing_lines"]]
        missing += [f"branch {start} -> {end}" for start, end in found.get("missing_branches", [])]
        if is_core(path) and missing:
            output.append(f"{path}: {found['summary']['percent_covered']:.2f} % is below 100 %: {', '.join(missing)}")
    return output


def _part(path: str) -> str:
    """Return the row that a file is counted in: its own in the core, else its package's."""
    if is_core(path):
        return path
    package = Path(path).parts[:2]
    return "/".join(package) if len(Path(path).parts) > 2 else "gsp_fb/*.py"


def figures(report: Mapping[str, Any]) -> dict[str, Any]:
    """Return what is kept of a run: the sums, and those of each file of the core and of each package."""
    names = ("covered_lines", "num_statements", "covered_branches", "num_branches")
    rows: dict[str, dict[str, int]] = {}
    for path, found in report["files"].items():
        row = rows.setdefault(_part(path), dict.fromkeys(names, 0))
        for name in names:
            row[name] += found["summary"][name]
    totals = {name: report["totals"][name] for name in (*names, "percent_covered")}
    return {"date": str(datetime.now(UTC).date()), "totals": totals, "parts": rows}


def main() -> int:
    """Say which floors are not reached; store the figures if asked to."""
    parser = argparse.ArgumentParser(prog="python -m tools.reliability.floors", description=__doc__)
    parser.add_argument("--record", action="store_true", help=f"write {FIGURES.relative_to(ROOT)}")
    chosen, report = parser.parse_args(), measured()
    if chosen.record:
        FIGURES.parent.mkdir(exist_ok=True)
        FIGURES.write_text(json.dumps(figures(report), indent=1) + "\n", encoding="utf-8")
    failures = below(report)
    print("\n".join(failures) or f"coverage: {report['totals']['percent_covered']:.2f} %, the core whole")
    return int(bool(failures))


if __name__ == "__main__":
    sys.exit(main())
