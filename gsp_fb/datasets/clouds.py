"""Graphs of points: sensors, surfaces, manifolds, roads and image patches, all with coordinates."""

from __future__ import annotations

from typing import Any

import numpy as np

from .._arguments import check_count, check_rng
from .._extras import require
from ..backend import FloatArray
from ..errors import ParameterError
from ..graph import Graph
from .lattices import check_image, lattice_places, nearest, pixel_columns, placed

__all__ = ["cube", "david_sensor_net", "image_patches", "road", "sensor", "sphere", "swiss_roll", "two_moons"]


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
        Weighted, undirected, with coordinates.

    Raises
    ------
    ParameterError
        ``n`` or ``n_neighbors`` is below 1.

    See Also
    --------
    david_sensor_net : All sensors within a radius are adjacent.
    grid : Regular positions.

    References
    ----------
    .. [1] D. I. Shuman et al., "The emerging field of signal processing on graphs", IEEE SPM 30(3), 2013.

    Examples
    --------
    >>> sensor(50, rng=0).n_nodes
    50
    """
    return nearest(check_rng(rng).random((check_count(n, "n"), 2)), n_neighbors)


def david_sensor_net(n: int = 64, rng: Any = None) -> Graph:
    """Return a sensor network in which all pairs within a radius of 2 / sqrt(n) are adjacent.

    Sensors are uniform in the unit square. The weight exp(-d^2 / (2 s^2)) is 0.6 at the radius.

    Parameters
    ----------
    n, rng
        As in :func:`sensor`.

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
    sensor : A fixed number of neighbours instead of a radius.

    Examples
    --------
    >>> bool(david_sensor_net(64, rng=0).weights.min() >= 0.6)
    True
    """
    from scipy.spatial import KDTree

    points = check_rng(rng).random((check_count(n, "n"), 2))
    radius = 2.0 / np.sqrt(n)
    pairs = KDTree(points).query_pairs(radius, output_type="ndarray")
    lengths = np.linalg.norm(points[pairs[:, 0]] - points[pairs[:, 1]], axis=1)
    return placed(pairs.T, points, 0.6 ** ((lengths / radius) ** 2))


def sphere(n: int = 300, rng: Any = None, *, n_neighbors: int = 10) -> Graph:
    """Return a k-nearest-neighbour graph of points that are uniform on the unit sphere.

    Parameters
    ----------
    n, rng, n_neighbors
        As in :func:`sensor`.

    Returns
    -------
    Graph
        Weighted, with 3-D coordinates.

    Raises
    ------
    ParameterError
        A count is out of range.

    See Also
    --------
    cube : Another surface.
    torus : A regular one.

    Examples
    --------
    >>> sphere(100, rng=0).coordinates.shape
    (100, 3)
    """
    points = check_rng(rng).standard_normal((check_count(n, "n"), 3))
    points /= np.linalg.norm(points, axis=1, keepdims=True)
    return nearest(points, n_neighbors)


def cube(n: int = 300, rng: Any = None, *, n_neighbors: int = 10) -> Graph:
    """Return a k-nearest-neighbour graph of points that are uniform on the surface of the unit cube.

    Parameters
    ----------
    n, rng, n_neighbors
        As in :func:`sensor`.

    Returns
    -------
    Graph
        Weighted, with 3-D coordinates.

    Raises
    ------
    ParameterError
        A count is out of range.

    See Also
    --------
    sphere : Another surface.

    Examples
    --------
    >>> points = cube(100, rng=0).coordinates
    >>> bool(((points == 0) | (points == 1)).any(axis=1).all())
    True
    """
    generator, n = check_rng(rng), check_count(n, "n")
    points = generator.random((n, 3))
    points[np.arange(n), generator.integers(0, 3, n)] = generator.integers(0, 2, n)
    return nearest(points, n_neighbors)


def swiss_roll(n: int = 400, rng: Any = None, *, n_neighbors: int = 10) -> Graph:
    """Return a k-nearest-neighbour graph of points on a rolled-up strip in space.

    The position along the strip is the node column ``position``. Needs scikit-learn.

    Parameters
    ----------
    n, rng, n_neighbors
        As in :func:`sensor`.

    Returns
    -------
    Graph
        Weighted, with 3-D coordinates.

    Raises
    ------
    ParameterError
        A count is out of range.
    ImportError
        scikit-learn is not installed.

    See Also
    --------
    two_moons : Two curves in the plane.

    Examples
    --------
    >>> swiss_roll(100, rng=0).nodes["position"].shape
    (100,)
    """
    made = require("sklearn.datasets", "the swiss roll")
    seed = int(check_rng(rng).integers(2**31))
    points, position = made.make_swiss_roll(check_count(n, "n"), random_state=seed)
    return nearest(points, n_neighbors, position=position)


def two_moons(n: int = 200, rng: Any = None, *, noise: float = 0.07, n_neighbors: int = 5) -> Graph:
    """Return a k-nearest-neighbour graph of two interleaved half circles.

    The half circle of each point is the node column ``moon``. Needs scikit-learn.

    Parameters
    ----------
    n, rng
        As in :func:`sensor`.
    noise : float
        Standard deviation of the points around their half circle.
    n_neighbors : int
        As in :func:`sensor`.

    Returns
    -------
    Graph
        Weighted, with coordinates.

    Raises
    ------
    ParameterError
        A count is out of range.
    ImportError
        scikit-learn is not installed.

    See Also
    --------
    community : Groups without geometry.

    Examples
    --------
    >>> int(two_moons(100, rng=0).nodes["moon"].sum())
    50
    """
    made = require("sklearn.datasets", "two moons")
    seed = int(check_rng(rng).integers(2**31))
    points, moon = made.make_moons(check_count(n, "n"), noise=noise, random_state=seed)
    return nearest(points, n_neighbors, moon=moon)


def road(n: int = 500, rng: Any = None) -> Graph:
    """Return a planar graph like a road network: the relative neighbourhood graph of random points.

    Two points are adjacent if no third is closer to both than they are to each other. The graph is connected, planar,
    has about 1.25 edges a node and contains the minimum spanning tree. Weights are the mean length over the edge's own.

    Parameters
    ----------
    n, rng
        As in :func:`sensor`, for crossings.

    Returns
    -------
    Graph
        Weighted, with coordinates in the unit square.

    Raises
    ------
    ParameterError
        A count is out of range.

    See Also
    --------
    sensor : Nearest neighbours.
    grid : Streets at right angles.

    References
    ----------
    .. [1] G. T. Toussaint, "The relative neighbourhood graph of a finite planar set", Pattern Recognition 12(4), 1980.

    Examples
    --------
    >>> road(200, rng=0).n_components
    1
    """
    from scipy.spatial import Delaunay

    points = check_rng(rng).random((check_count(n, "n"), 2))
    pairs: Any = np.stack(np.triu_indices(n, 1), axis=1)
    if n > 3:
        corners = np.sort(Delaunay(points).simplices, axis=1)
        pairs = np.unique(np.concatenate([corners[:, [0, 1]], corners[:, [0, 2]], corners[:, [1, 2]]]), axis=0)
    pairs, lengths = _relative_neighbours(points, pairs)
    return placed(pairs.T, points, lengths.mean() / lengths if len(lengths) else None)


def _relative_neighbours(points: FloatArray, pairs: Any) -> tuple[Any, FloatArray]:
    """Return the pairs whose lune (closer to both ends than those to each other) holds no point, with their lengths."""
    from scipy.spatial import KDTree

    ends = points[pairs]
    lengths = np.linalg.norm(ends[:, 0] - ends[:, 1], axis=1)
    # The disc around the middle that holds the lune.
    near = KDTree(points).query_ball_point(ends.mean(axis=1), np.sqrt(0.75) * lengths) if len(pairs) else []
    owner = np.repeat(np.arange(len(pairs)), [len(some) for some in near])
    gaps = points[np.concatenate([*near, []]).astype(np.int64)][:, None] - ends[owner]
    inside = np.linalg.norm(gaps, axis=2).max(axis=1, initial=0.0) < lengths[owner] * (1 - 1e-12)
    empty = np.bincount(owner[inside], minlength=len(pairs)) == 0
    return pairs[empty], lengths[empty]


def image_patches(image: Any, *, patch: int = 3, n_neighbors: int = 8) -> Graph:
    """Return a graph of the pixels of an image, each joined to those with the most similar surroundings.

    Nodes and their columns are those of :func:`image_grid`. Borders are reflected.

    Parameters
    ----------
    image : array_like, shape (height, width) or (height, width, channels)
    patch : int
        Side of the square of pixels that is compared; odd.
    n_neighbors : int
        As in :func:`sensor`.

    Returns
    -------
    Graph
        Weighted, with the positions of the pixels as coordinates.

    Raises
    ------
    ParameterError
        ``image`` is not a finite image, or ``patch`` is even.

    See Also
    --------
    image_grid : Neighbouring pixels are adjacent.

    References
    ----------
    .. [1] A. Buades, B. Coll and J.-M. Morel, "A non-local algorithm for image denoising", CVPR 2005.

    Examples
    --------
    >>> image_patches(np.eye(6)).n_nodes
    36
    """
    pixels = check_image(image)
    half, odd = divmod(check_count(patch, "patch"), 2)
    if not odd:
        raise ParameterError(f"patch must be odd, not {patch}")
    padded = np.pad(pixels, ((half, half), (half, half), (0, 0)), mode="symmetric")
    windows = np.lib.stride_tricks.sliding_window_view(padded, (patch, patch), axis=(0, 1))
    features, places = windows.reshape(pixels.shape[0] * pixels.shape[1], -1), lattice_places(*pixels.shape[:2])
    return nearest(features, n_neighbors, places, **pixel_columns(pixels))
