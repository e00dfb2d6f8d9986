"""Sampling of bandlimited signals: nodes whose values determine a signal of bandwidth k, and its recovery from them."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from scipy import linalg

from .._arguments import check_choice, check_count, check_nodes, check_rng, check_signal
from ..backend import FloatArray, IntArray, to_host
from ..energy.dirichlet import check_high
from ..errors import ParameterError, SignalError
from ..operators import Operator
from ..spectrum import spectrum

__all__ = ["Recovery", "condition", "recover", "sampling_set"]

METHODS = ("greedy", "leverage")
EPS = float(np.finfo(np.float64).eps)
ONCE = "; average its values and list it once"


def sampling_set(op: Operator, k: int, n_samples: int, *, method: str = "greedy", rng: Any = None) -> IntArray:
    r"""Return nodes to observe for signals in the span of the ``k`` lowest-frequency modes.

    Parameters
    ----------
    op : Operator
        High channel of an undirected graph.
    k : int
        Bandwidth: the number of modes.
    n_samples : int
        Number of nodes, at least ``k``.
    method : {'greedy', 'leverage'}
        ``greedy`` takes the first ``k`` nodes by pivoted QR of the modes, then adds the node that raises
        :math:`\log\det(U_S^\top U_S)` the most. ``leverage`` draws distinct nodes with probability proportional to
        their local coherence :math:`\|U^\top\delta_i\|^2`.
    rng : None, int or numpy Generator
        Of ``method='leverage'``.

    Returns
    -------
    int array, shape (n_samples,)
        Distinct node numbers, in the order in which they were chosen.

    Raises
    ------
    ParameterError
        ``n_samples`` is below ``k`` or above the number of nodes.

    See Also
    --------
    recover : The signal from its values at these nodes.
    condition : How much noise the recovery amplifies.

    References
    ----------
    .. [1] S. Chen et al., "Discrete signal processing on graphs: sampling theory", IEEE TSP 63(24), 2015.
    .. [2] G. Puy et al., "Random sampling of bandlimited signals on graphs", ACHA 44(2), 2018.

    Examples
    --------
    >>> from gsp_fb import datasets, operator
    >>> op = operator(datasets.path(6), "comb", channel="high")
    >>> sorted(sampling_set(op, k=2, n_samples=2).tolist())
    [0, 5]
    """
    basis = _basis(op, k)
    n_nodes = basis.shape[0]
    if not k <= check_count(n_samples, "n_samples") <= n_nodes:
        raise ParameterError(f"n_samples must lie between k={k} and the {n_nodes} nodes, not {n_samples}")
    if check_choice(method, METHODS, "method") == "greedy":
        return _greedy(basis, n_samples)
    shares = np.sum(basis**2, axis=1)
    if np.count_nonzero(shares) < n_samples:
        raise ParameterError(f"only {np.count_nonzero(shares)} nodes carry the {k} modes; lower n_samples={n_samples}")
    return check_rng(rng).choice(n_nodes, n_samples, replace=False, p=shares / shares.sum())


def _basis(op: Operator, k: int) -> FloatArray:
    """Return orthonormal modes of the symmetrized operator at the ``k`` lowest frequencies, on the host."""
    check_high(op, "bandwidth is counted in modes of")
    op.graph.check_real("a sampling set")
    op.graph.in_one_process()
    return np.asarray(to_host(spectrum(op, k=check_count(k, "k"), which="low").symmetrized_basis))


def _greedy(basis: FloatArray, n_samples: int) -> IntArray:
    k = basis.shape[1]
    order: IntArray = linalg.qr(basis.T, mode="r", pivoting=True)[-1][:k].astype(np.int64)
    # The pivots of QR are independent rows, so the Gram matrix is invertible.
    inverse = np.linalg.inv(basis[order].T @ basis[order])
    chosen, gains = list(order), np.einsum("ij,jk,ik->i", basis, inverse, basis)
    gains[order] = -np.inf
    for _ in range(n_samples - k):
        node = int(np.argmax(gains))
        # Sherman-Morrison: one more observation is a rank-one update of every quadratic form u_i' M u_i.
        image = inverse @ basis[node]
        scale = 1.0 + float(basis[node] @ image)
        gains -= (basis @ image) ** 2 / scale
        inverse -= np.outer(image, image) / scale
        gains[node] = -np.inf
        chosen.append(np.int64(node))
    return np.array(chosen, dtype=np.int64)


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
    op, nodes, k
        As in :func:`recover`.

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
    basis = _basis(op, k)
    values = linalg.svdvals(basis[check_nodes(nodes, basis.shape[0], "nodes", remedy=ONCE)])
    return Recovery(float(values[-1]) if len(values) == k else 0.0, float(values[0]))


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

    Examples
    --------
    >>> from gsp_fb import datasets, operator
    >>> op = operator(datasets.path(4), "comb", channel="high")
    >>> recover(op, [0, 3], [2.0, 2.0], k=1).round(6)
    array([2., 2., 2., 2.])
    """
    basis = _basis(op, k)
    nodes = check_nodes(nodes, basis.shape[0], "nodes", remedy=ONCE)
    try:
        values = np.asarray(check_signal(values, len(nodes)))
    except SignalError as bad:
        raise SignalError(f"values at {len(nodes)} nodes: {bad}") from None
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
