"""pandas frames of edges: one row per edge, nodes by number or by name."""

from __future__ import annotations

from collections.abc import Hashable
from typing import Any

import numpy as np

from .._attributes import WEIGHT, weight_attribute
from .._extras import require
from ..backend import IntArray
from ..errors import GraphError, ParameterError
from ..graph import Graph
from ._common import graph_of_table, names_of

__all__ = ["from_pandas", "to_pandas"]


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
        By default the column called weight; if there is none and others hold numbers, a choice is required. None: every
        weight is 1.
    n_nodes : int, optional
        By default the largest node number plus one; not for named nodes.
    directed : bool
        Keep arcs as they are, as in :meth:`Graph.from_edges`.
    symmetrize : {'max', 'mean', 'sum'}, optional
        Combine the arcs ``(i, j)`` and ``(j, i)``.
    duplicates : {'error', 'first', 'sum'}
        Treatment of an edge that is listed more than once.
    loops : {'keep', 'drop'}
        Treatment of self-loops.
    signed : bool
        Allow negative weights, as in :meth:`Graph.from_edges`.
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
    weights = None if chosen is None else _weights(df, chosen)
    rules: dict[str, Any] = {"directed": directed, "symmetrize": symmetrize, "duplicates": duplicates, "loops": loops}
    return graph_of_table(pairs, labels, weights, n_nodes=n_nodes, nodes=nodes, on=on, signed=signed, **rules)


def _is_numeric(dtype: Any) -> bool:
    types = require("pandas.api.types", "conversion from pandas")
    return bool(types.is_numeric_dtype(dtype)) and not types.is_bool_dtype(dtype)


def _column(df: Any, name: Hashable) -> Any:
    if name not in df.columns:
        raise ParameterError(f"no column {name!r}; the frame has {', '.join(map(str, df.columns))}")
    column = df[name]
    empty = np.flatnonzero(column.isna().to_numpy())
    if empty.size:
        raise GraphError(f"column {name!r} is empty in row {empty[0]}")
    return column


def _pairs(df: Any, source: Hashable, target: Hashable) -> tuple[IntArray, tuple[Hashable, ...] | None]:
    columns = [_column(df, name) for name in (source, target)]
    is_integer = require("pandas.api.types", "conversion from pandas").is_integer_dtype
    if all(is_integer(column.dtype) for column in columns):
        return np.stack([column.to_numpy(dtype=np.int64) for column in columns], axis=1), None
    cells = np.empty(2 * len(df), dtype=object)
    cells[0::2], cells[1::2] = (column.to_numpy(dtype=object) for column in columns)
    codes, names = require("pandas", "conversion from pandas").factorize(cells)
    return codes.astype(np.int64).reshape(-1, 2), tuple(names.tolist())


def _weights(df: Any, name: Hashable) -> Any:
    column = _column(df, name)
    if not _is_numeric(column.dtype):
        raise GraphError(f"column {name!r} has dtype {column.dtype}; weights must be numbers")
    return column.to_numpy(dtype=np.float64)


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
    names = names_of(graph)
    columns: dict[str, Any] = {key: [names[i] for i in ids] for key, ids in (("source", source), ("target", target))}
    if graph.labels is None:
        # An empty list has no integer dtype; node numbers are integers also in a graph without edges.
        columns = {key: np.asarray(ids, dtype=np.int64) for key, ids in columns.items()}
    return pd.DataFrame(columns if weights is None else {**columns, "weight": weights})
