"""Random graphs with degenerate cases: one node, no edge, isolated nodes, self-loops, bipartite, disconnected.

Also their adjacency matrices in the containers and dtypes of users, graphs with negative weights, and Hermitian ones.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from itertools import combinations, product
from random import Random
from typing import Any

import numpy as np
from hypothesis import strategies as st
from hypothesis.strategies import DrawFn, SearchStrategy
from scipy import sparse

from .._arguments import check_count
from ..backend import FloatArray
from ..errors import ParameterError
from ..graph import Graph

__all__ = ["SHAPES", "adjacencies", "as_strategy", "graphs", "magnetic_graphs", "signed_graphs"]

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


def as_strategy(value: Any, default: SearchStrategy[Any]) -> SearchStrategy[Any]:
    """Return a given strategy, that of a fixed value, or the default for None."""
    return default if value is None else value if isinstance(value, SearchStrategy) else st.just(value)


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


def _piece(draw: DrawFn, n: int, connected: bool) -> Pairs:
    shape = draw(st.sampled_from([*([] if connected else ["empty"]), *SHAPES, "random"]))
    if shape == "empty":
        return []
    if shape in SHAPES:
        return SHAPES[shape](n)
    tree = [(draw(st.integers(0, i - 1)), i) for i in range(1, n)] if connected else []
    return sorted({*tree, *_subset(draw, combinations(range(n), 2))})


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
        No isolated node, hence at least two; weights are multiplied by a common factor until every degree reaches it.
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

    @st.composite
    def drawn(draw: DrawFn) -> Graph:
        # Smallest graphs are few and Hypothesis draws no example twice, so they get a fixed share of the draws.
        n = fewest if draw(st.integers(0, 7)) == 0 else draw(st.integers(fewest, max(fewest, most)))
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

    return drawn()


FORMS: dict[str, Callable[[Any], Any]] = {
    "list": lambda A: A.tolist(),
    "dense": lambda A: A,
    "fortran": np.asfortranarray,
    **{name: getattr(sparse, name) for name in ("csr_array", "csc_array", "coo_array", "csr_matrix", "lil_array")},
}
DTYPES: dict[str, Callable[[Any], Any]] = {
    "float64": lambda A: A,
    "float32": lambda A: A.astype(np.float32),
    "int64": lambda A: np.ceil(A).astype(np.int64),
    "bool": lambda A: A != 0,
}


def adjacencies(graph: SearchStrategy[Graph] | None = None) -> SearchStrategy[tuple[Any, Graph]]:
    """Return a strategy of pairs: an adjacency in some container and dtype, and the graph it represents.

    The container is a list, a dense or a sparse array of some format; the dtype is float64, float32, int64 or bool.

    Parameters
    ----------
    graph : strategy of Graph, optional
        ``graphs()`` by default.

    Returns
    -------
    strategy of (matrix, Graph)
        The graph is built from the same matrix in dense float64.

    See Also
    --------
    graphs : Graphs alone.

    Examples
    --------
    >>> from hypothesis import given
    >>> @given(adjacencies())
    ... def the_container_does_not_matter(pair):
    ...     matrix, graph = pair
    ...     assert Graph.from_adjacency(matrix).sha256 == graph.sha256
    >>> the_container_does_not_matter()
    """

    def converted(graph: Graph, form: str, dtype: str) -> tuple[Any, Graph]:
        A = DTYPES[dtype](graph.adjacency.toarray())
        return FORMS[form](A), Graph.from_adjacency(A.astype(np.float64), directed=graph.directed)

    return st.builds(
        converted, as_strategy(graph, graphs()), st.sampled_from(list(FORMS)), st.sampled_from(list(DTYPES))
    )


def signed_graphs(*, balanced: bool = False, **options: Any) -> SearchStrategy[Graph]:
    """Return a strategy of graphs with signs: those of :func:`graphs`, each edge with a random one.

    Parameters
    ----------
    balanced : bool
        Signs ``s_i s_j`` of random signs of the nodes: the adjacency is similar to that of the absolute weights.
    **options
        Options of :func:`graphs`.

    Returns
    -------
    strategy of Graph
        Shrinks towards graphs without negative weights.

    See Also
    --------
    graphs : Graphs with weights >= 0.
    magnetic_graphs : Graphs with complex weights.

    Examples
    --------
    >>> from hypothesis import given
    >>> @given(signed_graphs())
    ... def degrees_are_sums_of_absolute_values(graph):
    ...     assert abs(abs(graph.adjacency).sum(axis=1) - graph.degrees).max() <= 1e-9
    >>> degrees_are_sums_of_absolute_values()
    """

    def with_signs(graph: Graph, seed: int) -> Graph:
        if not seed:
            return graph
        A, rng = graph.adjacency.toarray(), np.random.default_rng(seed)
        nodes = rng.choice([-1.0, 1.0], len(A))
        signs = np.outer(nodes, nodes) if balanced else rng.choice([-1.0, 1.0], A.shape)
        signs = signs if graph.directed else np.triu(signs) + np.triu(signs, 1).T
        return Graph.from_adjacency(signs * A, directed=graph.directed, signed=True)

    return st.builds(with_signs, graphs(**options), st.integers(0, 2**24 - 1))


def magnetic_graphs(*, q: SearchStrategy[float] | float | None = None, **options: Any) -> SearchStrategy[Graph]:
    """Return a strategy of Hermitian graphs: :meth:`gsp_fb.Graph.magnetic` of random directed graphs.

    Parameters
    ----------
    q : strategy of float or float, optional
        Turns per arc; multiples of 1/8 between 0 and 1 by default.
    **options
        Options of :func:`graphs` other than ``directed``.

    Returns
    -------
    strategy of Graph
        Weights are real where all phases are.

    See Also
    --------
    signed_graphs : Graphs with negative weights.

    Examples
    --------
    >>> from hypothesis import given
    >>> @given(magnetic_graphs())
    ... def the_adjacency_is_hermitian(graph):
    ...     A = graph.adjacency.toarray()
    ...     assert (A == A.conj().T).all()
    >>> the_adjacency_is_hermitian()
    """
    turns = as_strategy(q, st.integers(0, 7).map(lambda eighths: eighths / 8))
    return st.builds(Graph.magnetic, graphs(directed=True, **options), turns)
