"""Deterministic and random graphs, and the table of all generators."""

from __future__ import annotations

from collections.abc import Callable
from types import MappingProxyType
from typing import Any

import numpy as np

from .._arguments import check_count, check_rng
from .._extras import require
from ..errors import ParameterError
from ..graph import Graph
from .dataset import Dataset
from .sbm import check_share, community, contextual_sbm, distinct_pairs

__all__ = [
    "SYNTHETIC",
    "barabasi_albert",
    "complete",
    "erdos_renyi",
    "grid",
    "path",
    "ring",
    "sensor",
    "star",
]


def _unweighted(first: Any, second: Any, n_nodes: int) -> Graph:
    return Graph.from_edges(np.stack([first, second], axis=1), n_nodes=n_nodes)


def ring(n: int) -> Graph:
    """Return the cycle graph 0 - 1 - ... - (n-1) - 0.

    The combinatorial frequencies are 2 - 2 cos(2 pi k / n), k = 0..n-1; the eigenvectors are the discrete Fourier
    basis.

    Parameters
    ----------
    n : int
        Number of nodes, at least 3.

    Returns
    -------
    Graph
        With n edges.

    Raises
    ------
    ParameterError
        ``n`` is below 3.

    See Also
    --------
    path : Without the closing edge.

    Examples
    --------
    >>> ring(5)
    Graph(n_nodes=5, n_edges=5, undirected, unweighted)
    """
    nodes = np.arange(check_count(n, "n", minimum=3))
    return _unweighted(nodes, (nodes + 1) % n, n)


def path(n: int) -> Graph:
    """Return the path graph 0 - 1 - ... - (n-1).

    The combinatorial frequencies are 2 - 2 cos(pi k / n), k = 0..n-1; the eigenvectors are the discrete cosine basis
    (DCT-II).

    Parameters
    ----------
    n : int
        Number of nodes.

    Returns
    -------
    Graph
        With n - 1 edges.

    Raises
    ------
    ParameterError
        ``n`` is below 1.

    See Also
    --------
    ring : The closed path.
    grid : The product of two paths.

    References
    ----------
    .. [1] G. Strang, "The discrete cosine transform", SIAM Review 41(1), 1999.

    Examples
    --------
    >>> path(3).degrees
    array([1., 2., 1.])
    """
    nodes = np.arange(check_count(n, "n") - 1)
    return _unweighted(nodes, nodes + 1, n)


def grid(n: int, m: int | None = None) -> Graph:
    """Return the n x m lattice; node ``i * m + j`` is at row i, column j.

    It is the Cartesian product of two paths, so its combinatorial frequencies are the sums of theirs.

    Parameters
    ----------
    n : int
        Number of rows.
    m : int, optional
        Number of columns, n by default.

    Returns
    -------
    Graph
        With n (m - 1) + (n - 1) m edges.

    Raises
    ------
    ParameterError
        ``n`` or ``m`` is below 1.

    See Also
    --------
    path : One row.

    Examples
    --------
    >>> grid(2, 3).n_edges
    7
    """
    n = check_count(n, "n")
    m = n if m is None else check_count(m, "m")
    nodes = np.arange(n * m).reshape(n, m)
    first = np.concatenate([nodes[:, :-1].ravel(), nodes[:-1].ravel()])
    second = np.concatenate([nodes[:, 1:].ravel(), nodes[1:].ravel()])
    return _unweighted(first, second, n * m)


def star(n: int) -> Graph:
    """Return the star: node 0 is adjacent to each of the n - 1 others.

    The graph is bipartite, with combinatorial frequencies 0, 1 (n - 2 times) and n.

    Parameters
    ----------
    n : int
        Number of nodes.

    Returns
    -------
    Graph
        With n - 1 edges.

    Raises
    ------
    ParameterError
        ``n`` is below 1.

    See Also
    --------
    complete : Every pair is an edge.

    Examples
    --------
    >>> star(4).degrees
    array([3., 1., 1., 1.])
    """
    leaves = np.arange(1, check_count(n, "n"))
    return _unweighted(np.zeros_like(leaves), leaves, n)


def complete(n: int) -> Graph:
    """Return the complete graph: every pair of nodes is an edge.

    The combinatorial frequencies are 0 once and n otherwise.

    Parameters
    ----------
    n : int
        Number of nodes.

    Returns
    -------
    Graph
        With n (n - 1) / 2 edges.

    Raises
    ------
    ParameterError
        ``n`` is below 1.

    See Also
    --------
    star : One node adjacent to all others.
    erdos_renyi : Each pair with a probability.

    Examples
    --------
    >>> complete(4).n_edges
    6
    """
    first, second = np.triu_indices(check_count(n, "n"), 1)
    return _unweighted(first, second, n)


def sensor(n: int, rng: Any = None, *, n_neighbors: int = 6) -> Graph:
    """Return a sensor network: a k-nearest-neighbour graph of random points in the unit square.

    An edge of length d has weight exp(-d^2 / (2 s^2)), where s is the mean edge length.

    Parameters
    ----------
    n : int
        Number of sensors.
    rng : None, int or Generator
        Source of randomness.
    n_neighbors : int
        Number of nearest neighbours; two sensors are adjacent if either is among the nearest of the other.

    Returns
    -------
    Graph
        Weighted, undirected.

    Raises
    ------
    ParameterError
        ``n`` or ``n_neighbors`` is below 1.

    See Also
    --------
    grid : Regular positions.

    References
    ----------
    .. [1] D. I. Shuman, S. K. Narang, P. Frossard, A. Ortega, P. Vandergheynst, "The emerging field of signal
       processing on graphs", IEEE Signal Process. Mag. 30(3), 2013.

    Examples
    --------
    >>> sensor(50, rng=0).n_nodes
    50
    """
    from scipy.spatial import KDTree

    n, n_neighbors = check_count(n, "n"), check_count(n_neighbors, "n_neighbors")
    points = check_rng(rng).random((n, 2))
    k = min(n_neighbors, n - 1)
    if k == 0:
        return path(1)
    found = KDTree(points).query(points, k=np.arange(2, k + 2))
    lengths, near = np.asarray(found[0]), np.asarray(found[1])
    edges = np.stack([np.repeat(np.arange(n), k), near.ravel()], axis=1)
    weights = np.exp(-(lengths.ravel() ** 2) / (2 * lengths.mean() ** 2))
    return Graph.from_edges(edges, weights, n, symmetrize="max")


def erdos_renyi(n: int, p: float = 0.1, rng: Any = None) -> Graph:
    """Return a random graph in which each pair of nodes is an edge with probability p, independently.

    Parameters
    ----------
    n : int
        Number of nodes.
    p : float
        Edge probability in [0, 1].
    rng : None, int or Generator
        Source of randomness.

    Returns
    -------
    Graph
        With p n (n - 1) / 2 edges in expectation.

    Raises
    ------
    ParameterError
        ``n`` is below 1, or ``p`` is outside [0, 1].

    See Also
    --------
    community : Different probabilities within and between groups.
    barabasi_albert : A heavy-tailed degree distribution.

    References
    ----------
    .. [1] E. N. Gilbert, "Random graphs", Ann. Math. Statist. 30(4), 1959.

    Examples
    --------
    >>> erdos_renyi(10, 1.0).n_edges
    45
    """
    n, p, rng = check_count(n, "n"), check_share(p, "p"), check_rng(rng)
    below = np.arange(n)
    n_edges = rng.binomial(n * (n - 1) // 2, p)
    first, second = distinct_pairs(below, np.zeros_like(below), n_edges, rng)
    return _unweighted(first, second, n)


def barabasi_albert(n: int, m: int = 3, rng: Any = None) -> Graph:
    """Return a graph grown by preferential attachment: a heavy-tailed degree distribution.

    Each new node is joined to m existing ones, chosen with probability proportional to their degree. Needs networkx.

    Parameters
    ----------
    n : int
        Number of nodes, at least 2.
    m : int
        Edges of each new node, less than n.
    rng : None, int or Generator
        Source of randomness.

    Returns
    -------
    Graph
        With m (n - m) edges.

    Raises
    ------
    ParameterError
        ``m`` is not less than ``n``.
    ImportError
        networkx is not installed.

    See Also
    --------
    erdos_renyi : Independent edges.

    References
    ----------
    .. [1] A.-L. Barabasi, R. Albert, "Emergence of scaling in random networks", Science 286, 1999.

    Examples
    --------
    >>> barabasi_albert(20, 2, rng=0).n_edges
    36
    """
    n, m, rng = check_count(n, "n", minimum=2), check_count(m, "m"), check_rng(rng)
    if m >= n:
        raise ParameterError(f"m must be less than n, not {m} with n={n}")
    networkx = require("networkx", "the Barabasi-Albert graph")
    grown = networkx.barabasi_albert_graph(n, m, seed=int(rng.integers(2**31)))
    return Graph.from_edges(np.array(grown.edges), n_nodes=n)


# Every generator needs its first argument only: the number of nodes (per side for the grid).
SYNTHETIC: MappingProxyType[str, Callable[..., Graph | Dataset]] = MappingProxyType(
    {
        "ring": ring,
        "path": path,
        "grid": grid,
        "star": star,
        "complete": complete,
        "sensor": sensor,
        "community": community,
        "erdos_renyi": erdos_renyi,
        "barabasi_albert": barabasi_albert,
        "contextual_sbm": contextual_sbm,
    }
)
