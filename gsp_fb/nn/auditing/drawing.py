"""Pictures of an audit: gain per band, mixing between bands, signals with depth."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from ...plot._style import GREY, categorical, new_axes

if TYPE_CHECKING:
    from .record import Audit

__all__ = ["draw_depth", "draw_mixing", "draw_response"]

FREQUENCY = r"frequency $\lambda$"


def draw_response(audit: Audit, ax: Any = None) -> Any:
    """Draw the gain per band relative to the largest one, the layers as thin lines; return the axes.

    Layers and network differ in scale by their weights, so each line is relative to its own peak.
    """
    axes = new_axes(ax)
    centres = (audit.response.edges[:-1] + audit.response.edges[1:]) / 2
    measured = [layer for layer in audit.layers if layer.response is not None]
    for layer, colour in zip(measured, categorical(len(measured) + 1)[1:], strict=True):
        gain = layer.response.gain if layer.response is not None else centres
        there = np.isfinite(gain)
        axes.plot(centres[there], gain[there] / _peak(gain), color=colour, linewidth=1, marker=".", label=layer.name)
    # A band without frequencies is left out; its neighbours are joined.
    peak, there = _peak(audit.response.gain), np.isfinite(audit.response.gain)
    axes.errorbar(
        centres[there],
        audit.response.gain[there] / peak,
        yerr=audit.response.error[there] / peak,
        color=categorical(1)[0],
        linewidth=2.5,
        capsize=3,
        label="network",
    )
    middle = audit.response.edges[len(audit.response.edges) // 2]
    axes.axvline(middle, color=GREY, linestyle="--", linewidth=1)
    axes.set(xlabel=FREQUENCY, ylabel="gain relative to its peak", ylim=(0.0, None))
    axes.legend(frameon=False, fontsize="small")
    return axes


def _peak(gain: Any) -> float:
    finite = gain[np.isfinite(gain)]
    return float(finite.max(initial=0.0)) or 1.0


def draw_mixing(audit: Audit, ax: Any = None) -> Any:
    """Draw the shares of the output energy: input bands as rows, output bands as columns; return the axes."""
    axes = new_axes(ax)
    edges = audit.response.edges
    mesh = axes.pcolormesh(edges, edges, np.ma.masked_invalid(audit.mixing), vmin=0.0, vmax=1.0, cmap="viridis")
    axes.figure.colorbar(mesh, ax=axes, label="share of the output energy")
    axes.set(xlabel=f"output {FREQUENCY}", ylabel=f"input {FREQUENCY}")
    return axes


def draw_depth(audit: Audit, ax: Any = None) -> Any:
    """Draw the differences between nodes with depth beside a linear network's and the eigengap's; return the axes."""
    axes = new_axes(ax)
    found = audit.oversmoothing
    depth = np.arange(len(found.names))
    lines = {"network": found.differences, "linear network": found.linear, "eigengap": found.predicted}
    for (name, values), colour in zip(lines.items(), categorical(len(lines)), strict=True):
        axes.plot(depth, values, color=colour, marker=".", label=name, linestyle="-" if name == "network" else "--")
    axes.set(xlabel="layer", ylabel="norm outside frequency 0", ylim=(0.0, 1.05))
    axes.set_xticks(depth)
    axes.legend(frameon=False, fontsize="small")
    return axes
