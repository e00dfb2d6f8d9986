"""Data sets in zip archives: members are read in memory, by name, within limits; nothing is unpacked to disk."""

from __future__ import annotations

import json
import zipfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import numpy as np
from scipy import sparse

from ...backend import IntArray
from ...errors import FormatError
from ...files._limits import Limits
from ...files._npy import read_npy
from ...files._zip import open_zip, read_member
from .arrays import CollectionArrays, NodeArrays, as_features, reading, single
from .gin import parse_gin

__all__ = ["read_gin_zip", "read_ppi"]

PPI_PARTS = ("train", "valid", "test")


@contextmanager
def _archive(path: Path) -> Iterator[zipfile.ZipFile]:
    with reading(path), open(path, "rb") as file:
        yield open_zip(file, Limits())


def _member(archive: zipfile.ZipFile, ending: str) -> bytes:
    """Return the only member whose path ends with ``ending``, in any folder of the archive."""
    found = [entry for entry in archive.infolist() if f"/{entry.filename}".endswith(f"/{ending}")]
    if len(found) != 1:
        raise FormatError(f"{len(found)} members named {ending}; exactly one is required")
    Limits().check_bytes(found[0].file_size, found[0].compress_size)
    return read_member(archive, found[0])


def _lines(archive: zipfile.ZipFile, ending: str) -> list[str]:
    return _member(archive, ending).decode("utf-8").splitlines()


def read_gin_zip(path: Path, name: str) -> CollectionArrays:
    """Return the graphs of ``<name>/<name>.txt`` and ``<name>/10fold_idx/`` in a zip."""
    with _archive(path) as archive:
        folds = (_lines(archive, f"{name}/10fold_idx/test_idx-{k}.txt") for k in range(1, 11))
        return parse_gin(_lines(archive, f"{name}/{name}.txt"), folds)


def _array(archive: zipfile.ZipFile, ending: str) -> Any:
    return read_npy(_member(archive, ending), ending, ndim=2, kinds="biuf")


def _links(archive: zipfile.ZipFile, part: str, first: int, n_nodes: int) -> IntArray:
    links = json.loads(_member(archive, f"{part}_graph.json"))["links"]
    ends = [link[end] for link in links for end in ("source", "target")]
    if not all(type(end) is int and 0 <= end < n_nodes for end in ends):
        raise FormatError(f"a link of {part} refers to a node outside the {n_nodes} that have features")
    return np.array(ends, dtype=np.int64).reshape(-1, 2).T + first


def read_ppi(path: Path) -> NodeArrays:
    """Return GraphSAGE's protein interactions: the graphs of three parts as one disjoint union, with one split.

    ``<part>_graph.json`` has node-link edges, ``<part>_feats.npy`` and ``<part>_labels.npy`` one row per node, for the
    parts train, valid and test.
    """
    with _archive(path) as archive:
        features = [_array(archive, f"{part}_feats.npy") for part in PPI_PARTS]
        labels = [np.asarray(_array(archive, f"{part}_labels.npy"), dtype=np.int64) for part in PPI_PARTS]
        starts = np.cumsum([0] + [len(rows) for rows in features])
        edges = [
            _links(archive, part, int(start), len(rows))
            for part, start, rows in zip(PPI_PARTS, starts[:-1], features, strict=True)
        ]
        part_of = np.repeat(np.arange(3), np.diff(starts))
        masks = np.stack([part_of == k for k in range(3)])[:, None, :]
        x = as_features(sparse.csr_array(single(np.concatenate(features))))
        return NodeArrays(np.concatenate(edges, axis=1), x, np.concatenate(labels), masks)
