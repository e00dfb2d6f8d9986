"""Effective resistances: how well two nodes are connected by all paths between them."""

from __future__ import annotations

from typing import Any

import numpy as np

from ._arguments import check_host, check_positive, host_array
from ._eigen import null_space
from .backend import FloatArray
from .errors import GraphError, ParameterError
from .graph import Graph
from .operators import operator
from .solvers import Solver, System

__all__ = ["laplacian_solver", "resistance"]

# Right-hand sides that are solved for together.
COLUMNS = 16


def resistance(graph: Graph, pairs: Any, *, tol: float = 1e-10) -> FloatArray:
    r"""Return the effective resistance between nodes, the graph read as a network of conductances.

    .. math:: r_{uv} = (e_u - e_v)^\top L^+ (e_u - e_v), \qquad L = D - A

    An edge of weight ``w`` is a resistor of ``1 / w``; self-loops carry no current. ``r`` is a metric on a connected
    graph, and ``w_uv r_uv`` is the probability that a random spanning tree contains the edge. One linear system is
    solved per pair, or per node where fewer nodes than pairs occur.

    Parameters
    ----------
    graph : Graph
        Undirected, on the CPU.
    pairs : array_like of int, shape (n_pairs, 2)
    tol : float
        Relative residual of the linear systems; up to a hundred times as much where rounding allows no better (paths of
        ten thousands of nodes).

    Returns
    -------
    float64 array, shape (n_pairs,)
        0 for a node with itself, and ``inf`` for nodes of different components, between which no current flows.

    Raises
    ------
    GraphError
        The graph is directed, has negative or complex weights, or is on a GPU.
    ParameterError
        ``pairs`` has another shape, or names a node that does not exist.
    ConvergenceError
        A system was not solved to ``tol``.

    See Also
    --------
    spectrum : The eigendecomposition, of which resistance is the sum over modes of squared differences.

    References
    ----------
    .. [1] D. J. Klein and M. Randic, "Resistance distance", J. Math. Chem. 12 (1993) 81-95.
    .. [2] D. A. Spielman and N. Srivastava, "Graph sparsification by effective resistances", SIAM J. Comput. 40 (2011)
       1913-1926.

    Examples
    --------
    Two resistors in series, and two in parallel:

    >>> resistance(Graph.from_edges([(0, 1), (1, 2)]), [(0, 2)]).round(6)
    array([2.])
    >>> resistance(Graph.from_edges([(0, 1), (1, 2), (2, 3), (3, 0)]), [(0, 2), (0, 0)]).round(6)
    array([1., 0.])
    """
    graph.check_unsigned("an effective resistance")
    if graph.directed:
        raise GraphError("a directed graph has no effective resistances; give symmetrize= to the graph")
    check_host(graph.device, "effective resistances are solved for")
    pairs, tol = _check_pairs(graph, pairs), check_positive(tol, "tol")
    found = np.where(pairs[:, 0] == pairs[:, 1], 0.0, np.inf)
    labels = graph.component_labels
    joined = np.flatnonzero((pairs[:, 0] != pairs[:, 1]) & (labels[pairs[:, 0]] == labels[pairs[:, 1]]))
    if len(joined):
        unique, place = np.unique(np.sort(pairs[joined], axis=1), axis=0, return_inverse=True)
        found[joined] = _resistances(graph, unique, tol)[np.ravel(place)]
    return found


def _check_pairs(graph: Graph, pairs: Any) -> Any:
    array = np.asarray(host_array(pairs, ParameterError, "pairs"))
    if array.size == 0:
        return np.empty((0, 2), dtype=np.int64)
    if array.ndim != 2 or array.shape[1] != 2 or array.dtype.kind not in "iu":
        raise ParameterError(
            f"pairs have shape {array.shape} and dtype {array.dtype}; they must be (n_pairs, 2) integers"
        )
    outside = (array < 0) | (array >= graph.n_nodes)
    if outside.any():
        raise ParameterError(f"node {array[outside][0]} is not in the graph; nodes are 0..{graph.n_nodes - 1}")
    return array.astype(np.int64)


def _resistances(graph: Graph, pairs: Any, tol: float) -> FloatArray:
    """Return the resistances of distinct pairs of distinct nodes of one component each."""
    solver, size = laplacian_solver(graph)
    nodes, place = np.unique(pairs, return_inverse=True)
    first, second = place.reshape(pairs.shape).T
    if len(nodes) >= len(pairs):
        potentials = _potentials(solver, pairs, [1.0, -1.0], nodes, tol)
        columns = np.arange(len(pairs))
        return np.asarray(potentials[first, columns] - potentials[second, columns]) / size
    inverse = _potentials(solver, nodes[:, None], [1.0], nodes, tol)
    across = inverse[first, first] + inverse[second, second] - inverse[first, second] - inverse[second, first]
    return np.asarray(across) / size


def laplacian_solver(graph: Graph) -> tuple[Solver, float]:
    """Return a solver of the Laplacian divided by its largest entry, and that entry."""
    high = operator(graph, "comb", channel="high")
    size = float(high.diagonal.max())
    diagonal = high.diagonal / size
    system = System(
        lambda x: high.apply(x) / size,
        np.where(diagonal > 0, diagonal, 1.0),
        lambda: high.to_scipy() / size,
        np.ones(graph.n_nodes),
        null_space(high).project_out,
    )
    return Solver(system), size


def _potentials(solver: Solver, sources: Any, currents: list[float], at: Any, tol: float) -> FloatArray:
    """Return one column of potentials ``at`` some nodes for each row of ``sources``, where ``currents`` enter."""
    blocks = []
    for start in range(0, len(sources), COLUMNS):
        block = sources[start : start + COLUMNS]
        right = np.zeros((len(solver.system.diagonal), len(block)))
        right[block, np.arange(len(block))[:, None]] = currents
        blocks.append(solver.solve_to(solver.system.project(right), tol)[at])
    return np.concatenate(blocks, axis=1)
