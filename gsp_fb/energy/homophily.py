"""Label homophily and feature spread: the measures of the paper's related work, beside its S-value.

Self-loops do not count as neighbours and weights do not count at all: these are counts of edges. An edge with an
unlabelled end (a negative label) is left out. A directed graph counts its arcs from their tails.
"""

from __future__ import annotations

from typing import Any

from .._arguments import check_device, check_labels, check_signal
from ..backend import (
    IntArray,
    cast,
    distances,
    group_sum,
    namespace,
    product,
    to_dense,
    transposed,
)
from ..errors import SignalError
from ..graph import Graph
from ..operators import operator
from .signals import one_hot

__all__ = [
    "aggregation_similarity",
    "class_homophily",
    "col_diff",
    "edge_homophily",
    "node_homophily",
    "row_diff",
]

BLOCK_ROWS = 512


def _labels(graph: Graph, y: Any) -> IntArray:
    labels = check_labels(y, graph.n_nodes)
    check_device(labels, graph.indptr)
    return labels


def _labelled_ends(graph: Graph, y: IntArray) -> tuple[IntArray, IntArray]:
    """Return both ends of every stored entry that is no loop and is labelled at both ends."""
    rows = graph.rows
    keep = (rows != graph.indices) & (y[rows] >= 0) & (y[graph.indices] >= 0)
    return rows[keep], graph.indices[keep]


def _count(groups: IntArray, n_groups: int, which: Any = None) -> Any:
    """Return how many members each group has, or how many of them are in ``which``."""
    xp = namespace(groups)
    weights = xp.ones_like(groups, dtype=xp.float64) if which is None else cast(which, xp.float64)
    return group_sum(groups, weights, n_groups)


def node_homophily(graph: Graph, y: Any) -> float:
    """Return the mean over nodes of the share of neighbours with the node's own label (Pei et al. 2020).

    ``1/|V'| sum_v |{u in N(v): y_u = y_v}| / |N(v)|`` over the nodes V' that have a labelled neighbour: an isolated
    node has no share, so it does not enter the mean. Without any such node the value is nan.

    Examples
    --------
    >>> node_homophily(Graph.from_edges([(0, 1), (1, 2)]), [0, 0, 1])
    0.5
    """
    y = _labels(graph, y)
    tail, head = _labelled_ends(graph, y)
    if not tail.shape[0]:
        return float("nan")
    count = _count(tail, graph.n_nodes)
    same = _count(tail, graph.n_nodes, y[tail] == y[head])
    return float(namespace(y).mean(same[count > 0] / count[count > 0]))


def edge_homophily(graph: Graph, y: Any) -> float:
    """Return the share of edges whose ends have the same label (Zhu et al. 2020); nan without edges.

    Examples
    --------
    >>> edge_homophily(Graph.from_edges([(0, 1), (1, 2)]), [0, 0, 1])
    0.5
    """
    y = _labels(graph, y)
    tail, head = _labelled_ends(graph, y)
    same = int(namespace(y).count_nonzero(y[tail] == y[head]))
    return same / tail.shape[0] if tail.shape[0] else float("nan")


def class_homophily(graph: Graph, y: Any) -> float:
    """Return the class-insensitive edge homophily of Lim et al. (2021): 0 for random labels, whatever their shares.

    ``1/(C-1) sum_k max(0, h_k - |C_k|/n)``, ``h_k`` the share of same-label ends among the edges of class k. Isolated
    nodes count in ``|C_k|/n`` only; a class without edges has ``h_k = 0``. With one class the value is nan.

    Examples
    --------
    >>> class_homophily(Graph.from_edges([(0, 1), (2, 3)]), [0, 0, 1, 1])
    1.0
    """
    y = _labels(graph, y)
    xp = namespace(y)
    given = y[y >= 0]
    width = int(xp.max(given)) + 1 if given.shape[0] else 0
    share = _count(given, width) / max(1, given.shape[0])
    n_classes = int(xp.count_nonzero(share))
    if n_classes < 2:
        return float("nan")
    tail, head = _labelled_ends(graph, y)
    same, ends = _count(y[tail], width, y[tail] == y[head]), _count(y[tail], width)
    excess = same / xp.maximum(ends, 1.0) - share
    return float(xp.sum(xp.maximum(excess, 0.0))) / (n_classes - 1)


def row_diff(x: Any) -> float:
    """Return the mean distance between the rows of ``x`` over all pairs (Zhao & Akoglu 2020).

    ``1/n^2 sum_ij |x_i - x_j|_2``; the graph does not enter, so isolated nodes count like all others.

    Examples
    --------
    >>> row_diff([[0.0], [1.0]])
    0.5
    """
    return _mean_distance(check_signal(x, _rows(x)))


def col_diff(x: Any) -> float:
    """Return the mean distance between the columns of ``x``, each divided by its sum of absolutes.

    ``1/f^2 sum_ij | x_i / |x_i|_1 - x_j / |x_j|_1 |_2`` over columns; a zero column stays zero.

    Examples
    --------
    >>> col_diff([[1.0, 1.0], [1.0, 1.0]])
    0.0
    """
    x = check_signal(x, _rows(x))
    if x.ndim == 1:
        x = x[:, None]
    columns = to_dense(x)
    xp = namespace(columns)
    size = xp.sum(xp.abs(columns), axis=0)
    return _mean_distance((columns / xp.where(size > 0, size, 1.0)).T)


def aggregation_similarity(graph: Graph, x: Any, y: Any, *, family: str = "renorm_sym", gamma: float = 1.0) -> float:
    """Return the share of nodes whose aggregated features resemble their own class most (Luan et al. 2022).

    With ``H = A^ X``, node v counts if the mean of ``<H_v, H_u>`` over the nodes u of its own class is at least the
    mean over all others. Isolated nodes keep their own features and take part; unlabelled nodes do not.

    Examples
    --------
    >>> g = Graph.from_edges([(0, 1), (2, 3)])
    >>> aggregation_similarity(g, [[1.0, 0], [1, 0], [0, 1], [0, 1]], [0, 0, 1, 1])
    1.0
    """
    y = _labels(graph, y)
    xp = namespace(y)
    labelled = xp.nonzero(y >= 0)[0]
    y = y[labelled]
    if xp.unique_values(y).shape[0] < 2:
        raise SignalError("aggregation_similarity compares a class with the others; the labels have fewer than two")
    h = to_dense(operator(graph, family, gamma=gamma) @ x)
    h = xp.take(h if h.ndim == 2 else h[:, None], labelled, axis=0)
    sums = product(transposed(one_hot(y)), h)
    own = _count(y, sums.shape[0])[y]
    inside = xp.sum(h * xp.take(sums, y, axis=0), axis=1) / own
    outside = (h @ xp.sum(sums, axis=0) - inside * own) / (y.shape[0] - own)
    return int(xp.count_nonzero(inside >= outside)) / int(y.shape[0])


def _rows(x: Any) -> int:
    return int(x.shape[0]) if hasattr(x, "shape") and len(x.shape) else len(x)


def _mean_distance(x: Any) -> float:
    """Return the mean of all n^2 distances between rows, in blocks so that no n-by-n matrix is held."""
    n_rows = x.shape[0]
    if n_rows == 0:
        return 0.0
    rows = to_dense(x)
    rows = rows if rows.ndim == 2 else rows[:, None]
    spans = ((at, min(at + BLOCK_ROWS, n_rows)) for at in range(0, n_rows, BLOCK_ROWS))
    xp = namespace(rows)
    totals = (float(xp.sum(distances(rows[start:stop, :], rows))) for start, stop in spans)
    return sum(totals) / float(n_rows**2)
