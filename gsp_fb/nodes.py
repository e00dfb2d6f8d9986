"""The node table: names, coordinates and columns of values, aligned with the nodes of a graph."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Hashable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from types import MappingProxyType
from typing import Any

import numpy as np
import numpy.typing as npt

from ._attributes import listed
from ._extras import require
from .backend import FloatArray, IntArray, freeze
from .errors import GraphError, SignalError

__all__ = ["NodeTable", "node_table"]

# Pairs and triples of columns that are read as coordinates, in the order in which they are tried.
COORDINATE_RULES = ("x y z", "x y", "lon lat", "longitude latitude", "lng lat", "long lat")

Column = npt.NDArray[Any]


@dataclass(frozen=True, eq=False, repr=False)
class NodeTable:
    """Names, coordinates and columns of values of the nodes of one graph, in node order.

    Read a column by ``table["speed"]``. Iterating gives the names of the columns. Made by :func:`node_table`; the
    constructor trusts its arguments.

    Parameters
    ----------
    n_nodes : int
        Number of nodes.
    names : tuple or None
        The caller's node names; None where nodes are numbers.
    coordinates : float64 array, shape (n_nodes, 2) or (n_nodes, 3), or None
        Positions for drawing and for distances.
    columns : mapping from str to array, shape (n_nodes,)
        Numeric columns keep their dtype; all others are object arrays of text, with None where a cell is empty.

    See Also
    --------
    Graph.with_nodes : Attach a table to a graph, aligned by name.

    Examples
    --------
    >>> table = node_table({"speed": [1.0, 2.5]}, 2, names=("a", "b"))
    >>> table
    NodeTable(2 nodes, named, columns: speed)
    >>> table["speed"]
    array([1. , 2.5])
    """

    n_nodes: int
    names: tuple[Hashable, ...] | None = None
    coordinates: FloatArray | None = None
    columns: Mapping[str, Column] = field(default_factory=dict)

    def __post_init__(self) -> None:
        freeze(self.coordinates)
        for column in self.columns.values():
            freeze(column)
        object.__setattr__(self, "columns", MappingProxyType(dict(self.columns)))

    def __getitem__(self, column: str) -> Column:
        if column not in self.columns:
            raise GraphError(f"no column {column!r} in the node table; it has {listed(self.columns) or 'none'}")
        return self.columns[column]

    def __contains__(self, column: object) -> bool:
        return column in self.columns

    def __iter__(self) -> Iterator[str]:
        return iter(self.columns)

    def __len__(self) -> int:
        return len(self.columns)

    @property
    def numeric(self) -> tuple[str, ...]:
        """Names of the numeric columns."""
        return tuple(name for name, column in self.columns.items() if column.dtype.kind in "biuf")

    @cached_property
    def numbers(self) -> dict[Hashable, int]:
        """The node number of each name, or of each number where nodes have no names."""
        return {name: i for i, name in enumerate(range(self.n_nodes) if self.names is None else self.names)}

    def find(self, names: Sequence[Hashable]) -> IntArray:
        """Return the node numbers of ``names``; GraphError if a name is not a node's."""
        unknown = [name for name in names if name not in self.numbers]
        if unknown:
            raise GraphError(f"{len(unknown)} names are not nodes of the graph: {listed(unknown)}")
        return np.array([self.numbers[name] for name in names], dtype=np.int64)

    def take(self, nodes: IntArray) -> NodeTable:
        """Return the table of some nodes, in their order."""
        at = np.asarray(nodes)
        names = None if self.names is None else tuple(self.names[i] for i in at.tolist())
        coordinates = None if self.coordinates is None else self.coordinates[at]
        return NodeTable(len(at), names, coordinates, {name: column[at] for name, column in self.columns.items()})

    def align(self, x: Any, rows: range | None = None) -> Any:
        """Return a pandas Series or DataFrame as an array in node order, by its index; anything else as it is.

        The index holds node names, or node numbers where nodes have none; ``rows`` are the nodes that ``x`` covers, all
        by default. SignalError if names are missing, unknown or repeated, or the default index meets named nodes.

        Examples
        --------
        >>> import pandas as pd
        >>> NodeTable(2, ("a", "b")).align(pd.Series([1.0, 2.0], index=["b", "a"]))
        array([2., 1.])
        """
        if not is_frame(x):
            return x
        rows = range(self.n_nodes) if rows is None else rows
        wanted: Sequence[Hashable] = rows if self.names is None else self.names[rows.start : rows.stop]
        order = _positions(list(x.index), wanted, named=self.names is not None, default=is_default_index(x.index))
        values = x.to_numpy()
        return values if order is None else values[order]

    def __repr__(self) -> str:
        facts = [f"{self.n_nodes} nodes"] + ["named"] * (self.names is not None)
        facts += [f"coordinates in {self.coordinates.shape[1]}-D"] if self.coordinates is not None else []
        facts += [f"columns: {', '.join(self.columns)}"] if self.columns else []
        return f"NodeTable({', '.join(facts)})"

    def __reduce__(self) -> tuple[Any, ...]:
        return NodeTable, (self.n_nodes, self.names, self.coordinates, dict(self.columns))


def is_frame(x: Any) -> bool:
    """Return whether ``x`` is a pandas Series or DataFrame, without importing pandas."""
    return type(x).__module__.partition(".")[0] == "pandas" and hasattr(x, "index")


def is_default_index(index: Any) -> bool:
    """Return whether a pandas index is the one that pandas makes if none is given."""
    return type(index).__name__ == "RangeIndex" and index.start == 0 and index.step == 1


def _positions(
    given: list[Hashable], wanted: Sequence[Hashable], *, named: bool, default: bool
) -> npt.NDArray[np.intp] | None:
    """Return the row of ``given`` for each wanted name; None where they are the same."""
    if default and named:
        raise SignalError(
            "the index is the default 0..n-1 but the nodes have names; set the index to the names, or give "
            ".to_numpy() if the rows are in node order"
        )
    if default and len(given) != len(wanted):
        raise SignalError(f"signal has {len(given)} rows but the graph has {len(wanted)} nodes")
    if default or given == list(wanted):
        return None
    if twice := _repeated(given):
        raise SignalError(f"the index repeats {listed(twice)}; one row a node is needed")
    at = {name: row for row, name in enumerate(given)}
    expected = set(wanted)
    missing = [name for name in wanted if name not in at]
    unknown = [name for name in given if name not in expected]
    if missing or unknown:
        parts = [f"{len(missing)} nodes have no row ({listed(missing)})"] if missing else []
        parts += [f"{len(unknown)} rows are of no node ({listed(unknown)})"] if unknown else []
        drop = "; drop these rows: a node without an edge is not in an edge list" if unknown and not missing else ""
        hint = drop if named else "; the nodes of this graph have no names, only numbers"
        raise SignalError(f"the index does not fit the nodes: {' and '.join(parts)}{hint}")
    return np.array([at[name] for name in wanted], dtype=np.intp)


def node_table(
    table: Any, n_nodes: int, *, names: Sequence[Hashable] | None = None, on: str | None = None
) -> NodeTable:
    """Return the node table of a graph from what a user has, aligned with the nodes.

    ``table`` and ``on`` are as in :meth:`Graph.with_nodes`; rows are matched with the ``names`` that nodes have. The
    columns of which coordinates are made stay.
    """
    known = None if names is None else tuple(names)
    if table is None:
        return NodeTable(n_nodes, known)
    if isinstance(table, NodeTable):
        return _same_size(table, n_nodes)
    if isinstance(table, Sequence | np.ndarray) and not isinstance(table, str):
        given = table.tolist() if isinstance(table, np.ndarray) else table
        return _same_size(NodeTable(len(table), _unique(given)), n_nodes)
    columns, keys = _columns_of(table, on)
    order = None
    if keys is not None and known is None and not _are_numbers(keys, n_nodes):
        known = _unique(keys)
    elif keys is not None:
        wanted: Sequence[Hashable] = range(n_nodes) if known is None else known
        try:
            order = _positions(keys, wanted, named=known is not None, default=False)
        except SignalError as bad:
            raise GraphError(str(bad).replace("the index", "the node table")) from None
    elif known is not None and (is_frame(table) or hasattr(table, "__arrow_c_stream__")):
        raise GraphError("the table has no column of node names; give on= with the name of that column")
    return _assemble(columns, n_nodes, known, order)


def _are_numbers(keys: list[Hashable], n_nodes: int) -> bool:
    return all(isinstance(key, int | np.integer) for key in keys) and set(keys) == set(range(n_nodes))


def _repeated(names: Sequence[Hashable]) -> list[Hashable]:
    if len(set(names)) == len(names):
        return []
    return [name for name, count in Counter(names).items() if count > 1]


def _unique(names: Sequence[Hashable]) -> tuple[Hashable, ...]:
    if twice := _repeated(names):
        raise GraphError(f"node names repeat: {listed(twice)}")
    return tuple(names)


def _same_size(table: NodeTable, n_nodes: int) -> NodeTable:
    if table.n_nodes != n_nodes:
        raise GraphError(f"the node table has {table.n_nodes} rows for {n_nodes} nodes")
    return table


def _columns_of(table: Any, on: str | None) -> tuple[dict[str, Any], list[Hashable] | None]:
    """Return the columns, and the node names if the table has them: column ``on``, or the index of a frame."""
    if is_frame(table):
        columns = {str(name): table[name].to_numpy() for name in table.columns}
    elif hasattr(table, "__arrow_c_stream__") or hasattr(table, "column_names"):
        arrow = require("pyarrow", "reading an Arrow table").table(table)
        columns = {name: arrow[name].to_numpy(zero_copy_only=False) for name in arrow.column_names}
    else:
        columns = {str(name): column for name, column in dict(table).items()}
    if on is None:
        return columns, None if not is_frame(table) or is_default_index(table.index) else list(table.index)
    if on not in columns:
        raise GraphError(f"no column {on!r} in the node table; it has {listed(columns)}")
    keys = columns.pop(on)
    return columns, [key.item() if isinstance(key, np.generic) else key for key in keys]


def _assemble(
    columns: dict[str, Any], n_nodes: int, names: tuple[Hashable, ...] | None, order: npt.NDArray[np.intp] | None
) -> NodeTable:
    explicit = next((columns.pop(key) for key in ("coordinates", "pos") if key in columns), None)
    checked = {name: _column(column, name, n_nodes) for name, column in columns.items()}
    coordinates = _coordinates_from(checked) if explicit is None else check_coordinates(explicit, n_nodes)
    if order is not None:
        checked = {name: column[order] for name, column in checked.items()}
        coordinates = None if coordinates is None else coordinates[order]
    return NodeTable(n_nodes, names, coordinates, checked)


def _column(values: Any, name: str, n_nodes: int) -> Column:
    column = np.array(values, copy=True) if not np.ma.isMaskedArray(values) else values.filled(np.nan)
    if column.shape != (n_nodes,):
        raise GraphError(f"column {name!r} has shape {column.shape} for {n_nodes} nodes")
    if column.dtype.kind in "biuf":
        return column
    cells = [None if _is_empty(cell) else cell for cell in column.tolist()]
    return np.array([*cells, None], dtype=object)[:-1]


def _is_empty(cell: Any) -> bool:
    missing = cell is None or (isinstance(cell, float) and math.isnan(cell))
    return missing or type(cell).__name__ in ("NAType", "NaTType")


def check_coordinates(coordinates: Any, n_nodes: int) -> FloatArray:
    """Return coordinates as a finite float64 array of shape (n_nodes, 2) or (n_nodes, 3)."""
    given = np.array([list(row) for row in coordinates] if np.ndim(coordinates) == 1 else coordinates, dtype=np.float64)
    if given.ndim != 2 or given.shape[0] != n_nodes or given.shape[1] not in (2, 3):
        raise GraphError(f"coordinates have shape {given.shape}; they must be ({n_nodes}, 2) or ({n_nodes}, 3)")
    bad = np.flatnonzero(~np.isfinite(given).all(axis=1))
    if bad.size:
        raise GraphError(f"coordinates of node {bad[0]} are {tuple(given[bad[0]].tolist())}; they must be finite")
    return given


def _coordinates_from(columns: Mapping[str, Column]) -> FloatArray | None:
    """Return the coordinates that the column names state; None where there are none or a value is missing."""
    by_name = {name.lower(): column for name, column in columns.items() if column.dtype.kind in "iuf"}
    for names in map(str.split, COORDINATE_RULES):
        if all(name in by_name for name in names):
            points = np.stack([by_name[name].astype(np.float64) for name in names], axis=1)
            return points if bool(np.isfinite(points).all()) else None
    return None


def with_table(old: NodeTable, table: Any, on: str | None) -> NodeTable:
    """Return ``old`` with the columns of ``table``, which replace columns of the same name."""
    new = node_table(table, old.n_nodes, names=old.names, on=on)
    coordinates = old.coordinates if new.coordinates is None else new.coordinates
    names = old.names if new.names is None else new.names
    return replace(new, names=names, coordinates=coordinates, columns={**old.columns, **new.columns})
