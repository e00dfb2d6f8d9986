"""Axes and colours; the only plotting module that imports matplotlib."""

from __future__ import annotations

import colorsys
from typing import Any

import numpy as np

from .._arguments import check_choice
from .._extras import require
from ..backend import FloatArray
from ..errors import ParameterError

__all__ = ["figure"]

# Palette of Okabe and Ito without yellow, which is invisible on white. After seven categories come lighter and darker
# shades, after 21 evenly spaced hues; markers change every seven.
PALETTE = ("#0072B2", "#D55E00", "#009E73", "#CC79A7", "#E69F00", "#56B4E9", "#000000")
CHANNEL_COLOURS = {"low": PALETTE[0], "high": PALETTE[1]}
SHADES = ((1.0, 0.0), (0.5, 0.5), (0.5, 0.1))
MARKERS = ("o", "s", "^", "D", "v", "P", "X")
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


def new_axes(ax: Any, *, size: tuple[float, float] = (6.0, 4.0), space: bool = False) -> Any:
    """Return ``ax`` itself, or the axes of a new figure, three-dimensional ones for ``space``."""
    if ax is not None:
        return ax
    made = require("matplotlib.pyplot", "plotting").figure(figsize=size, layout="constrained")
    return made.add_subplot(projection="3d" if space else None)


def axes_row(axes: Any, count: int) -> Any:
    """Return ``count`` axes as an array: the given ones, or a row of a new figure."""
    if axes is None:
        pyplot = require("matplotlib.pyplot", "plotting")
        return pyplot.subplots(1, count, figsize=(3.6 * count, 3.4), layout="constrained", squeeze=False)[1][0]
    given = np.asarray(axes, dtype=object).ravel()
    if len(given) != count:
        raise ParameterError(f"{len(given)} axes given for {count} pictures; give {count} or none")
    return given


def categorical(count: int) -> list[str]:
    """Return one colour per category."""
    if count > len(PALETTE) * len(SHADES):
        return [_hex(*colorsys.hsv_to_rgb(at / count, 1.0, (0.95, 0.6)[at % 2])) for at in range(count)]
    return [shade(colour, *mix) for mix in SHADES for colour in PALETTE][:count]


def shade(colour: str, factor: float, white: float) -> str:
    """Return ``factor`` times a colour plus this share of white.

    >>> shade("#0072B2", 0.5, 0.5)
    '#80b8d8'
    """
    if (factor, white) == (1.0, 0.0):
        return colour
    channels = [int(colour[at : at + 2], 16) / 255 for at in (1, 3, 5)]
    return _hex(*(factor * channel + white for channel in channels))


def marker(number: int) -> str:
    """Return the marker of a category: another one after every seven."""
    return MARKERS[number // len(PALETTE) % len(MARKERS)]


def _hex(*channels: float) -> str:
    return "#" + "".join(f"{round(255 * channel):02x}" for channel in channels)


def colour_scale(values: FloatArray, scale: str = "auto") -> dict[str, Any]:
    """Return colour map and limits for ``values`` as matplotlib keywords; ``'auto'`` chooses the map by their signs.

    >>> colour_scale(np.array([-1.0, 3.0]))
    {'cmap': 'RdBu_r', 'vmin': -3.0, 'vmax': 3.0}
    """
    check_choice(scale, SCALES, "colour scale")
    low, high = (float(values.min()), float(values.max())) if values.size else (0.0, 1.0)
    if scale == "signed" or (scale == "auto" and low < 0 < high):
        bound = max(-low, high) or 1.0
        return {"cmap": SIGNED, "vmin": -bound, "vmax": bound}
    return {"cmap": AMOUNTS, "vmin": low, "vmax": high if high > low else low + 1.0}


def segments(ends: FloatArray, **options: Any) -> Any:
    """Return straight lines between pairs of points, shape (n, 2, 2) or (n, 2, 3), as one artist."""
    if ends.shape[-1] == 3:
        return require("mpl_toolkits.mplot3d.art3d", "plotting").Line3DCollection(ends, **options)
    return require("matplotlib.collections", "plotting").LineCollection(ends, **options)


def above_legend(axes: Any) -> None:
    """Place the legend in one line above the axes, where it covers no data."""
    names = axes.get_legend_handles_labels()[1]
    axes.legend(frameon=False, fontsize="small", ncols=len(names), loc="lower right", bbox_to_anchor=(1.0, 1.0))


def beside_legend(axes: Any) -> None:
    """Place the legend to the right of the axes, where it covers no data."""
    axes.legend(frameon=False, fontsize="small", loc="center left", bbox_to_anchor=(1.0, 0.5))
