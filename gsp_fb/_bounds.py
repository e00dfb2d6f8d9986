"""Where the eigenvalues can lie, from formulas: Gershgorin for normalised operators, Merris for ``D - A``."""

from __future__ import annotations

import math

from .backend import FloatArray, namespace, product
from .graph import Graph

__all__ = ["extent", "gershgorin", "loop_loss", "merris"]


def extent(graph: Graph, values: FloatArray) -> tuple[float, float]:
    """Return the minimum and the maximum of values that belong to the nodes, over all processes."""
    xp = namespace(values)
    ends = (float(xp.min(values)), float(xp.max(values))) if values.shape[0] else (math.inf, -math.inf)
    minimum, maximum = (graph.storage.reduce(end, how) for end, how in zip(ends, ("min", "max"), strict=True))
    return float(minimum), float(maximum)


def loop_loss(graph: Graph) -> FloatArray:
    """Return ``|A_ii| - A_ii``, what a negative self-loop adds to the degree and takes from the diagonal."""
    loss: FloatArray = namespace(graph.degrees).abs(graph.loop_weights) - graph.loop_weights
    return loss


def gershgorin(graph: Graph, diagonal: FloatArray, row_sums: FloatArray, loss: FloatArray) -> tuple[float, float]:
    """Return a closed interval that holds every eigenvalue of a normalised low channel with this ``diagonal``.

    ``row_sums`` are those of absolute values in the random-walk form, ``loss`` is ``|a_ii| - a_ii`` there. Disc i of
    ``D~^-1 A~`` has the centre a_ii and the radius (row sum of absolute values - |a_ii|).
    """
    if graph.n_nodes == 0:
        return 1.0, 1.0
    upper = extent(graph, row_sums - loss)[1]
    # A node whose only edge is a loop has a disc of radius zero, which rounding may turn inside out.
    return min(extent(graph, 2.0 * diagonal - row_sums + loss)[0], upper), upper


def merris(graph: Graph) -> float:
    """Return max_i d_i + (1/d_i) sum_j |w_ij| d_j >= lambda_max(D - A), loops left out as they cancel in D - A.

    A negative loop does not cancel: it adds ``2 |A_ii|`` to the diagonal.
    """
    xp = namespace(graph.degrees)
    loops = xp.abs(graph.loop_weights)
    degrees, loss = graph.degrees - loops, loop_loss(graph)
    _, largest = extent(graph, degrees)
    if largest <= 0:
        return max(extent(graph, loss)[1], 0.0)
    # Relative degrees keep the product from overflowing where the weights are huge.
    relative = degrees / largest
    reached = product(graph.storage.magnitudes, relative) - loops * relative
    mean = xp.where(relative > 0, reached / xp.where(relative > 0, relative, 1.0), 0.0)
    return extent(graph, degrees + mean + loss)[1]
