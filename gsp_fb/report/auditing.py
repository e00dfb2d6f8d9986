"""The audit of a network as sections of a report: verdict, gain per band, layers, dependence."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from itertools import pairwise
from typing import TYPE_CHECKING

from .._document import Table
from .figures import N_COLOURS, Chart, Frame, Mark, Section, dot, line, steps

if TYPE_CHECKING:
    from ..nn import Audit

__all__ = ["audit_sections"]

HEIGHT = 230.0


def audit_sections(audit: Audit) -> Iterator[Section]:
    """Yield the section of the whole network and that of its layers.

    >>> from gsp_fb.datasets import contextual_sbm
    >>> from gsp_fb.nn import audit, build
    >>> data = contextual_sbm(40, rng=0)
    >>> [section.anchor for section in audit_sections(audit(build("gcn", data), data, bands=4, probes=2))]
    ['audit', 'audit-layers']
    """
    from ..nn.auditing.page import TABLES

    tables = {name: Table.from_records(rows(audit)) for name, (rows, _) in TABLES.items()}
    notes = {name: note for name, (_, note) in TABLES.items()}
    yield Section(
        "audit",
        f"What the network keeps: {audit.model}",
        audit.verdict,
        (_gains(audit),),
        tables["Response"],
        tables["Dependence"],
        f"{notes['Response']} In the figure each line is relative to its peak. The S of the labels here is that of the "
        f"labels less their mean. The numbers: {notes['Dependence']}",
    )
    yield Section(
        "audit-layers",
        "The layers of the network",
        "",
        tuple(_layer_figures(audit)),
        tables["Layers"],
        tables["Over-smoothing"],
        f"{notes['Layers']} The numbers: {notes['Over-smoothing']}",
    )


def _gains(audit: Audit) -> Chart:
    """Return the gain per band of the network, with standard errors, and of its layers, each relative to its peak."""
    responses = {"network": audit.response}
    responses |= {layer.name: layer.response for layer in audit.layers if layer.response is not None}
    edges = audit.response.edges.tolist()
    centres = [(a + b) / 2 for a, b in pairwise(edges)]
    peaks = {name: _peak(found.gain.tolist()) for name, found in responses.items()}
    scaled = {name: (found.gain / peaks[name]).tolist() for name, found in responses.items()}
    bars = (audit.response.error / peaks["network"]).tolist()
    frame = Frame((edges[0], edges[-1]), (0.0, 1.1), HEIGHT)
    axes = frame.axes("frequency λ", "gain relative to its peak")
    for at, gain, error in zip(centres, scaled["network"], bars, strict=True):
        if math.isfinite(gain) and error > 0:
            axes.append(line("curve c0", *_at(frame, at, gain - error), *_at(frame, at, gain + error)))
    return _curves("Gain per band", frame, axes, centres, scaled)


def _layer_figures(audit: Audit) -> Iterator[Chart]:
    rows = (audit.input, *audit.layers)
    shares = {row.name: row.profile.fraction.tolist() for row in rows if row.profile is not None}
    if shares:
        edges = audit.response.edges.tolist()
        yield steps(f"Energy by frequency of {audit.family}", edges, shares, ylabel="share of the energy")
    found = audit.oversmoothing
    depth = [float(k) for k in range(len(found.names))]
    frame = Frame((0.0, max(depth[-1], 1.0)), (0.0, 1.05), HEIGHT)
    series = {"network": found.differences, "linear network": found.linear, "eigengap": found.predicted}
    axes = [mark for mark in frame.axes("layer", "norm outside frequency 0") if not _is_between_layers(mark)]
    yield _curves("Differences with depth", frame, axes, depth, {k: v.tolist() for k, v in series.items()})


def _curves(
    title: str, frame: Frame, marks: list[Mark], at: Sequence[float], series: Mapping[str, Sequence[float]]
) -> Chart:
    """Return a chart with a line and dots for each series; values that are not finite are left out."""
    styles = [f"c{k % N_COLOURS}" for k in range(len(series))]
    # The first series is drawn last, on top.
    for style, (name, values) in reversed(list(zip(styles, series.items(), strict=True))):
        points = [(a, b) for a, b in zip(at, values, strict=True) if math.isfinite(b)]
        if points:
            marks.append(Mark("path", f"curve {style}", {"d": frame.path(points)}))
            marks += [dot(f"dot {style}", *_at(frame, a, b), 3, f"{name}: {b:.3g}") for a, b in points]
    legend = tuple((f"line {style}", name) for style, name in zip(styles, series, strict=True))
    return Chart(title, frame.height, tuple(marks), legend)


def _is_between_layers(mark: Mark) -> bool:
    return mark.style == "tick middle" and "." in mark.text


def _at(frame: Frame, x: float, y: float) -> tuple[float, float]:
    return frame.across(x), frame.up(y)


def _peak(gain: Sequence[float]) -> float:
    return max((value for value in gain if math.isfinite(value)), default=0.0) or 1.0
