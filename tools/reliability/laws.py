"""Every law on many random examples, one after the other, the cheapest first: ``python -m tools.reliability.laws``.

Each law that is done adds a line to ``tools/reliability/figures/laws.jsonl``, so a stopped run resumes.
A law is one test function of ``tests/laws`` that Hypothesis draws the examples of; where it has parameters besides, as
kernels and methods, each set of them gets an equal share of the examples.
"""

from __future__ import annotations

import argparse
import json
import math
import os
import re
import subprocess
import sys
import time
from collections import Counter
from concurrent.futures import ThreadPoolExecutor
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest

ROOT = Path(__file__).parents[2]
FIGURES = ROOT / "tools" / "reliability" / "figures" / "laws.jsonl"
EXAMPLES = 20_000
# What Hypothesis prints about a test; the last phase that it names is the one that drew the examples.
COUNTS = re.compile(r"(\d+) passing(?: examples?)?, (\d+) failing")
EXHAUSTED = "nothing left to do"
SECONDS = re.compile(r"^([\d.]+)s call +(\S.*)$", re.MULTILINE)


class Laws:
    """A plugin of pytest that counts the sets of parameters of each law."""

    def __init__(self) -> None:
        self.found: Counter[str] = Counter()

    def pytest_collection_modifyitems(self, items: list[pytest.Item]) -> None:
        tests = [item for item in items if isinstance(item, pytest.Function) and "@" not in item.nodeid]
        self.found.update(_law(test.nodeid) for test in tests if getattr(test.obj, "is_hypothesis_test", False))


def _law(test: str) -> str:
    return test.partition("[")[0]


def laws() -> Counter[str]:
    """Return the names of all laws, each with the number of its sets of parameters."""
    plugin = Laws()
    pytest.main(["--collect-only", "-qq", "--no-header", str(ROOT / "tests" / "laws")], plugins=[plugin])
    return plugin.found


def recorded() -> list[dict[str, Any]]:
    """Return what earlier runs stored, the last word on each law."""
    if not FIGURES.is_file():
        return []
    rows = [json.loads(line) for line in FIGURES.read_text("utf-8").splitlines()]
    return list({row["law"]: row for row in rows}.values())


def _pytest(*arguments: str, examples: int = EXAMPLES) -> str:
    command = [sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider", *arguments]
    env = {**os.environ, "LAW_EXAMPLES": str(examples)}
    return subprocess.run(command, cwd=ROOT, env=env, capture_output=True, text=True, check=False).stdout


def costs() -> Counter[str]:
    """Return the seconds of each law on a few examples."""
    output = _pytest("--hypothesis-profile=mutation", "--durations=0", "--durations-min=0", "tests/laws")
    seconds: Counter[str] = Counter()
    for taken, test in SECONDS.findall(output):
        seconds[_law(test)] += float(taken)
    return seconds


def check(law: str, sets: int) -> dict[str, Any]:
    """Run one law and return its figures; the text of a failure is kept, to be pinned."""
    started = time.monotonic()
    output = _pytest(
        "--hypothesis-profile=long", "--hypothesis-show-statistics", law, examples=math.ceil(EXAMPLES / sets)
    )
    counts = [(int(passed), int(failed)) for passed, failed in COUNTS.findall(output)] or [(0, 1)]
    passed, failed = (sum(column) for column in zip(*counts, strict=True))
    row = {"law": law, "sets": sets, "examples": passed, "failures": failed}
    row |= {"seconds": round(time.monotonic() - started, 1)}
    row |= {"exhausted": EXHAUSTED in output, "date": str(datetime.now(UTC).date())}
    return row | ({"output": output[-4000:]} if failed else {})


def main() -> int:
    """Check the laws that are not yet recorded; return 1 if one of them failed."""
    parser = argparse.ArgumentParser(prog="python -m tools.reliability.laws", description=__doc__)
    parser.add_argument("--minutes", type=float, default=float("inf"), help="begin no law after so long")
    parser.add_argument("--again", action="store_true", help="also those that are recorded")
    parser.add_argument("--jobs", type=int, default=1, help="laws that are checked at the same time")
    chosen = parser.parse_args()
    started, done = time.monotonic(), set() if chosen.again else {row["law"] for row in recorded()}
    found, seconds = laws(), costs()
    FIGURES.parent.mkdir(exist_ok=True)

    def record(law: str) -> None:
        if time.monotonic() - started > 60 * chosen.minutes:
            return
        row = check(law, found[law]) | {"of": len(found)}
        print(f"{row['seconds']:8.1f} s {row['examples']:6} examples, {row['failures']} failures: {law}", flush=True)
        with open(FIGURES, "a", encoding="utf-8") as lines:
            lines.write(json.dumps(row) + "\n")

    with ThreadPoolExecutor(chosen.jobs) as pool:
        list(pool.map(record, sorted(set(found) - done, key=lambda law: seconds[law])))
    return int(any(row["failures"] for row in recorded()))


if __name__ == "__main__":
    sys.exit(main())
