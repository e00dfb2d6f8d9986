"""The registry of data sets: one frozen row each, with counts, licence, citation, public addresses and hashes."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass
from importlib.resources import files
from types import MappingProxyType
from typing import Any

from .._arguments import check_choice

__all__ = ["ALIASES", "KINDS", "METHODS", "REGISTRY", "DatasetInfo", "SourceFile", "info", "names"]

KINDS = ("node", "graphs", "relations")
# Embeddings of Geom-GCN in the order of the paper's Geom-GCN-I, -P, -S.
METHODS = ("MDS", "poincare", "struc2vec")
ALIASES = {"film": "actor", "PPI": "ppi", "RDT-M5K": "REDDIT-MULTI-5K"}

_GEOM = "https://raw.githubusercontent.com/graphdml-uiuc-jlu/geom-gcn/{commit}/"
_DGCNN = "https://raw.githubusercontent.com/muhanzhang/pytorch_DGCNN/master/data/{source}/"
_GEOM_SPLITS = {f"split_{k}": _GEOM + f"splits/{{source}}_split_0.6_0.2_{k}.npz" for k in range(10)}
_GEOM_TEXT = {
    "edges": _GEOM + "new_data/{source}/out1_graph_edges.txt",
    "nodes": _GEOM + "new_data/{source}/out1_node_feature_label.txt",
    **_GEOM_SPLITS,
}
_PLANETOID = ("x", "tx", "allx", "y", "ty", "ally", "graph", "test.index")

# The public files of one data set, by role; {source} and {commit} come from its row.
LAYOUTS: dict[str, dict[str, str]] = {
    "geomgcn": _GEOM_TEXT,
    "geomgcn_film": _GEOM_TEXT,
    "planetoid": {role: _GEOM + f"data/ind.{{source}}.{role}" for role in _PLANETOID} | _GEOM_SPLITS,
    "gnn_benchmark": {"npz": "{source}"},
    "heterophilous": {"npz": "https://github.com/yandex-research/heterophilous-graphs/raw/main/data/{source}.npz"},
    "gin": {"text": _DGCNN + "{source}.txt"}
    | {f"fold_{k}": _DGCNN + f"10fold_idx/test_idx-{k + 1}.txt" for k in range(10)},
    "gin_zip": {"zip": "https://github.com/yeweiysh/IHGNN/raw/{commit}/data/{source}.zip"},
    "powerful_gnns": {"zip": "https://github.com/weihua916/powerful-gnns/raw/master/dataset.zip"},
    "relations": {m: _GEOM + f"structural_neighborhood/outf_nodes_space_relation_{{source}}_{m}.txt" for m in METHODS},
    "ppi": {"zip": "{source}"},
    "unpublished": {},
}


@dataclass(frozen=True)
class SourceFile:
    """One original file and its public address.

    Parameters
    ----------
    role, url : str
        Key of the file in the reader, and public address.
    sha256 : str, optional
        None if the file was not available for the registry: its hash is recorded at the first download, then checked.

    See Also
    --------
    DatasetInfo : The row that lists the files of a set.

    Examples
    --------
    >>> SourceFile("edges", "https://example.org/data/edges.txt").key
    'example.org/data/edges.txt'
    """

    role: str
    url: str
    sha256: str | None = None

    @property
    def key(self) -> str:
        """Path of the file inside the cache directory: its address without the scheme."""
        return self.url.partition("://")[2].replace(":", "_")


@dataclass(frozen=True)
class DatasetInfo:
    """One row of the registry.

    Parameters
    ----------
    name : str
        Key of the row.
    kind : {'node', 'graphs', 'relations', 'synthetic'}
        Type of the data.
    title : str
        Descriptive name.
    graphs, nodes, edges, features, classes : int or None
        Counts; ``edges`` are those listed in the source, repeats and self-loops included. For a collection ``features``
        counts the distinct node tags. None where the count is unknown.
    class_counts : tuple of int or None
        Measured size of each class, checked after reading the original files.
    licence, citation : str
        Terms and source to cite.
    layout, source : str
        Layout of the original files, and the name of the set in it.
    npz_sha256 : str or None
        Hash of ``<name>.npz``, the same arrays in one file; None if there is no such file.
    sources : tuple of SourceFile
        The original files.
    notes : tuple of str
        Peculiarities of the data.

    See Also
    --------
    info : Look up a row.

    Examples
    --------
    >>> row = info("texas")
    >>> row.kind, row.nodes, row.features, row.available_offline
    ('node', 183, 1703, True)
    """

    name: str
    kind: str
    title: str
    graphs: int | None
    nodes: int | None
    edges: int | None
    features: int | None
    classes: int | None
    class_counts: tuple[int, ...] | None
    licence: str
    citation: str
    layout: str
    source: str
    npz_sha256: str | None
    sources: tuple[SourceFile, ...]
    notes: tuple[str, ...]

    @property
    def available_offline(self) -> bool:
        """Whether the set is published as one npz file, which needs no download."""
        return self.npz_sha256 is not None


def _row(entry: dict[str, Any]) -> DatasetInfo:
    known, place = entry.pop("sha256"), {"source": entry["source"], "commit": entry.pop("commit")}
    urls = {role: url.format(**place) for role, url in LAYOUTS[entry["layout"]].items()}
    entry["sources"] = tuple(SourceFile(role, url, known.get(role)) for role, url in urls.items())
    counts = entry["class_counts"]
    return DatasetInfo(**{**entry, "notes": tuple(entry["notes"]), "class_counts": counts and tuple(counts)})


_ENTRIES = json.loads(files("gsp_fb").joinpath("data/datasets.json").read_text(encoding="utf-8"))
REGISTRY: Mapping[str, DatasetInfo] = MappingProxyType({entry["name"]: _row(entry) for entry in _ENTRIES})


def names(kind: str | None = None) -> tuple[str, ...]:
    """Return the names of the data sets.

    Parameters
    ----------
    kind : {'node', 'graphs', 'relations'}, optional
        Restrict to one kind.

    Returns
    -------
    tuple of str
        Names for :func:`load` and :func:`info`.

    Raises
    ------
    ParameterError
        The kind is unknown.

    See Also
    --------
    info : The row of one set.
    load : Load one set.

    Examples
    --------
    >>> names("node")[:4]
    ('cornell', 'cornell_fixed', 'wisconsin', 'texas')
    """
    if kind is None:
        return tuple(REGISTRY)
    check_choice(kind, KINDS, "kind of data set")
    return tuple(name for name, row in REGISTRY.items() if row.kind == kind)


def info(name: str) -> DatasetInfo:
    """Return the registry row of a data set.

    Parameters
    ----------
    name : str
        One of :func:`names`, or an alias (``film``, ``PPI``, ``RDT-M5K``).

    Returns
    -------
    DatasetInfo
        Counts, licence, citation and files.

    Raises
    ------
    ParameterError
        The name is unknown; the message contains the nearest one.

    See Also
    --------
    names : All names.
    load : Load the set.

    Examples
    --------
    >>> row = info("texas")
    >>> row.nodes, row.edges, row.classes
    (183, 325, 5)
    """
    return REGISTRY[check_choice(ALIASES.get(name, name), REGISTRY, "data set")]
