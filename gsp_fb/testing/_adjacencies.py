"""Adjacency matrices in the containers and dtypes of users: lists, dense and sparse arrays."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
from scipy import sparse

from ..graph import Graph
from ._graphs import graphs
from ._hypothesis import SearchStrategy
from ._hypothesis import strategies as st

__all__ = ["adjacencies"]

FORMS: dict[str, Callable[[Any], Any]] = {
    "list": lambda A: A.tolist(),
    "dense": lambda A: A,
    "fortran": np.asfortranarray,
    "csr_array": sparse.csr_array,
    "csc_array": sparse.csc_array,
    "coo_array": sparse.coo_array,
    "csr_matrix": sparse.csr_matrix,
    "lil_array": sparse.lil_array,
}
DTYPES: dict[str, Callable[[Any], Any]] = {
    "float64": lambda A: A,
    "float32": lambda A: A.astype(np.float32),
    "int64": lambda A: np.ceil(A).astype(np.int64),
    "bool": lambda A: A != 0,
}


def adjacencies(graph: SearchStrategy[Graph] | None = None) -> SearchStrategy[tuple[Any, Graph]]:
    """Return a strategy of pairs: an adjacency in some container and dtype, and the graph it represents.

    The container is a list, a dense array or a sparse array of some format; the dtype is float64, float32, int64 or
    bool.

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
        converted, graphs() if graph is None else graph, st.sampled_from(list(FORMS)), st.sampled_from(list(DTYPES))
    )
