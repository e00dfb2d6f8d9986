"""Kron reduction: the Schur complement of the combinatorial Laplacian with respect to the nodes that are dropped."""

from __future__ import annotations

from typing import Any

import numpy as np
from scipy import sparse
from scipy.sparse import csgraph
from scipy.sparse.linalg import splu

from .._arguments import check_count, check_host, check_nodes
from .._build import drop_loops
from ..backend import IntArray
from ..errors import GraphError, ParameterError
from ..graph import Graph

__all__ = ["check_reducible", "fill_in", "kron", "sampled_kron"]

# Entries of the result that are rounding of a zero, relative to the degrees of their ends.
ROUNDING = 64 * float(np.finfo(np.float64).eps)
MAX_ENTRIES = 200_000_000


def kron(graph: Graph, keep: Any, *, max_entries: int = MAX_ENTRIES) -> Graph:
    r"""Return the Kron-reduced graph on the nodes ``keep``.

    Its Laplacian is the Schur complement :math:`L_{KK} - L_{KE} L_{EE}^{-1} L_{EK}` of L = D - A, E being the nodes
    that are dropped: as seen from K, the same electrical network. Effective resistances between kept nodes, the number
    of components that hold a kept node, and the interlacing of eigenvalues are preserved.

    Parameters
    ----------
    graph : Graph
        Undirected. Self-loops cancel in L; those of kept nodes are kept.
    keep : array_like of int or bool
        Node numbers, or a mask; the result numbers them in the given order.
    max_entries : int
        Dense blocks with more entries than this are refused before they are computed: a connected group of dropped
        nodes joins all kept nodes around it, b^2 entries of b nodes. Time and memory follow this fill-in.

    Returns
    -------
    Graph
        Weighted; names of the nodes are those of ``graph``.

    Raises
    ------
    GraphError
        The graph is directed, has negative or complex weights, or a component has no kept node and would vanish.
    ParameterError
        ``keep`` is not a set of nodes, or the reduction fills in beyond ``max_entries``.

    See Also
    --------
    gsp_fb.resistance : Effective resistances, which the reduction preserves.
    Pyramid : Repeated reduction, sampled where this one would fill in.

    References
    ----------
    .. [1] F. Dörfler and F. Bullo, "Kron reduction of graphs with applications to electrical networks", IEEE TCAS-I
       60(1), 2013.

    Examples
    --------
    >>> path = Graph.from_edges([(0, 1), (1, 2)])
    >>> reduced = kron(path, [0, 2])
    >>> reduced.n_edges, float(reduced.degrees[0])
    (1, 0.5)
    """
    check_reducible(graph, "Kron reduction")
    keep = _check_keep(keep, graph.n_nodes)
    drop = np.setdiff1d(np.arange(graph.n_nodes), keep)
    A = drop_loops(graph.adjacency)
    _check_components(graph, keep)
    _check_fill(A, keep, drop, check_count(max_entries, "max_entries"))
    degrees = np.asarray(A.sum(axis=1)).ravel()
    schur = _schur(A, degrees, keep, drop) if len(drop) else A[keep][:, keep]
    loops = sparse.dia_array((graph.loop_weights[keep][None, :], [0]), shape=schur.shape)
    return Graph.from_adjacency(schur + loops, symmetrize="mean", nodes=graph.nodes.take(keep))


def check_reducible(graph: Graph, what: str) -> None:
    """Raise GraphError unless a graph is undirected, without negative weights, and in the memory of the host."""
    graph.in_memory()
    check_host(graph.device, f"{what} runs")
    if graph.directed:
        raise GraphError(f"{what} needs an undirected graph; give symmetrize= to the graph")
    graph.check_unsigned(what)


def _check_keep(keep: Any, n_nodes: int) -> IntArray:
    """Return a set of nodes, given by number or as a mask, as distinct node numbers."""
    nodes = np.asarray(keep)
    if nodes.dtype.kind != "b":
        return check_nodes(nodes, n_nodes, "keep, unless it is a mask,")
    if nodes.shape != (n_nodes,) or not nodes.any():
        found = f"{nodes.size} entries, {np.count_nonzero(nodes)} of them True"
        raise ParameterError(f"the mask keep has {found}; it must have {n_nodes} entries, at least one of them True")
    return np.flatnonzero(nodes)


def _check_components(graph: Graph, keep: IntArray) -> None:
    lost = np.setdiff1d(graph.component_labels, graph.component_labels[keep])
    if lost.size:
        node = int(np.flatnonzero(graph.component_labels == lost[0])[0])
        raise GraphError(
            f"{lost.size} components have no kept node and would vanish, the one of node {node} for instance; keep a "
            "node of each, or take a subgraph first"
        )


def fill_in(A: Any, keep: IntArray, drop: IntArray) -> tuple[float, int]:
    """Return an upper bound on new entries, and the largest clique: a group of dropped nodes joins all around it."""
    if not len(drop):
        return 0.0, 0
    n_groups, groups = csgraph.connected_components(A[drop][:, drop], directed=False)
    touched = A[drop][:, keep].tocoo()
    pairs = np.unique(np.stack([groups[touched.row], touched.col]), axis=1)
    around = np.bincount(pairs[0], minlength=n_groups).astype(np.float64)
    return float(np.sum(around**2)), int(around.max())


def _check_fill(A: Any, keep: IntArray, drop: IntArray, max_entries: int) -> None:
    entries, largest = fill_in(A, keep, drop)
    if entries > max_entries:
        raise ParameterError(
            f"the reduced graph could have {entries:.2g} entries (max_entries={max_entries:.2g}): dropped nodes form "
            f"groups with up to {largest} kept neighbours; keep more nodes, or raise max_entries"
        )


def _schur(A: Any, degrees: Any, keep: IntArray, drop: IntArray) -> Any:
    """Return the adjacency of the reduced graph: A_KK + A_KE L_EE^-1 A_EK without its diagonal.

    L_EE is block diagonal, one block for each connected group of dropped nodes. Groups of one node, most of them where
    dropped nodes are scattered, need no factorisation: together they are one sparse product.
    """
    inner, towards = sparse.csr_array(A[drop][:, drop]), sparse.csr_array(A[drop][:, keep])
    groups = csgraph.connected_components(inner, directed=False)[1]
    sizes = np.bincount(groups)
    single = np.flatnonzero(sizes[groups] == 1)
    part = towards[single]
    reduced = A[keep][:, keep] + part.T @ (sparse.diags_array(1.0 / degrees[drop][single]) @ part)
    order = np.argsort(groups, kind="stable")
    for members in np.split(order, np.cumsum(sizes)[:-1]):
        if len(members) > 1:
            block = sparse.diags_array(degrees[drop][members]) - inner[members][:, members]
            reduced = reduced + _clique(block, towards[members])
    return _cleaned(sparse.csr_array(reduced), degrees[keep])


def _clique(block: Any, towards: Any) -> Any:
    """Return T' B^-1 T of one group, over the kept nodes that it touches alone."""
    touched = np.unique(towards.indices)
    local = sparse.csc_array(towards[:, touched])
    solved = splu(sparse.csc_array(block), permc_spec="MMD_AT_PLUS_A").solve(local.toarray())
    clique = sparse.coo_array(local.T @ solved)
    ends = touched[clique.row], touched[clique.col]
    return sparse.csr_array((clique.data, ends), shape=(towards.shape[1], towards.shape[1]))


def _cleaned(schur: Any, degrees: Any) -> Any:
    """Return the matrix symmetric, without diagonal and without entries that are rounding of zero."""
    entries = ((schur + schur.T) / 2).tocoo()
    noise = ROUNDING * np.sqrt(degrees[entries.row] * degrees[entries.col])
    real = (entries.row != entries.col) & (entries.data > noise)
    return sparse.csr_array((entries.data[real], (entries.row[real], entries.col[real])), shape=schur.shape)


def sampled_kron(graph: Graph, keep: IntArray, rng: np.random.Generator) -> Graph:
    """Return a random graph on ``keep`` whose expected Laplacian is the Kron-reduced one, with no more edges.

    Eliminating a node of degree d makes a clique; its sampled tree has d - 1 edges, the right expectation, and leaves
    connected what was connected. Nodes of an independent set are eliminated together. R. Kyng and S. Sachdeva,
    "Approximate Gaussian elimination for Laplacians", FOCS 2016.
    """
    A, left = drop_loops(graph.adjacency), np.ones(graph.n_nodes, dtype=bool)
    left[keep] = False
    while left.any():
        chosen = _independent(A, left, rng)
        left[chosen] = False
        A = _eliminated(A, chosen, rng)
    loops: Any = sparse.diags_array(np.asarray(graph.loop_weights[keep]))
    return Graph.from_adjacency(A[keep][:, keep] + loops, nodes=graph.nodes.take(keep))


def _independent(A: Any, left: Any, rng: np.random.Generator) -> IntArray:
    """Return nodes to eliminate, no two adjacent: those of lower degree than their neighbours that are left."""
    # Degrees plus a random fraction are distinct, so at least one node is chosen.
    rank = np.diff(A.indptr) + rng.random(len(left))
    rank[~left] = np.inf
    rows = np.repeat(np.arange(len(left)), np.diff(A.indptr))
    beaten = np.zeros(len(left), dtype=bool)
    beaten[rows[rank[A.indices] < rank[rows]]] = True
    return np.flatnonzero(left & ~beaten)


def _eliminated(A: Any, chosen: IntArray, rng: np.random.Generator) -> Any:
    """Return the adjacency without the chosen nodes: their neighbours joined by trees."""
    gone = np.zeros(A.shape[0], dtype=bool)
    gone[chosen] = True
    entries = A.tocoo()
    rest = ~(gone[entries.row] | gone[entries.col])
    first, second, weights = _trees(A[chosen], rng)
    rows = np.concatenate([entries.row[rest], first, second])
    columns = np.concatenate([entries.col[rest], second, first])
    values = np.concatenate([entries.data[rest], weights, weights])
    return sparse.csr_array((values, (rows, columns)), shape=A.shape)


def _trees(stars: Any, rng: np.random.Generator) -> tuple[Any, Any, Any]:
    """Return the edges of one tree a row: each neighbour, lightest first, draws one of the heavier by weight."""
    rows = np.repeat(np.arange(stars.shape[0]), np.diff(stars.indptr))
    order = np.lexsort((stars.data, rows))
    nodes, weights, last = stars.indices[order], stars.data[order], stars.indptr[1:][rows] - 1
    # Each row sums to 1. The heaviest entry comes last, so that the sums of heavier ones are of the row's own size.
    sums = np.cumsum(weights / np.bincount(rows, weights, stars.shape[0])[rows])
    heavier = sums[last] - sums
    drawing = np.flatnonzero(np.arange(len(nodes)) < last)
    drawn = np.searchsorted(sums, sums[drawing] + rng.random(len(drawing)) * heavier[drawing])
    partner = np.clip(drawn, drawing + 1, last[drawing])
    return nodes[drawing], nodes[partner], (weights * heavier)[drawing]
