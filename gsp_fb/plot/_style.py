"""Axes and colours; the only plotting module that imports matplotlib."""

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

# Palette of Okabe and Ito without yellow, which is invisible on white; it repeats after seven categories.
PALETTE = ("#0072B2", "#D55E00", "#009E73", "#CC79A7", "#E69F00", "#56B4E9", "#000000")
CHANNEL_COLOURS = {"low": PALETTE[0], "high": PALETTE[1]}
GREY = "0.55"
AMOUNTS, SIGNED = "viridis", "RdBu_r"
SCALES = ("auto", "amount", "signed")


def figure(*, size: tuple[float, float] = (7.0, 4.0)) -> Any:
    """Return a figure without a window, for plots that are only written to a file.

    Parameters
    ----------
    size : (float, float)
        Width and height in inches.

    Returns
    -------
    matplotlib Figure
        With constrained layout.

    Raises
    ------
    ImportError
        matplotlib is not installed.

    See Also
    --------
    signal : Draws into its axes through ``ax=``.

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
        The number of given axes differs from ``count``.
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
    """Return one colour per category.

    Examples
    --------
    >>> categorical(2)
    ['#0072B2', '#D55E00']
    """
    return list(islice(cycle(PALETTE), count))


def colour_scale(values: FloatArray, scale: str = "auto") -> dict[str, Any]:
    """Return colour map and limits for ``values`` as matplotlib keywords.

    Signed values use a diverging map centred at 0, non-negative ones a sequential map; ``'auto'`` chooses by the
    values.

    Examples
    --------
    >>> colour_scale(np.array([-1.0, 3.0]))
    {'cmap': 'RdBu_r', 'vmin': -3.0, 'vmax': 3.0}
    """
    check_choice(scale, SCALES, "colour scale")
    low, high = float(values.min(initial=np.inf)), float(values.max(initial=-np.inf))
    if not values.size:
        low, high = 0.0, 1.0
    if scale == "signed" or (scale == "auto" and low < 0 < high):
        bound = max(-low, high) or 1.0
        return {"cmap": SIGNED, "vmin": -bound, "vmax": bound}
    return {"cmap": AMOUNTS, "vmin": low, "vmax": high if high > low else low + 1.0}


def segments(ends: FloatArray, **options: Any) -> Any:
    """Return straight lines between pairs of points, shape (n, 2, 2), as one artist."""
    return require("matplotlib.collections", "plotting").LineCollection(ends, **options)


def above_legend(axes: Any) -> None:
    """Place the legend in one line above the axes, where it covers no data."""
    names = axes.get_legend_handles_labels()[1]
    axes.legend(frameon=False, fontsize="small", ncols=len(names), loc="lower right", bbox_to_anchor=(1.0, 1.0))


def beside_legend(axes: Any) -> None:
    """Place the legend to the right of the axes, where it covers no data."""
    axes.legend(frameon=False, fontsize="small", loc="center left", bbox_to_anchor=(1.0, 0.5))
