"""Energies: distribution over frequencies, split into two channels, and S-values of several signals."""

from __future__ import annotations

from collections.abc import Mapping
from itertools import cycle
from typing import Any

import numpy as np

from ..energy import EnergyProfile, expected_s_value, s_value
from ..errors import ParameterError
from ..operators import Operator
from ._style import CHANNEL_COLOURS, GREY, above_legend, categorical, new_axes
from .frequency import FREQUENCY

__all__ = ["energy_profile", "energy_split", "s_values"]


def energy_profile(
    profiles: EnergyProfile | Mapping[str, EnergyProfile], *, cumulative: bool = False, ax: Any = None
) -> Any:
    """Draw the share of the energy in each frequency band.

    Parameters
    ----------
    profiles : EnergyProfile, or a mapping from names to them
        As :func:`gsp_fb.energy_profile` returns them.
    cumulative : bool
        Draw the share below each frequency instead, between its proven bounds.
    ax : matplotlib Axes, by default those of a new figure

    Returns
    -------
    matplotlib Axes

    Raises
    ------
    ParameterError
        An argument is not an ``EnergyProfile``.

    See Also
    --------
    energy_split : Two channels only.
    gft : Individual Fourier coefficients.

    Examples
    --------
    >>> import gsp_fb as gf
    >>> L = gf.operator(gf.datasets.ring(6), "sym", "high")
    >>> ax = energy_profile(gf.energy_profile(L, [1.0, 0.0, 0.0, 0.0, 0.0, 0.0], bins=3))
    >>> ax.patches[0].get_data().values.round(6)
    array([0.5, 0. , 0.5])
    """
    named = profiles if isinstance(profiles, Mapping) else {"": profiles}
    for value in named.values():
        if not isinstance(value, EnergyProfile):
            raise ParameterError(f"{value!r} is not an EnergyProfile; make one with gsp_fb.energy_profile(op, x)")
    axes = new_axes(ax)
    for (name, profile), colour in zip(named.items(), categorical(len(named)), strict=True):
        options = {"color": colour, "label": name or None}
        if cumulative:
            lower, upper = profile.lower / profile.total, profile.upper / profile.total
            axes.fill_between(profile.edges, lower, upper, color=colour, alpha=0.3, linewidth=0)
            axes.plot(profile.edges, (lower + upper) / 2, **options)
        else:
            look = {"fill": True} if len(named) == 1 else {"linewidth": 2}
            axes.stairs(profile.fraction, profile.edges, **look, **options)
    axes.set(xlabel=FREQUENCY, ylabel="share of the energy below" if cumulative else "share of the energy")
    axes.set_ylim(bottom=0.0)
    if any(named):
        axes.legend(frameon=False, fontsize="small")
    return axes


def energy_split(laplacian: Operator, signals: Any, *, ax: Any = None) -> Any:
    """Draw the two parts of the energy as one bar per signal: :math:`x'(I-L)x` and :math:`x'Lx`.

    Both are divided by :math:`x'x`, so the high part is S and the parts sum to 1. For S above 1 the low part is
    negative and drawn to the left of 0. A black line in each bar marks where the parts would meet if S had its
    expectation under random permutation.

    Parameters
    ----------
    laplacian : Operator
        A high channel.
    signals : array_like or sparse, or a mapping from names to them
        One bar each.
    ax : matplotlib Axes, by default those of a new figure

    Returns
    -------
    matplotlib Axes

    Raises
    ------
    ParameterError
        ``laplacian`` is a low channel.

    See Also
    --------
    gsp_fb.energy_profile : The whole distribution over frequencies.
    gsp_fb.s_value : The high part.
    gsp_fb.expected_s_value : The expectation that is marked.

    Examples
    --------
    >>> import gsp_fb as gf
    >>> L = gf.operator(gf.datasets.ring(4), "sym", "high")
    >>> ax = energy_split(L, {"constant": [1.0] * 4, "one node": [1.0, 0.0, 0.0, 0.0]})
    >>> [round(float(bar.get_width()), 6) for bar in ax.containers[1]]
    [0.0, 1.0]
    """
    if laplacian.channel != "high":
        raise ParameterError(f"{laplacian!r} is a low channel; energies split by the high one, op.complement()")
    named = signals if isinstance(signals, Mapping) else {"": signals}
    rough = np.array([float(s_value(laplacian, x)) for x in named.values()])
    axes = new_axes(ax, size=(6.0, 1.2 + 0.5 * len(named)))
    at = np.arange(len(named))
    parts = {"low": (1.0 - rough, np.zeros_like(rough)), "high": (rough, np.maximum(1.0 - rough, 0.0))}
    for channel, (width, left) in parts.items():
        axes.barh(at, width, left=left, height=0.6, color=CHANNEL_COLOURS[channel], label=channel)
    expected = np.array([float(expected_s_value(laplacian, x)) for x in named.values()])
    axes.vlines(1.0 - expected, at - 0.3, at + 0.3, color="black", linewidth=2, label="expected at random")
    axes.axvline(0.0, color=GREY, linewidth=0.8)
    axes.set(xlabel="share of the energy", yticks=at, yticklabels=list(named))
    axes.invert_yaxis()
    above_legend(axes)
    return axes


def s_values(
    table: Mapping[str, Mapping[str, float]],
    *,
    expected: Mapping[str, Mapping[str, float]] | None = None,
    ax: Any = None,
) -> Any:
    """Draw a table of S-values: one row per data set, one marker per signal.

    The paper recommends the high channel where the labels are to the right of the features.

    Parameters
    ----------
    table : mapping from data set to a mapping from signal to S
        ``{"texas": {"features": 0.9, "labels": 0.88}}``; a signal may be missing from a row.
    expected : mapping of the same form, optional
        Expectations under random permutation, drawn as hollow markers; see :func:`gsp_fb.expected_s_value`.
    ax : matplotlib Axes, by default those of a new figure

    Returns
    -------
    matplotlib Axes

    Raises
    ------
    ParameterError
        The table is empty.

    See Also
    --------
    gsp_fb.s_value : Computes S.
    energy_split : Signals on one graph.

    References
    ----------
    .. [1] S. Luan et al., "Complete the missing half: Augmenting aggregation filtering with diversification for graph
       convolutional networks", GLFrontiers 2022, Tables 1 and 3.

    Examples
    --------
    >>> ax = s_values({"cora": {"features": 0.8, "labels": 0.2}, "texas": {"features": 0.7, "labels": 0.8}})
    >>> ax.lines[-1].get_xdata()
    array([0.2, 0.8])
    """
    if not table:
        raise ParameterError("the table of S-values is empty; give at least one data set")
    signals = list(dict.fromkeys(name for row in table.values() for name in row))
    axes = new_axes(ax, size=(6.0, 1.0 + 0.35 * len(table)))
    for at, row in enumerate(table.values()):
        axes.plot([min(row.values()), max(row.values())], [at, at], color=GREY, linewidth=1.5, zorder=1)
    for name, colour, marker in zip(signals, categorical(len(signals)), cycle("os^Dv"), strict=False):
        for rows, face, label in ((expected or {}, "none", f"{name}, expected"), (table, colour, name)):
            points = [(rows[row][name], at) for at, row in enumerate(table) if name in rows.get(row, {})]
            if points:
                axes.plot(*np.array(points).T, marker, color=colour, markerfacecolor=face, markersize=8, label=label)
    axes.set(xlabel="S: mean frequency of the energy", yticks=range(len(table)), yticklabels=list(table))
    axes.set_ylim(len(table) - 0.5, -0.5)
    above_legend(axes)
    return axes
