"""Verification of the claims of the paper on a given graph."""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass

from .._arguments import check_count, check_host, check_positive
from .._document import Table
from ..errors import GraphError, ParameterError
from ..graph import Graph
from .case import Case
from .claims import CLAIMS, Claim
from .dense import tolerance

__all__ = ["ClaimResult", "ClaimResults", "verify", "verify_each"]

MAX_NODES = 3000


@dataclass(frozen=True)
class ClaimResult:
    """Result of one claim of the paper on one graph.

    Parameters
    ----------
    claim, statement, reference : str
        Name, statement and place in the paper.
    holds : bool or None
        None where rounding leaves it undecided, or where the graph has nothing to compare.
    residual : float
        Difference of the two sides; for a strict inequality the signed excess, negative where it holds.
    tolerance : float
        Allowed rounding error.
    condition : str
        Side condition under which the claim is a theorem.
    applicable : bool
        Whether the graph satisfies that condition.
    note : str
        Difference to the text of the paper.

    See Also
    --------
    verify : Returns one per claim.
    gsp_fb.theory.Claim : The statement itself.

    Examples
    --------
    >>> from gsp_fb import Graph, verify
    >>> row = next(row for row in verify(Graph.from_edges([(0, 1), (1, 2)])) if row.claim == "theorem_1")
    >>> row.condition, row.applicable, row.holds
    ('every degree >= 1 (the paper: > 0), two nodes or more; weights >= 0', True, True)
    """

    claim: str
    statement: str
    reference: str
    holds: bool | None
    residual: float
    tolerance: float
    condition: str
    applicable: bool
    note: str


class ClaimResults(list[ClaimResult]):
    """Rows of :func:`verify`: a list, shown as a table in notebooks.

    >>> from gsp_fb import Graph, verify
    >>> "<table" in verify(Graph.from_edges([(0, 1)]))._repr_html_()
    True
    """

    def _repr_html_(self) -> str:
        names = {True: "yes", False: "no", None: "undecided"}
        rows = [(row.statement, names[row.holds], row.condition, names[row.applicable], row.reference) for row in self]
        columns = ("claim", "holds here", "condition", "condition met", "reference")
        return Table(columns, rows).html()


def verify(graph: Graph, gamma: float = 1.0, *, max_nodes: int = MAX_NODES) -> ClaimResults:
    """Verify the claims of the paper on a graph.

    Both sides of each claim are computed by methods that do not assume it, for example the operator and the dense
    formula, or the eigenvalues of ``D^-1 A`` as those of the pencil ``(A, D)``. Where the side condition is not
    satisfied, ``applicable`` is False and ``holds`` still reports whether the claim is true on this graph.

    Parameters
    ----------
    graph : Graph
        Undirected; signed and magnetic graphs too, of which some claims need more: their conditions name it.
    gamma : float > 0
        Weight of the added self-loops in renormalised and lazy operators.
    max_nodes : int
        Dense decompositions take cubic time; a larger graph is rejected.

    Returns
    -------
    list of ClaimResult
        One row per claim; a table in notebooks.

    Raises
    ------
    GraphError
        ``graph`` is directed, or on a GPU.
    ParameterError
        ``graph`` has more than ``max_nodes`` nodes, or ``gamma`` is not positive.

    See Also
    --------
    gsp_fb.theory.verify_each : The same row by row.

    References
    ----------
    .. [1] S. Luan et al., "Complete the missing half: Augmenting aggregation filtering with diversification for graph
       convolutional networks", GLFrontiers 2022.

    Examples
    --------
    Theorem 1 needs every degree to be at least 1; the paper assumes positive degrees.

    >>> path = Graph.from_edges([(0, 1), (1, 2)], weights=[0.5, 0.5])
    >>> row = next(row for row in verify(path) if row.claim == "theorem_1")
    >>> row.applicable, row.holds, round(row.residual, 4)
    (False, False, 0.1667)
    """
    return ClaimResults(verify_each(graph, gamma, max_nodes=max_nodes))


def verify_each(graph: Graph, gamma: float = 1.0, *, max_nodes: int = MAX_NODES) -> Iterator[ClaimResult]:
    """Return an iterator over the rows of :func:`gsp_fb.verify`, each computed on demand.

    Arguments are checked immediately, not at the first row.

    Parameters
    ----------
    graph, gamma, max_nodes
        As in :func:`gsp_fb.verify`.

    Returns
    -------
    iterator of ClaimResult
        One row per claim, in the order of ``CLAIMS``.

    Raises
    ------
    GraphError, ParameterError
        As in :func:`gsp_fb.verify`.

    See Also
    --------
    gsp_fb.verify : All rows as a list.

    Examples
    --------
    >>> from gsp_fb import Graph
    >>> rows = verify_each(Graph.from_edges([(0, 1), (1, 2)]))
    >>> next(rows).holds
    True
    """
    gamma = check_positive(gamma, "gamma")
    if graph.directed:
        raise GraphError(
            "the paper's claims are about undirected graphs; give symmetrize= to the graph, or take graph.magnetic()"
        )
    if graph.n_nodes > check_count(max_nodes, "max_nodes"):
        raise ParameterError(
            f"verify decomposes dense matrices in cubic time and the graph has {graph.n_nodes} nodes; "
            f"raise max_nodes={max_nodes} to allow it"
        )
    check_host(graph.device, "claims are verified with dense matrices")
    case = Case(graph, gamma)
    return (_result(name, claim, case) for name, claim in CLAIMS.items())


def _result(name: str, claim: Claim, case: Case) -> ClaimResult:
    residual = claim.residual(case)
    allowed = tolerance(case.n, scale=claim.scale(case))
    applicable = claim.condition.holds(case)
    holds = None if math.isnan(residual) else residual <= allowed
    if claim.strict:
        # Within rounding of 0 it is undecided, or False if the side condition is violated.
        holds = (None if applicable else False) if abs(residual) <= allowed else residual < 0
    facts = holds, residual, allowed, claim.condition.text, applicable, claim.note
    return ClaimResult(name, claim.statement, claim.reference, *facts)
