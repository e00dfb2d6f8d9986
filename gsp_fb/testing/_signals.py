"""Random signals: the length of a signal depends on its graph, so a generator is drawn and applied to the graph."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt
from hypothesis import strategies as st
from hypothesis.strategies import SearchStrategy

from ..graph import Graph
from ._graphs import as_strategy, graphs

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
    """A deterministic generator of a signal: ``recipe(graph)`` returns the same array each time."""

    kind: str  # a key of KINDS
    seed: int = 0  # of the random kinds
    columns: int | None = None  # number of signals; None for the shape (n_nodes,)
    complex: bool = False  # add i times a second signal
    dtype: npt.DTypeLike = np.float64  # real

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
    """Return a strategy of signals on a graph, or of generators of signals for any graph.

    Parameters
    ----------
    graph : Graph, optional
        With it arrays are drawn; without it ``SignalRecipe`` objects, so that ``@given`` can draw graph and signal
        independently.
    columns : int, None or a strategy of these
        Number of signals; None for the shape ``(n_nodes,)``.
    complex : bool
        Complex signals.
    dtype : real dtype
        Precision.

    Returns
    -------
    strategy of ndarray or SignalRecipe
        Constants, deltas, alternating, normal, badly scaled and sparse signals.

    See Also
    --------
    graphs_with_signals : Pairs of a graph and a signal.

    Examples
    --------
    >>> from hypothesis import given
    >>> @given(graphs(), signals(columns=2))
    ... def a_row_for_each_node(graph, signal):
    ...     assert signal(graph).shape == (graph.n_nodes, 2)
    >>> a_row_for_each_node()
    """
    widths, seeds = as_strategy(columns, st.none()), st.integers(0, 2**32 - 1)
    recipes = st.builds(SignalRecipe, st.sampled_from(list(KINDS)), seeds, widths, st.just(complex), st.just(dtype))
    return recipes if graph is None else recipes.map(lambda recipe: recipe(graph))


def graphs_with_signals(
    graph: SearchStrategy[Graph] | None = None, **options: Any
) -> SearchStrategy[tuple[Graph, Any]]:
    """Return a strategy of pairs of a graph and a signal on it.

    Parameters
    ----------
    graph : strategy of Graph, optional
        ``graphs()`` by default.
    **options
        Options of :func:`signals`.

    Returns
    -------
    strategy of (Graph, ndarray)
        The signal has one row per node.

    See Also
    --------
    graphs : Graphs alone.
    signals : Signals alone.

    Examples
    --------
    >>> from hypothesis import given
    >>> @given(graphs_with_signals(complex=True))
    ... def a_value_for_each_node(pair):
    ...     graph, x = pair
    ...     assert x.shape == (graph.n_nodes,)
    >>> a_value_for_each_node()
    """
    return st.builds(lambda drawn, recipe: (drawn, recipe(drawn)), as_strategy(graph, graphs()), signals(**options))
