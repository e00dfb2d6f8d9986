"""Random signals: since a signal needs a graph's size, a recipe is drawn and applied to the graph."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from ..graph import Graph
from ._graphs import graphs
from ._hypothesis import SearchStrategy
from ._hypothesis import strategies as st

__all__ = ["KINDS", "SignalRecipe", "graphs_with_signals", "signals"]

Shape = tuple[int, ...]

KINDS: dict[str, Callable[[np.random.Generator, Shape], Any]] = {
    "constant": lambda rng, shape: np.ones(shape),
    "delta": lambda rng, shape: np.eye(shape[0], shape[1] if shape[1:] else 1).reshape(shape),
    "alternating": lambda rng, shape: np.resize([1.0, -1.0], shape[::-1]).T,
    "normal": lambda rng, shape: rng.standard_normal(shape),
    "wide": lambda rng, shape: rng.standard_normal(shape) * 10.0 ** rng.uniform(-3.0, 3.0, shape),
    "scarce": lambda rng, shape: rng.standard_normal(shape) * (rng.random(shape) < 0.3),
}


@dataclass(frozen=True)
class SignalRecipe:
    """A signal without its graph: ``recipe(graph)`` is the array, the same one each time.

    Attributes
    ----------
    kind : str
        A name of ``KINDS``.
    seed : int
    columns : int or None
        None for one signal of shape ``(n_nodes,)``.
    complex : bool
        Add ``i`` times a second signal.
    dtype : real dtype

    Examples
    --------
    >>> SignalRecipe("alternating")(Graph.from_edges([(0, 1), (1, 2)]))
    array([ 1., -1.,  1.])
    """

    kind: str
    seed: int = 0
    columns: int | None = None
    complex: bool = False
    dtype: npt.DTypeLike = np.float64

    def __call__(self, graph: Graph) -> Any:
        """Return the signal on ``graph``."""
        rng = np.random.default_rng(self.seed)
        shape = (graph.n_nodes,) if self.columns is None else (graph.n_nodes, self.columns)
        x = KINDS[self.kind](rng, shape).astype(self.dtype)
        return x + 1j * rng.standard_normal(shape).astype(self.dtype) if self.complex else x


def signals(
    graph: Graph | None = None,
    *,
    columns: int | SearchStrategy[int | None] | None = None,
    complex: bool = False,
    dtype: npt.DTypeLike = np.float64,
) -> SearchStrategy[Any]:
    """Return a strategy of signals on ``graph``, or of recipes that make one on any graph.

    Parameters
    ----------
    graph : Graph, optional
        With it arrays are drawn, without it :class:`SignalRecipe` objects, so that ``@given`` can draw the graph
        and the signal side by side.
    columns : int, None or a strategy of these
        How many signals; None for the shape ``(n_nodes,)``.
    complex : bool
    dtype : real dtype

    Examples
    --------
    >>> from hypothesis import given
    >>> @given(graphs(), signals(columns=2))
    ... def a_row_for_each_node(graph, signal):
    ...     assert signal(graph).shape == (graph.n_nodes, 2)
    >>> a_row_for_each_node()
    """
    widths = columns if isinstance(columns, SearchStrategy) else st.just(columns)
    seeds = st.integers(0, 2**32 - 1)
    recipes = st.builds(SignalRecipe, st.sampled_from(list(KINDS)), seeds, widths, st.just(complex), st.just(dtype))
    return recipes if graph is None else recipes.map(lambda recipe: recipe(graph))


def graphs_with_signals(
    graph: SearchStrategy[Graph] | None = None, **options: Any
) -> SearchStrategy[tuple[Graph, Any]]:
    """Return a strategy of pairs (graph, signal on it).

    Parameters
    ----------
    graph : strategy of Graph, optional
        ``graphs()`` by default.
    **options
        Those of :func:`signals`.

    Examples
    --------
    >>> from hypothesis import given
    >>> @given(graphs_with_signals(complex=True))
    ... def a_value_for_each_node(pair):
    ...     graph, x = pair
    ...     assert x.shape == (graph.n_nodes,)
    >>> a_value_for_each_node()
    """
    return st.builds(
        lambda drawn, recipe: (drawn, recipe(drawn)), graphs() if graph is None else graph, signals(**options)
    )
