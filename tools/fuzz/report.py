"""The figures of a run as ``RESULTS.md``."""

from __future__ import annotations

from collections.abc import Sequence

from tools.fuzz.run import HANG_SECONDS, MEMORY_MB, Outcome

__all__ = ["markdown"]

COLUMNS = {
    "reader": lambda row: f"`{row.reader}`",
    "executions": lambda row: f"{row.executions:,}",
    "edges": lambda row: str(row.edges),
    "features": lambda row: str(row.features),
    "inputs grown": lambda row: str(row.corpus),
    "CPU s": lambda row: f"{row.cpu_seconds:.0f}",
    "peak MB": lambda row: str(row.peak_mb),
    "crashes": lambda row: str(row.crashes),
    f"hangs > {HANG_SECONDS} s": lambda row: str(row.hangs),
    f"memory > {MEMORY_MB // 1024} GB": lambda row: str(row.memory),
}


def markdown(outcomes: Sequence[Outcome], dates: Sequence[str], versions: Sequence[str]) -> str:
    """Return the page: the sums, how they came about, and one row a reader."""
    total = {name: sum(getattr(row, name) for row in outcomes) for name in ("executions", "crashes", "hangs", "memory")}
    cpu = sum(row.cpu_seconds for row in outcomes)
    lines = [
        "# Fuzzing: the figures",
        "",
        f"{total['executions']:,} executions of {len(outcomes)} readers in {cpu / 3600:.2f} CPU-hours: "
        f"{total['crashes']} crashes, {total['hangs']} hangs over {HANG_SECONDS} s, "
        f"{total['memory']} runs over {MEMORY_MB // 1024} GB.",
        "",
        f"Run by `make fuzz` on {' and '.join(dates)} (UTC) with {'; then '.join(versions)}.",
        "This page is made from `tools/fuzz/figures.jsonl` by `python -m tools.fuzz --report`.",
        "A crash is any exception but the library's own errors, and every end of the process. Edges are those of the",
        "Python code of the readers and of the standard library's parsers. The process itself, with numpy, scipy and",
        "torch loaded, takes most of the memory shown.",
        "",
        f"| {' | '.join(COLUMNS)} |",
        f"|{'---|' * len(COLUMNS)}",
        *(f"| {' | '.join(cell(row) for cell in COLUMNS.values())} |" for row in outcomes),
    ]
    return "\n".join(lines) + "\n"
