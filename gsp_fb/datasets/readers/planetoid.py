"""Planetoid's ``ind.<name>.*`` files: pickles of Python 2, read through an allow-list that can build only arrays."""

from __future__ import annotations

import pickle
from collections import defaultdict
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np
from scipy import sparse

from ...backend import IntArray
from ...errors import FormatError
from .arrays import NodeArrays, as_features, reading

__all__ = ["StoredCsr", "load_pickle", "read_planetoid"]

N_PUBLIC_VAL = 500


class StoredCsr:
    """Stands in for scipy's CSR class: keeps the pickled attributes and runs none of that class's code."""


def _reconstructor(cls: type, base: type, state: object) -> object:
    if cls is not StoredCsr or base is not object or state is not None:
        raise FormatError(f"the pickle rebuilds a {cls.__name__}, which no Planetoid file holds")
    return StoredCsr()


def _encode(text: str, encoding: str) -> bytes:
    return text.encode(encoding)


_NDARRAY_RECONSTRUCT = np.zeros(0).__reduce__()[0]
_ALLOWED: dict[tuple[str, str], Any] = {
    ("numpy.core.multiarray", "_reconstruct"): _NDARRAY_RECONSTRUCT,
    ("numpy._core.multiarray", "_reconstruct"): _NDARRAY_RECONSTRUCT,
    ("numpy", "ndarray"): np.ndarray,
    ("numpy", "dtype"): np.dtype,
    ("scipy.sparse.csr", "csr_matrix"): StoredCsr,
    ("scipy.sparse._csr", "csr_matrix"): StoredCsr,
    ("collections", "defaultdict"): defaultdict,
    ("__builtin__", "list"): list,
    ("__builtin__", "object"): object,
    ("copy_reg", "_reconstructor"): _reconstructor,
    ("_codecs", "encode"): _encode,
}


class _AllowListUnpickler(pickle.Unpickler):
    """An unpickler for which no other name exists than those in the table."""

    def find_class(self, module: str, name: str) -> Any:
        try:
            return _ALLOWED[module, name]
        except KeyError:
            raise FormatError(f"the pickle asks for {module}.{name}, which no Planetoid file needs; refused") from None


def load_pickle(path: Path, kind: type) -> Any:
    """Return what a Planetoid pickle holds, which must be a ``kind``: an array, a stored CSR matrix or a dict.

    Raises
    ------
    FormatError
        The pickle names anything outside the allow-list, is damaged, or holds something else. Nothing in it is run.
    """
    with reading(path), open(path, "rb") as file:
        try:
            held = _AllowListUnpickler(file, encoding="latin1").load()
        except (pickle.UnpicklingError, TypeError, AttributeError) as problem:
            raise FormatError(f"damaged pickle: {problem}") from problem
        if not isinstance(held, kind):
            raise FormatError(f"the pickle holds a {type(held).__name__}, expected a {kind.__name__}")
        return held


def _matrix(path: Path) -> sparse.csr_array:
    stored = vars(load_pickle(path, StoredCsr))
    with reading(path):
        shape = stored["_shape"]
        matrix = sparse.csr_array((stored["data"], stored["indices"], stored["indptr"]), shape=shape)
        matrix.check_format(full_check=True)
        return matrix


def _stack(first: sparse.csr_array, last: sparse.csr_array, rows: IntArray, n_nodes: int) -> sparse.coo_array:
    """Put ``first`` into rows 0.. and row i of ``last`` into row ``rows[i]``."""
    head, tail = first.tocoo(), last.tocoo()
    data = np.concatenate([head.data, tail.data])
    row, col = np.concatenate([head.row, rows[tail.row]]), np.concatenate([head.col, tail.col])
    return sparse.coo_array((data, (row, col)), shape=(n_nodes, first.shape[1]))


def _edges(graph: Mapping[int, list[int]]) -> IntArray:
    sources = np.repeat(np.fromiter(graph, dtype=np.int64), [len(ends) for ends in graph.values()])
    targets = np.fromiter((end for ends in graph.values() for end in ends), dtype=np.int64)
    return np.stack([sources, targets])


def read_planetoid(files: Mapping[str, Path]) -> NodeArrays:
    """Return the assembled data set; nodes that ``tx`` lacks get no features and the label 0 of an empty row."""
    allx, tx = _matrix(files["allx"]), _matrix(files["tx"])
    y, ally, ty = (load_pickle(files[role], np.ndarray) for role in ("y", "ally", "ty"))
    graph = load_pickle(files["graph"], dict)
    with reading(files["test.index"]):
        test = np.array(files["test.index"].read_text(encoding="ascii").split(), dtype=np.int64)
        if len(test) != tx.shape[0] or test.min() != allx.shape[0] or test.max() >= len(graph):
            raise FormatError(f"{len(test)} test nodes from {test.min()} do not fit allx, tx and graph")
        x = as_features(_stack(allx, tx, test, len(graph)))
        one_hot = np.zeros((len(graph), ally.shape[1]))
        one_hot[: len(ally)], one_hot[test] = ally, ty
    public = (np.arange(len(y)), np.arange(len(y), len(y) + N_PUBLIC_VAL), np.sort(test))
    labels, unlabelled = np.argmax(one_hot, axis=1), np.flatnonzero(one_hot.sum(axis=1) == 0)
    return NodeArrays(_edges(graph), x, labels, public=public, unlabelled=unlabelled)
