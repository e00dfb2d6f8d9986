"""Regular and nearly regular graphs with coordinates: torus, comet, rings, trees and the pixels of an image."""

from __future__ import annotations

from typing import Any

import numpy as np

from .._arguments import check_count, check_positive, check_rng
from .._extras import require
from .._points import gaussian_weights, nearest_neighbours
from ..backend import FloatArray, IntArray
from ..errors import ParameterError
from ..graph import Graph
from ..nodes import NodeTable

__all__ = ["comet", "image_grid", "low_stretch_tree", "random_regular", "random_ring", "torus"]

MAX_LOG_SIDE = 12


def placed(edges: Any, coordinates: Any, weights: Any = None, *, symmetrize: Any = None, **columns: Any) -> Graph:
    """Return the undirected graph of pairs ``(first, second)`` with nodes at the coordinates."""
    n = len(coordinates)
    nodes = NodeTable(n, None, np.asarray(coordinates, dtype=np.float64), columns)
    return Graph.from_edges(np.stack(edges, axis=1), weights, n, symmetrize=symmetrize, nodes=nodes)


def circle(n: int) -> FloatArray:
    """Return ``n`` equally spaced points of the unit circle, from (1, 0) on."""
    angles = 2 * np.pi * np.arange(n) / max(n, 1)
    return np.stack([np.cos(angles), np.sin(angles)], axis=1)


def nearest(points: FloatArray, n_neighbors: int, coordinates: FloatArray | None = None, **columns: Any) -> Graph:
    """Return the k-nearest-neighbour graph, weight exp(-d^2 / (2 s^2)) with the mean edge length s."""
    k = min(check_count(n_neighbors, "n_neighbors"), len(points) - 1)
    places = points if coordinates is None else coordinates
    if k < 1:
        return placed(np.empty((2, 0), dtype=np.int64), places, **columns)
    first, second, lengths = nearest_neighbours(points, k)
    weights = gaussian_weights(lengths)
    keep = weights > 0
    return placed((first[keep], second[keep]), places, weights[keep], symmetrize="max", **columns)


def lattice(n: int, m: int) -> tuple[IntArray, IntArray]:
    """Return the ends of the edges of an n x m grid, row by row."""
    nodes = np.arange(n * m).reshape(n, m)
    first = np.concatenate([nodes[:, :-1].ravel(), nodes[:-1].ravel()])
    return first, np.concatenate([nodes[:, 1:].ravel(), nodes[1:].ravel()])


def lattice_places(n: int, m: int) -> FloatArray:
    """Return the position of node ``i * m + j``: column j, and row i from the top."""
    rows, columns = np.divmod(np.arange(n * m), max(m, 1))
    return np.stack([columns, n - 1 - rows], axis=1).astype(np.float64)


def torus(n: int = 16, m: int | None = None) -> Graph:
    """Return the n x m grid with both pairs of sides joined: the product of two rings.

    Node ``i * m + j`` is adjacent to four others; the frequencies are the sums of those of the rings.

    Parameters
    ----------
    n, m : int
        Nodes around the tube's axis and around the tube, at least 3; m is n by default.

    Returns
    -------
    Graph
        Unweighted, with 3-D coordinates.

    Raises
    ------
    ParameterError
        A count is out of range.

    See Also
    --------
    grid : The sides are not joined.
    ring : One ring.

    Examples
    --------
    >>> torus(4, 5).n_edges
    40
    """
    n = check_count(n, "n", minimum=3)
    m = n if m is None else check_count(m, "m", minimum=3)
    i, j = np.divmod(np.arange(n * m), m)
    around, across = circle(n)[i], circle(m)[j]
    places = np.column_stack([around * (1.5 + across[:, 1:]), across[:, 0]])
    first = np.tile(np.arange(n * m), 2)
    return placed((first, np.concatenate([(i + 1) % n * m + j, i * m + (j + 1) % m])), places)


def comet(n: int = 32, k: int = 12) -> Graph:
    """Return a star with k rays, one of which continues as a path.

    Parameters
    ----------
    n, k : int
        Number of nodes, and degree of the centre, node 0; k is less than n.

    Returns
    -------
    Graph
        Unweighted, with coordinates.

    Raises
    ------
    ParameterError
        ``k`` is not less than ``n``.

    See Also
    --------
    star : No tail.
    path : Only a tail.

    Examples
    --------
    >>> comet(8, 4).degrees.tolist()
    [4.0, 1.0, 1.0, 1.0, 2.0, 2.0, 2.0, 1.0]
    """
    n, k = check_count(n, "n", minimum=2), check_count(k, "k")
    if k >= n:
        raise ParameterError(f"k must be less than n, not {k} with n={n}")
    others = np.arange(1, n)
    places = np.zeros((n, 2))
    places[1 : k + 1] = np.roll(circle(k), -1, axis=0)
    places[k + 1 :, 0] = np.arange(2, n - k + 1)
    return placed((np.where(others <= k, 0, others - 1), others), places)


def random_ring(n: int = 64, rng: Any = None) -> Graph:
    """Return a ring of random points of the unit circle.

    The weight of an edge is the mean angle 2 pi / n divided by its own.

    Parameters
    ----------
    n, rng
        As in :func:`sensor`, with at least 3 nodes.

    Returns
    -------
    Graph
        Weighted, with coordinates.

    Raises
    ------
    ParameterError
        A count is out of range.

    See Also
    --------
    ring : Equal angles.

    Examples
    --------
    >>> random_ring(10, rng=0).n_edges
    10
    """
    angles = np.sort(check_rng(rng).uniform(0, 2 * np.pi, check_count(n, "n", minimum=3)))
    nodes, gaps = np.arange(n), np.diff(angles, append=angles[0] + 2 * np.pi)
    places = np.stack([np.cos(angles), np.sin(angles)], axis=1)
    return placed((nodes, (nodes + 1) % n), places, 2 * np.pi / n / gaps)


def random_regular(n: int = 64, k: int = 6, rng: Any = None) -> Graph:
    """Return a random graph in which every node has k neighbours.

    Needs networkx. The places are on a circle: the graph has no geometry.

    Parameters
    ----------
    n, k : int
        Number of nodes, and degree; k is less than n, and n k is even.
    rng : None, int or Generator
        Source of randomness.

    Returns
    -------
    Graph
        Unweighted, with coordinates.

    Raises
    ------
    ParameterError
        No such graph exists.
    ImportError
        networkx is not installed.

    See Also
    --------
    erdos_renyi : Degrees that vary.
    ring : A regular graph with geometry: ``ring(n, k)``.

    Examples
    --------
    >>> set(random_regular(10, 3, rng=0).degrees.tolist())
    {3.0}
    """
    n, k = check_count(n, "n"), check_count(k, "k")
    if k >= n or n * k % 2:
        raise ParameterError(f"a graph of {n} nodes of degree {k} needs k < n and an even n * k")
    networkx = require("networkx", "the random regular graph")
    made = networkx.random_regular_graph(k, n, seed=int(check_rng(rng).integers(2**31)))
    return placed(np.array(made.edges).T, circle(n))


def low_stretch_tree(k: int = 6) -> Graph:
    """Return a spanning tree of the 2^k x 2^k grid with a low average stretch.

    Four trees of half the side are joined by three edges at the centre.

    Parameters
    ----------
    k : int
        Logarithm of the side; the tree has 4^k nodes, in rows of 2^k.

    Returns
    -------
    Graph
        Unweighted, with coordinates.

    Raises
    ------
    ParameterError
        A count is out of range.

    See Also
    --------
    grid : The grid that it spans.

    References
    ----------
    .. [1] N. Alon, R. M. Karp, D. Peleg and D. West, "A graph-theoretic game and its application to the k-server
       problem", SIAM J. Comput. 24(1), 1995.

    Examples
    --------
    >>> low_stretch_tree(3).n_edges
    63
    """
    if check_count(k, "k") > MAX_LOG_SIDE:
        raise ParameterError(f"k={k} makes a tree of 4^{k} nodes; at most k={MAX_LOG_SIDE}")
    side = 2**k
    firsts, seconds = [], []
    for half in 2 ** np.arange(k):
        # The lower left one of the four nodes at the centre of every square of side 2 half.
        corner = np.arange(half - 1, side, 2 * half)
        low = np.add.outer(corner * side, corner).ravel()
        firsts += [low, low, low + side]
        seconds += [low + 1, low + side, low + side + 1]
    y, x = np.divmod(np.arange(side**2), side)
    return placed((np.concatenate(firsts), np.concatenate(seconds)), np.stack([x, y], axis=1))


def image_grid(image: Any, *, bandwidth: float | None = None) -> Graph:
    """Return the grid of the pixels of an image, with their values as node columns.

    Node ``i * width + j`` is at column j, row i; its brightness is the column ``value``, its channels ``value_0``, ....

    Parameters
    ----------
    image : array_like, shape (height, width) or (height, width, channels)
    bandwidth : float > 0, optional
        Gives edges the weight exp(-d^2 / (2 bandwidth^2)), d the distance of the values; unweighted by default.

    Returns
    -------
    Graph
        With the positions of the pixels as coordinates.

    Raises
    ------
    ParameterError
        ``image`` is not a finite image, or ``bandwidth`` is not positive.

    See Also
    --------
    image_patches : Similar surroundings instead of adjacent pixels.
    grid : A grid without values.

    Examples
    --------
    >>> image_grid([[0.0, 1.0], [2.0, 3.0]]).nodes["value"]
    array([0., 1., 2., 3.])
    """
    pixels = check_image(image)
    n, m, _ = pixels.shape
    first, second = lattice(n, m)
    weights = None
    if bandwidth is not None:
        values = pixels.reshape(n * m, -1)
        scale = 2 * check_positive(bandwidth, "bandwidth") ** 2
        weights = np.exp(-np.sum((values[first] - values[second]) ** 2, axis=1) / scale)
    return placed((first, second), lattice_places(n, m), weights, **pixel_columns(pixels))


def check_image(image: Any) -> FloatArray:
    """Return an image as a finite float64 array, shape (height, width, channels)."""
    pixels = np.asarray(image, dtype=np.float64)
    if pixels.ndim not in (2, 3) or not pixels.size or not np.isfinite(pixels).all():
        raise ParameterError(f"an image is a finite array (height, width[, channels]), not one of shape {pixels.shape}")
    return pixels.reshape(*pixels.shape[:2], -1)


def pixel_columns(pixels: FloatArray) -> dict[str, FloatArray]:
    """Return the values of the pixels, one column a channel."""
    names = ["value"] if pixels.shape[2] == 1 else [f"value_{channel}" for channel in range(pixels.shape[2])]
    return {name: pixels[:, :, channel].ravel() for channel, name in enumerate(names)}
