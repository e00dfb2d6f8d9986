"""``docs/reliability.md`` from the stored figures: ``python -m tools.reliability.page``.

Nothing is typed in: every number comes from what the runs stored, and a run that has not stored anything states it.
"""

from __future__ import annotations

import json
import sys
import textwrap
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

from tools.chaos.report import FIGURES as CHAOS
from tools.fuzz.run import FIGURES as FUZZ
from tools.fuzz.run import HANG_SECONDS, MEMORY_MB
from tools.fuzz.run import recorded as fuzzed
from tools.oracles.__main__ import RESULTS as ORACLES
from tools.reliability import floors, laws, mutation
from tools.reliability.reasons import reason

PAGE = Path(__file__).parents[2] / "docs" / "reliability.md"
NOT_RUN = "Not run yet."


def _table(titles: Sequence[str], rows: Sequence[Sequence[object]]) -> list[str]:
    cells = [[str(cell).replace("|", "\\|") for cell in row] for row in rows]
    return ["", f"| {' | '.join(titles)} |", f"|{'---|' * len(titles)}", *(f"| {' | '.join(row)} |" for row in cells)]


def _prose(*sentences: str) -> str:
    return textwrap.fill(" ".join(sentences), 118, break_long_words=False, break_on_hyphens=False)


def _share(part: int, whole: int) -> str:
    return f"{100 * part / whole:.1f} %" if whole else "none"


def _json(path: Path) -> Any:
    return json.loads(path.read_text("utf-8")) if path.is_file() else None


def faults() -> list[str]:
    """What `tests/faults` promises; its count is checked by a test, not here."""
    return [
        _prose(
            "The catalogue has 108 bad inputs and faults, each with what the user gets. `tests/faults` holds one",
            "numbered test for each, and a test that none is missing: `pytest tests/faults`, in every `make test`.",
        )
    ]


def fuzzing() -> list[str]:
    """Executions and findings of each reader."""
    if not FUZZ.is_file():
        return [NOT_RUN]
    rows = fuzzed(FUZZ)
    total = {name: sum(getattr(row, name) for row in rows) for name in ("executions", "crashes", "hangs", "memory")}
    hours = sum(row.cpu_seconds for row in rows) / 3600
    found = [
        (f"`{row.reader}`", f"{row.executions:,}", row.edges, row.corpus, f"{row.cpu_seconds:.0f}") for row in rows
    ]
    return [
        _prose(
            "`make fuzz`: coverage-guided (atheris), from the seeds in `tools/fuzz/corpus`.",
            f"{total['executions']:,} executions of {len(rows)} readers in {hours:.2f} CPU-hours:",
            f"{total['crashes']} crashes, {total['hangs']} hangs over {HANG_SECONDS} s,",
            f"{total['memory']} runs over {MEMORY_MB // 1024} GB. A crash is any exception but the library's own",
            "errors, and every end of the process. What earlier runs found is fixed, pinned in",
            "`tests/test_corruption_found.py`, and listed in the changelog.",
            "All columns are in `tools/fuzz/RESULTS.md`.",
        ),
        *_table(["reader", "executions", "edges", "inputs grown", "CPU s"], found),
    ]


def chaos() -> list[str]:
    """Kills, interrupts and full disks by kind."""
    figures = _json(CHAOS)
    if figures is None:
        return [NOT_RUN]
    sums = {
        kind: {name: sum(row[name] for row in rows) for name in ("kills", "hit", "saves", "lost", "stale")}
        for kind, rows in figures["rows"].items()
    }
    rows = [(kind, len(figures["rows"][kind]), *(f"{n:,}" for n in found.values())) for kind, found in sums.items()]
    return [
        _prose(
            "`make chaos`: processes that save graphs, checkpoints, results, caches and metrics, that train and that",
            "search are killed at random moments, interrupted, or run into a full disk; after each fault everything",
            "that was saved must be there, whole. One row a job is in `tools/chaos/RESULTS.md`.",
        ),
        *_table(["fault", "jobs", "faults", "in the middle of a save", "saves", "lost or torn", "left over"], rows),
    ]


def mutants() -> list[str]:
    """The score of each module, and the survivors with their reasons."""
    figures = _json(mutation.FIGURES)
    if figures is None:
        return [NOT_RUN]
    modules = {name: counts for name, counts in figures["modules"].items() if counts}
    noticed, checked = mutation.score(modules.values())
    low, high = mutation.interval(noticed, checked, figures["mutants"])
    scores = {name: mutation.score([counts]) for name, counts in modules.items()}
    rows = [(f"`{name}`", *found, _share(*found)) for name, found in scores.items()]
    drawn = (
        f"All {checked:,} mutants were checked"
        if checked == figures["mutants"]
        else f"{checked:,} of {figures['mutants']:,} mutants, drawn by chance (seed {figures['seed']}), were checked"
    )
    names = ", ".join(f"{name} {number}" for name, number in figures["versions"].items())
    return [
        _prose(
            f"`make mutation`: {names}. {drawn}, each against the tests that call its function; {noticed:,} were",
            f"noticed: {_share(noticed, checked)} (all mutants: {100 * low:.1f} to {100 * high:.1f} %, 95 %",
            "confidence). mutmut changes no function with a decorator (properties, context managers) and nothing",
            "outside of functions.",
        ),
        *_table(["module", "noticed", "checked", "score"], rows),
        "",
        f"The {len(figures['survivors'])} that no test noticed, and why:",
        *_table(["mutant", "change", "reason"], [_survivor(row) for row in figures["survivors"]]),
    ]


def _survivor(row: dict[str, Any]) -> tuple[str, str, str]:
    new = [line[1:].strip() for line in row["change"] if line.startswith("+")]
    change = " ".join(f"`{line.replace('`', '')}`" for line in new[:2]) or "(a line is gone)"
    return f"`{row['name'].removeprefix('gsp_fb.')}`", change, reason(row)


def covered() -> list[str]:
    """Lines and branches of the core and of each package."""
    figures = _json(floors.FIGURES)
    if figures is None:
        return [NOT_RUN]
    totals = figures["totals"]
    rows = [_covered(f"`{name}`", row) for name, row in figures["parts"].items()]
    return [
        _prose(
            f"`make coverage` measures it, subprocesses included, and fails below {floors.OVERALL:.0f} % of everything",
            f"or below all of the core: {totals['percent_covered']:.2f} % of lines and branches together,",
            f"{_share(totals['covered_branches'], totals['num_branches'])} of the branches alone. The loops that numba",
            "compiles are left out, as no tracer sees them run; the plain engine, which gives the same results, is",
            "measured.",
        ),
        *_table(["part", "lines", "of", "branches", "of", "together"], [*rows, _covered("all", totals)]),
    ]


def _covered(title: str, row: dict[str, int]) -> tuple[object, ...]:
    lines, statements, hit, branches = (
        row[name] for name in ("covered_lines", "num_statements", "covered_branches", "num_branches")
    )
    return title, lines, statements, hit, branches, _share(lines + hit, statements + branches)


def long_laws() -> list[str]:
    """How many laws reached the promised number of examples."""
    rows = laws.recorded()
    if not rows:
        return [NOT_RUN]
    whole = [row for row in rows if row["examples"] >= laws.EXAMPLES or row["exhausted"]]
    failures, drawn = (sum(row[name] for row in rows) for name in ("failures", "examples"))
    found = [(f"`{row['law'].removeprefix('tests/laws/')}`", f"{row['examples']:,}", row["failures"]) for row in rows]
    return [
        _prose(
            f"`make laws`: {laws.EXAMPLES:,} random examples of each law, the cheapest laws first; it goes on where it",
            f"stopped. {len(whole)} of {rows[-1]['of']} laws have been run to the end so far: {drawn:,} examples,",
            f"{failures} failures. A law with parameters, as kernels and methods, deals its examples out to them.",
            "`make test` checks every law on 30 examples or fewer, the same ones each time. The laws in four threads",
            "at once: `pytest -m slow tests/test_stress.py`.",
        ),
        *_table(["law", "examples", "failures"], found),
    ]


def compared() -> list[str]:
    """What each sweep of `make oracles` stored."""
    if not ORACLES.is_file():
        return [NOT_RUN]
    lines = ORACLES.read_text("utf-8").splitlines()
    figures = [line for line in lines if line.startswith("`python -m tools.oracles")]
    return [_prose("`make oracles` compares with independent oracles; tables in `tools/oracles/RESULTS.md`.", *figures)]


SECTIONS: dict[str, Callable[[], list[str]]] = {
    "Faults": faults,
    "Fuzzing": fuzzing,
    "Kill -9, Ctrl-C, full disks": chaos,
    "Mutation testing of the core": mutants,
    "Branch coverage": covered,
    "Laws": long_laws,
    "Oracles": compared,
}


def markdown() -> str:
    """Return the page."""
    lines = [
        "# Reliability",
        "",
        "What was done to break the library, in figures, and the commands that do it again. This page is made from the",
        "stored figures of the runs by `python -m tools.reliability.page`; a test compares the two.",
        "Terms are defined in the [glossary](glossary.md).",
    ]
    for title, section in SECTIONS.items():
        lines += ["", f"## {title}", "", *section()]
    return "\n".join(lines) + "\n"


def main() -> int:
    """Write the page."""
    PAGE.write_text(markdown(), encoding="utf-8")
    return 0


if __name__ == "__main__":
    sys.exit(main())
