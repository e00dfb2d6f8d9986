"""Random graphs with degenerate cases: one node, no edge, isolated nodes, self-loops, bipartite, disconnected."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from itertools import combinations, product
from random import Random
from typing import Any

import numpy as np

from .._arguments import check_count
from ..backend import FloatArray
from ..errors import ParameterError
from ..graph import Graph
from ._hypothesis import DrawFn, SearchStrategy
from ._hypothesis import strategies as st

__all__ = ["SHAPES", "graphs"]

Pairs = list[tuple[int, int]]


def _path(n: int) -> Pairs:
    return [(i, i + 1) for i in range(n - 1)]


# Connected graphs by name; Hypothesis shrinks towards the first.
SHAPES: dict[str, Callable[[int], Pairs]] = {
    "path": _path,
    "star": lambda n: [(0, i) for i in range(1, n)],
    "ring": lambda n: _path(n) + [(0, n - 1)] * (n > 2),
    "bipartite": lambda n: list(product(range(n // 2), range(n // 2, n))),
    "complete": lambda n: list(combinations(range(n), 2)),
}


def _subset(draw: DrawFn, items: Iterable[Any]) -> list[Any]:
    """Draw a subset as the bits of one integer, which is fast and shrinks to the empty set."""
    items = list(items)
    mask = draw(st.integers(0, 2 ** len(items) - 1))
    return [item for bit, item in enumerate(items) if mask >> bit & 1]


def _order(draw: DrawFn, n: int) -> list[int]:
    """Draw a permutation through one seed: drawn element by element it would dominate the cost of a graph."""
    seed, order = draw(st.integers(0, 2**24 - 1)), list(range(n))
    if seed:  # shrinks to the identity
        Random(seed).shuffle(order)
    return order


def _random_pairs(draw: DrawFn, n: int, connected: bool) -> Pairs:
    tree = [(draw(st.integers(0, i - 1)), i) for i in range(1, n)] if connected else []
    return sorted({*tree, *_subset(draw, combinations(range(n), 2))})


def _piece(draw: DrawFn, n: int, connected: bool) -> Pairs:
    shape = draw(st.sampled_from([*([] if connected else ["empty"]), *SHAPES, "random"]))
    if shape == "empty":
        return []
    return SHAPES[shape](n) if shape in SHAPES else _random_pairs(draw, n, connected)


def _pairs(draw: DrawFn, n: int, connected: bool) -> Pairs:
    """Draw one component, or two disjoint ones, and permute the node numbers."""
    first = n if connected or draw(st.booleans()) else draw(st.integers(1, n))
    pairs = _piece(draw, first, connected)
    if first < n:
        pairs += [(i + first, j + first) for i, j in _piece(draw, n - first, connected)]
    order = _order(draw, n)
    return [(order[i], order[j]) for i, j in pairs]


def _arcs(draw: DrawFn, pairs: Pairs) -> Pairs:
    """Draw a direction for each edge; some edges keep both."""
    both = _subset(draw, pairs)
    backward = set(_subset(draw, pairs))
    return [(j, i) if (i, j) in backward else (i, j) for i, j in pairs] + [
        (i, j) if (i, j) in backward else (j, i) for i, j in both
    ]


def _without_isolated(pairs: Pairs, n: int, directed: bool) -> Pairs:
    reached = {i for i, _ in pairs} | (set() if directed else {j for _, j in pairs})
    links = [(i, (i + 1) % n) for i in range(n) if i not in reached]
    return pairs + [(i, j) for i, j in links if directed or (j, i) not in links or i < j]


def _weights(draw: DrawFn, n_edges: int, weighted: bool | None) -> FloatArray:
    """Draw up to seven weights between 1e-3 and 1e3 and repeat them cyclically over the edges."""
    if not (draw(st.booleans()) if weighted is None else weighted):
        return np.ones(n_edges)
    exponents = draw(st.lists(st.floats(-3.0, 3.0, allow_subnormal=False), min_size=1, max_size=7))
    return np.resize(10.0 ** np.array(exponents), n_edges)


def _raised(pairs: Pairs, weights: FloatArray, min_degree: float, n: int, directed: bool) -> FloatArray:
    """Return the weights times the factor that raises the smallest degree to ``min_degree``."""
    smallest = Graph.from_edges(pairs, weights, n, directed=directed).degrees.min()
    # The margin exceeds the rounding of the scaled sum, which must not fall below min_degree.
    return weights * (min_degree / smallest * (1.0 + 1e-12)) if smallest < min_degree else weights


@st.composite
def _draw_graph(
    draw: DrawFn,
    *,
    nodes: tuple[int, int],
    weighted: bool | None,
    directed: bool,
    connected: bool,
    min_degree: float | None,
    loops: bool,
) -> Graph:
    # Smallest graphs are few and Hypothesis draws no example twice, so they get a fixed share of the draws.
    n = nodes[0] if draw(st.integers(0, 7)) == 0 else draw(st.integers(*nodes))
    if n == 0:
        return Graph.from_edges([], n_nodes=0, directed=directed)
    pairs = _pairs(draw, n, connected)
    pairs = _arcs(draw, pairs) if directed else pairs
    pairs = pairs if min_degree is None else _without_isolated(pairs, n, directed)
    looped = _subset(draw, range(n)) if loops and draw(st.booleans()) else []
    pairs += [(i, i) for i in looped]
    weights = _weights(draw, len(pairs), weighted)
    if min_degree is not None:
        weights = _raised(pairs, weights, min_degree, n, directed)
    return Graph.from_edges(pairs, weights, n, directed=directed)


def graphs(
    *,
    min_nodes: int = 1,
    max_nodes: int = 12,
    weighted: bool | None = None,
    directed: bool = False,
    connected: bool = False,
    min_degree: float | None = None,
    loops: bool = True,
) -> SearchStrategy[Graph]:
    """Return a strategy of graphs: paths, stars, rings, bipartite, complete, random, and disjoint unions of two.

    By default it generates single nodes, edgeless graphs, isolated nodes, self-loops, several components, and weights
    from 1e-3 to 1e3.

    Parameters
    ----------
    min_nodes, max_nodes : int
        Range of the number of nodes.
    weighted : bool, optional
        Only weighted or only unweighted graphs.
    directed : bool
        Arcs, in one or both directions, instead of edges.
    connected : bool
        One (weakly) connected component.
    min_degree : float > 0, optional
        No isolated node, hence at least two nodes; weights are multiplied by a common factor until every degree reaches
        it.
    loops : bool
        Whether self-loops may occur.

    Returns
    -------
    strategy of Graph
        Shrinks towards small unweighted paths.

    Raises
    ------
    ParameterError
        The range of nodes is empty, or ``min_degree`` exceeds 1 for unweighted graphs.

    See Also
    --------
    operators : Operators on such graphs.
    signals : Signals on them.

    Examples
    --------
    >>> from hypothesis import given
    >>> @given(graphs(connected=True))
    ... def one_component(graph):
    ...     assert graph.n_components == 1
    >>> one_component()
    """
    fewest = check_count(min_nodes, "min_nodes", minimum=0)
    most = check_count(max_nodes, "max_nodes", minimum=fewest)
    if min_degree is not None:
        fewest = max(fewest, 2)
        if weighted is False and min_degree > 1:
            raise ParameterError(f"unweighted graphs cannot be raised to min_degree={min_degree!r}; give weighted=None")
    return _draw_graph(
        nodes=(fewest, max(fewest, most)),
        weighted=weighted,
        directed=directed,
        connected=connected,
        min_degree=min_degree,
        loops=loops,
    )
