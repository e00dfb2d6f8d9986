"""A graph with a signal on its nodes, and the same graph with each half of it."""

from __future__ import annotations

from typing import Any

import numpy as np

from .._arguments import check_count, check_labels, check_signal
from ..backend import FloatArray, is_sparse
from ..errors import ParameterError, SignalError
from ..graph import Graph
from ._style import GREY, axes_row, beside_legend, categorical, colour_scale, new_axes, segments
from .layouts import positions

__all__ = ["MAX_EDGES", "MAX_NODES", "filtered", "labels", "signal"]

# Beyond these a picture is a blot that takes minutes to draw.
MAX_NODES = 20_000
MAX_EDGES = 50_000
# Square points; a full rim would hide the colour of smaller nodes.
THIN_RIM = 40.0


def signal(
    graph: Graph,
    x: Any,
    *,
    layout: Any = None,
    scale: str = "auto",
    node_size: float | None = None,
    colorbar: bool = True,
    max_nodes: int = MAX_NODES,
    max_edges: int = MAX_EDGES,
    rng: Any = 0,
    ax: Any = None,
) -> Any:
    """Draw the graph with its nodes coloured by ``x`` and return the axes.

    Parameters
    ----------
    graph : Graph
    x : array_like, shape (n_nodes,)
        A real signal.
    layout : {'spring', 'spectral', 'circle'} or array_like of shape (n_nodes, 2), optional
        As in :func:`positions`.
    scale : {'auto', 'amount', 'signed'}
        A sequential map between the extremes, or a diverging one with 0 in its middle; by default signed if ``x`` is.
    node_size : float, optional
        Area of a node in square points; by default smaller the more there are.
    colorbar : bool
    max_nodes : int
        A larger graph is refused.
    max_edges : int
        Of a graph with more edges only the nodes are drawn, with a note below them.
    rng : None, int or Generator
        Of the spring layout.
    ax : matplotlib Axes, optional

    Returns
    -------
    matplotlib Axes
        The axes that the graph was drawn on.

    Raises
    ------
    SignalError
        ``x`` is not one real value per node.
    ParameterError
        The graph is too large to be drawn.

    See Also
    --------
    labels : Colour nodes by class.
    filtered : Draw a signal beside its two halves.
    positions : Coordinates of the nodes.

    Examples
    --------
    >>> from gsp_fb.datasets import ring
    >>> ax = signal(ring(6), [1.0, -1.0, 1.0, -1.0, 1.0, -1.0], layout="circle")
    >>> ax.collections[1].get_array().tolist()
    [1.0, -1.0, 1.0, -1.0, 1.0, -1.0]
    """
    values = _real(x, graph.n_nodes)
    places = _places(graph, layout, max_nodes, rng)
    axes = new_axes(ax, size=(5.0, 4.0))
    _draw_edges(axes, graph, places, max_edges)
    dots = _draw_nodes(axes, places, node_size, c=values, **colour_scale(values, scale))
    if colorbar:
        axes.figure.colorbar(dots, ax=axes, shrink=0.8)
    return axes


def labels(
    graph: Graph,
    y: Any,
    *,
    names: Any = None,
    layout: Any = None,
    node_size: float | None = None,
    max_nodes: int = MAX_NODES,
    max_edges: int = MAX_EDGES,
    rng: Any = 0,
    ax: Any = None,
) -> Any:
    """Draw the graph with a colour for each class and return the axes; unlabelled nodes (negative) are hollow.

    Parameters
    ----------
    graph : Graph
    y : array_like of int, shape (n_nodes,)
    names : sequence of str, optional
        What the classes are called in the legend; ``class 0``, ``class 1``, ... by default.
    layout, node_size, max_nodes, max_edges, rng, ax
        As in :func:`signal`.

    Returns
    -------
    matplotlib Axes
        The axes that the graph was drawn on.

    See Also
    --------
    signal : Colour nodes by a number.
    tsne : Classes of an embedding in the plane.

    Examples
    --------
    >>> from gsp_fb.datasets import ring
    >>> ax = labels(ring(4), [0, 0, 1, 1], names=["left", "right"])
    >>> [text.get_text() for text in ax.get_legend().get_texts()]
    ['left', 'right']
    """
    y = check_labels(y, graph.n_nodes)
    places = _places(graph, layout, max_nodes, rng)
    axes = new_axes(ax, size=(5.0, 4.0))
    _draw_edges(axes, graph, places, max_edges)
    size = _size(len(y)) if node_size is None else node_size
    _draw_nodes(axes, places[y < 0], size, c="white")
    classes = np.unique(y[y >= 0])
    colours = categorical(int(classes.max(initial=-1)) + 1)
    for number in classes:
        name = f"class {number}" if names is None else str(names[number])
        _draw_nodes(axes, places[y == number], size, c=colours[number], label=name)
    if classes.size:
        beside_legend(axes)
    return axes


def filtered(graph: Graph, low: Any, high: Any, *, layout: Any = None, rng: Any = 0, axes: Any = None) -> Any:
    """Draw a signal, its low half and its high half in one scale of colours; return the three axes.

    The signal is ``low + high``, as it is for every bank whose channels sum to the identity.

    Parameters
    ----------
    graph : Graph
    low, high : array_like, shape (n_nodes,)
        As ``FilterBank.two_channel(graph).analyze(x)`` returns them.
    layout, rng
        As in :func:`signal`.
    axes : three matplotlib Axes, optional

    Returns
    -------
    ndarray of three matplotlib Axes
        Signal, low half and high half.

    See Also
    --------
    signal : Draw one signal.
    gsp_fb.FilterBank.two_channel : Split a signal into two halves.

    Examples
    --------
    >>> from gsp_fb import FilterBank
    >>> from gsp_fb.datasets import ring
    >>> halves = FilterBank.two_channel(ring(4), "lazy_rw").analyze([1.0, 2.0, 3.0, 4.0])
    >>> [ax.get_title() for ax in filtered(ring(4), *halves)]
    ['signal', 'low: smooth', 'high: rough']
    """
    low, high = _real(low, graph.n_nodes), _real(high, graph.n_nodes)
    places = _places(graph, layout, MAX_NODES, rng)
    row = axes_row(axes, 3)
    parts = {"signal": low + high, "low: smooth": low, "high: rough": high}
    shared = colour_scale(np.concatenate(list(parts.values())))
    for axis, (title, values) in zip(row, parts.items(), strict=True):
        _draw_edges(axis, graph, places, MAX_EDGES)
        dots = _draw_nodes(axis, places, None, c=values, **shared)
        axis.set_title(title)
    row[0].figure.colorbar(dots, ax=list(row), shrink=0.8)
    return row


def _real(x: Any, n_nodes: int) -> FloatArray:
    x = check_signal(x, n_nodes)
    values = np.asarray(x.toarray() if is_sparse(x) else x)
    if values.ndim == 2 and values.shape[1] == 1:
        values = values[:, 0]
    if values.ndim != 1 or np.iscomplexobj(values):
        raise SignalError(f"a picture shows one real value a node; choose a column of shape {values.shape}, or its abs")
    return values.astype(np.float64)


def _places(graph: Graph, layout: Any, max_nodes: int, rng: Any) -> FloatArray:
    if graph.n_nodes > check_count(max_nodes, "max_nodes"):
        raise ParameterError(
            f"a drawing of {graph.n_nodes} nodes shows nothing (max_nodes={max_nodes}); draw a part of the graph, "
            "its energy profile, or raise max_nodes"
        )
    return positions(graph, layout, rng=rng)


def _size(n_nodes: int) -> float:
    return float(np.clip(6000.0 / max(n_nodes, 1), 4.0, 90.0))


def _draw_edges(axes: Any, graph: Graph, places: FloatArray, max_edges: int) -> None:
    source, target, _ = graph.edges()
    axes.set(xticks=[], yticks=[], aspect="equal")
    axes.set_frame_on(False)
    axes.margins(0.08)
    if len(source) > check_count(max_edges, "max_edges", minimum=0):
        axes.set_xlabel(f"{len(source)} edges not drawn", fontsize="small")
        source, target = source[:0], target[:0]
    ends = np.stack([places[source], places[target]], axis=1)
    faint = float(np.clip(40.0 / max(len(source), 1) ** 0.5, 0.15, 0.8))
    axes.add_collection(segments(ends, colors=GREY, linewidths=0.8, alpha=faint, zorder=1))


def _draw_nodes(axes: Any, places: FloatArray, node_size: float | None, **options: Any) -> Any:
    size = _size(len(places)) if node_size is None else node_size
    rim = 0.5 if size > THIN_RIM else 0.15
    return axes.scatter(*places.T, s=size, edgecolors="0.25", linewidths=rim, zorder=2, clip_on=False, **options)
