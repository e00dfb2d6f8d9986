"""The matrices of the paper as dense arrays, the oracle of :func:`gsp_fb.verify` and of the tests, and its tolerance.

They are computed from their definitions, independent of the operators. Low and high channels are separate formulas;
neither is computed as the identity minus the other.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import numpy.typing as npt

from .._arguments import check_choice
from ..backend import FloatArray
from ..graph import Graph
from ..operators import Operator
from ..variants import CHANNELS, ISOLATED, VARIANTS, check_family, check_gamma

__all__ = ["DENSE", "paper_dense", "paper_matrix", "tolerance"]

# Covers the constants of a few matrix products and one decomposition; a wrong formula differs by far more.
ROUNDINGS = 64

Formula = Callable[[Any, Any, float], Any]


def _inverse(degrees: FloatArray) -> FloatArray:
    """Return the diagonal of D^-1, with 0 for zero degrees, which the paper excludes."""
    return np.divide(1.0, degrees, out=np.zeros_like(degrees), where=degrees > 0)


def _sym(A: FloatArray, d: FloatArray) -> FloatArray:
    root = np.sqrt(_inverse(d))
    return np.asarray(root[:, None] * A * root[None, :])


def _rw(A: FloatArray, d: FloatArray) -> FloatArray:
    return np.asarray(_inverse(d)[:, None] * A)


# (family, channel) -> formula in A, d = |A| 1 and gamma, for a graph without isolated nodes.
DENSE: dict[tuple[str, str], Formula] = {
    ("comb", "low"): lambda A, d, gamma: np.eye(len(A)) - (np.diag(d) - A),
    ("comb", "high"): lambda A, d, gamma: np.diag(d) - A,
    ("sym", "low"): lambda A, d, gamma: _sym(A, d),
    ("sym", "high"): lambda A, d, gamma: _sym(np.diag(d) - A, d),
    ("rw", "low"): lambda A, d, gamma: _rw(A, d),
    ("rw", "high"): lambda A, d, gamma: _rw(np.diag(d) - A, d),
    ("renorm_sym", "low"): lambda A, d, gamma: _sym(A + gamma * np.eye(len(A)), d + gamma),
    ("renorm_sym", "high"): lambda A, d, gamma: _sym(np.diag(d) - A, d + gamma),
    ("renorm_rw", "low"): lambda A, d, gamma: _rw(A + gamma * np.eye(len(A)), d + gamma),
    ("renorm_rw", "high"): lambda A, d, gamma: _rw(np.diag(d) - A, d + gamma),
    ("lazy_sym", "low"): lambda A, d, gamma: (gamma * np.eye(len(A)) + _sym(A, d)) / (1.0 + gamma),
    ("lazy_sym", "high"): lambda A, d, gamma: (np.eye(len(A)) - _sym(A, d)) / (1.0 + gamma),
    ("lazy_rw", "low"): lambda A, d, gamma: (gamma * np.eye(len(A)) + _rw(A, d)) / (1.0 + gamma),
    ("lazy_rw", "high"): lambda A, d, gamma: (np.eye(len(A)) - _rw(A, d)) / (1.0 + gamma),
}


def paper_dense(
    graph: Graph, family: str, channel: str = "low", gamma: float | None = None, isolated: str = "self"
) -> FloatArray:
    """Return a matrix of the paper, dense and computed from its definition; memory grows with the square of the nodes.

    Where the definition divides by the degree of an isolated node, the diagonal entry is that of the policy: 1 in the
    low channel for ``isolated='self'``, 0 for ``'zero'``, and the reverse in the high one.

    Parameters
    ----------
    graph, family, channel, gamma, isolated
        As in :func:`gsp_fb.operator`; ``'error'`` refuses no graph here.

    Returns
    -------
    ndarray, shape (n_nodes, n_nodes)

    Raises
    ------
    ParameterError
        An argument is unknown, or the family has no gamma.

    See Also
    --------
    paper_matrix : The matrix of an operator.
    gsp_fb.operator : The sparse operator, with references.

    Examples
    --------
    >>> edge = Graph.from_edges([(0, 1)], [2.0])
    >>> paper_dense(edge, "renorm_rw", "high", gamma=1.0)
    array([[ 0.66666667, -0.66666667],
           [-0.66666667,  0.66666667]])
    """
    variant, gamma = check_family(family), check_gamma(family, gamma)
    check_choice(channel, CHANNELS, "channel")
    check_choice(isolated, ISOLATED, "isolated policy")
    A = graph.adjacency.toarray()
    d = np.abs(A).sum(axis=1)
    matrix: FloatArray = DENSE[family, channel](A, d, gamma)
    if variant.norm != "none" and variant.loops != "unit":
        alone = np.flatnonzero(d == 0)
        matrix[alone, alone] = float((isolated == "self") == (channel == "low"))
    return matrix


def paper_matrix(op: Operator) -> FloatArray:
    """Return the dense matrix of the paper for an operator, from its family, channel and gamma.

    Parameters
    ----------
    op : Operator
        Its metadata are read, its arrays are not.

    Returns
    -------
    ndarray, shape (n_nodes, n_nodes)
        The matrix that ``op`` must equal.

    See Also
    --------
    paper_dense : From a graph and a family.

    Examples
    --------
    >>> from gsp_fb import operator
    >>> paper_matrix(operator(Graph.from_edges([(0, 1)]), "lazy_rw", gamma=3.0))
    array([[0.75, 0.25],
           [0.25, 0.75]])
    """
    gamma = op.gamma if VARIANTS[op.family].has_gamma else None
    return paper_dense(op.graph, op.family, op.channel, gamma, op.isolated)


def tolerance(n: int, *, scale: float = 1.0, dtype: npt.DTypeLike = np.float64) -> float:
    """Return the rounding error allowed in a law: ``64 * eps * n * scale``.

    Parameters
    ----------
    n : int
        Number of summed terms, usually the number of nodes.
    scale : float
        Size of the summed values.
    dtype : dtype
        Precision of the computation.

    Returns
    -------
    float

    See Also
    --------
    paper_matrix : A dense oracle to compare with under this tolerance.

    References
    ----------
    .. [1] N. J. Higham, "Accuracy and stability of numerical algorithms", SIAM 2002, Section 3.1 (the factor n eps).

    Examples
    --------
    >>> f"{tolerance(100):.1e}"
    '1.4e-12'
    """
    return ROUNDINGS * float(np.finfo(dtype).eps) * max(n, 1) * scale
