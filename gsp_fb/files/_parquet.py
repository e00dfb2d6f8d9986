"""Parquet edge tables: columns source, target and weight; everything else in the schema metadata."""

from __future__ import annotations

from itertools import chain
from typing import Any, BinaryIO

import numpy as np

from .._attributes import full_column, is_number_type, weight_attribute
from .._extras import require
from ..backend import IntArray
from ..errors import FormatError
from ..graph import Graph
from ._edges import ENDS
from ._limits import parser_errors
from ._nodes import Header, names_to_pairs
from ._parsed import Edges, Labels, Options

__all__ = ["read_parquet", "write_parquet"]

METADATA_KEY = b"gsp_fb"
BYTES_PER_CELL = 8


def read_parquet(file: BinaryIO, options: Options) -> Edges:
    """Return the edges in ``file``; integer columns are node numbers, text columns are names."""
    pa = require("pyarrow", "reading Parquet")
    options.check_ends()
    damaged = (pa.ArrowException, OSError, RuntimeError, OverflowError, ValueError, KeyError)
    with parser_errors("not a readable Parquet file", damaged):
        table, weight = _load(file, options)
    text = (table.schema.metadata or {}).get(METADATA_KEY)
    header = None if text is None else Header.loads(text)
    pairs, labels = _pairs(table, None if header is None else header.labels)
    weights = None if weight is None else np.asarray(full_column(table, weight, numeric=True).to_numpy(), np.float64)
    edges = Edges(pairs, weights, None if labels is None else len(labels), None, labels)
    return edges if header is None else header.completed(edges)


def _load(file: BinaryIO, options: Options) -> tuple[Any, str | None]:
    """Return the columns of nodes, as the first two, and of weights, with the name of the latter."""
    opened = require("pyarrow.parquet", "reading Parquet").ParquetFile
    parquet = opened(file)
    ends, weight = _columns(parquet.schema_arrow, options)
    columns = [*ends] if weight is None else [*ends, weight]
    stored = file.seek(0, 2)
    options.limits.check_bytes(parquet.metadata.num_rows * len(columns) * BYTES_PER_CELL, stored)
    # Not per column: Arrow aborts the process if that part of the metadata is inconsistent.
    groups = map(parquet.metadata.row_group, range(parquet.metadata.num_row_groups))
    options.limits.check_bytes(sum(group.total_byte_size for group in groups), stored)
    # Names stay dictionary-encoded: one that occurs in every row is in memory once.
    safe = {"page_checksum_verification": True, "read_dictionary": list(ends)}
    table = opened(file, metadata=parquet.metadata, **safe).read(columns=columns, use_threads=False)
    table.validate(full=True)
    return table.select(columns), weight


def _columns(schema: Any, options: Options) -> tuple[tuple[str, str], str | None]:
    found, listed = schema.names, ", ".join(schema.names)
    ends = (options.source or ENDS[0], options.target or ENDS[1])
    if not set(ends) <= set(found):
        if options.source is None:
            raise FormatError(f"columns source and target are required; found {listed}: give source= and target=")
        raise FormatError(f"columns {ends[0]} and {ends[1]} are not both among {listed}")
    others = [name for name in found if name not in ends]
    numeric = (name for name in others if is_number_type(schema.field(name).type))
    weight = weight_attribute(others, numeric, options.weight)
    if any(found.count(name) > 1 for name in (*ends, weight)):
        raise FormatError(f"a column occurs twice: {listed}")
    return ends, weight


def _pairs(table: Any, labels: Labels) -> tuple[IntArray, Labels]:
    columns = [full_column(table, name) for name in table.column_names[:2]]
    is_integer = require("pyarrow.types", "reading Parquet").is_integer
    if labels is None and all(is_integer(column.type) for column in columns):
        return np.stack([column.to_numpy().astype(np.int64) for column in columns], axis=1), None
    names, kinds = list(map(_values, columns)), (str,) if labels is None else (str, int)
    odd = next((name for name in chain(*names) if not isinstance(name, kinds)), None)
    if odd is not None:
        raise FormatError(f"node {odd!r} is neither an integer nor text like its column")
    return names_to_pairs(names, labels)


def _values(column: Any) -> list[Any]:
    """Return the cells of a column; equal names of a dictionary column are one object."""
    if not require("pyarrow.types", "reading Parquet").is_dictionary(column.type):
        return list(column.to_pylist())
    chunks = ((chunk.dictionary.to_pylist(), chunk.indices.to_pylist()) for chunk in column.chunks)
    return [names[k] for names, places in chunks for k in places]


def write_parquet(graph: Graph, file: BinaryIO) -> None:
    """Write the edges of ``graph`` with page checksums, so that damage is detected on reading."""
    pa = require("pyarrow", "writing Parquet")
    header = Header.of(graph)
    source, target, weights = graph.edges()
    kind = pa.string() if header.labels and isinstance(header.labels[0], str) else pa.int64()
    names = np.arange(graph.n_nodes) if header.labels is None else np.array(header.labels, dtype=object)
    columns = {"source": pa.array(names[source], kind), "target": pa.array(names[target], kind)}
    if weights is not None:
        columns["weight"] = pa.array(weights)
    table = pa.table(columns).replace_schema_metadata({METADATA_KEY: header.dumps()})
    require("pyarrow.parquet", "writing Parquet").write_table(table, file, write_page_checksum=True)
