"""Label homophily: the measures of the paper's related work, beside its S-value.

Self-loops do not count as neighbours and weights do not count at all: these are counts of edges. An edge with an
unlabelled end (a negative label) is left out. A directed graph counts its arcs from their tails, except where a measure
states otherwise. Labels are given for the local nodes; the values are those of the whole graph on every storage.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from .._arguments import check_device
from ..backend import IntArray, Signal, cast, group_sum, is_sparse, namespace, product, to_dense, transposed
from ..errors import SignalError
from ..graph import Graph
from ..operators import Operator, operator
from .signals import one_hot

__all__ = ["adjusted_homophily", "aggregation_similarity", "class_homophily", "edge_homophily"]
__all__ += ["label_informativeness", "node_homophily"]

NAN = float("nan")


def _labels(graph: Graph, y: Any) -> IntArray:
    labels = graph.check_labels(y)
    check_device(labels, graph.degrees)
    return labels


def _labelled_ends(graph: Graph, y: IntArray) -> Iterator[tuple[Any, Any, Any]]:
    """Yield row, own label and neighbour's label of the entries labelled at both ends, without loops, in blocks."""
    storage, first = graph.storage, graph.local_rows.start
    for entries in storage.entries("labels"):
        own, other = y[entries.rows], storage.take(y, entries.columns)
        keep = (own >= 0) & (other >= 0)
        if graph.n_loops:
            keep = keep & (entries.rows + first != entries.columns)
        yield entries.rows[keep], own[keep], other[keep]


def _count(groups: IntArray, n_groups: int, which: Any = None) -> Any:
    """Return how many members each group has, or how many of them are in ``which``."""
    xp = namespace(groups)
    weights = xp.ones_like(groups, dtype=xp.float64) if which is None else cast(which, xp.float64)
    return group_sum(groups, weights, n_groups)


def _counts(graph: Graph, y: IntArray) -> tuple[Any, Any]:
    """Return for each local node how many labelled neighbours it has, and how many of them have its own label."""
    # A file without edges has no blocks at all.
    count = same = _count(y[:0], y.shape[0])
    for rows, own, other in _labelled_ends(graph, y):
        count = count + _count(rows, y.shape[0])
        same = same + _count(rows, y.shape[0], own == other)
    return count, same


def _total(graph: Graph, values: Any) -> float:
    return float(graph.storage.reduce(float(namespace(values).sum(values)), "sum"))


def _class_sizes(graph: Graph, y: IntArray) -> Any:
    """Return how many nodes of the whole graph each label has, up to the largest label."""
    given, storage = y[y >= 0], graph.storage
    width = int(namespace(y).max(given)) + 1 if given.shape[0] else 0
    return storage.reduce(_count(given, int(storage.reduce(width, "max"))), "sum")


def _label_pairs(graph: Graph, y: IntArray) -> Any:
    """Return the share of edge ends for each pair of classes that occur, both directions of an edge counted."""
    present = _class_sizes(graph, y) > 0
    xp = namespace(present)
    width = int(xp.count_nonzero(present))
    if width == 0:
        return xp.reshape(cast(present, xp.float64), (0, 0))
    pairs = _count(y[:0], width * width)
    for _, own, other in _labelled_ends(graph, _class_numbers(present)[y]):
        pairs = pairs + _count(own * width + other, width * width)
    table = xp.reshape(graph.storage.reduce(pairs, "sum"), (width, width))
    both = table + table.T
    return both / max(float(xp.sum(both)), 1.0)


def _class_numbers(present: Any) -> Any:
    """Return new numbers of the classes, so that labels with gaps do not make a table large; -1 stays at the end."""
    xp = namespace(present)
    return xp.concat([xp.cumulative_sum(cast(present, xp.int64)) - 1, cast(present[:1], xp.int64) * 0 - 1])


def node_homophily(graph: Graph, y: Any) -> float:
    """Return the mean over nodes of the share of neighbours with the node's own label.

    ``1/|V'| sum_v |{u in N(v): y_u = y_v}| / |N(v)|`` over the nodes V' that have a labelled neighbour: an isolated
    node has no share, so it does not enter the mean. Without any such node the value is nan.

    Parameters
    ----------
    graph : Graph
    y : array_like of int, shape (n_nodes,)
        A negative label means unlabelled.

    Returns
    -------
    float

    See Also
    --------
    edge_homophily, class_homophily, adjusted_homophily

    References
    ----------
    .. [1] H. Pei et al., "Geom-GCN: Geometric Graph Convolutional Networks", ICLR 2020.

    Examples
    --------
    >>> node_homophily(Graph.from_edges([(0, 1), (1, 2)]), [0, 0, 1])
    0.5
    """
    count, same = _counts(graph, _labels(graph, y))
    met = count > 0
    n_met = _total(graph, cast(met, count.dtype))
    return _total(graph, same[met] / count[met]) / n_met if n_met else NAN


def edge_homophily(graph: Graph, y: Any) -> float:
    """Return the share of edges whose ends have the same label; nan without edges.

    Parameters
    ----------
    graph, y
        As in :func:`node_homophily`.

    Returns
    -------
    float

    See Also
    --------
    adjusted_homophily : The same, corrected for what class sizes alone give.

    References
    ----------
    .. [1] J. Zhu et al., "Beyond Homophily in Graph Neural Networks", NeurIPS 2020.

    Examples
    --------
    >>> edge_homophily(Graph.from_edges([(0, 1), (1, 2)]), [0, 0, 1])
    0.5
    """
    ends, same = (_total(graph, part) for part in _counts(graph, _labels(graph, y)))
    return same / ends if ends else NAN


def class_homophily(graph: Graph, y: Any) -> float:
    """Return the class-insensitive edge homophily: 0 for random labels, whatever their shares.

    ``1/(C-1) sum_k max(0, h_k - |C_k|/n)``, ``h_k`` the share of same-label ends among the edges of class k. Isolated
    nodes count in ``|C_k|/n`` only; a class without edges has ``h_k = 0``. With one class the value is nan.

    Parameters
    ----------
    graph, y
        As in :func:`node_homophily`.

    Returns
    -------
    float

    See Also
    --------
    adjusted_homophily : Corrected by degrees instead of class sizes; it may be negative.

    References
    ----------
    .. [1] D. Lim et al., "Large Scale Learning on Non-Homophilous Graphs", NeurIPS 2021.

    Examples
    --------
    >>> class_homophily(Graph.from_edges([(0, 1), (2, 3)]), [0, 0, 1, 1])
    1.0
    """
    y = _labels(graph, y)
    xp = namespace(y)
    sizes = _class_sizes(graph, y)
    n_classes = int(xp.count_nonzero(sizes))
    if n_classes < 2:
        return NAN
    labelled = y >= 0
    parts = (group_sum(y[labelled], part[labelled], sizes.shape[0]) for part in _counts(graph, y))
    ends, same = (graph.storage.reduce(part, "sum") for part in parts)
    excess = same / xp.maximum(ends, xp.ones_like(ends)) - sizes / xp.sum(sizes)
    return float(xp.sum(xp.maximum(excess, xp.zeros_like(excess)))) / (n_classes - 1)


def adjusted_homophily(graph: Graph, y: Any) -> float:
    r"""Return the edge homophily above what random ends of the same degrees give: 0 for unrelated labels, 1 at most.

    :math:`(h_{edge} - \sum_k D_k^2/(2|E|)^2) / (1 - \sum_k D_k^2/(2|E|)^2)`, :math:`D_k` the sum of degrees in class
    k: the assortativity coefficient of the labels, whatever the direction of arcs; nan without edges or with one class.

    Parameters
    ----------
    graph, y
        As in :func:`node_homophily`.

    Returns
    -------
    float

    See Also
    --------
    label_informativeness : How much information a neighbour's label holds, also where classes differ.

    References
    ----------
    .. [1] O. Platonov et al., "Characterizing Graph Datasets for Node Classification", NeurIPS 2023.

    Examples
    --------
    >>> adjusted_homophily(Graph.from_edges([(0, 1), (1, 2), (2, 3)]), [0, 0, 1, 1])
    0.3333333333333333
    """
    pairs = _label_pairs(graph, _labels(graph, y))
    xp = namespace(pairs)
    shares = xp.sum(pairs, axis=0)
    expected = float(xp.sum(shares * shares))
    same = float(xp.sum(xp.reshape(pairs, (-1,))[:: pairs.shape[0] + 1]))
    return (same - expected) / (1.0 - expected) if _several(shares) else NAN


def label_informativeness(graph: Graph, y: Any) -> float:
    r"""Return how much of the uncertainty of an end's label the label at the other end removes: 0 nothing, 1 all.

    :math:`I(y_\xi, y_\eta) / H(y_\xi)` for the two ends of a random edge, mutual information over entropy. The
    direction of arcs does not count. Without edges, or with one class, the value is nan.

    Parameters
    ----------
    graph, y
        As in :func:`node_homophily`.

    Returns
    -------
    float

    See Also
    --------
    adjusted_homophily : Whether the ends of an edge have the same label; from the same paper.

    Examples
    --------
    >>> label_informativeness(Graph.from_edges([(0, 1), (1, 2), (2, 3), (3, 0)]), [0, 1, 0, 1])
    1.0
    """
    pairs = _label_pairs(graph, _labels(graph, y))
    shares = namespace(pairs).sum(pairs, axis=0)
    return 2.0 - _entropy(pairs) / _entropy(shares) if _several(shares) else NAN


def _several(shares: Any) -> bool:
    """Return whether edges end in more than one class."""
    return int(namespace(shares).count_nonzero(shares)) > 1


def _entropy(shares: Any) -> float:
    xp = namespace(shares)
    given = xp.where(shares > 0, shares, xp.ones_like(shares))
    return -float(xp.sum(given * xp.log(given)))


def aggregation_similarity(graph: Graph, x: Any, y: Any, *, family: str = "renorm_sym", gamma: float = 1.0) -> float:
    """Return the share of nodes whose aggregated features resemble their own class most.

    With ``H = P X``, ``P`` the low channel of ``family``, node v counts if the mean of ``<H_v, H_u>`` over the nodes u
    of its own class is at least the mean over all others [1]_. Isolated nodes take part, unlabelled ones do not.

    Parameters
    ----------
    graph : Graph
        In memory.
    x : array_like or sparse, shape (n_nodes,) or (n_nodes, n_signals)
        Features.
    y : array_like of int, shape (n_nodes,)
        A negative label means unlabelled.
    family : str
        Operator family that aggregates, see :func:`operator`.
    gamma : float > 0
        Weight of the added loops.

    Returns
    -------
    float
        Between 0 and 1; 1 where every node is closest to its own class after aggregation.

    Raises
    ------
    SignalError
        The labels have fewer than two classes.

    See Also
    --------
    node_homophily, edge_homophily : Homophily of the labels alone, without features.
    label_informativeness : Information in the label of a neighbour about the label of a node.

    References
    ----------
    .. [1] S. Luan et al., "Revisiting heterophily for graph neural networks", NeurIPS 2022.

    Examples
    --------
    >>> g = Graph.from_edges([(0, 1), (2, 3)])
    >>> aggregation_similarity(g, [[1.0, 0], [1, 0], [0, 1], [0, 1]], [0, 0, 1, 1])
    1.0
    """
    graph.in_memory()
    y = _labels(graph, y)
    xp = namespace(y)
    present = _class_sizes(graph, y) > 0
    if int(xp.count_nonzero(present)) < 2:
        raise SignalError("aggregation_similarity compares a class with the others; the labels have fewer than two")
    classes = to_dense(one_hot(_class_numbers(present)[y]))
    scores = _class_scores(operator(graph, family, gamma=gamma), graph.check_signal(x), classes)
    labelled = xp.nonzero(y >= 0)[0]
    scores, member = (xp.take(array, labelled, axis=0) for array in (scores, classes))
    own = xp.sum(member * xp.sum(classes, axis=0), axis=1)
    similar = xp.sum(member * scores, axis=1)
    outside = (xp.sum(scores, axis=1) - similar) / (labelled.shape[0] - own)
    return int(xp.count_nonzero(similar / own >= outside)) / int(labelled.shape[0])


def _class_scores(low: Operator, x: Signal, classes: Any) -> Any:
    """Return ``<H_v, sum of H_u over a class>`` for each node v and class, with ``H = low @ x`` never formed."""
    x = x if x.ndim == 2 else x[:, None]
    sums = product(transposed(x) if is_sparse(x) else x.T, low.T @ classes)
    return low @ product(x, sums)
