"""Mixing weights of the channels during training."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from ..backend import FloatArray
from ..errors import ParameterError
from ._style import CHANNEL_COLOURS, new_axes

__all__ = ["alphas"]

PREFIX = "alpha_low_"
STYLES = ("-", "--", ":", "-.")


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
    layers = _layers(runs)
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


def _layers(runs: list[Any]) -> list[str]:
    first = runs[0][0] if runs and len(runs[0]) else {}
    layers = [name.removeprefix(PREFIX) for name in first if name.startswith(PREFIX)]
    if not layers:
        columns = ", ".join(first) or "none"
        raise ParameterError(f"no alphas in the history (columns: {columns}); only a model with two channels has them")
    return layers


def _course(runs: list[Any], column: str) -> tuple[FloatArray, FloatArray, FloatArray]:
    """Return epochs, mean and standard deviation of a column over the runs."""
    longest = max(runs, key=len)
    table = np.full((len(runs), len(longest)), np.nan)
    for values, run in zip(table, runs, strict=True):
        values[: len(run)] = [float(row[column]) for row in run]
    epochs = np.array([float(row["epoch"]) for row in longest])
    return epochs, np.nanmean(table, axis=0), np.nanstd(table, axis=0)
