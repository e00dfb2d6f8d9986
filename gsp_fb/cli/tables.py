"""Tables that commands write: one row a node, under the names of the nodes."""

from __future__ import annotations

import csv
import io
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np

from .._atomic import atomic_write
from .._extras import require
from ..errors import ParameterError

__all__ = ["write_columns"]

SUFFIXES = (".csv", ".parquet", ".npy", ".npz")


def write_columns(path: Path, data: Any, columns: Mapping[str, Any], arrays: Any) -> None:
    """Write columns with the names of the nodes in a column ``node``, or plain arrays in numpy's formats.

    Raises
    ------
    ParameterError
        The suffix is unknown, or .npy is to hold several arrays.
    """
    names = data.graph.labels
    n_rows = len(next(iter(columns.values())))
    node = range(n_rows) if names is None or len(names) != n_rows else names
    table = {"node": list(node), **{name: np.asarray(column).tolist() for name, column in columns.items()}}
    if path.suffix not in SUFFIXES or (path.suffix == ".npy" and isinstance(arrays, Mapping)):
        raise ParameterError(f"{path} must end in one of {', '.join(SUFFIXES)}; .npy holds one array")
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


def _npz(file: Any, table: Mapping[str, Any], arrays: Any) -> None:
    np.savez(file, **(arrays if isinstance(arrays, Mapping) else {"predictions": arrays}))


WRITERS = {
    ".csv": _csv,
    ".parquet": _parquet,
    ".npy": lambda file, table, arrays: np.save(file, arrays, allow_pickle=False),
    ".npz": _npz,
}
