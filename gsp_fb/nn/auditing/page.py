"""An audit as pictures, as rows of tables, and as one HTML file of both with the verdict, without scripts or links."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import numpy as np

from ..._document import Block, Figure, Heading, Table, Text, records, to_html
from ...plot import figure
from ...plot._style import GREY, categorical, new_axes
from ...plot.frequency import FREQUENCY
from .record import Audit

__all__ = ["TABLES", "audit_page", "draw_depth", "draw_mixing", "draw_response"]


def draw_response(audit: Audit, ax: Any = None) -> Any:
    """Draw the gain per band relative to the largest one, the layers as thin lines; return the axes.

    Layers and network differ in scale by their weights, so each line is relative to its own peak.
    """
    axes = new_axes(ax)
    centres = (audit.response.edges[:-1] + audit.response.edges[1:]) / 2
    gains = [(layer.name, layer.response.gain) for layer in audit.layers if layer.response is not None]
    for (name, gain), colour in zip(gains, categorical(len(gains) + 1)[1:], strict=True):
        there = np.isfinite(gain)
        axes.plot(centres[there], gain[there] / _peak(gain), color=colour, linewidth=1, marker=".", label=name)
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


PICTURES: dict[str, Callable[[Audit, Any], Any]] = {
    "Gain per band": draw_response,
    "Mixing between bands": draw_mixing,
    "Differences with depth": draw_depth,
}
Rows = Sequence[Mapping[str, object]]


def response_rows(audit: Audit) -> Rows:
    """Return the gain of the network per band as rows of a table."""
    found = audit.response
    columns = {"from": found.edges[:-1], "to": found.edges[1:], "gain": found.gain, "error": found.error}
    return _transposed({**columns, "stays in band": np.diag(found.mixing)})


def smoothing_rows(audit: Audit) -> Rows:
    """Return the differences with depth beside a linear network's and the eigengap's as rows of a table."""
    found = audit.oversmoothing
    columns = {"layer": np.array(found.names), "network": found.differences, "linear": found.linear}
    return _transposed({**columns, "eigengap": found.predicted})


def _transposed(columns: Mapping[str, Any]) -> Rows:
    rows = zip(*(column.tolist() for column in columns.values()), strict=True)
    return [dict(zip(columns, row, strict=True)) for row in rows]


# Titles of columns, and the fields of a layer and of a dependence that they show.
LAYER = {"layer": "name", "width": "width", "S": "s_value", "E[S]": "expected_s_value", "centred S": "s_value_centred"}
LAYER |= {"rank": "effective_rank", "distance": "mean_average_distance"}
LAYER |= {"gain low": "gain_low", "gain high": "gain_high"}
DEPENDENCE = {"signal": "where", "half": "half", "action": "action", "energy": "energy", "output": "output_change"}
DEPENDENCE |= {"classes": "prediction_change", "accuracy": "accuracy", "change": "accuracy_change"}
TABLES: dict[str, tuple[Callable[[Audit], Rows], str]] = {
    "Response": (
        response_rows,
        "Gain of the network per band of frequencies with its standard error, and the share of the output energy that "
        "stays in the band.",
    ),
    "Layers": (
        lambda audit: records((audit.input, *audit.layers), LAYER),
        "The output of every layer as a signal: S, its expectation E[S] under random permutation, centred S, effective "
        "rank, mean average distance; and the gain of the layer on each half of its input.",
    ),
    "Over-smoothing": (
        smoothing_rows,
        "Norm outside frequency 0 relative to the whole: of the network, of the linear network without weights, and as "
        "the eigengap predicts.",
    ),
    "Dependence": (
        lambda audit: records(audit.dependence, DEPENDENCE),
        "One half of a signal is removed, or permuted over the nodes: its share of the energy, the relative change of "
        "the output, the share of predicted classes that change, the accuracy and its change.",
    ),
}


def audit_page(audit: Audit, title: str) -> str:
    """Return the page as HTML."""
    with TemporaryDirectory() as folder:
        return to_html(title, _blocks(audit, title, Path(folder)))


def _blocks(audit: Audit, title: str, folder: Path) -> Iterator[Block]:
    method = f"frequencies of {audit.family}, derivatives by {audit.response.method}"
    yield from (Heading(1, title), Text(f"{audit.model}, {audit.n_nodes} nodes, {method}.", literal=True))
    yield Text(audit.verdict, literal=True, emphasis=True)
    for number, (name, draw) in enumerate(PICTURES.items()):
        picture, path = figure(size=(7.0, 3.6)), folder / f"{number}.png"
        draw(audit, picture.subplots())
        picture.savefig(path, dpi=160)
        yield from (Heading(2, name), Figure(path, name))
    for name, (rows, caption) in TABLES.items():
        yield from (Heading(2, name), Text(caption), Table.from_records(rows(audit)))
