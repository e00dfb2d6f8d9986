"""Graph collections as GIN's text, and data sets in zip archives, of which nothing is unpacked to disk."""

from __future__ import annotations

import json
import zipfile
from array import array
from collections.abc import Iterable, Iterator
from io import BytesIO
from pathlib import Path
from typing import Any

import numpy as np
from scipy import sparse

from ...backend import IntArray
from ...errors import FormatError
from ...files._limits import Limits, open_zip, read_member, read_npy
from .arrays import CollectionArrays, NodeArrays, as_features, opened, single

__all__ = ["parse_gin", "read_gin_zip", "read_ppi"]

PPI_PARTS = ("train", "valid", "test")


class _Growing:
    """Flat arrays that grow line by line; machine integers, because a collection may list 25 million neighbours."""

    def __init__(self) -> None:
        self.sizes, self.labels, self.tags, self.degrees, self.ends = (array("q") for _ in range(5))

    def add_graph(self, header: list[str], lines: Iterator[str]) -> None:
        n_nodes, label = (int(word) for word in header)
        first = len(self.tags)
        for _ in range(n_nodes):
            self._add_node(next(lines).split(), first, n_nodes)
        self.sizes.append(n_nodes)
        self.labels.append(label)

    def _add_node(self, words: list[str], first: int, n_nodes: int) -> None:
        degree = int(words[1])
        ends = [int(word) for word in words[2 : 2 + degree]]
        if len(ends) != degree or (ends and not 0 <= min(ends) <= max(ends) < n_nodes):
            what = f"node {len(self.tags) - first} of graph {len(self.sizes)}: neighbours {ends[:5]}... do not fit"
            raise FormatError(f"{what} degree {degree} in a graph of {n_nodes} nodes")
        self.tags.append(int(words[0]))
        self.degrees.append(degree)
        self.ends.extend(end + first for end in ends)


def parse_gin(lines: Iterable[str], folds: Iterable[Iterable[str]]) -> CollectionArrays:
    """Return the graphs in the ``lines`` of a GIN text; node attributes after the neighbours are ignored.

    The lines are the number of graphs, then for each graph ``n label`` and n times ``tag degree neighbours...``; those
    of ``folds``, the ten ``test_idx-*.txt``, are the numbers of the graphs in each test fold.
    """
    rest, grown = iter(lines), _Growing()
    try:
        n_graphs = int(next(rest))
        for _ in range(n_graphs):
            grown.add_graph(next(rest).split(), rest)
    except StopIteration:
        raise FormatError(f"the file ends inside graph {len(grown.sizes)}") from None
    parts = (grown.sizes, grown.labels, grown.tags, grown.degrees, grown.ends)
    sizes, labels, tags, degrees, ends = (np.array(part, dtype=np.int64) for part in parts)
    edges = np.stack([np.repeat(np.arange(len(tags)), degrees), ends])
    return CollectionArrays(np.concatenate([[0], np.cumsum(sizes)]), edges, tags, labels, _fold_of(folds, n_graphs))


def _fold_of(folds: Iterable[Iterable[str]], n_graphs: int) -> IntArray:
    fold = np.full(n_graphs, -1, dtype=np.int64)
    for k, lines in enumerate(folds):
        members = np.array([line for line in map(str.strip, lines) if line], dtype=np.int64)
        if members.size and not 0 <= members.min() <= members.max() < n_graphs:
            raise FormatError(f"fold {k} lists graph {members.max()} of {n_graphs}")
        fold[members] = k
    return fold


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
    with opened(path, open_zip) as archive:
        folds = (_lines(archive, f"{name}/10fold_idx/test_idx-{k}.txt") for k in range(1, 11))
        return parse_gin(_lines(archive, f"{name}/{name}.txt"), folds)


def _array(archive: zipfile.ZipFile, ending: str) -> Any:
    content = _member(archive, ending)
    return read_npy(BytesIO(content), len(content), ending, ndim=2, kinds="biuf")


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
    with opened(path, open_zip) as archive:
        features = [_array(archive, f"{part}_feats.npy") for part in PPI_PARTS]
        labels = [np.asarray(_array(archive, f"{part}_labels.npy"), dtype=np.int64) for part in PPI_PARTS]
        starts = np.cumsum([0] + [len(rows) for rows in features])
        parts = zip(PPI_PARTS, starts[:-1].tolist(), features, strict=True)
        edges = [_links(archive, part, start, len(rows)) for part, start, rows in parts]
        part_of = np.repeat(np.arange(3), np.diff(starts))
        masks = np.stack([part_of == k for k in range(3)])[:, None, :]
        x = as_features(sparse.csr_array(single(np.concatenate(features))))
        return NodeArrays(np.concatenate(edges, axis=1), x, np.concatenate(labels), masks)
