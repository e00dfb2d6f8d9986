"""Sampling sets: nodes whose values determine every signal of bandwidth k."""

from __future__ import annotations

from typing import Any

import numpy as np
from scipy import linalg

from .._arguments import check_choice, check_count, check_rng
from ..backend import FloatArray, IntArray, to_host
from ..errors import GraphError, ParameterError
from ..operators import Operator
from ..spectrum import spectrum

__all__ = ["bandlimited_basis", "sampling_set"]

METHODS = ("greedy", "leverage")


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
    basis = bandlimited_basis(op, k)
    n_nodes = basis.shape[0]
    if not k <= check_count(n_samples, "n_samples") <= n_nodes:
        raise ParameterError(f"n_samples must lie between k={k} and the {n_nodes} nodes, not {n_samples}")
    if check_choice(method, METHODS, "method") == "greedy":
        return _greedy(basis, n_samples)
    shares = np.sum(basis**2, axis=1)
    if np.count_nonzero(shares) < n_samples:
        raise ParameterError(f"only {np.count_nonzero(shares)} nodes carry the {k} modes; lower n_samples={n_samples}")
    return check_rng(rng).choice(n_nodes, n_samples, replace=False, p=shares / shares.sum())


def bandlimited_basis(op: Operator, k: int) -> FloatArray:
    """Return orthonormal modes of the symmetrized operator at the ``k`` lowest frequencies, on the host."""
    if op.channel != "high":
        raise ParameterError(f"{op!r} is a low channel; bandwidth is counted in modes of the high one, op.complement()")
    op.graph.check_real("a sampling set")
    op.graph.in_one_process()
    if op.graph.directed:
        raise GraphError("a directed graph has no graph Fourier transform here; give symmetrize= to the graph")
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
