"""Node tables in files: one line of JSON in formats of this library, typed columns in the others."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from ..errors import FormatError, GraphError
from ..nodes import NodeTable, check_coordinates, node_table
from ._parsed import Labels

__all__ = ["attribute_columns", "dump_nodes", "holds_more_than_names", "load_nodes", "named_table", "with_axes"]

PLAIN = (str, int, float, bool, type(None))


def holds_more_than_names(table: NodeTable) -> bool:
    """Return whether a table has columns or coordinates."""
    return bool(len(table)) or table.coordinates is not None


def written_columns(table: NodeTable) -> dict[str, list[Any]]:
    """Return the columns as plain values: numbers, text, and None in an empty cell.

    Raises
    ------
    FormatError
        A column holds other objects.
    """
    columns = {name: column.tolist() for name, column in table.columns.items()}
    for name, cells in columns.items():
        odd = next((cell for cell in cells if not isinstance(cell, PLAIN)), None)
        if odd is not None:
            raise FormatError(f"column {name!r} holds {odd!r}; files hold numbers and text: convert it")
    return columns


def with_axes(table: NodeTable) -> dict[str, list[Any]]:
    """Return the columns for formats without coordinates: those that no column states are columns x, y (and z)."""
    columns = written_columns(table)
    if table.coordinates is None or np.array_equal(_stated(table), table.coordinates):
        return columns
    axes = dict(zip("xyz", table.coordinates.T.tolist(), strict=False))
    taken = next((name for name in axes if name in columns), None)
    if taken is not None:
        raise FormatError(f"column {taken!r} is not the coordinate of that name; rename the column")
    return {**columns, **axes}


def _stated(table: NodeTable) -> Any:
    """Return the coordinates that the columns state, empty where there are none."""
    stated = node_table(dict(table.columns), table.n_nodes).coordinates
    return np.empty((0, 2)) if stated is None else stated


def dump_nodes(table: NodeTable) -> dict[str, Any] | None:
    """Return columns and coordinates for JSON; None where there are none. Names are stored apart."""
    if not holds_more_than_names(table):
        return None
    cells = written_columns(table)
    return {
        "coordinates": None if table.coordinates is None else table.coordinates.tolist(),
        "columns": {name: [column.dtype.str, cells[name]] for name, column in table.columns.items()},
    }


def load_nodes(found: Any, n_nodes: int, labels: Labels) -> NodeTable:
    """Return the table that :func:`dump_nodes` wrote, checked."""
    if found is None:
        return NodeTable(n_nodes, labels)
    try:
        columns = {str(name): _column(dtype, cells, n_nodes) for name, (dtype, cells) in found["columns"].items()}
        points = found["coordinates"]
        return NodeTable(n_nodes, labels, None if points is None else check_coordinates(points, n_nodes), columns)
    except (TypeError, ValueError, KeyError, AttributeError, OverflowError, GraphError) as bad:
        raise FormatError(f"broken node table: {bad}") from None


def _column(dtype: str, cells: list[Any], n_nodes: int) -> Any:
    kind = np.dtype(dtype)
    if not isinstance(cells, list) or len(cells) != n_nodes or kind.kind not in "biufO":
        raise ValueError(f"a column of {dtype} needs {n_nodes} cells")
    if kind.kind != "O":
        return np.array(cells, dtype=kind)
    if not all(isinstance(cell, PLAIN) for cell in cells):
        raise ValueError("a cell is neither a number nor text")
    return np.array([*cells, None], dtype=object)[:-1]


def attribute_columns(cells: Mapping[str, Mapping[int, Any]], n_nodes: int) -> dict[str, Any]:
    """Return columns from attributes that some nodes have, by node number; a number that is missing is nan."""
    columns: dict[str, Any] = {}
    for name, given in cells.items():
        whole = len(given) == n_nodes
        kinds = {type(value) for value in given.values()}
        if whole and kinds == {bool}:
            columns[name] = np.array([given[i] for i in range(n_nodes)])
        elif kinds <= {int, float}:
            missing: Any = float("nan")
            column = np.array([given.get(i, missing) for i in range(n_nodes)])
            columns[name] = column if column.dtype.kind in "if" else column.astype(np.float64)
        else:
            columns[name] = np.array([*(given.get(i) for i in range(n_nodes)), None], dtype=object)[:-1]
    return columns


def named_table(labels: Labels, n_nodes: int, cells: Mapping[str, Mapping[int, Any]]) -> NodeTable:
    """Return the table of names and attributes; coordinates follow from the names of the columns."""
    table = node_table(attribute_columns(cells, n_nodes), n_nodes)
    return NodeTable(n_nodes, labels, table.coordinates, table.columns)
