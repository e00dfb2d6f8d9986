"""Stochastic block models with a given homophily: graphs alone, or with features, classes and splits."""

from __future__ import annotations

import math
from dataclasses import replace
from numbers import Real
from typing import Any

import numpy as np

from .._arguments import check_count, check_positive, check_rng
from ..backend import IntArray
from ..errors import ParameterError
from ..graph import Graph
from .dataset import Dataset

__all__ = ["check_share", "community", "contextual_sbm", "distinct_pairs"]


def community(n: int, n_communities: int = 4, rng: Any = None, *, degree: float = 6.0, homophily: float = 0.9) -> Graph:
    """Return a graph of communities of equal size, a planted partition.

    A share ``homophily`` of the edges, in expectation, lies within communities, by which nodes are numbered.

    Parameters
    ----------
    n, n_communities : int
        Number of nodes, and of communities, which are equal in size up to one node.
    rng : None, int or Generator
        Source of randomness.
    degree, homophily
        As in :func:`contextual_sbm`, with communities for classes.

    Returns
    -------
    Graph
        With ``round(n * degree / 2)`` edges.

    Raises
    ------
    ParameterError
        A parameter is out of range, or more edges are requested than pairs of nodes exist.

    See Also
    --------
    contextual_sbm : With features, classes and splits.
    erdos_renyi : Without communities.

    References
    ----------
    .. [1] P. W. Holland, K. B. Laskey, S. Leinhardt, "Stochastic blockmodels: First steps", Social Networks 5(2), 1983.

    Examples
    --------
    >>> community(100, 4, rng=0).n_edges
    300
    """
    return _block_graph(_block_labels(n, n_communities), degree, homophily, check_rng(rng))


def contextual_sbm(
    n_nodes: int,
    n_classes: int = 2,
    *,
    degree: float = 10.0,
    homophily: float = 0.8,
    n_features: int = 32,
    signal: float = 1.0,
    n_splits: int = 10,
    rng: Any = None,
) -> Dataset:
    """Return a contextual stochastic block model: classes determine both the edges and the features.

    M = round(n_nodes * degree / 2) distinct edges are drawn; each lies within a class with probability h, so that the
    expected edge homophily is exactly h. Node i of class c has x_i = signal * mu_c + z_i, where mu_c and z_i are
    Gaussian with expected squared norm 1: ``signal`` is the ratio of class signal to noise.

    Parameters
    ----------
    n_nodes, n_classes : int
        Classes have equal size, up to one node; nodes are numbered class by class.
    degree : float > 0
        Mean degree.
    homophily : float
        h in [0, 1].
    n_features : int
    signal : float >= 0
        At 0 the features are independent of the class.
    n_splits : int
        Number of 60/20/20 splits.
    rng : None, int or Generator
        Source of randomness.

    Returns
    -------
    Dataset
        Graph, features, classes and splits.

    Raises
    ------
    ParameterError
        A parameter is out of range, or more edges are requested than pairs of nodes exist.

    See Also
    --------
    community : The graph alone.
    random_splits : The splits.

    References
    ----------
    .. [1] Y. Deshpande, S. Sen, A. Montanari, E. Mossel, "Contextual stochastic block models", NeurIPS 2018.

    Examples
    --------
    >>> ds = contextual_sbm(200, 4, homophily=0.2, rng=0)
    >>> ds
    Dataset('contextual_sbm', 200 nodes, 1000 edges, 32 features, 4 classes, 10 splits)
    """
    rng, n_features = check_rng(rng), check_count(n_features, "n_features")
    signal = _check_at_least_zero(signal, "signal")
    y = _block_labels(n_nodes, n_classes)
    graph = _block_graph(y, degree, homophily, rng)
    means = rng.normal(size=(n_classes, n_features))
    x = (signal * means[y] + rng.normal(size=(n_nodes, n_features))) / np.sqrt(n_features)
    title = f"contextual SBM, degree {degree:g}, homophily {homophily:g}, signal {signal:g}"
    made = Dataset.from_arrays(graph, x, y, name="contextual_sbm", n_splits=n_splits, rng=rng)
    facts: dict[str, Any] = {"licence": "none needed", "layout": "generated", "source": "gsp_fb", "title": title}
    citation = "Deshpande et al., Contextual Stochastic Block Models, NeurIPS 2018"
    return replace(made, info=replace(made.info, kind="synthetic", citation=citation, **facts))


def _check_at_least_zero(value: Any, what: str) -> float:
    if isinstance(value, bool) or not isinstance(value, Real) or not 0 <= float(value) < math.inf:
        raise ParameterError(f"{what} must be a finite number >= 0, not {value!r}")
    return float(value)


def check_share(value: Any, what: str) -> float:
    """Return ``value`` as a float between 0 and 1."""
    share = _check_at_least_zero(value, what)
    if share > 1:
        raise ParameterError(f"{what} must be between 0 and 1, not {value!r}")
    return share


def _block_labels(n_nodes: int, n_classes: int) -> IntArray:
    n_nodes, n_classes = check_count(n_nodes, "number of nodes"), check_count(n_classes, "number of classes")
    if n_classes > n_nodes:
        raise ParameterError(f"{n_classes} classes for {n_nodes} nodes; each class must have at least one node")
    return np.arange(n_nodes) * n_classes // n_nodes


def _block_graph(y: IntArray, degree: Any, homophily: Any, rng: np.random.Generator) -> Graph:
    degree, homophily = check_positive(degree, "degree"), check_share(homophily, "homophily")
    n_nodes = len(y)
    n_edges = round(n_nodes * degree / 2)
    n_within = rng.binomial(n_edges, homophily)
    # Classes are contiguous: below node j lie first[j] nodes of other classes, then j - first[j] of its own.
    first = np.searchsorted(y, y)
    within = distinct_pairs(np.arange(n_nodes) - first, first, n_within, rng)
    across = distinct_pairs(first, np.zeros_like(first), n_edges - n_within, rng)
    return Graph.from_edges(np.concatenate([np.stack(pairs, axis=1) for pairs in (within, across)]), n_nodes=n_nodes)


def distinct_pairs(
    counts: IntArray, first: IntArray, n_pairs: int, rng: np.random.Generator
) -> tuple[IntArray, IntArray]:
    """Draw distinct pairs (i, j) uniformly, where node j may pair with first[j] .. first[j] + counts[j] - 1."""
    ends = np.cumsum(counts)
    if n_pairs > ends[-1]:
        what = f"{n_pairs} edges requested but only {ends[-1]} pairs exist"
        raise ParameterError(f"{what}; choose a smaller degree or another homophily")
    pair = rng.choice(ends[-1], n_pairs, replace=False, shuffle=False)
    j = np.searchsorted(ends, pair, side="right")
    return first[j] + pair - (ends[j] - counts[j]), j
