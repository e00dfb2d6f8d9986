"""Types of loaded data: one graph with features, labels and splits; many small graphs; relations of nodes."""

from __future__ import annotations

import operator
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from .._document import facts_html
from ..backend import IntArray
from ..graph import Graph
from ..storage import MemoryStorage
from .registry import DatasetInfo
from .splits import Split

__all__ = ["Dataset", "GraphCollection", "Relations"]


def _plural(count: int, singular: str, plural: str = "") -> str:
    return f"{count} {singular if count == 1 else plural or singular + 's'}"


@dataclass(frozen=True, eq=False, repr=False)
class Dataset:
    """One graph whose nodes have features and a class.

    Parameters
    ----------
    name : str
        Name in the registry, or of the generator.
    graph : Graph
        The graph.
    x : csr_array or ndarray, shape (n_nodes, n_features)
        Features as in the source, float32 in real sets; sparse where at most half of the entries are non-zero.
    y : int64 array, shape (n_nodes,) or (n_nodes, n_labels)
        Class of each node, -1 where unlabelled. A multi-label set has one 0/1 column per label.
    splits : tuple of Split
        Training, validation and test nodes; labelled nodes only.
    info : DatasetInfo
        The registry row.
    public_split : Split, optional
        Planetoid's fixed split of Cora, CiteSeer and PubMed.

    See Also
    --------
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
    y: IntArray
    splits: tuple[Split, ...]
    info: DatasetInfo
    public_split: Split | None = None

    @property
    def n_classes(self) -> int:
        """Number of classes, or of labels in a multi-label set."""
        return int(self.y.max(initial=-1)) + 1 if self.y.ndim == 1 else int(self.y.shape[1])

    def __repr__(self) -> str:
        facts = [
            repr(self.name),
            _plural(self.graph.n_nodes, "node"),
            _plural(self.graph.n_edges, "arc" if self.graph.directed else "edge"),
            _plural(self.x.shape[1], "feature"),
            _plural(self.n_classes, "class", "classes"),
            _plural(len(self.splits), "split"),
        ]
        n_unlabelled = int(np.count_nonzero(self.y < 0))
        facts += [f"{n_unlabelled} unlabelled"] * bool(n_unlabelled)
        return f"Dataset({', '.join(facts)})"

    def _repr_html_(self) -> str:
        facts = {
            "nodes": self.graph.n_nodes,
            "arcs" if self.graph.directed else "edges": self.graph.n_edges,
            "features": int(self.x.shape[1]),
            "classes": self.n_classes,
            "splits": len(self.splits),
            "unlabelled": int(np.count_nonzero(self.y < 0)) or None,
            "licence": self.info.licence,
        }
        return facts_html(f"Dataset {self.name}", facts)


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
        empty = np.zeros(0, dtype=np.int64)
        return tuple(
            Split(np.flatnonzero(self.folds != k), empty, np.flatnonzero(self.folds == k))
            for k in range(int(self.folds.max(initial=-1)) + 1)
        )

    def __repr__(self) -> str:
        facts = [
            repr(self.name),
            _plural(len(self), "graph"),
            _plural(self.graph.n_nodes, "node"),
            _plural(self.graph.n_edges, "edge"),
            _plural(len(self.classes), "class", "classes"),
        ]
        return f"GraphCollection({', '.join(facts)})"


@dataclass(frozen=True, eq=False, repr=False)
class Relations:
    """Pairs of nodes that are neighbours in the graph or in a latent space, with their geometric relation.

    Parameters
    ----------
    name : str
        Name of the node data set.
    method : str
        Embedding method of the latent space.
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
    .. [1] H. Pei, B. Wei, K. C.-C. Chang, Y. Lei, B. Yang, "Geom-GCN: Geometric graph convolutional networks", ICLR
       2020.

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
