"""From a graph and its signals to the facts of a report; what does not apply is left out with a note."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable
from typing import Any

import numpy as np
from scipy import sparse
from scipy.sparse import csgraph

from .._arguments import check_choice, check_positive, check_rng
from ..energy import class_homophily, edge_homophily, node_homophily
from ..errors import GraphError
from ..graph import Graph
from ..theory import verify
from ..variants import VARIANTS
from .drawing import make_drawing
from .facts import AdviceFacts, GraphFacts, Homophily, Report
from .runs import read_runs
from .signals import Signals, make_signals
from .spectral import eigengaps, energy_facts, frequency_density, profiles, significance

__all__ = ["VERIFY_NODES", "collect", "n_bipartite", "permutation_homophily"]

# The claims are checked on dense matrices; up to this size all of them take seconds.
VERIFY_NODES = 1000
DIRECTED = "The graph is directed, and frequencies belong to undirected graphs; symmetrise it to see them."

Notes = dict[str, str]


def collect(
    graph: Graph,
    *,
    x: Any = None,
    y: Any = None,
    name: str = "graph",
    family: str = "sym",
    gamma: float = 1.0,
    runs: Iterable[str | os.PathLike[str]] = (),
    advice: Any = None,
    audit: Any = None,
    advice_nodes: str = "",
    source: str = "DATA",
    rng: Any = 0,
    on_step: Callable[[str], None] = lambda step: None,
) -> Report:
    """Return the facts of a report on ``graph`` and the signals that came with it.

    Parameters
    ----------
    graph : Graph
    x : array_like or sparse, shape (n_nodes,) or (n_nodes, n_features), or names of columns, optional
        Features; names are those of numeric columns of ``graph.nodes``. A table of several columns without names and
        without negative entries has its rows divided by their sums, as in the paper's tables.
    y : array_like, shape (n_nodes,) or (n_nodes, n_labels), or name of a column, optional
        Classes as numbers (negative: unlabelled) or names (empty: unlabelled), a column of ``graph.nodes``, or 0/1
        columns of a multi-label set.
    name, family : str
        The title, and the row of ``gsp_fb.variants.VARIANTS`` on whose frequencies the profiles and the density are.
    gamma : float > 0
        Weight of the added loops in the families that have one.
    runs : iterable of path_like
        Run directories of ``gsp-fb train -o``, or directories of them.
    advice : object, optional
        With ``text`` and optionally ``rows`` (a sequence of mappings), as :func:`gsp_fb.advise` returns it.
    audit : gsp_fb.nn.Audit, optional
        Of a network on this graph.
    advice_nodes, source : str
        Which nodes' labels the advice read, and how ``gsp-fb train`` names these data in the command that is proposed.
    rng : None, int or numpy Generator
        Of the layout and of the estimates on large graphs; a fixed seed by default, for equal reports.
    on_step : callable
        Called with the name of each step before it is taken.

    Returns
    -------
    Report

    Raises
    ------
    GraphError
        The graph has no nodes.

    See Also
    --------
    write_report : Write the report to a file.
    gsp_fb.advise : The advice of a report.
    gsp_fb.nn.audit : The audit of a report.

    Examples
    --------
    >>> report = collect(Graph.from_edges([(0, 1), (1, 2)]), y=[0, 0, 1])
    >>> [round(row.s_value, 4) for row in report.energies if row.family == "comb"]
    [0.6667]
    """
    if graph.n_nodes == 0:
        raise GraphError("the graph has no nodes; there is nothing to report")
    family, gamma = check_choice(family, VARIANTS, "family"), check_positive(gamma, "gamma")
    generator, notes = check_rng(rng), Notes()
    on_step("signals")
    signals = make_signals(graph, x, y, notes)
    of: dict[str, Any] = {"family": family, "gamma": gamma, "rng": generator}
    on_step("energies")
    energies = tuple(row for item in signals.measured.items() for row in energy_facts(graph, *item, gamma))
    compared = significance(graph, signals.measured, **of)
    columns = significance(graph, signals.centred(), **of)
    spectral = _spectral(graph, signals, notes, on_step, **of)
    on_step("drawing")
    drawing = make_drawing(graph, signals, generator)
    on_step("runs")
    return Report(
        name=name,
        family=family,
        gamma=gamma,
        graph=_graph_facts(graph),
        signals=signals.facts,
        energies=energies,
        significance=compared,
        columns=columns,
        homophily=_homophily(graph, signals.classes),
        advice=_advice(advice, advice_nodes, source),
        runs=read_runs(runs, graph, signals.features, signals.classes, notes),
        notes=notes,
        drawing=drawing,
        audit=audit,
        **spectral,
    )


def _spectral(
    graph: Graph, signals: Signals, notes: Notes, on_step: Callable[[str], None], **of: Any
) -> dict[str, Any]:
    """Return the facts that a directed graph does not have."""
    if graph.directed:
        notes |= dict.fromkeys(("profiles", "density", "gaps", "claims"), DIRECTED)
        return {"profiles": (), "density": None, "gaps": (), "claims": ()}
    on_step("energy profiles")
    found: dict[str, Any] = {"profiles": profiles(graph, signals.measured, **of)}
    on_step("spectral density")
    found["density"] = frequency_density(graph, **of)
    on_step("eigengaps")
    found["gaps"] = eigengaps(graph, of["gamma"], notes)
    on_step("claims")
    small = graph.n_nodes <= VERIFY_NODES
    if not small:
        why = f"Checking the claims decomposes dense matrices, which takes long beyond {VERIFY_NODES} nodes"
        notes["claims"] = f"{why}; the command gsp-fb verify does it when asked."
    return {**found, "claims": tuple(verify(graph, of["gamma"])) if small else ()}


def _advice(advice: Any, nodes: str, source: str) -> AdviceFacts | None:
    if advice is None:
        return None
    counted = getattr(getattr(advice, "evidence", None), "n_train", None)
    used = nodes or ("" if counted is None else f"{counted} labelled nodes")
    channels, family = (str(getattr(advice, name, "")) for name in ("channels", "family"))
    command = advice.command(source) if channels else ""
    return AdviceFacts(str(advice.text), tuple(getattr(advice, "rows", ())), channels, family, used, source, command)


def _graph_facts(graph: Graph) -> GraphFacts:
    degrees = graph.degrees
    return GraphFacts(
        nodes=graph.n_nodes,
        edges=graph.n_edges,
        directed=graph.directed,
        weighted=graph.is_weighted,
        loops=graph.n_loops,
        isolated=graph.n_isolated,
        components=graph.n_components,
        bipartite=None if graph.directed else n_bipartite(graph),
        least_degree=float(degrees.min()),
        median_degree=float(np.median(degrees)),
        mean_degree=float(degrees.mean()),
        max_degree=float(degrees.max()),
        sha256=graph.sha256,
    )


def _homophily(graph: Graph, y: Any) -> Homophily | None:
    if y is None or not np.any(y >= 0):
        return None
    edge, node, insensitive = (of(graph, y) for of in (edge_homophily, node_homophily, class_homophily))
    classes, unlabelled = len(np.unique(y[y >= 0])), int(np.count_nonzero(y < 0))
    return Homophily(edge, node, insensitive, permutation_homophily(y), classes, unlabelled)


def permutation_homophily(y: Any) -> float:
    r"""Return the mean edge homophily of the labels over all placements: :math:`\sum_k n_k (n_k - 1) / (n (n - 1))`."""
    counts = np.bincount(y[y >= 0]).astype(np.float64)
    total = counts.sum()
    return float((counts * (counts - 1)).sum() / (total * (total - 1))) if total > 1 else float("nan")


def n_bipartite(graph: Graph) -> int:
    """Return the number of components with an edge whose nodes fall into two sides.

    In the double cover, where each edge joins a node to the other copy of its neighbour, such a component falls in two.
    """
    swap = sparse.csr_array([[0.0, 1.0], [1.0, 0.0]])
    covered = csgraph.connected_components(sparse.kron(swap, graph.adjacency, format="csr"), directed=False)[0]
    return int(covered) - graph.n_components - graph.n_isolated
