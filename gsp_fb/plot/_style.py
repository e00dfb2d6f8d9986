"""Axes and colours: the one module of the pictures that names matplotlib."""

from __future__ import annotations

from itertools import cycle, islice
from typing import Any

import numpy as np

from .._arguments import check_choice
from .._extras import require
from ..backend import FloatArray
from ..errors import ParameterError

__all__ = [
    "CHANNEL_COLOURS",
    "GREY",
    "above_legend",
    "axes_row",
    "beside_legend",
    "categorical",
    "colour_scale",
    "figure",
    "new_axes",
    "segments",
]

# Okabe and Ito's palette without its yellow, which is lost on white; after seven categories it starts again.
PALETTE = ("#0072B2", "#D55E00", "#009E73", "#CC79A7", "#E69F00", "#56B4E9", "#000000")
CHANNEL_COLOURS = {"low": PALETTE[0], "high": PALETTE[1]}
GREY = "0.55"
AMOUNTS, SIGNED = "viridis", "RdBu_r"
SCALES = ("auto", "amount", "signed")


def figure(*, size: tuple[float, float] = (7.0, 4.0)) -> Any:
    """Return a figure that belongs to no window, for pictures that are only written to a file.

    Parameters
    ----------
    size : (float, float)
        Width and height in inches.

    Returns
    -------
    matplotlib Figure
        Without a canvas of a window; ``figure.savefig`` writes it.

    See Also
    --------
    signal : Draw a signal on the axes of a figure.

    Examples
    --------
    >>> figure(size=(3.0, 2.0)).subplots().get_title()
    ''
    """
    return require("matplotlib.figure", "plotting").Figure(figsize=size, layout="constrained")


def new_axes(ax: Any, *, size: tuple[float, float] = (6.0, 4.0)) -> Any:
    """Return ``ax`` itself, or the axes of a new figure."""
    if ax is not None:
        return ax
    return require("matplotlib.pyplot", "plotting").subplots(figsize=size, layout="constrained")[1]


def axes_row(axes: Any, count: int, *, size: tuple[float, float] = (3.6, 3.4)) -> Any:
    """Return ``count`` axes as an array: the given ones, or a row of a new figure.

    Raises
    ------
    ParameterError
        Another number of axes was given.
    """
    if axes is None:
        pyplot = require("matplotlib.pyplot", "plotting")
        width, height = size
        return pyplot.subplots(1, count, figsize=(width * count, height), layout="constrained", squeeze=False)[1][0]
    given = np.asarray(axes, dtype=object).ravel()
    if len(given) != count:
        raise ParameterError(f"{len(given)} axes given for {count} pictures; give {count} or none")
    return given


def categorical(count: int) -> list[str]:
    """Return one colour for each of ``count`` categories.

    Examples
    --------
    >>> categorical(2)
    ['#0072B2', '#D55E00']
    """
    return list(islice(cycle(PALETTE), count))


def colour_scale(values: FloatArray, scale: str = "auto") -> dict[str, Any]:
    """Return the map and limits for ``values``, as matplotlib's keywords.

    Signed values get a diverging map whose middle is 0, amounts a sequential one; by default the values decide.

    Examples
    --------
    >>> colour_scale(np.array([-1.0, 3.0]))
    {'cmap': 'RdBu_r', 'vmin': -3.0, 'vmax': 3.0}
    """
    check_choice(scale, SCALES, "colour scale")
    lowest, highest = float(values.min(initial=np.inf)), float(values.max(initial=-np.inf))
    if not values.size:
        lowest, highest = 0.0, 1.0
    if scale == "signed" or (scale == "auto" and lowest < 0 < highest):
        reach = max(-lowest, highest) or 1.0
        return {"cmap": SIGNED, "vmin": -reach, "vmax": reach}
    return {"cmap": AMOUNTS, "vmin": lowest, "vmax": highest if highest > lowest else lowest + 1.0}


def segments(ends: FloatArray, **options: Any) -> Any:
    """Return straight lines between pairs of points, shape (n, 2, 2), as one artist."""
    return require("matplotlib.collections", "plotting").LineCollection(ends, **options)


def above_legend(axes: Any) -> None:
    """Put the legend in one line above the picture, where it hides nothing."""
    names = axes.get_legend_handles_labels()[1]
    axes.legend(frameon=False, fontsize="small", ncols=len(names), loc="lower right", bbox_to_anchor=(1.0, 1.0))


def beside_legend(axes: Any) -> None:
    """Put the legend to the right of the picture, where it hides nothing."""
    axes.legend(frameon=False, fontsize="small", loc="center left", bbox_to_anchor=(1.0, 0.5))
