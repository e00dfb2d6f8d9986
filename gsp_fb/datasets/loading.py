"""Load a data set from its npz file or from the original public files; both give the same arrays."""

from __future__ import annotations

import os
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from .._arguments import check_choice
from .._build import LOOP_RULES
from ..backend import IntArray
from ..errors import DownloadError, IntegrityError, ParameterError
from ..graph import Graph
from .dataset import Dataset, GraphCollection
from .fetch import data_dir as npz_dir
from .fetch import fetch, find_npz
from .readers import READERS, read_collection, read_node, read_relations, read_relations_text
from .readers.arrays import CollectionArrays, NodeArrays
from .registry import METHODS, DatasetInfo, info, names
from .splits import SPLIT_SEED, Split, random_splits, splits_from_masks, stored_splits

__all__ = ["Relations", "load", "relations"]

RELATIONS_SUFFIX = "_geom_relations"
# Above this share of non-zeros a dense float32 array is smaller than CSR with its int32 indices.
DENSE_FROM = 0.5

PathLike = str | os.PathLike[str] | None


@dataclass(frozen=True, eq=False, repr=False)
class Relations:
    """Pairs of nodes that are neighbours in the graph or in a latent space, with their geometric relation.

    Parameters
    ----------
    name, method : str
        Names of the node data set and of the embedding method of the latent space.
    pairs : int array, shape (2, n_pairs)
        First and second node of each pair.
    space : uint8 array, shape (n_pairs,)
        0 = neighbours in the graph, 1 = neighbours in the latent space.
    relation : uint8 array, shape (n_pairs,)
        Quadrant of the second node relative to the first, 0..3.

    See Also
    --------
    relations : Load them.

    References
    ----------
    .. [1] H. Pei et al., "Geom-GCN: Geometric graph convolutional networks", ICLR 2020.

    Examples
    --------
    >>> Relations("pair", "MDS", np.array([[0, 1], [1, 0]]), np.array([0, 1], np.uint8), np.array([2, 1], np.uint8))
    Relations('pair', 'MDS', 1 graph pairs, 1 latent pairs)
    """

    name: str
    method: str
    pairs: IntArray
    space: npt.NDArray[np.uint8]
    relation: npt.NDArray[np.uint8]

    def __repr__(self) -> str:
        n_latent = int(np.count_nonzero(self.space))
        n_graph = len(self.space) - n_latent
        return f"Relations({self.name!r}, {self.method!r}, {n_graph} graph pairs, {n_latent} latent pairs)"


def load(
    name: str, *, directed: bool = False, loops: str = "keep", made_up_labels: bool = False, data_dir: PathLike = None
) -> Any:
    """Load a real data set by name.

    ``<name>.npz`` is read if it exists in ``data_dir`` (default: ``GSP_FB_DATA_DIR``, else the cache). Otherwise the
    original public files are read from the cache (``GSP_FB_CACHE``, else the cache directory of the platform) and
    downloaded where they are missing. ``GSP_FB_OFFLINE=1`` forbids every connection.

    Parameters
    ----------
    name : str
        One of :func:`names`; :func:`info` describes it.
    directed : bool
        False: an undirected edge for each pair listed in either order. True: arcs as listed, repeats counted once,
        which is the convention behind the paper's S-values. Collections of graphs are undirected.
    loops : {'keep', 'drop'}
        Treatment of self-loops in the source.
    made_up_labels : bool
        CiteSeer has 15 nodes without a label. False: their class is -1 and the splits exclude them. True: their class
        is 0 and the splits include them, as in the public code.
    data_dir : path_like, optional
        Directory of the npz files.

    Returns
    -------
    Dataset or GraphCollection
        By the kind of the registry row: ``node`` or ``graphs``.

    Raises
    ------
    ParameterError
        The name is unknown, or is one of relations.
    IntegrityError
        The content of a file differs from the registry.
    DownloadError
        The set is not available locally and cannot be downloaded; the message names the file and its directory.

    See Also
    --------
    names : All names.
    info : Counts, licence and citation of a set.
    relations : Geom-GCN relations.

    Notes
    -----
    No file is read unchecked. npz files, and original files whose hash the registry records, must have that sha256. The
    hash of any other original is recorded beside it at the first download, over https, and must stay the same. The
    class counts of original files must be those of the registry.

    Examples
    --------
    >>> ds = load("texas")  # doctest: +SKIP
    >>> ds  # doctest: +SKIP
    Dataset('texas', 183 nodes, 295 edges, 1703 features, 5 classes, 10 splits)
    >>> ds.y[ds.splits[0].train].shape  # doctest: +SKIP
    (87,)
    >>> load("texsa")
    Traceback (most recent call last):
    ...
    gsp_fb.errors.ParameterError: unknown data set 'texsa'; choose one of cornell, ... (did you mean 'texas'?)
    """
    row = info(name)
    check_choice(loops, LOOP_RULES, "loops")
    if row.kind == "relations":
        raise ParameterError(f"{name} holds relations; call relations({name.removesuffix(RELATIONS_SUFFIX)!r}, method)")
    if row.kind == "graphs":
        if directed:
            raise ParameterError(f"{name} is a collection of undirected graphs; directed=True does not apply")
        return _collection(row, _arrays(row, data_dir, read_collection), loops)
    return _dataset(row, _arrays(row, data_dir, read_node), directed, loops, made_up_labels)


def relations(name: str, method: str, *, data_dir: PathLike = None) -> Relations:
    """Load the Geom-GCN relations of a node data set under one embedding method.

    Parameters
    ----------
    name : str
        A node data set of Geom-GCN, such as ``texas``.
    method : {'MDS', 'poincare', 'struc2vec'}
        Embedding of Geom-GCN-I, -P and -S. The public files have MDS where the paper has Isomap.
    data_dir : path_like, optional
        Directory of the npz files.

    Returns
    -------
    Relations
        Pairs of nodes with their space and relation.

    Raises
    ------
    ParameterError
        The data set has no relations, or the method is unknown.
    IntegrityError
        The content of a file differs from the registry.
    DownloadError
        The file is not available locally and cannot be downloaded.

    See Also
    --------
    load : Load the node data set.

    References
    ----------
    .. [1] H. Pei et al., "Geom-GCN: Geometric graph convolutional networks", ICLR 2020.

    Examples
    --------
    >>> relations("texas", "poincare")  # doctest: +SKIP
    Relations('texas', 'poincare', 558 graph pairs, 540 latent pairs)
    >>> relations("texas", "Poincare")
    Traceback (most recent call last):
    ...
    gsp_fb.errors.ParameterError: unknown method 'Poincare'; choose one of MDS, poincare, struc2vec (did you mean ...)
    """
    sets = [row.removesuffix(RELATIONS_SUFFIX) for row in names("relations")]
    row = info(check_choice(name, sets, "set with relations") + RELATIONS_SUFFIX)
    check_choice(method, METHODS, "method")
    npz = find_npz(row, data_dir)
    found = read_relations(npz, method) if npz else read_relations_text(_fetch_all(row, data_dir, (method,))[method])
    return Relations(name, method, found.pairs, found.space, found.relation)


def _arrays(row: DatasetInfo, directory: PathLike, read_npz: Any) -> Any:
    npz = find_npz(row, directory)
    if npz is not None:
        return read_npz(npz)
    arrays = READERS[row.layout](_fetch_all(row, directory), row)
    known = row.class_counts is not None
    found = tuple(np.unique(arrays.y, return_counts=True)[1].tolist()) if known else None
    if found != row.class_counts:
        raise IntegrityError(f"the files of {row.name} have class counts {found}, expected {row.class_counts}")
    return arrays


def _fetch_all(row: DatasetInfo, directory: PathLike, roles: tuple[str, ...] | None = None) -> dict[str, Any]:
    if not row.sources:
        raise DownloadError(f"{row.name} is not available: {' '.join(row.notes)}")
    hint = f"; {row.name} is not available offline: there is no npz file of it"
    if row.npz_sha256 is not None:
        hint = f"; or put {row.name}.npz (sha256 {row.npz_sha256}) into {npz_dir(directory)} or GSP_FB_DATA_DIR"
    return {file.role: fetch(file, hint=hint) for file in row.sources if roles is None or file.role in roles}


def _graph(edges: Any, n_nodes: int, directed: bool, loops: str) -> Graph:
    rules: dict[str, Any] = {"directed": directed, "symmetrize": None if directed else "max", "loops": loops}
    return Graph.from_edges(edges.T, n_nodes=n_nodes, duplicates="first", **rules)


def _dataset(row: DatasetInfo, arrays: NodeArrays, directed: bool, loops: str, made_up: bool) -> Dataset:
    n_nodes, n_features = arrays.x.shape
    y = arrays.y.copy()
    if arrays.unlabelled is not None and not made_up:
        y[arrays.unlabelled] = -1
    dense = arrays.x.nnz > DENSE_FROM * n_nodes * n_features
    graph, x = _graph(arrays.edges, n_nodes, directed, loops), arrays.x.toarray() if dense else arrays.x
    if arrays.masks is None:
        splits = stored_splits(row.name) or random_splits(y, rng=SPLIT_SEED)
    else:
        splits = splits_from_masks(arrays.masks, y >= 0 if y.ndim == 1 else np.ones(n_nodes, dtype=bool))
    public = None if arrays.public is None else Split(*arrays.public)
    return Dataset(row.name, graph, x, y, splits, row, public)


def _collection(row: DatasetInfo, arrays: CollectionArrays, loops: str) -> GraphCollection:
    classes, y = np.unique(arrays.y, return_inverse=True)
    tags, y = arrays.node_label, y.astype(np.int64)
    graph = _graph(arrays.edges, len(tags), False, loops)
    return GraphCollection(row.name, graph, arrays.graph_indptr, tags, y, classes, arrays.fold, row)
