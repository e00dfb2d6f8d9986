"""Random graphs with negative weights, and Hermitian ones of directed graphs."""

from __future__ import annotations

from typing import Any

import numpy as np

from ..graph import Graph
from ._graphs import graphs
from ._hypothesis import SearchStrategy
from ._hypothesis import strategies as st

__all__ = ["magnetic_graphs", "signed_graphs"]


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
    turns = st.integers(0, 7).map(lambda eighths: eighths / 8) if q is None else q
    drawn = turns if isinstance(turns, SearchStrategy) else st.just(turns)
    return st.builds(Graph.magnetic, graphs(directed=True, **options), drawn)
