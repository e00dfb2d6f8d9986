"""A report in its order: sections of sentences, figures and tables that every renderer walks through."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import astuple
from itertools import pairwise
from typing import TYPE_CHECKING, Any

from .._document import Table, records
from ..variants import VARIANTS
from . import figures
from . import sentences as say
from .facts import Report, RunFacts, SignificanceRow
from .figures import N_COLOURS, Chart, Frame, Mark, Section, dot, line, steps

if TYPE_CHECKING:
    from ..nn import Audit
__all__ = ["audit_sections", "sections"]

# Titles of the fields of an EnergyRow, in their order.
ENERGIES = ("signal", "family", "S", "expected S", "energy", "Dirichlet energy", "non-smooth energy")


def sections(report: Report) -> Iterator[Section]:
    """Yield the sections that apply."""
    for make in (_advice, _energies, _homophily, _profiles, _density, _gaps, _audit, _runs, _claims):
        yield from make(report)


def _table(rows: Sequence[Mapping[str, Any]], math: str = "") -> Table | None:
    return Table.from_records(rows, absent="undecided", math=math) if rows else None


def _energies(report: Report) -> Iterator[Section]:
    shown = [family for family, row in VARIANTS.items() if row.norm != "none"]
    cells = {(row.family, row.signal): row for row in report.energies}
    names = [signal.name for signal in report.signals]
    measured = {family: {name: cells[family, name].s_value for name in names} for family in shown}
    expected = {family: {name: cells[family, name].expected for name in names} for family in shown}
    listed = [dict(zip(ENERGIES, astuple(row), strict=True)) for row in report.energies]
    tested = [_tested(row, row.signal) for row in report.significance]
    tested += [_tested(row, f"{row.signal}, less its mean") for row in report.columns]
    left_out = "comb is not in the figure: its S has no fixed upper end."
    made = " ".join(f"{signal.name.capitalize()}: {signal.preparation}." for signal in report.signals)
    figure = figures.dots(
        "S of every signal", measured, xlabel="S: 0 is the smoothest, 2 the roughest", top=2.0, expected=expected
    )
    yield Section(
        "energies",
        "How smooth the signals are",
        say.about_energies(report),
        (figure,),
        _table(tested),
        _table(listed),
        " ".join(filter(None, [made, left_out, report.notes.get("energies", "")])),
    )


def _tested(row: SignificanceRow, name: str) -> dict[str, Any]:
    numbers = {"signal": name, "S": row.s_value, "expected": row.expected, "std": row.std, "z": row.z_score}
    return {**numbers, "p": say.p_value(row).removeprefix("p ").removeprefix("= ")}


def _homophily(report: Report) -> Iterator[Section]:
    facts = report.homophily
    if facts is None:
        return
    found = {"edges": facts.edge, "nodes": facts.node, "class-insensitive": facts.class_insensitive}
    rows = {name: {"measured": value} for name, value in found.items()}
    expected = {"edges": {"measured": facts.expected}}
    figure = figures.dots("Homophily", rows, xlabel="homophily: 1 is all alike", top=1.0, expected=expected)
    listed = [
        {"measure": "edge homophily", "value": facts.edge},
        {"measure": "edge homophily, expected under random permutation", "value": facts.expected},
        {"measure": "node homophily", "value": facts.node},
        {"measure": "class-insensitive homophily", "value": facts.class_insensitive},
    ]
    reading = say.about_homophily(facts, report.graph.directed)
    shown = () if math.isnan(facts.edge) else (figure,)
    note = (
        "Edges: the share of edges within a class, those of a node to itself not counted. "
        "Nodes: the mean over nodes of the share of like neighbours. "
        "Class-insensitive: 0 where no class meets itself more often than its size explains."
    )
    yield Section("homophily", "Whether neighbours are alike", reading, shown, _table(listed), note=note, half=True)


def _profiles(report: Report) -> Iterator[Section]:
    title = "Where the energy lies"
    if not report.profiles:
        yield Section("profiles", title, note=report.notes.get("profiles", ""), half=True)
        return
    shares = {profile.signal: profile.fraction for profile in report.profiles}
    edges = report.profiles[0].edges
    figure = figures.steps(f"Energy by frequency of {report.family}", edges, shares, ylabel="share of the energy")
    rows = [
        {"from": edges[k], "to": edges[k + 1], **{name: row[k] for name, row in shares.items()}}
        for k in range(len(edges) - 1)
    ]
    reading = say.about_profiles(report.profiles, report.family)
    yield Section("profiles", title, reading, (figure,), details=_table(rows), half=True)


def _density(report: Report) -> Iterator[Section]:
    title = "The frequencies of the graph"
    found = report.density
    if found is None:
        yield Section("density", title, note=report.notes.get("density", ""), half=True)
        return
    shares = {"frequencies": found.fraction}
    figure = figures.steps(f"Frequencies of {report.family}", found.edges, shares, ylabel="share of frequencies")
    yield Section("density", title, say.about_density(found, report), (figure,), half=True)


def _gaps(report: Report) -> Iterator[Section]:
    note, title = report.notes.get("gaps", ""), "Mixing rate"
    if not report.gaps:
        yield Section("gaps", title, note=note, half=True)
        return
    shown = {row.family: {"ratio": row.ratio} for row in report.gaps if VARIANTS[row.family].norm != "none"}
    figure = figures.dots("Eigengaps", shown, xlabel="second eigenvalue of the low channel", top=1.0)
    rows = records(report.gaps, {"family": "family", "λ₂ / λ₁": "ratio", "error": "error", "proof": "proof"})
    yield Section("gaps", title, say.about_gaps(report), (figure,), details=_table(rows), note=note, half=True)


def _claims(report: Report) -> Iterator[Section]:
    """Yield the claims: those that fail, are undecided or do not apply in sight, all of them folded away."""
    title = "Claims of the paper, checked here"
    if not report.claims:
        yield Section("claims", title, say.about_first_theorem(report), note=report.notes.get("claims", ""))
        return
    titles = {"claim": "claim", "statement": "statement", "applies": "applicable", "holds": "holds"}
    rows = records(report.claims, {**titles, "needs": "condition", "residual": "residual"})
    open_ = [row for row in rows if not row["applies"] or row["holds"] is not True]
    shown, folded = (_table(some, math="statement") for some in (open_, rows))
    yield Section("claims", title, say.about_claims(report), table=shown, details=folded)


def _advice(report: Report) -> Iterator[Section]:
    if report.advice is not None:
        note = "Probabilities of a logistic regression that was fitted on generated graphs whose networks were trained."
        used = f" Labels read: those of {report.advice.nodes}." if report.advice.nodes else ""
        text, rows = report.advice.text + used, report.advice.rows
        yield Section(
            "advice", "What to try", text, table=_table(rows), note=note if "answer" in (rows or [{}])[0] else ""
        )


def _audit(report: Report) -> Iterator[Section]:
    if report.audit is not None:
        yield from audit_sections(report.audit)


def _runs(report: Report) -> Iterator[Section]:
    for position, run in enumerate(report.runs):
        yield Section(
            f"run-{position}",
            f"Training: {run.model}, {run.name}",
            " ".join(filter(None, [say.about_run(run), say.about_embeddings(run.embeddings)])),
            tuple(_run_figures(run)),
            note=report.notes.get("runs", ""),
        )


def _run_figures(run: RunFacts) -> Iterator[Chart]:
    epochs, parts = run.curves["epoch"], ("train", "val", "test")
    measures = dict.fromkeys(name.partition("_")[2] for name in run.curves if name.partition("_")[0] in parts)
    for measure in measures:
        series = {part: run.curves[f"{part}_{measure}"] for part in parts if f"{part}_{measure}" in run.curves}
        top = None if measure == "loss" else 1.0
        yield figures.lines(measure.capitalize(), epochs, series, ylabel=measure, top=top, chosen=run.best_epoch)
    columns = {name: name.split("_") for name in run.curves if name.startswith("alpha_")}
    alphas = {f"{channel}, layer {layer}": run.curves[name] for name, (_, channel, layer) in columns.items()}
    if alphas:
        top = max(1.0, *(max(curve, default=0.0) for curve in alphas.values()))
        yield figures.lines("Mixing weights", epochs, alphas, ylabel="alpha", top=top, chosen=run.best_epoch)
    for part in run.embeddings:
        if part.points:
            yield figures.clouds(f"Embedding: {part.channel}", part.points, part.classes)


HEIGHT = 230.0


def audit_sections(audit: Audit) -> Iterator[Section]:
    """Yield the section of the whole network and that of its layers."""
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
    gains = {name: filter(math.isfinite, found.gain.tolist()) for name, found in responses.items()}
    peaks = {name: max(finite, default=0.0) or 1.0 for name, finite in gains.items()}
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
    axes = frame.axes("layer", "norm outside frequency 0")
    axes = [mark for mark in axes if mark.style != "tick middle" or "." not in mark.text]  # no numbers between layers
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


def _at(frame: Frame, x: float, y: float) -> tuple[float, float]:
    return frame.across(x), frame.up(y)
