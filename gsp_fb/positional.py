"""Positional encodings of nodes: the smooth modes of a Laplacian, with stated signs and degenerate groups."""

from __future__ import annotations

import warnings
from typing import Any

import numpy as np

from ._arguments import check_count
from .backend import FloatArray, asarray_like, cast, namespace, to_host
from .errors import GspWarning, ParameterError
from .operators import Operator, check_operator
from .spectrum import spectrum

__all__ = ["degenerate_groups", "laplacian_pe"]

# Frequencies closer than this share of the axis count as equal: their vectors are a basis of a space, no more.
SAME = 1e-8


def laplacian_pe(op: Operator, k: int, *, tol: float = 1e-10, warn: bool = True) -> FloatArray:
    """Return the Laplacian positional encoding: the ``k`` smoothest modes after the trivial ones, one row a node.

    Trivial modes are those of frequency 0, one for each connected component of a graph with weights >= 0; a signed or
    magnetic graph has one for each balanced component. Modes have unit norm in the operator's inner product; the first
    of the largest entries of ``op.scale * mode`` is positive. Modes of equal frequency are an orthonormal basis of
    their space, which is determined only up to a rotation: a warning names them.

    Parameters
    ----------
    op : Operator
        High channel of an undirected graph in memory.
    k : int
        Columns. Where the graph has fewer non-trivial modes, the last columns are zero.
    tol : float
        As in :func:`spectrum`.
    warn : bool
        Whether to warn of modes that are determined up to a rotation.

    Returns
    -------
    array, shape (n_nodes, k)
        Complex for complex weights.

    Raises
    ------
    ParameterError
        ``op`` is a low channel, or ``k`` is not a positive integer.

    Warns
    -----
    GspWarning
        Some columns belong to a repeated frequency, listed by ``gsp_fb.positional.degenerate_groups``; also where the
        last group is cut by ``k``.

    See Also
    --------
    spectrum : All modes, with their frequencies and proof.

    References
    ----------
    .. [1] V. P. Dwivedi et al., "Benchmarking graph neural networks", J. Mach. Learn. Res. 24, 2023.
    .. [2] D. Lim et al., "Sign and basis invariant networks for spectral graph representation learning", ICLR 2023.

    Examples
    --------
    >>> from gsp_fb import Graph, operator
    >>> path = operator(Graph.from_edges([(0, 1), (1, 2)]), "comb", channel="high")
    >>> laplacian_pe(path, 3).round(4) + 0.0
    array([[ 0.7071, -0.4082,  0.    ],
           [ 0.    ,  0.8165,  0.    ],
           [-0.7071, -0.4082,  0.    ]])
    """
    modes, frequencies = _modes(op, check_count(k, "k"), tol)
    shared = [group for group in _groups(frequencies, op) if len(group) > 1 and group[0] < k]
    if shared and warn:
        named = "; ".join(f"{group[0]}..{min(group[-1], k - 1)}" for group in shared[:4])
        warnings.warn(
            f"columns {named} belong to repeated frequencies: they are determined up to a rotation", GspWarning, 2
        )
    xp = namespace(modes)
    empty = asarray_like(np.zeros((modes.shape[0], max(k - modes.shape[1], 0))), modes)
    encoding: FloatArray = xp.concat((modes[:, :k], cast(empty, modes.dtype)), axis=1)
    return encoding


def degenerate_groups(op: Operator, k: int, *, tol: float = 1e-10) -> list[list[int]]:
    """Return the columns of :func:`laplacian_pe` by frequency: columns of one group are determined up to a rotation.

    A group that ``k`` cuts names the first column beyond it.
    """
    return [group for group in _groups(_modes(op, check_count(k, "k"), tol)[1], op) if group[0] < k]


def _modes(op: Operator, k: int, tol: float) -> tuple[Any, FloatArray]:
    """Return non-trivial modes and their frequencies: more than ``k`` where there are, to see a group that is cut."""
    if check_operator(op).channel != "high":
        raise ParameterError(f"{op!r} is a low channel; encodings are modes of the high one, op.complement()")
    n_nodes = op.graph.n_nodes
    if not n_nodes:
        return np.zeros((0, 0)), np.zeros(0)
    wanted = min(n_nodes, k + 1 + (0 if op.graph.is_signed else op.graph.n_components))
    while True:
        found = spectrum(op, wanted, "low", tol=tol)
        frequencies = np.asarray(to_host(found.frequencies))
        n_trivial = int(np.sum(frequencies <= SAME * max(op.bounds[1], np.finfo(float).tiny)))
        if wanted == n_nodes or wanted - n_trivial > k:
            return found.basis[:, n_trivial:], frequencies[n_trivial:]
        wanted = min(n_nodes, 2 * wanted)


def _groups(frequencies: FloatArray, op: Operator) -> list[list[int]]:
    ends = np.flatnonzero(np.diff(frequencies) > SAME * max(op.bounds[1], np.finfo(float).tiny)) + 1
    return [part.tolist() for part in np.split(np.arange(len(frequencies)), ends) if len(part)]
