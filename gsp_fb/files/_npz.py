"""npz archives: the format of this library, which preserves everything, and that of scipy.sparse.save_npz."""

from __future__ import annotations

import json
from types import SimpleNamespace
from typing import Any, BinaryIO

import numpy as np
from scipy import sparse

from .._arguments import check_choice, check_csr
from ..errors import FormatError, ParameterError
from ..graph import Graph
from ._limits import Archive, Array
from ._nodes import dump_nodes, labels_of, load_json, load_nodes, writable_labels
from ._parsed import Matrix, Options

__all__ = ["read_npz", "write_npz"]

VERSION = 1
# Supported sparse formats of scipy, with the names of their two index arrays.
SCIPY_FORMATS = {"csr": ("indices", "indptr"), "csc": ("indices", "indptr"), "coo": ("row", "col")}


def read_npz(file: BinaryIO, options: Options) -> Matrix:
    """Return the matrix in ``file``; index arrays are checked before compiled code reads them."""
    archive = Archive(file, options.limits)
    return _read_scipy(archive, options) if "format" in archive else _read_own(archive)


def _read_own(archive: Archive) -> Matrix:
    version = int(archive.read("format_version", ndim=0))
    if version != VERSION:
        raise FormatError(f"the archive has version {version}, not {VERSION}; update gsp_fb to read it")
    indptr, indices = archive.read("indptr"), archive.read("indices")
    weights = archive.read("weights", kinds="fc") if "weights" in archive else np.ones(len(indices))
    directed = bool(archive.read("directed", ndim=0, kinds="b"))
    if not len(indptr):
        raise FormatError("array 'indptr' is empty; it has one entry more than there are nodes")
    n_nodes = len(indptr) - 1
    texts = {name: archive.read(name, kinds="u").tobytes() for name in ("labels", "nodes") if name in archive}
    labels, table = (load_json(texts.get(name, "null")) for name in ("labels", "nodes"))
    signed = "signed" in archive and bool(archive.read("signed", ndim=0, kinds="b"))
    matrix = _matrix("csr", (n_nodes, n_nodes), weights, indices, indptr)
    return Matrix(matrix, directed, load_nodes(table, n_nodes, labels_of(labels, n_nodes)), signed)


def _read_scipy(archive: Archive, options: Options) -> Matrix:
    name = archive.read("format", ndim=0, kinds="SU").item()
    try:
        name = name.decode("ascii", "replace") if isinstance(name, bytes) else name
        kind = check_choice(name, SCIPY_FORMATS, "format")
    except ParameterError as unknown:
        raise FormatError(str(unknown)) from None
    shape = tuple(archive.read("shape").tolist())
    if len(shape) != 2 or min(shape) < 0:
        raise FormatError(f"the matrix has shape {shape}; an adjacency matrix has two axes")
    options.limits.check_nodes(max(shape))
    return Matrix(_matrix(kind, shape, archive.read("data", kinds="biuf"), *map(archive.read, SCIPY_FORMATS[kind])))


def _matrix(kind: str, shape: tuple[int, ...], data: Array, first: Array, second: Array) -> Any:
    """Return the sparse array; compressed indices are checked first, because scipy's constructors do not check them."""
    # scipy.sparse has no half precision, and differences of unsigned indices are never negative.
    wide = np.complex128 if data.dtype.kind == "c" else np.float64
    data, first, second = data.astype(wide), first.astype(np.int64), second.astype(np.int64)
    if kind == "coo":
        if not len(data) == len(first) == len(second):
            raise FormatError(f"{len(data)} entries with {len(first)} rows and {len(second)} columns")
        ends = np.concatenate([first, second])
        bad = np.flatnonzero((ends < 0) | (ends >= np.repeat(shape, len(first))))
        if bad.size:
            raise FormatError(f"index {ends[bad[0]]} is outside a matrix of shape {shape}")
        return sparse.coo_array((data, (first, second)), shape=shape)
    check_csr(SimpleNamespace(format=kind, shape=shape, data=data, indices=first, indptr=second))
    compressed: Any = sparse.csr_array if kind == "csr" else sparse.csc_array
    return compressed((data, first, second), shape=shape)


def write_npz(graph: Graph, file: BinaryIO) -> None:
    """Write the arrays of ``graph`` uncompressed, so that reading is a plain copy."""
    arrays: dict[str, Any] = {"format_version": np.int64(VERSION), "directed": np.bool_(graph.directed)}
    arrays |= {"indptr": graph.indptr, "indices": graph.indices}
    if graph.weights is not None:
        arrays["weights"] = graph.weights
    if graph.is_signed:
        arrays["signed"] = np.bool_(True)
    for name, facts in (("labels", writable_labels(graph.labels)), ("nodes", dump_nodes(graph.nodes))):
        if facts is not None:
            arrays[name] = np.frombuffer(json.dumps(facts).encode(), dtype=np.uint8)
    np.savez(file, allow_pickle=False, **arrays)
