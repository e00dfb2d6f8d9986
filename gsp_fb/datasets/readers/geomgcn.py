"""Geom-GCN's text files: edges, node features with labels, and relations."""

from __future__ import annotations

import re
from pathlib import Path

import numpy as np
from scipy import sparse

from ...backend import IntArray
from ...errors import FormatError
from .arrays import RelationArrays, as_features, checked_csr, reading, single

__all__ = ["read_edges", "read_index_nodes", "read_nodes", "read_relations_text"]

EDGES_HEADER = re.compile(r"node_id\tnode_id")
NODES_HEADER = re.compile(r"node_id\tfeature(\(.*\))?\tlabel")  # the film file adds the number of features
RELATIONS_HEADER = re.compile(r"node1,node2\tspace\trelation_type")
SPACES = {"graph": 0, "latent_space": 1}


def _rows(path: Path, header: re.Pattern[str], n_fields: int) -> list[list[str]]:
    """Return the tab-separated fields of every line after the header."""
    lines = path.read_text(encoding="utf-8").splitlines()
    if not lines:
        raise FormatError("the file is empty")
    if not header.fullmatch(lines[0].strip()):
        raise FormatError(f"line 1 is {lines[0][:60]!r}, expected {header.pattern}")
    rows = [line.rstrip().split("\t") for line in lines[1:]]
    wrong = next((k for k, row in enumerate(rows) if len(row) != n_fields), None)
    if wrong is not None:
        raise FormatError(f"line {wrong + 2} has {len(rows[wrong])} fields, expected {n_fields}")
    return rows


def _pairs(rows: list[list[str]]) -> IntArray:
    return np.ascontiguousarray(np.array(rows, dtype=np.int64).reshape(-1, 2).T)


def read_edges(path: Path) -> IntArray:
    """Return the (2, E) arcs of ``out1_graph_edges.txt`` in file order."""
    with reading(path):
        return _pairs(_rows(path, EDGES_HEADER, 2))


def _in_order(rows: list[list[str]]) -> tuple[list[str], IntArray]:
    """Return the feature texts and labels by node id; the ids must be a permutation of 0..n-1."""
    if not rows:
        raise FormatError("the file lists no nodes")
    ids = np.array([row[0] for row in rows], dtype=np.int64)
    order = np.argsort(ids)
    if not np.array_equal(ids[order], np.arange(len(ids))):
        raise FormatError(f"node ids are not 0..{len(ids) - 1}, each once")
    return [rows[k][1] for k in order], np.array([rows[k][2] for k in order], dtype=np.int64)


def read_nodes(path: Path) -> tuple[sparse.csr_array, IntArray]:
    """Return features and labels of ``out1_node_feature_label.txt``, which lists one number per column."""
    with reading(path):
        texts, y = _in_order(_rows(path, NODES_HEADER, 3))
        bare = next((node for node, text in enumerate(texts) if not text.strip()), None)
        if bare is not None:  # loadtxt skips an empty line, with a warning at most
            raise FormatError(f"node {bare} has no features")
        return as_features(single(np.loadtxt(texts, delimiter=",", ndmin=2, comments=None))), y


def read_index_nodes(path: Path, n_features: int) -> tuple[sparse.csr_array, IntArray]:
    """Return features and labels of the film file, which lists the columns that are 1; repeats count once."""
    with reading(path):
        texts, y = _in_order(_rows(path, NODES_HEADER, 3))
        lists = [np.unique(np.array(text.split(","), dtype=np.int64)) for text in texts]
        indptr = np.cumsum([0] + [len(row) for row in lists])
        columns = np.concatenate(lists)
        return as_features(checked_csr(np.ones(len(columns)), columns, indptr, (len(lists), n_features))), y


def read_relations_text(path: Path) -> RelationArrays:
    """Return the relations of ``outf_nodes_space_relation_<name>_<method>.txt`` in file order."""
    with reading(path):
        rows = _rows(path, RELATIONS_HEADER, 3)
        space = np.array([SPACES[row[1]] for row in rows], dtype=np.uint8)
        relation = np.array([row[2] for row in rows], dtype=np.uint8)
        return RelationArrays(_pairs([row[0].split(",") for row in rows]), space, relation)
