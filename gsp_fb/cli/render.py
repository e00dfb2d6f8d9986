"""Print a command's result: text of at most 80 columns, or one JSON object."""

from __future__ import annotations

import json
import sys
from collections.abc import Mapping
from typing import Any

from .._document import Table, facts_text, plain

__all__ = ["WIDTH", "emit"]

WIDTH = 80


def emit(result: Mapping[str, Any], *, as_json: bool) -> None:
    """Print a command's result: one JSON object, or each entry under its name, lists of rows as tables."""
    if as_json:
        sys.stdout.write(json.dumps(plain(result), allow_nan=False) + "\n")
        return
    facts = _flat({name: entry for name, entry in result.items() if not isinstance(entry, list)})
    blocks = [facts_text(facts, width=WIDTH)] if facts else []
    blocks += [f"{name}\n{_rows(entry)}" for name, entry in result.items() if isinstance(entry, list)]
    sys.stdout.write("\n\n".join(blocks) + "\n")


def _rows(records: list[Mapping[str, Any]]) -> str:
    return Table.from_records(records).text(width=WIDTH) if records else "(nothing)"


def _flat(facts: Mapping[str, Any]) -> dict[str, Any]:
    """Return the facts with those of an inner mapping under ``outer inner`` names."""
    flat: dict[str, Any] = {}
    for name, entry in facts.items():
        flat |= (
            {f"{name} {key}": value for key, value in entry.items()} if isinstance(entry, Mapping) else {name: entry}
        )
    return flat
