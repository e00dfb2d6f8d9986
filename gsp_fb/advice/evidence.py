"""Measures of the low and high channels from training information; labels of other nodes are never read."""

from __future__ import annotations

import contextlib
import math
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np

from .._arguments import check_labels, check_rng
from ..backend import FloatArray, IntArray, Signal, is_sparse
from ..eigengap import eigengap
from ..energy import (
    adjusted_homophily,
    class_homophily,
    edge_homophily,
    expected_s_value,
    label_informativeness,
    one_hot,
    row_normalized,
    s_value,
    s_value_significance,
)
from ..errors import GspError, ParameterError
from ..graph import Graph
from ..operators import operator
from .probe import CHANNELS, centred_gram, channel_grams, loo_hits

__all__ = ["CANDIDATES", "Evidence", "gather", "train_rows"]

# The two filters that the paper compares; the first is that of the baseline.
CANDIDATES = ("renorm_sym", "lazy_rw")
# Maximal size of the matrix that the probe decomposes; of more training nodes a sample is drawn.
PROBE_NODES = 2_000
SURROGATES = 199


@dataclass(frozen=True)
class Evidence:
    """Measures of one graph from its features and training labels.

    Parameters
    ----------
    n_train : int
        Number of labelled training nodes.
    mean_degree : float
    edge_homophily, class_homophily, adjusted_homophily, label_informativeness : float
        Over the edges between training nodes; the last two are nan where these join nodes of one class alone.
    s_labels, s_features, expected_labels, expected_features : mapping of family to float
        S-values and their expectations under random permutation; those of labels on the subgraph of the training nodes,
        those of features empty without features.
    p_smooth, p_rough : float
        Permutation p-values: share of random permutations of the training labels with an S-value as small, or as large.
    eigengap : mapping of family to float
        ``lambda_2 / lambda_1``; a family whose solver does not converge is omitted.
    readout : mapping of family to {'low', 'both'} to float
        Leave-one-out accuracy of a linear probe on the training nodes.
    z : mapping of family to float
        McNemar's statistic of both channels against the low one, on the same nodes.
    feature_readout : float
        Accuracy of the probe on the features alone, without the graph; nan without features.

    See Also
    --------
    gather : Computes it.

    References
    ----------
    .. [1] D. Lim et al., "Large scale learning on non-homophilous graphs: New benchmarks and strong simple methods",
       NeurIPS 2021 (class homophily).
    .. [2] Q. McNemar, "Note on the sampling error of the difference between correlated proportions or percentages",
       Psychometrika 12(2), 1947.

    Examples
    --------
    >>> from gsp_fb.datasets import contextual_sbm
    >>> data = contextual_sbm(300, homophily=0.1, degree=8, rng=0)
    >>> evidence = gather(data.graph, data.x, data.y, range(0, 300, 2))
    >>> evidence.n_train, round(evidence.edge_homophily, 2)
    (150, 0.09)
    """

    n_train: int
    mean_degree: float
    edge_homophily: float
    class_homophily: float
    adjusted_homophily: float
    label_informativeness: float
    s_labels: Mapping[str, float]
    s_features: Mapping[str, float]
    expected_labels: Mapping[str, float]
    expected_features: Mapping[str, float]
    p_smooth: float
    p_rough: float
    eigengap: Mapping[str, float]
    readout: Mapping[str, Mapping[str, float]]
    z: Mapping[str, float]
    feature_readout: float

    @property
    def measures(self) -> dict[str, float]:
        """What an advisor may read, by name; without features those of labels and degrees alone."""
        base = CANDIDATES[0]
        found = {
            "edge homophily": self.edge_homophily,
            "adjusted homophily": self.adjusted_homophily,
            "label informativeness": self.label_informativeness,
            "label S-value": self.s_labels[base],
            "log degree": math.log1p(self.mean_degree),
        }
        if self.readout:
            low, both, plain = self.readout[base]["low"], self.readout[base]["both"], self.feature_readout
            found |= {"probe of low": low, "probe of both": both, "probe of features": plain}
            found |= {"both over low": both - low, "low over features": low - plain, "both over features": both - plain}
            found["feature S-value"] = self.s_features[base]
        return found


def train_rows(train_mask: Any, n_nodes: int) -> IntArray:
    """Return the sorted training nodes of a boolean mask or an index array."""
    given = np.asarray(train_mask)
    if given.dtype == bool and given.shape != (n_nodes,):
        raise ParameterError(f"train_mask has shape {given.shape} but the graph has {n_nodes} nodes")
    rows = np.flatnonzero(given) if given.dtype == bool else np.unique(given.astype(np.int64))
    if rows.size < 2 or rows[0] < 0 or rows[-1] >= n_nodes:
        raise ParameterError(f"training nodes must be at least 2 of 0..{n_nodes - 1}; got {rows.size}")
    return rows


def gather(graph: Graph, x: Any, y: Any, train_mask: Any, *, rng: Any = 0) -> Evidence:
    """Compute the evidence from training information; labels outside ``train_mask`` are not read.

    Parameters
    ----------
    graph : Graph
    x, y, train_mask, rng
        As of :func:`gsp_fb.advise`; nodes with a negative label are ignored.

    Returns
    -------
    Evidence
        Measures of labels and features, and the accuracy of the probe.

    Raises
    ------
    ParameterError
        There are fewer than two training nodes, or no two of them are adjacent.
    SignalError
        ``x`` or ``y`` does not have one row per node.

    See Also
    --------
    gsp_fb.advise : The recommendation that follows from it.

    Examples
    --------
    >>> from gsp_fb.datasets import contextual_sbm
    >>> data = contextual_sbm(300, homophily=0.1, degree=8, rng=0)
    >>> found = gather(data.graph, data.x, data.y, range(0, 300, 2))
    >>> found.edge_homophily < 0.2, found.readout["lazy_rw"]["both"] > found.readout["lazy_rw"]["low"]
    (True, True)
    """
    graph.in_memory()
    rng = check_rng(rng)
    rows = train_rows(train_mask, graph.n_nodes)
    hidden = np.full(graph.n_nodes, -1, dtype=np.int64)
    hidden[rows] = check_labels(y, graph.n_nodes)[rows]
    rows = rows[hidden[rows] >= 0]
    part, labels = _training_part(graph, hidden, rows)
    high = {family: operator(part, family, channel="high") for family in CANDIDATES}
    test = s_value_significance(high[CANDIDATES[0]], labels, n_surrogates=SURROGATES, rng=rng)
    readout, z, plain = _probes(graph, x, hidden, rows, rng)
    return Evidence(
        n_train=len(rows),
        mean_degree=float(graph.degrees.mean()),
        edge_homophily=edge_homophily(graph, hidden),
        class_homophily=class_homophily(graph, hidden),
        adjusted_homophily=adjusted_homophily(graph, hidden),
        label_informativeness=label_informativeness(graph, hidden),
        s_labels={family: float(s_value(op, labels)) for family, op in high.items()},
        s_features=_of_features(graph, x, s_value),
        expected_labels={family: float(expected_s_value(op, labels)) for family, op in high.items()},
        expected_features=_of_features(graph, x, expected_s_value),
        p_smooth=test.p_smooth,
        p_rough=test.p_rough,
        eigengap=_gaps(graph),
        readout=readout,
        z=z,
        feature_readout=plain,
    )


def _training_part(graph: Graph, y: IntArray, rows: IntArray) -> tuple[Graph, Signal]:
    """Return the subgraph of the training nodes with a training neighbour, and their one-hot labels."""
    A = graph.adjacency[rows][:, rows]
    linked = np.flatnonzero(np.diff(A.tocsr().indptr))
    if linked.size < 2:
        raise ParameterError(f"none of the {len(rows)} training nodes is adjacent to another; label more nodes")
    return Graph.from_adjacency(A[linked][:, linked], directed=graph.directed), one_hot(y[rows[linked]])


def _of_features(graph: Graph, x: Any, measure: Callable[..., Any]) -> dict[str, float]:
    if x is None:
        return {}
    z = graph.check_signal(x)
    z = row_normalized(z) if z.ndim == 2 and (is_sparse(z) or z.min() >= 0) else z
    return {family: float(measure(operator(graph, family, channel="high"), z)) for family in CANDIDATES}


def _gaps(graph: Graph) -> dict[str, float]:
    found = {}
    for family in CANDIDATES if not graph.directed else ():
        with contextlib.suppress(GspError):
            found[family] = eigengap(operator(graph, family)).ratio
    return found


def _probes(
    graph: Graph, x: Any, y: IntArray, rows: IntArray, rng: np.random.Generator
) -> tuple[dict[str, dict[str, float]], dict[str, float], float]:
    """Return the probe's accuracy by family and channels, McNemar's statistic of both to low, and that of no graph."""
    if x is None:
        return {}, {}, math.nan
    z = graph.check_signal(x)
    z = z[:, None] if z.ndim == 1 else z
    if len(rows) > PROBE_NODES:
        rows = np.sort(rng.choice(rows, PROBE_NODES, replace=False))
    labels: FloatArray = one_hot(y[rows]).toarray()
    readout, statistic = {}, {}
    for family in CANDIDATES:
        grams = channel_grams(operator(graph, family), z, rows)
        hits = {name: loo_hits([grams[steps] for steps in chosen], labels) for name, chosen in CHANNELS.items()}
        readout[family] = {name: float(found.mean()) for name, found in hits.items()}
        statistic[family] = _mcnemar(hits["both"], hits["low"])
    return readout, statistic, float(loo_hits([centred_gram(z[rows])], labels).mean())


def _mcnemar(first: IntArray, second: IntArray) -> float:
    gained, lost = int(np.sum(first > second)), int(np.sum(first < second))
    return (gained - lost) / math.sqrt(gained + lost) if gained + lost else 0.0
