"""Fuzz the readers, write ``tools/fuzz/RESULTS.md``: ``python -m tools.fuzz --seconds 60 [--reader csv]``.

Every round of every reader adds a line to ``tools/fuzz/figures.jsonl``; ``--report`` writes the page from them alone.
"""

from __future__ import annotations

import argparse
import sys
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

from tools.fuzz.readers import READERS
from tools.fuzz.report import markdown
from tools.fuzz.run import FIGURES, Outcome, circumstances, fuzz, record, recorded

RESULTS = Path(__file__).parent / "RESULTS.md"


def main() -> int:
    """Run each reader in turn, or as many at once as asked for; return 1 if anything was found."""
    parser = argparse.ArgumentParser(prog="python -m tools.fuzz", description=__doc__)
    parser.add_argument("--seconds", type=int, default=60, help="for each round of each reader (default: 60)")
    parser.add_argument("--rounds", type=int, default=1, help="each begins with what the last has grown (default: 1)")
    parser.add_argument("--reader", action="append", choices=READERS, help="only this one; may be given again")
    parser.add_argument("--jobs", type=int, default=1, help="processes at once (default: 1)")
    parser.add_argument("--figures", type=Path, default=FIGURES, help="where each round adds a line")
    parser.add_argument("--output", type=Path, default=RESULTS, help="where the page goes")
    parser.add_argument("--report", action="store_true", help="run nothing, write the page from the figures")
    chosen = parser.parse_args()
    if not chosen.report:
        _run(chosen)
    outcomes = recorded(chosen.figures)
    chosen.output.write_text(markdown(outcomes, *circumstances(chosen.figures)), encoding="utf-8")
    return int(not all(outcome.clean for outcome in outcomes))


def _run(chosen: argparse.Namespace) -> None:
    with ThreadPoolExecutor(chosen.jobs) as pool:
        for _ in range(chosen.rounds):
            for outcome in pool.map(lambda name: fuzz(name, chosen.seconds), chosen.reader or READERS):
                _say(outcome)
                record(outcome, chosen.figures)


def _say(outcome: Outcome) -> None:
    print(f"{outcome.reader}: {outcome.executions} executions, {outcome.edges} edges", flush=True)
    if not outcome.clean:
        print(outcome.tail, flush=True)


if __name__ == "__main__":
    sys.exit(main())
