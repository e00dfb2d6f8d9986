"""Fuzz the readers and write ``fuzz/RESULTS.md``: ``python -m fuzz --seconds 60 [--reader csv]``."""

from __future__ import annotations

import argparse
import sys
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

from fuzz.readers import READERS
from fuzz.report import markdown
from fuzz.run import Outcome, fuzz

RESULTS = Path(__file__).parent / "RESULTS.md"


def main() -> int:
    """Run each reader in turn, or as many at once as asked for; return 1 if anything was found."""
    parser = argparse.ArgumentParser(prog="python -m fuzz", description=__doc__)
    parser.add_argument("--seconds", type=int, default=60, help="for each reader (default: 60)")
    parser.add_argument("--reader", action="append", choices=READERS, help="only this one; may be given again")
    parser.add_argument("--jobs", type=int, default=1, help="processes at once (default: 1)")
    parser.add_argument("--output", type=Path, default=RESULTS, help="where the figures go")
    chosen = parser.parse_args()
    names = chosen.reader or list(READERS)
    with ThreadPoolExecutor(chosen.jobs) as pool:
        outcomes = []
        for outcome in pool.map(lambda name: fuzz(name, chosen.seconds), names):
            _say(outcome)
            outcomes.append(outcome)
    chosen.output.write_text(markdown(outcomes, " ".join(["python -m fuzz", *sys.argv[1:]])), encoding="utf-8")
    return int(not all(outcome.clean for outcome in outcomes))


def _say(outcome: Outcome) -> None:
    print(f"{outcome.reader}: {outcome.executions} executions, {outcome.edges} edges", flush=True)
    if not outcome.clean:
        print(outcome.tail, flush=True)


if __name__ == "__main__":
    sys.exit(main())
