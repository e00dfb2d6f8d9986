"""A graph alone, with a signal or classes at its nodes, and the two channels of a signal."""

from __future__ import annotations

from typing import Any

import numpy as np

from .._arguments import check_count, check_labels
from ..backend import FloatArray, to_dense
from ..errors import ParameterError, SignalError
from ..graph import Graph
from ._style import GREY, axes_row, beside_legend, categorical, colour_scale, marker, new_axes, segments
from .layouts import positions

__all__ = ["MAX_EDGES", "MAX_NODES", "filtered", "graph", "labels", "signal"]

# Beyond these limits a drawing is unreadable and takes minutes.
MAX_NODES = 20_000
MAX_EDGES = 50_000
# Node size in square points below which the outline is thin: a full one hides the colour of smaller nodes.
THIN_RIM = 40.0
# Usual side of a drawing in points, and the share of it that edges may cover.
DRAWING_POINTS, COVERAGE = 250.0, 0.35


def graph(
    graph: Graph,
    *,
    layout: Any = None,
    node_size: float | None = None,
    max_nodes: int = MAX_NODES,
    max_edges: int = MAX_EDGES,
    rng: Any = 0,
    ax: Any = None,
) -> Any:
    """Draw nodes and edges of a graph, in space if its coordinates have three components.

    Parameters
    ----------
    graph : Graph
    layout : str or array_like, optional
        As in :func:`positions`; by default the coordinates of the graph.
    node_size, max_nodes, max_edges, rng : optional
        As in :func:`signal`.
    ax : matplotlib Axes, by default those of a new figure
        Axes without a third dimension show a projection.

    Returns
    -------
    matplotlib Axes

    Raises
    ------
    ParameterError
        The graph has more than ``max_nodes`` nodes.

    See Also
    --------
    signal : Values at the nodes.
    labels : Classes at the nodes.

    Examples
    --------
    >>> from gsp_fb.datasets import ring, torus
    >>> len(graph(ring(6)).collections[0].get_segments())
    6
    >>> graph(torus(5)).name
    '3d'
    """
    axes, places = _canvas(graph, layout, (max_nodes, max_edges), rng, ax)
    _draw_nodes(axes, places, node_size, c=categorical(1)[0])
    return axes


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
    """Draw a graph with its nodes coloured by a signal.

    Parameters
    ----------
    graph : Graph
    x : array_like, shape (n_nodes,)
        A real signal.
    layout : str or array_like, as in :func:`positions`, optional
    scale : {'auto', 'amount', 'signed'}
        A sequential map between the extremes, or a diverging one centred at 0; by default signed if ``x`` is.
    node_size : float, optional
        Area of a node in square points; by default decreasing with the number of nodes.
    colorbar : bool
        Whether to add a colour bar.
    max_nodes, max_edges : int
        A graph with more nodes is rejected; of one with more edges only the nodes are drawn, with a note.
    rng : None, int or Generator
        Randomness of the spring layout.
    ax : matplotlib Axes, by default those of a new figure

    Returns
    -------
    matplotlib Axes

    Raises
    ------
    SignalError
        ``x`` is not one real value per node.
    ParameterError
        The graph has more than ``max_nodes`` nodes.

    See Also
    --------
    labels : Classes instead of values.
    filtered : The low and the high channel of a signal.
    positions : The layout.

    Examples
    --------
    >>> from gsp_fb.datasets import ring
    >>> ax = signal(ring(6), [1.0, -1.0, 1.0, -1.0, 1.0, -1.0], layout="circle")
    >>> ax.collections[1].get_array().tolist()
    [1.0, -1.0, 1.0, -1.0, 1.0, -1.0]
    """
    values = _real(graph, x)
    axes, places = _canvas(graph, layout, (max_nodes, max_edges), rng, ax)
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
    """Draw a graph with one colour per class; unlabelled nodes (negative) are hollow.

    Parameters
    ----------
    graph : Graph
    y : array_like of int, shape (n_nodes,)
        Classes.
    names : sequence of str, optional
        Names of the classes in the legend; ``class 0``, ``class 1``, ... by default.
    layout : str or array_like, as in :func:`positions`, optional
    node_size, max_nodes, max_edges, rng : optional
        As in :func:`signal`.
    ax : matplotlib Axes, by default those of a new figure

    Returns
    -------
    matplotlib Axes

    Raises
    ------
    SignalError
        ``y`` is not one integer per node.
    ParameterError
        The graph has more than ``max_nodes`` nodes.

    See Also
    --------
    signal : Values instead of classes.
    tsne : Classes in an embedding.

    Examples
    --------
    >>> from gsp_fb.datasets import ring
    >>> ax = labels(ring(4), [0, 0, 1, 1], names=["left", "right"])
    >>> [text.get_text() for text in ax.get_legend().get_texts()]
    ['left', 'right']
    """
    y = check_labels(y, graph.n_nodes)
    axes, places = _canvas(graph, layout, (max_nodes, max_edges), rng, ax)
    size = _size(len(y)) if node_size is None else node_size
    _draw_nodes(axes, places[y < 0], size, c="white")
    classes = np.unique(y[y >= 0])
    colours = categorical(int(classes.max(initial=-1)) + 1)
    for number in classes:
        name = f"class {number}" if names is None else str(names[number])
        _draw_nodes(axes, places[y == number], size, c=colours[number], label=name, marker=marker(int(number)))
    if classes.size:
        beside_legend(axes)
    return axes


def filtered(graph: Graph, low: Any, high: Any, *, layout: Any = None, rng: Any = 0, axes: Any = None) -> Any:
    """Draw a signal, its low and its high channel with one colour scale.

    The signal is ``low + high``, as for every bank whose channels sum to the identity.

    Parameters
    ----------
    graph : Graph
    low, high : array_like, shape (n_nodes,)
        As ``FilterBank.two_channel(graph).analyze(x)`` returns them.
    layout : str or array_like, as in :func:`positions`, optional
    rng : None, int or Generator
        Randomness of the spring layout.
    axes : three matplotlib Axes, by default those of a new figure

    Returns
    -------
    array of three matplotlib Axes
        Signal, low and high channel.

    Raises
    ------
    SignalError
        A channel is not one real value per node.
    ParameterError
        The number of axes is not three, or the graph is too large.

    See Also
    --------
    signal : One signal.
    gsp_fb.FilterBank : Computes the channels.

    Examples
    --------
    >>> from gsp_fb import FilterBank
    >>> from gsp_fb.datasets import ring
    >>> halves = FilterBank.two_channel(ring(4), "lazy_rw").analyze([1.0, 2.0, 3.0, 4.0])
    >>> [ax.get_title() for ax in filtered(ring(4), *halves)]
    ['signal', 'low: smooth', 'high: rough']
    """
    low, high = _real(graph, low), _real(graph, high)
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


def _real(graph: Graph, x: Any) -> FloatArray:
    values = np.asarray(to_dense(graph.check_signal(x)))
    if values.ndim == 2 and values.shape[1] == 1:
        values = values[:, 0]
    if values.ndim != 1 or np.iscomplexobj(values):
        raise SignalError(f"a picture shows one real value a node; choose a column of shape {values.shape}, or its abs")
    return values.astype(np.float64)


def _canvas(graph: Graph, layout: Any, limits: tuple[int, int], rng: Any, ax: Any) -> tuple[Any, FloatArray]:
    """Return axes with the edges, and the places of the nodes, in space where axes and coordinates have a depth."""
    own = graph.coordinates
    space = layout is None and own is not None and own.shape[1] == 3 and (ax is None or ax.name == "3d")
    places = _places(graph, layout, limits[0], rng)
    places = own if space and own is not None else places
    axes = new_axes(ax, size=(5.0, 4.0), space=space)
    _draw_edges(axes, graph, places, limits[1])
    return axes, places


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
    space = places.shape[1] == 3
    axes.set(xticks=[], yticks=[], aspect="equal", **({"zticks": []} if space else {}))
    if space:
        axes.set_axis_off()
    else:
        axes.set_frame_on(False)
        axes.margins(0.08)
    if len(source) > check_count(max_edges, "max_edges", minimum=0):
        axes.set_xlabel(f"{len(source)} edges not drawn", fontsize="small")
        source, target = source[:0], target[:0]
    ends = np.stack([places[source], places[target]], axis=1)
    width = float(np.clip(50.0 / max(len(source), 1) ** 0.5, 0.2, 0.8))
    # Opacity falls with the share of the drawing that the edges cover, so that nodes and structure stay visible.
    span = float(np.ptp(places, axis=0).max()) if len(places) else 0.0
    covered = float(np.linalg.norm(ends[:, 0] - ends[:, 1], axis=1).sum()) / (span or 1.0) * width / DRAWING_POINTS
    faint = float(np.clip(COVERAGE / max(covered, 1e-12), 0.04, 0.8))
    axes.add_collection(segments(ends, colors=GREY, linewidths=width, alpha=faint, zorder=1))
    if space:
        axes.auto_scale_xyz(*places.T)
        axes.set_aspect("equal")


def _draw_nodes(axes: Any, places: FloatArray, node_size: float | None, **options: Any) -> Any:
    size = _size(len(places)) if node_size is None else node_size
    rim = 0.5 if size > THIN_RIM else 0.15
    return axes.scatter(*places.T, s=size, edgecolors="0.25", linewidths=rim, zorder=2, clip_on=False, **options)
