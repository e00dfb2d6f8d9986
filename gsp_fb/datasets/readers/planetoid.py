"""Planetoid's ``ind.<name>.*`` files, assembled: known nodes, test nodes in another order, and the graph."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt
from scipy import sparse

from ...backend import IntArray
from ...errors import FormatError
from .arrays import NodeArrays, as_features, checked_csr, reading
from .pickled import PickledArray, StoredCsr, load_pickle

__all__ = ["StoredCsr", "load_pickle", "read_planetoid"]

N_PUBLIC_VAL = 500


def _array(path: Path) -> npt.NDArray[Any]:
    stored: PickledArray = load_pickle(path, PickledArray)
    with reading(path):
        return stored.array()


def _matrix(path: Path) -> sparse.csr_array:
    stored = vars(load_pickle(path, StoredCsr))
    with reading(path):
        data, indices, indptr = (stored[part].array() for part in ("data", "indices", "indptr"))
        return checked_csr(data, indices.astype(np.int64), indptr.astype(np.int64), stored["_shape"])


def _one_hot(path: Path) -> npt.NDArray[Any]:
    rows = _array(path)
    if rows.ndim != 2:
        raise FormatError(f"{path}: labels of shape {rows.shape}, expected one 0/1 column a class")
    return rows


def _stack(first: sparse.csr_array, last: sparse.csr_array, rows: IntArray, n_nodes: int) -> sparse.coo_array:
    """Put ``first`` into rows 0.. and row i of ``last`` into row ``rows[i]``."""
    head, tail = first.tocoo(), last.tocoo()
    data = np.concatenate([head.data, tail.data])
    row, col = np.concatenate([head.row, rows[tail.row]]), np.concatenate([head.col, tail.col])
    return sparse.coo_array((data, (row, col)), shape=(n_nodes, first.shape[1]))


def _edges(path: Path) -> tuple[IntArray, int]:
    """Return the arcs of the pickled lists of neighbours, and how many nodes have one."""
    graph: Mapping[int, list[int]] = load_pickle(path, dict)
    with reading(path):
        counts = [len(ends) for ends in graph.values()]
        # A list that the pickle repeats by reference could be any number of ends.
        if sum(counts) > path.stat().st_size:
            raise FormatError(f"{sum(counts)} neighbours in {path.stat().st_size} bytes")
        sources = np.repeat(np.fromiter(graph, dtype=np.int64), counts)
        targets = np.fromiter((end for ends in graph.values() for end in ends), dtype=np.int64)
        return np.stack([sources, targets]), len(graph)


def _check_fit(test: IntArray, allx: Any, tx: Any, n_nodes: int) -> None:
    if len(test) != tx.shape[0] or test.min() != allx.shape[0] or test.max() >= n_nodes:
        raise FormatError(f"{len(test)} test nodes from {test.min()} do not fit allx, tx and graph")
    if allx.shape[1] != tx.shape[1]:
        raise FormatError(f"allx has {allx.shape[1]} features, tx {tx.shape[1]}")


def read_planetoid(files: Mapping[str, Path]) -> NodeArrays:
    """Return the assembled data set; nodes that ``tx`` lacks get no features and the label 0 of an empty row."""
    allx, tx = _matrix(files["allx"]), _matrix(files["tx"])
    y, ally, ty = (_one_hot(files[role]) for role in ("y", "ally", "ty"))
    edges, n_nodes = _edges(files["graph"])
    with reading(files["test.index"]):
        test = np.array(files["test.index"].read_text(encoding="ascii").split(), dtype=np.int64)
        _check_fit(test, allx, tx, n_nodes)
        x = as_features(_stack(allx, tx, test, n_nodes))
        one_hot = np.zeros((n_nodes, ally.shape[1]))
        one_hot[: len(ally)], one_hot[test] = ally, ty
        public = (np.arange(len(y)), np.arange(len(y), len(y) + N_PUBLIC_VAL), np.sort(test))
        labels, unlabelled = np.argmax(one_hot, axis=1), np.flatnonzero(one_hot.sum(axis=1) == 0)
        return NodeArrays(edges, x, labels, public=public, unlabelled=unlabelled)
