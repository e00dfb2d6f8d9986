"""Mutation testing of the core with mutmut, in chunks drawn by chance: ``python -m tools.reliability.mutation``.

mutmut makes the mutants in ``mutants/`` and keeps what came of each there, so a run that is stopped goes on. The
settings are in setup.cfg. A first pass leaves out the slow tests; what survives it is given to nearly all of them.
"""

from __future__ import annotations

import argparse
import json
import math
import os
import random
import subprocess
import sys
import time
from collections import Counter
from collections.abc import Iterable
from datetime import UTC, datetime
from importlib.metadata import version
from pathlib import Path
from typing import Any

from tools.reliability.fastest_first import LIMIT
from tools.reliability.reasons import MISSING, reason

ROOT = Path(__file__).parents[2]
MUTANTS = ROOT / "mutants"
FIGURES = ROOT / "tools" / "reliability" / "figures" / "mutation.json"
# Tests that take longer than this are left out: of the first pass, and of the second.
QUICK_SECONDS, SLOW_SECONDS = "0.15", "3"
CHUNK = 200
# Few and quick: naming them makes mutmut write all mutants and measure all tests first.
FEW = "gsp_fb.variants.x__no_loops*"
# mutmut's exit codes of the tests; a mutant that makes them run for ever is noticed too.
KILLED = {1: "killed", 3: "killed", -24: "timeout", 24: "timeout", 36: "timeout", 152: "timeout", 255: "timeout"}
SURVIVED = {0: "survived", 5: "no tests", 33: "no tests"}
# 95 % of a normal distribution.
Z = 1.96


def codes() -> dict[str, int | None]:
    """Return the exit code of the tests for each mutant; None where they have not run."""
    metas = (json.loads(path.read_text("utf-8")) for path in sorted(MUTANTS.rglob("*.meta")))
    return {name: code for meta in metas for name, code in meta["exit_code_by_key"].items()}


def kind(code: int) -> str:
    """Return what became of a mutant; an end that mutmut has no word for is a crash, so a kill."""
    return SURVIVED.get(code) or KILLED.get(code, "killed")


def _mutmut(*arguments: str, limit: str, jobs: int) -> None:
    environment = {**os.environ, LIMIT: limit, "OMP_NUM_THREADS": "1"}
    command = [str(Path(sys.executable).with_name("mutmut")), "run", "--max-children", str(jobs), *arguments]
    subprocess.run(command, cwd=ROOT, env=environment, check=False)


def run(sample: int | None, seed: int, minutes: float, jobs: int) -> list[str]:
    """Check chunks of mutants in random order until all, ``sample``, or so many minutes are over; return them."""
    started = time.monotonic()
    if not (MUTANTS / "mutmut-stats.json").is_file():
        _mutmut(FEW, limit=QUICK_SECONDS, jobs=jobs)
    names = sorted(codes())
    random.Random(seed).shuffle(names)
    for at in range(0, len(names[:sample]), CHUNK):
        if time.monotonic() - started > 60 * minutes:
            names = names[:at]
            break
        found = codes()
        left = [name for name in names[at : at + CHUNK] if found[name] is None]
        if left:
            _mutmut(*left, limit=QUICK_SECONDS, jobs=jobs)
    recheck(names[:sample], jobs)
    return names[:sample]


def recheck(names: Iterable[str], jobs: int) -> None:
    """Give what survived the quick tests to the slow ones too, unless the change is known to make no difference."""
    found = codes()
    survivors = [name for name in names if found[name] in SURVIVED]
    doubtful = [name for name in survivors if reason({"name": name, "change": _change(name)}) == MISSING]
    if doubtful:
        _mutmut(*doubtful, limit=SLOW_SECONDS, jobs=jobs)


def record(names: Iterable[str], seed: int) -> dict[str, Any]:
    """Store the figures of the mutants that were checked, with the change that each survivor makes."""
    found = codes()
    checked = {name: kind(code) for name in names if (code := found[name]) is not None}
    survivors = [name for name, what in checked.items() if what in SURVIVED.values()]
    figures = {
        "date": str(datetime.now(UTC).date()),
        "versions": {name: version(name) for name in ("mutmut", "pytest", "hypothesis")},
        "seed": seed,
        "mutants": len(found),
        "modules": {module: _counts(checked, module) for module in sorted({_module(name) for name in found})},
        "survivors": [{"name": name, "what": checked[name], "change": _change(name)} for name in sorted(survivors)],
    }
    FIGURES.parent.mkdir(exist_ok=True)
    FIGURES.write_text(json.dumps(figures, indent=1, ensure_ascii=False) + "\n", encoding="utf-8")
    return figures


def _module(name: str) -> str:
    return name.rpartition(".")[0]


def _counts(checked: dict[str, str], module: str) -> dict[str, int]:
    return dict(Counter(what for name, what in checked.items() if _module(name) == module))


def _change(name: str) -> list[str]:
    """Return the lines that a mutant takes away and puts in their place."""
    from mutmut.mutation.diff_apply import find_mutant, get_diff_for_mutant  # noqa: PLC0415  # only where it is run

    output = get_diff_for_mutant(name, path=find_mutant(name).path).splitlines()
    return [line for line in output if line[:1] in "+-" and line[:3] not in ("+++", "---") and line[1:].strip()]


def score(counts: Iterable[dict[str, int]]) -> tuple[int, int]:
    """Return how many mutants were noticed, and how many were checked."""
    total: Counter[str] = sum((Counter(row) for row in counts), Counter())
    return total["killed"] + total["timeout"], total.total()


def interval(noticed: int, checked: int, all_mutants: int) -> tuple[float, float]:
    """Return Wilson's 95 % interval of the score of all mutants, a sample of which was checked."""
    if checked == all_mutants:
        return noticed / checked, noticed / checked
    share, z = noticed / checked, Z * math.sqrt(1 - checked / all_mutants)
    middle = (share + z**2 / (2 * checked)) / (1 + z**2 / checked)
    half = z / (1 + z**2 / checked) * math.sqrt(share * (1 - share) / checked + z**2 / (4 * checked**2))
    return max(0.0, middle - half), min(1.0, middle + half)


def main() -> int:
    """Run, store, and return 1 if fewer than nine mutants in ten were noticed."""
    parser = argparse.ArgumentParser(prog="python -m tools.reliability.mutation", description=__doc__)
    parser.add_argument("--sample", type=int, help="this many, drawn by chance (default: all)")
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--minutes", type=float, default=float("inf"), help="begin no chunk after so long")
    parser.add_argument("--jobs", type=int, default=1, help="mutants at once (default: 1)")
    chosen = parser.parse_args()
    os.chdir(ROOT)  # where mutmut looks for its settings
    names = run(chosen.sample, chosen.seed, chosen.minutes, chosen.jobs)
    noticed, checked = score(record(names, chosen.seed)["modules"].values())
    print(f"{noticed} of {checked} mutants noticed: {noticed / checked:.1%}")
    return int(noticed < 0.9 * checked)


if __name__ == "__main__":
    sys.exit(main())
