"""Tables with one edge per row: pandas, and Arrow by ``__arrow_c_stream__`` (polars, duckdb, pyarrow, pandas)."""

from __future__ import annotations

from collections.abc import Hashable
from typing import Any

import numpy as np

from .._attributes import WEIGHT, full_column, is_number_type, weight_attribute
from .._extras import require
from ..backend import IntArray
from ..errors import GraphError, ParameterError
from ..graph import Graph

__all__ = ["from_arrow", "from_pandas", "to_pandas"]

Names = tuple[Hashable, ...] | None


def from_pandas(
    df: Any,
    *,
    source: Hashable = "source",
    target: Hashable = "target",
    weight: Hashable | None = WEIGHT,
    n_nodes: int | None = None,
    directed: bool = False,
    symmetrize: str | None = None,
    duplicates: str = "error",
    loops: str = "keep",
    signed: bool = False,
    nodes: Any = None,
    on: str | None = None,
) -> Graph:
    """Convert a data frame with one edge per row.

    Parameters
    ----------
    df : pandas.DataFrame
        The edge table.
    source, target : column names
        Two integer columns are node numbers 0..n-1. Other columns are names: names are numbered in order of first
        appearance, row by row, and stored as ``labels``. Convert integers to text to use them as names.
    weight : column name or None
        By default the one called weight; if there is none and others hold numbers, it must be named. None: all are 1.
    n_nodes : int, optional
        By default the largest node number plus one; not for named nodes.
    directed, symmetrize, duplicates, loops, signed
        As in :meth:`Graph.from_edges`.
    nodes : DataFrame, optional
        What is known of the nodes, aligned by name as by :meth:`Graph.with_nodes`.
    on : str, optional
        The column of ``nodes`` that holds the names; its index by default.

    Returns
    -------
    Graph
        With names if the ends of edges are named.

    Raises
    ------
    ParameterError
        A column is missing, or ``n_nodes`` is given for named nodes.
    GraphError
        A cell is empty, or the edges are not a valid graph under the options.

    See Also
    --------
    to_pandas : The inverse.
    read_graph : From CSV and Parquet files.

    Examples
    --------
    >>> import pandas as pd
    >>> df = pd.DataFrame({"source": ["b", "b"], "target": ["a", "c"], "km": [1.5, 2.0]})
    >>> g = from_pandas(df, weight="km")
    >>> g.labels, g.degrees
    (('b', 'a', 'c'), array([3.5, 1.5, 2. ]))
    """
    pairs, labels = _pairs(df, source, target)
    others = [name for name in df.columns if name not in (source, target)]
    chosen = weight_attribute(others, (name for name in others if _is_numeric(df[name].dtype)), weight)
    weights = None if chosen is None else _column(df, chosen, numeric=True).to_numpy(dtype=np.float64)
    rules: dict[str, Any] = {"directed": directed, "symmetrize": symmetrize, "duplicates": duplicates, "loops": loops}
    return _graph(pairs, labels, weights, n_nodes=n_nodes, nodes=nodes, on=on, signed=signed, **rules)


def _graph(pairs: Any, names: Names, weights: Any, *, n_nodes: int | None, nodes: Any, on: Any, **rules: Any) -> Graph:
    if names is not None and n_nodes is not None:
        raise ParameterError(f"n_nodes={n_nodes} is for numbered nodes; these {len(names)} are named")
    graph = Graph.from_edges(pairs, weights, n_nodes if names is None else len(names), nodes=names, **rules)
    return graph if nodes is None else graph.with_nodes(nodes, on)


def _is_numeric(dtype: Any) -> bool:
    types = require("pandas.api.types", "conversion from pandas")
    return bool(types.is_numeric_dtype(dtype)) and not types.is_bool_dtype(dtype)


def _column(df: Any, name: Hashable, *, numeric: bool = False) -> Any:
    if name not in df.columns:
        raise ParameterError(f"no column {name!r}; the frame has {', '.join(map(str, df.columns))}")
    column = df[name]
    empty = np.flatnonzero(column.isna().to_numpy())
    if empty.size:
        raise GraphError(f"column {name!r} is empty in row {empty[0]}")
    if numeric and not _is_numeric(column.dtype):
        raise GraphError(f"column {name!r} has dtype {column.dtype}; weights must be numbers")
    return column


def _pairs(df: Any, source: Hashable, target: Hashable) -> tuple[IntArray, Names]:
    columns = [_column(df, name) for name in (source, target)]
    is_integer = require("pandas.api.types", "conversion from pandas").is_integer_dtype
    if all(is_integer(column.dtype) for column in columns):
        return np.stack([column.to_numpy(dtype=np.int64) for column in columns], axis=1), None
    cells = np.empty(2 * len(df), dtype=object)
    cells[0::2], cells[1::2] = (column.to_numpy(dtype=object) for column in columns)
    codes, names = require("pandas", "conversion from pandas").factorize(cells)
    return codes.astype(np.int64).reshape(-1, 2), tuple(names.tolist())


def to_pandas(graph: Graph) -> Any:
    """Convert to a data frame with one edge per row.

    Isolated nodes occur in no row: pass ``n_nodes`` and ``directed`` to :func:`from_pandas` to restore them.

    Parameters
    ----------
    graph : Graph
        Nodes are written by label, or by number.

    Returns
    -------
    pandas.DataFrame
        Columns ``source``, ``target`` and, if the graph is weighted, ``weight``.

    Raises
    ------
    ImportError
        pandas is not installed.

    See Also
    --------
    from_pandas : The inverse.
    write_graph : To CSV and Parquet files.

    Examples
    --------
    >>> to_pandas(Graph.from_edges([(0, 1), (1, 2)], [0.5, 2.0]))
       source  target  weight
    0       0       1     0.5
    1       1       2     2.0
    """
    pd = require("pandas", "conversion to pandas")
    graph.check_real("a table of edges", remedy="keep graph.adjacency")
    source, target, weights = graph.edges()
    columns: dict[str, Any] = {"source": source.astype(np.int64), "target": target.astype(np.int64)}
    if graph.labels is not None:
        columns = {end: [graph.labels[i] for i in ids] for end, ids in columns.items()}
    return pd.DataFrame(columns if weights is None else {**columns, "weight": weights})


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
    source, target, weight
        Columns, as in :func:`from_pandas`.
    nodes : Arrow table, DataFrame or mapping, optional
        What is known of the nodes, aligned by name as by :meth:`Graph.with_nodes`.
    on, n_nodes, directed, symmetrize, duplicates, loops, signed
        As in :func:`from_pandas`.

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
    pairs, names = _arrow_pairs(arrow, source, target)
    others = [name for name in arrow.column_names if name not in (source, target)]
    chosen = weight_attribute(others, (name for name in others if is_number_type(arrow[name].type)), weight)
    weights = None if chosen is None else full_column(arrow, chosen, numeric=True).to_numpy()
    rules: dict[str, Any] = {"directed": directed, "symmetrize": symmetrize, "duplicates": duplicates, "loops": loops}
    return _graph(pairs, names, weights, n_nodes=n_nodes, nodes=nodes, on=on, signed=signed, **rules)


def _arrow_pairs(arrow: Any, source: str, target: str) -> tuple[IntArray, Names]:
    columns = [full_column(arrow, name) for name in (source, target)]
    pa = require("pyarrow", "reading an Arrow table")
    if all(pa.types.is_integer(column.type) for column in columns):
        return np.stack([column.to_numpy() for column in columns], axis=1), None
    if columns[0].type != columns[1].type:
        raise GraphError(f"columns {source!r} and {target!r} are of types {columns[0].type} and {columns[1].type}")
    both = pa.chunked_array([chunk for column in columns for chunk in column.chunks], columns[0].type)
    found = both.dictionary_encode().combine_chunks()
    codes = np.asarray(found.indices).reshape(2, -1).T
    # Arrow numbers the names column by column; nodes are numbered row by row.
    order = np.argsort(np.unique(codes.ravel(), return_index=True)[1], kind="stable")
    names = found.dictionary.to_pylist()
    return np.argsort(order)[codes], tuple(names[k] for k in order.tolist())
