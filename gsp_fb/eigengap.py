"""The eigengap: the mixing rate of repeated smoothing."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import asdict, dataclass

from ._document import facts_html
from ._eigen import null_space
from .errors import ConvergenceError, ParameterError
from .operators import Operator, elsewhere
from .spectrum import Spectrum, spectrum

__all__ = ["Eigengap", "eigengap", "gap_by"]


@dataclass(frozen=True)
class Eigengap:
    """The two largest eigenvalues of a low channel and their ratio.

    Parameters
    ----------
    lambda_1, lambda_2, ratio : float
        ``ratio = lambda_2 / lambda_1``; smaller means faster mixing.
    error : float
        Bound on ``|ratio - true|``; ``proof`` states how far it is proven.
    method : str
        The solver behind ``lambda_2``.
    proof : {'components', 'dense', 'inertia', 'residual'}
        As in :class:`Spectrum`; with ``'residual'`` the ratio is a lower bound. ``'components'``: known without a
        solver.

    See Also
    --------
    eigengap : The function that returns it.
    Spectrum : More eigenvalues, with their modes.

    Examples
    --------
    >>> from gsp_fb import Graph, operator
    >>> gap = eigengap(operator(Graph.from_edges([(0, 1), (1, 2)]), "lazy_rw"))
    >>> round(gap.ratio, 6), gap.proof
    (0.5, 'dense')
    """

    lambda_1: float
    lambda_2: float
    ratio: float
    error: float
    method: str
    proof: str

    @property
    def resolved(self) -> bool:
        """Whether the gap ``1 - ratio`` is larger than the error, or known to be zero exactly."""
        return self.error == 0.0 or abs(1.0 - self.ratio) > self.error

    def _repr_html_(self) -> str:
        return facts_html("Eigengap", {**asdict(self), "resolved": self.resolved})


def eigengap(op: Operator, *, tol: float = 1e-10, certify: bool | None = None) -> Eigengap:
    """Return the two largest eigenvalues of the low channel of ``op`` and their ratio, with an error bound.

    ``lambda_1 = 1`` and its eigenvectors, one per connected component, are known without a solver, so
    a disconnected graph has ratio 1 exactly. On a graph with negative or complex weights both are computed, as
    ``lambda_1 = 1`` holds for balanced components only. Otherwise ``lambda_2`` is a Rayleigh quotient on the complement
    of the known vector: never above the true value, and within the residual norm of an eigenvalue. Which eigenvalue
    that is, a factorisation proves by counting those above it.

    Parameters
    ----------
    op : Operator
        Either channel; the low one is measured.
    tol, certify
        As in :func:`spectrum`. ``proof`` states what was proven.

    Returns
    -------
    Eigengap

    Raises
    ------
    ConvergenceError
        ``lambda_2`` was not resolved, or ``certify=True`` and its proof failed; the message states what to try.
    ParameterError
        The graph has fewer than two nodes, its low channel is zero, or no eigenvalue of it is positive.

    See Also
    --------
    spectrum : More modes, at either end.

    Examples
    --------
    >>> from gsp_fb import Graph, operator
    >>> path = Graph.from_edges([(0, 1), (1, 2)], weights=[0.5, 0.5])
    >>> round(eigengap(operator(path, "lazy_rw")).ratio, 6), round(eigengap(operator(path, "renorm_rw")).ratio, 6)
    (0.5, 0.666667)
    """
    if op.graph.storage.kind != "memory":
        return elsewhere(eigengap, op, tol=tol, certify=certify)
    n_nodes = op.graph.n_nodes
    if n_nodes < 2:
        raise ParameterError(f"an eigengap needs at least 2 nodes; the graph has {n_nodes}")
    return gap_by(op, lambda high: spectrum(high, k=2, which="low", tol=tol, certify=certify))


def gap_by(op: Operator, search: Callable[[Operator], Spectrum]) -> Eigengap:
    """Return the eigengap from two modes of the high channel that ``search`` finds."""
    high = op if op.channel == "high" else op.complement()
    if not op.graph.directed and not op.graph.is_signed:
        n_null = null_space(high.symmetrized).dimension
        if n_null == 0:
            raise ParameterError("the low channel is zero: every node is isolated and isolated='zero' was chosen")
        if n_null > 1:
            return Eigengap(1.0, 1.0, 1.0, 0.0, "components", "components")
    try:
        modes = search(high)
    except ConvergenceError as stuck:
        raise ConvergenceError(f"lambda_2 not resolved: {stuck}", stuck.eigenvalues, stuck.eigenvectors) from None
    first, second = (1.0 - float(frequency) for frequency in modes.frequencies)
    if not op.graph.is_signed:
        return Eigengap(1.0, second, second, modes.error, modes.method, modes.proof)
    if first <= modes.error:
        raise ParameterError(f"the largest eigenvalue of the low channel is {first:.3g}; the ratio is undefined")
    error = 2.0 * modes.error * max(1.0, abs(second / first)) / (first - modes.error)
    return Eigengap(first, second, second / first, error, modes.method, modes.proof)
