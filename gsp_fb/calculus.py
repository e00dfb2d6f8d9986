r"""Vertex calculus: gradient, divergence, incidence and total variation, with divergence of gradient equal to L.

Every high channel of an undirected graph factors over the edges. With the vectors ``left`` (negative) and ``right`` of
the operator and an orientation i -> j of each edge,

.. math:: (\nabla x)_e = \sqrt{w_{ij}}\,(r_j x_j - r_i x_i), \qquad
          (\mathrm{div} f)_i = -l_i \sum_{e} \pm\sqrt{w_e}\, f_e, \qquad \mathrm{div}\,\nabla x = L x .

Self-loops, the graph's own and those a family adds, cancel in L and have a zero gradient.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from ._arguments import check_choice, check_signal, host_array
from .backend import FloatArray, Signal, abs_squared, asarray_like, column, csr, group_sum, namespace, to_dense
from .errors import GraphError, ParameterError, SignalError
from .operators import Operator, check_operator

__all__ = ["divergence", "gradient", "incidence", "total_variation"]

NORMS = ("anisotropic", "isotropic")


def gradient(op: Operator, x: Any) -> Signal:
    r"""Return the gradient of a signal: one value an edge, in the order of ``op.graph.edges()``.

    For ``comb`` the value of edge (i, j) is :math:`\sqrt{w_{ij}} (x_j - x_i)`; symmetric normalised families divide
    each end by :math:`\sqrt{\tilde d}`, random-walk families do not.

    Parameters
    ----------
    op : Operator
        High channel of an undirected graph.
    x : array_like or sparse, shape (n_nodes,) or (n_nodes, n_signals)

    Returns
    -------
    array, shape (n_edges,) or (n_edges, n_signals)
        Dense; a self-loop has gradient 0.

    Raises
    ------
    ParameterError
        ``op`` is a low channel, or gives isolated nodes the frequency 1 (``isolated='zero'``), which no edge carries.
    GraphError
        The graph is directed, or has negative or complex weights.

    See Also
    --------
    divergence : The adjoint; ``divergence(op, gradient(op, x))`` equals ``op @ x``.
    incidence : The same map as a sparse matrix.
    total_variation : Sum of absolute values or squares of the gradient.

    References
    ----------
    .. [1] D. I. Shuman et al., "The emerging field of signal processing on graphs", IEEE SPM 30(3), 2013, section II.

    Examples
    --------
    >>> from gsp_fb import Graph, operator
    >>> path = operator(Graph.from_edges([(0, 1), (1, 2)]), "comb", channel="high")
    >>> gradient(path, [1.0, 5.0, 3.0])
    array([ 4., -2.])
    """
    _check_factored(op)
    x = to_dense(op.graph.check_signal(x))
    source, target, roots = _edges(op)
    xp = namespace(x)
    scaled = column(op.right, x) * x
    difference = xp.take(scaled, target, axis=0) - xp.take(scaled, source, axis=0)
    values = difference if roots is None else column(roots, difference) * difference
    return xp.astype(values, x.dtype)


def divergence(op: Operator, flow: Any) -> Signal:
    r"""Return the divergence of edge values: the adjoint of :func:`gradient` in the operator's inner product.

    Parameters
    ----------
    op : Operator
        High channel of an undirected graph.
    flow : array_like, shape (n_edges,) or (n_edges, n_signals)
        One value an edge, positive from source to target of ``op.graph.edges()``.

    Returns
    -------
    array, shape (n_nodes,) or (n_nodes, n_signals)

    Raises
    ------
    SignalError
        ``flow`` has another length than the graph has edges, or is not finite.
    ParameterError, GraphError
        As in :func:`gradient`.

    See Also
    --------
    gradient : Edge differences of a signal.

    Examples
    --------
    >>> from gsp_fb import Graph, operator
    >>> path = operator(Graph.from_edges([(0, 1), (1, 2)]), "comb", channel="high")
    >>> divergence(path, gradient(path, [1.0, 5.0, 3.0])), path @ [1.0, 5.0, 3.0]
    (array([-4.,  6., -2.]), array([-4.,  6., -2.]))
    """
    _check_factored(op)
    source, target, roots = _edges(op)
    flow, n_edges = host_array(flow, SignalError, "flow"), int(source.shape[0])
    if flow.ndim not in (1, 2) or flow.shape[0] != n_edges:
        raise SignalError(
            f"flow has shape {tuple(flow.shape)} but the graph has {n_edges} edges; its order is graph.edges()"
        )
    flow = check_signal(flow, n_edges)
    xp = namespace(flow)
    weighted = flow if roots is None else column(roots, flow) * flow
    n_nodes = op.graph.n_nodes
    net = group_sum(target, weighted, n_nodes) - group_sum(source, weighted, n_nodes)
    return xp.astype(column(-op.left, net) * net, flow.dtype)


def incidence(op: Operator) -> Any:
    r"""Return the weighted incidence matrix B with ``B @ x == gradient(op, x)``, sparse.

    For symmetric families :math:`L = B^\top B`.

    Parameters
    ----------
    op : Operator
        High channel of an undirected graph.

    Returns
    -------
    csr array, shape (n_edges, n_nodes)

    See Also
    --------
    gradient : The product with a signal, without the matrix.

    Examples
    --------
    >>> from gsp_fb import Graph, operator
    >>> incidence(operator(Graph.from_edges([(0, 1), (1, 2)]), "comb", channel="high")).toarray()
    array([[-1.,  1.,  0.],
           [ 0., -1.,  1.]])
    """
    _check_factored(op)
    source, target, roots = _edges(op)
    xp = namespace(op.right)
    ends = xp.take(op.right, source), xp.take(op.right, target)
    low, high = ends if roots is None else (roots * ends[0], roots * ends[1])
    n_edges = int(source.shape[0])
    # A self-loop has both entries in one column, where they cancel.
    columns = xp.reshape(xp.stack((source, target), axis=1), (-1,))
    indptr = asarray_like(np.arange(0, 2 * n_edges + 1, 2), source, source.dtype)
    return csr(xp.reshape(xp.stack((-low, high), axis=1), (-1,)), columns, indptr, (n_edges, op.graph.n_nodes))


def total_variation(
    op: Operator, x: Any, *, p: int = 1, kind: str = "anisotropic", per_column: bool = False
) -> float | FloatArray:
    r"""Return the total variation of a signal: :math:`\sum_e |(\nabla x)_e|^p`, p = 1 or 2.

    With p = 2 it is the Dirichlet energy. ``kind='isotropic'`` (p = 1) sums the Euclidean norm of each node's local
    gradient, :math:`\sum_i (\sum_{e \ni i} |(\nabla x)_e|^2)^{1/2}`.

    Parameters
    ----------
    op, x
        As in :func:`gradient`.
    p : {1, 2}
    kind : {'anisotropic', 'isotropic'}
    per_column : bool
        One value per signal instead of their sum.

    Returns
    -------
    float or ndarray, shape (n_signals,)

    Raises
    ------
    ParameterError
        ``p`` is neither 1 nor 2, or ``kind='isotropic'`` with p = 2.

    See Also
    --------
    gradient : The edge differences that are summed.
    gsp_fb.dirichlet_energy : The same for p = 2.

    Examples
    --------
    >>> from gsp_fb import Graph, operator
    >>> path = operator(Graph.from_edges([(0, 1), (1, 2)]), "comb", channel="high")
    >>> total_variation(path, [1.0, 5.0, 3.0]), total_variation(path, [1.0, 5.0, 3.0], p=2)
    (6.0, 20.0)
    """
    if p not in (1, 2) or isinstance(p, bool):
        raise ParameterError(f"p must be 1 or 2, not {p!r}")
    if check_choice(kind, NORMS, "kind") == "isotropic" and p == 2:
        raise ParameterError("kind='isotropic' is a sum of norms: give p=1")
    slopes = gradient(op, x)
    xp = namespace(slopes)
    squares = xp.astype(abs_squared(slopes), xp.float64)
    if kind == "isotropic":
        source, target, _ = _edges(op)
        n_nodes = op.graph.n_nodes
        terms = xp.sqrt(group_sum(source, squares, n_nodes) + group_sum(target, squares, n_nodes))
    else:
        terms = squares if p == 2 else xp.sqrt(squares)
    sums = xp.sum(terms, axis=0)
    return xp.reshape(sums, (-1,)) if per_column else float(xp.sum(sums))


def _edges(op: Operator) -> tuple[Any, Any, FloatArray | None]:
    """Return source, target and root weight of every edge; None for unit weights."""
    source, target, weights = op.graph.edges()
    return source, target, None if weights is None else namespace(weights).sqrt(weights)


def _check_factored(op: Operator) -> None:
    if check_operator(op).graph.directed:
        raise GraphError("a directed graph's operator has no gradient here; give symmetrize= to the graph")
    op.graph.check_unsigned("a gradient")
    if op.channel != "high":
        raise ParameterError(f"{op!r} is a low channel; a gradient belongs to the high one, op.complement()")
    if op.isolated == "zero" and op.family != "comb" and op.graph.n_isolated:
        raise ParameterError(
            f"{op!r} has frequency 1 at {op.graph.n_isolated} isolated nodes, which no edge carries; "
            "give isolated='self' to operator"
        )
