"""Run the table of claims on a user's graph."""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass

from .._arguments import check_count, check_host, check_positive
from ..errors import GraphError, ParameterError
from ..graph import Graph
from .case import Case
from .claims import CLAIMS, Claim
from .tolerance import tolerance

__all__ = ["ClaimResult", "verify", "verify_each"]

MAX_NODES = 3000


@dataclass(frozen=True)
class ClaimResult:
    """How one claim of the paper fares on one graph.

    Attributes
    ----------
    claim, statement, reference : str
        Its name, what it says and where the paper says it.
    holds : bool or None
        None where rounding does not decide it, or where there is nothing to compare.
    residual : float
        By how much the two sides differ; for a strict inequality the signed excess, negative where it holds.
    tolerance : float
        The rounding that is allowed.
    condition : str
        The side condition under which the claim is a theorem.
    applicable : bool
        Whether the graph meets that condition.
    note : str
        What the paper writes differently.

    Examples
    --------
    >>> from gsp_fb import Graph, verify
    >>> row = next(row for row in verify(Graph.from_edges([(0, 1), (1, 2)])) if row.claim == "theorem_1")
    >>> row.condition, row.applicable, row.holds
    ('every degree >= 1 (the paper: > 0), two nodes or more', True, True)
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


def verify(graph: Graph, gamma: float = 1.0, *, max_nodes: int = MAX_NODES) -> list[ClaimResult]:
    """Return one row per claim of the paper: whether it holds on ``graph``, and by how much.

    Both sides of each claim are computed by routes that do not assume it, such as the operator against the dense
    formula, or eigenvalues of ``D^-1 A`` as those of the pencil ``(A, D)``. Where a side condition is not met, the row
    says so and still shows whether the claim happens to hold.

    Parameters
    ----------
    graph : Graph
        Undirected.
    gamma : float > 0
        Weight of the added loops in renormalised and lazy operators.
    max_nodes : int
        Dense decompositions take cubic time; a larger graph is refused.

    Raises
    ------
    GraphError
        ``graph`` is directed, or on a GPU.
    ParameterError
        ``graph`` has more than ``max_nodes`` nodes.

    Examples
    --------
    Theorem 1 needs every degree to be at least 1; the paper asks for positive ones.

    >>> path = Graph.from_edges([(0, 1), (1, 2)], weights=[0.5, 0.5])
    >>> row = next(row for row in verify(path) if row.claim == "theorem_1")
    >>> row.applicable, row.holds, round(row.residual, 4)
    (False, False, 0.1667)
    """
    return list(verify_each(graph, gamma, max_nodes=max_nodes))


def verify_each(graph: Graph, gamma: float = 1.0, *, max_nodes: int = MAX_NODES) -> Iterator[ClaimResult]:
    """Return the rows of :func:`gsp_fb.verify` one at a time, each computed when it is asked for.

    Examples
    --------
    >>> from gsp_fb import Graph
    >>> rows = verify_each(Graph.from_edges([(0, 1), (1, 2)]))
    >>> next(rows).holds
    True
    """
    gamma = check_positive(gamma, "gamma")
    if graph.directed:
        raise GraphError("the paper's claims are about undirected graphs; give symmetrize= to the graph")
    if graph.n_nodes > check_count(max_nodes, "max_nodes"):
        raise ParameterError(
            f"verify decomposes dense matrices and the graph has {graph.n_nodes} nodes; "
            f"raise max_nodes={max_nodes} if you have the time"
        )
    check_host(graph.device, "claims are verified with dense matrices")
    case = Case(graph, gamma)
    return (_result(name, claim, case) for name, claim in CLAIMS.items())


def _result(name: str, claim: Claim, case: Case) -> ClaimResult:
    residual = claim.residual(case)
    allowed = tolerance(case.n, scale=claim.scale(case))
    applicable = claim.condition.holds(case)
    return ClaimResult(
        claim=name,
        statement=claim.statement,
        reference=claim.reference,
        holds=_strictly(residual, allowed, applicable) if claim.strict else _within(residual, allowed),
        residual=residual,
        tolerance=allowed,
        condition=claim.condition.text,
        applicable=applicable,
        note=claim.note,
    )


def _within(residual: float, allowed: float) -> bool | None:
    return None if math.isnan(residual) else residual <= allowed


def _strictly(excess: float, allowed: float, applicable: bool) -> bool | None:
    """Decide ``excess < 0``; within rounding of zero it is undecided, unless the condition says that it is zero."""
    if abs(excess) <= allowed:
        return None if applicable else False
    return excess < 0
