"""Recovery of a bandlimited signal from samples, with its conditioning."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from scipy import linalg

from .._arguments import check_signal
from ..backend import FloatArray, IntArray
from ..errors import ParameterError, SignalError
from ..operators import Operator
from .sets import bandlimited_basis

__all__ = ["Recovery", "condition", "recover"]

EPS = float(np.finfo(np.float64).eps)


@dataclass(frozen=True)
class Recovery:
    r"""How well samples at some nodes determine signals of bandwidth k.

    Noise of norm :math:`\epsilon` in the samples changes the recovered signal by at most ``noise_gain``
    :math:`\cdot\epsilon`, in the norm in which the operator is self-adjoint.

    Parameters
    ----------
    smallest, largest : float
        Extreme singular values of the sampled modes.

    See Also
    --------
    condition : Measures it for given nodes.

    Examples
    --------
    >>> Recovery(0.5, 1.0).noise_gain, Recovery(0.0, 1.0).unique
    (2.0, False)
    """

    smallest: float
    largest: float

    @property
    def unique(self) -> bool:
        """Whether the sampled modes are linearly independent to rounding."""
        return self.smallest > 64 * EPS * self.largest

    @property
    def noise_gain(self) -> float:
        """Largest amplification of noise in the samples."""
        return 1.0 / self.smallest if self.smallest else float("inf")


def condition(op: Operator, nodes: Any, k: int) -> Recovery:
    """Return how well the values at ``nodes`` determine a signal of bandwidth ``k``.

    Parameters
    ----------
    op : Operator
        High channel of an undirected graph.
    nodes : array_like of int
        Distinct node numbers.
    k : int
        Bandwidth: the number of modes.

    Returns
    -------
    Recovery

    See Also
    --------
    sampling_set : Nodes with a good conditioning.

    Examples
    --------
    >>> from gsp_fb import datasets, operator
    >>> condition(operator(datasets.path(6), "comb", channel="high"), [0, 5], k=2).unique
    True
    """
    basis = bandlimited_basis(op, k)
    values = linalg.svdvals(basis[_check_nodes(nodes, basis.shape[0])])
    return Recovery(float(values[-1]) if len(values) == k else 0.0, float(values[0]) if len(values) else 0.0)


def recover(op: Operator, nodes: Any, values: Any, k: int) -> FloatArray:
    """Return the signal of bandwidth ``k`` that fits the values at ``nodes`` best.

    It is exact where the values are those of a signal in the span of the ``k`` lowest modes. Noise in the values is
    amplified by at most ``condition(op, nodes, k).noise_gain``.

    Parameters
    ----------
    op : Operator
        High channel of an undirected graph; random-walk families fit in their own inner product.
    nodes : array_like of int, shape (n_samples,)
        Distinct node numbers.
    values : array_like, shape (n_samples,) or (n_samples, n_signals)
    k : int
        Bandwidth: the number of modes.

    Returns
    -------
    array, shape (n_nodes,) or (n_nodes, n_signals)

    Raises
    ------
    ParameterError
        The samples do not determine the signal: fewer than ``k``, or at nodes where the modes are dependent.
    SignalError
        The values do not fit the nodes or are not finite.

    See Also
    --------
    sampling_set : Nodes to observe.
    gsp_fb.filters.interpolate : The smoothest signal through known values, without a bandwidth.

    References
    ----------
    .. [1] S. Chen et al., "Discrete signal processing on graphs: sampling theory", IEEE TSP 63(24), 2015.

    Examples
    --------
    >>> from gsp_fb import datasets, operator
    >>> op = operator(datasets.path(4), "comb", channel="high")
    >>> recover(op, [0, 3], [2.0, 2.0], k=1).round(6)
    array([2., 2., 2., 2.])
    """
    basis = bandlimited_basis(op, k)
    nodes = _check_nodes(nodes, basis.shape[0])
    values = _check_values(values, len(nodes))
    scale = np.asarray(op.scale, dtype=np.float64)
    weighted = (scale[nodes] * values.T).T
    left, singular, right = linalg.svd(basis[nodes], full_matrices=False)
    found = Recovery(float(singular[-1]) if len(nodes) >= k else 0.0, float(singular[0]))
    if not found.unique:
        raise ParameterError(
            f"values at {len(nodes)} nodes do not determine a signal of bandwidth {k} (smallest singular value "
            f"{found.smallest:.2g}); take nodes from sampling_set(op, {k}, n_samples)"
        )
    coefficients = right.T @ ((left.T @ weighted).T / singular).T
    return np.asarray(((basis @ coefficients).T / scale).T, dtype=values.dtype)


def _check_nodes(nodes: Any, n_nodes: int) -> IntArray:
    found = np.asarray(nodes)
    if found.ndim != 1 or found.dtype.kind not in "iu" or not found.size:
        raise ParameterError(f"nodes must be a list of node numbers, not {nodes!r}")
    odd = found[(found < 0) | (found >= n_nodes)]
    if odd.size:
        raise ParameterError(f"node {odd[0]} is not in the graph; nodes are 0..{n_nodes - 1}")
    if len(np.unique(found)) < len(found):
        raise ParameterError("a node is listed twice; average its values and list it once")
    return found.astype(np.int64)


def _check_values(values: Any, n_samples: int) -> FloatArray:
    try:
        return np.asarray(check_signal(values, n_samples))
    except SignalError as bad:
        raise SignalError(f"values at {n_samples} nodes: {bad}") from None
