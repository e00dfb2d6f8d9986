"""Data sets from files of one's own and from AnnData: a graph, columns of its node table as features and labels."""

from __future__ import annotations

import csv
import io
import os
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np

from .._arguments import check_choice
from .._attributes import listed
from .._extras import require
from ..errors import FormatError, GraphError, ParameterError
from ..files import read_graph
from ..files._limits import Limits, open_limited, parser_errors
from ..graph import Graph
from .dataset import Dataset, check_targets
from .splits import split_from_column

__all__ = ["dataset_of", "from_anndata", "read", "read_table"]

PathLike = str | os.PathLike[str]
# Names under which a table of nodes holds their names, in the order in which they are tried.
NAME_COLUMNS = ("node", "name", "id", "label", "index")


def read(
    edges: PathLike,
    nodes: PathLike | None = None,
    *,
    features: str | Sequence[str] = "all",
    label: str | None = None,
    split: str | None = None,
    on: str | None = None,
    **options: Any,
) -> Dataset:
    r"""Read a data set from a graph file and a table of its nodes.

    Parameters
    ----------
    edges : path_like
        Any file of :func:`gsp_fb.read_graph`.
    nodes : path_like, optional
        Table (``.csv``, ``.tsv``, ``.parquet``) with a column of names; by default the attributes in the graph file.
    features : 'all' or sequence of str
        Columns that are features; ``'all'`` are the numeric ones but the label and the split.
    label : str, optional
        Column of classes (integers or text) or of numbers to predict (with decimals).
    split : str, optional
        Column that holds train, val and test. By default ten stratified splits are drawn with a fixed seed.
    on : str, optional
        Column of names in ``nodes``; by default the one called node, name, id, label or index, else the first one.
    **options
        As for :func:`gsp_fb.read_graph`.

    Returns
    -------
    Dataset

    Raises
    ------
    FormatError
        A file is damaged.
    GraphError
        Names of nodes are missing or unknown.
    ParameterError
        A column is missing, or is not numeric and named as a feature.

    See Also
    --------
    Dataset.from_arrays : From arrays in memory.
    gsp_fb.read_graph : The graph alone.

    Examples
    --------
    >>> import tempfile
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     _ = Path(folder, "roads.csv").write_text("source,target\nRome,Oslo\nOslo,Bern\n")
    ...     _ = Path(folder, "cities.csv").write_text("city,size,side\nBern,1,in\nOslo,2,out\nRome,3,in\n")
    ...     data = read(f"{folder}/roads.csv", f"{folder}/cities.csv", label="side")
    >>> data.graph.labels, data.x.ravel(), data.y
    (('Rome', 'Oslo', 'Bern'), array([3., 2., 1.]), array(['in', 'out', 'in'], dtype=object))
    """
    graph = read_graph(edges, **options)
    if nodes is not None:
        table, names = read_table(nodes, on)
        graph = graph.with_nodes(table, names)
    return dataset_of(graph, Path(edges).name, features=features, label=label, split=split)


def dataset_of(
    graph: Graph,
    name: str,
    *,
    features: str | Sequence[str] = "all",
    label: str | None = None,
    split: str | None = None,
) -> Dataset:
    """Return the data set of a graph whose node table holds features, labels and splits; see :func:`read`."""
    table = graph.nodes
    for column in (label, split):
        if column is not None and column not in table:
            raise ParameterError(f"no column {column!r} among those of the nodes: {listed(list(table)) or 'none'}")
    chosen = [c for c in table.numeric if c not in (label, split)] if features == "all" else list(features)
    for column in chosen:
        check_choice(column, table.numeric, "numeric column of the nodes")
    if not chosen:
        raise ParameterError(f"no numeric column for features; the nodes have {listed(list(table)) or 'no columns'}")
    x = np.stack([table[column].astype(np.float64) for column in chosen], axis=1)
    bad = np.argwhere(~np.isfinite(x))
    if bad.size:
        node, feature = bad[0].tolist()
        name_of = range(graph.n_nodes) if graph.labels is None else graph.labels
        raise ParameterError(f"feature {chosen[feature]!r} is empty or not finite at node {name_of[node]!r}")
    y = None if label is None else check_targets(graph, table[label])
    splits = None if split is None else [split_from_column(table[split])]
    return Dataset.from_arrays(graph, x, y, splits, name=name, feature_names=chosen)


def read_table(path: PathLike, on: str | None = None) -> tuple[dict[str, Any], str]:
    """Return the columns of a table of nodes, and the name of the column that holds their names."""
    kind = Path(path).suffix.lower()
    if kind == ".parquet":
        table = require("pyarrow.parquet", "reading Parquet").read_table(path)
        columns = {name: table[name].to_numpy() for name in table.column_names}
    else:
        columns = _text_columns(path, "\t" if kind == ".tsv" else ",")
    lower = {name.lower(): name for name in columns}
    chosen = on or next((lower[word] for word in NAME_COLUMNS if word in lower), next(iter(columns)))
    if chosen not in columns:
        raise ParameterError(f"{os.fspath(path)}: no column {chosen!r}; there are {listed(list(columns))}")
    return columns, chosen


def _text_columns(path: PathLike, delimiter: str) -> dict[str, Any]:
    with open_limited(path, Limits()) as file:
        content = file.read()
    damaged = f"{os.fspath(path)}: not a table with a header and lines of one length"
    with parser_errors(damaged, (ValueError, csv.Error)):
        text = content.decode("utf-8-sig")
        rows = [row for row in csv.reader(io.StringIO(text, newline=""), delimiter=delimiter, strict=True) if row]
        header, *cells = rows
        columns = list(zip(*cells, strict=True)) if cells else [()] * len(header)
        named = dict(zip(header, map(_typed, columns), strict=True))
    if len(named) != len(header):
        raise FormatError(f"{os.fspath(path)}: a column occurs twice in {listed(header)}")
    return named


def _typed(column: Sequence[str]) -> Any:
    """Return a column as integers, numbers (an empty cell is nan) or text (an empty cell is None)."""
    cells = [cell.strip() for cell in column]
    for kind, empty in ((int, None), (float, "nan")):
        try:
            if not any("_" in cell for cell in cells) and any(cells):
                return np.array([kind(cell or empty) for cell in cells])  # type: ignore[arg-type]  # int(None) raises
        except (ValueError, TypeError):
            continue
    return np.array([*(cell or None for cell in cells), None], dtype=object)[:-1]


def from_anndata(
    adata: Any, *, graph: str | None = None, label: str | None = None, layer: str | None = None, basis: str = "spatial"
) -> Dataset:
    """Convert an AnnData object: cells are nodes, genes are signals, sparse where they are stored sparse.

    Parameters
    ----------
    adata : anndata.AnnData
        Its ``obs`` are columns of the node table, ``obs_names`` the names of the nodes.
    graph : str, optional
        Key of ``obsp``; by default ``spatial_connectivities``, else ``connectivities``.
    label : str, optional
        Column of ``obs`` with the classes, such as cell types.
    layer : str, optional
        Key of ``layers``; ``X`` by default.
    basis : str
        Key of ``obsm`` that holds the coordinates, taken where it exists and has two or three columns.

    Returns
    -------
    Dataset
        ``graph``, and genes as ``x`` with their names as ``feature_names``.

    Raises
    ------
    GraphError
        There is no such graph: compute one with ``scanpy.pp.neighbors``, ``squidpy.gr.spatial_neighbors`` or
        :meth:`Graph.from_points`.

    See Also
    --------
    gsp_fb.spatially_variable : Which genes vary with the graph.

    Examples
    --------
    >>> adata = anndata.read_h5ad("cells.h5ad")  # doctest: +SKIP

    Any object with these attributes is converted in the same way:

    >>> import pandas as pd
    >>> from types import SimpleNamespace
    >>> adata = SimpleNamespace(obs=pd.DataFrame(index=["a", "b"]), obs_names=["a", "b"], var_names=["gene"], obsm={})
    >>> adata.X, adata.obsp = np.array([[1.0], [2.0]]), {"connectivities": np.array([[0.0, 1.0], [1.0, 0.0]])}
    >>> from_anndata(adata)
    Dataset('anndata', 2 nodes, 1 edge, 1 feature, 0 classes, 0 splits, 2 unlabelled)
    """
    keys = [graph] if graph is not None else ["spatial_connectivities", "connectivities"]
    found = next((key for key in keys if key in adata.obsp), None)
    if found is None:
        what = f"no graph {' or '.join(keys)} in obsp (it has {listed(list(adata.obsp)) or 'none'})"
        raise GraphError(f"{what}; compute neighbours, or Graph.from_points")
    names = [str(name) for name in adata.obs_names]
    cells = Graph.from_adjacency(adata.obsp[found], symmetrize="max", nodes=names)
    columns = {str(name): adata.obs[name].to_numpy() for name in adata.obs.columns}
    cells = cells.with_nodes(columns) if columns else cells
    points: Any = np.asarray(adata.obsm.get(basis, ()))
    if points.ndim == 2 and points.shape[1] in (2, 3):
        cells = cells.with_coordinates(points)
    x = adata.X if layer is None else adata.layers[layer]
    y = None if label is None else cells.nodes[label]
    made = Dataset.from_arrays(cells, x, y, name="anndata", feature_names=[str(name) for name in adata.var_names])
    return replace(made, info=replace(made.info, title=f"AnnData, {found}"))
