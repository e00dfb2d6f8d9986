"""Node coordinates for drawing: stored ones, force-directed layouts, or eigenvectors of the graph."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

import numpy as np

from .._arguments import check_choice, check_rng, host_array
from ..backend import FloatArray, IntArray
from ..energy import one_hot
from ..errors import ParameterError
from ..graph import Graph
from ..operators import operator
from ..reorder import community_labels
from ..spectrum import spectrum

__all__ = ["LAYOUTS", "positions"]

STEPS = 150
# Nodes that each node is repelled by in one step; the sample changes from step to step.
PARTNERS = 100
GRAVITY = 0.6
# Communities of communities are formed while there are more than this.
FEW = 16
# The hubs pull nodes to their places early, so fewer steps do than without them.
HUB_STEPS = 80


def force_directed(graph: Graph, rng: np.random.Generator, *, steps: int = STEPS) -> FloatArray:
    """Return coordinates by the forces of Fruchterman and Reingold (Software: Practice and Experience 21, 1991).

    Repulsion comes from a random sample of nodes and is scaled up, so that a step costs O(edges + nodes); a weak
    gravity keeps the sampled forces from drifting.
    """
    at = rng.uniform(-1.0, 1.0, (graph.n_nodes, 2))
    spacing = 2.0 / np.sqrt(max(graph.n_nodes, 1))
    rows, columns = graph.rows, graph.indices
    for step in range(steps):
        attraction = _attraction(at, rows, columns, spacing)
        repulsion = _repulsion(at, rng, spacing)
        force = repulsion - attraction - GRAVITY * at * np.linalg.norm(at, axis=1, keepdims=True)
        length = np.linalg.norm(force, axis=1, keepdims=True)
        temperature = 0.25 * (1.0 - step / steps) ** 1.5
        at = at + force / np.maximum(length, 1e-12) * np.minimum(length, temperature)
    return at


def _attraction(at: FloatArray, rows: IntArray, columns: IntArray, spacing: float) -> FloatArray:
    gap = at[rows] - at[columns]
    strong = gap * np.linalg.norm(gap, axis=1, keepdims=True) / spacing
    axes = [np.bincount(rows, weights=strong[:, axis], minlength=len(at)) for axis in (0, 1)]
    return np.stack(axes, axis=1)


def _repulsion(at: FloatArray, rng: np.random.Generator, spacing: float) -> FloatArray:
    n_nodes = len(at)
    few = np.arange(n_nodes) if n_nodes <= PARTNERS else rng.choice(n_nodes, PARTNERS, replace=False)
    apart = [np.subtract.outer(at[:, axis], at[few, axis]) for axis in (0, 1)]
    strength = 1.0 / np.maximum(apart[0] ** 2 + apart[1] ** 2, 1e-4 * spacing**2)
    force = np.stack([(gap * strength).sum(axis=1) for gap in apart], axis=1)
    return np.asarray(force * spacing**2 * (n_nodes / max(len(few), 1)))


def by_communities(graph: Graph, rng: np.random.Generator) -> FloatArray:
    """Return force-directed coordinates in which each community of label propagation is drawn together.

    A hub for each community pulls its members to their common place, and so for communities of communities; the hubs
    are not drawn. The communities are those of Raghavan, Albert and Kumara (Physical Review E 76, 2007).
    """
    levels = list(_levels(graph))
    if not levels:
        return force_directed(graph, rng)
    source, target, _ = graph.edges()
    pairs, first, last = [np.stack([source, target], axis=1)], 0, graph.n_nodes
    for members in levels:
        pairs.append(np.stack([first + np.arange(len(members)), last + members], axis=1))
        first, last = last, last + int(members.max()) + 1
    joined = Graph.from_edges(np.concatenate(pairs), n_nodes=last)
    return force_directed(joined, rng, steps=HUB_STEPS)[: graph.n_nodes]


def _levels(graph: Graph) -> Iterator[IntArray]:
    """Yield the community of each node, then that of each community, down to a few."""
    while graph.n_nodes > FEW:
        groups, members = np.unique(community_labels(graph), return_inverse=True)
        if len(groups) in (1, graph.n_nodes):
            return
        yield members
        joins = one_hot(members)
        graph = Graph.from_adjacency(joins.T @ abs(graph.adjacency) @ joins, loops="drop")


# Up to this size the force-directed layout takes seconds.
SPRING_NODES = 500
# Of the side of a node's own square, between components.
GAP = 0.35
FLATNESS = 0.6
# Parallel projection of three coordinates, seen from the side and from above.
VIEW = np.array([[0.87, -0.25], [0.5, 0.43], [0.0, 0.87]])
# The place of an isolated node in its own square.
POINT = np.array([[0.5, 0.5]])
# Components of two or three nodes, of which citation graphs have hundreds, are drawn as a line or a triangle.
TINY = 3


def _spectral(graph: Graph, rng: np.random.Generator) -> FloatArray:
    """Return the two non-constant eigenvectors of lowest frequency; neighbours have similar coordinates."""
    if graph.n_nodes < 3:
        return np.stack([np.arange(graph.n_nodes), np.zeros(graph.n_nodes)], axis=1)
    return np.asarray(spectrum(operator(graph, "rw", "high"), k=3).basis[:, 1:3])


def _polygon(corners: int) -> FloatArray:
    angles = 2 * np.pi * np.arange(corners) / max(corners, 1)
    return np.stack([np.sin(angles), np.cos(angles)], axis=1)


Layout = Callable[[Graph, np.random.Generator], FloatArray]
# Each places one connected component; components are set side by side afterwards.
LAYOUTS: dict[str, Layout] = {
    "spring": force_directed,
    "spectral": _spectral,
    "circle": lambda graph, rng: _polygon(graph.n_nodes),
    "communities": by_communities,
}


def positions(graph: Graph, layout: Any = None, *, rng: Any = 0) -> FloatArray:
    """Return coordinates of the nodes for drawing, shape (n_nodes, 2).

    Parameters
    ----------
    graph : Graph
    layout : {'spring', 'spectral', 'circle', 'communities'} or array_like of shape (n_nodes, 2), optional
        Given coordinates are used unchanged. ``spring`` is force-directed; ``spectral`` uses the second and third
        eigenvector of the random walk as x and y; ``communities`` is force-directed with the communities of label
        propagation drawn together. By default the graph's own coordinates, three of them projected to a plane; without
        any, ``spring`` up to 500 nodes, ``spectral`` beyond.
    rng : None, int or Generator
        Random numbers of the force-directed layout; the same seed gives the same coordinates.

    Returns
    -------
    ndarray, shape (n_nodes, 2)
        Components stand side by side. A connected graph fills the unit square.

    Raises
    ------
    ParameterError
        The layout is unknown, or its coordinates are not ``n_nodes`` finite pairs.

    See Also
    --------
    signal : Draw values at these coordinates.
    labels : Draw classes at these coordinates.

    Examples
    --------
    >>> from gsp_fb.datasets import ring
    >>> positions(ring(4), "circle").round(6) + 0.0
    array([[0.5, 1. ],
           [1. , 0.5],
           [0.5, 0. ],
           [0. , 0.5]])
    """
    if layout is None and graph.coordinates is not None:
        own = graph.coordinates
        return own if own.shape[1] == 2 else np.asarray(own @ VIEW)
    if layout is not None and not isinstance(layout, str):
        return _stored(layout, graph.n_nodes)
    quick = "spring" if graph.n_nodes <= SPRING_NODES else "spectral"
    place, generator = LAYOUTS[check_choice(layout or quick, LAYOUTS, "layout")], check_rng(rng)
    members = _components(graph)
    boxes = [_placed(graph, nodes, place, generator) for nodes in members]
    places = np.zeros((graph.n_nodes, 2))
    for nodes, box, corner in zip(members, boxes, _corners([len(nodes) ** 0.5 for nodes in members]), strict=True):
        # A component alone fills the unit square; several share the plane by their numbers of nodes.
        places[nodes] = box * (len(nodes) ** 0.5 if len(members) > 1 else 1.0) + corner
    return places


def _placed(graph: Graph, nodes: IntArray, place: Layout, rng: np.random.Generator) -> FloatArray:
    """Return the places of one component in its own square; a flat drawing is stretched, up to FLATNESS."""
    if len(nodes) <= 1:
        return POINT
    if len(nodes) <= TINY and len(nodes) < graph.n_nodes:
        places = _polygon(len(nodes))
    else:
        whole = len(nodes) == graph.n_nodes and not graph.directed
        part = graph if whole else Graph.from_adjacency(graph.adjacency[nodes][:, nodes], symmetrize="max")
        places = place(part, rng)
    middle = (places.max(axis=0) + places.min(axis=0)) / 2
    spread = np.ptp(places, axis=0)
    width = np.maximum(spread, FLATNESS * spread.max())
    return np.asarray((places - middle) / np.where(width > 0, width, 1.0) + 0.5)


def _stored(layout: Any, n_nodes: int) -> FloatArray:
    places = np.asarray(host_array(layout, ParameterError, "layout"), dtype=np.float64)
    if places.shape != (n_nodes, 2) or not np.isfinite(places).all():
        wanted = f"coordinates are {n_nodes} finite pairs, or name one of {', '.join(LAYOUTS)}"
        raise ParameterError(f"layout has shape {places.shape}; {wanted}")
    return places


def _components(graph: Graph) -> list[IntArray]:
    """Return the nodes of each component, largest first."""
    names = graph.component_labels
    order = np.argsort(names, kind="stable")
    groups = np.split(order, np.flatnonzero(np.diff(names[order])) + 1) if len(order) else []
    return sorted(groups, key=len, reverse=True)


def _corners(sides: list[float]) -> list[FloatArray]:
    """Return lower left corners that set squares, largest first, on shelves of about equal width."""
    area = sum(side**2 for side in sides)
    # Beside one that has more than half of the nodes a shelf would stay empty: it has its shelf for itself.
    giant = len(sides) > 1 and sides[0] ** 2 > area / 2
    shelf = sides[0] if giant else max([area**0.5 * 1.2, *sides], default=0.0)
    corners, x, y, height = [], 0.0, 0.0, 0.0
    for side in sides:
        if x and x + side > shelf:
            x, y, height = 0.0, y - height - GAP, 0.0
        height = max(height, side)
        corners.append(np.array([x, y - side]) if len(sides) > 1 else np.zeros(2))
        x += side + GAP
    return corners
