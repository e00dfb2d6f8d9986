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
from .clouds import cube, david_sensor_net, road, sensor, sphere, swiss_roll, two_moons
from .dataset import Dataset
from .lattices import circle, comet, lattice, lattice_places, placed, random_regular, random_ring, torus
from .sbm import check_share, community, contextual_sbm, distinct_pairs

__all__ = ["SYNTHETIC", "barabasi_albert", "complete", "erdos_renyi", "grid", "path", "ring", "star"]


def ring(n: int, k: int = 1) -> Graph:
    """Return the cycle graph 0 - 1 - ... - (n-1) - 0, or the ring in which k neighbours on each side are adjacent.

    The combinatorial frequencies of the cycle are 2 - 2 cos(2 pi j / n), j = 0..n-1; the eigenvectors of all rings are
    the discrete Fourier basis.

    Parameters
    ----------
    n, k : int
        Number of nodes, at least 3, and neighbours on each side, at most n / 2.

    Returns
    -------
    Graph
        With n k edges (n / 2 fewer if k = n / 2), on a circle.

    Raises
    ------
    ParameterError
        ``n`` is below 3, or ``k`` above n / 2.

    See Also
    --------
    path : Without the closing edge.

    Examples
    --------
    >>> ring(5)
    Graph(n_nodes=5, n_edges=5, undirected, unweighted)
    """
    nodes = np.arange(check_count(n, "n", minimum=3))
    if 2 * check_count(k, "k") > n:
        raise ParameterError(f"k must be at most n / 2, not {k} with n={n}")
    pairs = np.concatenate([np.sort(np.stack([nodes, (nodes + step) % n]), axis=0) for step in range(1, k + 1)], axis=1)
    return placed(np.unique(pairs, axis=1), circle(n))


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
    return placed((nodes, nodes + 1), np.stack([np.arange(n), np.zeros(n)], axis=1))


def grid(n: int, m: int | None = None) -> Graph:
    """Return the n x m lattice; node ``i * m + j`` is at row i, column j.

    It is the Cartesian product of two paths, so its combinatorial frequencies are the sums of theirs.

    Parameters
    ----------
    n, m : int
        Number of rows, and of columns; m is n by default.

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
    return placed(lattice(n, m), lattice_places(n, m))


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
    return placed((np.zeros_like(leaves), leaves), np.concatenate([np.zeros((1, 2)), circle(n - 1)]))


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
    return placed(np.triu_indices(check_count(n, "n"), 1), circle(n))


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
    return Graph.from_edges(np.stack([first, second], axis=1), n_nodes=n)


def barabasi_albert(n: int, m: int = 3, rng: Any = None) -> Graph:
    """Return a graph grown by preferential attachment: a heavy-tailed degree distribution.

    Each new node is joined to m existing ones, chosen with probability proportional to their degree. Needs networkx.

    Parameters
    ----------
    n, m : int
        Number of nodes, at least 2, and edges of each new node, less than n.
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


_GENERATORS: tuple[Callable[..., Graph | Dataset], ...] = (
    *(ring, path, grid, star, complete, torus, comet, random_ring, random_regular),
    *(sensor, david_sensor_net, sphere, cube, swiss_roll, two_moons, road),
    *(community, erdos_renyi, barabasi_albert, contextual_sbm),
)
# Every generator needs its first argument only: the number of nodes (per side of grid and torus).
SYNTHETIC = MappingProxyType({generator.__name__: generator for generator in _GENERATORS})
