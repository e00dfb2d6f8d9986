"""What the commands print: tables of at most 80 columns, or JSON and nothing else."""

from __future__ import annotations

import json
import math
import sys
from collections.abc import Mapping, Sequence
from typing import Any

__all__ = ["emit", "table"]

WIDTH = 80


def _cell(value: Any) -> str:
    if value is None:
        return "-"
    if isinstance(value, bool):
        return "yes" if value else "no"
    if isinstance(value, float):
        return f"{value:.4f}" if value == 0 or 1e-3 <= abs(value) < 1e6 else f"{value:.3g}"
    return str(value)


def table(rows: Sequence[Mapping[str, Any]]) -> str:
    """Return rows as an aligned table; numbers to the right, the widest text column cut to fit 80 columns.

    Examples
    --------
    >>> print(table([{"name": "ring", "nodes": 12, "S": 0.25}]))
    name  nodes       S
    ring     12  0.2500
    """
    if not rows:
        return "(nothing)"
    names = list(rows[0])
    grid = [[_cell(row[name]) for name in names] for row in rows]
    right = [all(isinstance(row[name], int | float | None) for row in rows) for name in names]
    widths = [max(len(text) for text in column) for column in zip(names, *grid, strict=True)]
    over = sum(widths) + 2 * (len(widths) - 1) - WIDTH
    if over > 0:
        text_columns = [i for i, number in enumerate(right) if not number] or [0]
        widest = max(text_columns, key=lambda i: widths[i])
        widths[widest] = max(8, widths[widest] - over)
    return "\n".join(_line(line, widths, right) for line in [names, *grid])


def _fit(text: str, width: int) -> str:
    return text if len(text) <= width else text[: width - 1] + "…"


def _line(cells: Sequence[str], widths: Sequence[int], right: Sequence[bool]) -> str:
    fitted = [
        cell if len(cell) <= width else cell[: width - 1] + "…" for cell, width in zip(cells, widths, strict=True)
    ]
    padded = [
        cell.rjust(width) if to_right else cell.ljust(width)
        for cell, width, to_right in zip(fitted, widths, right, strict=True)
    ]
    return "  ".join(padded).rstrip()


def _plain(value: Any) -> Any:
    """Return ``value`` as JSON has it: a number that is not finite becomes null."""
    if isinstance(value, float) and not math.isfinite(value):
        return None
    if isinstance(value, Mapping):
        return {key: _plain(entry) for key, entry in value.items()}
    if isinstance(value, list | tuple):
        return [_plain(entry) for entry in value]
    return value


def _flat(facts: Mapping[str, Any]) -> dict[str, Any]:
    """Return the facts with those of an inner mapping under ``outer inner`` names."""
    flat: dict[str, Any] = {}
    for name, entry in facts.items():
        flat |= (
            {f"{name} {key}": value for key, value in entry.items()} if isinstance(entry, Mapping) else {name: entry}
        )
    return flat


def emit(result: Mapping[str, Any], *, as_json: bool) -> None:
    """Print a command's result: one JSON object, or each entry under its name, lists of rows as tables."""
    if as_json:
        sys.stdout.write(json.dumps(_plain(result), allow_nan=False) + "\n")
        return
    facts = _flat({name: entry for name, entry in result.items() if not isinstance(entry, list)})
    width = max(map(len, facts), default=0)
    lines = [_fit(f"{name.ljust(width)}  {_cell(entry)}", WIDTH) for name, entry in facts.items()]
    blocks = ["\n".join(lines)] if lines else []
    blocks += [f"{name}\n{table(entry)}" for name, entry in result.items() if isinstance(entry, list)]
    sys.stdout.write("\n\n".join(blocks) + "\n")
