"""Graphs with coordinates: surfaces, sensor networks, images, trees and roads, to try methods on."""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt

from .._arguments import check_count, check_positive, check_rng
from .._extras import require
from ..errors import ParameterError
from ..graph import Graph
from ..nodes import NodeTable

__all__ = [
    "comet",
    "cube",
    "david_sensor_net",
    "image_grid",
    "image_patches",
    "low_stretch_tree",
    "placed",
    "random_regular",
    "random_ring",
    "road",
    "sphere",
    "swiss_roll",
    "torus",
    "two_moons",
]

Floats = npt.NDArray[np.float64]


def placed(edges: Any, coordinates: Any, weights: Any = None) -> Graph:
    """Return the graph of an edge list whose nodes have coordinates, shape (n_nodes, 2) or (n_nodes, 3)."""
    n_nodes = len(coordinates)
    return Graph.from_edges(edges, weights, n_nodes, nodes=NodeTable(n_nodes, coordinates=coordinates))


def _circle(n: int, radius: float = 1.0) -> Floats:
    angle = 2 * np.pi * np.arange(n) / n
    return radius * np.stack([np.cos(angle), np.sin(angle)], axis=1)


def comet(n: int = 32, k: int = 12) -> Graph:
    """Return a star of ``k`` leaves with a path attached to its centre.

    Parameters
    ----------
    n : int
        Number of nodes.
    k : int
        Degree of the centre, node 0; nodes 1..k are its neighbours, and the path continues from node k.

    Returns
    -------
    Graph

    See Also
    --------
    star : The comet without a tail.

    Examples
    --------
    >>> comet(8, 3).degrees
    array([3., 1., 1., 2., 2., 2., 2., 1.])
    """
    n, k = check_count(n, "n", minimum=2), check_count(k, "k")
    if k >= n:
        raise ParameterError(f"k must be less than n, not {k} with n={n}")
    leaves = np.stack([np.zeros(k, dtype=int), np.arange(1, k + 1)], axis=1)
    tail = np.stack([np.arange(k, n - 1), np.arange(k + 1, n)], axis=1)
    # The last leaf lies on the positive axis, where the tail goes on.
    ahead = np.stack([np.arange(2, n - k + 1), np.zeros(n - k - 1)], axis=1)
    around = np.roll(_circle(k), -1, axis=0)
    return placed(np.concatenate([leaves, tail]), np.concatenate([np.zeros((1, 2)), around, ahead]))


def torus(n: int = 16, m: int | None = None) -> Graph:
    """Return the n x m lattice with opposite sides joined; node ``i * m + j`` is at row i, column j.

    Its combinatorial frequencies are the sums of those of two rings.

    Parameters
    ----------
    n, m : int >= 3
        Sides; ``m = n`` by default.

    Returns
    -------
    Graph
        With 3-D coordinates on a torus.

    See Also
    --------
    grid : The lattice with open sides.

    Examples
    --------
    >>> torus(3, 4).degrees.max(), torus(3, 4).n_edges
    (4.0, 24)
    """
    n = check_count(n, "n", minimum=3)
    m = n if m is None else check_count(m, "m", minimum=3)
    nodes = np.arange(n * m).reshape(n, m)
    down, right = np.roll(nodes, -1, axis=0), np.roll(nodes, -1, axis=1)
    edges = np.concatenate([np.stack([nodes.ravel(), end.ravel()], axis=1) for end in (down, right)])
    big, small = 2 * np.pi * np.arange(n)[:, None] / n, 2 * np.pi * np.arange(m)[None, :] / m
    radius = 1.0 + 0.4 * np.cos(small)
    parts = radius * np.cos(big), radius * np.sin(big), 0.4 * np.sin(small) + 0 * big
    return placed(edges, np.stack([part.ravel() for part in parts], axis=1))


def cube(n: int = 300, rng: Any = None, *, k: int = 10) -> Graph:
    """Return the nearest-neighbour graph of random points on the surface of the unit cube.

    Parameters
    ----------
    n : int
        Number of points.
    rng : None, int or Generator
    k : int
        Neighbours of each point; see :meth:`gsp_fb.Graph.from_points`.

    Returns
    -------
    Graph
        With 3-D coordinates.

    See Also
    --------
    sphere : The same on a sphere.

    Examples
    --------
    >>> cube(50, rng=0).coordinates.shape
    (50, 3)
    """
    n, rng = check_count(n, "n", minimum=2), check_rng(rng)
    points = rng.random((n, 3))
    points[np.arange(n), rng.integers(3, size=n)] = rng.integers(2, size=n)
    return Graph.from_points(points, k=min(check_count(k, "k"), n - 1))


def sphere(n: int = 300, rng: Any = None, *, k: int = 10) -> Graph:
    """Return the nearest-neighbour graph of random points on the unit sphere.

    Parameters
    ----------
    n : int
        Number of points.
    rng : None, int or Generator
    k : int
        Neighbours of each point; see :meth:`gsp_fb.Graph.from_points`.

    Returns
    -------
    Graph
        With 3-D coordinates.

    See Also
    --------
    cube : The same on a cube.

    Examples
    --------
    >>> bool((abs((sphere(50, rng=0).coordinates ** 2).sum(axis=1) - 1) < 1e-12).all())
    True
    """
    n = check_count(n, "n", minimum=2)
    points = check_rng(rng).standard_normal((n, 3))
    return Graph.from_points(points / np.linalg.norm(points, axis=1, keepdims=True), k=min(check_count(k, "k"), n - 1))


def swiss_roll(n: int = 400, rng: Any = None, *, k: int = 8) -> Graph:
    """Return the nearest-neighbour graph of random points on a rolled-up sheet.

    Parameters
    ----------
    n : int
        Number of points.
    rng : None, int or Generator
    k : int
        Neighbours of each point; see :meth:`gsp_fb.Graph.from_points`.

    Returns
    -------
    Graph
        With 3-D coordinates; the column ``angle`` of its node table is the position along the roll.

    See Also
    --------
    sphere, cube : Other surfaces.

    Examples
    --------
    >>> swiss_roll(60, rng=0).nodes["angle"].shape
    (60,)
    """
    n = check_count(n, "n", minimum=2)
    make = require("sklearn.datasets", "the swiss roll").make_swiss_roll
    points, angle = make(n, random_state=int(check_rng(rng).integers(2**31)))
    return Graph.from_points(points, k=min(check_count(k, "k"), n - 1)).with_nodes({"angle": angle})


def two_moons(n: int = 400, rng: Any = None, *, noise: float = 0.07, k: int = 6) -> Graph:
    """Return the nearest-neighbour graph of two interleaved half circles.

    Parameters
    ----------
    n : int
        Number of points.
    rng : None, int or Generator
    noise : float
        Standard deviation of the points around the half circles.
    k : int
        Neighbours of each point; see :meth:`gsp_fb.Graph.from_points`.

    Returns
    -------
    Graph
        With 2-D coordinates; the column ``moon`` of its node table is 0 or 1.

    See Also
    --------
    community : Classes without geometry.

    Examples
    --------
    >>> two_moons(40, rng=0).nodes["moon"].sum()
    20
    """
    n = check_count(n, "n", minimum=2)
    make = require("sklearn.datasets", "the two moons").make_moons
    points, moon = make(n, noise=noise, random_state=int(check_rng(rng).integers(2**31)))
    return Graph.from_points(points, k=min(check_count(k, "k"), n - 1)).with_nodes({"moon": moon})


def random_ring(n: int = 64, rng: Any = None) -> Graph:
    """Return a ring through random points of a circle, each edge weighted by the inverse of its arc.

    Parameters
    ----------
    n : int >= 3
    rng : None, int or Generator

    Returns
    -------
    Graph
        Weights have mean arc 1: n times the inverse arc in turns.

    See Also
    --------
    ring : Equal weights.

    Examples
    --------
    >>> random_ring(5, rng=0).n_edges
    5
    """
    n = check_count(n, "n", minimum=3)
    turns = np.sort(check_rng(rng).random(n))
    arcs = np.append(np.diff(turns), turns[0] + 1 - turns[-1])
    edges = np.stack([np.arange(n), (np.arange(n) + 1) % n], axis=1)
    angle = 2 * np.pi * turns
    return placed(edges, np.stack([np.cos(angle), np.sin(angle)], axis=1), 1.0 / (n * arcs))


def random_regular(n: int = 64, k: int = 6, rng: Any = None) -> Graph:
    """Return a random graph in which every node has degree ``k``, nodes drawn on a circle.

    Needs networkx.

    Parameters
    ----------
    n, k : int
        ``n * k`` must be even and ``k < n``.
    rng : None, int or Generator

    Returns
    -------
    Graph

    See Also
    --------
    erdos_renyi : Independent edges.

    Examples
    --------
    >>> set(random_regular(10, 3, rng=0).degrees.tolist())
    {3.0}
    """
    n, k = check_count(n, "n"), check_count(k, "k", minimum=0)
    if k >= n or n * k % 2:
        raise ParameterError(f"a {k}-regular graph on {n} nodes does not exist: k < n and n * k even are needed")
    networkx = require("networkx", "the random regular graph")
    drawn = networkx.random_regular_graph(k, n, seed=int(check_rng(rng).integers(2**31)))
    return placed(np.array(drawn.edges, dtype=np.int64).reshape(-1, 2), _circle(n))


def low_stretch_tree(k: int = 6) -> Graph:
    """Return a spanning tree of the ``2^k x 2^k`` grid with low average stretch: H-shaped, level by level.

    Parameters
    ----------
    k : int
        Levels; the tree has ``4^k`` nodes.

    Returns
    -------
    Graph
        With 2-D coordinates.

    See Also
    --------
    grid : The graph that it spans.

    References
    ----------
    .. [1] N. Alon et al., "A graph-theoretic game and its application to the k-server problem", SIAM J. Comput. 24,
       1995.

    Examples
    --------
    >>> tree = low_stretch_tree(3)
    >>> tree.n_nodes, tree.n_edges, tree.n_components
    (64, 63, 1)
    """
    k = check_count(k, "k")
    edges = np.zeros((0, 2), dtype=np.int64)
    places = np.zeros((1, 2), dtype=np.int64)
    for level in range(k):
        edges, places = _four_copies(edges, places, 2**level)
    return placed(edges, places.astype(np.float64))


def _four_copies(edges: Any, places: Any, side: int) -> tuple[Any, Any]:
    """Return four copies side by side, joined by three edges around their common corner."""
    n = len(places)
    corners = [(side - 1, side - 1), (0, side - 1), (side - 1, 0), (0, 0)]
    shifts = [(0, 0), (side, 0), (0, side), (side, side)]
    inner = [copy * n + int(np.flatnonzero((places == corner).all(axis=1))[0]) for copy, corner in enumerate(corners)]
    bridges = [(inner[0], inner[1]), (inner[0], inner[2]), (inner[1], inner[3])]
    moved = np.concatenate([places + shift for shift in shifts])
    return np.concatenate([*(edges + copy * n for copy in range(4)), bridges]), moved


def david_sensor_net(n: int = 64, rng: Any = None) -> Graph:
    r"""Return a sensor network: random points of the unit square, joined within a radius.

    The weight of an edge of length d is :math:`e^{-d^2 / (2 \sigma^2)}`; length and radius follow from the density, so
    that the expected degree does not depend on n.

    Parameters
    ----------
    n : int
        Number of sensors.
    rng : None, int or Generator

    Returns
    -------
    Graph
        With 2-D coordinates; it may have isolated nodes.

    See Also
    --------
    sensor : A fixed number of neighbours.

    Examples
    --------
    >>> david_sensor_net(64, rng=0).coordinates.shape
    (64, 2)
    """
    n = check_count(n, "n")
    # Weights begin at 0.6 and the radius is 0.2 for 64 sensors, as in PyGSP's DavidSensorNet.
    radius = 0.2 * float(np.sqrt(64 / n))
    sigma = radius / float(np.sqrt(-2 * np.log(0.6)))
    return Graph.from_points(check_rng(rng).random((n, 2)), radius=radius, bandwidth=sigma)


def image_grid(image: Any, *, contrast: float | None = None) -> Graph:
    r"""Return the pixel grid of an image, edges weighted by the similarity of their pixels.

    Parameters
    ----------
    image : array_like, shape (height, width) or (height, width, n_channels)
    contrast : float, optional
        :math:`w_{ij} = e^{-\|v_i - v_j\|^2 / (2 c^2)}` for neighbouring pixels; unweighted by default.

    Returns
    -------
    Graph
        Node ``row * width + column``, coordinates (column, -row), the values as columns ``value`` of the node table.

    See Also
    --------
    image_patches : Edges between similar patches.

    Examples
    --------
    >>> g = image_grid([[0.0, 0.0], [0.0, 1.0]], contrast=0.5)
    >>> g.degrees.round(3)
    array([2.   , 1.135, 1.135, 0.271])
    """
    values = _pixels(image)
    height, width = values.shape[:2]
    nodes = np.arange(height * width).reshape(height, width)
    edges = np.concatenate(
        [
            np.stack([nodes[:, :-1].ravel(), nodes[:, 1:].ravel()], axis=1),
            np.stack([nodes[:-1].ravel(), nodes[1:].ravel()], axis=1),
        ]
    )
    flat = values.reshape(height * width, -1)
    weights = None
    if contrast is not None:
        squares = np.sum((flat[edges[:, 0]] - flat[edges[:, 1]]) ** 2, axis=1)
        weights = np.exp(-squares / (2 * check_positive(contrast, "contrast") ** 2))
    return placed(edges, _pixel_places(height, width), weights).with_nodes(_value_columns(flat))


def image_patches(image: Any, *, patch: int = 3, k: int = 8) -> Graph:
    """Return the nearest-neighbour graph of the patches around the pixels of an image.

    Parameters
    ----------
    image : array_like, shape (height, width) or (height, width, n_channels)
    patch : int, odd
        Side of a patch; the image is mirrored at its border.
    k : int
        Neighbours of each patch; see :meth:`gsp_fb.Graph.from_points`.

    Returns
    -------
    Graph
        Coordinates (column, -row), the values as columns ``value`` of the node table.

    See Also
    --------
    image_grid : Edges between neighbouring pixels.

    References
    ----------
    .. [1] A. Buades, B. Coll and J.-M. Morel, "A non-local algorithm for image denoising", CVPR 2005.

    Examples
    --------
    >>> import numpy as np
    >>> image_patches(np.arange(16.0).reshape(4, 4), k=2).n_nodes
    16
    """
    values = _pixels(image)
    if check_count(patch, "patch") % 2 == 0:
        raise ParameterError(f"patch must be odd, not {patch}")
    height, width = values.shape[:2]
    half = patch // 2
    padded = np.pad(values, [(half, half), (half, half), (0, 0)], mode="symmetric")
    windows = np.lib.stride_tricks.sliding_window_view(padded, (patch, patch), axis=(0, 1))
    features = windows.reshape(height * width, -1)
    graph = Graph.from_points(features, k=check_count(k, "k"))
    source, target, weights = graph.edges()
    edges = np.stack([source, target], axis=1)
    flat = values.reshape(height * width, -1)
    return placed(edges, _pixel_places(height, width), weights).with_nodes(_value_columns(flat))


def _pixels(image: Any) -> Floats:
    values = np.asarray(image, dtype=np.float64)
    if values.ndim not in (2, 3) or 0 in values.shape or not np.all(np.isfinite(values)):
        raise ParameterError(f"an image is a finite array (height, width[, n_channels]), not of shape {values.shape}")
    return values if values.ndim == 3 else values[:, :, None]


def _pixel_places(height: int, width: int) -> Floats:
    rows, columns = np.divmod(np.arange(height * width), width)
    return np.stack([columns, -rows], axis=1).astype(np.float64)


def _value_columns(flat: Floats) -> dict[str, Floats]:
    if flat.shape[1] == 1:
        return {"value": flat[:, 0]}
    return {f"value_{channel}": column for channel, column in enumerate(flat.T)}


def road(n: int = 500, rng: Any = None) -> Graph:
    """Return a planar graph that looks like a road map: the Gabriel graph of random points.

    Two points are joined where the circle over their segment holds no third one. Weights are inverse lengths, scaled to
    mean 1.

    Parameters
    ----------
    n : int >= 4
        Number of junctions.
    rng : None, int or Generator

    Returns
    -------
    Graph
        Connected, with 2-D coordinates.

    See Also
    --------
    sensor : Nearest neighbours.

    References
    ----------
    .. [1] K. R. Gabriel and R. R. Sokal, "A new statistical approach to geographic variation analysis", Systematic
       Zoology 18(3), 1969.

    Examples
    --------
    >>> g = road(100, rng=0)
    >>> g.n_components, g.n_edges < 3 * g.n_nodes
    (1, True)
    """
    from scipy.spatial import Delaunay, KDTree

    n = check_count(n, "n", minimum=4)
    points = check_rng(rng).random((n, 2))
    corners = Delaunay(points).simplices
    edges = np.unique(np.sort(corners[:, [[0, 1], [1, 2], [0, 2]]].reshape(-1, 2), axis=1), axis=0)
    middle = points[edges].mean(axis=1)
    lengths = np.linalg.norm(points[edges[:, 0]] - points[edges[:, 1]], axis=1)
    nearest = KDTree(points).query(middle)[0]
    kept = nearest >= lengths / 2 * (1 - 1e-12)
    inverse = 1.0 / lengths[kept]
    return placed(edges[kept], points, inverse / inverse.mean())
