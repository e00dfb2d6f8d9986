"""The node table: names, coordinates and attribute columns of the nodes, aligned by name and never by position."""

from __future__ import annotations

from collections.abc import Hashable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from types import MappingProxyType
from typing import Any

import numpy as np
import numpy.typing as npt

from .errors import GraphError, ParameterError, SignalError

__all__ = ["NodeTable"]

Array = npt.NDArray[Any]
# Columns that hold positions, in order of preference: one array, Cartesian, geographic.
COORDINATES = (
    ("pos",),
    ("x", "y", "z"),
    ("x", "y"),
    ("lon", "lat"),
    ("longitude", "latitude"),
    ("lng", "lat"),
)
# Names that an error message lists before it gives their number alone.
LISTED = 5


@dataclass(frozen=True, eq=False, repr=False)
class NodeTable(Mapping[str, Array]):
    """Attributes of the nodes ``0..n_nodes - 1``: a read-only mapping from column names to arrays.

    Made by :meth:`gsp_fb.Graph.with_nodes`, by readers and by converters; ``graph.nodes``.

    Parameters
    ----------
    n_nodes : int
    names : sequence of hashable, optional
        The caller's node names, in node order and distinct.
    columns : mapping, optional
        One array of ``n_nodes`` rows each: numbers, booleans, or text for categories.
    coordinates : array_like, shape (n_nodes, 2) or (n_nodes, 3), optional
        By default taken from the columns ``pos``; ``x, y[, z]``; ``lon, lat``; ``longitude, latitude``; ``lng, lat``,
        the first of these that is there and numeric.

    Raises
    ------
    GraphError
        A column, the names or the coordinates have another length, or a name comes twice.

    See Also
    --------
    gsp_fb.Graph.with_nodes : Attach a table to a graph, aligned by name.

    Examples
    --------
    >>> table = NodeTable(3, names=["a", "b", "c"], columns={"speed": [1.0, 2.0, 3.0], "x": [0, 1, 2], "y": [0, 0, 1]})
    >>> table["speed"], table.coordinates.shape
    (array([1., 2., 3.]), (3, 2))
    >>> table
    NodeTable(3 nodes, named; speed, x, y; 2-D coordinates)
    """

    n_nodes: int
    names: tuple[Hashable, ...] | None = None
    columns: Mapping[str, Array] = field(default_factory=dict)
    coordinates: Array | None = None

    def __post_init__(self) -> None:
        names = None if self.names is None else _check_names(self.names, self.n_nodes)
        columns = {str(key): _check_column(value, str(key), self.n_nodes) for key, value in self.columns.items()}
        given = _found_coordinates(columns) if self.coordinates is None else self.coordinates
        coordinates = None if given is None else _check_coordinates(given, self.n_nodes)
        object.__setattr__(self, "names", names)
        object.__setattr__(self, "columns", MappingProxyType(columns))
        object.__setattr__(self, "coordinates", coordinates)

    def __getitem__(self, key: str) -> Array:
        if key not in self.columns:
            known = ", ".join(self.columns) or "none"
            raise ParameterError(f"the node table has no column {key!r}; columns: {known}")
        return self.columns[key]

    def __contains__(self, key: object) -> bool:
        return key in self.columns

    def __iter__(self) -> Iterator[str]:
        return iter(self.columns)

    def __len__(self) -> int:
        return len(self.columns)

    def __repr__(self) -> str:
        parts = [f"{self.n_nodes} nodes, {'numbered' if self.names is None else 'named'}"]
        parts += [", ".join(self.columns)] * bool(self.columns)
        parts += [f"{self.coordinates.shape[1]}-D coordinates"] if self.coordinates is not None else []
        return f"NodeTable({'; '.join(parts)})"

    def __reduce__(self) -> tuple[Any, ...]:
        return NodeTable, (self.n_nodes, self.names, dict(self.columns), self.coordinates)

    @cached_property
    def numbers(self) -> Mapping[Hashable, int]:
        """The node number of each name; of a table without names, of each number itself."""
        names: Sequence[Hashable] = range(self.n_nodes) if self.names is None else self.names
        return {name: number for number, name in enumerate(names)}

    @property
    def numeric(self) -> tuple[str, ...]:
        """The columns of numbers, in order."""
        return tuple(key for key, column in self.columns.items() if column.dtype.kind in "biuf")

    def take(self, nodes: Any) -> NodeTable:
        """Return the table of the given node numbers, in their order.

        Parameters
        ----------
        nodes : array_like of int

        Returns
        -------
        NodeTable

        Examples
        --------
        >>> NodeTable(3, names=("a", "b", "c")).take([2, 0]).names
        ('c', 'a')
        """
        order = np.asarray(nodes, dtype=np.int64)
        names = None if self.names is None else tuple(self.names[i] for i in order.tolist())
        columns = {key: column[order] for key, column in self.columns.items()}
        coordinates = None if self.coordinates is None else self.coordinates[order]
        return NodeTable(len(order), names, columns, coordinates)

    def joined(self, table: Any, *, on: str | None = None) -> NodeTable:
        """Return this table with the columns of another one, aligned by node name.

        Parameters
        ----------
        table : DataFrame, mapping of columns, or any object with ``to_dict(as_series=False)`` (polars)
            One row a node, in any order.
        on : str, optional
            The column that holds the node names (or numbers). By default the index of a DataFrame; rows without names
            are in node order, which is accepted only where the nodes have no names either.

        Returns
        -------
        NodeTable
            Columns of equal name are replaced.

        Raises
        ------
        GraphError
            Names are missing, unknown or repeated; the message lists them.

        Examples
        --------
        >>> table = NodeTable(2, names=("a", "b"))
        >>> table.joined({"city": ["b", "a"], "speed": [2.0, 1.0]}, on="city")["speed"]
        array([1., 2.])
        """
        keys, columns = _read_table(table, on)
        order = self._order_of(keys, len(next(iter(columns.values()), keys if keys is not None else ())))
        added = {key: np.asarray(column)[order] for key, column in columns.items()}
        merged = {**self.columns, **added}
        coordinates = self.coordinates if _found_coordinates(added) is None else None
        return NodeTable(self.n_nodes, self.names, merged, coordinates)

    def aligned(self, x: Any) -> Any:
        """Return a signal in node order: a pandas object by its index, anything else as it is.

        Parameters
        ----------
        x : Series, DataFrame, or array_like
            A Series or DataFrame with another index than 0..n-1 is put in the order of the node names.

        Returns
        -------
        array_like

        Raises
        ------
        SignalError
            The index lacks names, holds unknown ones, or is a plain 0..n-1 while the nodes have other names.

        Examples
        --------
        >>> import pandas as pd
        >>> NodeTable(2, names=("a", "b")).aligned(pd.Series([2.0, 1.0], index=["b", "a"]))
        array([1., 2.])
        """
        if not _is_pandas(x):
            return x
        if _has_default_index(x) and self.names is None:
            return x.to_numpy()
        try:
            order = self._order_of(x.index.tolist(), len(x))
        except GraphError as bad:
            raise SignalError(f"the index of the signal does not name the nodes: {bad}") from None
        return x.to_numpy()[order]

    def _order_of(self, keys: Sequence[Hashable] | None, n_rows: int) -> npt.NDArray[np.int64]:
        """Return, for every node, the row that belongs to it."""
        if keys is None:
            if self.names is not None:
                raise GraphError(
                    "the nodes have names and the rows have none; name the column that holds them with on="
                )
            if n_rows != self.n_nodes:
                raise GraphError(f"the table has {n_rows} rows but the graph has {self.n_nodes} nodes")
            return np.arange(self.n_nodes)
        rows = {key: row for row, key in enumerate(keys)}
        if len(rows) != len(keys):
            raise GraphError(f"names that come twice: {_listed(_repeated(keys))}")
        unknown = [key for key in rows if key not in self.numbers]
        missing = [name for name in self.numbers if name not in rows]
        if unknown or missing:
            what = [
                f"{title}: {_listed(names)}" for title, names in (("unknown", unknown), ("missing", missing)) if names
            ]
            raise GraphError(f"names do not match the nodes; {'; '.join(what)}")
        return np.array([rows[name] for name in self.numbers], dtype=np.int64)


def _listed(names: Sequence[Hashable]) -> str:
    shown = ", ".join(map(repr, names[:LISTED]))
    return shown if len(names) <= LISTED else f"{shown} and {len(names) - LISTED} more"


def _repeated(keys: Sequence[Hashable]) -> list[Hashable]:
    seen: set[Hashable] = set()
    return [key for key in keys if key in seen or seen.add(key)]  # type: ignore[func-returns-value]  # add returns None


def _check_names(names: Sequence[Hashable], n_nodes: int) -> tuple[Hashable, ...]:
    found = tuple(names)
    if len(found) != n_nodes:
        raise GraphError(f"{len(found)} labels for {n_nodes} nodes")
    if len(set(found)) != n_nodes:
        raise GraphError(f"node names that come twice: {_listed(_repeated(found))}")
    return found


def _check_column(values: Any, name: str, n_nodes: int) -> Array:
    array = np.array(values)
    if array.dtype.kind == "O" and all(isinstance(value, str) for value in array.ravel()):
        array = array.astype(str)
    if array.ndim not in (1, 2) or array.shape[0] != n_nodes:
        raise GraphError(f"column {name!r} has shape {array.shape} but the graph has {n_nodes} nodes")
    array.flags.writeable = False
    return array


def _check_coordinates(values: Any, n_nodes: int) -> Array:
    try:
        array = np.array(values, dtype=np.float64)
    except (TypeError, ValueError):
        raise GraphError("coordinates must be numbers, shape (n_nodes, 2) or (n_nodes, 3)") from None
    if array.ndim != 2 or array.shape[0] != n_nodes or array.shape[1] not in (2, 3):
        raise GraphError(f"coordinates have shape {array.shape}; they must be ({n_nodes}, 2) or ({n_nodes}, 3)")
    array.flags.writeable = False
    return array


def _found_coordinates(columns: Mapping[str, Array]) -> Array | None:
    for names in COORDINATES:
        parts = [columns.get(name) for name in names]
        found = [part for part in parts if part is not None and part.dtype.kind in "iuf"]
        if len(found) < len(names):
            continue
        if names == ("pos",):
            if found[0].ndim == 2 and found[0].shape[1] in (2, 3):
                return found[0]
        elif all(part.ndim == 1 for part in found):
            return np.stack(found, axis=1)
    return None


def _is_pandas(x: Any) -> bool:
    return type(x).__module__.partition(".")[0] == "pandas" and hasattr(x, "index") and hasattr(x, "to_numpy")


def _has_default_index(x: Any) -> bool:
    index = x.index
    return type(index).__name__ == "RangeIndex" and (index.start, index.step) == (0, 1)


def _read_table(table: Any, on: str | None) -> tuple[list[Hashable] | None, dict[str, Any]]:
    """Return the names of the rows, None where there are none, and the columns."""
    columns = _columns_of(table)
    if on is not None:
        if on not in columns:
            raise ParameterError(f"the table has no column {on!r} to align on; columns: {', '.join(columns)}")
        keys: list[Hashable] = np.asarray(columns.pop(on)).tolist()
        return keys, columns
    if _is_pandas(table) and not _has_default_index(table):
        return table.index.tolist(), columns
    return None, columns


def _columns_of(table: Any) -> dict[str, Any]:
    if isinstance(table, Mapping):
        return {str(key): np.asarray(value) for key, value in table.items()}
    if _is_pandas(table):
        if not hasattr(table, "columns"):
            return {str(table.name or "value"): table.to_numpy()}
        return {str(key): table[key].to_numpy() for key in table.columns}
    if hasattr(table, "to_dict") and hasattr(table, "columns"):
        return {str(key): np.asarray(value) for key, value in table.to_dict(as_series=False).items()}
    raise ParameterError(f"a node table is a DataFrame or a mapping of columns, not {type(table).__name__}")
