"""What commands write: text of at most 80 columns or one JSON object, a progress bar, and tables of nodes."""

from __future__ import annotations

import csv
import io
import json
import sys
from collections.abc import Callable, Iterable, Mapping
from pathlib import Path
from typing import Any, TypeVar

import numpy as np

from .._atomic import atomic_write
from .._document import Table, facts_text, plain
from .._extras import has, require
from ..errors import ParameterError

__all__ = ["WIDTH", "emit", "progress", "write_columns"]

WIDTH = 80
Item = TypeVar("Item")


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
        flat |= {f"{name} {key}": entry[key] for key in entry} if isinstance(entry, Mapping) else {name: entry}
    return flat


def progress(items: Iterable[Item], title: str, *, total: int | None = None) -> Iterable[Item]:
    """Return ``items``, shown as a bar while they are consumed."""
    if not (sys.stderr.isatty() and has("tqdm")):
        return items
    shown: dict[str, Any] = {"desc": title, "total": total, "file": sys.stderr, "leave": False}
    bar: Iterable[Item] = require("tqdm", "a progress bar").tqdm(items, **shown)
    return bar


def write_columns(path: Path, data: Any, columns: Mapping[str, Any], arrays: Any) -> None:
    """Write columns with the names of the nodes in a column ``node``, or plain arrays in numpy's formats."""
    names = data.graph.labels
    n_rows = len(next(iter(columns.values())))
    node = range(n_rows) if names is None or len(names) != n_rows else names
    table = {"node": list(node), **{name: np.asarray(column).tolist() for name, column in columns.items()}}
    if path.suffix not in WRITERS or (path.suffix == ".npy" and isinstance(arrays, Mapping)):
        raise ParameterError(f"{path} must end in one of {', '.join(WRITERS)}; .npy holds one array")
    with atomic_write(path) as file:
        WRITERS[path.suffix](file, table, arrays)


def _csv(file: Any, table: Mapping[str, Any], arrays: Any) -> None:
    text = io.TextIOWrapper(file, encoding="utf-8", newline="")
    writer = csv.writer(text, lineterminator="\n")
    writer.writerow(table)
    writer.writerows(zip(*table.values(), strict=True))
    text.detach()


def _parquet(file: Any, table: Mapping[str, Any], arrays: Any) -> None:
    made = require("pyarrow", "writing Parquet").table(dict(table))
    require("pyarrow.parquet", "writing Parquet").write_table(made, file)


WRITERS: dict[str, Callable[[Any, Mapping[str, Any], Any], None]] = {
    ".csv": _csv,
    ".parquet": _parquet,
    ".npy": lambda file, table, arrays: np.save(file, arrays, allow_pickle=False),
    ".npz": lambda file, table, arrays: np.savez(
        file, **(arrays if isinstance(arrays, Mapping) else {"predictions": arrays})
    ),
}
