"""Trained networks: mixing weights of the channels by epoch, and embeddings in the plane, coloured by class."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from .._arguments import check_labels, check_positive, check_rng, check_signal
from .._extras import require
from ..backend import FloatArray, to_dense
from ..errors import ParameterError
from ._style import CHANNEL_COLOURS, GREY, axes_row, beside_legend, categorical, marker, new_axes

__all__ = ["alphas", "draw_plane", "in_plane", "tsne"]

PREFIX = "alpha_low_"
STYLES = ("-", "--", ":", "-.")
MIN_ROWS = 4


def alphas(history: Sequence[Any], *, ax: Any = None) -> Any:
    """Draw the mixing weights of the low and the high channel by epoch.

    Parameters
    ----------
    history : sequence of rows, or a sequence of such histories
        Rows as in ``TrainResult.history`` or ``metrics.csv``: ``epoch``, ``alpha_low_1``, ``alpha_high_1``, ... For
        several runs the mean and a band of one standard deviation are drawn, at each epoch over the runs that reached
        it.
    ax : matplotlib Axes, by default those of a new figure

    Returns
    -------
    matplotlib Axes

    Raises
    ------
    ParameterError
        The history has no mixing weights: the model has one channel.

    See Also
    --------
    gsp_fb.nn.train : Returns the history.

    Examples
    --------
    >>> first = {"epoch": 1, "alpha_low_1": 0.5, "alpha_high_1": 0.5}
    >>> second = {"epoch": 2, "alpha_low_1": 0.4, "alpha_high_1": 0.7}
    >>> ax = alphas([first, second])
    >>> ax.lines[1].get_ydata()
    array([0.5, 0.7])
    """
    runs = [history] if history and isinstance(history[0], Mapping) else list(history)
    columns = runs[0][0] if runs and len(runs[0]) else {}
    layers = [name.removeprefix(PREFIX) for name in columns if name.startswith(PREFIX)]
    if not layers:
        found = ", ".join(columns) or "none"
        raise ParameterError(f"no alphas in the history (columns: {found}); only a model with two channels has them")
    axes = new_axes(ax)
    for style, layer in zip(STYLES * len(layers), layers, strict=False):
        for channel, colour in CHANNEL_COLOURS.items():
            epochs, mean, spread = _course(runs, f"alpha_{channel}_{layer}")
            name = f"{channel}, layer {layer}" if len(layers) > 1 else channel
            axes.plot(epochs, mean, style, color=colour, label=name)
            if len(runs) > 1:
                axes.fill_between(epochs, mean - spread, mean + spread, color=colour, alpha=0.3, linewidth=0)
    axes.set(xlabel="epoch", ylabel=r"$\alpha$")
    axes.legend(frameon=False, fontsize="small", ncols=len(layers))
    return axes


def _course(runs: list[Any], column: str) -> tuple[FloatArray, FloatArray, FloatArray]:
    """Return epochs, mean and standard deviation of a column over the runs."""
    longest = max(runs, key=len)
    table = np.full((len(runs), len(longest)), np.nan)
    for values, run in zip(table, runs, strict=True):
        values[: len(run)] = [float(row[column]) for row in run]
    epochs = np.array([float(row["epoch"]) for row in longest])
    return epochs, np.nanmean(table, axis=0), np.nanstd(table, axis=0)


def tsne(embeddings: Any, y: Any, *, perplexity: float = 30.0, rng: Any = 0, axes: Any = None) -> Any:
    """Draw embeddings by t-SNE, one colour per class.

    Parameters
    ----------
    embeddings : array_like, shape (n_nodes, n_features), or a mapping from names to such
        ``low``, ``high`` and ``combined`` as :func:`gsp_fb.nn.embed` returns them.
    y : array_like of int, shape (n_nodes,)
        Classes; unlabelled nodes (negative) are grey.
    perplexity : float > 0
        Effective number of neighbours of each point; limited to a third of the number of points.
    rng : None, int or Generator
    axes : matplotlib Axes, or one per embedding, by default those of a new figure

    Returns
    -------
    matplotlib Axes or array of Axes
        An array if ``embeddings`` is a mapping.

    Raises
    ------
    SignalError
        ``y`` or an embedding does not have one row per node.
    ParameterError
        There are fewer than 4 rows, or the number of axes does not match.

    See Also
    --------
    labels : Classes at the nodes of the graph.

    References
    ----------
    .. [1] L. van der Maaten, G. Hinton, "Visualizing data using t-SNE", J. Mach. Learn. Res. 9, 2008.

    Examples
    --------
    >>> import numpy as np
    >>> points = np.random.default_rng(0).normal(size=(20, 5))
    >>> ax = tsne(points, np.arange(20) % 2)
    >>> len(ax.collections)
    2
    """
    several = isinstance(embeddings, Mapping)
    named = dict(embeddings) if several else {"": embeddings}
    y = check_labels(y, len(y))
    row = draw_plane(in_plane(named, len(y), perplexity=perplexity, rng=rng), y, axes)
    return row if several else row[0]


def in_plane(
    embeddings: Mapping[str, Any], n_rows: int, *, perplexity: float = 30.0, rng: Any = 0
) -> dict[str, FloatArray]:
    """Return the t-SNE coordinates of the rows of each embedding; slow, so callers store the result."""
    perplexity, generator = check_positive(perplexity, "perplexity"), check_rng(rng)
    found = {}
    for name, x in embeddings.items():
        points = np.asarray(to_dense(check_signal(x, n_rows)))
        if points.ndim != 2 or n_rows < MIN_ROWS:
            raise ParameterError(f"t-SNE needs at least {MIN_ROWS} rows of features, not an array of {points.shape}")
        manifold = require("sklearn.manifold", "t-SNE")
        start = "pca" if points.shape[1] > 1 else "random"
        seed, near = int(generator.integers(2**31)), min(perplexity, (n_rows - 1) / 3)
        found[name] = np.asarray(manifold.TSNE(perplexity=near, init=start, random_state=seed).fit_transform(points))
    return found


def draw_plane(places: Mapping[str, FloatArray], y: Any, axes: Any = None) -> Any:
    """Draw points in the plane, one panel per name and one colour per class; return the axes."""
    row, classes = axes_row(axes, len(places)), np.unique(y)
    colours = dict(zip(classes[classes >= 0].tolist(), categorical(len(classes)), strict=False))
    for axis, (title, points) in zip(row, places.items(), strict=True):
        size = float(np.clip(4000.0 / len(points), 3.0, 40.0))
        for place, number in enumerate(classes.tolist()):
            colour, name = (GREY, "unlabelled") if number < 0 else (colours[number], f"class {number}")
            shape = marker(place - int(classes[0] < 0))
            axis.scatter(*points[y == number].T, s=size, color=colour, label=name, linewidths=0, marker=shape)
        axis.set(title=title, xticks=[], yticks=[])
    beside_legend(row[-1])
    return row
