"""Numbers of a graph with labels or signals, that no operator enters: ours and formulas written out node by node."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import networkx as nx
import numpy as np

import gsp_fb as gf

from .truth import Truth

__all__ = ["GLOBAL"]


def _resistances(truth: Truth) -> Any:
    inverse = np.linalg.pinv(truth.laplacian("comb")[0], hermitian=True)
    return np.array([inverse[i, i] + inverse[j, j] - 2 * inverse[i, j] for i, j, _ in truth.pairs])


def _centred(truth: Truth) -> tuple[Any, float]:
    z = truth.x - truth.x.mean()
    return z, float(z @ z)


def _morans_i(truth: Truth) -> float:
    z, size = _centred(truth)
    total = sum(w for _, _, w in truth.pairs)
    return len(z) * sum(w * z[i] * z[j] for i, j, w in truth.pairs) / (total * size)


def _gearys_c(truth: Truth) -> float:
    z, size = _centred(truth)
    total = sum(w for _, _, w in truth.pairs)
    return (len(z) - 1) * sum(w * (z[i] - z[j]) ** 2 for i, j, w in truth.pairs) / (2 * total * size)


def _spatial_rows(truth: Truth) -> Any:
    """Statistic and expectation under permutation of Geary's C and Moran's I."""
    return [_gearys_c(truth), 1.0, _morans_i(truth), -1.0 / (len(truth.x) - 1)]


def _our_spatial_rows(truth: Truth) -> Any:
    tests = [gf.spatially_variable(truth.graph, truth.x[:, None], method=method) for method in ("geary", "moran")]
    return [float(test[name][0]) for test in tests for name in ("statistic", "expected")]


def _effective_rank(truth: Truth) -> float:
    values = np.linalg.svd(truth.table, compute_uv=False)
    share = values[values > 0] / values.sum()
    return math.exp(-float(np.sum(share * np.log(share))))


def _edge_homophily(truth: Truth) -> float:
    same = [truth.y[i] == truth.y[j] for i, j, _ in truth.pairs]
    return float(np.mean(same)) if same else math.nan


def _node_homophily(truth: Truth) -> float:
    shares = []
    for node in range(len(truth.y)):
        labels = [truth.y[j] for i, j, _ in truth.pairs if i == node]
        if labels:
            shares.append(np.mean([label == truth.y[node] for label in labels]))
    return float(np.mean(shares)) if shares else math.nan


def _class_homophily(truth: Truth) -> float:
    classes = sorted(set(truth.y.tolist()))
    total = 0.0
    for label in classes:
        same = [truth.y[j] == label for i, j, _ in truth.pairs if truth.y[i] == label]
        total += max(0.0, (float(np.mean(same)) if same else 0.0) - float(np.mean(truth.y == label)))
    return total / (len(classes) - 1)


def _edge_table(truth: Truth) -> Any:
    """Return the joint distribution of the labels at the two ends of a random edge."""
    table = np.zeros((3, 3)) if truth.pairs else np.full((3, 3), math.nan)
    for i, j, _ in truth.pairs:
        table[truth.y[i], truth.y[j]] += 1.0 / len(truth.pairs)
    return table


def _adjusted_homophily(truth: Truth) -> float:
    table = _edge_table(truth)
    chance = float(np.sum(table.sum(axis=1) ** 2))
    return (float(np.trace(table)) - chance) / (1.0 - chance)


def _label_informativeness(truth: Truth) -> float:
    table = _edge_table(truth)
    ends = table.sum(axis=1)
    joint = sum(p * math.log(p) for p in table.ravel() if p > 0)
    single = sum(p * math.log(p) for p in ends if p > 0)
    return 2.0 - joint / single


def _aggregation_similarity(truth: Truth) -> float:
    h = (np.eye(len(truth.x)) - truth.laplacian("renorm_sym")[0]) @ truth.table
    similar, right = h @ h.T, 0
    for node, label in enumerate(truth.y):
        own = truth.y == label
        right += similar[node, own].mean() >= similar[node, ~own].mean()
    return right / len(truth.y)


def _distances(rows: Any) -> float:
    return float(np.mean([[np.linalg.norm(a - b) for b in rows] for a in rows]))


def _row_normalized(truth: Truth) -> Any:
    return np.array([row / row.sum() if row.sum() else row for row in truth.table])


def _kron(truth: Truth) -> Any:
    high, keep = truth.laplacian("comb")[0], truth.known
    inner = high[~keep][:, ~keep]
    return high[keep][:, keep] - high[keep][:, ~keep] @ np.linalg.solve(inner, high[~keep][:, keep])


def _our_kron(truth: Truth) -> Any:
    a = gf.reduction.kron(truth.graph, truth.known).adjacency.toarray()
    a = a - np.diag(np.diag(a))
    return np.diag(a.sum(axis=1)) - a


RING = np.roll(np.eye(4), 1, axis=1) + np.roll(np.eye(4), -1, axis=1)


def _cartesian(truth: Truth) -> Any:
    return np.kron(truth.adjacency, np.eye(4)) + np.kron(np.eye(len(truth.x)), RING)


def _tensor(truth: Truth) -> Any:
    return np.kron(truth.adjacency, RING)


def _product(name: str) -> Callable[[Truth], Any]:
    return lambda t: getattr(gf, name)(t.graph, gf.datasets.ring(4)).adjacency.toarray()


def _line_degrees(truth: Truth) -> Any:
    simple = nx.Graph([(i, j) for i, j, _ in truth.pairs])
    return sorted(degree for _, degree in nx.line_graph(simple).degree())


def _our_line_degrees(truth: Truth) -> Any:
    a = (truth.adjacency > 0) & ~np.eye(len(truth.x), dtype=bool)
    line = gf.line_graph(gf.Graph.from_adjacency(a.astype(float)))
    return sorted((line.adjacency.toarray() > 0).sum(axis=1).tolist())


# Name to ours and the oracle's, of a truth.
GLOBAL: dict[str, tuple[Callable[[Truth], Any], Callable[[Truth], Any]]] = {
    "resistance": (lambda t: gf.resistance(t.graph, [(i, j) for i, j, _ in t.pairs]), _resistances),
    "morans_i": (lambda t: gf.morans_i(t.graph, t.x), _morans_i),
    "gearys_c": (lambda t: gf.gearys_c(t.graph, t.x), _gearys_c),
    "spatially_variable (statistics, expectations)": (_our_spatial_rows, _spatial_rows),
    "effective_rank": (lambda t: gf.effective_rank(t.table), _effective_rank),
    "edge_homophily": (lambda t: gf.edge_homophily(t.graph, t.y), _edge_homophily),
    "node_homophily": (lambda t: gf.node_homophily(t.graph, t.y), _node_homophily),
    "class_homophily": (lambda t: gf.class_homophily(t.graph, t.y), _class_homophily),
    "adjusted_homophily": (lambda t: gf.adjusted_homophily(t.graph, t.y), _adjusted_homophily),
    "label_informativeness": (lambda t: gf.label_informativeness(t.graph, t.y), _label_informativeness),
    "aggregation_similarity": (lambda t: gf.aggregation_similarity(t.graph, t.table, t.y), _aggregation_similarity),
    "row_diff": (lambda t: gf.row_diff(t.table), lambda t: _distances(t.table)),
    "col_diff": (
        lambda t: gf.col_diff(t.table),
        lambda t: _distances((t.table / np.abs(t.table).sum(axis=0)).T),
    ),
    "row_normalized": (lambda t: gf.row_normalized(t.table), _row_normalized),
    "one_hot": (lambda t: gf.one_hot(t.y, 3).toarray(), lambda t: np.eye(3)[t.y]),
    "kron (Laplacian)": (_our_kron, _kron),
    "cartesian_product": (_product("cartesian_product"), _cartesian),
    "tensor_product": (_product("tensor_product"), _tensor),
    "strong_product": (_product("strong_product"), lambda t: _cartesian(t) + _tensor(t)),
    "line_graph (degrees)": (_our_line_degrees, _line_degrees),
}
