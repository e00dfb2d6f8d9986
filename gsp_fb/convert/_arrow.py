"""Arrow tables of edges, by the interface ``__arrow_c_stream__``: polars, duckdb, pyarrow, pandas."""

from __future__ import annotations

from typing import Any

import numpy as np

from .._attributes import WEIGHT, listed, weight_attribute
from .._extras import require
from ..backend import IntArray
from ..errors import GraphError, ParameterError
from ..graph import Graph
from ._common import graph_of_table

__all__ = ["from_arrow"]


def from_arrow(
    table: Any,
    *,
    source: str = "source",
    target: str = "target",
    weight: str | None = WEIGHT,
    nodes: Any = None,
    on: str | None = None,
    n_nodes: int | None = None,
    directed: bool = False,
    symmetrize: str | None = None,
    duplicates: str = "error",
    loops: str = "keep",
    signed: bool = False,
) -> Graph:
    """Convert an Arrow table with one edge per row; columns of numbers are not copied before the graph is built.

    Parameters
    ----------
    table : object with ``__arrow_c_stream__``
        A table of pyarrow, polars or pandas, or a relation of duckdb.
    source, target : str
        Two integer columns are node numbers 0..n-1. Other columns are names, numbered in order of first appearance, row
        by row.
    weight : str or None
        By default the column called weight; if there is none and others hold numbers, a choice is required. None: every
        weight is 1.
    nodes : Arrow table, DataFrame or mapping, optional
        What is known of the nodes, aligned by name as by :meth:`Graph.with_nodes`.
    on : str, optional
        The column of ``nodes`` that holds the names.
    n_nodes : int, optional
        By default the largest node number plus one; not for named nodes.
    directed, symmetrize, duplicates, loops, signed
        As in :meth:`Graph.from_edges`.

    Returns
    -------
    Graph

    Raises
    ------
    ParameterError
        The object is no Arrow table, a column is missing, or ``n_nodes`` is given for named nodes.
    GraphError
        A cell is empty, or the edges are not a valid graph under the options.

    See Also
    --------
    from_pandas : From a data frame, with its index.
    Graph.with_nodes : Attach a table of nodes.

    Examples
    --------
    >>> import pyarrow as pa
    >>> table = pa.table({"source": ["b", "b"], "target": ["a", "c"], "km": [1.5, 2.0]})
    >>> g = from_arrow(table, weight="km")
    >>> g.labels, g.degrees
    (('b', 'a', 'c'), array([3.5, 1.5, 2. ]))
    """
    if not hasattr(table, "__arrow_c_stream__"):
        raise ParameterError(f"{type(table).__name__} is no Arrow table: it has no __arrow_c_stream__")
    arrow = require("pyarrow", "reading an Arrow table").table(table)
    pairs, names = _pairs(arrow, source, target)
    others = [name for name in arrow.column_names if name not in (source, target)]
    chosen = weight_attribute(others, (name for name in others if _is_number(arrow[name].type)), weight)
    weights = None if chosen is None else _weights(arrow, chosen)
    rules: dict[str, Any] = {"directed": directed, "symmetrize": symmetrize, "duplicates": duplicates, "loops": loops}
    return graph_of_table(pairs, names, weights, n_nodes=n_nodes, nodes=nodes, on=on, signed=signed, **rules)


def _is_number(kind: Any) -> bool:
    types = require("pyarrow.types", "reading an Arrow table")
    return bool(types.is_integer(kind) or types.is_floating(kind))


def _column(arrow: Any, name: str) -> Any:
    if name not in arrow.column_names:
        raise ParameterError(f"no column {name!r}; the table has {listed(arrow.column_names)}")
    column = arrow[name]
    if column.null_count:
        raise GraphError(f"column {name!r} has {column.null_count} empty cells")
    return column


def _weights(arrow: Any, name: str) -> Any:
    column = _column(arrow, name)
    if not _is_number(column.type):
        raise GraphError(f"column {name!r} is of type {column.type}; weights must be numbers")
    return column.to_numpy()


def _pairs(arrow: Any, source: str, target: str) -> tuple[IntArray, tuple[Any, ...] | None]:
    columns = [_column(arrow, name) for name in (source, target)]
    is_integer = require("pyarrow.types", "reading an Arrow table").is_integer
    if all(is_integer(column.type) for column in columns):
        return np.stack([column.to_numpy() for column in columns], axis=1), None
    if columns[0].type != columns[1].type:
        raise GraphError(f"columns {source!r} and {target!r} are of types {columns[0].type} and {columns[1].type}")
    pa = require("pyarrow", "reading an Arrow table")
    both = pa.chunked_array([chunk for column in columns for chunk in column.chunks], columns[0].type)
    found = both.dictionary_encode().combine_chunks()
    codes = np.asarray(found.indices).reshape(2, -1).T
    # Arrow numbers the names column by column; nodes are numbered row by row.
    first = np.unique(codes.ravel(), return_index=True)[1]
    order = np.argsort(first, kind="stable")
    number = np.empty(len(order), dtype=np.int64)
    number[order] = np.arange(len(order))
    names = found.dictionary.to_pylist()
    return number[codes], tuple(names[k] for k in order.tolist())
