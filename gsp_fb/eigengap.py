"""The eigengap: how fast repeated smoothing forgets where a signal came from."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from ._eigen import MAX_PRODUCTS, Pairs, null_space, residuals
from .errors import ConvergenceError, ParameterError
from .operators import Operator
from .spectrum import spectrum

__all__ = ["Eigengap", "eigengap"]


@dataclass(frozen=True)
class Eigengap:
    """The two largest eigenvalues of a low channel and their ratio.

    Attributes
    ----------
    lambda_1, lambda_2, ratio : float
        ``ratio = lambda_2 / lambda_1``; smaller means faster mixing.
    error : float
        Bound on ``|ratio - true|`` from the residual of the computed eigenvector.
    method : str
        The solver behind ``lambda_2``.
    """

    lambda_1: float
    lambda_2: float
    ratio: float
    error: float
    method: str

    @property
    def resolved(self) -> bool:
        """Whether the gap ``1 - ratio`` is larger than the error, or known to be zero exactly."""
        return self.error == 0.0 or abs(1.0 - self.ratio) > self.error


def eigengap(op: Operator, *, tol: float = 1e-10, max_products: int = MAX_PRODUCTS) -> Eigengap:
    """Return the two largest eigenvalues of the low channel of ``op`` and their ratio, with an error bound.

    ``lambda_1 = 1`` and its eigenvectors, one per connected component, are known without a solver, so
    a disconnected graph has ratio 1 exactly. Otherwise ``lambda_2`` is a Rayleigh quotient on the complement of
    the known vector: never above the true value, and within the residual norm of an eigenvalue.

    Parameters
    ----------
    op : Operator
        Either channel; the low one is measured.

    Raises
    ------
    ConvergenceError
        ``lambda_2`` was not resolved; the message says what to try.

    Examples
    --------
    >>> from gsp_fb import Graph, operator
    >>> path = Graph.from_edges([(0, 1), (1, 2)], weights=[0.5, 0.5])
    >>> round(eigengap(operator(path, "lazy_rw")).ratio, 6), round(eigengap(operator(path, "renorm_rw")).ratio, 6)
    (0.5, 0.666667)
    """
    n_nodes = op.graph.n_nodes
    if n_nodes < 2:
        raise ParameterError(f"an eigengap needs at least 2 nodes; the graph has {n_nodes}")
    high = op if op.channel == "high" else op.complement()
    if not op.graph.directed:
        n_null = null_space(high.core).dimension
        if n_null == 0:
            raise ParameterError("the low channel is zero: every node is isolated and isolated='zero' was chosen")
        if n_null > 1:
            return Eigengap(1.0, 1.0, 1.0, 0.0, "components")
    try:
        modes = spectrum(high, k=2, which="low", tol=tol, max_products=max_products)
    except ConvergenceError as stuck:
        raise ConvergenceError(f"lambda_2 not resolved: {stuck}", stuck.eigenvalues, stuck.eigenvectors) from None
    second = Pairs(modes.frequencies[1:], modes.core_basis[:, 1:], modes.method)
    rounding = 64 * np.finfo(np.float64).eps * max(1.0, high.bounds[1])
    lambda_2 = 1.0 - float(modes.frequencies[1])
    return Eigengap(1.0, lambda_2, lambda_2, float(residuals(high.core.apply, second)[0]) + rounding, modes.method)
