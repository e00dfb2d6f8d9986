"""Every law on many random examples, one after the other, the cheapest first: ``python -m reliability.laws``.

Each law that is done adds a line to ``reliability/figures/laws.jsonl``, so a run that is stopped goes on where it was.
A law is one test of ``tests/laws`` that Hypothesis draws the examples of, with one set of its other parameters.
"""

from __future__ import annotations

import argparse
import json
import re
import subprocess
import sys
import time
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest

ROOT = Path(__file__).parents[1]
FIGURES = ROOT / "reliability" / "figures" / "laws.jsonl"
EXAMPLES = 20_000
# What Hypothesis prints about a test; the last phase that it names is the one that drew the examples.
COUNTS = re.compile(r"(\d+) passing(?: examples?)?, (\d+) failing")
EXHAUSTED = "nothing left to do"
SECONDS = re.compile(r"^([\d.]+)s call +(\S.*)$", re.MULTILINE)


class Laws:
    """A plugin of pytest that notes which of the collected tests are laws."""

    def __init__(self) -> None:
        self.found: list[str] = []

    def pytest_collection_modifyitems(self, items: list[pytest.Item]) -> None:
        tests = [item for item in items if isinstance(item, pytest.Function)]
        self.found += [test.nodeid for test in tests if getattr(test.obj, "is_hypothesis_test", False)]


def laws() -> list[str]:
    """Return the names of all laws."""
    plugin = Laws()
    pytest.main(["--collect-only", "-qq", "--no-header", str(ROOT / "tests" / "laws")], plugins=[plugin])
    return plugin.found


def recorded() -> list[dict[str, Any]]:
    """Return what earlier runs stored, the last word on each law."""
    if not FIGURES.is_file():
        return []
    rows = [json.loads(line) for line in FIGURES.read_text("utf-8").splitlines()]
    return list({row["law"]: row for row in rows}.values())


def _pytest(*arguments: str) -> str:
    command = [sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider", *arguments]
    return subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=False).stdout


def costs() -> dict[str, float]:
    """Return the seconds of each law on a few examples."""
    said = _pytest("--hypothesis-profile=mutation", "--durations=0", "--durations-min=0", "tests/laws")
    return {law: float(seconds) for seconds, law in SECONDS.findall(said)}


def check(law: str) -> dict[str, Any]:
    """Run one law and return its figures; the text of a failure is kept, to be pinned."""
    started = time.monotonic()
    said = _pytest("--hypothesis-profile=long", "--hypothesis-show-statistics", law)
    counts = [(int(passed), int(failed)) for passed, failed in COUNTS.findall(said)] or [(0, 1)]
    passed, failed = (sum(column) for column in zip(*counts, strict=True))
    row = {"law": law, "examples": passed, "failures": failed, "seconds": round(time.monotonic() - started, 1)}
    row |= {"exhausted": EXHAUSTED in said, "date": str(datetime.now(UTC).date())}
    return row | ({"said": said[-4000:]} if failed else {})


def main() -> int:
    """Check the laws that are not yet recorded; return 1 if one of them failed."""
    parser = argparse.ArgumentParser(prog="python -m reliability.laws", description=__doc__)
    parser.add_argument("--minutes", type=float, default=float("inf"), help="begin no law after so long")
    parser.add_argument("--again", action="store_true", help="also those that are recorded")
    chosen = parser.parse_args()
    started, done = time.monotonic(), set() if chosen.again else {row["law"] for row in recorded()}
    found, seconds = laws(), costs()
    FIGURES.parent.mkdir(exist_ok=True)
    for law in sorted(set(found) - done, key=lambda law: seconds.get(law, float("inf"))):
        if time.monotonic() - started > 60 * chosen.minutes:
            break
        row = check(law) | {"of": len(found)}
        print(f"{row['seconds']:8.1f} s {row['examples']:6} examples, {row['failures']} failures: {law}", flush=True)
        with open(FIGURES, "a", encoding="utf-8") as lines:
            lines.write(json.dumps(row) + "\n")
    return int(any(row["failures"] for row in recorded()))


if __name__ == "__main__":
    sys.exit(main())
