"""Heat wavelets as sparse matrices: ``exp(-s L)`` and its inverse, small entries left out."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
from scipy import sparse

from .._arguments import check_choice, check_host, check_positive
from ..graph import Graph
from ..operators import operator
from .bank import FilterBank

__all__ = ["PAIRS", "heat_wavelets"]

Function = Callable[[Any], Any]

_BLOCK = 256
_TOLERANCE = 1e-10
# The functions of the Laplacian on the left and on the right of the gains, for a diffusion time s. The second row is
# what GWNN's public code computes: it overwrites the eigenvalues with exp(-s lambda) before it inverts them, so its
# numbers come from a product that smooths even with gains of 1, where the formula's is the identity.
PAIRS: dict[str, Callable[[float], tuple[Function, Function]]] = {
    "exact": lambda s: (lambda x: np.exp(-s * x), lambda x: np.exp(s * x)),
    "published": lambda s: (lambda x: np.exp(s * np.exp(-s * x)), lambda x: np.exp(-s * x)),
}


def heat_wavelets(
    graph: Graph, scale: float = 1.0, threshold: float = 1e-4, *, family: str = "sym", inverse: str = "exact"
) -> tuple[sparse.csr_array, sparse.csr_array]:
    """Return ``psi_s = exp(-s L)`` and its inverse ``psi_-s = exp(s L)``, entries below ``threshold`` left out.

    The Chebyshev engine works on blocks of columns of the identity, to 1e-10: no dense matrix of all nodes arises.
    """
    check_host(graph.device, "wavelets are made and thresholded")
    scale = check_positive(scale, "scale")
    kernels = PAIRS[check_choice(inverse, PAIRS, "inverse")](scale)
    bank = FilterBank(operator(graph, family, channel="high"), list(kernels), tol=_TOLERANCE, method="chebyshev")
    bases: tuple[list[sparse.csc_array], ...] = ([], [])
    for start in range(0, graph.n_nodes, _BLOCK):
        both = bank.analyze(np.eye(graph.n_nodes, min(_BLOCK, graph.n_nodes - start), -start))
        both = np.where(np.abs(both) < threshold, 0.0, both)
        for position, blocks in enumerate(bases):
            blocks.append(sparse.csc_array(both[..., position]))
    left, right = (sparse.csr_array(sparse.hstack(blocks)) for blocks in bases)
    return left, right
