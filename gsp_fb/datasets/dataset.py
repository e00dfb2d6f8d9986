"""Types of loaded data: one graph with features, labels and splits, or many small graphs."""

from __future__ import annotations

import operator
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from .._arguments import host_array
from .._document import facts_html
from ..backend import IntArray
from ..convert import from_pyg
from ..errors import ParameterError, SignalError
from ..graph import Graph
from ..storage import MemoryStorage
from .registry import DatasetInfo
from .splits import SPLIT_SEED, Split, checked_splits, class_codes, is_absent, random_splits

__all__ = ["Dataset", "GraphCollection", "check_targets"]


def _described(data: Any, counts: dict[str, int]) -> str:
    """Return class, name and counts of a data set, as in ``Dataset('own', 2 nodes, 1 edge)``."""
    singular = {noun: noun.removesuffix("es" if noun == "classes" else "s") for noun in counts}
    facts = [f"{count} {singular[noun] if count == 1 else noun}" for noun, count in counts.items()]
    return f"{type(data).__name__}({', '.join([repr(data.name), *facts])})"


@dataclass(frozen=True, eq=False, repr=False)
class Dataset:
    """One graph whose nodes have features and a class.

    Parameters
    ----------
    name : str
        Name in the registry, or of the generator.
    graph : Graph
    x : csr_array or ndarray, shape (n_nodes, n_features)
        Features as in the source, float32 in real sets; sparse where at most half of the entries are non-zero.
    y : array, shape (n_nodes,) or (n_nodes, n_labels), or None
        Class of each node: int64, -1 where unlabelled, or text, None where unlabelled. A multi-label set has one 0/1
        column per label. Floats are numbers to predict. None: no labels are known.
    splits : tuple of Split
        Training, validation and test nodes; labelled nodes only.
    info : DatasetInfo
        The registry row; made from the arrays for a data set of your own.
    public_split : Split, optional
        Planetoid's fixed split of Cora, CiteSeer and PubMed.
    feature_names : tuple of str, optional
        Names of the columns of ``x``.

    See Also
    --------
    Dataset.from_arrays : A data set of your own.
    read : A data set from files.
    load : Load a real data set.
    contextual_sbm : Generate a synthetic one.
    GraphCollection : Many graphs with a class each.

    Examples
    --------
    >>> from gsp_fb.datasets import contextual_sbm
    >>> data = contextual_sbm(60, rng=0)
    >>> data
    Dataset('contextual_sbm', 60 nodes, 300 edges, 32 features, 2 classes, 10 splits)
    >>> data.x.shape, data.y[:4], data.splits[0]
    ((60, 32), array([0, 0, 0, 0]), Split(train=36, val=12, test=12))
    """

    name: str
    graph: Graph
    x: Any
    y: Any
    splits: tuple[Split, ...]
    info: DatasetInfo
    public_split: Split | None = None
    feature_names: tuple[str, ...] | None = None

    @classmethod
    def from_arrays(
        cls,
        graph: Graph,
        x: Any,
        y: Any = None,
        splits: Any = None,
        *,
        name: str = "arrays",
        n_splits: int = 10,
        rng: Any = SPLIT_SEED,
        feature_names: Sequence[str] | None = None,
    ) -> Dataset:
        """Return a data set of your own.

        Parameters
        ----------
        graph : Graph
        x : array_like, sparse or DataFrame, shape (n_nodes,) or (n_nodes, n_features)
            Features; the index of a DataFrame is aligned with the names of the nodes.
        y : array_like or Series, optional
            Integers or text are classes, negative numbers, empty text and None unlabelled; floats are numbers to
            predict. None: no labels.
        splits : Split, or sequence of splits or of (train, val, test), optional
            Masks or indices. By default ``n_splits`` stratified random ones, 60/20/20 %, drawn once, seeded by ``rng``.
        name, n_splits, rng : str, int, and int or Generator
        feature_names : sequence of str, optional
            By default the columns of a DataFrame.

        Returns
        -------
        Dataset

        Raises
        ------
        SignalError
            ``x`` or ``y`` does not fit the nodes.
        ParameterError
            A split has indices that are no integers, out of range or in two parts.

        Examples
        --------
        >>> ring = Graph.from_edges([(i, (i + 1) % 10) for i in range(10)])
        >>> Dataset.from_arrays(ring, np.eye(10), ["odd", "even"] * 5, n_splits=3)
        Dataset('arrays', 10 nodes, 10 edges, 10 features, 2 classes, 3 splits)
        """
        graph.in_one_process()
        names = feature_names if feature_names is not None else getattr(x, "columns", None)
        x = graph.check_signal(x)
        x = x if x.ndim == 2 else x.reshape(-1, 1)
        y = check_targets(graph, y)
        made = _drawn_splits(y, n_splits, rng) if splits is None else checked_splits(splits, graph.n_nodes)
        labels = None if names is None else tuple(map(str, names))
        return cls(name, graph, x, y, made, _info(name, graph, x, y), feature_names=labels)

    @classmethod
    def from_pyg(cls, data: Any, *, name: str = "pyg", **options: Any) -> Dataset:
        """Return the data set of a PyG ``Data`` object: its graph, ``x``, ``y`` and masks.

        Parameters
        ----------
        data : torch_geometric.data.Data
            ``train_mask``, ``val_mask`` and ``test_mask`` of shape (n_nodes,) or (n_nodes, n_splits) become the splits;
            without them they are drawn as in :meth:`from_arrays`. A column of ``y`` is flattened.
        name : str
        **options
            As for :func:`gsp_fb.from_pyg`.

        Returns
        -------
        Dataset

        Raises
        ------
        ParameterError
            The data has no features.

        Examples
        --------
        >>> from types import SimpleNamespace
        >>> data = SimpleNamespace(edge_index=[[0, 1], [1, 0]], num_nodes=2, x=[[1.0], [2.0]], y=[0, 1])
        >>> Dataset.from_pyg(data).n_classes
        2
        """
        if getattr(data, "x", None) is None:
            raise ParameterError("data has no x; give features, such as the degrees of the nodes")
        y = None if getattr(data, "y", None) is None else host_array(data.y, SignalError, "labels")
        masks = [getattr(data, f"{part}_mask", None) for part in ("train", "val", "test")]
        splits = None if any(mask is None for mask in masks) else _mask_splits(masks)
        flat = y[:, 0] if y is not None and y.ndim == 2 and y.shape[1] == 1 else y
        return cls.from_arrays(from_pyg(data, **options), data.x, flat, splits, name=name)

    @property
    def classes(self) -> tuple[Any, ...]:
        """The labels of the classes in order; empty without classes and for several labels a node."""
        if self.y is None or self.y.ndim != 1 or self.y.dtype.kind == "f":
            return ()
        return tuple(np.unique(_known(self.y)).tolist())

    @property
    def n_classes(self) -> int:
        """Number of classes that occur, or of labels in a multi-label set; 0 without labels and for numbers."""
        if self.y is None or self.y.dtype.kind == "f":
            return 0
        return len(self.classes) if self.y.ndim == 1 else int(self.y.shape[1])

    @property
    def _counts(self) -> dict[str, int]:
        n_unlabelled = self.graph.n_nodes if self.y is None else 0
        if self.y is not None and self.y.ndim == 1:
            is_number = self.y.dtype.kind == "f"
            n_unlabelled = int(np.isnan(self.y).sum()) if is_number else len(self.y) - len(_known(self.y))
        edges = "arcs" if self.graph.directed else "edges"
        counts = {"nodes": self.graph.n_nodes, edges: self.graph.n_edges, "features": int(self.x.shape[1])}
        counts |= {"classes": self.n_classes, "splits": len(self.splits)}
        return counts | ({"unlabelled": n_unlabelled} if n_unlabelled else {})

    def __repr__(self) -> str:
        return _described(self, self._counts)

    def _repr_html_(self) -> str:
        return facts_html(f"Dataset {self.name}", {**self._counts, "licence": self.info.licence})


def _known(y: Any) -> Any:
    """Return the labels of the labelled nodes."""
    known = y[class_codes(y) >= 0]
    return known.astype(str) if known.dtype.kind == "O" else known


def check_targets(graph: Graph, y: Any) -> Any:
    """Return targets in node order: int64, text or float64; None as it is."""
    if y is None:
        return None
    array = host_array(graph.nodes.align(y), SignalError, "labels")
    if array.ndim not in (1, 2) or len(array) != graph.n_nodes:
        raise SignalError(f"labels have shape {array.shape} but the graph has {graph.n_nodes} nodes")
    if array.dtype.kind in "biu":
        return array.astype(np.int64)
    if array.dtype.kind == "f":
        return array.astype(np.float64)
    odd = next((cell for cell in array.ravel().tolist() if not (isinstance(cell, str) or is_absent(cell))), None)
    if odd is not None or array.ndim == 2:
        raise SignalError(f"label {odd!r} is neither text nor a number; give all classes as text or as integers")
    return np.array([*(None if is_absent(cell) else cell for cell in array.tolist()), None], dtype=object)[:-1]


def _drawn_splits(y: Any, n_splits: int, rng: Any) -> tuple[Split, ...]:
    """Return random splits, stratified where the labels are classes."""
    if y is None:
        return ()
    if y.ndim == 2 or y.dtype.kind == "f":
        known = np.isfinite(y.reshape(len(y), -1)).all(axis=1)
        return random_splits(np.where(known, 0, -1), n_splits, rng)
    return random_splits(class_codes(y), n_splits, rng)


def _mask_splits(masks: list[Any]) -> list[tuple[Any, ...]]:
    arrays = [host_array(mask, SignalError, "mask") for mask in masks]
    n_splits = max(array.shape[1] if array.ndim == 2 else 1 for array in arrays)
    return [tuple(array[:, k] if array.ndim == 2 else array for array in arrays) for k in range(n_splits)]


def _info(name: str, graph: Graph, x: Any, y: Any) -> DatasetInfo:
    is_classes = y is not None and y.ndim == 1 and y.dtype.kind != "f"
    counts = tuple(np.unique(_known(y), return_counts=True)[1].tolist()) if is_classes else None
    sizes: dict[str, Any] = {"nodes": graph.n_nodes, "edges": graph.n_edges, "features": int(x.shape[1])}
    classes: dict[str, Any] = {"classes": None if counts is None else len(counts), "class_counts": counts}
    origin: dict[str, Any] = {"layout": "arrays", "source": name, "npz_sha256": None, "sources": (), "notes": ()}
    terms: dict[str, Any] = {"licence": "that of your data", "citation": ""}
    return DatasetInfo(name=name, kind="own", title=name, graphs=1, **sizes, **classes, **terms, **origin)


@dataclass(frozen=True, eq=False, repr=False)
class GraphCollection:
    """Many small graphs with one class each, stored as one block-diagonal graph.

    ``collection[i]`` is graph i, ``len(collection)`` the number of graphs, and iteration yields the graphs in order.

    Parameters
    ----------
    name : str
        Name in the registry.
    graph : Graph
        The disjoint union of the graphs; graph ``i`` has the nodes ``graph_indptr[i]:graph_indptr[i + 1]``.
    graph_indptr : int array, shape (n_graphs + 1,)
        First node of each graph, and the number of nodes.
    node_label : int64 array, shape (n_nodes,)
        Node tags of the source.
    y : int64 array, shape (n_graphs,)
        Class of each graph, 0..C-1.
    classes : int64 array, shape (C,)
        Labels of the source: ``classes[y]`` are the raw labels.
    folds : int64 array, shape (n_graphs,)
        Test fold of each graph in the source, 0..9; -1 for a graph in none.
    info : DatasetInfo
        The registry row.

    See Also
    --------
    load : Load a collection.
    Dataset : One graph whose nodes have a class.

    Examples
    --------
    >>> from gsp_fb.datasets import info
    >>> both = Graph.from_edges([(0, 1), (2, 3), (3, 4), (4, 2)])
    >>> starts, tags, y = np.array([0, 2, 5]), np.zeros(5, dtype=np.int64), np.array([0, 1])
    >>> made = GraphCollection("two", both, starts, tags, y, classes=y, folds=y, info=info("MUTAG"))
    >>> len(made), made[1]
    (2, Graph(n_nodes=3, n_edges=3, undirected, unweighted))
    """

    name: str
    graph: Graph
    graph_indptr: IntArray
    node_label: IntArray
    y: IntArray
    classes: IntArray
    folds: IntArray
    info: DatasetInfo

    def __len__(self) -> int:
        return len(self.y)

    def __getitem__(self, i: int) -> Graph:
        at = range(len(self))[operator.index(i)]
        first, last = int(self.graph_indptr[at]), int(self.graph_indptr[at + 1])
        rows = self.graph.indptr[first : last + 1]
        entries = slice(int(rows[0]), int(rows[-1]))
        weights = None if self.graph.weights is None else self.graph.weights[entries].copy()
        arrays = rows - rows[0], self.graph.indices[entries] - np.asarray(first, rows.dtype), weights
        return Graph(MemoryStorage(*arrays))

    def __iter__(self) -> Iterator[Graph]:
        return (self[i] for i in range(len(self)))

    @property
    def splits(self) -> tuple[Split, ...]:
        """One split per fold: its graphs are the test set, all others the training set; no validation set."""
        empty, folds = np.zeros(0, dtype=np.int64), range(int(self.folds.max(initial=-1)) + 1)
        return tuple(Split(np.flatnonzero(self.folds != k), empty, np.flatnonzero(self.folds == k)) for k in folds)

    def __repr__(self) -> str:
        counts = {"graphs": len(self), "nodes": self.graph.n_nodes, "edges": self.graph.n_edges}
        return _described(self, {**counts, "classes": len(self.classes)})
